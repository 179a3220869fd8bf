/* Gaussian-process regression: x = length scales l_d > 0 of the 34 columns of ionosphere.csv,
 *
 *   log π(x) = log N(y; 0, K) + Σ_d log Exp(l_d; rate 0.1),
 *   K_ij = exp(-½ Σ_d (a_id - a_jd)² / l_d²) + noise [i = j],
 *
 * first `points` rows, raw inputs, y = +1 good, -1 bad. The second column is constant, so that l2 is
 * Exp(0.1) for any data: mean 10, standard deviation 10.
 *
 * Points are evaluated one at a time, so a value cannot depend on its batch; vectors run along the columns of K.
 * The lower triangle is kept as tiles of 8 × 8 (row-major), tile (I, J) being number I (I + 1) / 2 + J.
 * Row `points` holds y: when the factorisation K = LL' is done it holds (L⁻¹ y)'. Rows beyond are 0. */
#include "model/builtin/builtin.h"

#include <string.h>

enum {
    W = GESS__LANES,
    TILE = W * W,
    DIM = 34,
    MAX_POINTS = 351, /* rows of the file */
    MAX_BLOCKS = (MAX_POINTS + W) / W
};

static const double rate = 0.1;
static const double smallest_scale = 1e-150; /* at or below it, 1 / l² may overflow: outside the support */

typedef struct ionosphere {
    size_t dim;            /* DIM */
    size_t points, blocks; /* blocks of 8 rows, that of y included */
    double noise, constant;
    double *inputs; /* blocks × DIM × W: coordinate d of eight rows side by side, 0 past the last */
    double *rows;   /* the same, blocks × W × DIM */
    double *labels; /* blocks × W: y, 0 past the last */
} ionosphere;

/* Memory of one evaluation; 110 kB of it are used for 100 points and 720 kB for all 351. It is on the stack, because
 * nothing may be allocated during sampling and threads have megabytes of stack. */
typedef struct scratch {
    _Alignas(64) double scaled[MAX_BLOCKS * DIM * W];                    /* inputs / (l √2) */
    _Alignas(64) double rows[MAX_BLOCKS * W * DIM];                      /* the same, row-major */
    _Alignas(64) double panel[MAX_BLOCKS * TILE];                        /* a row of tiles, transposed */
    _Alignas(64) double tiles[MAX_BLOCKS * (MAX_BLOCKS + 1) / 2 * TILE]; /* K, then L, then L⁻¹ */
} scratch;

typedef double tile[W][W];

/* Tiles (row, 0), (row, 1), … follow one another. */
GESS__INLINE double *tile_at(double *tiles, size_t row, size_t column)
{
    return tiles + (row * (row + 1) / 2 + column) * TILE;
}

/* Rows of the last block that hold data; y is the next row. */
GESS__INLINE size_t rest(const ionosphere *g)
{
    return g->points % W;
}

/* ---- products of tiles ---- */

/* z = Σ over `count` pairs of tiles of A·B, or A'·B if `transposed`. The tiles of B are consecutive or, if column > 0,
 * go down a column of tiles, from tile (column - 1, ·) on. The tiles of A are consecutive or, if `transposed`, go down
 * the same rows. */
GESS__INLINE void multiply(size_t count, const double *restrict a, const double *restrict b, size_t column,
                           int transposed, tile z)
{
    const size_t row = transposed ? 1 : W, next = transposed ? W : 1;
    double z0[W] = {0}, z1[W] = {0}, z2[W] = {0}, z3[W] = {0};
    double z4[W] = {0}, z5[W] = {0}, z6[W] = {0}, z7[W] = {0};
    for (size_t n = 0; n < count; n++) {
        const double *v = b, *c = a;
        size_t down = (column + n) * TILE;
        for (size_t k = 0; k < W; k++, v += W, c += next) {
            GESS__FOR_LANES(l) z0[l] = gess__fma(v[l], c[0], z0[l]);
            GESS__FOR_LANES(l) z1[l] = gess__fma(v[l], c[row], z1[l]);
            GESS__FOR_LANES(l) z2[l] = gess__fma(v[l], c[2 * row], z2[l]);
            GESS__FOR_LANES(l) z3[l] = gess__fma(v[l], c[3 * row], z3[l]);
            GESS__FOR_LANES(l) z4[l] = gess__fma(v[l], c[4 * row], z4[l]);
            GESS__FOR_LANES(l) z5[l] = gess__fma(v[l], c[5 * row], z5[l]);
            GESS__FOR_LANES(l) z6[l] = gess__fma(v[l], c[6 * row], z6[l]);
            GESS__FOR_LANES(l) z7[l] = gess__fma(v[l], c[7 * row], z7[l]);
        }
        a += transposed ? down : TILE;
        b += column > 0 ? down : TILE;
    }
    GESS__FOR_LANES(l) z[0][l] = z0[l];
    GESS__FOR_LANES(l) z[1][l] = z1[l];
    GESS__FOR_LANES(l) z[2][l] = z2[l];
    GESS__FOR_LANES(l) z[3][l] = z3[l];
    GESS__FOR_LANES(l) z[4][l] = z4[l];
    GESS__FOR_LANES(l) z[5][l] = z5[l];
    GESS__FOR_LANES(l) z[6][l] = z6[l];
    GESS__FOR_LANES(l) z[7][l] = z7[l];
}

