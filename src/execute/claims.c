/* Decides which block a worker runs next, here or on another rank, which block it takes over from a slow rank, and
 * whether a result that arrives is still wanted. scheduler.c calls it for the threads of this process, cluster/ for
 * other ranks. */
#include "base/assert.h"
#include "base/clock.h"
#include "execute/scheduler_state.h"

#include <math.h>

/* A block of another rank is taken over if that rank would be done later than GESS__SLOW times what it takes here, and
 * MIN_TAKEOVER_SECONDS. */
#define MIN_TAKEOVER_SECONDS 0.002

/* How late a claim must be to count as late, in times of what was expected, and in seconds. */
#define GRACE 3.0
#define GRACE_SECONDS 0.02

/* ---- all of the following hold the lock ---- */

void gess__scheduler_set_error(gess__scheduler *s, int status, const gess_error *error)
{
    if (s->status != GESS_OK) return;
    s->status = status;
    s->error = *error;
}

/* Whether a block can be claimed: it is idle, not at the end, and there is room for its draws. */
static int is_ready(const gess__scheduler *s, size_t b)
{
    const gess__block_state *h = &s->state[b];
    return h->serial == 0 && h->done < s->segments && h->done < s->delivered + s->slots;
}

/* The idle block that is furthest behind, or s->blocks if there is none. A slow worker gets the one that is furthest
 * ahead: a block that is behind would fall further behind with it. */
static size_t choose_ready(const gess__scheduler *s, int slow)
{
    size_t best = s->blocks;
    for (size_t b = 0; b < s->blocks; b++) {
        const gess__block_state *h = &s->state[b];
        if (!is_ready(s, b)) continue;
        if (best == s->blocks || (slow ? h->done > s->state[best].done : h->done < s->state[best].done)) best = b;
    }
    return best;
}

/* Seconds until a task is done that begins after `waiting` others. */
static double task_seconds(const gess__scheduler *s, double sec_per_iteration, size_t waiting)
{
    return sec_per_iteration * (double)s->length * (double)(1 + waiting);
}

/* Seconds that a claim will still take. A late claim is expected to be as late again. But the expectation may be wrong,
 * and a task of one update may take several times the mean on any rank: so there is a time of grace, which doubles with
 * every takeover. In the end a task is left to be finished. */
static double remaining_seconds(const gess__block_state *h, double now)
{
    double past = now - h->since, left = h->expected - past;
    if (left > 0.0) return left;
    double grace = ldexp(GRACE * h->expected + GRACE_SECONDS, h->takeovers < 30 ? (int)h->takeovers : 30);
    return -left > grace ? -left : 0.0;
}

/* The block that a worker of `rank` should take over: the one that another rank will hold longest, or s->blocks. */
static size_t choose_late(const gess__scheduler *s, int rank, double sec_per_iteration)
{
    size_t best = s->blocks;
    double now = gess__seconds(), longest = GESS__SLOW * task_seconds(s, sec_per_iteration, 0) + MIN_TAKEOVER_SECONDS;
    if (sec_per_iteration <= 0.0) return best;
    for (size_t b = 0; b < s->blocks; b++) {
        const gess__block_state *h = &s->state[b];
        if (h->serial == 0 || h->locked || h->rank == rank || remaining_seconds(h, now) <= longest) continue;
        longest = remaining_seconds(h, now);
        best = b;
    }
    return best;
}

/* Once the stop flag is set, no block goes further than the one that is furthest ahead. */
static void heed_stop(gess__scheduler *s)
{
    if (s->record->stop == NULL || !atomic_load(s->record->stop)) return;
    uint64_t furthest = 0;
    for (size_t b = 0; b < s->blocks; b++) {
        uint64_t reached = s->state[b].done + (s->state[b].serial != 0);
        if (reached > furthest) furthest = reached;
    }
    if (furthest < s->segments) s->segments = furthest;
}

