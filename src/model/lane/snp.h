/* The sparse regression on SNPs (builtin/snp.c) at one point. C and CUDA compilers take this header.
 *
 * numbers, each part from its place on: y'y, half the number of individuals and the constant of the log density; H'H
 * with all SNPs in, then a row and a column of 0; H'y, then 0; P = chol(R)⁻¹ as panels (lane/panels.h) of PARTIALS rows
 * of P, each up to the last column in which one of its rows is not 0. */
#ifndef GESS_MODEL_LANE_SNP_H
#define GESS_MODEL_LANE_SNP_H

#include "model/lane/panels.h"

enum {
    GESS__SNP_COUNT = 35,
    GESS__SNP_FIRST = 3,                  /* where gamma_1 is in x */
    GESS__SNP_SIZE = 1 + GESS__SNP_COUNT, /* the largest k */
    GESS__SNP_CROSS = GESS__SNP_SIZE + 1, /* rows of H'H with that of 0 */
    GESS__SNP_NONE = GESS__SNP_SIZE,      /* the row of 0 */
    GESS__SNP_TRIANGLE = GESS__SNP_SIZE * (GESS__SNP_SIZE + 1) / 2,
    /* places in numbers */
    GESS__SNP_CROSS_AT = 8,
    GESS__SNP_SLANT_AT = GESS__SNP_CROSS_AT + GESS__SNP_CROSS * GESS__SNP_CROSS,
    GESS__SNP_PRIOR_AT = (GESS__SNP_SLANT_AT + GESS__SNP_CROSS + 7) / 8 * 8,
    GESS__SNP_NUMBERS = GESS__SNP_PRIOR_AT + (8 + 16 + 24 + 32 + GESS__SNP_COUNT) * GESS__PARTIALS
};

#define GESS__SNP_SHAPE 1e-6                /* c: shape and rate of the gamma priors */
#define GESS__SNP_CENTRE 2.3263478740408408 /* m0 */

/* The factorisation M = L diag(d) L' of a tile of `width` points, in the caller's memory; [i, l]: place i * width + l.
 */
typedef struct gess__snp_factor {
    size_t size;      /* rows: the maximum over the lanes */
    size_t *count;    /* [l]: rows per lane */
    uint32_t *member; /* [i, l], SIZE + 1 of them: row i of M is this row of H'H */
    double *pivot;    /* [i, l], SIZE of them: d */
    double *inverse;  /* the same: 1/d; or NULL */
    double *rows;     /* [row i + k, l], TRIANGLE of them: L below the diagonal; in row `size`, d⁻¹ L⁻¹ b */
} gess__snp_factor;

/* Where row i begins in the triangle: it has i numbers. */
GESS__INLINE size_t gess__snp_row(size_t i)
{
    return i * (i - 1) / 2;
}

/* Lists the rows of M: the intercept, then the SNPs that are in, ascending. */
GESS__INLINE void gess__snp_choose(size_t width, const double *GESS__RESTRICT tile, gess__snp_factor *f)
{
    for (size_t l = 0; l < width; l++) f->member[l] = 0;
    for (size_t i = 1; i <= GESS__SNP_SIZE; i++)
        for (size_t l = 0; l < width; l++) f->member[i * width + l] = GESS__SNP_NONE;
    f->size = 1;
    for (size_t l = 0; l < width; l++) {
        size_t count = 1;
        double bound = tile[2 * width + l];
        /* without branches: a SNP that is not in is overwritten by the next one */
        for (size_t j = 0; j < GESS__SNP_COUNT; j++) {
            f->member[count * width + l] = (uint32_t)(j + 1);
            count += tile[(GESS__SNP_FIRST + j) * width + l] > bound;
        }
        f->member[count * width + l] = GESS__SNP_NONE;
        f->count[l] = count;
        f->size = count > f->size ? count : f->size;
    }
}

/* Entry (i, j) of H'H in every lane. */
GESS__INLINE void gess__snp_gather(size_t width, const double *GESS__RESTRICT numbers, const uint32_t *member, size_t i,
                                   size_t j, double *GESS__RESTRICT m)
{
    const double *cross = numbers + GESS__SNP_CROSS_AT;
    for (size_t l = 0; l < width; l++) m[l] = cross[member[i * width + l] * GESS__SNP_CROSS + member[j * width + l]];
}

