/* Logistic regressions: x = (intercept, w_1 .. w_p),
 *
 *   log π(x) = Σ_i log σ(t_i (x_0 + a_i · w)) + Σ_j log N(x_j; 0, 100).
 *
 * Columns are divided by their population standard deviation, and centred first with centre=1.
 * The data are kept as panels (builtin.h) of LANES rows, every row times its sign t_i, so that z is the
 * margin of a row and log σ(z) = min(z, 0) - log(1 + e^-|z|). The factors 1 + e^-|z| lie in (1, 2], so they
 * are multiplied, and one logarithm is taken per FOLD panels. */
#include "model/builtin/builtin.h"

#include "model/lane/logistic.h"

#include <string.h>

enum {
    W = GESS__LANES,
    MAX_DIM = 64, /* bounds the gradient's stack */
    FOLD = GESS__LOGISTIC_FOLD
};

static const double prior_variance = GESS__LOGISTIC_PRIOR_VARIANCE;

typedef gess__logistic_tally tally;

typedef struct logistic {
    size_t dim, panels;
    const double *numbers; /* of lane/logistic.h */
    double *rows;          /* its panels × dim × W */
    double *weights;       /* panels × W: 1, or 0 in the padding of the last panel */
} logistic;

/* Adds the rows of one panel, by their margins z. */
GESS__INLINE void add_panel(const double *restrict z, const double *restrict weights, tally *restrict t)
{
    GESS__FOR_LANES(l) gess__logistic_add(t, l, z[l], weights[l]);
}

/* The margins of one point for one panel, and for four. */
GESS__INLINE void margins(const logistic *g, const double *restrict rows, const double *restrict x, double z[W])
{
    GESS__FOR_LANES(l) z[l] = 0.0;
    gess__panel_add(g->dim, rows, x, z);
}

GESS__INLINE void margins_four(const logistic *g, const double *restrict rows, const double *restrict x, double z[4][W])
{
    size_t apart = g->dim * W;
    const double *const panel[4] = {rows, rows + apart, rows + 2 * apart, rows + 3 * apart};
    for (size_t j = 0; j < 4; j++) GESS__FOR_LANES(l) z[j][l] = 0.0;
    gess__panel_add_four(g->dim, panel, x, z);
}

/* One past the last panel before the fold that follows `first`. */
GESS__INLINE size_t fold_end(const logistic *g, size_t first)
{
    return g->panels - first < FOLD ? g->panels : first + FOLD;
}

static GESS__VECTOR(logp_group, (const logistic *g, const double *restrict x, double *restrict logp), (g, x, logp))
{
    tally t[GESS__GROUP];
    double z[GESS__GROUP][W];
    for (size_t p = 0; p < GESS__GROUP; p++) gess__logistic_start(&t[p]);
    for (size_t first = 0; first < g->panels; first += FOLD) {
        for (size_t b = first, end = fold_end(g, first); b < end; b++) {
            gess__panel_group(g->dim, g->rows + b * g->dim * W, x, g->dim, z);
            for (size_t p = 0; p < GESS__GROUP; p++) add_panel(z[p], g->weights + b * W, &t[p]);
        }
        for (size_t p = 0; p < GESS__GROUP; p++) gess__logistic_fold(&t[p]);
    }
    for (size_t p = 0; p < GESS__GROUP; p++) logp[p] = gess__logistic_finish(g->dim, g->numbers, &t[p], x + p * g->dim);
}

static GESS__VECTOR(logp_pair, (const logistic *g, const double *restrict x, double *restrict logp), (g, x, logp))
{
    tally t[2];
    double z[4][2][W];
    size_t apart = g->dim * W;
    for (size_t p = 0; p < 2; p++) gess__logistic_start(&t[p]);
    for (size_t first = 0; first < g->panels; first += FOLD) {
        size_t b = first, end = fold_end(g, first);
        for (; b + 4 <= end; b += 4) {
            const double *rows = g->rows + b * apart;
            const double *const panel[4] = {rows, rows + apart, rows + 2 * apart, rows + 3 * apart};
            gess__panel_pair_four(g->dim, panel, x, g->dim, z);
            for (size_t j = 0; j < 4; j++)
                for (size_t p = 0; p < 2; p++) add_panel(z[j][p], g->weights + (b + j) * W, &t[p]);
        }
        for (; b < end; b++)
            for (size_t p = 0; p < 2; p++) {
                margins(g, g->rows + b * apart, x + p * g->dim, z[0][0]);
                add_panel(z[0][0], g->weights + b * W, &t[p]);
            }
        for (size_t p = 0; p < 2; p++) gess__logistic_fold(&t[p]);
    }
    for (size_t p = 0; p < 2; p++) logp[p] = gess__logistic_finish(g->dim, g->numbers, &t[p], x + p * g->dim);
}

