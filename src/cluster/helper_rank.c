/* A rank other than 0: runs tasks for it.
 *
 * The calling thread carries messages, the team's threads run tasks, out of slots: a few more than there are threads.
 * What is frozen is only replaced while no task of its ensemble runs; until then nothing more is received.
 *
 * Threads without a task evaluate angles in advance: of this rank's own tasks, and of other ranks' (lend.h). */
#include "cluster/coordinator.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cluster/remote_speculate.h"
#include "execute/scheduler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum slot_state { FREE, WAITING, RUNNING, DONE };

typedef struct slot {
    enum slot_state state;
    atomic_int revoked;
    gess__order order;
    gess__task task;
    gess__chains chains; /* the block, with memory of its own */
    double *rows, *points, *values;
    size_t rows_room, points_room, values_room;
    int status;
    gess_error error;
    double seconds, each; /* as in gess__outcome */
    gess__tally tally;
    gess__nans nans;
} slot;

typedef struct guest {
    gess_comm *comm;
    const gess_model *model;
    const gess_options *options;
    gess__team *team;
    size_t ensembles, block, slots;
    gess__ensemble **ensemble; /* made when they are first heard of */
    slot *slot;
    uint64_t *generation; /* of what is frozen of each ensemble */
    gess__speculation *ahead;   /* desks of the workers; NULL: nothing is evaluated in advance */
    gess__helpers helpers;
    gess__requests favours;
    double *points;  /* of each worker: one of a desk here */
    size_t helping;  /* workers that evaluate in advance */
    uint64_t unused; /* of such evaluations for tasks here, as far as rank 0 was told */
    pthread_mutex_t lock;
    pthread_cond_t wake, work; /* of the thread that carries messages; of the workers */
    int quit;
    gess__backoff patience;
    gess__awake_clock awake;
    double heard, spoken;
    int covered;           /* rank 0 is to be heard of */
    int asked;             /* it was told of the stop */
    int held;              /* `message` waits for running tasks */
    int ending;            /* the run is over, but for tasks that run here: nothing more is received */
    gess__message message; /* that came last */
    gess__archive out;
    int over, status;
    gess_error error;
    void *news;
    size_t news_size;
} guest;

/* ---- workers ---- */

static slot *next_waiting(const guest *g)
{
    slot *first = NULL;
    for (size_t i = 0; i < g->slots; i++) {
        slot *s = &g->slot[i];
        if (s->state == WAITING && (first == NULL || s->order.serial < first->order.serial)) first = s;
    }
    return first;
}

/* Moves what the worker counted to the slot. */
static void take_counts(slot *s, gess__update *u)
{
    size_t dim = u->target->dim;
    s->tally = u->tally;
    u->tally = (gess__tally){0};
    s->nans.count = u->nans.count;
    memcpy(s->nans.keys, u->nans.keys, sizeof s->nans.keys);
    memcpy(s->nans.points, u->nans.points, u->nans.count * dim * sizeof *s->nans.points);
    u->nans.count = 0;
}

static void run_slot(guest *g, slot *s, unsigned worker)
{
    gess__ensemble *e = g->ensemble[s->order.ensemble];
    const gess__stretch stretch = {.approx = e->approx,
                                   .mixture = e->mixture != NULL && e->mixture->count > 1 ? e->mixture : NULL,
                                   .globals = e->globals,
                                   .period = e->period,
                                   .axes = s->order.axes};
    gess__update *u = &e->updates[worker];
    gess__speculation_begin(g->ahead, u, worker, (size_t)s->order.ahead);
    double before = gess__seconds();
    s->status = gess__task_run(e, &stretch, worker, &s->task, &s->error);
    s->seconds = gess__seconds() - before;
    s->each = u->measure ? 0.0 : u->each;
    gess__speculation_end(u); /* after an error */
    take_counts(s, u);
}

/* Evaluates a point in advance; without the lock meanwhile. */
static int evaluate(guest *g, uint64_t ensemble, unsigned worker, const double *point, double *value)
{
    gess__update *u = &g->ensemble[ensemble]->updates[worker];
    *value = NAN;
    g->helping++;
    pthread_mutex_unlock(&g->lock);
    int status = gess__target_evaluate(u->target, worker, 1, point, value, NULL, u->mapped, NULL);
    pthread_mutex_lock(&g->lock);
    g->helping--;
    pthread_cond_signal(&g->wake);
    return status;
}

