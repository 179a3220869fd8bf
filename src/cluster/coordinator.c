#include "cluster/coordinator.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cluster/remote_speculate.h"
#include "execute/scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GATHER_SECONDS 600.0 /* models may take long to load, on some nodes more than on others */
#define GRACE_SECONDS 3.0    /* for what runs here to end after another rank has failed */
#define FAREWELL_SECONDS 2.0

/* A task that a guest has. */
typedef struct errand {
    uint64_t ensemble, serial;
    size_t block;
    int revoked;
} errand;

typedef struct peer {
    char host[64];
    unsigned threads;
    int present;          /* it has said hello and not good-bye */
    uint64_t run;         /* in which run */
    uint64_t stopped;     /* run that it asked to stop; 0: none */
    uint64_t latest;      /* run that it began or could not begin last: one may be ahead of rank 0 by failures */
    double heard, spoken; /* by the awake clock */
    double pace;          /* seconds of an iteration of a block; 0: not known */
    double each;          /* seconds of a task for each of its evaluations, which luck alters less; 0: not known */
    size_t count, room;   /* errands */
    errand *errands;
    uint64_t *generation; /* that it has of what is frozen, of each ensemble */
    uint64_t tasks, wasted, iterations, bytes_out, bytes_in;
    uint64_t loans; /* times that it was lent to another */
    double busy;    /* seconds in tasks, of all its threads */
} peer;

/* What is frozen of an ensemble, as it is sent. */
typedef struct frozen {
    gess__archive packed;
    uint64_t generation;
} frozen;

struct gess__coordinator {
    gess_comm *comm;
    pthread_mutex_t lock; /* everything below; not held while a task runs */
    pthread_cond_t wake;  /* of the thread that carries messages */
    pthread_cond_t news;  /* of the covered thread */
    gess__backoff patience;
    gess__awake_clock awake;
    peer *peers; /* of ranks 1 .. size - 1, at rank - 1 */
    int first;   /* peer that is asked first, in turn */
    unsigned workers;
    /* one run */
    size_t ensembles;
    frozen *frozen;
    gess__scheduler *stream; /* NULL: no stretch */
    uint64_t taken_over;  /* as far as guests have been told */
    gess__rank_load *parties; /* of every rank, this one included: who is lent to whom */
    int lending;          /* one is */
    gess__helpers helpers;
    uint64_t unused; /* evaluations in advance for tasks of guests, to be noted */
    void (*stop)(void *user);
    void *stop_user;
    size_t block;
    int announced;     /* how large blocks are */
    gess__archive out; /* a message that is being put together */
    /* the covered thread */
    int covered, finished;
    int (*body)(void *data, gess_error *err);
    void *data;
    int body_status;
    gess_error body_error;
    /* the end */
    const gess__archive *farewell; /* to be sent */
    int farewell_sent;             /* and no run has begun since */
    double farewell_time;
    int status; /* a guest failed or is gone */
    gess_error error;
    double failed; /* when, by the awake clock */
    int broken;
    struct {
        uint64_t run; /* 0: none */
        int status;
        gess_error error;
    } early; /* a guest failed in a run that has not begun here */
};

static int size_of(const gess__coordinator *g)
{
    return g->comm->size - 1;
}

static void forget_run(gess__coordinator *g)
{
    for (size_t i = 0; i < g->ensembles; i++) gess__archive_free(&g->frozen[i].packed);
    free(g->frozen);
    g->frozen = NULL;
    g->ensembles = 0;
    for (int i = 0; i < size_of(g); i++) {
        free(g->peers[i].generation);
        g->peers[i].generation = NULL;
    }
}

