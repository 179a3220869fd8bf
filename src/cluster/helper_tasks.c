/* Runs the tasks of a helper rank: unpacks them into slots, a few more than there are threads, runs them on the team,
 * and sends the results to rank 0. Threads without a task evaluate predicted points, of other ranks and of this one. */
#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/helper_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- workers ---- */

static gess__slot *next_waiting(const gess__helper_rank *r)
{
    gess__slot *first = NULL;
    for (size_t i = 0; i < r->slots; i++) {
        gess__slot *s = &r->slot[i];
        if (s->state == GESS__SLOT_WAITING && (first == NULL || s->order.serial < first->order.serial)) first = s;
    }
    return first;
}

/* Moves what the worker counted to the slot. */
static void take_counts(gess__slot *s, gess__update *u)
{
    size_t dim = u->target->dim;
    s->outcome.tally = u->tally;
    u->tally = (gess__tally){0};
    s->nans.count = u->nans.count;
    memcpy(s->nans.keys, u->nans.keys, sizeof s->nans.keys);
    memcpy(s->nans.points, u->nans.points, u->nans.count * dim * sizeof *s->nans.points);
    u->nans.count = 0;
}

static void run_slot(gess__helper_rank *r, gess__slot *s, unsigned worker)
{
    gess__ensemble *e = r->ensemble[s->order.ensemble];
    gess__stretch with = {.approx = e->frozen.approx,
                          .mixture = gess__frozen_mixture(&e->frozen),
                          .moves = e->frozen.moves};
    with.moves.coordinate = s->order.coordinate;
    gess__update *u = &e->updates[worker];
    gess__speculation_begin(r->speculation, u, worker, (size_t)s->order.depth);
    double before = gess__seconds();
    s->outcome.status = gess__task_run(e, &with, worker, &s->task, &s->outcome.error);
    s->outcome.seconds = gess__seconds() - before;
    s->outcome.sec_per_eval = u->measure ? 0.0 : u->sec_per_eval;
    gess__speculation_end(u); /* after an error */
    take_counts(s, u);
}

/* Evaluates a predicted point, with its blobs if there are any; without the lock meanwhile. */
static int evaluate(gess__helper_rank *r, uint64_t ensemble, unsigned worker, const double *point, double *value,
                    double *blobs)
{
    gess__update *u = &r->ensemble[ensemble]->updates[worker];
    *value = NAN;
    r->speculating++;
    pthread_mutex_unlock(&r->lock);
    int status = gess__target_evaluate(u->target, worker, 1, point, value, NULL, blobs, u->mapped, NULL);
    pthread_mutex_lock(&r->lock);
    r->speculating--;
    pthread_cond_signal(&r->wake);
    return status;
}

/* Evaluates a point of another rank's update, or of one here; returns 0 if there is none. */
static int speculate(gess__helper_rank *r, unsigned worker)
{
    gess__predicted_point taken;
    gess__request *q = gess__requests_next(&r->requests);
    if (q != NULL) {
        q->state = GESS__REQUEST_BEGUN;
        q->status = evaluate(r, q->label.ensemble, worker, q->point, &q->value, q->blobs);
        q->state = GESS__REQUEST_DONE;
        return 1;
    }
    /* queues are made with the first ensemble; all have the same dimension */
    double value, *point = r->speculation != NULL ? r->points + worker * r->requests.dim : NULL;
    if (point == NULL || r->ending || r->held || !gess__speculation_take(r->speculation, worker, point, &taken))
        return 0;
    double *blobs = r->ensemble[taken.label.ensemble]->updates[worker].blobs;
    int status = evaluate(r, taken.label.ensemble, worker, point, &value, blobs);
    gess__speculation_give(r->speculation, &taken, status, value, blobs);
    return 1;
}

