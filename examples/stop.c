/* A callback that stops a run, and a second call that continues it. The draws are those of a run that was not stopped.
 *
 *   cc stop.c $(pkg-config --cflags --libs gess) -o stop && ./stop */
#include <gess/gess.h>

#include <inttypes.h>
#include <stdio.h>

/* The draws so far. */
typedef struct collected {
    double sum; /* of the first parameter, over all draws */
    uint64_t rows;
    uint64_t stop_at; /* rows after which the run is to stop; 0: never */
} collected;

/* A result other than 0 ends the run as gess_stop() does. The draws of this call are kept. */
static int take_draws(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                      size_t columns, const double *rows)
{
    (void)first_chain, (void)first_draw;
    collected *c = user;
    for (size_t i = 0; i < chains * draws; i++) c->sum += rows[i * columns + 1];
    c->rows += chains * draws;
    return c->stop_at > 0 && c->rows >= c->stop_at;
}

static void print(const char *when, int status, const collected *c)
{
    printf("%s: %s, %" PRIu64 " draws, mean of the first parameter %.4f\n", when, gess_status_text(status), c->rows,
           c->sum / (double)(c->rows > 0 ? c->rows : 1));
}

/* Makes a run and goes; if that is stopped, goes on until it is finished. */
static int sample(const gess_model *model, const gess_options *options, collected *c, gess_error *err)
{
    gess_run *run = NULL;
    int status = gess_run_new(&run, model, options, NULL, err);
    if (status == GESS_OK) status = gess_run_on_draw(run, take_draws, c, err);
    if (status == GESS_OK) {
        status = gess_run_go(run, err);
        print("first call", status, c);
    }
    if (status == GESS_ERR_STOPPED) {
        c->stop_at = 0;
        status = gess_run_go(run, err);
        print("second call", status, c);
    }
    gess_run_free(run);
    return status;
}

int main(void)
{
    gess_model *model = NULL;
    gess_options *options = NULL;
    gess_error err = {0};
    collected stopped = {.stop_at = 2000}, whole = {0};
    int status = gess_model_open(&model, "gaussian:dim=5", NULL, &err);
    if (status == GESS_OK) status = gess_options_new(&options, &err);
    if (status == GESS_OK) status = gess_options_set(options, "draws", "1000", &err);
    if (status == GESS_OK) status = gess_options_set(options, "threads", "1", &err); /* so that sums are in order */
    if (status == GESS_OK) status = sample(model, options, &stopped, &err);
    if (status == GESS_OK) status = sample(model, options, &whole, &err);
    gess_options_free(options);
    gess_model_free(model);
    if (status != GESS_OK) {
        fprintf(stderr, "stop: %s\n", err.text);
        return status;
    }
    return stopped.rows == whole.rows ? 0 : 1;
}