static GESS__VECTOR_VALUE(double, logp_one, (const logistic *g, const double *restrict x), (g, x))
{
    tally t;
    double z[4][W];
    size_t apart = g->dim * W;
    gess__logistic_start(&t);
    for (size_t first = 0; first < g->panels; first += FOLD) {
        size_t b = first, end = fold_end(g, first);
        for (; b + 4 <= end; b += 4) {
            margins_four(g, g->rows + b * apart, x, z);
            for (size_t j = 0; j < 4; j++) add_panel(z[j], g->weights + (b + j) * W, &t);
        }
        for (; b < end; b++) {
            margins(g, g->rows + b * apart, x, z[0]);
            add_panel(z[0], g->weights + b * W, &t);
        }
        gess__logistic_fold(&t);
    }
    return gess__logistic_finish(g->dim, g->numbers, &t, x);
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)worker;
    size_t j = 0;
    for (; j + GESS__GROUP <= n; j += GESS__GROUP) logp_group(user, x + j * dim, out + j);
    for (; j + 2 <= n; j += 2) logp_pair(user, x + j * dim, out + j);
    if (j < n) out[j] = logp_one(user, x + j * dim);
    return 0;
}

/* The derivative of log σ at z: σ(-z). */
GESS__INLINE void residuals(const double *restrict z, double *restrict q)
{
    GESS__FOR_LANES(l)
    {
        double e = gess__exp_minus(__builtin_fabs(z[l]));
        q[l] = gess__select(z[l] >= 0.0, e, 1.0) / (1.0 + e);
    }
}

static GESS__VECTOR_VALUE(double, gradient_one,
                          (const logistic *g, const double *restrict x, double *restrict gradient), (g, x, gradient))
{
    tally t;
    double z[4][W], q[4][W], sums[MAX_DIM][W];
    size_t apart = g->dim * W;
    gess__logistic_start(&t);
    memset(sums, 0, g->dim * sizeof *sums);
    for (size_t first = 0; first < g->panels; first += FOLD) {
        size_t b = first, end = fold_end(g, first);
        for (; b + 4 <= end; b += 4) {
            const double *row = g->rows + b * apart;
            margins_four(g, row, x, z);
            for (size_t j = 0; j < 4; j++) add_panel(z[j], g->weights + (b + j) * W, &t);
            for (size_t j = 0; j < 4; j++) residuals(z[j], q[j]);
            for (size_t k = 0; k < g->dim; k++, row += W) {
                GESS__FOR_LANES(l) sums[k][l] = gess__fma(row[l], q[0][l], sums[k][l]);
                GESS__FOR_LANES(l) sums[k][l] = gess__fma(row[apart + l], q[1][l], sums[k][l]);
                GESS__FOR_LANES(l) sums[k][l] = gess__fma(row[2 * apart + l], q[2][l], sums[k][l]);
                GESS__FOR_LANES(l) sums[k][l] = gess__fma(row[3 * apart + l], q[3][l], sums[k][l]);
            }
        }
        for (; b < end; b++) {
            const double *row = g->rows + b * apart;
            margins(g, row, x, z[0]);
            add_panel(z[0], g->weights + b * W, &t);
            residuals(z[0], q[0]);
            for (size_t k = 0; k < g->dim; k++)
                GESS__FOR_LANES(l) sums[k][l] = gess__fma(row[k * W + l], q[0][l], sums[k][l]);
        }
        gess__logistic_fold(&t);
    }
    for (size_t k = 0; k < g->dim; k++) gradient[k] = gess__fma(x[k], -1.0 / prior_variance, gess__lane_sum(sums[k]));
    return gess__logistic_finish(g->dim, g->numbers, &t, x);
}

static int gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out, double *slopes)
{
    (void)worker;
    for (size_t j = 0; j < n; j++) out[j] = gradient_one(user, x + j * dim, slopes + j * dim);
    return 0;
}

