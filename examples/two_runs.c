/* Two runs at once, by two threads. The library has no global state: each thread uses a run of its own, and both use
 * the same model, whose log density several threads call at once anyway.
 *
 *   cc two_runs.c $(pkg-config --cflags --libs gess) -lpthread -o two_runs && ./two_runs */
#include <gess/gess.h>

#include <pthread.h>
#include <stdio.h>

typedef struct task {
    const gess_model *model;
    const char *seed;
    double sum, draws; /* of the first parameter */
    int status;
    gess_error err;
} task;

static int take_draws(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                      size_t columns, const double *rows)
{
    (void)first_chain, (void)first_draw;
    task *t = user;
    for (size_t i = 0; i < chains * draws; i++) t->sum += rows[i * columns + 1];
    t->draws += (double)(chains * draws);
    return 0;
}

static void *sample(void *argument)
{
    task *t = argument;
    gess_options *options = NULL;
    gess_run *run = NULL;
    t->status = gess_options_new(&options, &t->err);
    if (t->status == GESS_OK) t->status = gess_options_set(options, "seed", t->seed, &t->err);
    if (t->status == GESS_OK) t->status = gess_options_set(options, "threads", "1", &t->err);
    if (t->status == GESS_OK) t->status = gess_options_set(options, "draws", "500", &t->err);
    if (t->status == GESS_OK) t->status = gess_run_new(&run, t->model, options, NULL, &t->err);
    if (t->status == GESS_OK) t->status = gess_run_on_draw(run, take_draws, t, &t->err);
    if (t->status == GESS_OK) t->status = gess_run_go(run, &t->err);
    gess_run_free(run);
    gess_options_free(options);
    return NULL;
}

int main(void)
{
    gess_model *model = NULL;
    gess_error err = {0};
    pthread_t thread;
    int status = gess_model_open(&model, "banana", NULL, &err);
    if (status != GESS_OK) {
        fprintf(stderr, "two_runs: %s\n", err.text);
        return status;
    }
    task tasks[2] = {{.model = model, .seed = "1"}, {.model = model, .seed = "2"}};
    if (pthread_create(&thread, NULL, sample, &tasks[0]) != 0) {
        gess_model_free(model);
        return GESS_ERR_INTERNAL;
    }
    sample(&tasks[1]);
    pthread_join(thread, NULL);
    gess_model_free(model);
    for (size_t i = 0; i < 2; i++) {
        if (tasks[i].status != GESS_OK) {
            fprintf(stderr, "two_runs: %s\n", tasks[i].err.text);
            return tasks[i].status;
        }
        printf("seed %s: mean %.5f of %.0f draws\n", tasks[i].seed, tasks[i].sum / tasks[i].draws, tasks[i].draws);
    }
    return 0;
}
