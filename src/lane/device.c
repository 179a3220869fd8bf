/* Copies chains and the frozen state to a device, launches some iterations at a time, and brings back draws, points,
 * counts and states. Launches last LAUNCH_SECONDS, so that a stop is heeded soon; no draw depends on their length. */
#include "lane/device.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "execute/ensemble.h"
#include "lane/pack.h"
#include "model/model.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCH_SECONDS 0.1

enum { MAX_DOUBLES = 1 << 23, ALIGNMENT = 16 }; /* of draws, or of points, per launch, unless one iteration has more */

/* Memory of the device: what it holds. */
enum slot {
    FROZEN,
    X,
    VALUE,
    Z,
    DELTAS,
    LOG_TS,
    PEAK,
    PEAK_AT,
    LEVEL,
    LEVEL_VALUE,
    LEVEL_AT,
    TRAIL_COUNT,
    TRAIL,
    ROWS,
    POINTS,
    VALUES,
    EVENTS,
    EVENT_POINTS,
    COUNTS,
    NUMBERS,
    SLOTS
};

typedef struct memory {
    void *at;
    size_t bytes;
} memory;

typedef struct device {
    gess__accelerator accelerator; /* first */
    gess__backend *backend;
    memory slots[SLOTS];
    memory host;                  /* staging */
    double seconds_per_iteration; /* of the launches so far, for all chains */
    pthread_mutex_t lock;         /* of evaluate() */
} device;

/* A stretch that is under way. */
typedef struct work {
    device *d;
    gess__ensemble *e;
    gess__stretch *stretch;
    const gess__record *record;
    gess__lane_job job;
    gess__lane_shape shape;
    size_t count, dim;       /* chains of the stretch, and of the sampling space */
    size_t keep;             /* of the chains, the first whose draws are kept */
    uint64_t evals, updates; /* of the stretch so far */
} work;

/* ---- memory ---- */

/* At least `bytes` of the device's memory in a slot; what it held is lost if it grows. */
static int make_room(device *d, enum slot slot, size_t bytes, void **at, gess_error *err)
{
    memory *m = &d->slots[slot];
    if (m->bytes < bytes) {
        if (m->at != NULL) d->backend->release(d->backend, m->at);
        *m = (memory){0};
        GESS_TRY(d->backend->make(d->backend, bytes, &m->at, err));
        m->bytes = bytes;
    }
    *at = m->at;
    return GESS_OK;
}

static int stage(device *d, size_t bytes, void **at, gess_error *err)
{
    if (d->host.bytes < bytes) {
        free(d->host.at);
        d->host = (memory){0};
        char *room = NULL;
        GESS_ALLOC(&room, bytes, err);
        d->host.at = room;
        d->host.bytes = bytes;
    }
    *at = d->host.at;
    return GESS_OK;
}

/* ---- the frozen state ---- */