/* ---- opening ---- */

/* The shift and scale by which the model standardises a column of the data. */
static int standardise(const gess__table *data, size_t column, size_t centre, double *shift, double *scale,
                       const char *path, gess_error *err)
{
    const double *a = data->values + column;
    double count = (double)data->rows, mean = 0.0, variance = 0.0;
    for (size_t i = 0; i < data->rows; i++) mean += a[i * data->columns];
    mean /= count;
    for (size_t i = 0; i < data->rows; i++) {
        double difference = a[i * data->columns] - mean;
        variance += difference * difference;
    }
    if (!(variance > 0.0) || isinf(variance))
        return gess__fail(err, GESS_ERR_MODEL, "%s, column %zu: its numbers are all equal or not finite; leave it out",
                          path, column + 1);
    *shift = centre ? mean : 0.0;
    *scale = __builtin_sqrt(variance / count);
    return GESS_OK;
}

static int fill(gess__model *m, logistic *g, const gess__table *data, const char *path, double positive, size_t centre,
                gess_error *err)
{
    if (data->columns < 2 || data->columns > MAX_DIM)
        return gess__fail(err, GESS_ERR_MODEL, "%s: %zu columns; a class and 1 to %d others are needed", path,
                          data->columns, MAX_DIM - 1);
    size_t last = data->columns - 1; /* the class */
    g->dim = data->columns;
    g->panels = (data->rows + W - 1) / W;
    double *numbers = NULL;
    GESS_TRY(gess__model_lane(m, "logistic", GESS__LOGISTIC_ROWS + g->panels * g->dim * W, &numbers, err));
    numbers[0] = (double)data->rows;
    numbers[1] = 0.5 * (double)g->dim * (GESS__LOG_2PI + gess__log(prior_variance));
    g->numbers = numbers;
    g->rows = numbers + GESS__LOGISTIC_ROWS;
    GESS_MODEL_ALLOC(m, &g->weights, g->panels * W, err);
    for (size_t k = 0; k < g->dim; k++) {
        double shift = 0.0, scale = 1.0;
        if (k > 0) GESS_TRY(standardise(data, k - 1, centre, &shift, &scale, path, err));
        for (size_t i = 0; i < data->rows; i++) {
            const double *row = data->values + i * data->columns;
            double sign = row[last] == positive ? 1.0 : -1.0, a = k == 0 ? 1.0 : (row[k - 1] - shift) / scale;
            g->rows[(i / W * g->dim + k) * W + i % W] = sign * a;
            g->weights[i] = 1.0;
        }
    }
    return GESS_OK;
}

static int log_prior(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    const logistic *g = user;
    tally empty;
    (void)worker;
    gess__logistic_start(&empty);
    for (size_t j = 0; j < n; j++) out[j] = gess__logistic_finish(g->dim, g->numbers, &empty, x + j * dim);
    return 0;
}

/* The class, in the last column of the file, has sign t = +1 if it is `positive`. Names: intercept, then the columns of
 * the data. */
static int open_logistic(gess__model *m, gess__parameters *p, const char *file, double positive, gess_error *err)
{
    static const char *const literals[] = {"intercept"};
    size_t centre;
    char path[4096];
    logistic *g = NULL;
    gess__table data;
    GESS_TRY(gess__parameter_count(p, "centre", 0, 0, 1, &centre, err));
    GESS_MODEL_ALLOC(m, &g, 1, err);
    GESS_TRY(gess__data_table(file, &data, path, err));
    int status = fill(m, g, &data, path, positive, centre, err);
    if (status == GESS_OK) status = gess__model_copy_names(m, 1, literals, g->dim - 1, data.names, err);
    m->model.observations = data.rows;
    gess__table_free(&data);
    m->model.dim = g->dim;
    m->model.logp = logp;
    m->model.log_prior = log_prior;
    m->model.gradient = gradient;
    m->model.user = g;
    return status;
}

int gess__open_breast_cancer(gess__model *m, gess__parameters *p, gess_error *err)
{
    return open_logistic(m, p, "breast_cancer.csv", 0.0, err); /* +1 is malignant */
}

int gess__open_german_credit(gess__model *m, gess__parameters *p, gess_error *err)
{
    return open_logistic(m, p, "german_credit.csv", 2.0, err); /* +1 is bad credit */
}