static int work(void *data, unsigned worker, size_t item, gess_error *err)
{
    gess__helper_rank *r = data;
    (void)item;
    (void)err;
    pthread_mutex_lock(&r->lock);
    while (!r->quit) {
        gess__slot *s = next_waiting(r);
        if (s == NULL) {
            if (!gess__helper_run_batch(r, worker) && !speculate(r, worker)) pthread_cond_wait(&r->work, &r->lock);
            continue;
        }
        s->state = GESS__SLOT_RUNNING;
        if (r->speculation != NULL)
            gess__speculation_label(r->speculation, worker,
                                    (gess__frozen_label){s->order.ensemble, r->generation[s->order.ensemble]});
        pthread_mutex_unlock(&r->lock);
        run_slot(r, s, worker);
        pthread_mutex_lock(&r->lock);
        s->state = GESS__SLOT_DONE;
        pthread_cond_signal(&r->wake);
    }
    pthread_mutex_unlock(&r->lock);
    return GESS_OK;
}

void *gess__helper_run_team(void *helper_rank)
{
    gess__helper_rank *r = helper_rank;
    gess__team_run(r->team, gess__team_size(r->team), work, r, NULL);
    return NULL;
}

/* ---- slots; all of the following hold the lock ---- */

/* Makes what it takes to speculate, for other ranks and with their help. */
static int make_speculation(gess__helper_rank *r, const gess__ensemble *e, gess_error *err)
{
    unsigned threads = gess__team_size(r->team), all = threads * (unsigned)r->comm->size;
    GESS_TRY(gess__scheduler_make_speculation(&r->speculation, e, all, &r->lock, &r->work, err));
    GESS_TRY(gess__helpers_open(&r->helpers, r->comm, e->target.dim, e->chains.blob_count, &r->wake, err));
    GESS_TRY(gess__requests_open(&r->requests, threads, e->target.dim, e->chains.blob_count, err));
    GESS_ALLOC(&r->points, threads * e->target.dim, err);
    gess__helpers_attach(&r->helpers, r->speculation, NULL);
    return GESS_OK;
}

int gess__helper_make_slots(gess__helper_rank *r, const gess__ensemble *e, gess_error *err)
{
    size_t count = gess__team_size(r->team) + 1 + gess__team_size(r->team) / 8;
    GESS_TRY(make_speculation(r, e, err));
    GESS_ALLOC(&r->slot, count, err);
    r->slots = count;
    for (size_t i = 0; i < r->slots; i++) {
        gess__chains *c = &r->slot[i].chains;
        c->count = (size_t)r->setup.block;
        c->dim = e->target.dim;
        c->state_size = e->chains.state_size;
        c->blob_count = e->chains.blob_count;
        GESS_TRY(gess__chains_new(c, r->setup.tempered, err));
        GESS_ALLOC(&r->slot[i].nans.points, GESS__NANS_KEPT * c->dim, err);
    }
    return GESS_OK;
}

void gess__helper_free_slots(gess__helper_rank *r)
{
    for (size_t i = 0; r->slot != NULL && i < r->slots; i++) {
        gess__slot *s = &r->slot[i];
        gess__chains_free(&s->chains);
        free(s->nans.points);
        free(s->rows);
        free(s->points);
        free(s->values);
    }
    free(r->slot);
}

static int make_room(double **array, size_t *room, size_t need, gess_error *err)
{
    if (need <= *room) return GESS_OK;
    free(*array);
    *array = NULL;
    *room = 0;
    GESS_ALLOC(array, need, err);
    *room = need;
    return GESS_OK;
}

static int prepare_task(const gess__helper_rank *r, gess__slot *s, gess_error *err)
{
    const gess__order *o = &s->order;
    const gess__ensemble *e = r->ensemble[o->ensemble];
    gess__task *t = &s->task;
    s->chains.first = (uint32_t)o->chain;
    s->chains.count = (size_t)o->count;
    *t = (gess__task){.chains = &s->chains,
                      .count = (size_t)o->count,
                      .start = o->start,
                      .iterations = o->iterations,
                      .rebind = o->rebind,
                      .phase = o->phase,
                      .warmup = o->warmup,
                      .keep = (size_t)o->keep,
                      .from = o->from,
                      .thin = o->thin,
                      .window_start = o->window_start,
                      .window_stride = o->window_stride,
                      .point_stride = (size_t)o->count};
    size_t kept = (size_t)gess__task_kept(t), points = (size_t)gess__task_points(t);
    t->row_stride = kept * e->target.columns;
    /* at least one double, so that an empty array is not NULL */
    GESS_TRY(make_room(&s->rows, &s->rows_room, t->keep * t->row_stride + 1, err));
    GESS_TRY(make_room(&s->values, &s->values_room, points * t->count + 1, err));
    if (o->points) GESS_TRY(make_room(&s->points, &s->points_room, points * t->count * e->target.dim + 1, err));
    t->rows = s->rows;
    t->values = s->values;
    t->points = o->points ? s->points : NULL;
    t->cancelled = &s->revoked;
    t->skip = t->window_stride > 0 ? (size_t)((t->start - t->window_start) / t->window_stride) : 0;
    return GESS_OK;
}

