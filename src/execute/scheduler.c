/* Running stretches: blocks of chains on the team, draws out in order.
 *
 * A stretch is cut into segments of iterations. A task is one block of chains for one segment. A
 * worker that is free takes the block that is furthest behind; blocks never wait for each other,
 * only for room: the draws of so many segments are held, and a segment goes to the sink when
 * its last block is done, in order. How long a segment is follows from measured time, so that a stop is
 * heeded soon and hand-outs cost little; neither a draw nor a byte of a file depends on it.
 *
 * A worker that finds no block evaluates angles in advance (kernel/ahead.h) where that pays.
 *
 * Where there are other ranks (ranks.c), they get tasks in the same way, and a worker with nothing to do takes one over
 * that another rank has, or will have, for too long: its outcome is the same, and whoever comes second is not listened
 * to. */
#include "execute/scheduler.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cluster/coordinator.h"
#include "execute/speculation.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TASK_SECONDS 0.005

/* A task of another rank is taken over where it would come later than PATIENCE times as long as it takes here, and
 * PATIENCE_SECONDS. */
#define PATIENCE 1.5
#define PATIENCE_SECONDS 0.002
#define GRACE 3.0
#define GRACE_SECONDS 0.02

/* Draws that are held: 1 MiB four times, or one draw of every chain if that is more. They are cut into as many segments
 * as fit, and no block is further ahead of another than LEAD_SECONDS, or FEWEST segments: a stop waits for the last to
 * catch up with the first. */
enum { FEWEST = 4, HELD_DOUBLES = 1 << 17, MAX_SLOTS = 4096 };
#define LEAD_SECONDS 3.0

/* An evaluation must take so long for handing it to another worker to pay; and so long for angles to be laid out even
 * when nobody is idle at the moment. */
#define AHEAD_SECONDS 50e-6
#define AHEAD_ALWAYS 1e-3
#define AHEAD_ELSEWHERE 1e-3 /* for handing it to another rank */

enum { AHEAD_MOST = 32 };

/* How a block stands. */
typedef struct holding {
    uint64_t progress; /* segments behind it */
    uint64_t serial;   /* of the claim on it; 0: idle */
    int rank;          /* whose claim that is */
    int safe;          /* it is not to be taken over */
    double since, expected;
    unsigned losses; /* claims on this segment of it that were taken over */
} holding;

struct gess__scheduler {
    double *rows; /* FEWEST × capacity doubles, in `slots` slots */
    size_t capacity;
    holding *holdings; /* one for each block */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* idle workers wait for it */
    unsigned idle;          /* how many */
    unsigned free;      /* workers in the stretch that have neither a task nor anything else to do, for other ranks */
    gess__speculation *ahead; /* NULL: nothing is evaluated in advance */
    double each;        /* seconds of an evaluation, as measured; 0: not yet */
    /* one stretch */
    gess__ensemble *ensemble;
    const gess__stretch *stretch;
    const gess__record *record;
    size_t blocks;
    uint64_t most;           /* iterations of a segment, so that FEWEST are held */
    size_t slots;            /* segments that are held, at most */
    uint64_t length;         /* iterations of a segment of this stretch */
    double pace;             /* seconds of an iteration of a block, as measured; 0: not yet */
    uint64_t segments;       /* to be run; falls when the stretch is stopped */
    uint64_t written;        /* handed to the sink */
    size_t *remaining;       /* MAX_SLOTS: blocks that still owe their part of the segment in the slot */
    uint64_t evals, updates; /* of tasks that are done */
    uint64_t serial;         /* of the last claim */
    uint64_t taken_over;     /* claims that lost their block to another */
    size_t claims;           /* that are being run */
    double typical;          /* seconds of an iteration of a block, wherever it is run; 0: not known */
    double rounds;           /* evaluations of an iteration of a block, likewise */
    gess__tally elsewhere;   /* of tasks that other ranks did */
    uint64_t unused;         /* evaluations in advance of such tasks, not used, since the ensemble was made */
    int delivering, status;
    gess_error error;
};

