/* Makes parts, and computes log π − log T of their stored draws. */
#include "evidence/part.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/vmath.h"

#include <stdlib.h>

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
    GESS_ASSERT(step > 0 && first < stored->series);
    const gess__target *target = &ensemble->target;
    *p = (gess__part){.ensemble = ensemble,
                      .target = target,
                      .number = number,
                      .stored = stored,
                      .first = first,
                      .step = step};
    p->series = (stored->series - first + step - 1) / step;
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
    free(p->level1);
    free(p->level2);
}

int gess__part_levels(gess__part *p, gess_error *err)
{
    enum { CHUNK = 64 };
    const gess__stored *s = p->stored;
    double *scratch = NULL;
    GESS_ALLOC(&scratch, gess__mixture_scratch(s->dim, CHUNK), err);
    for (size_t k = 0; k < p->series; k++) {
        size_t from = (p->first + k * p->step) * s->n;
        double *level = p->level1 + k * s->n;
        for (size_t i = 0; i < s->n; i += CHUNK)
            gess__mixture_log_ts(p->t, s->n - i < CHUNK ? s->n - i : CHUNK, s->w + (from + i) * s->dim, level + i,
                                 scratch);
        for (size_t i = 0; i < s->n; i++) level[i] = s->values[from + i] - level[i];
    }
    free(scratch);
    return GESS_OK;
}

double gess__part_score(const gess__part *p)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->n1; i++) sum += p->level1[i];
    return sum / (double)p->n1;
}
