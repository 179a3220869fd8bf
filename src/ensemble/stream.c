/* Running stretches: blocks of chains on the team, draws out in order.
 *
 * A stretch is cut into segments of iterations. A task is one block of chains for one segment. A
 * worker that is free takes the block that is furthest behind; blocks never wait for each other,
 * only for room: the draws of at most SLOTS segments are held, and a segment goes to the sink when
 * its last block is done, in order. How long a segment is follows from measured time, so that a stop is
 * heeded soon and hand-outs cost little; neither a draw nor a byte of a file depends on it. */
#include "base/clock.h"
#include "base/mem.h"
#include "ensemble/ensemble.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TASK_SECONDS 0.005

enum { SLOTS = 4, SLOT_DOUBLES = 1 << 17 }; /* 1 MiB a slot, or one draw of every chain if that is more */

struct gess__stream {
    size_t capacity; /* doubles of a slot */
    double *rows[SLOTS];
    uint64_t *progress;  /* of each block: segments behind it */
    unsigned char *busy; /* of each block */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* one stretch */
    gess__ensemble *ensemble;
    const gess__stretch *stretch;
    const gess__record *record;
    size_t blocks;
    uint64_t most;           /* iterations of a segment whose draws fit a slot */
    uint64_t length;         /* iterations of a segment of this stretch */
    double pace;             /* seconds of an iteration of a block, as measured; 0: not yet */
    uint64_t segments;       /* to be run; falls when the stretch is stopped */
    uint64_t written;        /* handed to the sink */
    size_t remaining[SLOTS]; /* blocks that still owe their part of the segment in the slot */
    uint64_t evals, updates; /* of tasks that are done */
    int delivering, status;
    gess_error error;
};

int gess__stream_new(gess__stream **stream, const gess__ensemble *e, gess_error *err)
{
    size_t row = e->chains.count * e->target.columns, blocks = (e->chains.count + e->block - 1) / e->block;
    GESS_ALLOC(stream, 1, err);
    gess__stream *s = *stream;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->capacity = row > SLOT_DOUBLES ? row : SLOT_DOUBLES;
    s->most = s->capacity / row;
    for (int i = 0; i < SLOTS; i++) GESS_ALLOC(&s->rows[i], s->capacity, err);
    GESS_ALLOC(&s->progress, blocks, err);
    GESS_ALLOC(&s->busy, blocks, err);
    return GESS_OK;
}