int gess__scheduler_new(gess__scheduler **stream, const gess__ensemble *e, gess_error *err)
{
    size_t row = e->chains.count * e->target.columns;
    pthread_condattr_t monotonic;
    GESS_ALLOC(stream, 1, err);
    gess__scheduler *s = *stream;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    s->capacity = row > HELD_DOUBLES ? row : HELD_DOUBLES;
    s->most = s->capacity / row;
    GESS_ALLOC(&s->rows, FEWEST * s->capacity, err);
    GESS_ALLOC(&s->remaining, MAX_SLOTS, err);
    return gess__scheduler_share(s, e, gess__team_size(e->team), err);
}

int gess__scheduler_share(gess__scheduler *s, const gess__ensemble *e, unsigned workers, gess_error *err)
{
    free(s->holdings);
    gess__speculation_free(s->ahead);
    s->holdings = NULL;
    s->ahead = NULL;
    GESS_ALLOC(&s->holdings, (e->chains.count + e->block - 1) / e->block, err);
    if (workers == 1) return GESS_OK;
    return gess__scheduler_desks(&s->ahead, e, workers, &s->lock, &s->changed, err);
}

int gess__scheduler_desks(gess__speculation **ahead, const gess__ensemble *e, unsigned workers, pthread_mutex_t *lock,
                       pthread_cond_t *offered, gess_error *err)
{
    if (e->speculate == 0 || e->kernel->predict == NULL) return GESS_OK;
    size_t depth = e->speculate != GESS_AUTO   ? (size_t)e->speculate
                   : workers <= AHEAD_MOST / 2 ? 2 * ((size_t)workers - 1)
                                               : AHEAD_MOST;
    return gess__speculation_new(ahead, gess__team_size(e->team), depth, e->block, e->target.dim, lock, offered, err);
}

