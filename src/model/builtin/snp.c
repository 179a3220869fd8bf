/* SNP covariates, after Engelhardt & Adams (2014): x = (nu, lambda, gamma0, gamma_1 .. gamma_35), the
 * first three positive. Regression weights and intercept are integrated out; SNP j is in the model if
 * gamma_j > gamma0, so the density has jumps:
 *
 *   log N(y; 0, nu⁻¹ (I + lambda⁻¹ (11' + G_in G_in'))) + log N(gamma; 0, R) + log N(gamma0; m0, 1)
 *     + log Gamma(nu; c, rate c) + log Gamma(lambda; c, rate c),
 *
 * c = 1e-6, m0 the 0.99 quantile of N(0, 1), G the 480 × 35 dosages of snp.csv, R their correlations.
 *
 * By Woodbury only M = H'H + lambda I is factorised, H = [1, G_in]; its size k is one plus the number of
 * SNPs that are in. M = L diag(d) L', and then the determinant is |M| / lambda^k and the quadratic form
 * nu (y'y - b'M⁻¹b), b = H'y. Points are evaluated in tiles; the lanes of a tile may have different SNPs in. A
 * lane with fewer SNPs than the others gets rows of the identity, which change none of its bits.
 * The gradient is that of the density between its jumps, so it is right almost everywhere. */
#include "model/builtin/builtin.h"

#include "base/special.h"

#include <string.h>

enum {
    W = GESS__LANES,
    SNPS = 35,
    FIRST = 3, /* where gamma_1 is in x */
    DIM = FIRST + SNPS,
    SIZE = 1 + SNPS, /* the largest k */
    NONE = SIZE,     /* the row of `cross` that is 0 */
    CROSS = SIZE + 1,
    ROWS = (SNPS + GESS__GROUP - 1) / GESS__GROUP * GESS__GROUP /* of the prior's factor, padded */
};

static const double shape = 1e-6;                /* c: shape and rate of the gamma priors */
static const double centre = 2.3263478740408408; /* m0 */

typedef struct snp {
    double cross[CROSS * CROSS]; /* H'H with all SNPs in, then a row and a column of 0 */
    double slant[CROSS];         /* H'y, then 0 */
    double square;               /* y'y */
    double half;                 /* individuals / 2 */
    double constant;
    size_t stride;             /* SNPS; the code is faster if the compiler does not know it */
    double prior[ROWS * SNPS]; /* P = chol(R)⁻¹, row-major, 0 above the diagonal and past the last row */
} snp;

/* The factorisation of a tile. */
typedef struct factor {
    size_t size;                             /* rows: the maximum over the lanes */
    size_t count[W];                         /* rows per lane */
    uint32_t member[SIZE + 1][W];            /* row i is this row of `cross` */
    double pivot[SIZE][W], inverse[SIZE][W]; /* d, 1/d */
    double rows[SIZE + 1][SIZE][W];          /* L below the diagonal; in row `size`, d⁻¹ L⁻¹ b */
} factor;

/* Parts of one tile that the value and the gradient share. */
typedef struct parts {
    double logs[W];        /* log |M| */
    double fit[W];         /* b'M⁻¹b */
    double white[ROWS][W]; /* P gamma */
    double prior[W];       /* its square */
} parts;

/* ---- the factorisation ---- */

/* Lists the rows of M: the intercept, then the SNPs that are in, ascending. */
GESS__INLINE void choose(const double *restrict tile, factor *restrict f)
{
    memset(f->member, 0, W * sizeof **f->member);
    for (size_t i = 1; i <= SIZE; i++) GESS__FOR_LANES(l) f->member[i][l] = NONE;
    f->size = 1;
    GESS__FOR_LANES(l)
    {
        size_t count = 1;
        double bound = tile[2 * W + l];
        for (size_t j = 0; j < SNPS; j++) { /* without branches: a SNP that is not in is overwritten by the next one */
            f->member[count][l] = (uint32_t)(j + 1);
            count += tile[(FIRST + j) * W + l] > bound;
        }
        f->member[count][l] = NONE;
        f->count[l] = count;
        f->size = count > f->size ? count : f->size;
    }
}

/* Entry (i, j) of H'H in every lane. */
GESS__INLINE void gather(const snp *g, const factor *f, size_t i, size_t j, double m[W])
{
    GESS__FOR_LANES(l) m[l] = g->cross[f->member[i][l] * CROSS + f->member[j][l]];
}