static void free_ranks(void *ranks)
{
    gess__coordinator *g = ranks;
    if (g == NULL) return;
    if (g->peers != NULL) {
        forget_run(g);
        for (int i = 0; i < size_of(g); i++) free(g->peers[i].errands);
    }
    free(g->peers);
    free(g->parties);
    gess__helpers_free(&g->helpers);
    gess__archive_free(&g->out);
    pthread_cond_destroy(&g->wake);
    pthread_cond_destroy(&g->news);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

int gess__coordinator_of(gess_comm *comm, gess__coordinator **out, gess_error *err)
{
    *out = comm != NULL ? comm->ranks : NULL;
    if (comm == NULL || comm->size < 2 || comm->ranks != NULL) return GESS_OK;
    GESS_ALLOC(out, 1, err);
    gess__coordinator *g = *out;
    comm->ranks = g;
    comm->free_ranks = free_ranks;
    g->comm = comm;
    pthread_mutex_init(&g->lock, NULL);
    gess__wake_init(&g->wake);
    gess__wake_init(&g->news);
    g->patience.active = gess__seconds();
    GESS_ALLOC(&g->peers, (size_t)size_of(g), err);
    GESS_ALLOC(&g->parties, (size_t)comm->size, err);
    return GESS_OK;
}

void gess__coordinator_next_run(gess__coordinator *g)
{
    pthread_mutex_lock(&g->lock);
    uint64_t run = ++g->comm->runs;
    if (!g->broken && run > 1) g->status = GESS_OK; /* the first: a guest may have failed before it */
    if (g->early.run == run && g->status == GESS_OK) {
        g->status = g->early.status;
        g->error = g->early.error;
        g->failed = gess__awake_clock_seconds(&g->awake);
    }
    if (g->early.run <= run) g->early.run = 0;
    g->block = 0;
    g->unused = 0;
    pthread_mutex_unlock(&g->lock);
}

unsigned gess__coordinator_workers(const gess__coordinator *g)
{
    return g != NULL ? g->workers : 0;
}

int gess__coordinator_broken(const gess__coordinator *g)
{
    return g != NULL && g->broken;
}

/* ---- failures; all of the following hold the lock, and are called by the thread that carries messages ---- */

/* The first failure of a guest ends the run. */
static void fail(gess__coordinator *g, int status, const gess_error *error)
{
    if (g->status == GESS_OK) {
        g->status = status;
        g->error = *error;
        g->failed = gess__awake_clock_seconds(&g->awake);
    }
    if (g->stream != NULL) gess__scheduler_fail(g->stream, g->status, &g->error);
    pthread_cond_broadcast(&g->news);
}

static void send_to(gess__coordinator *g, int i, int tag, const void *bytes, size_t count)
{
    gess_error error = {0};
    peer *p = &g->peers[i];
    p->spoken = gess__awake_clock_seconds(&g->awake);
    p->bytes_out += count;
    int status = g->comm->send(g->comm, i + 1, tag, bytes, count, &error);
    if (status == GESS_OK) return;
    p->present = 0;
    g->broken = 1;
    fail(g, status, &error);
}

/* ---- giving out ---- */

static void send_frozen(gess__coordinator *g, int i, size_t ensemble)
{
    const frozen *f = &g->frozen[ensemble];
    if (g->peers[i].generation[ensemble] == f->generation) return;
    send_to(g, i, GESS__WIRE_FROZEN, f->packed.bytes, f->packed.size);
    g->peers[i].generation[ensemble] = f->generation;
}

static void send_task(gess__coordinator *g, int i, const gess__ensemble *e, const gess__claim *claim)
{
    const gess__task *t = &claim->task;
    gess__archive *a = &g->out;
    gess__order order = {.ensemble = e->number,
                         .serial = claim->serial,
                         .block = claim->block,
                         .chain = e->chains.first + t->first,
                         .count = t->count,
                         .keep = t->keep,
                         .warmup = t->warmup,
                         .phase = t->phase,
                         .axes = gess__scheduler_stretch(g->stream)->axes,
                         .start = t->start,
                         .iterations = t->iterations,
                         .from = t->from,
                         .thin = t->thin,
                         .window_start = t->window_start,
                         .window_stride = t->window_stride,
                         .rebind = t->rebind,
                         .points = t->points != NULL};
    int elsewhere;
    order.ahead = gess__scheduler_ahead(g->stream, &order.each, &elsewhere);
    a->size = 0;
    GESS_ARCHIVE(a, &order);
    gess__wire_states(a, t->chains, t->first, t->count);
    gess__scheduler_sent(g->stream, claim);
    if (a->bad) {
        gess_error error;
        fail(g, gess__fail(&error, GESS_ERR_INTERNAL, "out of memory for a task"), &error);
        return;
    }
    peer *p = &g->peers[i];
    p->errands[p->count++] = (errand){.ensemble = e->number, .serial = claim->serial, .block = claim->block};
    send_frozen(g, i, e->number);
    send_to(g, i, GESS__WIRE_TASK, a->bytes, a->size);
}

/* One task for a guest; returns whether there was one. */
static int give_one(gess__coordinator *g, int i)
{
    peer *p = &g->peers[i];
    gess__claim claim;
    const gess__ensemble *e = gess__scheduler_ensemble(g->stream);
    if (!gess__scheduler_claim(g->stream, i + 1, p->each, p->count / p->threads, &claim)) return 0;
    send_task(g, i, e, &claim);
    return 1;
}

/* First a task for every thread of ranks that help nobody, then for those of the others, then some to have at hand when
 * one is done. */
static int give(gess__coordinator *g)
{
    enum { ALONE, LENT, SPARE, WAYS };
    int given = 0, more = 1;
    for (int way = ALONE; way < WAYS; way++)
        for (more = 1; more && g->status == GESS_OK;) {
            more = 0;
            for (int k = 0; k < size_of(g); k++) {
                int i = (g->first + k) % size_of(g);
                const peer *p = &g->peers[i];
                if (!p->present || p->count >= (way == SPARE ? p->room : p->threads)) continue;
                if (way == ALONE && g->parties[i + 1].lent > 0) continue;
                if (!give_one(g, i)) {
                    g->first = (i + 1) % size_of(g);
                    return given;
                }
                given = more = 1;
            }
        }
    return given;
}

/* Who has tasks among the guests; true where one has none. */
static int look_around(gess__coordinator *g)
{
    int idle = 0;
    for (int i = 0; i < size_of(g); i++) {
        const peer *p = &g->peers[i];
        g->parties[i + 1].tasks = p->present ? (unsigned)p->count : 0;
        g->parties[i + 1].idle = p->present && p->count == 0 ? p->threads : 0;
        idle |= g->parties[i + 1].idle > 0;
    }
    return idle;
}

static void make_loan(gess__coordinator *g, const gess__assignment *loan)
{
    if (loan->threads > 0) g->peers[loan->helper - 1].loans++;
    if (loan->owner == 0)
        gess__helpers_assign(&g->helpers, loan->helper, loan->threads);
    else
        send_to(g, loan->owner - 1, GESS__WIRE_ASSIGN, loan, sizeof *loan);
}

/* Lends ranks without a task to those that have one. */
static void lend(gess__coordinator *g)
{
    int elsewhere, idle = look_around(g);
    g->patience.keen = idle || gess__scheduler_busy(g->stream) < gess__team_size(gess__scheduler_ensemble(g->stream)->team);
    if (!idle && !g->lending) return;
    size_t number = gess__scheduler_ensemble(g->stream)->number;
    size_t most = gess__scheduler_ahead(g->stream, &g->helpers.each, &elsewhere);
    gess__assignment loan;
    if (!elsewhere && !g->lending) return;
    g->parties[0].tasks = gess__scheduler_busy(g->stream);
    while (g->status == GESS_OK && gess__assign_next(g->parties, g->comm->size, elsewhere ? most : 0, &loan))
        make_loan(g, &loan);
    g->lending = 0;
    for (int i = 0; i < size_of(g); i++) {
        if (g->parties[i + 1].lent == 0) continue;
        g->lending = 1;
        /* where it is new; but not while much lies unreceived: a helper in a long evaluation takes nothing, and without
         * it refuses what it is sent */
        if (g->comm->pending(g->comm) < 16 + 4 * (size_t)size_of(g)) send_frozen(g, i, number);
    }
    g->patience.most = g->lending ? gess__remote_poll_seconds(g->helpers.each) : 0.0;
}

/* Sends points that are laid out here. */
static int send_points(gess__coordinator *g)
{
    gess_error error = {0};
    int sent = 0, status = gess__helpers_send(&g->helpers, &sent, &error);
    if (status != GESS_OK) fail(g, status, &error);
    return sent;
}

/* Tells guests of tasks that others have taken over. */
static void revoke(gess__coordinator *g)
{
    uint64_t taken_over = gess__scheduler_taken_over(g->stream);
    size_t number = gess__scheduler_ensemble(g->stream)->number;
    if (taken_over == g->taken_over) return;
    g->taken_over = taken_over;
    for (int i = 0; i < size_of(g); i++)
        for (size_t k = 0; k < g->peers[i].count; k++) {
            errand *r = &g->peers[i].errands[k];
            if (r->revoked || r->ensemble != number || gess__scheduler_holds(g->stream, r->block, r->serial)) continue;
            uint64_t key[2] = {r->ensemble, r->serial};
            r->revoked = 1;
            g->peers[i].wasted++;
            send_to(g, i, GESS__WIRE_REVOKE, key, sizeof key);
        }
}

/* ---- what comes in ---- */

static int hello(gess__coordinator *g, peer *p, gess__archive *a, gess_error *err)
{
    uint64_t threads = 0;
    char version[32] = "";
    GESS_ARCHIVE(a, &version);
    GESS_ARCHIVE(a, &threads);
    GESS_ARCHIVE(a, &p->host);
    p->host[sizeof p->host - 1] = '\0';
    if (a->bad || strncmp(version, GESS_VERSION_TEXT, sizeof version) != 0 || threads < 1 || threads > 1 << 20)
        return gess__fail(err, GESS_ERR_USAGE, "rank %d on %s runs another version of gess than rank 0",
                          (int)(p - g->peers) + 1, p->host);
    p->threads = (unsigned)threads;
    p->room = p->threads + 1 + p->threads / 8;
    free(p->errands);
    p->errands = NULL;
    GESS_ALLOC(&p->errands, p->room, err);
    p->count = 0;
    p->present = 1;
    return GESS_OK;
}

/* The rows of a task, which are packed in the message, each chain to its place. */
static void read_rows(gess__archive *a, const gess__task *t, size_t columns)
{
    size_t kept = (size_t)gess__task_kept(t);
    for (size_t j = 0; j < t->keep && kept > 0; j++)
        gess__archive_bytes(a, t->rows + j * t->row_stride, kept * columns * sizeof *t->rows);
}

static void read_points(gess__archive *a, const gess__task *t)
{
    size_t dim = t->chains->dim, points = (size_t)gess__task_points(t);
    size_t first = points > 0 ? (size_t)((t->start - t->window_start) / t->window_stride) : 0;
    for (size_t i = first; i < first + points; i++) {
        gess__archive_bytes(a, t->values + i * t->point_stride, t->count * sizeof *t->values);
        if (t->points != NULL)
            gess__archive_bytes(a, t->points + i * t->point_stride * dim, t->count * dim * sizeof *t->points);
    }
}

static void read_nans(gess__archive *a, gess__scheduler *s, double *point, size_t dim)
{
    uint64_t count = 0, key[3];
    GESS_ARCHIVE(a, &count);
    for (uint64_t i = 0; i < count && !a->bad; i++) {
        GESS_ARCHIVE(a, &key);
        gess__archive_bytes(a, point, dim * sizeof *point);
        if (!a->bad) gess__scheduler_note_nan(s, key[0], key[1], key[2], point);
    }
}

static void note_unused(gess__coordinator *g)
{
    gess__scheduler_note_unused(g->stream, g->unused);
    g->unused = 0;
}

static void forget_errand(peer *p, uint64_t ensemble, uint64_t serial)
{
    for (size_t k = 0; k < p->count; k++)
        if (p->errands[k].serial == serial && p->errands[k].ensemble == ensemble) {
            p->errands[k] = p->errands[--p->count];
            return;
        }
}

static double smooth(double before, double now)
{
    return before > 0.0 ? 0.7 * before + 0.3 * now : now;
}

static void note_times(peer *p, const gess__order *order, const gess__outcome *o)
{
    p->pace = smooth(p->pace, o->seconds / (double)order->iterations);
    if (o->tally.evals > 0) p->each = smooth(p->each, o->seconds / (double)o->tally.evals);
    p->tasks++;
    p->iterations += order->iterations * order->count;
    p->busy += o->seconds;
}

static int result(gess__coordinator *g, peer *p, gess__archive *a, gess_error *err)
{
    gess__order order;
    gess__outcome o = {0};
    gess__claim claim;
    int dropped = 0;
    GESS_ARCHIVE(a, &order);
    uint64_t unused = 0;
    GESS_ARCHIVE(a, &dropped);
    GESS_ARCHIVE(a, &unused);
    if (!a->bad) forget_errand(p, order.ensemble, order.serial);
    if (!a->bad) g->unused += unused; /* between stretches, too: it may wrap around, and the sum of all must not */
    if (g->stream != NULL) note_unused(g);
    if (dropped) return GESS_OK;
    gess__wire_error(a, &o.status, &o.error);
    GESS_ARCHIVE(a, &o.seconds);
    GESS_ARCHIVE(a, &o.each);
    if (o.status == GESS_OK) GESS_ARCHIVE(a, &o.tally);
    if (a->bad) return gess__fail(err, GESS_ERR_INTERNAL, "a result that is not whole came from %s", p->host);
    note_times(p, &order, &o);
    g->patience.task = o.seconds;
    gess__scheduler *s = g->stream;
    if (s == NULL || gess__scheduler_ensemble(s)->number != order.ensemble ||
        !gess__scheduler_wants(s, &claim, order.serial, (size_t)order.block))
        return GESS_OK; /* someone else was faster */
    if (o.status == GESS_OK) {
        const gess__task *t = &claim.task;
        gess__wire_states(a, t->chains, t->first, t->count);
        read_rows(a, t, gess__scheduler_ensemble(s)->target.columns);
        read_points(a, t);
        double *point = NULL;
        GESS_ALLOC(&point, t->chains->dim, err);
        read_nans(a, s, point, t->chains->dim);
        free(point);
        if (a->bad || a->at != a->size)
            return gess__fail(err, GESS_ERR_INTERNAL, "a result that is not whole came from %s", p->host);
    } else {
        gess__blame(&o.error, o.status, "rank %d on %s", (int)(p - g->peers) + 1, p->host);
        fail(g, o.status, &o.error);
    }
    gess__scheduler_finish(s, &claim, &o);
    return GESS_OK;
}

static int receive(gess__coordinator *g, const gess__message *m, gess_error *err)
{
    gess__archive a = gess__wire_open(m);
    peer *p = &g->peers[m->from - 1];
    int status = GESS_OK;
    uint64_t run = 0;
    gess_error error = {0};
    p->heard = gess__awake_clock_seconds(&g->awake);
    p->bytes_in += m->count;
    if (m->tag == GESS__WIRE_HELLO || m->tag == GESS__WIRE_FAILED || m->tag == GESS__WIRE_BYE) {
        GESS_ARCHIVE(&a, &run);
        if (run > p->latest) p->latest = run;
        if (run < g->comm->runs && run != 0) return GESS_OK; /* of a run that failed before it began */
    }
    switch (m->tag) {
    case GESS__WIRE_HELLO:
        GESS_TRY(hello(g, p, &a, err));
        p->run = run;
        pthread_cond_broadcast(&g->news);
        return GESS_OK;
    case GESS__WIRE_RESULT: return result(g, p, &a, err);
    case GESS__WIRE_PING: return GESS_OK;
    case GESS__WIRE_VALUE: return gess__helpers_take(&g->helpers, m, err);
    case GESS__WIRE_STOP:
        p->stopped = p->run;
        if (g->stop != NULL && p->run == g->comm->runs) g->stop(g->stop_user);
        return GESS_OK;
    case GESS__WIRE_FAILED:
        gess__wire_error(&a, &status, &error);
        if (status == GESS_OK || a.bad) return gess__fail(err, GESS_ERR_INTERNAL, "rank %d failed", m->from);
        gess__blame(&error, status, "rank %d", m->from);
        if (run > g->comm->runs && g->early.run == 0) {
            g->early.run = run;
            g->early.status = status;
            g->early.error = error;
        }
        if (run > g->comm->runs) return GESS_OK;
        if (err != NULL) *err = error;
        return status;
    case GESS__WIRE_BYE:
        if (p->run == run) p->present = 0;
        pthread_cond_broadcast(&g->news);
        return GESS_OK;
    default:
        return gess__fail(err, GESS_ERR_INTERNAL, "a message of unknown kind %d came from rank %d", m->tag, m->from);
    }
}

/* ---- a turn of the thread that carries messages ---- */

/* Says that we are here, and looks who has not said so for long. */
static void keep_in_touch(gess__coordinator *g)
{
    double now = gess__awake_clock_seconds(&g->awake);
    for (int i = 0; i < size_of(g); i++) {
        peer *p = &g->peers[i];
        int covered = 1;
        if (now - p->spoken > GESS__PING_SECONDS) send_to(g, i, GESS__WIRE_PING, &covered, sizeof covered);
        if (!p->present || now - p->heard < GESS__LOST_SECONDS) continue;
        gess_error error;
        p->present = 0;
        g->broken = 1;
        fail(g,
             gess__fail(&error, GESS_ERR_INTERNAL,
                        "rank %d on %s has not been heard of for %g s: it was killed, or its node or the network is "
                        "down",
                        i + 1, p->host, GESS__LOST_SECONDS),
             &error);
    }
    if (g->farewell == NULL && !g->farewell_sent && g->status != GESS_OK && now - g->failed > GRACE_SECONDS)
        g->comm->abort(g->comm, g->status, g->error.text); /* a density does not come back */
}

static void say_farewell(gess__coordinator *g)
{
    double now = gess__awake_clock_seconds(&g->awake);
    if (!g->farewell_sent) {
        for (int i = 0; i < size_of(g); i++) send_to(g, i, GESS__WIRE_END, g->farewell->bytes, g->farewell->size);
        g->farewell_sent = 1;
        g->farewell_time = now;
    }
    int present = 0;
    double seconds = g->helpers.each; /* what a helper is at; and a task that is not wanted ends with its iteration */
    for (int i = 0; i < size_of(g); i++) {
        const peer *p = &g->peers[i];
        if (!p->present || p->run > g->comm->runs) continue;
        present++;
        if (p->pace > seconds) seconds = p->pace;
    }
    if (present > 0 && now - g->farewell_time < FAREWELL_SECONDS + 3.0 * seconds) return;
    if (present > 0) g->broken = 1;
    g->farewell = NULL;
    pthread_cond_broadcast(&g->news);
}

static void announce(gess__coordinator *g)
{
    uint64_t block = g->block;
    for (int i = 0; i < size_of(g); i++) send_to(g, i, GESS__WIRE_SETUP, &block, sizeof block);
    g->announced = 1;
}

static int turn(gess__coordinator *g)
{
    int happened = 0, got = 1;
    if (!g->announced && g->block > 0) announce(g);
    for (int count = 0; got && count < 256; count++) {
        gess__message m = {0};
        gess_error error = {0};
        int status = g->comm->poll(g->comm, &m, &got, &error);
        if (status == GESS_OK && got) status = receive(g, &m, &error);
        if (status != GESS_OK) fail(g, status, &error);
        happened |= got;
        if (g->stream != NULL && got && count % 16 == 15) give(g); /* do not let others wait for the whole heap */
    }
    g->patience.keen = 0;
    if (g->stream != NULL) {
        happened |= give(g);
        revoke(g);
        lend(g);
        happened |= send_points(g);
    }
    if (g->farewell != NULL) say_farewell(g);
    keep_in_touch(g);
    return happened;
}

/* ---- the covered thread ---- */

static void *run_body(void *argument)
{
    gess__coordinator *g = argument;
    int status = g->body(g->data, &g->body_error);
    pthread_mutex_lock(&g->lock);
    g->body_status = status;
    g->finished = 1;
    pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

/* Guests hold silence against rank 0 while it is covered, and not otherwise. */
static void tell_covered(gess__coordinator *g, int covered)
{
    g->covered = covered;
    for (int i = 0; i < size_of(g); i++) send_to(g, i, GESS__WIRE_PING, &covered, sizeof covered);
}

int gess__with_comm_thread(gess__coordinator *g, int (*body)(void *data, gess_error *err), void *data, gess_error *err)
{
    pthread_t thread;
    if (g == NULL || g->covered) return body(data, err);
    g->body = body;
    g->data = data;
    g->finished = 0;
    g->body_error = (gess_error){0};
    int code = pthread_create(&thread, NULL, run_body, g);
    if (code != 0) return gess__fail(err, GESS_ERR_INTERNAL, "cannot start a thread: %s", strerror(code));
    pthread_mutex_lock(&g->lock);
    double now = gess__awake_clock_seconds(&g->awake);
    for (int i = 0; i < size_of(g); i++) g->peers[i].heard = now;
    tell_covered(g, 1);
    while (!g->finished) {
        if (turn(g))
            g->patience.active = gess__seconds();
        else
            gess__backoff_wait(&g->patience, g->comm, &g->wake, &g->lock);
    }
    tell_covered(g, 0);
    pthread_mutex_unlock(&g->lock);
    pthread_join(thread, NULL);
    if (err != NULL && g->body_status != GESS_OK) *err = g->body_error;
    return g->body_status;
}

/* ---- called by the covered thread ---- */

static void wait_for_news(gess__coordinator *g)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    pthread_cond_timedwait(&g->news, &g->lock, &until);
}

static int prepare(gess__coordinator *g, size_t count, gess_error *err)
{
    forget_run(g);
    GESS_ALLOC(&g->frozen, count, err);
    g->ensembles = count;
    for (int i = 0; i < size_of(g); i++) GESS_ALLOC(&g->peers[i].generation, count, err);
    return GESS_OK;
}

static int all_present(const gess__coordinator *g, int *missing)
{
    for (*missing = 0; *missing < size_of(g); ++*missing)
        if (!g->peers[*missing].present || g->peers[*missing].run != g->comm->runs) return 0;
    return 1;
}

static int await_all(gess__coordinator *g, gess_error *err)
{
    double start = gess__seconds();
    int missing;
    while (g->status == GESS_OK && !all_present(g, &missing)) {
        const peer *p = &g->peers[missing];
        if (p->latest >= g->comm->runs)
            return gess__fail(err, GESS_ERR_USAGE, "rank %d could not begin the run", missing + 1);
        if (gess__seconds() - start > GATHER_SECONDS) {
            g->broken = 1;
            return gess__fail(err, GESS_ERR_INTERNAL, "rank %d did not begin within %g s", missing + 1, GATHER_SECONDS);
        }
        wait_for_news(g);
    }
    if (g->status == GESS_OK) return GESS_OK;
    *err = g->error;
    return g->status;
}

/* Blocks for everybody's threads. */
static int share(gess__coordinator *g, size_t count, gess__ensemble **ensemble, const gess_options *options, gess_error *err)
{
    g->workers = gess__team_size(ensemble[0]->team);
    for (int i = 0; i < size_of(g); i++) g->workers += g->peers[i].threads;
    g->block = 1;
    for (size_t i = 0; i < count; i++) {
        ensemble[i]->ranks = g;
        ensemble[i]->number = i;
        GESS_TRY(gess__ensemble_share(ensemble[i], options, g->workers, err));
        if (ensemble[i]->block > g->block) g->block = ensemble[i]->block;
    }
    g->announced = g->farewell_sent = 0;
    memset(g->parties, 0, (size_t)g->comm->size * sizeof *g->parties);
    g->lending = 0;
    return gess__helpers_open(&g->helpers, g->comm, ensemble[0]->target.dim, &g->wake, err);
}

int gess__coordinator_gather(gess__coordinator *g, size_t count, gess__ensemble **ensemble, const gess_options *options,
                       void (*stop)(void *user), void *user, gess_error *err)
{
    if (g == NULL) return GESS_OK;
    pthread_mutex_lock(&g->lock);
    g->stop = stop;
    g->stop_user = user;
    for (int i = 0; i < size_of(g); i++)
        if (g->peers[i].stopped == g->comm->runs) stop(user); /* it was too early */
    int status = prepare(g, count, err);
    if (status == GESS_OK) status = await_all(g, err);
    if (status == GESS_OK) status = share(g, count, ensemble, options, err);
    pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->lock);
    return status;
}