void gess__scheduler_free(gess__scheduler *s)
{
    if (s == NULL) return;
    gess__speculation_free(s->ahead);
    free(s->rows);
    free(s->remaining);
    free(s->holdings);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

uint64_t gess__record_kept(const gess__record *record, uint64_t start, uint64_t iterations)
{
    uint64_t end = start + iterations;
    if (record->thin == 0 || end <= record->from) return 0;
    uint64_t before = start > record->from ? (start - record->from) / record->thin : 0;
    return (end - record->from) / record->thin - before;
}

/* ---- segments ---- */

static uint64_t segment_start(const gess__scheduler *s, uint64_t k)
{
    uint64_t past = k * s->length;
    return s->stretch->start + (past < s->stretch->iterations ? past : s->stretch->iterations);
}

static uint64_t segment_kept(const gess__scheduler *s, uint64_t k)
{
    uint64_t start = segment_start(s, k);
    return gess__record_kept(s->record, start, segment_start(s, k + 1) - start);
}

static void plan(gess__scheduler *s, gess__ensemble *e, const gess__stretch *stretch, const gess__record *record)
{
    s->ensemble = e;
    s->stretch = stretch;
    s->record = record;
    s->blocks = (stretch->count + e->block - 1) / e->block;
    double task = GESS__TASK_SECONDS_A_WORKER * (double)gess__coordinator_workers(e->ranks);
    double least = e->ranks != NULL ? GESS__TASK_SECONDS_AWAY : TASK_SECONDS;
    double fit = s->pace > 0.0 ? (task > least ? task : least) / s->pace : 1.0;
    s->length = fit >= (double)s->most ? s->most : fit > 1.0 ? (uint64_t)fit : 1;
    s->segments = (stretch->iterations + s->length - 1) / s->length;
    s->written = s->evals = s->updates = 0;
    s->delivering = 0;
    s->status = GESS_OK;
    s->free = 1; /* the thread that runs the stretch; the others when they come */
    s->claims = 0;
    s->elsewhere = (gess__tally){0};
    memset(s->holdings, 0, s->blocks * sizeof *s->holdings);
    size_t lead = s->pace > 0.0 ? (size_t)(LEAD_SECONDS / (s->pace * (double)s->length)) : 0;
    s->slots = FEWEST * (size_t)(s->most / s->length);
    if (s->slots > lead) s->slots = lead > FEWEST ? lead : FEWEST;
    if (s->slots > MAX_SLOTS) s->slots = MAX_SLOTS;
    for (size_t i = 0; i < s->slots; i++) s->remaining[i] = s->blocks;
}

/* Where the draws of segment k are held. */
static double *slot_of(const gess__scheduler *s, uint64_t k)
{
    return s->rows + k % s->slots * s->length * s->ensemble->chains.count * s->ensemble->target.columns;
}

/* ---- claims; all of the following hold the lock ---- */

static void fail(gess__scheduler *s, int status, const gess_error *error)
{
    if (s->status != GESS_OK) return;
    s->status = status;
    s->error = *error;
}

/* Whether a block can be claimed: it is idle, not at the end, and there is room for its draws. */
static int ready(const gess__scheduler *s, size_t b)
{
    const holding *h = &s->holdings[b];
    return h->serial == 0 && h->progress < s->segments && h->progress < s->written + s->slots;
}

/* The idle block that is furthest behind, or `blocks`. For a slow worker the one that is
 * furthest ahead: what is behind would fall ever further behind with it. */
static size_t choose(const gess__scheduler *s, int slow)
{
    size_t best = s->blocks;
    for (size_t b = 0; b < s->blocks; b++) {
        const holding *h = &s->holdings[b];
        if (!ready(s, b)) continue;
        if (best == s->blocks ||
            (slow ? h->progress > s->holdings[best].progress : h->progress < s->holdings[best].progress))
            best = b;
    }
    return best;
}

/* Seconds until a task is done that begins after so many others. */
static double task_seconds(const gess__scheduler *s, double pace, size_t ahead)
{
    return pace * (double)s->length * (double)(1 + ahead);
}

/* Seconds that a claim will still take. One that is late is taken to be as late again; but what is expected may be
 * wrong, and a task of one update may take several times the mean, wherever it is run: so there is a time of grace,
 * which doubles with every take-over. In the end a task is left to be finished. */
static double expect(const holding *h, double now)
{
    double past = now - h->since, left = h->expected - past;
    if (left > 0.0) return left;
    double grace = ldexp(GRACE * h->expected + GRACE_SECONDS, h->losses < 30 ? (int)h->losses : 30);
    return -left > grace ? -left : 0.0;
}

/* The block to be taken over by a worker of `rank`: the one that another rank will have longest, or `blocks`. */
static size_t choose_late(const gess__scheduler *s, int rank, double pace)
{
    size_t best = s->blocks;
    double now = gess__seconds(), most = PATIENCE * task_seconds(s, pace, 0) + PATIENCE_SECONDS;
    if (pace <= 0.0) return best;
    for (size_t b = 0; b < s->blocks; b++) {
        const holding *h = &s->holdings[b];
        if (h->serial == 0 || h->safe || h->rank == rank || expect(h, now) <= most) continue;
        most = expect(h, now);
        best = b;
    }
    return best;
}

/* The stop flag was set: no block goes further than the one that is furthest ahead. */
static void heed_stop(gess__scheduler *s)
{
    if (s->record->stop == NULL || !atomic_load(s->record->stop)) return;
    uint64_t furthest = 0;
    for (size_t b = 0; b < s->blocks; b++) {
        uint64_t reached = s->holdings[b].progress + (s->holdings[b].serial != 0);
        if (reached > furthest) furthest = reached;
    }
    if (furthest < s->segments) s->segments = furthest;
}

/* The task of a block in a segment, with the places where its outcome goes. */
static gess__task make_task(const gess__scheduler *s, size_t block, uint64_t k)
{
    gess__ensemble *e = s->ensemble;
    const gess__stretch *stretch = s->stretch;
    size_t offset = block * e->block, columns = e->target.columns, kept = (size_t)segment_kept(s, k);
    gess__task t = {.chains = &e->chains,
                    .first = stretch->first + offset,
                    .count = stretch->count - offset < e->block ? stretch->count - offset : e->block,
                    .start = segment_start(s, k),
                    .rebind = stretch->rebind && k == 0,
                    .phase = e->frozen        ? GESS__FROZEN
                             : e->warmup.over ? GESS__SAMPLING
                                              : GESS__WARMING,
                    .warmup = gess__warmup_min_iterations(e),
                    .from = s->record->from,
                    .thin = s->record->thin,
                    .rows = slot_of(s, k) + offset * kept * columns,
                    .row_stride = kept * columns};
    t.iterations = segment_start(s, k + 1) - t.start;
    if (t.first < e->kept) t.keep = e->kept - t.first < t.count ? e->kept - t.first : t.count;
    if (e->warmup.over) return t;
    t.window_start = e->window.start;
    t.window_stride = e->window.stride;
    t.point_stride = e->chains.count;
    t.values = e->window.values + t.first;
    if (e->window.points != NULL) t.points = e->window.points + t.first * e->target.dim;
    return t;
}

/* Whether a worker had better leave the rest to others: it is slow, and they would wait for it in the end, or for
 * room. The last to be at work never does, so that there is always one. */
static int too_slow(const gess__scheduler *s, double pace, size_t ahead)
{
    unsigned workers = gess__coordinator_workers(s->ensemble->ranks);
    if (workers == 0 || s->claims == 0 || pace <= 0.0 || s->typical <= 0.0) return 0;
    uint64_t left = s->segments - s->written, room = s->slots / 2;
    double turns = (double)(left < room ? left : room) * (double)s->blocks / (double)workers;
    return task_seconds(s, pace, ahead) > PATIENCE * task_seconds(s, s->typical, 0) * (turns > 1.0 ? turns : 1.0);
}

/* `ahead`: tasks that the worker has to do before; with none, it may take over another's. */
static int claim_block(gess__scheduler *s, int rank, double pace, size_t ahead, gess__claim *claim)
{
    if (s->status != GESS_OK) return 0;
    heed_stop(s);
    if (too_slow(s, pace, ahead)) return 0;
    size_t block = choose(s, s->typical > 0.0 && pace > PATIENCE * s->typical);
    if (block == s->blocks && ahead == 0) block = choose_late(s, rank, pace);
    if (block == s->blocks) return 0;
    holding *h = &s->holdings[block];
    if (h->serial != 0) {
        s->taken_over++;
        h->losses++;
    } else {
        s->claims++;
    }
    h->serial = ++s->serial;
    h->rank = rank;
    h->safe = 1;
    h->since = gess__seconds();
    h->expected = task_seconds(s, pace, ahead);
    *claim = (gess__claim){.block = block, .segment = h->progress, .serial = h->serial};
    claim->task = make_task(s, block, h->progress);
    return 1;
}

/* Hands complete segments to the sink, without the lock while the sink is at work. */
static void deliver(gess__scheduler *s)
{
    while (!s->delivering && s->status == GESS_OK && s->written < s->segments &&
           s->remaining[s->written % s->slots] == 0) {
        uint64_t k = s->written, start = segment_start(s, k);
        size_t first = s->stretch->first, end = first + s->stretch->count, kept = s->ensemble->kept;
        gess__segment segment = {.first = first,
                                 .count = (end < kept ? end : kept) - first,
                                 .iterations = segment_start(s, k + 1),
                                 .first_draw = gess__record_kept(s->record, 0, start),
                                 .draws = segment_kept(s, k),
                                 .evals = s->evals,
                                 .updates = s->updates,
                                 .rows = slot_of(s, k)};
        gess_error error = {0};
        int status = GESS_OK;
        s->delivering = 1;
        s->free--;
        pthread_mutex_unlock(&s->lock);
        if (s->record->sink != NULL) status = s->record->sink(s->record->user, &segment, &error);
        pthread_mutex_lock(&s->lock);
        s->free++;
        s->delivering = 0;
        if (status != GESS_OK) fail(s, status, &error);
        s->remaining[k % s->slots] = s->blocks;
        s->written++;
        pthread_cond_broadcast(&s->changed);
    }
}

/* Whether angles are evaluated in advance at all, as far as is known. */
static int speculating(const gess__scheduler *s)
{
    return s->ahead != NULL && (s->ensemble->speculate != GESS_AUTO || s->each >= AHEAD_SECONDS);
}

/* How many angles a task lays out for idle workers. `auto`: those that one update in twenty would come to, if every
 * angle were as likely to be the last as all are on average. */
static size_t depth_ahead(const gess__scheduler *s)
{
    const gess__tally *t = &s->ensemble->tally;
    unsigned here = gess__team_size(s->ensemble->team), all = gess__coordinator_workers(s->ensemble->ranks);
    int someone = s->idle > 0 || s->blocks < (all > here ? all : here) || s->each >= AHEAD_ALWAYS;
    if (!speculating(s) || !someone) return 0;
    if (s->ensemble->speculate != GESS_AUTO) return (size_t)s->ensemble->speculate;
    double evals = (double)(t->evals + s->evals), updates = (double)(t->updates + s->updates);
    if (s->updates > 100) {
        evals = (double)s->evals;
        updates = (double)s->updates;
    }
    if (!(evals > updates)) return 0;
    double depth = ceil(log(0.05) / log1p(-updates / evals));
    return (size_t)(depth < AHEAD_MOST ? depth : AHEAD_MOST);
}

/* Evaluates an angle in advance. False where there is none; *gone where the worker came back too late. The thread that
 * called gess__team_run() cannot leave the team, so it does not begin anything shortly before the end. */
static int help(gess__scheduler *s, unsigned worker, int *gone)
{
    gess__predicted_point offer;
    gess__ensemble *e = s->ensemble;
    gess__update *u = &e->updates[worker];
    if (!speculating(s)) return 0;
    if (worker == 0 && s->written + 2 >= s->segments) {
        if (s->idle > 0) pthread_cond_signal(&s->changed); /* it may have been woken in place of another */
        return 0;
    }
    u->worker = worker;
    if (!gess__speculation_take(s->ahead, worker, u->points, &offer)) return 0;
    if (worker > 0) gess__team_leave(e->team, worker);
    s->free--;
    pthread_mutex_unlock(&s->lock);
    double value = NAN;
    int status = gess__target_evaluate(u->target, worker, 1, u->points, &value, NULL, u->mapped, NULL);
    pthread_mutex_lock(&s->lock);
    gess__speculation_give(s->ahead, &offer, status, value);
    *gone = worker > 0 && !gess__team_rejoin(e->team, worker);
    if (!*gone) s->free++;
    return 1;
}

/* A claim of which the outcome is in its place. Segments that are complete by it are delivered by the workers of this
 * process: whoever carries messages must not wait for a disk. */
static void finish_claim(gess__scheduler *s, const gess__claim *claim, const gess__outcome *o)
{
    holding *h = &s->holdings[claim->block];
    double each = o->seconds / (double)claim->task.iterations;
    /* only others have run tasks so far: better theirs than none */
    if (s->pace == 0.0) s->pace = each;
    if (s->each == 0.0) s->each = o->each;
    s->typical = s->typical > 0.0 ? 0.95 * s->typical + 0.05 * each : each;
    double rounds = (double)o->tally.evals / (double)claim->task.iterations;
    s->rounds = s->rounds > 0.0 ? 0.95 * s->rounds + 0.05 * rounds : rounds;
    s->evals += o->tally.evals;
    s->updates += o->tally.updates;
    s->claims--;
    h->serial = 0;
    h->losses = 0;
    h->progress++;
    if (o->status != GESS_OK)
        fail(s, o->status, &o->error);
    else
        s->remaining[claim->segment % s->slots]--;
}

/* Runs a task, with angles laid out for others. */
static int run_task(gess__scheduler *s, unsigned worker, const gess__task *task, size_t ahead, gess_error *err)
{
    gess__update *u = &s->ensemble->updates[worker];
    gess__speculation_begin(s->ahead, u, worker, ahead);
    return gess__task_run(s->ensemble, s->stretch, worker, task, err);
}

static void take_task(gess__scheduler *s, unsigned worker, const gess__claim *claim)
{
    gess__update *u = &s->ensemble->updates[worker];
    gess__outcome o = {0};
    size_t ahead = depth_ahead(s);
    s->free--;
    pthread_mutex_unlock(&s->lock);
    uint64_t evals = u->tally.evals, updates = u->tally.updates;
    double before = gess__seconds();
    o.status = run_task(s, worker, &claim->task, ahead, &o.error);
    o.seconds = gess__seconds() - before;
    gess__speculation_end(u); /* after an error */
    pthread_mutex_lock(&s->lock);
    s->free++;
    double each = o.seconds / (double)claim->task.iterations;
    s->pace = s->pace > 0.0 ? 0.9 * s->pace + 0.1 * each : each;
    if (!u->measure) s->each = s->each > 0.0 ? 0.9 * s->each + 0.1 * u->each : u->each;
    o.tally.evals = u->tally.evals - evals;
    o.tally.updates = u->tally.updates - updates;
    finish_claim(s, claim, &o);
}

/* Until something changes; where other ranks are at work, for a moment at most, since they may be late. */
static void wait_for_change(gess__scheduler *s)
{
    if (s->ensemble->ranks == NULL) {
        pthread_cond_wait(&s->changed, &s->lock);
        return;
    }
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 2000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&s->changed, &s->lock, &until);
}