void gess__stream_free(gess__stream *s)
{
    if (s == NULL) return;
    for (int i = 0; i < SLOTS; i++) free(s->rows[i]);
    free(s->progress);
    free(s->busy);
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

static uint64_t segment_start(const gess__stream *s, uint64_t k)
{
    uint64_t past = k * s->length;
    return s->stretch->start + (past < s->stretch->iterations ? past : s->stretch->iterations);
}

static uint64_t segment_kept(const gess__stream *s, uint64_t k)
{
    uint64_t start = segment_start(s, k);
    return gess__record_kept(s->record, start, segment_start(s, k + 1) - start);
}

static void plan(gess__stream *s, gess__ensemble *e, const gess__stretch *stretch, const gess__record *record)
{
    s->ensemble = e;
    s->stretch = stretch;
    s->record = record;
    s->blocks = (stretch->count + e->block - 1) / e->block;
    /* about TASK_SECONDS for a task */
    double fit = s->pace > 0.0 ? TASK_SECONDS / s->pace : 1.0;
    s->length = fit >= (double)s->most ? s->most : fit > 1.0 ? (uint64_t)fit : 1;
    s->segments = (stretch->iterations + s->length - 1) / s->length;
    s->written = s->evals = s->updates = 0;
    s->delivering = 0;
    s->status = GESS_OK;
    memset(s->progress, 0, s->blocks * sizeof *s->progress);
    memset(s->busy, 0, s->blocks * sizeof *s->busy);
    for (int i = 0; i < SLOTS; i++) s->remaining[i] = s->blocks;
}

/* ---- one task ---- */

static int record_block(const gess__stream *s, const gess__update *u, double *rows, uint64_t kept, uint64_t draw,
                        gess_error *err)
{
    const gess__ensemble *e = s->ensemble;
    size_t dim = e->target.dim, columns = e->target.columns;
    for (size_t j = 0; j < u->count && u->first + j < e->kept; j++) {
        size_t chain = u->first + j;
        double *row = rows + ((chain - s->stretch->first) * kept + draw) * columns;
        GESS_TRY(gess__target_draw(&e->target, u->worker, e->chains.x + chain * dim, e->chains.value[chain], row,
                                   u->mapped, err));
    }
    return GESS_OK;
}

static void collect_block(gess__ensemble *e, const gess__update *u)
{
    gess__window *w = &e->window;
    uint64_t past = u->iteration - w->start + 1;
    size_t dim = e->target.dim;
    if (past % w->stride != 0) return;
    size_t point = (size_t)(past / w->stride - 1) * e->chains.count + u->first;
    if (w->points != NULL)
        memcpy(w->points + point * dim, e->chains.x + u->first * dim, u->count * dim * sizeof *w->points);
    memcpy(w->values + point, e->chains.value + u->first, u->count * sizeof *w->values);
}

static int run_task(gess__stream *s, unsigned worker, size_t block, uint64_t k, gess_error *err)
{
    gess__ensemble *e = s->ensemble;
    const gess__stretch *stretch = s->stretch;
    gess__update *u = &e->updates[worker];
    uint64_t start = segment_start(s, k), end = segment_start(s, k + 1), kept = segment_kept(s, k), draw = 0;
    size_t offset = block * e->block;
    u->approx = stretch->approx;
    u->mixture = stretch->mixture;
    u->globals = stretch->globals;
    u->period = stretch->period;
    u->chains = &e->chains;
    u->phase = e->frozen ? GESS__FROZEN : e->warmup.over ? GESS__SAMPLING : GESS__WARMING;
    u->warmup = gess__warmup_least(e);
    u->seed = e->seed;
    u->worker = worker;
    u->first = stretch->first + offset;
    u->count = stretch->count - offset < e->block ? stretch->count - offset : e->block;
    for (uint64_t i = start; i < end; i++) {
        u->iteration = i;
        u->rebind = stretch->rebind && i == stretch->start;
        GESS_TRY(gess__update_block(e->kernel, u, err));
        if (!e->warmup.over) collect_block(e, u);
        if (kept > 0 && gess__record_kept(s->record, i, 1) > 0)
            GESS_TRY(record_block(s, u, s->rows[k % SLOTS], kept, draw++, err));
    }
    return GESS_OK;
}

/* ---- workers; all of the following hold the lock ---- */

static void fail(gess__stream *s, int status, const gess_error *error)
{
    if (s->status != GESS_OK) return;
    s->status = status;
    s->error = *error;
}

/* The idle block that is furthest behind and has room for its draws, or `blocks`. */
static size_t choose(const gess__stream *s)
{
    size_t best = s->blocks;
    for (size_t b = 0; b < s->blocks; b++) {
        if (s->busy[b] || s->progress[b] >= s->segments || s->progress[b] >= s->written + SLOTS) continue;
        if (best == s->blocks || s->progress[b] < s->progress[best]) best = b;
    }
    return best;
}

/* The stop flag was set: no block goes further than the one that is furthest ahead. */
static void heed_stop(gess__stream *s)
{
    if (s->record->stop == NULL || !atomic_load(s->record->stop)) return;
    uint64_t furthest = 0;
    for (size_t b = 0; b < s->blocks; b++) {
        uint64_t reached = s->progress[b] + s->busy[b];
        if (reached > furthest) furthest = reached;
    }
    if (furthest < s->segments) s->segments = furthest;
}

/* Hands complete segments to the sink, without the lock while the sink is at work. */
static void deliver(gess__stream *s)
{
    while (!s->delivering && s->status == GESS_OK && s->written < s->segments &&
           s->remaining[s->written % SLOTS] == 0) {
        uint64_t k = s->written, start = segment_start(s, k);
        size_t first = s->stretch->first, end = first + s->stretch->count, kept = s->ensemble->kept;
        gess__segment segment = {.first = first,
                                 .count = (end < kept ? end : kept) - first,
                                 .iterations = segment_start(s, k + 1),
                                 .first_draw = gess__record_kept(s->record, 0, start),
                                 .draws = segment_kept(s, k),
                                 .evals = s->evals,
                                 .updates = s->updates,
                                 .rows = s->rows[k % SLOTS]};
        gess_error error = {0};
        int status = GESS_OK;
        s->delivering = 1;
        pthread_mutex_unlock(&s->lock);
        if (s->record->sink != NULL) status = s->record->sink(s->record->user, &segment, &error);
        pthread_mutex_lock(&s->lock);
        s->delivering = 0;
        if (status != GESS_OK) fail(s, status, &error);
        s->remaining[k % SLOTS] = s->blocks;
        s->written++;
        pthread_cond_broadcast(&s->changed);
    }
}

static int work(void *data, unsigned worker, size_t item, gess_error *err)
{
    gess__stream *s = data;
    (void)item;
    (void)err;
    pthread_mutex_lock(&s->lock);
    while (s->status == GESS_OK && s->written < s->segments) {
        heed_stop(s);
        size_t block = choose(s);
        if (block == s->blocks) {
            if (s->written < s->segments) pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        uint64_t k = s->progress[block];
        gess_error error = {0};
        s->busy[block] = 1;
        pthread_mutex_unlock(&s->lock);
        const gess__tally *tally = &s->ensemble->updates[worker].tally;
        uint64_t evals = tally->evals, updates = tally->updates;
        double before = gess__seconds();
        int status = run_task(s, worker, block, k, &error);
        double each = (gess__seconds() - before) / (double)(segment_start(s, k + 1) - segment_start(s, k));
        pthread_mutex_lock(&s->lock);
        s->pace = s->pace > 0.0 ? 0.9 * s->pace + 0.1 * each : each;
        s->evals += tally->evals - evals;
        s->updates += tally->updates - updates;
        s->busy[block] = 0;
        s->progress[block]++;
        if (status != GESS_OK) {
            fail(s, status, &error);
        } else if (--s->remaining[k % SLOTS] == 0) {
            deliver(s);
        }
        pthread_cond_broadcast(&s->changed);
    }
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return GESS_OK;
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
    gess__stream *s = e->stream;
    plan(s, e, stretch, record);
    size_t workers = gess__team_size(e->team) < s->blocks ? gess__team_size(e->team) : s->blocks;
    GESS_TRY(gess__team_run(e->team, workers, work, s, err));
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

int gess__ensemble_advance(gess__ensemble *e, uint64_t until, const gess__record *record, gess_error *err)
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
