/* Copies chains and the frozen state to a device, and brings points, counts, draws and states back. */
#include "lane/part.h"

#include "base/assert.h"
#include "base/mem.h"
#include "lane/pack.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16 };

/* ---- memory ---- */

int gess__unit_room(gess__unit *d, enum gess__unit_slot slot, size_t bytes, void **at, gess_error *err)
{
    gess__memory *m = &d->slots[slot];
    if (m->bytes < bytes) {
        if (m->at != NULL) d->backend->release(d->backend, m->at);
        *m = (gess__memory){0};
        GESS_TRY(d->backend->make(d->backend, bytes, &m->at, err));
        m->bytes = bytes;
    }
    *at = m->at;
    return GESS_OK;
}

int gess__memory_room(gess__memory *m, size_t bytes, void **at, gess_error *err)
{
    if (m->bytes < bytes) {
        free(m->at);
        *m = (gess__memory){0};
        char *room = NULL;
        GESS_ALLOC(&room, bytes, err);
        m->at = room;
        m->bytes = bytes;
    }
    *at = m->at;
    return GESS_OK;
}

void gess__unit_free(gess__unit *unit)
{
    for (size_t i = 0; i < GESS__UNIT_SLOTS; i++)
        if (unit->slots[i].at != NULL) unit->backend->release(unit->backend, unit->slots[i].at);
    free(unit->host.at);
    unit->backend->close(unit->backend);
}

/* ---- the frozen state ---- */

