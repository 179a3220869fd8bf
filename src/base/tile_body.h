/* The arithmetic of tiles.h: dots, and the product and the solve with a triangle for one tile. tiles.c compiles it for
 * tiles of several points, a device for tiles of one (lane/). A point gets the same bits in both. */
#ifndef GESS_BASE_TILE_BODY_H
#define GESS_BASE_TILE_BODY_H

#include "base/tiles.h"

GESS__INLINE void gess__add_products(const double *a, const double *b, double partial[GESS__PARTIALS])
{
    for (size_t l = 0; l < GESS__PARTIALS; l++) partial[l] = gess__fma(a[l], b[l], partial[l]);
}

/* The last n < LANES terms. */
GESS__INLINE void gess__add_tail(size_t n, const double *a, const double *b, double *GESS__RESTRICT partial)
{
    for (size_t l = 0; l < GESS__PARTIALS; l++)
        if (l < n) partial[l] = gess__fma(a[l], b[l], partial[l]);
}

/* Σ a_i b_i. */
GESS__INLINE double gess__dot_of(size_t n, const double *a, const double *b)
{
    double partial[GESS__PARTIALS] = {0};
    size_t whole = n - n % GESS__PARTIALS;
    for (size_t i = 0; i < whole; i += GESS__PARTIALS) gess__add_products(a + i, b + i, partial);
    gess__add_tail(n - whole, a + whole, b + whole, partial);
    return gess__lane_sum(partial);
}

/* |a|², |b|² and a·b. */
GESS__INLINE void gess__dots_of(size_t n, const double *a, const double *b, double *aa, double *bb, double *ab)
{
    double p[GESS__PARTIALS] = {0}, q[GESS__PARTIALS] = {0}, r[GESS__PARTIALS] = {0};
    size_t whole = n - n % GESS__PARTIALS;
    for (size_t i = 0; i < whole; i += GESS__PARTIALS) {
        gess__add_products(a + i, a + i, p);
        gess__add_products(b + i, b + i, q);
        gess__add_products(a + i, b + i, r);
    }
    gess__add_tail(n - whole, a + whole, a + whole, p);
    gess__add_tail(n - whole, b + whole, b + whole, q);
    gess__add_tail(n - whole, a + whole, b + whole, r);
    *aa = gess__lane_sum(p);
    *bb = gess__lane_sum(q);
    *ab = gess__lane_sum(r);
}

/* out = L in. A tile of LANES points, vectors along the points, four rows at a time; same order of terms. */
GESS__INLINE void gess__product_tile_body(size_t dim, const double *GESS__RESTRICT chol,
                                          const double *GESS__RESTRICT in, double *GESS__RESTRICT out)
{
    size_t i = 0;
    for (; i + 4 <= dim; i += 4) {
        double r0[GESS__LANES] = {0}, r1[GESS__LANES] = {0}, r2[GESS__LANES] = {0}, r3[GESS__LANES] = {0};
        for (size_t k = 0; k <= i; k++) {
            const double *column = chol + k * dim + i, *x = in + k * GESS__LANES;
            for (size_t l = 0; l < GESS__LANES; l++) r0[l] = gess__fma(column[0], x[l], r0[l]);
            for (size_t l = 0; l < GESS__LANES; l++) r1[l] = gess__fma(column[1], x[l], r1[l]);
            for (size_t l = 0; l < GESS__LANES; l++) r2[l] = gess__fma(column[2], x[l], r2[l]);
            for (size_t l = 0; l < GESS__LANES; l++) r3[l] = gess__fma(column[3], x[l], r3[l]);
        }
        const double *c1 = chol + (i + 1) * dim, *c2 = c1 + dim, *c3 = c2 + dim, *x1 = in + (i + 1) * GESS__LANES;
        for (size_t l = 0; l < GESS__LANES; l++) {
            r1[l] = gess__fma(c1[i + 1], x1[l], r1[l]);
            r2[l] = gess__fma(c1[i + 2], x1[l], r2[l]);
            r2[l] = gess__fma(c2[i + 2], x1[GESS__LANES + l], r2[l]);
            r3[l] = gess__fma(c1[i + 3], x1[l], r3[l]);
            r3[l] = gess__fma(c2[i + 3], x1[GESS__LANES + l], r3[l]);
            r3[l] = gess__fma(c3[i + 3], x1[2 * GESS__LANES + l], r3[l]);
        }
        for (size_t l = 0; l < GESS__LANES; l++) {
            out[i * GESS__LANES + l] = r0[l];
            out[(i + 1) * GESS__LANES + l] = r1[l];
            out[(i + 2) * GESS__LANES + l] = r2[l];
            out[(i + 3) * GESS__LANES + l] = r3[l];
        }
    }
    for (; i < dim; i++) {
        double r[GESS__LANES] = {0};
        for (size_t k = 0; k <= i; k++)
            for (size_t l = 0; l < GESS__LANES; l++) r[l] = gess__fma(chol[k * dim + i], in[k * GESS__LANES + l], r[l]);
        for (size_t l = 0; l < GESS__LANES; l++) out[i * GESS__LANES + l] = r[l];
    }
}

