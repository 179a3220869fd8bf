/* What the hand-out to other ranks (ranks.c) needs of a stream: claims on blocks.
 *
 * A claim is one block of chains for one segment of the stretch that is being run, taken by a worker of this process
 * or sent to another rank. Draws do not depend on who has which. */
#ifndef GESS_EXECUTE_SCHEDULER_H
#define GESS_EXECUTE_SCHEDULER_H

#include "execute/task.h"
#include "execute/speculation.h"

/* About how long a task is made to take where there are other ranks: longer than two polls (wire.c), and so long for
 * each worker that rank 0 keeps up with many, at most 10,000 tasks a second. */
#define GESS__TASK_SECONDS_AWAY 0.01
#define GESS__TASK_SECONDS_A_WORKER 0.0001

typedef struct gess__claim {
    size_t block;
    uint64_t segment;
    uint64_t serial; /* tells it from every other claim of this stream */
    gess__task task; /* with the places in this process where its outcome goes */
} gess__claim;

/* What a claim brought. */
typedef struct gess__outcome {
    int status;
    gess_error error;
    double seconds, each; /* of all of it; of an evaluation, 0 where that was not measured */
    gess__tally tally;
} gess__outcome;

/* Claims the idle block that is furthest behind for a worker of `rank`, which is expected to take `each` seconds for
 * an evaluation (0: not known) and has `ahead` tasks to do before. Where none is idle: one that another rank has, and
 * will have for longer than this one would take. Returns whether there was one. */
int gess__scheduler_claim(gess__scheduler *stream, int rank, double each, size_t ahead, gess__claim *claim);

/* The states of a claim for another rank are on their way: from here on it may be taken over. */
void gess__scheduler_sent(gess__scheduler *stream, const gess__claim *claim);

/* The outcome of a claim of another rank has come. Returns whether it is still wanted: then it is to be put where
 * claim->task says, and gess__scheduler_finish() to be called. */
int gess__scheduler_wants(gess__scheduler *stream, gess__claim *claim, uint64_t serial, size_t block);
void gess__scheduler_finish(gess__scheduler *stream, const gess__claim *claim, const gess__outcome *outcome);

/* Points at which a density was NaN, from another rank. */
void gess__scheduler_note_nan(gess__scheduler *stream, uint64_t iteration, uint64_t chain, uint64_t angle,
                           const double *point);

/* Ends the stretch with an error. */
void gess__scheduler_fail(gess__scheduler *stream, int status, const gess_error *error);

const gess__stretch *gess__scheduler_stretch(const gess__scheduler *stream);
gess__ensemble *gess__scheduler_ensemble(const gess__scheduler *stream);

/* Claims that lost their block to another so far, and whether one has not. */
uint64_t gess__scheduler_taken_over(gess__scheduler *stream);
int gess__scheduler_holds(gess__scheduler *stream, size_t block, uint64_t serial);

/* For `workers` workers, those of other ranks included, and after e->block has become smaller; between stretches. */
int gess__scheduler_share(gess__scheduler *stream, const gess__ensemble *e, unsigned workers, gess_error *err);

/* ---- angles in advance, with other ranks (lend.h) ---- */

/* Desks of the ensemble's team, as deep as so many workers can use; NULL where nothing is evaluated in advance. */
int gess__scheduler_desks(gess__speculation **ahead, const gess__ensemble *e, unsigned workers, pthread_mutex_t *lock,
                       pthread_cond_t *offered, gess_error *err);

/* How many angles a task should lay out; the seconds of an evaluation, 0 where not known; *elsewhere: they take so long
 * that handing them to another rank pays. */
size_t gess__scheduler_ahead(gess__scheduler *stream, double *each, int *elsewhere);

/* Tasks that run in this process. */
unsigned gess__scheduler_busy(gess__scheduler *stream);

/* The desks of this process, and the lock of them, with labels for this stretch; NULL where there are none. */
gess__speculation *gess__scheduler_label(gess__scheduler *stream, gess__frozen_label label, pthread_mutex_t **lock);

/* Evaluations in advance on behalf of other ranks that were not used. */
void gess__scheduler_note_unused(gess__scheduler *stream, uint64_t count);

#endif
