/* Launches some iterations at a time on one device or several, each with its part of the chains, and gives draws to the
 * sink. Launches last LAUNCH_SECONDS, so that a stop is heeded soon; no draw depends on their length or on how many
 * devices there are. */
#include "lane/device.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "lane/pack.h"
#include "lane/part.h"
#include "model/model.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCH_SECONDS 0.1

enum { MAX_DOUBLES = 1 << 23 }; /* of draws, or of points, per launch, unless one iteration has more */

typedef struct device {
    gess__accelerator accelerator; /* first */
    char name[GESS__MAX_DEVICES * 64];
    size_t units;
    gess__unit unit[GESS__MAX_DEVICES];
    gess__memory rows;            /* draws of a launch */
    double seconds_per_iteration; /* of the launches so far, for all chains */
    pthread_mutex_t lock;         /* of evaluate() */
} device;

/* A stretch that is under way. */
typedef struct work {
    device *d;
    gess__ensemble *e;
    gess__stretch *stretch;
    const gess__record *record;
    size_t parts;
    gess__part *part;        /* one per unit that has chains */
    uint64_t evals, updates; /* of the stretch so far */
} work;

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
    size_t row = w->record->thin > 0 ? w->stretch->count * target->columns : 0;
    size_t points = w->stretch->collect.stride > 0 ? w->stretch->count * (target->dim + 1) : 0,
           most = row > points ? row : points;
    double seconds = w->d->seconds_per_iteration;
    uint64_t n = seconds > 0.0 ? (uint64_t)(LAUNCH_SECONDS / seconds) : 4;
    if (most > 0 && n > MAX_DOUBLES / most) n = MAX_DOUBLES / most;
    if (n < 1) n = 1;
    return n < left ? n : left;
}

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

/* ---- one launch ---- */

static void plan(const work *w, gess__lane_job *j, uint64_t done, uint64_t iterations, uint64_t *draws,
                 uint64_t *points)
{
    const gess__collect *collect = &w->stretch->collect;
    j->start = w->stretch->start + done;
    j->iterations = iterations;
    j->rebind = w->stretch->rebind && done == 0;
    *draws = gess__record_kept(w->record, j->start, iterations);
    *points = collected(collect, j->start, iterations);
    j->from = w->record->from;
    j->thin = w->record->thin;
    j->draws = (size_t)*draws;
    j->first_draw = gess__record_kept(w->record, 0, j->start);
    j->columns = w->e->target.columns;
    j->window_start = collect->start;
    j->stride = *points > 0 ? collect->stride : 0;
    j->first_point = *points > 0 ? (j->start - collect->start) / collect->stride : 0;
}

static void *launch_part(void *data)
{
    gess__part *p = data;
    p->error = (gess_error){0};
    p->status = p->unit->backend->launch(p->unit->backend, &p->shape, &p->job, &p->error);
    return NULL;
}

/* All parts at once: the first by this thread, each other one by one of its own. */
static int launch_parts(work *w, gess_error *err)
{
    pthread_t threads[GESS__MAX_DEVICES];
    bool started[GESS__MAX_DEVICES] = {0};
    for (size_t i = 1; i < w->parts; i++) started[i] = pthread_create(&threads[i], NULL, launch_part, &w->part[i]) == 0;
    for (size_t i = 0; i < w->parts; i++)
        if (!started[i]) launch_part(&w->part[i]);
    for (size_t i = 1; i < w->parts; i++)
        if (started[i]) pthread_join(threads[i], NULL);
    for (size_t i = 0; i < w->parts; i++) {
        if (w->part[i].status == GESS_OK) continue;
        if (err != NULL) *err = w->part[i].error;
        return add_words(w->e->target.model, w->part[i].status, err);
    }
    return GESS_OK;
}

/* Brings the draws of all parts back, adds the derived quantities and gives them to the sink. */
static int deliver(work *w, uint64_t draws, gess_error *err)
{
    const gess__lane_job *j = &w->part[0].job;
    const gess__target *target = &w->e->target;
    size_t keep = 0, row = (size_t)draws * j->columns;
    void *rows = NULL;
    for (size_t i = 0; i < w->parts; i++) keep += w->part[i].keep;
    if (draws > 0 && keep > 0) GESS_TRY(gess__memory_room(&w->d->rows, keep * row * sizeof(double), &rows, err));
    for (size_t i = 0, at = 0; rows != NULL && i < w->parts; at += w->part[i++].keep)
        if (w->part[i].keep > 0) GESS_TRY(gess__part_rows(&w->part[i], draws, (double *)rows + at * row, err));
    for (size_t k = 0; rows != NULL && target->model->derived > 0 && k < keep * draws; k++)
        GESS_TRY(gess__target_derive(target, 0, (double *)rows + k * j->columns + 1, err));
    if (w->record->sink == NULL) return GESS_OK;
    const gess__segment segment = {.first = w->stretch->first,
                                   .count = keep,
                                   .iterations = j->start + j->iterations,
                                   .first_draw = j->first_draw,
                                   .draws = draws,
                                   .evals = w->evals,
                                   .updates = w->updates,
                                   .rows = rows};
    return w->record->sink(w->record->user, &segment, err);
}

/* How long an iteration of all chains takes, for the length of the next launches. */
static void note_pace(device *d, double seconds)
{
    if (seconds < 0.0) seconds = 0.0;
    d->seconds_per_iteration = d->seconds_per_iteration > 0.0 ? 0.5 * (d->seconds_per_iteration + seconds) : seconds;
}

