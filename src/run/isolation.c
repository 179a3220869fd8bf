/* Makes the isolated model of a run, lists the points that were lost, and ends calls that a stop cannot wait for.
 *
 * crashes.csv has one row per loss: outcome, chain, cause, and the point. It is written at once, since the run may be
 * about to end. The first MAX_ROWS losses are listed; all are counted, those of earlier sessions as far as they are
 * listed. */
#include "run/isolation.h"

#include "base/clock.h"
#include "base/csv.h"
#include "base/folder.h"
#include "execute/isolate.h"
#include "model/model.h"
#include "run/directory.h"
#include "run/log.h"
#include "run/run.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ROWS = 10000 };

/* How long a call may go on after a stop. With it the command, which kills what does not stop after 1.5 seconds, ends
 * in an orderly way. */
#define GRACE_SECONDS 1.0

static const char *const outcomes[] = {"stopped", "retried", "outside"}; /* by enum gess__loss_outcome */

/* ---- the list ---- */

static void put_header(const gess_run *run, FILE *file)
{
    char buffer[32];
    fprintf(file, "outcome,chain,cause");
    for (size_t i = 0; i < run->model->dim; i++) {
        fputc(',', file);
        gess__csv_put_name(file, gess__parameter_name(run->model, i, buffer));
    }
    fputc('\n', file);
}

/* Without commas, so that cut(1) finds the point. */
static void put_cause(const char *cause, FILE *file)
{
    char text[GESS__EXEC_CAUSE];
    snprintf(text, sizeof text, "%s", cause);
    for (char *c = text; *c != '\0'; c++)
        if (*c == ',') *c = ';';
    gess__csv_put_name(file, text);
}

static void put_row(const gess_run *run, const gess__loss *loss, FILE *file)
{
    fprintf(file, "%s,%llu,", outcomes[loss->outcome], (unsigned long long)loss->chain);
    put_cause(loss->cause, file);
    for (size_t i = 0; i < run->model->dim; i++) {
        char number[GESS__REAL_SIZE] = "";
        if (loss->dim > 0) gess__show_real(number, sizeof number, loss->x[i]);
        fprintf(file, ",%s", number);
    }
    fputc('\n', file);
}

/* A list that cannot be written does not end the run. */
static void list(const gess_run *run, const gess__loss *loss)
{
    char path[4096];
    if (gess__directory_path(run->directory, "crashes.csv", path, sizeof path, NULL) != GESS_OK) return;
    FILE *file = gess__folder_stream(run->folder, path, "a");
    if (file == NULL) return;
    if (fseek(file, 0, SEEK_END) == 0 && ftell(file) == 0) put_header(run, file);
    put_row(run, loss, file);
    fclose(file);
}

static void on_loss(void *user, const gess__loss *loss)
{
    gess_run *run = user;
    gess__losses *l = &run->losses;
    pthread_mutex_lock(&l->lock);
    l->count[loss->outcome]++;
    if (run->directory != NULL && l->rows < MAX_ROWS) {
        l->rows++;
        list(run, loss);
    }
    pthread_mutex_unlock(&l->lock);
}

void gess__isolation_recall(gess_run *run)
{
    char path[4096], line[512];
    int beginning = 1;
    if (run->directory == NULL) return;
    if (gess__directory_path(run->directory, "crashes.csv", path, sizeof path, NULL) != GESS_OK) return;
    int descriptor = gess__folder_file(run->folder, path, O_RDONLY);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    if (file == NULL && descriptor >= 0) close(descriptor);
    if (file == NULL) return;
    while (fgets(line, sizeof line, file) != NULL) {
        for (size_t i = 0; beginning && i < sizeof outcomes / sizeof *outcomes; i++)
            if (strncmp(line, outcomes[i], strlen(outcomes[i])) == 0 && line[strlen(outcomes[i])] == ',') {
                run->losses.count[i]++;
                run->losses.rows++;
            }
        beginning = strchr(line, '\n') != NULL; /* of the next line */
    }
    fclose(file);
}

void gess__isolation_count(gess_run *run)
{
    gess__losses *l = &run->losses;
    if (run->isolate != NULL) pthread_mutex_lock(&l->lock);
    run->stats.crashes_outside = l->count[GESS__LOSS_OUTSIDE];
    run->stats.crashes = run->stats.crashes_outside + l->count[GESS__LOSS_RETRIED] + l->count[GESS__LOSS_STOPPED];
    if (run->isolate != NULL) pthread_mutex_unlock(&l->lock);
}

void gess__isolation_log(gess_run *run)
{
    const gess_stats *s = &run->stats;
    if (s->crashes > 0)
        gess__run_log(run, "lost %llu evaluations with their worker processes, %llu of them counted as outside",
                      (unsigned long long)s->crashes, (unsigned long long)s->crashes_outside);
}

/* ---- stops ---- */

/* Whether a call that is under way must end: a stop was asked for, or the time is over, and GRACE_SECONDS have passed
 * since. */
static int must_end(void *user)
{
    gess_run *run = user;
    double now = gess__seconds(), limit = run->options.max_time;
    if (!atomic_load(&run->losses.in_session)) return 0; /* the evidence, say, has no limit of time */
    if (limit > 0.0 && now - run->started > limit) {
        run->out_of_time = 1;
        gess_stop(run);
    }
    if (!atomic_load(&run->stop)) return 0;
    double none = 0.0;
    atomic_compare_exchange_strong(&run->losses.stopped, &none, now);
    if (now - atomic_load(&run->losses.stopped) < GRACE_SECONDS) return 0;
    run->abandoned = 1;
    return 1;
}

void gess__isolation_session(gess_run *run, int begins)
{
    atomic_store(&run->losses.stopped, 0.0);
    atomic_store(&run->losses.in_session, begins);
}

/* ---- what programs say ---- */

static bool on_line(void *user, const char *line)
{
    gess_run *run = user;
    if (run->on_log == NULL && run->folder < 0) return false;
    gess__run_log(run, "%s", line);
    return true;
}

/* ---- from outside ---- */

int gess__isolation_begin(gess_run *run, gess_error *err)
{
    GESS_TRY(gess__isolate_check(run->model, &run->options, err));
    if (!gess__isolate_wanted(run->model, &run->options)) return GESS_OK;
    int program = run->model->ask != NULL;
    if (!program && run->options.comm != NULL && run->options.comm->size > 1)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--isolate works in one process only, since MPI libraries do not support fork(): leave it "
                          "out, or run without mpirun or srun");
    GESS_TRY(gess__model_check(run->model, err));
    GESS_TRY(gess__options_check(&run->options, err));
    unsigned threads = gess__team_threads((unsigned)run->options.threads);
    pthread_mutex_init(&run->losses.lock, NULL);
    GESS_TRY(gess__isolate_new(&run->isolate, run->model, &run->options, threads, err));
    gess__isolate_listen(run->isolate, on_loss, must_end, run);
    if (program) run->model->listen(run->model->user, on_line, run);
    gess__isolate_watch(run->isolate, &run->options);
    run->model = gess__isolate_model(run->isolate);
    return GESS_OK;
}

void gess__isolation_end(gess_run *run)
{
    if (run->isolate == NULL) return;
    gess__isolate_free(run->isolate);
    pthread_mutex_destroy(&run->losses.lock);
}
