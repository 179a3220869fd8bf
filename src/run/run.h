/* A whole run: warm-up, sampling, sinks, stop rules and statistics. */
#ifndef GESS_RUN_RUN_H
#define GESS_RUN_RUN_H

#include "cluster/coordinator.h"
#include "draws/store.h"
#include "execute/ensemble.h"
#include "run/history.h"
#include "run/progress.h"
#include "run/stop_rule.h"

#include <stdatomic.h>

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
    gess__stop_rule *watch;      /* NULL where the number of draws is given */
    gess__progress_monitor live; /* what the live view looks at, where the number of draws is given */
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

/* create.c: opens a store of draws, new or that of a run that goes on. */
int gess__run_store(gess_run *run, const char *file, int again, gess__writer **writer, gess_error *err);

/* Whether the run lives on another rank. */
int gess__run_is_guest(const gess_run *run);

/* A run without files and with a given number of draws that has ended: the next gess_run_go() takes it on
 * to `draws`, with the draws that a longer run would have had. */
int gess__run_extend(gess_run *run, uint64_t draws, gess_error *err);

#endif