static int launch(work *w, uint64_t done, uint64_t iterations, gess_error *err)
{
    uint64_t draws = 0, points = 0;
    for (size_t i = 0; i < w->parts; i++) {
        plan(w, &w->part[i].job, done, iterations, &draws, &points);
        GESS_TRY(gess__part_prepare(&w->part[i], draws, points, err));
    }
    double before = gess__seconds();
    GESS_TRY(launch_parts(w, err));
    double compiling = 0.0;
    for (size_t i = 0; i < w->parts; i++) {
        double mine = w->part[i].unit->backend->compiling_seconds;
        if (mine > compiling) compiling = mine;
    }
    note_pace(w->d, (gess__seconds() - before - compiling) / (double)iterations);
    for (size_t i = 0; i < w->parts; i++) {
        GESS_TRY(gess__part_take(&w->part[i], points, err));
        w->evals += w->part[i].evals;
        w->updates += w->part[i].updates;
    }
    return deliver(w, draws, err);
}

/* ---- stretches ---- */

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

/* Chains first .. first + count - 1 for a unit. */
static int begin_part(work *w, gess__unit *unit, size_t first, size_t count, gess_error *err)
{
    gess__part *p = &w->part[w->parts++];
    size_t end = first + count, kept = end < w->e->kept ? end : w->e->kept;
    *p = (gess__part){.unit = unit,
                      .e = w->e,
                      .stretch = w->stretch,
                      .record = w->record,
                      .first = first,
                      .count = count,
                      .dim = w->e->target.dim,
                      .keep = kept > first ? kept - first : 0};
    bool packed = gess__lane_pack(&p->job.frozen, &w->e->target, w->stretch, w->e->seed);
    GESS_ASSERT(packed);
    (void)packed;
    p->shape = shape_of(w->e->target.model, p->dim, &p->job.frozen);
    p->job.count = count;
    return gess__part_begin(p, err);
}

static int run_parts(work *w, gess_error *err)
{
    size_t units = w->d->units, all = w->stretch->count;
    for (size_t i = 0; i < units; i++) {
        size_t from = all * i / units, to = all * (i + 1) / units;
        if (to > from) GESS_TRY(begin_part(w, &w->d->unit[i], w->stretch->first + from, to - from, err));
    }
    GESS_TRY(run_launches(w, err));
    for (size_t i = 0; i < w->parts; i++) GESS_TRY(gess__part_end(&w->part[i], err));
    return GESS_OK;
}

static int run(gess__accelerator *a, gess__ensemble *e, gess__stretch *stretch, const gess__record *record,
               gess_error *err)
{
    work w = {.d = (device *)(void *)a, .e = e, .stretch = stretch, .record = record};
    GESS_ALLOC(&w.part, w.d->units, err);
    int status = run_parts(&w, err);
    free(w.part);
    return status;
}

/* ---- the density alone ---- */

static int call_density(gess__unit *d, const gess_model *model, size_t n, const double *x, double *logp, size_t repeats,
                        double *seconds, gess_error *err)
{
    gess__lane_shape shape = shape_of(model, model->dim, NULL);
    void *points, *values, *numbers = NULL;
    size_t bytes = model->lane.count * sizeof *model->lane.numbers;
    GESS_TRY(gess__unit_room(d, GESS__UNIT_POINTS, gess__lane_room(n) * model->dim * sizeof *x, &points, err));
    GESS_TRY(gess__unit_room(d, GESS__UNIT_VALUES, gess__lane_room(n) * sizeof *logp, &values, err));
    GESS_TRY(d->backend->put(d->backend, points, x, n * model->dim * sizeof *x, err));
    if (bytes > 0) {
        GESS_TRY(gess__unit_room(d, GESS__UNIT_NUMBERS, bytes, &numbers, err));
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
    int status = n > 0 ? call_density(&d->unit[0], model, n, x, logp, repeats, seconds, err) : GESS_OK;
    pthread_mutex_unlock(&d->lock);
    return status;
}

/* ---- making and freeing ---- */

static void free_device(gess__accelerator *a)
{
    device *d = (device *)(void *)a;
    for (size_t i = 0; i < d->units; i++) gess__unit_free(&d->unit[i]);
    free(d->rows.at);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

int gess__device_new(gess__accelerator **out, size_t count, gess__backend *const *backends, gess_error *err)
{
    device *d = NULL;
    GESS_ASSERT(count > 0 && count <= GESS__MAX_DEVICES);
    int status = gess__alloc_bytes(&d, 1, sizeof *d, "device", err);
    if (status != GESS_OK) {
        for (size_t i = 0; i < count; i++) backends[i]->close(backends[i]);
        return status;
    }
    for (size_t i = 0, used = 0; i < count; i++) {
        d->unit[i].backend = backends[i];
        int more = snprintf(d->name + used, sizeof d->name - used, "%s%s", i > 0 ? ", " : "", backends[i]->name);
        if (more > 0 && (size_t)more < sizeof d->name - used) used += (size_t)more;
    }
    d->units = count;
    pthread_mutex_init(&d->lock, NULL);
    d->accelerator =
        (gess__accelerator){.name = d->name, .takes = takes, .run = run, .evaluate = evaluate, .free = free_device};
    *out = &d->accelerator;
    return GESS_OK;
}