/* m - Σ_{k < j} row[k] v[k] */
GESS__INLINE void subtract(size_t j, double row[][W], double v[][W], double m[W])
{
    for (size_t k = 0; k < j; k++) GESS__FOR_LANES(l) m[l] = gess__fma(-row[k][l], v[k][l], m[l]);
}

/* The same for four rows, whose sums run side by side. */
GESS__INLINE void subtract_four(size_t j, double row[][SIZE][W], double v[][W], double m[4][W])
{
    double m0[W], m1[W], m2[W], m3[W];
    GESS__FOR_LANES(l) m0[l] = m[0][l];
    GESS__FOR_LANES(l) m1[l] = m[1][l];
    GESS__FOR_LANES(l) m2[l] = m[2][l];
    GESS__FOR_LANES(l) m3[l] = m[3][l];
    for (size_t k = 0; k < j; k++) {
        GESS__FOR_LANES(l) m0[l] = gess__fma(-row[0][k][l], v[k][l], m0[l]);
        GESS__FOR_LANES(l) m1[l] = gess__fma(-row[1][k][l], v[k][l], m1[l]);
        GESS__FOR_LANES(l) m2[l] = gess__fma(-row[2][k][l], v[k][l], m2[l]);
        GESS__FOR_LANES(l) m3[l] = gess__fma(-row[3][k][l], v[k][l], m3[l]);
    }
    GESS__FOR_LANES(l) m[0][l] = m0[l];
    GESS__FOR_LANES(l) m[1][l] = m1[l];
    GESS__FOR_LANES(l) m[2][l] = m2[l];
    GESS__FOR_LANES(l) m[3][l] = m3[l];
}

/* A column at a time. The row of b is one more row below M. */
GESS__INLINE void factorise(const snp *g, const double *restrict lambda, factor *restrict f)
{
    double v[SIZE][W], m[4][W];
    size_t size = f->size;
    for (size_t j = 0; j < size; j++) {
        for (size_t k = 0; k < j; k++) GESS__FOR_LANES(l) v[k][l] = f->rows[j][k][l] * f->pivot[k][l];
        gather(g, f, j, j, m[0]);
        GESS__FOR_LANES(l) m[0][l] += gess__select(j < f->count[l], lambda[l], 1.0);
        subtract(j, f->rows[j], v, m[0]);
        GESS__FOR_LANES(l) f->pivot[j][l] = m[0][l];
        GESS__FOR_LANES(l) f->inverse[j][l] = 1.0 / m[0][l];
        size_t i = j + 1;
        for (; i + 4 <= size; i += 4) {
            for (size_t r = 0; r < 4; r++) gather(g, f, i + r, j, m[r]);
            subtract_four(j, &f->rows[i], v, m);
            for (size_t r = 0; r < 4; r++) GESS__FOR_LANES(l) f->rows[i + r][j][l] = m[r][l] * f->inverse[j][l];
        }
        for (; i < size; i++) {
            gather(g, f, i, j, m[0]);
            subtract(j, f->rows[i], v, m[0]);
            GESS__FOR_LANES(l) f->rows[i][j][l] = m[0][l] * f->inverse[j][l];
        }
        GESS__FOR_LANES(l) m[0][l] = g->slant[f->member[j][l]];
        subtract(j, f->rows[size], v, m[0]);
        GESS__FOR_LANES(l) f->rows[size][j][l] = m[0][l] * f->inverse[j][l];
    }
}

/* ---- values ---- */