/* ---- the covariance ---- */

GESS__INLINE void scale_inputs(const ionosphere *g, const double *restrict x, scratch *restrict s)
{
    double factor[DIM];
    for (size_t d = 0; d < DIM; d++) factor[d] = 0.70710678118654752440 / x[d];
    for (size_t b = 0; b < g->blocks; b++)
        for (size_t d = 0; d < DIM; d++)
            GESS__FOR_LANES(l) s->scaled[(b * DIM + d) * W + l] = g->inputs[(b * DIM + d) * W + l] * factor[d];
    for (size_t i = 0; i < g->blocks * W; i++)
        for (size_t d = 0; d < DIM; d++) s->rows[i * DIM + d] = g->rows[i * DIM + d] * factor[d];
}

/* exp(-Σ_d (u_rd - v_dc)²): u eight of `rows`, v a block of `scaled`. `stride` is always DIM; if the compiler knew it,
 * it would permute vectors of u, and broadcasts are faster. */
GESS__INLINE void similarities(size_t stride, const double *restrict u, const double *restrict v, tile k)
{
    double s0[W] = {0}, s1[W] = {0}, s2[W] = {0}, s3[W] = {0};
    double s4[W] = {0}, s5[W] = {0}, s6[W] = {0}, s7[W] = {0};
    for (size_t d = 0; d < DIM; d++, u++, v += W) {
        GESS__FOR_LANES(l) s0[l] = gess__fma(v[l] - u[0], v[l] - u[0], s0[l]);
        GESS__FOR_LANES(l) s1[l] = gess__fma(v[l] - u[stride], v[l] - u[stride], s1[l]);
        GESS__FOR_LANES(l) s2[l] = gess__fma(v[l] - u[2 * stride], v[l] - u[2 * stride], s2[l]);
        GESS__FOR_LANES(l) s3[l] = gess__fma(v[l] - u[3 * stride], v[l] - u[3 * stride], s3[l]);
        GESS__FOR_LANES(l) s4[l] = gess__fma(v[l] - u[4 * stride], v[l] - u[4 * stride], s4[l]);
        GESS__FOR_LANES(l) s5[l] = gess__fma(v[l] - u[5 * stride], v[l] - u[5 * stride], s5[l]);
        GESS__FOR_LANES(l) s6[l] = gess__fma(v[l] - u[6 * stride], v[l] - u[6 * stride], s6[l]);
        GESS__FOR_LANES(l) s7[l] = gess__fma(v[l] - u[7 * stride], v[l] - u[7 * stride], s7[l]);
    }
    GESS__FOR_LANES(l) k[0][l] = gess__exp_minus(s0[l]);
    GESS__FOR_LANES(l) k[1][l] = gess__exp_minus(s1[l]);
    GESS__FOR_LANES(l) k[2][l] = gess__exp_minus(s2[l]);
    GESS__FOR_LANES(l) k[3][l] = gess__exp_minus(s3[l]);
    GESS__FOR_LANES(l) k[4][l] = gess__exp_minus(s4[l]);
    GESS__FOR_LANES(l) k[5][l] = gess__exp_minus(s5[l]);
    GESS__FOR_LANES(l) k[6][l] = gess__exp_minus(s6[l]);
    GESS__FOR_LANES(l) k[7][l] = gess__exp_minus(s7[l]);
}