void gess__coordinator_dismiss(gess__coordinator *g, int status, const gess_error *error, const void *news, size_t size)
{
    if (g == NULL) return;
    gess__archive a = {0};
    gess_error copy = status != GESS_OK && error != NULL ? *error : (gess_error){0};
    GESS_ARCHIVE(&a, &g->comm->runs);
    gess__wire_error(&a, &status, &copy);
    gess__archive_bytes(&a, (void *)(uintptr_t)news, size);
    pthread_mutex_lock(&g->lock);
    g->farewell = &a;
    g->farewell_sent = 0;
    pthread_cond_signal(&g->wake);
    while (g->farewell != NULL) wait_for_news(g);
    g->stop = NULL;
    pthread_mutex_unlock(&g->lock);
    gess__archive_free(&a);
}

/* Packs what is frozen again, and counts it as new where it is. */
static int freeze(gess__coordinator *g, gess__ensemble *e, gess_error *err)
{
    frozen *f = &g->frozen[e->number];
    gess__archive packed = {0};
    uint64_t number = e->number;
    GESS_ARCHIVE(&packed, &f->generation);
    GESS_ARCHIVE(&packed, &number);
    gess__ensemble_archive_frozen(e, &packed);
    if (packed.bad) {
        gess__archive_free(&packed);
        return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for the approximation");
    }
    if (f->packed.size == packed.size && memcmp(f->packed.bytes, packed.bytes, packed.size) == 0) {
        gess__archive_free(&packed);
        return GESS_OK;
    }
    gess__archive_free(&f->packed);
    f->packed = packed;
    f->generation++;
    memcpy(packed.bytes, &f->generation, sizeof f->generation);
    return GESS_OK;
}