GESS__INLINE void weigh(const snp *g, const double *restrict tile, factor *restrict f, parts *restrict p,
                        double *restrict density)
{
    const double *nu = tile, *lambda = tile + W, *bound = tile + 2 * W, *gamma = tile + FIRST * W;
    double sane[W] = {0};
    choose(tile, f);
    factorise(g, lambda, f);
    GESS__FOR_LANES(l) p->logs[l] = p->fit[l] = p->prior[l] = 0.0;
    for (size_t j = 0; j < f->size; j++) {
        const double *z = f->rows[f->size][j];
        GESS__FOR_LANES(l) p->logs[l] += gess__log(f->pivot[j][l]);
        GESS__FOR_LANES(l) p->fit[l] = gess__fma(z[l] * f->pivot[j][l], z[l], p->fit[l]);
    }
    for (size_t i = 0; i < ROWS; i += GESS__GROUP) /* the tile is the panel, and the rows are its points */
        gess__panel_group(i + GESS__GROUP < SNPS ? i + GESS__GROUP : SNPS, gamma, g->prior + i * SNPS, g->stride,
                          &p->white[i]);
    for (size_t i = 0; i < SNPS; i++)
        GESS__FOR_LANES(l) p->prior[l] = gess__fma(p->white[i][l], p->white[i][l], p->prior[l]);
    for (size_t i = 0; i < DIM; i++) GESS__FOR_LANES(l) sane[l] += tile[i * W + l] - tile[i * W + l]; /* 0, or NaN */
    GESS__FOR_LANES(l)
    {
        double log_nu = gess__log(nu[l]), log_lambda = gess__log(lambda[l]), off = bound[l] - centre;
        double likelihood = gess__fma(-0.5 * nu[l], g->square - p->fit[l], g->half * log_nu) -
                            0.5 * (p->logs[l] - (double)f->count[l] * log_lambda);
        double prior = gess__fma(shape - 1.0, log_nu + log_lambda, -shape * (nu[l] + lambda[l])) -
                       0.5 * gess__fma(off, off, p->prior[l]);
        int inside = (nu[l] > 0.0) & (lambda[l] > 0.0) & (bound[l] > 0.0) & (sane[l] == 0.0);
        density[l] = gess__select(inside, likelihood + prior + g->constant, -HUGE_VAL);
    }
}

static GESS__VECTOR(logp_tile, (const snp *g, const double *restrict tile, double *restrict density),
                    (g, tile, density))
{
    factor f;
    parts p;
    weigh(g, tile, &f, &p, density);
}

/* tr M⁻¹ = Σ_rc (L⁻¹)²_rc / d_r over the rows of the lane, and |M⁻¹b|². */
GESS__INLINE void trace_and_weights(const factor *restrict f, double trace[W], double weights[W])
{
    double column[SIZE][W];
    GESS__FOR_LANES(l) trace[l] = weights[l] = 0.0;
    for (size_t c = 0; c < f->size; c++) {
        GESS__FOR_LANES(l) column[c][l] = 1.0;
        GESS__FOR_LANES(l) trace[l] += gess__select(c < f->count[l], f->inverse[c][l], 0.0);
        for (size_t r = c + 1; r < f->size; r++) {
            double m[W] = {0};
            for (size_t k = c; k < r; k++) GESS__FOR_LANES(l) m[l] = gess__fma(-f->rows[r][k][l], column[k][l], m[l]);
            GESS__FOR_LANES(l) column[r][l] = m[l];
            GESS__FOR_LANES(l) trace[l] = gess__fma(m[l] * m[l], f->inverse[r][l], trace[l]);
        }
    }
    for (size_t i = f->size; i-- > 0;) {
        double m[W];
        GESS__FOR_LANES(l) m[l] = f->rows[f->size][i][l];
        for (size_t k = f->size; k-- > i + 1;)
            GESS__FOR_LANES(l) m[l] = gess__fma(-f->rows[k][i][l], column[k][l], m[l]);
        GESS__FOR_LANES(l) column[i][l] = m[l];
    }
    for (size_t i = 0; i < f->size; i++)
        GESS__FOR_LANES(l) weights[l] = gess__fma(column[i][l], column[i][l], weights[l]);
}

static GESS__VECTOR(gradient_tile,
                    (const snp *g, const double *restrict tile, double *restrict density, double *restrict slopes),
                    (g, tile, density, slopes))
{
    factor f;
    parts p;
    double trace[W], weights[W];
    const double *nu = tile, *lambda = tile + W, *bound = tile + 2 * W;
    weigh(g, tile, &f, &p, density);
    trace_and_weights(&f, trace, weights);
    GESS__FOR_LANES(l)
    {
        slopes[l] = (g->half + shape - 1.0) / nu[l] - 0.5 * (g->square - p.fit[l]) - shape;
        slopes[W + l] = -0.5 * (trace[l] - (double)f.count[l] / lambda[l]) - 0.5 * nu[l] * weights[l] +
                        (shape - 1.0) / lambda[l] - shape;
        slopes[2 * W + l] = centre - bound[l];
    }
    for (size_t j = 0; j < SNPS; j++) {
        double sum[W] = {0};
        for (size_t i = j; i < SNPS; i++)
            GESS__FOR_LANES(l) sum[l] = gess__fma(-g->prior[i * SNPS + j], p.white[i][l], sum[l]);
        GESS__FOR_LANES(l) slopes[(FIRST + j) * W + l] = sum[l];
    }
    for (size_t i = 0; i < DIM; i++) GESS__FOR_LANES(l)
        {
            double outside = gess__from_bits(UINT64_C(0x7ff8000000000000));
            slopes[i * W + l] = gess__select(density[l] > -HUGE_VAL, slopes[i * W + l], outside);
        }
}

