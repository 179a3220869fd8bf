/* Notes points of high log density, and searches for maxima from those that T does not cover. */
#include "explore/maxima.h"

#include "base/assert.h"
#include "base/mem.h"
#include "explore/component.h"
#include "frozen/frozen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* T covers a point if log π − log T there exceeds the typical value by at most this. */
#define COVERED 5.0

/* Ascents of a search; the degrees of freedom of a maximum's t. */
enum { MAX_ASCENTS = 24 };
#define MAXIMUM_NU 10.0

int gess__maxima_new(gess__maxima **maxima, size_t dim, gess_error *err)
{
    *maxima = NULL;
    if (gess__mixture_room(dim) == 1) return GESS_OK;
    GESS_ALLOC(maxima, 1, err);
    gess__maxima *s = *maxima;
    s->dim = dim;
    GESS_ALLOC(&s->point, GESS__NOTED * dim, err);
    GESS_ALLOC(&s->value, GESS__NOTED, err);
    GESS_ALLOC(&s->level, GESS__NOTED, err);
    GESS_ALLOC(&s->scale, dim, err);
    GESS_ALLOC(&s->log_t, GESS__NOTED, err);
    GESS_ALLOC(&s->scratch, gess__mixture_scratch(dim, GESS__NOTED), err);
    for (size_t k = 0; k < GESS__MAX_MAXIMA; k++) GESS_TRY(gess__approx_new(&s->t[k], dim, err));
    return gess__laplace_new(&s->searcher, dim, err);
}

void gess__maxima_free(gess__maxima *s)
{
    if (s == NULL) return;
    free(s->point);
    free(s->value);
    free(s->level);
    free(s->scale);
    free(s->log_t);
    free(s->scratch);
    for (size_t k = 0; k < GESS__MAX_MAXIMA; k++) gess__approx_free(s->t[k]);
    gess__laplace_free(s->searcher);
    free(s);
}

void gess__maxima_note(gess__maxima *s, const double *y, double value)
{
    size_t at = (size_t)(s->state.noted++ % GESS__NOTED);
    memcpy(s->point + at * s->dim, y, s->dim * sizeof *y);
    s->value[at] = value;
}

/* log T of a point, with the maxima found so far as further components of small weight. */
static double log_t_of(const gess__maxima *s, const double *y)
{
    const double share = -4.6; /* log 0.01 */
    double log_t;
    gess__mixture_log_ts(s->mixture, 1, y, &log_t, s->scratch);
    for (size_t k = 0; k < s->state.count; k++)
        log_t = gess__max(log_t, share + gess__component_log_density(s->t[k], y, s->scratch));
    return log_t;
}

static int covered(void *user, const double *y, double value)
{
    const gess__maxima *s = user;
    return value - log_t_of(s, y) <= s->limit;
}

static void exchange(double *x, double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
}

/* Sorts the noted points by falling log π − log T. */
static void sort_points(gess__maxima *s)
{
    size_t n = s->state.noted < GESS__NOTED ? (size_t)s->state.noted : GESS__NOTED;
    for (size_t i = 0; i < n; i++) s->level[i] = s->value[i] - log_t_of(s, s->point + i * s->dim);
    for (size_t i = 0; i < n; i++) {
        size_t best = i;
        for (size_t j = i + 1; j < n; j++)
            if (s->level[j] > s->level[best]) best = j;
        exchange(s->level + i, s->level + best, 1);
        exchange(s->value + i, s->value + best, 1);
        exchange(s->point + i * s->dim, s->point + best * s->dim, s->dim);
    }
    s->state.sorted = 1;
    s->state.next = 0;
}

void gess__maxima_keep(gess__maxima *s)
{
    GESS_ASSERT(s->state.count < GESS__MAX_MAXIMA);
    gess__approx *t = s->t[s->state.count];
    double value;
    gess__laplace_top(s->searcher, &value);
    gess__approx_copy(t, gess__laplace_approx(s->searcher));
    t->nu = MAXIMUM_NU;
    s->state.value[s->state.count++] = value;
}

/* Forgets the maxima that T covers without them. */
static void drop_covered(gess__maxima *s)
{
    size_t kept = 0, count = s->state.count;
    s->state.count = 0; /* for log_t_of() */
    for (size_t k = 0; k < count; k++) {
        if (covered(s, s->t[k]->mu, s->state.value[k])) continue;
        if (kept < k) gess__approx_copy(s->t[kept], s->t[k]);
        s->state.value[kept++] = s->state.value[k];
    }
    s->state.count = kept;
}

int gess__maxima_search(gess__maxima *s, gess__ensemble *e, const gess__record *record, double typical,
                        const double *scale, uint64_t max_evals, gess_error *err)
{
    gess__maxima_state *state = &s->state;
    s->mixture = e->frozen.mixture;
    s->limit = typical + COVERED;
    if (!state->sorted) drop_covered(s);
    if (!state->sorted) sort_points(s);
    size_t n = state->noted < GESS__NOTED ? (size_t)state->noted : GESS__NOTED;
    for (; state->next < n && state->ascents < MAX_ASCENTS && state->count < GESS__MAX_MAXIMA; state->next++) {
        const double *y = s->point + state->next * s->dim;
        enum gess__ascent_end end;
        uint64_t before = e->tally.evals;
        if (state->evals >= max_evals) break;
        if (covered(s, y, s->value[state->next])) continue;
        gess__ascent ascent = {.point = y,
                               .value = s->value[state->next],
                               .scale = scale,
                               .max_evals = max_evals - state->evals,
                               .arrived = covered,
                               .user = s};
        GESS_TRY(gess__laplace_ascend(s->searcher, e, record, &ascent, &end, err));
        state->evals += e->tally.evals - before;
        state->ascents++;
        if (end == GESS__ASCENT_FOUND) gess__maxima_keep(s);
    }
    state->noted = 0;
    state->sorted = 0;
    return GESS_OK;
}

void gess__maxima_archive(gess__maxima *s, gess__archive *a)
{
    GESS_ARCHIVE(a, &s->state);
    if (s->state.count > GESS__MAX_MAXIMA || s->state.next > GESS__NOTED) a->bad = 1;
    if (a->bad) return;
    gess__archive_bytes(a, s->point, GESS__NOTED * s->dim * sizeof *s->point);
    gess__archive_bytes(a, s->value, GESS__NOTED * sizeof *s->value);
    for (size_t k = 0; k < s->state.count && !a->bad; k++) gess__frozen_archive_approx(s->t[k], a);
}
