/* Chooses the coordinate and the width of a coordinate slice update; kernel/slice.c does the rest. */
#include "kernel/coordinate_slice.h"

#include "transform/scale.h"

#include <math.h>
#include <string.h>

#define WIDTH 2.5
/* The share of updates that are along a coordinate on which the scales of others depend, if there are such. */
#define DRIVER_SHARE 0.5

/* A coordinate at random: half of the time one that drives the scales of others in the learned map. Chains are late in
 * the necks of funnels, which such a coordinate leads into. */
static size_t choose(const gess__target *target, gess__key key)
{
    double which = gess__uniform(key, 0);
    if (target->learned != NULL && which < DRIVER_SHARE) {
        size_t driver = gess__scale_driver(target->learned, which / DRIVER_SHARE);
        if (driver < target->dim) return driver;
    }
    return (size_t)(gess__uniform(key, 1) * (double)target->dim);
}

/* Chooses a coordinate. The direction's length is WIDTH times the coordinate's standard deviation under T given all the
 * others, 1 / |L⁻¹ e|, so that most intervals need no stepping out. */
static void along(const gess__update *u, size_t j, double *direction)
{
    const gess__approx *t = u->approx;
    size_t dim = u->target->dim;
    size_t at = choose(u->target, gess__update_key(u, j, GESS__FOR_COMPONENT));
    double *w = direction, square = 0.0;
    for (size_t i = at; i < dim; i++) w[i] = i == at ? 1.0 : 0.0;
    for (size_t k = at; k < dim; k++) {
        w[k] *= t->inverse_diagonal[k];
        square += w[k] * w[k];
        for (size_t i = k + 1; i < dim; i++) w[i] -= t->chol[i + k * dim] * w[k];
    }
    memset(direction, 0, dim * sizeof *direction);
    direction[at] = WIDTH / sqrt(square);
}

void gess__coordinate_slice_begin(gess__update *u)
{
    gess__slice_begin(u, along);
    u->tally.coordinate += u->count;
}

int gess__coordinate_slice_consume(gess__update *u, gess_error *err)
{
    u->tally.coordinate_evals += u->proposals;
    return gess__slice_consume(u, err);
}
