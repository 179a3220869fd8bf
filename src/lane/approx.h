/* T at one point: whitened points, log T, draws. It has the bits of approx/ and kernel/. */
#ifndef GESS_LANE_APPROX_H
#define GESS_LANE_APPROX_H

#include "base/tile_body.h"
#include "base/variates.h"
#include "kernel/lane_math.h"
#include "lane/frozen.h"

/* z = L⁻¹ (x − centre); centre NULL: 0. */
GESS__LANE_CALL void gess__lane_solve(const gess__lane_t *t, size_t dim, const double *centre, const double *x,
                                      double *z)
{
    double zeros[GESS__LANE_DIM];
    if (centre == NULL)
        for (size_t i = 0; i < dim; i++) zeros[i] = 0.0;
    gess__solve_tile_body(dim, t->chol, t->inverse_diagonal, centre == NULL ? zeros : centre, x, z);
}

/* L x. */
GESS__LANE_CALL void gess__lane_product(const gess__lane_t *t, size_t dim, const double *x, double *out)
{
    gess__product_tile_body(dim, t->chol, x, out);
}

/* log T of one component at distance δ, without its constant. */
GESS__INLINE double gess__lane_log_t(const gess__lane_t *t, size_t dim, double delta)
{
    if (!(t->nu < HUGE_VAL)) return -0.5 * delta;
    return gess__t_log(t->nu, -0.5 * (t->nu + (double)dim), delta);
}

/* log Σ_j exp(terms[j]), as gess__log_sums() adds it up. */
GESS__LANE_CALL double gess__lane_log_sum(size_t count, const double *terms)
{
    double shift = -HUGE_VAL, sum = 0.0;
    for (size_t j = 0; j < count; j++) shift = gess__select(terms[j] > shift, terms[j], shift);
    double finite = shift - shift;
    shift = gess__select(finite == 0.0, shift, 0.0);
    for (size_t j = 0; j < count; j++) sum += gess__exp(terms[j] - shift);
    return shift + gess__log(sum);
}

/* log T of a mixture at x. If they are not NULL, terms gets log w_k t_k and deltas δ_k of every component. */
GESS__LANE_CALL double gess__lane_mixture_log_t(const gess__lane_frozen *f, const double *x, double *terms,
                                                double *deltas)
{
    double z[GESS__LANE_DIM], some[GESS__LANE_COMPONENTS];
    if (terms == NULL) terms = some;
    for (size_t k = 0; k < GESS__LANE_COMPONENTS_OF(f); k++) {
        const gess__lane_t *t = &f->t[k];
        gess__lane_solve(t, GESS__LANE_DIM_OF(f), t->mu, x, z);
        double delta = gess__dot_of(GESS__LANE_DIM_OF(f), z, z);
        if (deltas != NULL) deltas[k] = delta;
        terms[k] = t->log_norm + gess__lane_log_t(t, GESS__LANE_DIM_OF(f), delta);
    }
    return gess__lane_log_sum(GESS__LANE_COMPONENTS_OF(f), terms);
}

/* gess__gamma(). */
GESS__LANE_CALL double gess__lane_gamma(gess__key key, double shape)
{
    return gess__one_gamma(key, shape);
}

/* n numbers of gess__normals(). */
GESS__LANE_CALL void gess__lane_normals(gess__key key, size_t n, double *out)
{
    for (size_t pair = 0; pair < (n + 1) / 2; pair++) {
        double first, second, even, odd;
        gess__two_uniforms(key, (uint32_t)pair, &first, &second);
        gess__normal_pair(first, second, &even, &odd);
        out[2 * pair] = even;
        if (2 * pair + 1 < n) out[2 * pair + 1] = odd;
    }
}

#endif
