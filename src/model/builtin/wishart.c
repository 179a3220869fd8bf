/* N(0, A⁻¹) with a precision matrix A ~ Wishart(I, dim): A = ZZ', Z a dim × dim matrix of standard
 * normals that depends on the seed only; or with A from a file.
 *
 * With A = LL' the log density is -|L'x|²/2 + Σ log L_ii - dim/2 log(2π). The columns of L are kept
 * as panels (builtin.h) of LANES columns from the panel's first row on, and A's as whole panels for
 * the gradient -Ax; no scratch is needed for any dimension. */
#include "model/builtin/builtin.h"

#include "base/csv.h"
#include "base/rng.h"
#include "model/lane/wishart.h"

#include <stdlib.h>
#include <string.h>

enum { W = GESS__LANES, MAX_DIM = 2000 };

typedef struct wishart {
    size_t dim, panels;
    const double *numbers; /* of lane/wishart.h */
    double *factor;        /* its panels of L */
    size_t *offset;        /* where panel b begins in factor */
    double *precision;     /* panels × dim × W: columns of A, 0 past the last */
} wishart;

static GESS__VECTOR(logp_group, (const wishart *g, const double *restrict x, double *restrict logp), (g, x, logp))
{
    double y[GESS__GROUP][W], square[GESS__GROUP][W] = {{0}};
    for (size_t b = 0; b < g->panels; b++) {
        gess__panel_group(g->dim - b * W, g->factor + g->offset[b], x + b * W, g->dim, y);
        for (size_t p = 0; p < GESS__GROUP; p++) gess__wishart_add(y[p], square[p]);
    }
    for (size_t p = 0; p < GESS__GROUP; p++) logp[p] = gess__wishart_density(g->numbers, square[p]);
}

/* Four panels at a time: first the rows that only some of the panels have, then the common rows. */
static GESS__VECTOR_VALUE(double, logp_one, (const wishart *g, const double *restrict x), (g, x))
{
    double square[W] = {0};
    size_t b = 0;
    for (; b + 4 <= g->panels; b += 4) {
        const double *panel[4];
        double y[4][W] = {{0}};
        for (size_t j = 0; j < 4; j++) {
            size_t head = (3 - j) * W;
            panel[j] = g->factor + g->offset[b + j];
            gess__panel_add(head, panel[j], x + (b + j) * W, y[j]);
            panel[j] += head * W;
        }
        gess__panel_add_four(g->dim - (b + 3) * W, panel, x + (b + 3) * W, y);
        for (size_t j = 0; j < 4; j++) gess__wishart_add(y[j], square);
    }
    for (; b < g->panels; b++) {
        double y[W] = {0};
        gess__panel_add(g->dim - b * W, g->factor + g->offset[b], x + b * W, y);
        gess__wishart_add(y, square);
    }
    return gess__wishart_density(g->numbers, square);
}

/* A group costs as much as two single points. So the last points of a batch are evaluated as a group that overlaps the
 * one before, which gives the same bits again; a batch smaller than a group is padded to one. */
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    enum { MAX_PADDED_DIM = 256 };
    (void)worker;
    size_t j = 0;
    for (; j + GESS__GROUP <= n; j += GESS__GROUP) logp_group(user, x + j * dim, out + j);
    if (n - j >= 2 && j > 0) {
        logp_group(user, x + (n - GESS__GROUP) * dim, out + (n - GESS__GROUP));
        j = n;
    } else if (n - j >= 3 && dim <= MAX_PADDED_DIM) {
        double rows[GESS__GROUP * MAX_PADDED_DIM], values[GESS__GROUP];
        for (size_t p = 0; p < GESS__GROUP; p++) memcpy(rows + p * dim, x + (p < n ? p : 0) * dim, dim * sizeof *rows);
        logp_group(user, rows, values);
        memcpy(out, values, n * sizeof *out);
        j = n;
    }
    for (; j < n; j++) out[j] = logp_one(user, x + j * dim);
    return 0;
}