/* An angle of another rank's update, or of one here; false where there is none. */
static int help(guest *g, unsigned worker)
{
    gess__predicted_point offer;
    gess__request *f = gess__requests_next(&g->favours);
    if (f != NULL) {
        f->state = GESS__REQUEST_BEGUN;
        f->status = evaluate(g, f->label.ensemble, worker, f->point, &f->value);
        f->state = GESS__REQUEST_DONE;
        return 1;
    }
    /* desks are made with the first ensemble; all have the same dimension */
    double value, *point = g->ahead != NULL ? g->points + worker * g->favours.dim : NULL;
    if (point == NULL || g->ending || g->held || !gess__speculation_take(g->ahead, worker, point, &offer)) return 0;
    int status = evaluate(g, offer.label.ensemble, worker, point, &value);
    gess__speculation_give(g->ahead, &offer, status, value);
    return 1;
}

static int work(void *data, unsigned worker, size_t item, gess_error *err)
{
    guest *g = data;
    (void)item;
    (void)err;
    pthread_mutex_lock(&g->lock);
    while (!g->quit) {
        slot *s = next_waiting(g);
        if (s == NULL) {
            if (!help(g, worker)) pthread_cond_wait(&g->work, &g->lock);
            continue;
        }
        s->state = RUNNING;
        if (g->ahead != NULL)
            gess__speculation_label(g->ahead, worker, (gess__frozen_label){s->order.ensemble, g->generation[s->order.ensemble]});
        pthread_mutex_unlock(&g->lock);
        run_slot(g, s, worker);
        pthread_mutex_lock(&g->lock);
        s->state = DONE;
        pthread_cond_signal(&g->wake);
    }
    pthread_mutex_unlock(&g->lock);
    return GESS_OK;
}

static void *run_team(void *argument)
{
    guest *g = argument;
    gess__team_run(g->team, gess__team_size(g->team), work, g, NULL);
    return NULL;
}

/* ---- messages; all of the following hold the lock ---- */

static int say(guest *g, int tag, const void *bytes, size_t count, gess_error *err)
{
    g->spoken = gess__awake_clock_seconds(&g->awake);
    return g->comm->send(g->comm, 0, tag, bytes, count, err);
}

