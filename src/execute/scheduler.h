/* The scheduler: decides who runs which block of chains, and hands draws out in order.
 *
 * A stretch is cut into segments of iterations. A task is one block of chains for one segment. A free worker claims the
 * block that is furthest behind. Blocks never wait for each other, only for room: the draws of a few segments are held,
 * and a segment goes to the sink, in order, when its last block is done. Measured time decides how long a segment is,
 * so that a stop is heeded soon and claims cost little; neither a draw nor a byte of a file depends on it.
 *
 * A worker that finds no block evaluates predicted points (speculation.h) if that pays.
 *
 * Workers of other ranks get tasks in the same way, through the functions below. A worker with nothing to do takes over
 * a block that another rank holds, or will hold, for too long. The outcome is the same; the second one to arrive is
 * ignored. */
#ifndef GESS_EXECUTE_SCHEDULER_H
#define GESS_EXECUTE_SCHEDULER_H

#include "execute/speculation.h"
#include "execute/task.h"

/* About how long a task takes if there are other ranks: longer than two polls (cluster/wire.c), and per worker so long
 * that rank 0 keeps up with many of them, at most 10,000 tasks per second. */
#define GESS__REMOTE_TASK_SECONDS 0.01
#define GESS__REMOTE_TASK_SECONDS_PER_WORKER 0.0001

int gess__scheduler_new(gess__scheduler **scheduler, const gess__ensemble *e, gess_error *err);
void gess__scheduler_free(gess__scheduler *scheduler);

/* Prepares for `workers` workers, those of other ranks included, after e->block has become smaller; between stretches.
 */
int gess__scheduler_share(gess__scheduler *scheduler, const gess__ensemble *e, unsigned workers, gess_error *err);

/* Moves an average of measured times towards a new value, by a share `weight`; 0: there is none yet. */
static inline double gess__smooth(double average, double weight, double value)
{
    return average > 0.0 ? (1.0 - weight) * average + weight * value : value;
}

/* ---- claims of other ranks, between begin() and end() of gess__remote ---- */

/* One block of chains for one segment, claimed by a worker of this process or by another rank. Draws do not depend on
 * who claims which. */
typedef struct gess__claim {
    size_t block;
    uint64_t segment;
    uint64_t serial; /* tells it from every other claim of this scheduler */
    gess__task task; /* with the places in this process where its outcome goes */
} gess__claim;

/* What a claim brought. */
typedef struct gess__outcome {
    int status;
    gess_error error;
    double seconds;      /* that the task took */
    double sec_per_eval; /* 0: not measured */
    gess__tally tally;
} gess__outcome;

/* Claims the idle block that is furthest behind for a worker of `rank`, whose tasks take `sec_per_eval` seconds per
 * evaluation (0: not known) and which has `waiting` tasks to do before. If no block is idle: one that another rank will
 * hold for longer than this one would take. Returns 0 if there is none. */
int gess__scheduler_claim(gess__scheduler *scheduler, int rank, double sec_per_eval, size_t waiting,
                          gess__claim *claim);

/* The states of a claim have been sent to its rank: from here on others may take it over. */
void gess__scheduler_sent(gess__scheduler *scheduler, const gess__claim *claim);

/* The outcome of a claim has come. Returns whether it is still wanted: then the caller puts it where claim->task says
 * and calls gess__scheduler_finish(). */
int gess__scheduler_wants(gess__scheduler *scheduler, gess__claim *claim, uint64_t serial, size_t block);
void gess__scheduler_finish(gess__scheduler *scheduler, const gess__claim *claim, const gess__outcome *outcome);

/* Notes a point at which the density was NaN on another rank. */
void gess__scheduler_note_nan(gess__scheduler *scheduler, uint64_t iteration, uint64_t chain, uint64_t angle,
                              const double *point);

/* Ends the stretch with an error. */
void gess__scheduler_fail(gess__scheduler *scheduler, int status, const gess_error *error);

const gess__stretch *gess__scheduler_stretch(const gess__scheduler *scheduler);
gess__ensemble *gess__scheduler_ensemble(const gess__scheduler *scheduler);

/* Number of claims that were taken over so far; and whether a claim still holds its block. */
uint64_t gess__scheduler_takeovers(gess__scheduler *scheduler);
int gess__scheduler_holds(gess__scheduler *scheduler, size_t block, uint64_t serial);

/* ---- speculation with other ranks (cluster/remote_speculate.h) ---- */

/* Queues for the ensemble's team, as deep as `workers` workers can use; NULL if nothing is to be predicted. */
int gess__scheduler_make_speculation(gess__speculation **speculation, const gess__ensemble *e, unsigned workers,
                                     pthread_mutex_t *lock, pthread_cond_t *offered, gess_error *err);

/* How many angles a task should predict; *sec_per_eval: 0 if not known; *remote: an evaluation takes so long that
 * sending it to another rank pays. */
size_t gess__scheduler_speculation_depth(gess__scheduler *scheduler, double *sec_per_eval, int *remote);

/* Number of tasks that run in this process. */
unsigned gess__scheduler_busy(gess__scheduler *scheduler);

/* The queues of this process, labelled for this stretch, and their lock; NULL if there are none. */
gess__speculation *gess__scheduler_label(gess__scheduler *scheduler, gess__frozen_label label, pthread_mutex_t **lock);

/* Counts speculative evaluations of other ranks' tasks that were not used. */
void gess__scheduler_note_unused(gess__scheduler *scheduler, uint64_t count);

#endif