/* m - Σ_{k < j} row[k] v[k] */
GESS__INLINE void gess__snp_subtract(size_t width, size_t j, const double *row, const double *v, double *m)
{
    double sum[GESS__LANES];
    for (size_t l = 0; l < width; l++) sum[l] = m[l];
    for (size_t k = 0; k < j; k++)
        for (size_t l = 0; l < width; l++) sum[l] = gess__fma(-row[k * width + l], v[k * width + l], sum[l]);
    for (size_t l = 0; l < width; l++) m[l] = sum[l];
}

/* The same for rows i to i + 3, whose sums run side by side. */
GESS__INLINE void gess__snp_subtract_four(size_t width, size_t j, const double *rows, size_t i, const double *v,
                                          double m[4][GESS__LANES])
{
    const double *r0 = rows + gess__snp_row(i) * width, *r1 = rows + gess__snp_row(i + 1) * width;
    const double *r2 = rows + gess__snp_row(i + 2) * width, *r3 = rows + gess__snp_row(i + 3) * width;
    double m0[GESS__LANES], m1[GESS__LANES], m2[GESS__LANES], m3[GESS__LANES];
    for (size_t l = 0; l < width; l++) m0[l] = m[0][l];
    for (size_t l = 0; l < width; l++) m1[l] = m[1][l];
    for (size_t l = 0; l < width; l++) m2[l] = m[2][l];
    for (size_t l = 0; l < width; l++) m3[l] = m[3][l];
    for (size_t k = 0; k < j; k++) {
        size_t at = k * width;
        for (size_t l = 0; l < width; l++) m0[l] = gess__fma(-r0[at + l], v[at + l], m0[l]);
        for (size_t l = 0; l < width; l++) m1[l] = gess__fma(-r1[at + l], v[at + l], m1[l]);
        for (size_t l = 0; l < width; l++) m2[l] = gess__fma(-r2[at + l], v[at + l], m2[l]);
        for (size_t l = 0; l < width; l++) m3[l] = gess__fma(-r3[at + l], v[at + l], m3[l]);
    }
    for (size_t l = 0; l < width; l++) m[0][l] = m0[l];
    for (size_t l = 0; l < width; l++) m[1][l] = m1[l];
    for (size_t l = 0; l < width; l++) m[2][l] = m2[l];
    for (size_t l = 0; l < width; l++) m[3][l] = m3[l];
}

/* A column at a time. The row of b is one more row below M. */
GESS__INLINE void gess__snp_factorise(size_t width, const double *GESS__RESTRICT numbers,
                                      const double *GESS__RESTRICT lambda, gess__snp_factor *f)
{
    double v[GESS__SNP_SIZE * GESS__LANES], m[4][GESS__LANES], inverse[GESS__LANES];
    double *const rows = f->rows, *const pivot = f->pivot;
    const size_t size = f->size;
    for (size_t j = 0; j < size; j++) {
        const double *row = rows + gess__snp_row(j) * width;
        for (size_t k = 0; k < j; k++)
            for (size_t l = 0; l < width; l++) v[k * width + l] = row[k * width + l] * pivot[k * width + l];
        gess__snp_gather(width, numbers, f->member, j, j, m[0]);
        for (size_t l = 0; l < width; l++) m[0][l] += gess__select(j < f->count[l], lambda[l], 1.0);
        gess__snp_subtract(width, j, row, v, m[0]);
        for (size_t l = 0; l < width; l++) inverse[l] = 1.0 / m[0][l];
        for (size_t l = 0; l < width; l++) pivot[j * width + l] = m[0][l];
        if (f->inverse != NULL)
            for (size_t l = 0; l < width; l++) f->inverse[j * width + l] = inverse[l];
        size_t i = j + 1;
        for (; i + 4 <= size; i += 4) {
            for (size_t r = 0; r < 4; r++) gess__snp_gather(width, numbers, f->member, i + r, j, m[r]);
            gess__snp_subtract_four(width, j, rows, i, v, m);
            for (size_t r = 0; r < 4; r++)
                for (size_t l = 0; l < width; l++) rows[(gess__snp_row(i + r) + j) * width + l] = m[r][l] * inverse[l];
        }
        for (; i < size; i++) {
            gess__snp_gather(width, numbers, f->member, i, j, m[0]);
            gess__snp_subtract(width, j, rows + gess__snp_row(i) * width, v, m[0]);
            for (size_t l = 0; l < width; l++) rows[(gess__snp_row(i) + j) * width + l] = m[0][l] * inverse[l];
        }
        for (size_t l = 0; l < width; l++) m[0][l] = numbers[GESS__SNP_SLANT_AT + f->member[j * width + l]];
        gess__snp_subtract(width, j, rows + gess__snp_row(size) * width, v, m[0]);
        for (size_t l = 0; l < width; l++) rows[(gess__snp_row(size) + j) * width + l] = m[0][l] * inverse[l];
    }
}