GESS__TILED(DIM)

static void start(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    memcpy(x, normals, dim * sizeof *x);
    for (size_t i = 0; i < FIRST; i++) x[i] = __builtin_fabs(x[i]);
}

/* ---- opening ---- */

/* H'H, H'y and y'y; column 0 of the data is y. */
static void fill_products(snp *g, const gess__table *data)
{
    for (size_t n = 0; n < data->rows; n++) {
        const double *row = data->values + n * data->columns;
        for (size_t i = 0; i < SIZE; i++) {
            double a = i == 0 ? 1.0 : row[i];
            for (size_t j = 0; j < SIZE; j++) g->cross[i * CROSS + j] += a * (j == 0 ? 1.0 : row[j]);
            g->slant[i] += a * row[0];
        }
        g->square += row[0] * row[0];
    }
}

/* P, from the correlations of the SNPs, and their part of the constant. */
static int fill_prior(snp *g, double individuals, const char *path, gess_error *err)
{
    double covariance[SNPS][SNPS], l[SNPS][SNPS] = {{0}}, p[SNPS][SNPS] = {{0}};
    for (size_t i = 0; i < SNPS; i++)
        for (size_t j = 0; j < SNPS; j++)
            covariance[i][j] = g->cross[(i + 1) * CROSS + j + 1] -
                               g->cross[i + 1] * g->cross[j + 1] / individuals; /* sums over individuals */
    for (size_t i = 0; i < SNPS; i++)
        for (size_t j = 0; j <= i; j++) {
            double r = covariance[i][j] / __builtin_sqrt(covariance[i][i] * covariance[j][j]);
            for (size_t k = 0; k < j; k++) r -= l[i][k] * l[j][k];
            if (i == j && !(r > 1e-12))
                return gess__fail(err, GESS_ERR_MODEL,
                                  "%s: the SNP in column %zu is constant or a combination of those before it; "
                                  "leave it out",
                                  path, i + 2);
            l[i][j] = i == j ? __builtin_sqrt(r) : r / l[j][j];
        }
    for (size_t j = 0; j < SNPS; j++)
        for (size_t i = j; i < SNPS; i++) {
            double sum = i == j ? 1.0 : 0.0;
            for (size_t k = j; k < i; k++) sum -= l[i][k] * p[k][j];
            p[i][j] = sum / l[i][i];
            g->prior[i * SNPS + j] = p[i][j];
        }
    for (size_t i = 0; i < SNPS; i++) g->constant -= gess__log(l[i][i]);
    return GESS_OK;
}

static int fill(snp *g, const gess__table *data, const char *path, gess_error *err)
{
    if (data->columns != 1 + SNPS)
        return gess__fail(err, GESS_ERR_MODEL, "%s: %zu columns; the trait and %d SNPs are needed", path, data->columns,
                          SNPS);
    g->stride = SNPS;
    fill_products(g, data);
    g->half = 0.5 * (double)data->rows;
    g->constant = 2.0 * (shape * gess__log(shape) - gess__log_gamma(shape)) -
                  0.5 * (double)(data->rows + 1 + SNPS) * GESS__LOG_2PI;
    return fill_prior(g, (double)data->rows, path, err);
}

int gess__open_snp(gess__model *m, gess__parameters *p, gess_error *err)
{
    static const char *const literals[FIRST] = {"nu", "lambda", "gamma0"};
    snp *g = NULL;
    gess__table data;
    char path[4096];
    (void)p;
    GESS_MODEL_ALLOC(m, &g, 1, err);
    GESS_TRY(gess__data_table("snp.csv", &data, path, err));
    int status = fill(g, &data, path, err);
    if (status == GESS_OK) status = gess__model_copy_names(m, FIRST, literals, SNPS, data.names + 1, err);
    m->model.observations = data.rows;
    gess__table_free(&data);
    m->model.dim = DIM;
    m->model.logp = logp;
    m->model.gradient = gradient;
    m->model.start = start;
    GESS_TRY(gess__model_positive(m, 3, err));
    m->model.user = g;
    return status;
}