/* Copies the arrays of the frozen state to the device, one behind the other, and points to them there. */
static int put_frozen(gess__part *w, gess_error *err)
{
    gess__lane_array arrays[GESS__LANE_MAX_ARRAYS];
    size_t n = gess__lane_arrays(&w->job.frozen, w->e->target.model->lane.count, arrays), bytes = 0;
    void *there, *here;
    for (size_t i = 0; i < n; i++) bytes += (arrays[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    GESS_TRY(gess__unit_room(w->unit, GESS__UNIT_FROZEN, bytes, &there, err));
    GESS_TRY(gess__memory_room(&w->unit->host, bytes, &here, err));
    for (size_t i = 0, at = 0; i < n; i++) {
        memcpy((char *)here + at, *arrays[i].at, arrays[i].bytes);
        *arrays[i].at = (char *)there + at;
        at += (arrays[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return w->unit->backend->put(w->unit->backend, there, here, bytes, err);
}

/* ---- chains ---- */

/* An array of the chains of a stretch, here and on the device. */
typedef struct array {
    enum gess__unit_slot slot;
    void *here;
    void **there;
    size_t bytes;
} array;

/* Those of the ensemble that exist; returns how many. */
static size_t list_arrays(gess__part *w, array arrays[GESS__UNIT_SLOTS])
{
    gess__chains *c = &w->e->chains;
    gess__lane_chains *l = &w->job.chains;
    size_t n = w->count, first = w->first, dim = w->dim, width = c->trail_points * (dim + 1), used = 0;
    const array all[] = {
        {GESS__UNIT_X, c->x + first * dim, (void **)&l->x, n * dim * sizeof *c->x},
        {GESS__UNIT_VALUE, c->value + first, (void **)&l->value, n * sizeof *c->value},
        {GESS__UNIT_Z, c->kernel_state + first * dim, (void **)&l->z, n * dim * sizeof *c->kernel_state},
        {GESS__UNIT_DELTAS, c->deltas != NULL ? c->deltas + first : NULL, (void **)&l->deltas, n * sizeof *c->deltas},
        {GESS__UNIT_LOG_TS, c->log_ts != NULL ? c->log_ts + first : NULL, (void **)&l->log_ts, n * sizeof *c->log_ts},
        {GESS__UNIT_PEAK, c->peak + first, (void **)&l->peak, n * sizeof *c->peak},
        {GESS__UNIT_PEAK_AT, c->peak_at + first * dim, (void **)&l->peak_at, n * dim * sizeof *c->peak_at},
        {GESS__UNIT_LEVEL, c->level + first, (void **)&l->level, n * sizeof *c->level},
        {GESS__UNIT_LEVEL_VALUE, c->level_value + first, (void **)&l->level_value, n * sizeof *c->level_value},
        {GESS__UNIT_LEVEL_AT, c->level_at + first * dim, (void **)&l->level_at, n * dim * sizeof *c->level_at},
        {GESS__UNIT_TRAIL_COUNT, c->trail_count + first, (void **)&l->trail_count,
         width > 0 ? n * sizeof *c->trail_count : 0},
        {GESS__UNIT_TRAIL, width > 0 ? c->trail + first * width : NULL, (void **)&l->trail,
         n * width * sizeof *c->trail},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].here != NULL && all[i].bytes > 0) arrays[used++] = all[i];
    return used;
}

static int put_chains(gess__part *w, gess_error *err)
{
    array arrays[GESS__UNIT_SLOTS];
    size_t n = list_arrays(w, arrays);
    for (size_t i = 0; i < n; i++) {
        GESS_TRY(gess__unit_room(w->unit, arrays[i].slot, arrays[i].bytes, arrays[i].there, err));
        GESS_TRY(w->unit->backend->put(w->unit->backend, *arrays[i].there, arrays[i].here, arrays[i].bytes, err));
    }
    w->job.chains.first = w->e->chains.first + (uint32_t)w->first;
    w->job.chains.trail_points = w->e->chains.trail_points;
    return GESS_OK;
}

int gess__part_begin(gess__part *w, gess_error *err)
{
    GESS_TRY(put_frozen(w, err));
    return put_chains(w, err);
}

int gess__part_end(gess__part *w, gess_error *err)
{
    array arrays[GESS__UNIT_SLOTS];
    size_t n = list_arrays(w, arrays);
    for (size_t i = 0; i < n; i++)
        GESS_TRY(w->unit->backend->get(w->unit->backend, arrays[i].here, *arrays[i].there, arrays[i].bytes, err));
    return GESS_OK;
}

/* ---- launches ---- */

int gess__part_prepare(gess__part *w, uint64_t draws, uint64_t points, gess_error *err)
{
    gess__lane_job *j = &w->job;
    void *at;
    j->rows = j->points = j->values = NULL;
    if (draws > 0 && w->keep > 0) {
        GESS_TRY(gess__unit_room(w->unit, GESS__UNIT_ROWS, w->count * draws * j->columns * sizeof *j->rows, &at, err));
        j->rows = at;
    }
    if (points > 0) {
        GESS_TRY(gess__unit_room(w->unit, GESS__UNIT_VALUES, w->count * points * sizeof *j->values, &at, err));
        j->values = at;
    }
    if (points > 0 && w->stretch->collect.points != NULL) {
        GESS_TRY(gess__unit_room(w->unit, GESS__UNIT_POINTS, w->count * points * w->dim * sizeof *j->points, &at, err));
        j->points = at;
    }
    GESS_TRY(gess__unit_room(w->unit, GESS__UNIT_EVENTS, w->count * sizeof *j->events, &at, err));
    j->events = at;
    GESS_TRY(gess__unit_room(w->unit, GESS__UNIT_EVENT_POINTS, w->count * w->dim * sizeof *j->event_points, &at, err));
    j->event_points = at;
    GESS_TRY(gess__unit_room(w->unit, GESS__UNIT_COUNTS, sizeof *j->counts, &at, err));
    j->counts = at;
    const gess__lane_counts none = {0};
    return w->unit->backend->put(w->unit->backend, at, &none, sizeof none, err);
}

/* ---- what came back ---- */

static int get_counts(gess__part *w, gess_error *err)
{
    gess__lane_counts c;
    gess__tally *t = &w->e->tally;
    GESS_TRY(w->unit->backend->get(w->unit->backend, &c, w->job.counts, sizeof c, err));
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
    w->evals = c.tally.evals;
    w->updates = c.tally.updates;
    return GESS_OK;
}

/* The error of a density of +inf. */
static int fail_infinite(const gess__part *w, const gess__lane_event *event, size_t chain, const double *point,
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
static int get_events(gess__part *w, gess_error *err)
{
    size_t bytes = w->count * sizeof(gess__lane_event), dim = w->dim, worst = w->count;
    void *at;
    GESS_TRY(gess__memory_room(&w->unit->host, bytes + w->count * dim * sizeof(double), &at, err));
    gess__lane_event *events = at;
    double *points = (double *)(void *)((char *)at + bytes), *y = w->e->updates[0].mapped;
    uint64_t strange = 0;
    GESS_TRY(w->unit->backend->get(w->unit->backend, events, w->job.events, bytes, err));
    for (size_t j = 0; j < w->count; j++) strange += events[j].nans + (uint64_t)events[j].infinite;
    if (strange == 0) return GESS_OK;
    GESS_TRY(
        w->unit->backend->get(w->unit->backend, points, w->job.event_points, w->count * dim * sizeof *points, err));
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
static int get_points(gess__part *w, uint64_t points, gess_error *err)
{
    const gess__collect *c = &w->stretch->collect;
    const gess__lane_job *j = &w->job;
    size_t all = w->e->chains.count, first = w->first;
    for (uint64_t k = 0; k < points; k++) {
        size_t row = (size_t)(j->first_point + k) * all + first, from = (size_t)k * w->count;
        GESS_TRY(w->unit->backend->get(w->unit->backend, c->values + row, j->values + from,
                                       w->count * sizeof *c->values, err));
        if (j->points == NULL) continue;
        GESS_TRY(w->unit->backend->get(w->unit->backend, c->points + row * w->dim, j->points + from * w->dim,
                                       w->count * w->dim * sizeof *c->points, err));
    }
    return GESS_OK;
}

int gess__part_take(gess__part *w, uint64_t points, gess_error *err)
{
    GESS_TRY(get_counts(w, err));
    GESS_TRY(get_events(w, err));
    return get_points(w, points, err);
}

int gess__part_rows(gess__part *w, uint64_t draws, double *rows, gess_error *err)
{
    size_t bytes = w->keep * (size_t)draws * w->job.columns * sizeof *rows;
    return w->unit->backend->get(w->unit->backend, rows, w->job.rows, bytes, err);
}
