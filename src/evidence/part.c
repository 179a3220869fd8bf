/* Makes parts, and computes log π − log T of their stored draws. */
#include "evidence/part.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/vmath.h"

#include <math.h>
#include <stdlib.h>

#define SAME 0.01      /* spread of the levels up to which T is the density */
#define WIDE_SHARE 0.1 /* of the weight of T, for its wide components */
/* log of how much wider they are in each direction, and of how much larger their volume is: at most */
#define MAX_LOG_WIDTH 0.4
#define MAX_LOG_VOLUME 4.0

/* Each periodic parameter makes the integral over the sampling space 2π / (b − a) times that over x. */
static double log_circles(const gess__bounds *bounds)
{
    const double two_pi = 6.28318530717958623200;
    double sum = 0.0;
    for (size_t i = 0; i < bounds->outer; i++) {
        const gess__coordinate *c = &bounds->coordinates[i];
        if (c->kind == GESS__CIRCLE) sum += gess__log(two_pi / (c->b - c->a));
    }
    return sum;
}

int gess__part_open(gess__part *p, gess__ensemble *ensemble, const gess__stored *stored, size_t first, size_t step,
                    uint64_t number, const gess__frozen *from, gess_error *err)
{
    GESS_ASSERT(step > 0 && first < step && step <= stored->series);
    const gess__target *target = &ensemble->target;
    *p = (gess__part){.ensemble = ensemble,
                      .target = target,
                      .number = number,
                      .stored = stored,
                      .first = first,
                      .step = step};
    p->series = stored->series / step;
    p->n1 = p->series * stored->n;
    p->log_circles = log_circles(&target->bounds);
    GESS_ALLOC(&p->level1, p->n1, err);
    GESS_TRY(gess__mixture_new(&p->t, target->dim, err));
    p->t->log_weight[0] = 0.0;
    if (from == NULL) return GESS_OK;
    if (gess__frozen_mixture(from) != NULL)
        gess__mixture_copy(p->t, from->mixture);
    else
        gess__approx_copy(p->t->component[0], from->approx);
    return GESS_OK;
}

void gess__part_close(gess__part *p)
{
    gess__mixture_free(p->t);
    gess__learned_free(p->map);
    free(p->level1);
    free(p->level2);
}

static void widen(gess__part *p)
{
    gess__mixture *t = p->t;
    size_t n = t->count, dim = t->dim;
    double factor = gess__exp(gess__min(MAX_LOG_WIDTH, MAX_LOG_VOLUME / (double)dim));
    for (size_t j = 0; j < n; j++) {
        gess__approx *wide = t->component[n + j];
        gess__approx_copy(wide, t->component[j]);
        for (size_t i = 0; i < dim * dim; i++) wide->chol[i] *= factor;
        gess__approx_ready(wide);
        t->log_weight[n + j] = t->log_weight[j] + gess__log(WIDE_SHARE);
        t->log_weight[j] += gess__log(1.0 - WIDE_SHARE);
    }
    t->count = 2 * n;
    p->wide = 1;
}

static int set_levels(gess__part *p, gess_error *err)
{
    enum { CHUNK = 64 };
    const gess__stored *s = p->stored;
    size_t mapped = p->map != NULL ? CHUNK * (s->dim + 1) + gess__learned_scratch(p->map, CHUNK) : 0;
    double *scratch = NULL;
    GESS_ALLOC(&scratch, gess__mixture_scratch(s->dim, CHUNK) + mapped, err);
    double *v = scratch + gess__mixture_scratch(s->dim, CHUNK), *jacobians = v + CHUNK * s->dim;
    for (size_t k = 0; k < p->series; k++) {
        size_t from = (p->first + k * p->step) * s->n;
        double *level = p->level1 + k * s->n;
        for (size_t i = 0; i < s->n; i += CHUNK) {
            size_t count = s->n - i < CHUNK ? s->n - i : CHUNK;
            const double *w = s->w + (from + i) * s->dim;
            if (p->map != NULL) gess__learned_in(p->map, count, w, v, jacobians, jacobians + CHUNK);
            gess__mixture_log_ts(p->t, count, p->map != NULL ? v : w, level + i, scratch);
            for (size_t j = 0; j < count && p->map != NULL; j++) level[i + j] += jacobians[j];
        }
        for (size_t i = 0; i < s->n; i++) level[i] = s->values[from + i] - level[i];
    }
    free(scratch);
    return GESS_OK;
}

/* Standard deviation of the levels of the stored draws. */
static double spread(const gess__part *p)
{
    double mean = gess__part_score(p), square = 0.0;
    for (size_t i = 0; i < p->n1; i++) square += (p->level1[i] - mean) * (p->level1[i] - mean);
    return sqrt(square / (double)p->n1);
}

int gess__part_levels(gess__part *p, gess_error *err)
{
    GESS_TRY(set_levels(p, err));
    if (spread(p) <= SAME || 2 * p->t->count > gess__mixture_room(p->t->dim)) return GESS_OK;
    widen(p);
    return set_levels(p, err);
}

double gess__part_score(const gess__part *p)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->n1; i++) sum += p->level1[i];
    return sum / (double)p->n1;
}