/* Writes the coordinates of the gradient that panel b has. */
GESS__INLINE void store(const wishart *g, size_t b, const double y[W], double *slope)
{
    size_t first = b * W, columns = g->dim - first < W ? g->dim - first : W;
    for (size_t l = 0; l < columns; l++) slope[first + l] = -y[l];
}

static GESS__VECTOR(gradient_group, (const wishart *g, const double *restrict x, double *restrict slopes),
                    (g, x, slopes))
{
    double y[GESS__GROUP][W];
    for (size_t b = 0; b < g->panels; b++) {
        gess__panel_group(g->dim, g->precision + b * W * g->dim, x, g->dim, y);
        for (size_t p = 0; p < GESS__GROUP; p++) store(g, b, y[p], slopes + p * g->dim);
    }
}

static GESS__VECTOR(gradient_one, (const wishart *g, const double *restrict x, double *restrict slope), (g, x, slope))
{
    size_t b = 0, apart = g->dim * W;
    for (; b + 4 <= g->panels; b += 4) {
        const double *a = g->precision + b * apart, *const panel[4] = {a, a + apart, a + 2 * apart, a + 3 * apart};
        double y[4][W] = {{0}};
        gess__panel_add_four(g->dim, panel, x, y);
        for (size_t j = 0; j < 4; j++) store(g, b + j, y[j], slope);
    }
    for (; b < g->panels; b++) {
        double y[W] = {0};
        gess__panel_add(g->dim, g->precision + b * apart, x, y);
        store(g, b, y, slope);
    }
}

static int gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out, double *slopes)
{
    size_t j = 0;
    for (; j + GESS__GROUP <= n; j += GESS__GROUP) gradient_group(user, x + j * dim, slopes + j * dim);
    for (; j < n; j++) gradient_one(user, x + j * dim, slopes + j * dim);
    return logp(user, worker, n, dim, x, out);
}

/* ---- opening ---- */

/* A = ZZ' into a (dim × dim). Row r of Z depends on (seed, r) only. */
static int draw_precision(size_t dim, uint64_t seed, double **a, gess_error *err)
{
    double *z = NULL;
    GESS_ALLOC(a, dim * dim, err);
    GESS_ALLOC(&z, dim * dim, err);
    for (size_t r = 0; r < dim; r++) {
        gess__key key = {.seed = seed, .iteration = 0, .chain = (uint32_t)r, .purpose = GESS__FOR_MODEL};
        gess__normals(key, dim, z + r * dim);
    }
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j <= i; j++) {
            double value = gess__dot(dim, z + i * dim, z + j * dim);
            (*a)[i * dim + j] = value;
            (*a)[j * dim + i] = value;
        }
    free(z);
    return GESS_OK;
}

/* Reads A from a file. The caller frees *a, also after a failure. */
static int read_precision(const char *path, size_t *dim, double **a, gess_error *err)
{
    gess__table table;
    if (gess__table_read(&table, path, err) != GESS_OK)
        return gess__blame(err, GESS_ERR_MODEL, "model wishart: precision matrix");
    size_t n = table.columns;
    *dim = n;
    *a = table.values;
    table.values = NULL;
    size_t rows = table.rows;
    gess__table_free(&table);
    if (rows != n)
        return gess__fail(err, GESS_ERR_MODEL, "%s: %zu rows and %zu columns; a precision matrix must be square", path,
                          rows, n);
    if (n > MAX_DIM) return gess__fail(err, GESS_ERR_MODEL, "%s: %zu rows; at most %d are supported", path, n, MAX_DIM);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double lower = (*a)[i * n + j], upper = (*a)[j * n + i];
            double scale = __builtin_fabs((*a)[i * n + i]) + __builtin_fabs((*a)[j * n + j]);
            if (!(__builtin_fabs(lower - upper) <= 1e-12 * scale)) /* false also for NaN and inf */
                return gess__fail(err, GESS_ERR_MODEL,
                                  "%s: row %zu, column %zu is %.17g, but row %zu, column %zu is %.17g; a "
                                  "precision "
                                  "matrix must be finite and symmetric",
                                  path, i + 1, j + 1, lower, j + 1, i + 1, upper);
            (*a)[i * n + j] = (*a)[j * n + i] = 0.5 * lower + 0.5 * upper;
        }
    return GESS_OK;
}