/* A block that has become free needs no broadcast: the worker that freed it looks for the next at once. */
static int work(void *data, unsigned worker, size_t item, gess_error *err)
{
    gess__scheduler *s = data;
    int gone = 0;
    (void)item;
    (void)err;
    pthread_mutex_lock(&s->lock);
    s->free += worker > 0;
    while (!gone && s->status == GESS_OK && s->written < s->segments) {
        gess__claim claim;
        deliver(s);
        if (claim_block(s, 0, s->pace, 0, &claim)) {
            take_task(s, worker, &claim);
        } else if (s->status == GESS_OK && s->written < s->segments && !help(s, worker, &gone)) {
            s->idle++;
            wait_for_change(s);
            s->idle--;
        }
    }
    if (!gone) {
        s->free -= worker > 0;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return GESS_OK;
}

/* ---- other ranks ---- */

/* Whether the workers here will take all blocks that are ready: they need no messages for it, and what other ranks have
 * no tasks for, they have for angles in advance. */
static int reserved(const gess__scheduler *s)
{
    size_t count = 0;
    int slow = s->typical > 0.0 && s->pace > PATIENCE * s->typical;
    if (s->free == 0 || slow || too_slow(s, s->pace, 0)) return 0;
    for (size_t b = 0; b < s->blocks && count <= s->free; b++) count += (size_t)ready(s, b);
    return count > 0 && count <= s->free;
}

int gess__scheduler_claim(gess__scheduler *s, int rank, double each, size_t ahead, gess__claim *claim)
{
    pthread_mutex_lock(&s->lock);
    int found =
        !reserved(s) && claim_block(s, rank, each > 0.0 && s->rounds > 0.0 ? each * s->rounds : s->pace, ahead, claim);
    pthread_mutex_unlock(&s->lock);
    return found;
}

void gess__scheduler_sent(gess__scheduler *s, const gess__claim *claim)
{
    pthread_mutex_lock(&s->lock);
    if (s->holdings[claim->block].serial == claim->serial) s->holdings[claim->block].safe = 0;
    pthread_mutex_unlock(&s->lock);
}

int gess__scheduler_wants(gess__scheduler *s, gess__claim *claim, uint64_t serial, size_t block)
{
    int wanted = 0;
    pthread_mutex_lock(&s->lock);
    if (block < s->blocks && s->holdings[block].serial == serial && s->status == GESS_OK) {
        wanted = s->holdings[block].safe = 1;
        *claim = (gess__claim){.block = block, .segment = s->holdings[block].progress, .serial = serial};
        claim->task = make_task(s, block, claim->segment);
    }
    pthread_mutex_unlock(&s->lock);
    return wanted;
}

void gess__scheduler_finish(gess__scheduler *s, const gess__claim *claim, const gess__outcome *outcome)
{
    pthread_mutex_lock(&s->lock);
    gess__tally_add(&s->elsewhere, &outcome->tally);
    finish_claim(s, claim, outcome);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

size_t gess__scheduler_ahead(gess__scheduler *s, double *each, int *elsewhere)
{
    pthread_mutex_lock(&s->lock);
    size_t depth = depth_ahead(s);
    *each = s->each;
    *elsewhere = depth > 0 && (s->ensemble->speculate != GESS_AUTO || s->each >= AHEAD_ELSEWHERE);
    pthread_mutex_unlock(&s->lock);
    return depth;
}

unsigned gess__scheduler_busy(gess__scheduler *s)
{
    unsigned busy = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t b = 0; b < s->blocks; b++) busy += s->holdings[b].serial != 0 && s->holdings[b].rank == 0;
    pthread_mutex_unlock(&s->lock);
    return busy;
}

gess__speculation *gess__scheduler_label(gess__scheduler *s, gess__frozen_label label, pthread_mutex_t **lock)
{
    *lock = &s->lock;
    if (s->ahead == NULL) return NULL;
    pthread_mutex_lock(&s->lock);
    for (unsigned i = 0; i < gess__team_size(s->ensemble->team); i++) gess__speculation_label(s->ahead, i, label);
    pthread_mutex_unlock(&s->lock);
    return s->ahead;
}

void gess__scheduler_note_unused(gess__scheduler *s, uint64_t count)
{
    pthread_mutex_lock(&s->lock);
    s->unused += count;
    pthread_mutex_unlock(&s->lock);
}

void gess__scheduler_note_nan(gess__scheduler *s, uint64_t iteration, uint64_t chain, uint64_t angle, const double *point)
{
    gess__ensemble *e = s->ensemble;
    gess__nans_note(&e->nans, e->target.dim, iteration, chain, angle, point);
}

void gess__scheduler_fail(gess__scheduler *s, int status, const gess_error *error)
{
    pthread_mutex_lock(&s->lock);
    fail(s, status, error);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

uint64_t gess__scheduler_taken_over(gess__scheduler *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t count = s->taken_over;
    pthread_mutex_unlock(&s->lock);
    return count;
}

int gess__scheduler_holds(gess__scheduler *s, size_t block, uint64_t serial)
{
    pthread_mutex_lock(&s->lock);
    int holds = block < s->blocks && s->holdings[block].serial == serial;
    pthread_mutex_unlock(&s->lock);
    return holds;
}

const gess__stretch *gess__scheduler_stretch(const gess__scheduler *s)
{
    return s->stretch;
}

gess__ensemble *gess__scheduler_ensemble(const gess__scheduler *s)
{
    return s->ensemble;
}

/* ---- stretches ---- */

/* Chains as far out as no proper density takes them: in some direction this one does not fall off. */
static int check_not_lost(const gess__ensemble *e, gess_error *err)
{
    const double lost = 1e100;
    size_t dim = e->target.dim;
    for (size_t i = 0; i < e->chains.count * dim; i++) {
        if (fabs(e->chains.x[i]) < lost) continue;
        char point[600];
        gess__target_describe(&e->target, e->chains.x + i / dim * dim, point, sizeof point, e->updates[0].mapped);
        return gess__fail(err, GESS_ERR_MODEL,
                          "chain %zu has run away, to %s: the density is improper, it does not fall off in every "
                          "direction; "
                          "check the model's priors, or give its parameters bounds",
                          (size_t)e->chains.first + i / dim + 1, point);
    }
    return GESS_OK;
}

int gess__ensemble_run(gess__ensemble *e, gess__stretch *stretch, const gess__record *record, gess_error *err)
{
    gess__scheduler *s = e->stream;
    pthread_mutex_lock(&s->lock); /* a worker may be away still */
    plan(s, e, stretch, record);
    size_t workers = gess__team_size(e->team);
    int known = s->ahead == NULL || s->each > 0.0;
    if (workers > s->blocks && known && !speculating(s)) workers = s->blocks;
    pthread_mutex_unlock(&s->lock);
    GESS_TRY(gess__coordinator_begin(e->ranks, s, err));
    int status = gess__team_run(e->team, workers, work, s, err);
    gess__coordinator_end(e->ranks);
    GESS_TRY(status);
    gess__tally_add(&e->tally, &s->elsewhere);
    for (unsigned worker = 0; worker < gess__team_size(e->team); worker++) {
        gess__tally_add(&e->tally, &e->updates[worker].tally);
        e->updates[worker].tally = (gess__tally){0};
        gess__nans *n = &e->updates[worker].nans;
        for (size_t i = 0; i < n->count; i++)
            gess__nans_note(&e->nans, e->target.dim, n->keys[i].iteration, n->keys[i].chain, n->keys[i].angle,
                            n->points + i * e->target.dim);
        n->count = 0;
    }
    if (s->status != GESS_OK) {
        if (err != NULL) *err = s->error;
        return s->status;
    }
    stretch->iterations = segment_start(s, s->segments) - stretch->start;
    e->schedule->ran(e, stretch);
    return check_not_lost(e, err);
}

static int advance(gess__ensemble *e, uint64_t until, const gess__record *record, gess_error *err)
{
    /* groups that take turns are stopped between sweeps only, so that every chain is equally far */
    gess__record whole = *record;
    if (e->half > 0) whole.stop = NULL;
    for (;;) {
        gess__stretch stretch;
        int between = e->half == 0 || e->done[0] == e->done[1];
        /* before `next`, which may fit: a fit that is not used would be lost */
        if (between && record->stop != NULL && atomic_load(record->stop) && gess__ensemble_done(e) < until)
            return gess__fail(err, GESS_ERR_STOPPED, "stopped");
        e->schedule->next(e, until, &stretch);
        if (stretch.count == 0) return GESS_OK;
        if (e->stream->pace == 0.0 && stretch.iterations > 4) stretch.iterations = 4; /* to measure by */
        GESS_TRY(gess__ensemble_run(e, &stretch, &whole, err));
    }
}

/* What was begun in advance and not used is waited for here, not between stretches: the caller may change the map or
 * release what the density works on. */
int gess__ensemble_advance(gess__ensemble *e, uint64_t until, const gess__record *record, gess_error *err)
{
    int status = advance(e, until, record, err);
    gess__team_settle(e->team);
    return status;
}

uint64_t gess__ensemble_unused(const gess__ensemble *e)
{
    gess__scheduler *s = e->stream;
    pthread_mutex_lock(&s->lock);
    uint64_t unused = s->unused + (s->ahead != NULL ? gess__speculation_unused(s->ahead) : 0);
    pthread_mutex_unlock(&s->lock);
    return unused;
}