/* K, with y in its row, and in its column of the last diagonal tile, which is symmetric like the others. */
GESS__INLINE void covariance(const ionosphere *g, scratch *restrict s)
{
    size_t last = g->blocks - 1;
    tile k;
    for (size_t i = 0; i < g->blocks; i++)
        for (size_t j = 0; j <= i; j++) {
            double *to = tile_at(s->tiles, i, j);
            similarities(g->dim, s->rows + i * W * DIM, s->scaled + j * DIM * W, k);
            if (i == j)
                for (size_t r = 0; r < W; r++) k[r][r] += g->noise;
            if (i == last)
                for (size_t r = rest(g); r < W; r++)
                    GESS__FOR_LANES(l) k[r][l] = r == rest(g) ? g->labels[j * W + l] : 0.0;
            if (j == last)
                for (size_t r = 0; r < W; r++)
                    for (size_t l = rest(g); l < W; l++) k[r][l] = l == rest(g) ? g->labels[j * W + r] : 0.0;
            for (size_t r = 0; r < W; r++) GESS__FOR_LANES(l) to[r * W + l] = k[r][l];
        }
}

/* ---- the factorisation ---- */

/* Factorises the first `live` columns of the symmetric tile d, by elimination of [d | I] without square roots: `to`
 * gets L (0 above the diagonal and in the other columns), `inverse` the transpose of L⁻¹, `pivot` the pivots (1 in the
 * other columns). */
GESS__INLINE void factorise_tile(size_t live, tile d, double *restrict to, tile inverse, double pivot[W])
{
    tile e;
    double root[W];
    for (size_t r = 0; r < W; r++) GESS__FOR_LANES(l) e[r][l] = r == l ? 1.0 : 0.0;
    GESS__FOR_LANES(l) pivot[l] = 1.0;
    for (size_t c = 0; c < live; c++) {
        double over;
        pivot[c] = d[c][c];
        over = -1.0 / pivot[c];
        for (size_t r = c + 1; r < W; r++) {
            double factor = d[c][r] * over;
            GESS__FOR_LANES(l) d[r][l] = gess__fma(factor, d[c][l], d[r][l]);
            GESS__FOR_LANES(l) e[r][l] = gess__fma(factor, e[c][l], e[r][l]);
        }
    }
    GESS__FOR_LANES(l) root[l] = 1.0 / __builtin_sqrt(pivot[l]);
    for (size_t r = 0; r < W; r++)
        for (size_t c = 0; c < W; c++) {
            to[r * W + c] = c <= r && c < live ? d[c][r] * root[c] : 0.0;
            inverse[r][c] = r <= c && c < live ? e[c][r] * root[c] : 0.0;
        }
}

/* K = LL', left-looking, a column of tiles at a time. If `inverses`, the diagonal tiles are replaced by their inverses.
 * Returns log |L|; NaN if K is not positive definite within rounding. */
GESS__INLINE double factorise(const ionosphere *g, scratch *restrict s, int inverses)
{
    double logs[W] = {0}, smallest[W], pivot[W];
    tile z, d, inverse;
    GESS__FOR_LANES(l) smallest[l] = 1.0;
    for (size_t j = 0; j < g->blocks; j++) {
        double *row = tile_at(s->tiles, j, 0), *diagonal = row + j * TILE;
        for (size_t k = 0; k < j; k++)
            for (size_t r = 0; r < W; r++)
                GESS__FOR_LANES(l) s->panel[k * TILE + r * W + l] = row[k * TILE + l * W + r];
        multiply(j, row, s->panel, 0, 0, z);
        for (size_t r = 0; r < W; r++) GESS__FOR_LANES(l) d[r][l] = diagonal[r * W + l] - z[r][l];
        factorise_tile(j + 1 < g->blocks ? W : rest(g), d, diagonal, inverse, pivot);
        GESS__FOR_LANES(l) logs[l] += gess__log(pivot[l]);
        GESS__FOR_LANES(l) smallest[l] = gess__select(pivot[l] > smallest[l], smallest[l], pivot[l]);
        for (size_t i = j + 1; i < g->blocks; i++) {
            double *to = tile_at(s->tiles, i, j);
            multiply(j, tile_at(s->tiles, i, 0), s->panel, 0, 0, z);
            for (size_t r = 0; r < W; r++) GESS__FOR_LANES(l) d[r][l] = to[r * W + l] - z[r][l];
            multiply(1, &d[0][0], &inverse[0][0], 0, 0, z);
            for (size_t r = 0; r < W; r++) GESS__FOR_LANES(l) to[r * W + l] = z[r][l];
        }
        if (inverses) {
            /* the rows below are done; y's row of the last tile stays, for density() */
            size_t rows = j + 1 < g->blocks ? W : rest(g);
            for (size_t r = 0; r < rows; r++) GESS__FOR_LANES(l) diagonal[r * W + l] = inverse[l][r];
        }
    }
    int good = 1;
    GESS__FOR_LANES(l) good &= smallest[l] > 0.0;
    return good ? 0.5 * gess__lane_sum(logs) : (double)NAN;
}