/* The task of a block in a segment, with the places where its outcome goes. */
static gess__task make_task(const gess__scheduler *s, size_t block, uint64_t k)
{
    gess__ensemble *e = s->ensemble;
    const gess__stretch *stretch = s->stretch;
    const gess__collect *collect = &stretch->collect;
    size_t offset = block * e->block, columns = e->target.columns, kept = (size_t)gess__segment_kept(s, k);
    gess__task t = {.chains = &e->chains,
                    .first = stretch->first + offset,
                    .count = stretch->count - offset < e->block ? stretch->count - offset : e->block,
                    .start = gess__segment_start(s, k),
                    .rebind = stretch->rebind && k == 0,
                    .phase = stretch->phase,
                    .warmup = stretch->warmup,
                    .from = s->record->from,
                    .thin = s->record->thin,
                    .rows = gess__segment_rows(s, k) + offset * kept * columns,
                    .row_stride = kept * columns};
    t.iterations = gess__segment_start(s, k + 1) - t.start;
    if (t.first < e->kept) t.keep = e->kept - t.first < t.count ? e->kept - t.first : t.count;
    if (collect->stride == 0) return t;
    t.window_start = collect->start;
    t.window_stride = collect->stride;
    t.point_stride = e->chains.count;
    t.values = collect->values + t.first;
    if (collect->points != NULL) t.points = collect->points + t.first * e->target.dim;
    return t;
}

/* Whether a worker should leave the rest to others: it is so slow that they would wait for it in the end, or for room.
 * The last worker that runs a task never does, so that there is always one. */
static int too_slow(const gess__scheduler *s, double sec_per_iteration, size_t waiting)
{
    unsigned workers = s->ensemble->remote != NULL ? s->ensemble->remote->workers : 0;
    if (workers == 0 || s->claims == 0 || sec_per_iteration <= 0.0 || s->typical <= 0.0) return 0;
    uint64_t left = s->segments - s->delivered, room = s->slots / 2;
    double turns = (double)(left < room ? left : room) * (double)s->blocks / (double)workers;
    return task_seconds(s, sec_per_iteration, waiting) >
           GESS__SLOW * task_seconds(s, s->typical, 0) * (turns > 1.0 ? turns : 1.0);
}

int gess__claim_block(gess__scheduler *s, int rank, double sec_per_iteration, size_t waiting, gess__claim *claim)
{
    if (s->status != GESS_OK) return 0;
    heed_stop(s);
    if (too_slow(s, sec_per_iteration, waiting)) return 0;
    size_t block = choose_ready(s, s->typical > 0.0 && sec_per_iteration > GESS__SLOW * s->typical);
    if (block == s->blocks && waiting == 0) block = choose_late(s, rank, sec_per_iteration);
    if (block == s->blocks) return 0;
    gess__block_state *h = &s->state[block];
    if (h->serial != 0) {
        s->takeovers++;
        h->takeovers++;
    } else {
        s->claims++;
    }
    h->serial = ++s->serial;
    h->rank = rank;
    h->locked = 1;
    h->since = gess__seconds();
    h->expected = task_seconds(s, sec_per_iteration, waiting);
    *claim = (gess__claim){.block = block, .segment = h->done, .serial = h->serial};
    claim->task = make_task(s, block, h->done);
    return 1;
}

void gess__claim_finish(gess__scheduler *s, const gess__claim *claim, const gess__outcome *o)
{
    gess__block_state *h = &s->state[claim->block];
    GESS_ASSERT(h->serial == claim->serial && h->done == claim->segment && s->claims > 0);
    double seconds = o->seconds / (double)claim->task.iterations;
    /* until a task has run here, times of other ranks are better than none */
    if (s->sec_per_iteration == 0.0) s->sec_per_iteration = seconds;
    if (s->sec_per_eval == 0.0) s->sec_per_eval = o->sec_per_eval;
    s->typical = gess__smooth(s->typical, 0.05, seconds);
    s->evals_per_iteration =
        gess__smooth(s->evals_per_iteration, 0.05, (double)o->tally.evals / (double)claim->task.iterations);
    s->evals += o->tally.evals;
    s->updates += o->tally.updates;
    s->claims--;
    h->serial = 0;
    h->takeovers = 0;
    h->done++;
    if (o->status != GESS_OK)
        gess__scheduler_set_error(s, o->status, &o->error);
    else
        s->remaining[claim->segment % s->slots]--;
}

