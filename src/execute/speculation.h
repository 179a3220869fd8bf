/* Speculation: idle workers evaluate the points that an update will ask for next, should it reject the present one.
 *
 * While a slice update rejects angles, its next angle depends on the earlier angles and the random numbers, never on
 * densities. So the points that it will ask for are known as soon as it begins. The worker that runs the update puts
 * them into its queue; idle workers take them one by one, nearest first, and bring back the values. The owner of the
 * queue goes through its rounds as always: it evaluates what nobody has begun, uses what has come back, and waits only
 * for a value that it needs next and that is being evaluated.
 *
 * A value is used only if its point equals, bit for bit, the point that the update asks for. So no prediction can
 * change a draw. A value that is not used is dropped, errors included, and nobody waits for it: each point that is
 * taken has a ticket, and a value that comes back with an old ticket is ignored.
 *
 * A point may also go to another rank (cluster/remote_speculate.h), which may be slow or gone. Such a point has a due
 * time; after it, the owner evaluates the point itself if it needs it.
 *
 * One lock guards all queues. The lock, and the condition on which idle workers wait, belong to the caller. */
#ifndef GESS_EXECUTE_SPECULATION_H
#define GESS_EXECUTE_SPECULATION_H

#include "kernel/kernel.h"

#include <pthread.h>

typedef struct gess__speculation gess__speculation;

/* Which frozen state a point belongs to: the number of its ensemble and the generation of the frozen state. */
typedef struct gess__frozen_label {
    uint64_t ensemble, generation;
} gess__frozen_label;

/* A point that an idle worker has taken from a queue. */
typedef struct gess__predicted_point {
    gess__speculation_queue *queue;
    size_t slot;
    uint64_t ticket;
    gess__frozen_label label;
} gess__predicted_point;

/* One queue per worker, for blocks of at most `block` chains and at most `depth` predicted angles per lane; a point has
 * `dim` numbers, its value comes with `blobs` more. Idle workers wait on `offered`. */
int gess__speculation_new(gess__speculation **speculation, unsigned workers, size_t depth, size_t block, size_t dim,
                          size_t blobs, pthread_mutex_t *lock, pthread_cond_t *offered, gess_error *err);
void gess__speculation_free(gess__speculation *speculation);

/* Labels the points that the worker queues from now on. Call it with the lock held. */
void gess__speculation_label(gess__speculation *speculation, unsigned worker, gess__frozen_label label);

/* Sets a second condition to signal when points are queued: that of the thread that sends them to other ranks; NULL:
 * there is none. Call it with the lock held. */
void gess__speculation_set_sender(gess__speculation *speculation, pthread_cond_t *sender);

/* ---- for idle workers, with the lock held ---- */

/* Copies the nearest point that nobody has begun into point[dim]. Of equally near points it takes the one in the queue
 * of worker `first` or the next worker after it. Returns 0 if there is none. */
int gess__speculation_take(gess__speculation *speculation, unsigned first, double *point, gess__predicted_point *taken);

/* Brings back the value of a point with its blobs (NULL if there are none), or its error. */
void gess__speculation_give(gess__speculation *speculation, const gess__predicted_point *taken, int status,
                            double value, const double *blobs);

/* The same for points that go to another rank; they are counted when they go. `due` is a time of gess__seconds().
 * _return() gives back a point that the other rank refused, uncounted. */
int gess__speculation_take_remote(gess__speculation *speculation, double due, double *point,
                                  gess__predicted_point *taken);
void gess__speculation_give_remote(gess__speculation *speculation, const gess__predicted_point *taken, int status,
                                   double value, const double *blobs);
void gess__speculation_return(gess__speculation *speculation, const gess__predicted_point *taken);

/* Number of speculative evaluations that were not used so far. */
uint64_t gess__speculation_unused(const gess__speculation *speculation);

/* ---- for the worker that runs updates, without the lock ---- */

/* Its updates predict at most `depth` angles per lane; with speculation NULL or depth 0, none. */
void gess__speculation_begin(gess__speculation *speculation, gess__update *u, unsigned worker, size_t depth);

/* Empties the queue after an update that failed; an update that succeeds empties it itself. */
void gess__speculation_end(gess__update *u);

#endif