int gess__coordinator_begin(gess__coordinator *g, gess__scheduler *stream, gess_error *err)
{
    if (g == NULL) return GESS_OK;
    pthread_mutex_lock(&g->lock);
    int status = g->status;
    if (status != GESS_OK) *err = g->error;
    if (status == GESS_OK) status = freeze(g, gess__scheduler_ensemble(stream), err);
    if (status == GESS_OK) {
        const gess__ensemble *e = gess__scheduler_ensemble(stream);
        const gess__frozen_label label = {e->number, g->frozen[e->number].generation};
        g->stream = stream;
        note_unused(g);
        pthread_mutex_t *lock;
        gess__speculation *ahead = gess__scheduler_label(stream, label, &lock);
        gess__helpers_attach(&g->helpers, ahead, lock);
        g->taken_over = UINT64_MAX; /* guests have not been told of the last ones of the stretch before */
        pthread_cond_signal(&g->wake);
    }
    pthread_mutex_unlock(&g->lock);
    return status;
}

void gess__coordinator_end(gess__coordinator *g)
{
    if (g == NULL) return;
    pthread_mutex_lock(&g->lock);
    gess__helpers_detach(&g->helpers);
    g->stream = NULL;
    pthread_mutex_unlock(&g->lock);
}

void gess__coordinator_leave(gess__coordinator *g, int status)
{
    if (g == NULL) return;
    for (int i = 0; i < size_of(g); i++) send_to(g, i, GESS__WIRE_LEAVE, &status, sizeof status);
}

int gess__coordinator_describe(const gess__coordinator *g, size_t index, char *text, size_t size)
{
    if (g == NULL || index >= (size_t)size_of(g)) return 0;
    const peer *p = &g->peers[index];
    double iterations = p->iterations > 0 ? (double)p->iterations : 1.0;
    snprintf(text, size,
             "rank %zu on %s: threads %u, tasks %llu (%llu of them taken over by others), updates %llu, busy %.3f s; "
             "lent to others %llu times; bytes an update: %.1f to it, %.1f from it",
             index + 1, p->host, p->threads, (unsigned long long)p->tasks, (unsigned long long)p->wasted,
             (unsigned long long)p->iterations, p->busy, (unsigned long long)p->loans,
             (double)p->bytes_out / iterations, (double)p->bytes_in / iterations);
    return 1;
}
