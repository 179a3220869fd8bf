/* A whole run: warm-up, sampling, sinks, stop rules and statistics. */
#ifndef GESS_RUN_RUN_H
#define GESS_RUN_RUN_H

#include "base/archive.h"
#include "draws/writer.h"
#include "execute/ensemble.h"
#include "cluster/coordinator.h"
#include "run/history.h"
#include "run/stop_rule.h"

#include <jansson.h>
#include <stdatomic.h>

/* Figures of the draws so far for people who watch. Nothing of the run depends on them. */
typedef struct gess__progress_monitor {
    int wanted;
    gess__stop_rule *watch;
    gess__team *alone; /* the calling thread only: the others are at work */
    uint64_t room;     /* draws of each chain that were made room for */
    uint64_t looked;   /* draws at the last look */
    double cost;       /* seconds that it took */
} gess__progress_monitor;

struct gess_run {
    const gess_model *model; /* the caller's */
    gess_options options;    /* texts are the caller's */
    gess__team *team;
    gess__coordinator *ranks; /* the communicator's; NULL: this process alone, or not rank 0 */
    size_t ensembles;
    gess__ensemble **ensemble;
    char *directory; /* NULL: no files */
    int lock;        /* descriptor of the directory's lock, -1: none */
    gess__writer *writer, *warmup_writer;
    gess__stop_rule *watch; /* NULL where the number of draws is given */
    gess__progress_monitor live;    /* what the live view looks at, where the number of draws is given */
    gess_draw_fn *on_draw;
    void *on_draw_user;
    gess_progress_fn *on_progress;
    void *on_progress_user;
    atomic_int stop; /* asked to end */
    atomic_int halt; /* the present stretch is to end: to stop, or for a checkpoint */
    int out_of_time;
    /* where the run stands: saved in checkpoints */
    int sampling, finished;
    uint64_t looked; /* draws at the last look of the stop rules */
    uint64_t goal;   /* draws at the next one; 0: not decided */
    uint64_t evals_warmup;
    double seconds_before, sampling_before, learning_before; /* of earlier sessions */
    uint64_t speculative_before;
    gess__history history;
    /* of this session */
    size_t present;                   /* ensemble that is being run */
    uint64_t planned;                 /* iterations in all, 0: not known */
    uint64_t checkpointed;            /* iterations of the present ensemble at the last checkpoint */
    double checkpoint_time;           /* and its time */
    double started, sampling_started; /* seconds, monotonic */
    gess_stats stats;
};

/* checkpoint.c: saves where the run stands, after syncing its draws; or goes back to there. */
int gess__checkpoint_save(gess_run *run, gess_error *err);
int gess__checkpoint_load(gess_run *run, gess_error *err);

/* run.c: opens a store of draws, new or that of a run that goes on. */
int gess__run_store(gess_run *run, const char *file, int again, gess__writer **writer, gess_error *err);

/* A run without files and with a given number of draws that has ended: the next gess_run_go() takes it on
 * to `draws`, with the draws that a longer run would have had. */
int gess__run_extend(gess_run *run, uint64_t draws, gess_error *err);

/* Whether a directory has a checkpoint, good or not. */
int gess__checkpoint_exists(const char *directory);

/* directory.c: makes the run directory, or refuses one that exists; config.json in it. */
int gess__directory_make(gess_run *run, int overwrite, gess_error *err);

/* Takes the lock of the run's directory; refused while another process has it. */
int gess__directory_lock(gess_run *run, gess_error *err);
void gess__directory_unlock(gess_run *run);
/* A folder and those above it, as far as they are not there. */
int gess__make_folders(const char *directory, gess_error *err);

int gess__directory_path(const char *directory, const char *file, char *path, size_t size, gess_error *err);
int gess__directory_json(const char *directory, const char *file, json_t *root, gess_error *err); /* takes root */
int gess__config_write(const gess_run *run, gess_error *err);

/* Options and model of a config.json. What they point to lives in *keep, until json_decref(). */
int gess__config_read(const char *path, gess_options *options, const char **model, json_t **keep, gess_error *err);

/* Refuses a config.json that is not as a run wrote it. */
int gess__config_verify(const char *path, json_t *config, gess_error *err);

/* Whether the build or the machine is another than the one the run began with: draws from here on may differ
 * in their last bits. What is another is in the text. */
int gess__config_elsewhere(json_t *config, char *text, size_t size);

/* nans.csv: the first points at which the density was NaN, where there are any. */
int gess__nans_write(const gess_run *run, gess_error *err);

/* log.txt of the run directory: one line, with the seconds since the run began. */
void gess__run_log(const gess_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
