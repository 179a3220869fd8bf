/* Angles evaluated in advance by workers that have nothing else to do.
 *
 * While the angles of a slice update are rejected, the next one depends on the earlier ones and on the random numbers
 * only, never on densities. So the points that an update will ask for, should it go on, are known as soon as it begins.
 * The worker that runs an update lays them out on its desk; idle workers take them one by one, nearest first, and bring
 * back the values. The owner of the desk goes through its rounds as ever: what nobody has begun it evaluates itself,
 * what has come back it uses, and it waits only for the value that it needs next and that is being evaluated.
 *
 * A value is used only where its point is, bit for bit, the point that the update asks for: nothing that a kernel
 * foresees can alter a draw. What is not used is dropped, errors included, without anyone waiting for it: whoever
 * evaluates it has a copy of the point and a ticket, and a ticket that is no longer valid is ignored.
 *
 * A point may also go to another process (ensemble/lend.h), which may be slow or gone: such a point has a time at which
 * its value is due, and from then on the owner evaluates it itself, should it need it.
 *
 * One lock guards all desks; it is the caller's, as is the condition on which idle workers wait. */
#ifndef GESS_KERNEL_AHEAD_H
#define GESS_KERNEL_AHEAD_H

#include "kernel/kernel.h"

#include <pthread.h>

typedef struct gess__ahead gess__ahead;

/* Whose points are on a desk: number of the ensemble, and of what is frozen of it. */
typedef struct gess__label {
    uint64_t ensemble, generation;
} gess__label;

/* A point that an idle worker has taken. */
typedef struct gess__offer {
    gess__desk *desk;
    size_t slot;
    uint64_t ticket;
    gess__label label;
} gess__offer;

/* A desk for each worker: blocks of up to `block` chains, up to `depth` angles ahead. */
int gess__ahead_new(gess__ahead **ahead, unsigned workers, size_t depth, size_t block, size_t dim,
                    pthread_mutex_t *lock, pthread_cond_t *offered, gess_error *err);
void gess__ahead_free(gess__ahead *ahead);

gess__desk *gess__ahead_desk(gess__ahead *ahead, unsigned worker);

/* Whose points will be on the desk from now on; with the lock held. */
void gess__ahead_label(gess__ahead *ahead, unsigned worker, gess__label label);

/* A second condition, which is signalled where points are laid out: that of a thread that sends them elsewhere. NULL:
 * nobody does. With the lock held. */
void gess__ahead_call(gess__ahead *ahead, pthread_cond_t *sender);

/* ---- for idle workers; with the lock held ---- */

/* Takes the nearest angle that nobody has begun into point[dim], of equally near ones that of desk `first` or the next
 * after it; false where there is none. */
int gess__ahead_take(gess__ahead *ahead, unsigned first, double *point, gess__offer *offer);

/* Brings back its value, or the error. */
void gess__ahead_give(gess__ahead *ahead, const gess__offer *offer, int status, double value);

/* The same for points that go elsewhere, which are counted when they go. `due`: by gess__seconds(). What nobody could
 * evaluate is refused: it is not counted then. */
int gess__ahead_send(gess__ahead *ahead, double due, double *point, gess__offer *offer);
void gess__ahead_came(gess__ahead *ahead, const gess__offer *offer, int status, double value);
void gess__ahead_refused(gess__ahead *ahead, const gess__offer *offer);

/* Evaluations so far that were not used. */
uint64_t gess__ahead_unused(const gess__ahead *ahead);

/* ---- for the owner of u->desk; without the lock ---- */

/* The values of all proposals, with the help of others. */
int gess__ahead_evaluate(const gess__kernel *kernel, gess__update *u, gess_error *err);

/* The update is over, or has failed: nothing is on offer any more. */
void gess__ahead_withdraw(gess__desk *desk);

#endif