/* out = L⁻¹ (in − centre). Four rows at a time, so that no sum waits for its previous addition; same order of terms. */
GESS__INLINE void gess__solve_tile_body(size_t dim, const double *GESS__RESTRICT chol,
                                        const double *GESS__RESTRICT inverse_diagonal,
                                        const double *GESS__RESTRICT centre, const double *GESS__RESTRICT in,
                                        double *GESS__RESTRICT out)
{
    size_t i = 0;
    for (; i + 4 <= dim; i += 4) {
        double r0[GESS__LANES], r1[GESS__LANES], r2[GESS__LANES], r3[GESS__LANES];
        for (size_t l = 0; l < GESS__LANES; l++) {
            r0[l] = in[i * GESS__LANES + l] - centre[i];
            r1[l] = in[(i + 1) * GESS__LANES + l] - centre[i + 1];
            r2[l] = in[(i + 2) * GESS__LANES + l] - centre[i + 2];
            r3[l] = in[(i + 3) * GESS__LANES + l] - centre[i + 3];
        }
        for (size_t k = 0; k < i; k++) {
            const double *column = chol + k * dim + i, *z = out + k * GESS__LANES;
            for (size_t l = 0; l < GESS__LANES; l++) r0[l] = gess__fma(-column[0], z[l], r0[l]);
            for (size_t l = 0; l < GESS__LANES; l++) r1[l] = gess__fma(-column[1], z[l], r1[l]);
            for (size_t l = 0; l < GESS__LANES; l++) r2[l] = gess__fma(-column[2], z[l], r2[l]);
            for (size_t l = 0; l < GESS__LANES; l++) r3[l] = gess__fma(-column[3], z[l], r3[l]);
        }
        /* columns i, i + 1 and i + 2, from row i on */
        const double *c0 = chol + i * dim + i, *c1 = c0 + dim, *c2 = c1 + dim;
        for (size_t l = 0; l < GESS__LANES; l++) {
            double z0 = r0[l] * inverse_diagonal[i];
            double z1 = gess__fma(-c0[1], z0, r1[l]) * inverse_diagonal[i + 1];
            double z2 = gess__fma(-c1[2], z1, gess__fma(-c0[2], z0, r2[l])) * inverse_diagonal[i + 2];
            double last = gess__fma(-c2[3], z2, gess__fma(-c1[3], z1, gess__fma(-c0[3], z0, r3[l])));
            out[i * GESS__LANES + l] = z0;
            out[(i + 1) * GESS__LANES + l] = z1;
            out[(i + 2) * GESS__LANES + l] = z2;
            out[(i + 3) * GESS__LANES + l] = last * inverse_diagonal[i + 3];
        }
    }
    for (; i < dim; i++) {
        double r[GESS__LANES];
        for (size_t l = 0; l < GESS__LANES; l++) r[l] = in[i * GESS__LANES + l] - centre[i];
        for (size_t k = 0; k < i; k++)
            for (size_t l = 0; l < GESS__LANES; l++)
                r[l] = gess__fma(-chol[k * dim + i], out[k * GESS__LANES + l], r[l]);
        for (size_t l = 0; l < GESS__LANES; l++) out[i * GESS__LANES + l] = r[l] * inverse_diagonal[i];
    }
}

#endif