/* M and its factors; log |M| and b'M⁻¹b. */
GESS__INLINE void gess__snp_fit(size_t width, const double *GESS__RESTRICT numbers, const double *GESS__RESTRICT tile,
                                gess__snp_factor *f, double *GESS__RESTRICT logs, double *GESS__RESTRICT fit)
{
    gess__snp_choose(width, tile, f);
    gess__snp_factorise(width, numbers, tile + width, f);
    const double *last = f->rows + gess__snp_row(f->size) * width;
    for (size_t l = 0; l < width; l++) logs[l] = fit[l] = 0.0;
    for (size_t j = 0; j < f->size; j++) {
        const double *z = last + j * width, *pivot = f->pivot + j * width;
        for (size_t l = 0; l < width; l++) logs[l] += gess__log(pivot[l]);
        for (size_t l = 0; l < width; l++) fit[l] = gess__fma(z[l] * pivot[l], z[l], fit[l]);
    }
}

/* The log density. count: rows of M; white: |P gamma|²; sane: 0, or NaN if a coordinate is not finite. */
GESS__INLINE double gess__snp_density(const double *numbers, const double x[GESS__SNP_FIRST], double count, double logs,
                                      double fit, double white, double sane)
{
    double nu = x[0], lambda = x[1], bound = x[2];
    double log_nu = gess__log(nu), log_lambda = gess__log(lambda), off = bound - GESS__SNP_CENTRE;
    double likelihood = gess__fma(-0.5 * nu, numbers[0] - fit, numbers[1] * log_nu) - 0.5 * (logs - count * log_lambda);
    double prior = gess__fma(GESS__SNP_SHAPE - 1.0, log_nu + log_lambda, -GESS__SNP_SHAPE * (nu + lambda)) -
                   0.5 * gess__fma(off, off, white);
    int inside = (nu > 0.0) & (lambda > 0.0) & (bound > 0.0) & (sane == 0.0);
    return gess__select(inside, likelihood + prior + numbers[2], -HUGE_VAL);
}

/* Needs 6 kB of local memory for L. */
GESS__INLINE double gess__lane_snp(size_t dim, const double *numbers, const double *x)
{
    double rows[GESS__SNP_TRIANGLE], pivot[GESS__SNP_SIZE], logs, fit, white = 0.0, sane = 0.0;
    uint32_t member[GESS__SNP_SIZE + 1];
    size_t count;
    gess__snp_factor f = {0, &count, member, pivot, NULL, rows};
    gess__snp_fit(1, numbers, x, &f, &logs, &fit);
    const double *panel = numbers + GESS__SNP_PRIOR_AT;
    const size_t snps = GESS__SNP_COUNT;
    for (size_t i = 0; i < snps; i += GESS__PARTIALS) {
        size_t depth = i + GESS__PARTIALS < snps ? i + GESS__PARTIALS : snps;
        double z[GESS__PARTIALS] = {0};
        gess__panel_add(depth, panel, x + GESS__SNP_FIRST, z);
        for (size_t r = 0; r < GESS__PARTIALS; r++) white = gess__fma(z[r], z[r], white);
        panel += depth * GESS__PARTIALS;
    }
    for (size_t i = 0; i < dim; i++) sane += x[i] - x[i];
    return gess__snp_density(numbers, x, (double)count, logs, fit, white, sane);
}

#endif
