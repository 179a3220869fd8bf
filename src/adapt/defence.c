/* Defensive components: for each of a few coordinates, T itself made twice as wide along that coordinate.
 *
 * A map bends the tails of single coordinates (warp.c), or scales the others by them (scale.c), as the draws of a
 * window show it. Beyond the draws it extrapolates, and a T that is too light there is left by independence moves after
 * as many iterations as π/T says: chains come there late and stay long, and no stop rule sees what is missing. A
 * component with a share of a few per cent, a normal twice as wide, has e^(3z²/8)/2 times the density of the normal z
 * standard deviations out: so π/T stays bounded there, for the price of these few per cent.
 *
 * Along coordinate j the wide component has the covariance Σ + 3 v vᵀ, v = Σ e_j / √Σ_jj: the marginal of the
 * coordinate is wider, and what the others are given the coordinate is not changed. */
#include "adapt/defence.h"

#include "adapt/move_mix.h"
#include "base/assert.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "base/vmath.h"

#include <math.h>
#include <stdlib.h>

/* Coordinates, at most; the share of all of them; the variance is multiplied by this. */
enum { MAX_COORDINATES = 4 };
#define SHARE 0.06
#define VARIANCE_FACTOR 4.0

/* Makes `wide` the t `from`, wider along a coordinate; returns 0 if that is not possible. square: dim² of scratch. */
static int widen(const gess__approx *from, size_t along, gess__approx *wide, double *square)
{
    size_t dim = from->dim;
    gess__self_product(dim, dim, 1.0, from->chol, square);
    double *v = square + dim * dim, variance = square[along + along * dim];
    for (size_t i = 0; i < dim; i++)
        v[i] = (i < along ? square[along + i * dim] : square[i + along * dim]) / sqrt(variance);
    for (size_t k = 0; k < dim; k++)
        for (size_t i = k; i < dim; i++) square[i + k * dim] += (VARIANCE_FACTOR - 1.0) * v[i] * v[k];
    if (!gess__cholesky(dim, square)) return 0;
    gess__approx_copy(wide, from);
    for (size_t i = 0; i < dim * dim; i++) wide->chol[i] = square[i];
    gess__approx_ready(wide);
    return 1;
}

void gess__defence_add(gess__learning *l)
{
    const gess__frozen *f = &l->ensemble->frozen;
    gess__mixture *m = f->mixture;
    uint32_t along[MAX_COORDINATES];
    if (f->map == NULL || m == NULL || m->defensive > 0) return;
    size_t count = gess__learned_extrapolated(f->map, MAX_COORDINATES, along), room = gess__mixture_room(m->dim);
    double *square = NULL;
    if (count == 0 || m->count == room ||
        gess__alloc_bytes(&square, m->dim * (m->dim + 1), sizeof *square, "a covariance", NULL) != GESS_OK)
        return;
    gess__move_mix_set_single(l);
    for (size_t k = 0; k < count && m->count < room; k++)
        if (widen(f->approx, along[k], m->component[m->count], square)) {
            m->count++;
            m->defensive++;
        }
    free(square);
    size_t own = m->count - m->defensive;
    double others = gess__log(1.0 - SHARE), each = gess__log(SHARE / (double)(m->defensive > 0 ? m->defensive : 1));
    if (m->defensive == 0) return;
    for (size_t k = 0; k < own; k++) m->log_weight[k] += others;
    for (size_t k = own; k < m->count; k++) m->log_weight[k] = each;
    l->ensemble->rebind = 1;
}

void gess__defence_remove(gess__learning *l)
{
    gess__mixture *m = l->ensemble->frozen.mixture;
    if (m == NULL || m->defensive == 0) return;
    GESS_ASSERT(m->count > m->defensive);
    m->count -= m->defensive;
    m->defensive = 0;
    for (size_t k = 0; k < m->count; k++) m->log_weight[k] -= gess__log(1.0 - SHARE);
    l->ensemble->rebind = 1;
}