/* A block of the row y of L: eight elements of L⁻¹ y. */
GESS__INLINE const double *whitened(const ionosphere *g, scratch *s, size_t block)
{
    return tile_at(s->tiles, g->blocks - 1, block) + rest(g) * W;
}

GESS__INLINE double density(const ionosphere *g, scratch *restrict s, const double *restrict x, double logs)
{
    double square[W] = {0}, sum = 0.0;
    for (size_t b = 0; b < g->blocks; b++) {
        const double *z = whitened(g, s, b);
        GESS__FOR_LANES(l) square[l] = gess__fma(z[l], z[l], square[l]);
    }
    for (size_t d = 0; d < DIM; d++) sum += x[d];
    return gess__fma(-0.5, gess__lane_sum(square), -logs) - gess__fma(rate, sum, g->constant);
}

/* ---- values ---- */

static int inside(const double *x)
{
    int good = 1;
    for (size_t d = 0; d < DIM; d++) good &= x[d] > smallest_scale && x[d] - x[d] == 0.0;
    return good;
}

static GESS__VECTOR_VALUE(double, logp_one, (const ionosphere *g, scratch *restrict s, const double *restrict x),
                          (g, s, x))
{
    scale_inputs(g, x, s);
    covariance(g, s);
    double logs = factorise(g, s, 0);
    return density(g, s, x, logs);
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    scratch s;
    (void)worker;
    for (size_t j = 0; j < n; j++) out[j] = inside(x + j * dim) ? logp_one(user, &s, x + j * dim) : -HUGE_VAL;
    return 0;
}

/* ---- gradients ---- */

/* Replaces L, whose diagonal tiles are inverted already, by L⁻¹, row by row:
 * (L⁻¹)_IJ = -(L_II)⁻¹ Σ_K L_IK (L⁻¹)_KJ, J <= K < I. */
GESS__INLINE void invert(const ionosphere *g, scratch *restrict s)
{
    tile z, product;
    for (size_t i = 1; i < g->blocks; i++)
        for (size_t j = 0; j < i; j++) {
            double *to = tile_at(s->tiles, i, j);
            multiply(i - j, to, tile_at(s->tiles, j, j), j + 1, 0, z);
            multiply(1, tile_at(s->tiles, i, i), &z[0][0], 0, 0, product);
            for (size_t r = 0; r < W; r++) GESS__FOR_LANES(l) to[r * W + l] = -product[r][l];
        }
}

/* ∂/∂l_d = Σ_{i > j} (α_i α_j - K⁻¹_ij) e_ij (a_id - a_jd)² / l_d³ - rate with α = K⁻¹y and e = K
 * without the noise; K⁻¹ = (L⁻¹)'L⁻¹ is computed a tile at a time. */