static int say_hello(guest *g, gess_error *err)
{
    gess__archive a = {0};
    char version[32] = GESS_VERSION_TEXT, host[64] = "";
    uint64_t threads = gess__team_size(g->team);
    gethostname(host, sizeof host - 1);
    GESS_ARCHIVE(&a, &g->comm->runs);
    GESS_ARCHIVE(&a, &version);
    GESS_ARCHIVE(&a, &threads);
    GESS_ARCHIVE(&a, &host);
    int status = say(g, GESS__WIRE_HELLO, a.bytes, a.size, err);
    gess__archive_free(&a);
    return status;
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

/* What it takes to evaluate angles in advance, for others and with their help. */
static int make_desks(guest *g, const gess__ensemble *e, gess_error *err)
{
    unsigned threads = gess__team_size(g->team), all = threads * (unsigned)g->comm->size;
    GESS_TRY(gess__scheduler_desks(&g->ahead, e, all, &g->lock, &g->work, err));
    GESS_TRY(gess__helpers_open(&g->helpers, g->comm, e->target.dim, &g->wake, err));
    GESS_TRY(gess__requests_open(&g->favours, threads, e->target.dim, err));
    GESS_ALLOC(&g->points, threads * e->target.dim, err);
    gess__helpers_attach(&g->helpers, g->ahead, NULL);
    return GESS_OK;
}

/* Memory of the slots, once it is known how large a block is. */
static int make_slots(guest *g, const gess__ensemble *e, gess_error *err)
{
    size_t dim = e->target.dim, count = gess__team_size(g->team) + 1 + gess__team_size(g->team) / 8;
    GESS_TRY(make_desks(g, e, err));
    GESS_ALLOC(&g->slot, count, err);
    g->slots = count;
    for (size_t i = 0; i < g->slots; i++) {
        gess__chains *c = &g->slot[i].chains;
        c->dim = dim;
        c->state_size = e->chains.state_size;
        GESS_ALLOC(&c->x, g->block * dim, err);
        GESS_ALLOC(&c->value, g->block, err);
        GESS_ALLOC(&c->own, g->block * c->state_size, err);
        GESS_ALLOC(&c->deltas, g->block, err);
        GESS_ALLOC(&c->log_ts, g->block, err);
        if (e->chains.powers != NULL) GESS_ALLOC(&c->powers, g->block, err);
        GESS_ALLOC(&g->slot[i].nans.points, GESS__NANS_KEPT * dim, err);
    }
    return GESS_OK;
}

static void free_slots(guest *g)
{
    for (size_t i = 0; g->slot != NULL && i < g->slots; i++) {
        slot *s = &g->slot[i];
        free(s->chains.x);
        free(s->chains.value);
        free(s->chains.own);
        free(s->chains.deltas);
        free(s->chains.log_ts);
        free(s->chains.powers);
        free(s->nans.points);
        free(s->rows);
        free(s->points);
        free(s->values);
    }
    free(g->slot);
}

static int not_whole(gess_error *err)
{
    return gess__fail(err, GESS_ERR_INTERNAL, "a message from rank 0 is not whole");
}

static int take_frozen(guest *g, gess__archive *a, gess_error *err)
{
    uint64_t number = 0, generation = 0;
    GESS_ARCHIVE(a, &generation);
    GESS_ARCHIVE(a, &number);
    if (a->bad || number >= g->ensembles || g->block == 0) return not_whole(err);
    gess__ensemble **e = &g->ensemble[number];
    if (*e == NULL) GESS_TRY(gess__ensemble_make_helper(e, g->model, g->options, g->block, g->team, err));
    if (g->slot == NULL) GESS_TRY(make_slots(g, *e, err));
    gess__ensemble_archive_frozen(*e, a);
    if (a->bad || a->at != a->size)
        return gess__fail(err, GESS_ERR_INTERNAL,
                          "what rank 0 sent does not fit the model that this rank has: it must be the same on all");
    g->generation[number] = generation;
    return GESS_OK;
}

static int prepare_task(const guest *g, slot *s, gess_error *err)
{
    const gess__order *o = &s->order;
    const gess__ensemble *e = g->ensemble[o->ensemble];
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
    GESS_TRY(make_room(&s->rows, &s->rows_room, t->keep * t->row_stride, err));
    GESS_TRY(make_room(&s->values, &s->values_room, points * t->count, err));
    if (o->points) GESS_TRY(make_room(&s->points, &s->points_room, points * t->count * e->target.dim, err));
    t->rows = s->rows;
    t->values = s->values;
    t->points = o->points ? s->points : NULL;
    t->cancelled = &s->revoked;
    t->skip = t->window_stride > 0 ? (size_t)((t->start - t->window_start) / t->window_stride) : 0;
    return GESS_OK;
}

static int take_task(guest *g, gess__archive *a, gess_error *err)
{
    slot *s = NULL;
    gess__order order;
    for (size_t i = 0; i < g->slots && s == NULL; i++)
        if (g->slot[i].state == FREE) s = &g->slot[i];
    GESS_ARCHIVE(a, &order);
    if (a->bad || s == NULL || order.ensemble >= g->ensembles || g->ensemble[order.ensemble] == NULL ||
        order.count > g->block || order.keep > order.count || order.iterations < 1)
        return not_whole(err);
    s->order = order;
    atomic_store(&s->revoked, 0);
    GESS_TRY(prepare_task(g, s, err));
    gess__wire_states(a, &s->chains, 0, s->chains.count);
    if (a->bad || a->at != a->size) return not_whole(err);
    s->state = WAITING;
    if (order.each > 0.0) g->helpers.each = order.each;
    pthread_cond_signal(&g->work);
    int sent;
    return gess__requests_send(&g->favours, g->comm, 1, &sent, err); /* the task comes first */
}

static int send_result(guest *g, slot *s, gess_error *err)
{
    gess__archive *a = &g->out;
    int dropped = atomic_load(&s->revoked);
    const gess__task *t = &s->task;
    size_t kept = (size_t)gess__task_kept(t), points = (size_t)gess__task_points(t), dim = s->chains.dim;
    a->size = 0;
    GESS_ARCHIVE(a, &s->order);
    GESS_ARCHIVE(a, &dropped);
    uint64_t unused = g->ahead != NULL ? gess__speculation_unused(g->ahead) : 0, more = unused - g->unused;
    GESS_ARCHIVE(a, &more); /* may be less: it is what wraps around that is added up */
    g->unused = unused;
    if (!dropped) {
        gess__wire_error(a, &s->status, &s->error);
        GESS_ARCHIVE(a, &s->seconds);
        GESS_ARCHIVE(a, &s->each);
    }
    if (!dropped && s->status == GESS_OK) {
        uint64_t nans = s->nans.count;
        GESS_ARCHIVE(a, &s->tally);
        gess__wire_states(a, &s->chains, 0, t->count);
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
    s->state = FREE;
    g->patience.task = s->seconds;
    if (a->bad) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for a result");
    return say(g, GESS__WIRE_RESULT, a->bytes, a->size, err);
}

static int drop(guest *g, gess__archive *a, gess_error *err)
{
    uint64_t key[2] = {0, 0};
    GESS_ARCHIVE(a, &key);
    for (size_t i = 0; i < g->slots; i++) {
        slot *s = &g->slot[i];
        if (s->state == FREE || s->order.ensemble != key[0] || s->order.serial != key[1]) continue;
        atomic_store(&s->revoked, 1);
        if (s->state == WAITING) return send_result(g, s, err);
    }
    return GESS_OK;
}

/* What is frozen of an ensemble is to be replaced: *in_use says whether a task runs with it. Tasks that are left are
 * not wanted any more: rank 0 would not have frozen anew. */
static int clear(guest *g, int *in_use, gess_error *err)
{
    uint64_t number = 0, generation = 0;
    gess__archive a = gess__wire_open(&g->message);
    GESS_ARCHIVE(&a, &generation);
    GESS_ARCHIVE(&a, &number);
    int sent;
    GESS_TRY(gess__requests_send(&g->favours, g->comm, 1, &sent, err));
    *in_use = g->helping > 0;
    for (size_t i = 0; i < g->slots; i++) {
        slot *s = &g->slot[i];
        if (s->order.ensemble != number || (s->state != RUNNING && s->state != WAITING)) continue;
        atomic_store(&s->revoked, 1);
        if (s->state == RUNNING) *in_use = 1;
        if (s->state == WAITING) GESS_TRY(send_result(g, s, err));
    }
    return GESS_OK;
}

/* Good-bye, once no task runs any more: whoever says so goes on at once. Rank 0 does not wait for ever for it. */
static int leave_if_idle(guest *g, gess_error *err)
{
    if (g->helping > 0) return GESS_OK;
    for (size_t i = 0; i < g->slots; i++)
        if (g->slot[i].state == RUNNING) return GESS_OK;
    g->over = 1;
    return say(g, GESS__WIRE_BYE, &g->comm->runs, sizeof g->comm->runs, err);
}

static int take_end(guest *g, gess__archive *a, gess_error *err)
{
    uint64_t run = 0;
    GESS_ARCHIVE(a, &run);
    if (run < g->comm->runs) return GESS_OK; /* of one that this rank could not begin */
    gess__wire_error(a, &g->status, &g->error);
    gess__archive_bytes(a, g->news, g->news_size);
    if (a->bad) return not_whole(err);
    g->ending = g->quit = 1;
    for (size_t i = 0; i < g->slots; i++) atomic_store(&g->slot[i].revoked, 1);
    return leave_if_idle(g, err);
}

/* Rank 0 leaves. It says so once: within a run where that was never begun there. */
static void take_leave(gess_comm *comm, gess__archive *a)
{
    GESS_ARCHIVE(a, &comm->left_status);
    comm->left = 1;
}

static int take_loan(guest *g, gess__archive *a, gess_error *err)
{
    gess__assignment loan;
    GESS_ARCHIVE(a, &loan);
    if (a->bad || loan.helper < 1 || loan.helper >= g->comm->size || g->helpers.of == NULL) return not_whole(err);
    gess__helpers_assign(&g->helpers, loan.helper, loan.threads);
    g->patience.most = g->helpers.lent > 0 ? gess__remote_poll_seconds(g->helpers.each) : 0.0;
    return GESS_OK;
}

static int take_offer(guest *g, gess_error *err)
{
    int able = 1, asked = 0;
    for (size_t i = 0; i < g->slots; i++) able &= g->slot[i].state != WAITING && g->slot[i].state != RUNNING;
    GESS_TRY(gess__requests_take(&g->favours, g->comm, &g->message, able, g->generation, g->ensembles, &asked, err));
    if (asked) pthread_cond_signal(&g->work);
    g->patience.most = gess__remote_poll_seconds(g->favours.each);
    return GESS_OK;
}

static int receive(guest *g, gess_error *err)
{
    gess__archive a = gess__wire_open(&g->message);
    uint64_t block = 0;
    switch (g->message.tag) {
    case GESS__WIRE_PING: GESS_ARCHIVE(&a, &g->covered); return GESS_OK;
    case GESS__WIRE_SETUP:
        GESS_ARCHIVE(&a, &block);
        g->block = (size_t)block;
        return GESS_OK;
    case GESS__WIRE_FROZEN: GESS_TRY(clear(g, &g->held, err)); return g->held ? GESS_OK : take_frozen(g, &a, err);
    case GESS__WIRE_TASK: return take_task(g, &a, err);
    case GESS__WIRE_REVOKE: return drop(g, &a, err);
    case GESS__WIRE_ASSIGN: return take_loan(g, &a, err);
    case GESS__WIRE_PREDICTED: return take_offer(g, err);
    case GESS__WIRE_VALUE: return gess__helpers_take(&g->helpers, &g->message, err);
    case GESS__WIRE_END: return take_end(g, &a, err);
    case GESS__WIRE_LEAVE:
        take_leave(g->comm, &a);
        g->status = g->comm->left_status;
        g->over = 1;
        return GESS_OK;
    default: return gess__fail(err, GESS_ERR_INTERNAL, "a message of unknown kind %d came", g->message.tag);
    }
}

/* Rank 0 is gone: so is the run. One of the ranks says so. */
static void give_up(gess_comm *comm)
{
    if (comm->rank > 1) usleep(500000);
    comm->abort(comm, GESS_ERR_INTERNAL,
                comm->rank > 1 ? NULL
                               : "rank 0 has not been heard of: it was killed, or its node or the network is down; the "
                                 "run can be resumed from its last checkpoint");
}

static int keep_in_touch(guest *g, const atomic_int *stop, gess_error *err)
{
    double now = gess__awake_clock_seconds(&g->awake);
    if (stop != NULL && !g->asked && atomic_load(stop)) {
        g->asked = 1;
        GESS_TRY(say(g, GESS__WIRE_STOP, NULL, 0, err));
    }
    if (g->held || g->ending) g->heard = now; /* it is not listened to */
    if (g->covered && now - g->heard > GESS__LOST_SECONDS) give_up(g->comm);
    return now - g->spoken > GESS__PING_SECONDS ? say(g, GESS__WIRE_PING, NULL, 0, err) : GESS_OK;
}

static int turn(guest *g, const atomic_int *stop, int *happened, gess_error *err)
{
    int got = 1;
    size_t tasks = 0;
    *happened = 0;
    GESS_TRY(gess__requests_send(&g->favours, g->comm, 0, happened, err));
    for (size_t i = 0; i < g->slots; i++)
        if (g->slot[i].state == DONE) {
            GESS_TRY(send_result(g, &g->slot[i], err));
            *happened = 1;
        }
    if (g->held) {
        g->held = 0;
        GESS_TRY(receive(g, err));
    }
    if (g->ending) GESS_TRY(leave_if_idle(g, err));
    while (got && !g->held && !g->ending && !g->over) {
        GESS_TRY(g->comm->poll(g->comm, &g->message, &got, err));
        if (!got) break;
        *happened = 1;
        if (g->message.from == 0) g->heard = gess__awake_clock_seconds(&g->awake);
        GESS_TRY(receive(g, err));
    }
    if (!g->held && !g->ending && !g->over) GESS_TRY(gess__helpers_send(&g->helpers, happened, err));
    for (size_t i = 0; i < g->slots; i++) tasks += g->slot[i].state != FREE;
    g->patience.keen = tasks < gess__team_size(g->team);
    return keep_in_touch(g, stop, err);
}

static int carry(guest *g, const atomic_int *stop, gess_error *err)
{
    int status = say_hello(g, err);
    while (status == GESS_OK && !g->over) {
        int happened = 0;
        status = turn(g, stop, &happened, err);
        if (happened)
            g->patience.active = gess__seconds();
        else if (status == GESS_OK)
            gess__backoff_wait(&g->patience, g->comm, &g->wake, &g->lock);
    }
    return status;
}

/* ---- from outside ---- */

/* Rank 0 hears of it, ends the run and says so. */
static int fail_and_wait(guest *g, int status, gess_error *err)
{
    gess_error nothing;
    gess__helper_rank_failed(g->comm, status, err);
    double start = gess__seconds();
    while (!g->over && gess__seconds() - start < GESS__LOST_SECONDS) {
        int got = 0;
        if (g->ending && leave_if_idle(g, &nothing) != GESS_OK) break;
        if (!g->ending && g->comm->poll(g->comm, &g->message, &got, &nothing) != GESS_OK) break;
        if (got && (g->message.tag == GESS__WIRE_END || g->message.tag == GESS__WIRE_LEAVE)) receive(g, &nothing);
        if (!got && !g->over) gess__backoff_wait(&g->patience, g->comm, &g->wake, &g->lock);
    }
    return status;
}

static int set_up(guest *g, pthread_t *thread, gess_error *err)
{
    g->ensembles = (size_t)g->options->ensembles;
    GESS_ALLOC(&g->ensemble, g->ensembles, err);
    GESS_ALLOC(&g->generation, g->ensembles, err);
    GESS_TRY(gess__team_new(&g->team, (unsigned)g->options->threads, err));
    int code = pthread_create(thread, NULL, run_team, g);
    if (code != 0) return gess__fail(err, GESS_ERR_INTERNAL, "cannot start a thread: %s", strerror(code));
    return GESS_OK;
}

static int serve(guest *g, atomic_int *stop, gess_error *err)
{
    pthread_t thread;
    int status = set_up(g, &thread, err);
    if (status != GESS_OK) {
        gess__helper_rank_failed(g->comm, status, err);
        return status;
    }
    pthread_mutex_lock(&g->lock);
    g->heard = gess__awake_clock_seconds(&g->awake);
    status = carry(g, stop, err);
    if (status != GESS_OK) status = fail_and_wait(g, status, err);
    g->quit = 1;
    pthread_cond_broadcast(&g->work);
    pthread_mutex_unlock(&g->lock);
    pthread_join(thread, NULL);
    return status;
}

int gess__helper_rank_serve(gess_comm *comm, const gess_model *model, const gess_options *options, atomic_int *stop,
                      void *news, size_t size, gess_error *err)
{
    guest g = {.comm = comm, .model = model, .options = options, .news = news, .news_size = size};
    pthread_mutex_init(&g.lock, NULL);
    gess__wake_init(&g.wake);
    pthread_cond_init(&g.work, NULL);
    g.patience.active = gess__seconds();
    int status = serve(&g, stop, err);
    free_slots(&g);
    gess__helpers_free(&g.helpers);
    gess__requests_free(&g.favours);
    gess__speculation_free(g.ahead);
    free(g.points);
    free(g.generation);
    for (size_t i = 0; g.ensemble != NULL && i < g.ensembles; i++) gess__ensemble_free(g.ensemble[i]);
    free(g.ensemble);
    gess__team_free(g.team);
    gess__archive_free(&g.out);
    pthread_cond_destroy(&g.wake);
    pthread_cond_destroy(&g.work);
    pthread_mutex_destroy(&g.lock);
    if (status != GESS_OK) return status;
    if (g.status != GESS_OK && err != NULL) *err = g.error;
    return g.status;
}

void gess__helper_rank_failed(gess_comm *comm, int status, const gess_error *error)
{
    gess__archive a = {0};
    gess_error copy = error != NULL ? *error : (gess_error){0};
    GESS_ARCHIVE(&a, &comm->runs);
    gess__wire_error(&a, &status, &copy);
    comm->send(comm, 0, GESS__WIRE_FAILED, a.bytes, a.size, NULL);
    gess__archive_free(&a);
}

int gess__helper_rank_wait(gess_comm *comm)
{
    gess__backoff patience = {.active = gess__seconds()};
    gess__awake_clock awake = {0};
    pthread_mutex_t lock;
    pthread_cond_t wake;
    double heard = gess__awake_clock_seconds(&awake), spoken = heard;
    int covered = 0;
    pthread_mutex_init(&lock, NULL);
    gess__wake_init(&wake);
    pthread_mutex_lock(&lock);
    while (!comm->left) {
        gess__message m;
        int got = 0;
        if (comm->poll(comm, &m, &got, NULL) != GESS_OK) give_up(comm);
        double now = gess__awake_clock_seconds(&awake);
        if (got) {
            gess__archive a = gess__wire_open(&m);
            if (m.from == 0) heard = now;
            if (m.tag == GESS__WIRE_PING) GESS_ARCHIVE(&a, &covered);
            if (m.tag == GESS__WIRE_LEAVE) take_leave(comm, &a);
            continue;
        }
        if (covered && now - heard > GESS__LOST_SECONDS) give_up(comm);
        if (now - spoken > GESS__PING_SECONDS) {
            comm->send(comm, 0, GESS__WIRE_PING, NULL, 0, NULL);
            spoken = now;
        }
        gess__backoff_wait(&patience, comm, &wake, &lock);
    }
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&wake);
    pthread_mutex_destroy(&lock);
    return comm->left_status;
}
