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
#include "model/lane/snp.h"

#include <string.h>

enum {
    W = GESS__LANES,
    SNPS = GESS__SNP_COUNT,
    FIRST = GESS__SNP_FIRST,
    DIM = FIRST + SNPS,
    SIZE = GESS__SNP_SIZE,
    CROSS = GESS__SNP_CROSS,
    ROWS = (SNPS + GESS__GROUP - 1) / GESS__GROUP * GESS__GROUP /* of the prior's factor, padded */
};

static const double shape = GESS__SNP_SHAPE, centre = GESS__SNP_CENTRE;

typedef struct snp {
    double *numbers;           /* of lane/snp.h */
    double *cross, *slant;     /* parts of them: H'H and H'y */
    size_t stride;             /* SNPS; the code is faster if the compiler does not know it */
    double prior[ROWS * SNPS]; /* P = chol(R)⁻¹, row-major, 0 above the diagonal and past the last row */
} snp;

typedef gess__snp_factor factor;

/* Parts of one tile that the value and the gradient share. */
typedef struct parts {
    double logs[W];        /* log |M| */
    double fit[W];         /* b'M⁻¹b */
    double white[ROWS][W]; /* P gamma */
} parts;

/* Memory of the factorisation of a tile, and a factor in it. */
#define FACTOR(f)                                                                        \
    double f##_pivot[SIZE * W], f##_inverse[SIZE * W], f##_rows[GESS__SNP_TRIANGLE * W]; \
    uint32_t f##_member[(SIZE + 1) * W];                                                 \
    size_t f##_count[W];                                                                 \
    factor f = {0, f##_count, f##_member, f##_pivot, f##_inverse, f##_rows}

GESS__INLINE void weigh(const snp *g, const double *restrict tile, factor *f, parts *restrict p,
                        double *restrict density)
{
    const double *gamma = tile + FIRST * W;
    double sane[W] = {0}, prior[W] = {0};
    gess__snp_fit(W, g->numbers, tile, f, p->logs, p->fit);
    for (size_t i = 0; i < ROWS; i += GESS__GROUP) /* the tile is the panel, and the rows are its points */
        gess__panel_group(i + GESS__GROUP < SNPS ? i + GESS__GROUP : SNPS, gamma, g->prior + i * SNPS, g->stride,
                          &p->white[i]);
    for (size_t i = 0; i < SNPS; i++) GESS__FOR_LANES(l) prior[l] = gess__fma(p->white[i][l], p->white[i][l], prior[l]);
    for (size_t i = 0; i < DIM; i++) GESS__FOR_LANES(l) sane[l] += tile[i * W + l] - tile[i * W + l]; /* 0, or NaN */
    GESS__FOR_LANES(l)
    {
        const double x[FIRST] = {tile[l], tile[W + l], tile[2 * W + l]};
        density[l] = gess__snp_density(g->numbers, x, (double)f->count[l], p->logs[l], p->fit[l], prior[l], sane[l]);
    }
}

static GESS__VECTOR(logp_tile, (const snp *g, const double *restrict tile, double *restrict density),
                    (g, tile, density))
{
    FACTOR(f);
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
        GESS__FOR_LANES(l) trace[l] += gess__select(c < f->count[l], f->inverse[c * W + l], 0.0);
        for (size_t r = c + 1; r < f->size; r++) {
            const double *row = f->rows + gess__snp_row(r) * W;
            double m[W] = {0};
            for (size_t k = c; k < r; k++) GESS__FOR_LANES(l) m[l] = gess__fma(-row[k * W + l], column[k][l], m[l]);
            GESS__FOR_LANES(l) column[r][l] = m[l];
            GESS__FOR_LANES(l) trace[l] = gess__fma(m[l] * m[l], f->inverse[r * W + l], trace[l]);
        }
    }
    for (size_t i = f->size; i-- > 0;) {
        double m[W];
        GESS__FOR_LANES(l) m[l] = f->rows[(gess__snp_row(f->size) + i) * W + l];
        for (size_t k = f->size; k-- > i + 1;)
            GESS__FOR_LANES(l) m[l] = gess__fma(-f->rows[(gess__snp_row(k) + i) * W + l], column[k][l], m[l]);
        GESS__FOR_LANES(l) column[i][l] = m[l];
    }
    for (size_t i = 0; i < f->size; i++)
        GESS__FOR_LANES(l) weights[l] = gess__fma(column[i][l], column[i][l], weights[l]);
}

static GESS__VECTOR(gradient_tile,
                    (const snp *g, const double *restrict tile, double *restrict density, double *restrict slopes),
                    (g, tile, density, slopes))
{
    FACTOR(f);
    parts p;
    double trace[W], weights[W];
    const double *nu = tile, *lambda = tile + W, *bound = tile + 2 * W;
    const double square = g->numbers[0], half = g->numbers[1];
    weigh(g, tile, &f, &p, density);
    trace_and_weights(&f, trace, weights);
    GESS__FOR_LANES(l)
    {
        slopes[l] = (half + shape - 1.0) / nu[l] - 0.5 * (square - p.fit[l]) - shape;
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
        g->numbers[0] += row[0] * row[0];
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
    for (size_t i = 0; i < SNPS; i++) g->numbers[2] -= gess__log(l[i][i]);
    return GESS_OK;
}

static int fill(snp *g, const gess__table *data, const char *path, gess_error *err)
{
    if (data->columns != 1 + SNPS)
        return gess__fail(err, GESS_ERR_MODEL, "%s: %zu columns; the trait and %d SNPs are needed", path, data->columns,
                          SNPS);
    g->stride = SNPS;
    fill_products(g, data);
    g->numbers[1] = 0.5 * (double)data->rows;
    g->numbers[2] = 2.0 * (shape * gess__log(shape) - gess__log_gamma(shape)) -
                    0.5 * (double)(data->rows + 1 + SNPS) * GESS__LOG_2PI;
    GESS_TRY(fill_prior(g, (double)data->rows, path, err));
    double *panel = g->numbers + GESS__SNP_PRIOR_AT;
    for (size_t i = 0; i < SNPS; i += W)
        for (size_t k = 0; k < SNPS && k < i + W; k++, panel += W)
            GESS__FOR_LANES(l) panel[l] = g->prior[(i + l) * SNPS + k];
    return GESS_OK;
}

int gess__open_snp(gess__model *m, gess__parameters *p, gess_error *err)
{
    static const char *const literals[FIRST] = {"nu", "lambda", "gamma0"};
    snp *g = NULL;
    gess__table data;
    char path[4096];
    (void)p;
    GESS_MODEL_ALLOC(m, &g, 1, err);
    GESS_TRY(gess__model_lane(m, "snp", GESS__SNP_NUMBERS, &g->numbers, err));
    g->cross = g->numbers + GESS__SNP_CROSS_AT;
    g->slant = g->numbers + GESS__SNP_SLANT_AT;
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