/* Copies the arrays of the frozen state to the device, one behind the other, and points to them there. */
static int put_frozen(work *w, gess_error *err)
{
    gess__lane_array arrays[GESS__LANE_MAX_ARRAYS];
    size_t n = gess__lane_arrays(&w->job.frozen, w->e->target.model->lane.count, arrays), bytes = 0;
    void *there, *here;
    for (size_t i = 0; i < n; i++) bytes += (arrays[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    GESS_TRY(make_room(w->d, FROZEN, bytes, &there, err));
    GESS_TRY(stage(w->d, bytes, &here, err));
    for (size_t i = 0, at = 0; i < n; i++) {
        memcpy((char *)here + at, *arrays[i].at, arrays[i].bytes);
        *arrays[i].at = (char *)there + at;
        at += (arrays[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return w->d->backend->put(w->d->backend, there, here, bytes, err);
}

/* ---- chains ---- */

/* An array of the chains of a stretch, here and on the device. */
typedef struct array {
    enum slot slot;
    void *here;
    void **there;
    size_t bytes;
} array;

/* Those of the ensemble that exist; returns how many. */
static size_t list_arrays(work *w, array arrays[SLOTS])
{
    gess__chains *c = &w->e->chains;
    gess__lane_chains *l = &w->job.chains;
    size_t n = w->count, first = w->stretch->first, dim = w->dim, width = c->trail_points * (dim + 1), used = 0;
    const array all[] = {
        {X, c->x + first * dim, (void **)&l->x, n * dim * sizeof *c->x},
        {VALUE, c->value + first, (void **)&l->value, n * sizeof *c->value},
        {Z, c->kernel_state + first * dim, (void **)&l->z, n * dim * sizeof *c->kernel_state},
        {DELTAS, c->deltas != NULL ? c->deltas + first : NULL, (void **)&l->deltas, n * sizeof *c->deltas},
        {LOG_TS, c->log_ts != NULL ? c->log_ts + first : NULL, (void **)&l->log_ts, n * sizeof *c->log_ts},
        {PEAK, c->peak + first, (void **)&l->peak, n * sizeof *c->peak},
        {PEAK_AT, c->peak_at + first * dim, (void **)&l->peak_at, n * dim * sizeof *c->peak_at},
        {LEVEL, c->level + first, (void **)&l->level, n * sizeof *c->level},
        {LEVEL_VALUE, c->level_value + first, (void **)&l->level_value, n * sizeof *c->level_value},
        {LEVEL_AT, c->level_at + first * dim, (void **)&l->level_at, n * dim * sizeof *c->level_at},
        {TRAIL_COUNT, c->trail_count + first, (void **)&l->trail_count, width > 0 ? n * sizeof *c->trail_count : 0},
        {TRAIL, width > 0 ? c->trail + first * width : NULL, (void **)&l->trail, n * width * sizeof *c->trail},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].here != NULL && all[i].bytes > 0) arrays[used++] = all[i];
    return used;
}

static int put_chains(work *w, gess_error *err)
{
    array arrays[SLOTS];
    size_t n = list_arrays(w, arrays);
    for (size_t i = 0; i < n; i++) {
        GESS_TRY(make_room(w->d, arrays[i].slot, arrays[i].bytes, arrays[i].there, err));
        GESS_TRY(w->d->backend->put(w->d->backend, *arrays[i].there, arrays[i].here, arrays[i].bytes, err));
    }
    w->job.chains.first = w->e->chains.first + (uint32_t)w->stretch->first;
    w->job.chains.trail_points = w->e->chains.trail_points;
    return GESS_OK;
}

static int get_chains(work *w, gess_error *err)
{
    array arrays[SLOTS];
    size_t n = list_arrays(w, arrays);
    for (size_t i = 0; i < n; i++)
        GESS_TRY(w->d->backend->get(w->d->backend, arrays[i].here, *arrays[i].there, arrays[i].bytes, err));
    return GESS_OK;
}

/* ---- one launch ---- */

/* Points for warm-up among iterations start .. start + iterations - 1 of the window. */
static uint64_t collected(const gess__collect *c, uint64_t start, uint64_t iterations)
{
    if (c->stride == 0) return 0;
    uint64_t before = start - c->start;
    return (before + iterations) / c->stride - before / c->stride;
}

/* How many iterations to launch of `left`: as many as last LAUNCH_SECONDS and as memory is set aside for. */
static uint64_t choose_iterations(const work *w, uint64_t left)
{
    const gess__target *target = &w->e->target;
    size_t row = w->record->thin > 0 ? w->count * target->columns : 0;
    size_t points = w->stretch->collect.stride > 0 ? w->count * (w->dim + 1) : 0, most = row > points ? row : points;
    double seconds = w->d->seconds_per_iteration;
    uint64_t n = seconds > 0.0 ? (uint64_t)(LAUNCH_SECONDS / seconds) : 4;
    if (most > 0 && n > MAX_DOUBLES / most) n = MAX_DOUBLES / most;
    if (n < 1) n = 1;
    return n < left ? n : left;
}

/* Room on the device for what the launch gives back. */
static int make_results(work *w, uint64_t draws, uint64_t points, gess_error *err)
{
    gess__lane_job *j = &w->job;
    void *at;
    j->rows = j->points = j->values = NULL;
    if (draws > 0 && w->keep > 0) {
        GESS_TRY(make_room(w->d, ROWS, w->count * draws * j->columns * sizeof *j->rows, &at, err));
        j->rows = at;
    }
    if (points > 0) {
        GESS_TRY(make_room(w->d, VALUES, w->count * points * sizeof *j->values, &at, err));
        j->values = at;
    }
    if (points > 0 && w->stretch->collect.points != NULL) {
        GESS_TRY(make_room(w->d, POINTS, w->count * points * w->dim * sizeof *j->points, &at, err));
        j->points = at;
    }
    GESS_TRY(make_room(w->d, EVENTS, w->count * sizeof *j->events, &at, err));
    j->events = at;
    GESS_TRY(make_room(w->d, EVENT_POINTS, w->count * w->dim * sizeof *j->event_points, &at, err));
    j->event_points = at;
    GESS_TRY(make_room(w->d, COUNTS, sizeof *j->counts, &at, err));
    j->counts = at;
    const gess__lane_counts none = {0};
    return w->d->backend->put(w->d->backend, at, &none, sizeof none, err);
}

/* ---- what came back ---- */

static int get_counts(work *w, gess_error *err)
{
    gess__lane_counts c;
    gess__tally *t = &w->e->tally;
    GESS_TRY(w->d->backend->get(w->d->backend, &c, w->job.counts, sizeof c, err));
    gess__tally more = {.evals = c.tally.evals,
                        .updates = c.tally.updates,
                        .failures = c.tally.failures,
                        .independence = c.tally.independence,
                        .independence_accepted = c.tally.accepted,
                        .coordinate = c.tally.coordinate,
                        .coordinate_evals = c.tally.coordinate_evals};
    GESS_ASSERT(sizeof more.angles == sizeof c.angles && sizeof more.by_evals == sizeof c.by_evals);
    memcpy(more.angles, c.angles, sizeof more.angles);
    memcpy(more.by_evals, c.by_evals, sizeof more.by_evals);
    gess__tally_add(t, &more);
    w->evals += c.tally.evals;
    w->updates += c.tally.updates;
    return GESS_OK;
}

/* The error of a density of +inf. */
static int fail_infinite(const work *w, const gess__lane_event *event, size_t chain, const double *point,
                         gess_error *err)
{
    const gess__target *target = &w->e->target;
    double *scratch = w->e->updates[0].mapped;
    char text[600];
    gess__target_describe(target, point, text, sizeof text, scratch);
    int status = gess__fail(err, GESS_ERR_MODEL,
                            "the log density is +infinity at %s (chain %zu, iteration %llu); a density must be finite "
                            "or zero there: mend the model",
                            text, chain + 1, (unsigned long long)event->iteration + 1);
    gess__target_add_point(target, point, chain + 1, scratch, err);
    return status;
}

/* Notes points whose density was NaN, the first of each chain, and fails if one was +inf. */
static int get_events(work *w, gess_error *err)
{
    size_t bytes = w->count * sizeof(gess__lane_event), dim = w->dim, worst = w->count;
    void *at;
    GESS_TRY(stage(w->d, bytes + w->count * dim * sizeof(double), &at, err));
    gess__lane_event *events = at;
    double *points = (double *)(void *)((char *)at + bytes), *y = w->e->updates[0].mapped;
    uint64_t strange = 0;
    GESS_TRY(w->d->backend->get(w->d->backend, events, w->job.events, bytes, err));
    for (size_t j = 0; j < w->count; j++) strange += events[j].nans + (uint64_t)events[j].infinite;
    if (strange == 0) return GESS_OK;
    GESS_TRY(w->d->backend->get(w->d->backend, points, w->job.event_points, w->count * dim * sizeof *points, err));
    for (size_t j = 0; j < w->count; j++) {
        const gess__lane_event *event = &events[j];
        w->e->tally.nans += event->nans;
        if (event->infinite && (worst == w->count || event->iteration < events[worst].iteration)) worst = j;
        if (event->nans == 0 || event->infinite) continue;
        gess__target_out(&w->e->target, points + j * dim, y, y + dim);
        gess__nans_note(&w->e->nans, dim, event->iteration, w->job.chains.first + j, event->round, y);
    }
    if (worst == w->count) return GESS_OK;
    return fail_infinite(w, &events[worst], w->job.chains.first + worst, points + worst * dim, err);
}

/* Copies the points for warm-up into the stretch's window, which has those of all chains of the ensemble. */
static int get_points(work *w, uint64_t points, gess_error *err)
{
    const gess__collect *c = &w->stretch->collect;
    const gess__lane_job *j = &w->job;
    size_t all = w->e->chains.count, first = w->stretch->first;
    for (uint64_t k = 0; k < points; k++) {
        size_t row = (size_t)(j->first_point + k) * all + first, from = (size_t)k * w->count;
        GESS_TRY(
            w->d->backend->get(w->d->backend, c->values + row, j->values + from, w->count * sizeof *c->values, err));
        if (j->points == NULL) continue;
        GESS_TRY(w->d->backend->get(w->d->backend, c->points + row * w->dim, j->points + from * w->dim,
                                    w->count * w->dim * sizeof *c->points, err));
    }
    return GESS_OK;
}

/* Brings the draws back, adds the derived quantities and gives them to the sink. */
static int deliver(work *w, uint64_t draws, gess_error *err)
{
    const gess__lane_job *j = &w->job;
    const gess__target *target = &w->e->target;
    void *rows = NULL;
    if (j->rows != NULL) {
        size_t bytes = w->keep * draws * j->columns * sizeof *j->rows;
        GESS_TRY(stage(w->d, bytes, &rows, err));
        GESS_TRY(w->d->backend->get(w->d->backend, rows, j->rows, bytes, err));
        for (size_t k = 0; target->model->derived > 0 && k < w->keep * draws; k++)
            GESS_TRY(gess__target_derive(target, 0, (double *)rows + k * j->columns + 1, err));
    }
    if (w->record->sink == NULL) return GESS_OK;
    const gess__segment segment = {.first = w->stretch->first,
                                   .count = w->keep,
                                   .iterations = j->start + j->iterations,
                                   .first_draw = j->first_draw,
                                   .draws = draws,
                                   .evals = w->evals,
                                   .updates = w->updates,
                                   .rows = rows};
    return w->record->sink(w->record->user, &segment, err);
}

/* ---- stretches ---- */

/* Adds the point at which a density of many points failed, and its own words. */
static int add_words(const gess_model *model, int status, gess_error *err)
{
    size_t used = 0, known = err != NULL ? err->dim : 0;
    char point[400] = "", own[sizeof err->density_text] = "";
    if (status != GESS_ERR_MODEL || model->lane.batch == NULL || known == 0) return status;
    if (known > sizeof err->point / sizeof *err->point) known = sizeof err->point / sizeof *err->point;
    for (size_t i = 0; i < known && used < sizeof point; i++)
        used = gess__describe_parameter(model, i, err->point[i], point, used, sizeof point);
    if (model->message != NULL) model->message(model->user, 0, own, sizeof own);
    own[sizeof own - 1] = '\0';
    snprintf(err->density_text, sizeof err->density_text, "%s", own);
    size_t length = strlen(err->text);
    snprintf(err->text + length, sizeof err->text - length, ", at %s%s%s", point, own[0] != '\0' ? "; it says: " : "",
             own);
    return status;
}

static int launch(work *w, uint64_t done, uint64_t iterations, gess_error *err)
{
    gess__lane_job *j = &w->job;
    const gess__collect *collect = &w->stretch->collect;
    j->start = w->stretch->start + done;
    j->iterations = iterations;
    j->rebind = w->stretch->rebind && done == 0;
    uint64_t draws = gess__record_kept(w->record, j->start, iterations);
    uint64_t points = collected(collect, j->start, iterations);
    j->from = w->record->from;
    j->thin = w->record->thin;
    j->draws = (size_t)draws;
    j->first_draw = gess__record_kept(w->record, 0, j->start);
    j->columns = w->e->target.columns;
    j->window_start = collect->start;
    j->stride = points > 0 ? collect->stride : 0;
    j->first_point = points > 0 ? (j->start - collect->start) / collect->stride : 0;
    GESS_TRY(make_results(w, draws, points, err));
    double before = gess__seconds();
    int status = w->d->backend->launch(w->d->backend, &w->shape, j, err);
    if (status != GESS_OK) return add_words(w->e->target.model, status, err);
    GESS_TRY(get_counts(w, err));
    double seconds = (gess__seconds() - before) / (double)iterations, old = w->d->seconds_per_iteration;
    w->d->seconds_per_iteration = old > 0.0 ? 0.5 * (old + seconds) : seconds;
    GESS_TRY(get_events(w, err));
    GESS_TRY(get_points(w, points, err));
    return deliver(w, draws, err);
}

static int run_launches(work *w, gess_error *err)
{
    uint64_t done = 0;
    while (done < w->stretch->iterations) {
        uint64_t n = choose_iterations(w, w->stretch->iterations - done);
        GESS_TRY(launch(w, done, n, err));
        done += n;
        if (w->record->stop != NULL && atomic_load(w->record->stop)) break;
    }
    w->stretch->iterations = done;
    return GESS_OK;
}

static gess__lane_shape shape_of(const gess_model *model, size_t dim, const gess__lane_frozen *frozen)
{
    return (gess__lane_shape){.density = model->lane.name,
                              .file = model->lane.file,
                              .text = model->lane.text,
                              .batch = model->lane.batch,
                              .user = model->user,
                              .dim = dim,
                              .outer = frozen != NULL ? frozen->outer : model->dim,
                              .components = frozen != NULL ? frozen->components : 1};
}

static bool takes(const gess__accelerator *a, const gess__ensemble *e, const gess__stretch *stretch)
{
    gess__lane_frozen unused;
    (void)a;
    return strcmp(e->kernel->name, "gess") == 0 && e->chains.powers == NULL &&
           gess__lane_pack(&unused, &e->target, stretch, e->seed);
}

static int run(gess__accelerator *a, gess__ensemble *e, gess__stretch *stretch, const gess__record *record,
               gess_error *err)
{
    size_t end = stretch->first + stretch->count, kept = end < e->kept ? end : e->kept;
    work w = {.d = (device *)(void *)a,
              .e = e,
              .stretch = stretch,
              .record = record,
              .count = stretch->count,
              .dim = e->target.dim,
              .keep = kept > stretch->first ? kept - stretch->first : 0};
    bool packed = gess__lane_pack(&w.job.frozen, &e->target, stretch, e->seed);
    GESS_ASSERT(packed);
    (void)packed;
    w.shape = shape_of(e->target.model, w.dim, &w.job.frozen);
    w.job.count = w.count;
    GESS_TRY(put_frozen(&w, err));
    GESS_TRY(put_chains(&w, err));
    GESS_TRY(run_launches(&w, err));
    return get_chains(&w, err);
}

static int call_density(device *d, const gess_model *model, size_t n, const double *x, double *logp, size_t repeats,
                        double *seconds, gess_error *err)
{
    gess__lane_shape shape = shape_of(model, model->dim, NULL);
    void *points, *values, *numbers = NULL;
    size_t bytes = model->lane.count * sizeof *model->lane.numbers;
    GESS_TRY(make_room(d, POINTS, gess__lane_room(n) * model->dim * sizeof *x, &points, err));
    GESS_TRY(make_room(d, VALUES, gess__lane_room(n) * sizeof *logp, &values, err));
    GESS_TRY(d->backend->put(d->backend, points, x, n * model->dim * sizeof *x, err));
    if (bytes > 0) {
        GESS_TRY(make_room(d, NUMBERS, bytes, &numbers, err));
        GESS_TRY(d->backend->put(d->backend, numbers, model->lane.numbers, bytes, err));
    }
    shape.numbers = numbers;
    double before = gess__seconds();
    for (size_t i = 0; i < repeats; i++) GESS_TRY(d->backend->call(d->backend, &shape, n, points, values, err));
    if (seconds != NULL) *seconds = gess__seconds() - before;
    return d->backend->get(d->backend, logp, values, n * sizeof *logp, err);
}

static int evaluate(gess__accelerator *a, const gess_model *model, size_t n, const double *x, double *logp,
                    size_t repeats, double *seconds, gess_error *err)
{
    device *d = (device *)(void *)a;
    pthread_mutex_lock(&d->lock);
    int status = n > 0 ? call_density(d, model, n, x, logp, repeats, seconds, err) : GESS_OK;
    pthread_mutex_unlock(&d->lock);
    return status;
}

static void free_device(gess__accelerator *a)
{
    device *d = (device *)(void *)a;
    for (size_t i = 0; i < SLOTS; i++)
        if (d->slots[i].at != NULL) d->backend->release(d->backend, d->slots[i].at);
    free(d->host.at);
    d->backend->close(d->backend);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

int gess__device_new(gess__accelerator **out, gess__backend *backend, gess_error *err)
{
    device *d = NULL;
    int status = gess__alloc_bytes(&d, 1, sizeof *d, "device", err);
    if (status != GESS_OK) {
        backend->close(backend);
        return status;
    }
    d->backend = backend;
    pthread_mutex_init(&d->lock, NULL);
    d->accelerator = (gess__accelerator){.name = backend->name,
                                         .takes = takes,
                                         .run = run,
                                         .evaluate = evaluate,
                                         .free = free_device};
    *out = &d->accelerator;
    return GESS_OK;
}