/* The Cholesky factor into l (dim × dim, row-major), row by row, with the sums of gess__dot(). */
static int factorise(size_t dim, const double *a, double *l, const char *source, gess_error *err)
{
    for (size_t i = 0; i < dim; i++) {
        double *row = l + i * dim;
        for (size_t j = 0; j < i; j++) row[j] = (a[i * dim + j] - gess__dot(j, row, l + j * dim)) / l[j * dim + j];
        double pivot = a[i * dim + i] - gess__dot(i, row, row);
        if (!(pivot > 0.0))
            return gess__fail(err, GESS_ERR_MODEL,
                              "%s: the precision matrix is not positive definite (pivot %zu is %g); give a "
                              "covariance "
                              "matrix's inverse",
                              source, i + 1, pivot);
        row[i] = __builtin_sqrt(pivot);
    }
    return GESS_OK;
}

/* Puts A and L into panels. `l` is scratch memory, dim × dim. */
static int fill(gess__model *m, wishart *g, size_t dim, const double *a, double *l, const char *source, gess_error *err)
{
    g->dim = dim;
    g->panels = (dim + W - 1) / W;
    GESS_TRY(factorise(dim, a, l, source, err));
    size_t size = 0;
    double *numbers = NULL;
    for (size_t b = 0; b < g->panels; b++) size += (dim - b * W) * W;
    GESS_MODEL_ALLOC(m, &g->offset, g->panels, err);
    GESS_TRY(gess__model_lane(m, "wishart", GESS__WISHART_FACTOR + size, &numbers, err));
    g->numbers = numbers;
    g->factor = numbers + GESS__WISHART_FACTOR;
    GESS_MODEL_ALLOC(m, &g->precision, g->panels * dim * W, err);
    for (size_t b = 0, offset = 0; b < g->panels; offset += (dim - b * W) * W, b++) {
        size_t first = b * W, columns = dim - first < W ? dim - first : W;
        g->offset[b] = offset;
        for (size_t c = 0; c < columns; c++) {
            for (size_t i = 0; i < dim; i++) g->precision[(b * dim + i) * W + c] = a[i * dim + first + c];
            for (size_t i = first + c; i < dim; i++) g->factor[offset + (i - first) * W + c] = l[i * dim + first + c];
        }
    }
    double logs = 0.0;
    for (size_t i = 0; i < dim; i++) logs += gess__log(l[i * dim + i]);
    numbers[0] = logs - 0.5 * (double)dim * GESS__LOG_2PI;
    return GESS_OK;
}

int gess__open_wishart(gess__model *m, gess__parameters *p, gess_error *err)
{
    wishart *g = NULL;
    size_t dim, seed;
    const char *file, *dim_text, *seed_text;
    double *a = NULL, *l = NULL;
    GESS_TRY(gess__parameter_count(p, "dim", 50, 1, MAX_DIM, &dim, err));
    GESS_TRY(gess__parameter_count(p, "seed", 1, 0, SIZE_MAX, &seed, err));
    GESS_TRY(gess__parameter_text(p, "file", &file, err));
    GESS_TRY(gess__parameter_text(p, "dim", &dim_text, err));
    GESS_TRY(gess__parameter_text(p, "seed", &seed_text, err));
    if (file != NULL && (dim_text != NULL || seed_text != NULL))
        return gess__fail(err, GESS_ERR_USAGE,
                          "model wishart: file= gives the whole matrix, so leave out dim= and seed=");
    GESS_MODEL_ALLOC(m, &g, 1, err);
    int status = file != NULL ? read_precision(file, &dim, &a, err) : draw_precision(dim, seed, &a, err);
    if (status == GESS_OK) status = gess__alloc_bytes(&l, dim * dim, sizeof *l, "Cholesky factor", err);
    if (status == GESS_OK) status = fill(m, g, dim, a, l, file != NULL ? file : "model wishart", err);
    free(l);
    free(a);
    m->model.dim = dim;
    m->model.logp = logp;
    m->model.gradient = gradient;
    m->model.user = g;
    return status;
}