static GESS__VECTOR_VALUE(double, gradient_one,
                          (const ionosphere *g, scratch *restrict s, const double *restrict x, double *restrict slope),
                          (g, s, x, slope))
{
    double alpha[MAX_BLOCKS][W], white[MAX_BLOCKS][W], sums[DIM][W] = {{0}};
    tile z, k;
    scale_inputs(g, x, s);
    covariance(g, s);
    double logs = factorise(g, s, 1), value = density(g, s, x, logs);
    for (size_t b = 0; b < g->blocks; b++) {
        const double *row = whitened(g, s, b);
        GESS__FOR_LANES(l) white[b][l] = row[l];
    }
    for (size_t b = 0; b < g->blocks; b++)
        for (size_t r = rest(g); r < W; r++) GESS__FOR_LANES(l) tile_at(s->tiles, g->blocks - 1, b)[r * W + l] = 0.0;
    invert(g, s);
    for (size_t j = 0; j < g->blocks; j++) {
        double sum[W] = {0};
        for (size_t i = j; i < g->blocks; i++)
            for (size_t r = 0; r < W; r++)
                GESS__FOR_LANES(l) sum[l] = gess__fma(tile_at(s->tiles, i, j)[r * W + l], white[i][r], sum[l]);
        GESS__FOR_LANES(l) alpha[j][l] = sum[l];
    }
    for (size_t i = 0; i < g->blocks; i++)
        for (size_t j = 0; j <= i; j++) {
            const double *u = s->rows + i * W * DIM, *v = s->scaled + j * DIM * W;
            double weight = i == j ? 0.5 : 1.0; /* diagonal tiles have every pair twice */
            multiply(g->blocks - i, tile_at(s->tiles, i, i), tile_at(s->tiles, i, j), i + 1, 1, z);
            similarities(g->dim, u, v, k);
            for (size_t r = 0; r < W; r++)
                GESS__FOR_LANES(l) k[r][l] *= weight * gess__fma(alpha[i][r], alpha[j][l], -z[r][l]);
            for (size_t d = 0; d < DIM; d++)
                for (size_t r = 0; r < W; r++) GESS__FOR_LANES(l)
                    {
                        double difference = v[d * W + l] - u[r * DIM + d];
                        sums[d][l] = gess__fma(k[r][l] * difference, difference, sums[d][l]);
                    }
        }
    for (size_t d = 0; d < DIM; d++) slope[d] = 2.0 * gess__lane_sum(sums[d]) / x[d] - rate;
    return value;
}

static int gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out, double *slopes)
{
    scratch s;
    (void)worker;
    for (size_t j = 0; j < n; j++) {
        if (inside(x + j * dim)) {
            out[j] = gradient_one(user, &s, x + j * dim, slopes + j * dim);
            continue;
        }
        out[j] = -HUGE_VAL;
        for (size_t d = 0; d < dim; d++) slopes[j * dim + d] = (double)NAN;
    }
    return 0;
}

static void start(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    for (size_t d = 0; d < dim; d++) x[d] = __builtin_fabs(1.0 + normals[d]);
}

/* ---- opening ---- */

static int fill(gess__model *m, ionosphere *g, const gess__table *data, const char *path, gess_error *err)
{
    if (data->columns != DIM + 1 || data->rows < g->points)
        return gess__fail(err, GESS_ERR_MODEL, "%s: %zu rows and %zu columns; %zu rows and %d columns are needed", path,
                          data->rows, data->columns, g->points, DIM + 1);
    g->dim = DIM;
    g->blocks = g->points / W + 1;
    g->constant = 0.5 * (double)g->points * GESS__LOG_2PI - DIM * gess__log(rate);
    GESS_MODEL_ALLOC(m, &g->inputs, g->blocks * DIM * W, err);
    GESS_MODEL_ALLOC(m, &g->rows, g->blocks * W * DIM, err);
    GESS_MODEL_ALLOC(m, &g->labels, g->blocks * W, err);
    for (size_t i = 0; i < g->points; i++) {
        const double *row = data->values + i * data->columns;
        for (size_t d = 0; d < DIM; d++) g->inputs[(i / W * DIM + d) * W + i % W] = g->rows[i * DIM + d] = row[d];
        g->labels[i] = row[DIM] == 1.0 ? 1.0 : -1.0;
    }
    return GESS_OK;
}

int gess__open_ionosphere(gess__model *m, gess__parameters *p, gess_error *err)
{
    ionosphere *g = NULL;
    gess__table data;
    char path[4096];
    GESS_MODEL_ALLOC(m, &g, 1, err);
    GESS_TRY(gess__parameter_count(p, "points", 100, 1, MAX_POINTS, &g->points, err));
    GESS_TRY(gess__parameter_real(p, "noise", 0.01, 1e-10, 1e10, &g->noise, err));
    GESS_TRY(gess__data_table("ionosphere.csv", &data, path, err));
    int status = fill(m, g, &data, path, err);
    gess__table_free(&data);
    if (status == GESS_OK) status = gess__model_number_names(m, "l", 1, DIM, err);
    m->model.dim = DIM;
    m->model.observations = g->points;
    m->model.logp = logp;
    m->model.gradient = gradient;
    m->model.start = start;
    GESS_TRY(gess__model_positive(m, m->model.dim, err));
    m->model.user = g;
    return status;
}
