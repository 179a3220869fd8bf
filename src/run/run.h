/* struct gess_run: a whole run with its ensembles, stores of draws, stop rule and statistics.
 *
 * loop.c runs it; create.c makes, resumes and frees it; every other file of this folder is one part that these two
 * use. On a helper rank (MPI rank above 0) only the model and the options are set. */
#ifndef GESS_RUN_RUN_H
#define GESS_RUN_RUN_H

#include "base/options.h"
#include "cluster/coordinator.h"
#include "draws/writer.h"
#include "execute/isolate.h"
#include "model/model.h"
#include "run/history.h"
#include "run/progress.h"
#include "run/progress_file.h"
#include "run/stop_rule.h"
#include "schedule/schedule.h"

#include <pthread.h>
#include <stdatomic.h>

/* What --isolate has lost, by outcome. */
typedef struct gess__losses {
    pthread_mutex_t lock;   /* initialised if the run is isolated */
    uint64_t count[3];      /* by enum gess__loss_outcome, under the lock */
    uint64_t rows;          /* of crashes.csv, under the lock */
    _Atomic double stopped; /* monotonic seconds at which a stop was first seen by a call under way; 0: none was */
    atomic_int in_session;  /* a stop may interrupt calls */
} gess__losses;

struct gess_run {
    const gess_model *model; /* the caller's, or with --isolate that of `isolate` */
    gess_options options;    /* its own copy */
    gess__team *team;
    gess__coordinator *ranks; /* owned by the communicator; NULL: one process only, or a helper rank */
    size_t ensembles;
    gess__sampler **sampler;   /* one per ensemble */
    gess__ensemble **ensemble; /* the ensemble of each sampler */
    char *directory;           /* NULL: the run writes no files */
    int folder;                /* its descriptor, through which its files are made; -1: none */
    int start_folder;          /* the working directory when its folder was opened; -1: none */
    int lock;                  /* file descriptor of the directory's lock, -1: none */
    size_t folders_made;       /* folders that this run made for its directory */
    int set_aside;             /* the run that was in the directory before is in its folder `previous` */
    gess__journal *journal;    /* NULL: the run writes no files */
    gess__writer *writer, *warmup_writer;
    gess__stop_rule *stop_rule; /* NULL if --draws gives the number of draws */
    gess__forecast forecast;
    gess__progress_file progress_file;
    gess__progress_monitor monitor; /* for a run whose number of draws is given */
    gess_draw_fn *on_draw;
    void *on_draw_user;
    gess_draw_fn *on_warmup;
    void *on_warmup_user;
    gess_progress_fn *on_progress;
    void *on_progress_user;
    gess_log_fn *on_log;
    void *on_log_user;
    atomic_int stop;  /* the run must end; set from any thread or signal handler */
    atomic_int pause; /* the scheduler must end its stretch soon, so that the loop can save a checkpoint or stop */
    atomic_int out_of_time;
    gess__accelerator *device; /* NULL: the processor */
    gess_model placed;         /* the model, if its density is on devices only */
    char no_device[1024];      /* with --device auto: why it is the processor */
    gess__isolate *isolate;    /* NULL: the density is evaluated in this process */
    gess__losses losses;
    atomic_int abandoned; /* a stop did not wait for the density, so the run is at no place that could be saved */
    int failed;           /* the status of an error after which it cannot go on; 0: none */
    /* the position of the run, saved in checkpoints */
    int sampling, finished;
    uint64_t checked_draws; /* draws per chain at the last check of the stop rule */
    uint64_t next_check;    /* draws per chain at the next one; 0: not decided yet */
    uint64_t evals_warmup;
    uint64_t given_up; /* iterations of sampling before run/relearn.h gave their draws up */
    double seconds_before, sampling_before, learning_before; /* seconds that earlier sessions took */
    uint64_t speculative_before;                             /* unused evaluations of earlier sessions */
    gess__history history;
    char warning[400]; /* what was found about the density when the run was made or resumed; empty: nothing */
    /* of this session only */
    size_t current;                   /* index of the ensemble that is running */
    uint64_t planned;                 /* iterations in total, 0: not known */
    uint64_t checkpoint_iterations;   /* iterations of the current ensemble at the last checkpoint */
    double checkpoint_time;           /* monotonic seconds at the last checkpoint */
    double started, sampling_started; /* monotonic seconds */
    gess_stats stats;
};

/* Opens a store of draws in the run directory: a new file, or with `reopen` the file of a resumed run. (create.c) */
int gess__run_open_store(gess_run *run, const char *file, int reopen, gess__writer **writer, gess_error *err);

/* Whether this process is a helper rank, which only computes for rank 0. (create.c) */
int gess__run_is_helper(const gess_run *run);

#endif