int gess__helper_take_task(gess__helper_rank *r, gess__archive *a, gess_error *err)
{
    gess__slot *s = NULL;
    gess__order order;
    for (size_t i = 0; i < r->slots && s == NULL; i++)
        if (r->slot[i].state == GESS__SLOT_FREE) s = &r->slot[i];
    GESS_ARCHIVE(a, &order);
    if (a->bad || s == NULL || order.ensemble >= r->ensembles || r->ensemble[order.ensemble] == NULL ||
        order.count > r->setup.block || order.keep > order.count || order.iterations < 1)
        return gess__helper_bad_message(err);
    s->order = order;
    atomic_store(&s->revoked, 0);
    GESS_TRY(prepare_task(r, s, err));
    gess__chains_archive(&s->chains, 0, s->chains.count, a);
    if (a->bad || a->at != a->size) return gess__helper_bad_message(err);
    s->state = GESS__SLOT_WAITING;
    if (order.sec_per_eval > 0.0) r->helpers.sec_per_eval = order.sec_per_eval;
    pthread_cond_signal(&r->work);
    int sent;
    return gess__requests_send(&r->requests, r->comm, 1, &sent, err); /* the task comes first */
}

/* The states, draws, points and NaNs of a task that succeeded. */
static void write_result(gess__slot *s, gess__archive *a)
{
    const gess__task *t = &s->task;
    size_t kept = (size_t)gess__task_kept(t), points = (size_t)gess__task_points(t), dim = s->chains.dim;
    uint64_t nans = s->nans.count;
    GESS_ARCHIVE(a, &s->outcome.tally);
    gess__chains_archive(&s->chains, 0, t->count, a);
    if (kept > 0) gess__archive_bytes(a, t->rows, t->keep * t->row_stride * sizeof *t->rows);
    for (size_t i = 0; i < points; i++) {
        gess__archive_bytes(a, t->values + i * t->count, t->count * sizeof *t->values);
        if (t->points != NULL)
            gess__archive_bytes(a, t->points + i * t->count * dim, t->count * dim * sizeof *t->points);
    }
    GESS_ARCHIVE(a, &nans);
    for (uint64_t i = 0; i < nans; i++) {
        GESS_ARCHIVE(a, &s->nans.keys[i]);
        gess__archive_bytes(a, s->nans.points + i * dim, dim * sizeof *s->nans.points);
    }
}

int gess__helper_send_result(gess__helper_rank *r, gess__slot *s, gess_error *err)
{
    GESS_ASSERT(s->state == GESS__SLOT_DONE || s->state == GESS__SLOT_WAITING);
    gess__archive *a = &r->out;
    int dropped = atomic_load(&s->revoked);
    a->size = 0;
    GESS_ARCHIVE(a, &s->order);
    GESS_ARCHIVE(a, &dropped);
    uint64_t unused = r->speculation != NULL ? gess__speculation_unused(r->speculation) : 0, more = unused - r->unused;
    GESS_ARCHIVE(a, &more); /* it may have fallen: rank 0 adds up what wraps around */
    r->unused = unused;
    if (!dropped) {
        gess__wire_error(a, &s->outcome.status, &s->outcome.error);
        GESS_ARCHIVE(a, &s->outcome.seconds);
        GESS_ARCHIVE(a, &s->outcome.sec_per_eval);
    }
    if (!dropped && s->outcome.status == GESS_OK) write_result(s, a);
    s->state = GESS__SLOT_FREE;
    r->backoff.task_seconds = s->outcome.seconds;
    if (a->bad) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for a result");
    return gess__helper_send(r, GESS__WIRE_RESULT, a->bytes, a->size, err);
}