/* Whether the workers here will take all blocks that are ready: they need no messages for it, and other ranks without a
 * task can speculate. */
static int reserved(const gess__scheduler *s)
{
    size_t count = 0;
    int slow = s->typical > 0.0 && s->sec_per_iteration > GESS__SLOW * s->typical;
    if (s->free == 0 || slow || too_slow(s, s->sec_per_iteration, 0)) return 0;
    for (size_t b = 0; b < s->blocks && count <= s->free; b++) count += (size_t)is_ready(s, b);
    return count > 0 && count <= s->free;
}

/* ---- other ranks; these take the lock ---- */

int gess__scheduler_claim(gess__scheduler *s, int rank, double sec_per_eval, size_t waiting, gess__claim *claim)
{
    GESS_ASSERT(rank > 0);
    pthread_mutex_lock(&s->lock);
    double seconds = sec_per_eval > 0.0 && s->evals_per_iteration > 0.0 ? sec_per_eval * s->evals_per_iteration
                                                                        : s->sec_per_iteration;
    int found = !reserved(s) && gess__claim_block(s, rank, seconds, waiting, claim);
    pthread_mutex_unlock(&s->lock);
    return found;
}

void gess__scheduler_sent(gess__scheduler *s, const gess__claim *claim)
{
    pthread_mutex_lock(&s->lock);
    if (s->state[claim->block].serial == claim->serial) s->state[claim->block].locked = 0;
    pthread_mutex_unlock(&s->lock);
}

int gess__scheduler_wants(gess__scheduler *s, gess__claim *claim, uint64_t serial, size_t block)
{
    int wanted = 0;
    pthread_mutex_lock(&s->lock);
    if (block < s->blocks && s->state[block].serial == serial && s->status == GESS_OK) {
        wanted = s->state[block].locked = 1;
        *claim = (gess__claim){.block = block, .segment = s->state[block].done, .serial = serial};
        claim->task = make_task(s, block, claim->segment);
    }
    pthread_mutex_unlock(&s->lock);
    return wanted;
}

void gess__scheduler_finish(gess__scheduler *s, const gess__claim *claim, const gess__outcome *outcome)
{
    pthread_mutex_lock(&s->lock);
    gess__tally_add(&s->remote_tally, &outcome->tally);
    gess__claim_finish(s, claim, outcome);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

unsigned gess__scheduler_busy(gess__scheduler *s)
{
    unsigned busy = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t b = 0; b < s->blocks; b++) busy += s->state[b].serial != 0 && s->state[b].rank == 0;
    pthread_mutex_unlock(&s->lock);
    return busy;
}

void gess__scheduler_note_nan(gess__scheduler *s, uint64_t iteration, uint64_t chain, uint64_t angle,
                              const double *point)
{
    gess__ensemble *e = s->ensemble;
    gess__nans_note(&e->nans, e->target.dim, iteration, chain, angle, point);
}

void gess__scheduler_fail(gess__scheduler *s, int status, const gess_error *error)
{
    pthread_mutex_lock(&s->lock);
    gess__scheduler_set_error(s, status, error);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

uint64_t gess__scheduler_takeovers(gess__scheduler *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t count = s->takeovers;
    pthread_mutex_unlock(&s->lock);
    return count;
}

int gess__scheduler_holds(gess__scheduler *s, size_t block, uint64_t serial)
{
    pthread_mutex_lock(&s->lock);
    int holds = block < s->blocks && s->state[block].serial == serial;
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
