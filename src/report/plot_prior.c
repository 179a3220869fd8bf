/* Priors of single parameters, from a model that gives its log prior apart. Along a parameter, with the others held,
 * the log prior is that of the parameter and a constant if the two are independent; whether they are is tried with the
 * others at several draws. The integral is taken over all numbers, by the trapezoid rule in t with x = centre + scale ·
 * sinh t, which reaches from a thousandth of the plotted range to 10¹⁰ times it. */
#include "base/mem.h"
#include "base/sort.h"
#include "base/vmath.h"
#include "model/model.h"
#include "plot/density.h"
#include "report/plots.h"
#include "run/directory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CURVE = 201, WIDE = 4001, BASES = 4 };
#define REACH 24.0

typedef struct priors {
    gess_model *model;
    double *base; /* BASES × dim: draws */
    double *x;    /* one point */
} priors;

/* The log prior with parameter k at `value` and the others at draw `base`. */
static double log_prior(const priors *p, size_t base, size_t k, double value)
{
    double out = NAN;
    memcpy(p->x, p->base + base * p->model->dim, p->model->dim * sizeof *p->x);
    p->x[k] = value;
    if ((p->model->lower != NULL && value < p->model->lower[k]) ||
        (p->model->upper != NULL && value > p->model->upper[k]))
        return -INFINITY;
    if (p->model->log_prior(p->model->user, 0, 1, p->model->dim, p->x, &out) != 0) return NAN;
    return out;
}

/* Whether the curve over lo … hi has one shape at every base, up to rounding. curve[]: at the first base. */
static bool independent(const priors *p, size_t k, const double *x, double *curve)
{
    for (size_t i = 0; i < CURVE; i++) curve[i] = log_prior(p, 0, k, x[i]);
    for (size_t b = 1; b < BASES; b++) {
        double shift = NAN;
        for (size_t i = 0; i < CURVE; i++) {
            double y = log_prior(p, b, k, x[i]);
            if (isnan(y) || isnan(curve[i])) return false;
            if (isinf(y) || isinf(curve[i])) {
                if (y != curve[i]) return false;
                continue;
            }
            if (isnan(shift)) shift = y - curve[i];
            if (fabs(y - curve[i] - shift) > 1e-6 * (1.0 + fabs(y))) return false;
        }
    }
    return true;
}

/* The log of the integral of the prior along parameter k, at the first base; NaN if it has none. */
static double log_integral(const priors *p, size_t k, double centre, double scale)
{
    double most = -INFINITY, sum = 0.0, ends = 0.0, step = 2.0 * REACH / (WIDE - 1);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < WIDE; i++) {
            double t = -REACH + i * step, e = gess__exp(fabs(t)), sinh = 0.5 * (e - 1.0 / e),
                   cosh = 0.5 * (e + 1.0 / e);
            double y = log_prior(p, 0, k, centre + scale * (t < 0.0 ? -sinh : sinh)) + gess__log(cosh);
            if (isnan(y) || y == INFINITY) return NAN;
            if (pass == 0) {
                if (y > most) most = y;
            } else {
                sum += gess__exp(y - most);
                if (i < 100 || i >= WIDE - 100) ends += gess__exp(y - most);
            }
        }
    if (!(sum > 0.0) || !isfinite(most) || ends > 1e-3 * sum) return NAN; /* improper */
    return most + gess__log(sum * step * scale);
}

/* points[2 · CURVE]: places and densities; false if the parameter has no such prior. */
static bool fill_curve(const priors *p, const gess__plotted *parameter, size_t k, double *sorted, double *points)
{
    size_t finite = 0;
    double lo, hi, *x = points, *y = points + CURVE;
    for (size_t i = 0; i < parameter->chains * parameter->draws; i++)
        if (isfinite(parameter->x[i])) sorted[finite++] = parameter->x[i];
    if (finite < 2) return false;
    gess__sort(finite, sorted);
    if (!gess__view(sorted, finite, &lo, &hi)) return false;
    for (size_t i = 0; i < CURVE; i++) x[i] = lo + (hi - lo) * ((double)i - 20.0) / (CURVE - 41.0);
    if (!independent(p, k, x, y)) return false;
    double whole = log_integral(p, k, 0.5 * (lo + hi), 0.1 * (hi - lo));
    if (isnan(whole)) return false;
    for (size_t i = 0; i < CURVE; i++) y[i] = isfinite(y[i]) ? gess__exp(y[i] - whole) : 0.0;
    return true;
}

static int add_curves(priors *p, gess__plot_data *data, const gess__summary *s, const size_t *rows, size_t *without,
                      gess_error *err)
{
    double *sorted = NULL;
    GESS_ALLOC(&sorted, data->chains * data->draws + 1, err);
    int status = GESS_OK;
    for (size_t i = 0; status == GESS_OK && i < data->count; i++) {
        size_t column = s->column[rows[i]];
        if (column == 0 || column > p->model->dim) continue;
        status = gess__alloc_bytes(&data->prior[i], 2 * CURVE, sizeof **data->prior, "a prior", err);
        if (status != GESS_OK || !fill_curve(p, &data->parameter[i], column - 1, sorted, data->prior[i])) {
            *without += 1;
            continue;
        }
        data->parameter[i].prior_points = CURVE;
        data->parameter[i].prior_x = data->prior[i];
        data->parameter[i].prior_density = data->prior[i] + CURVE;
    }
    free(sorted);
    return status;
}

/* Draws at which the other parameters are held: of different chains and times. */
static int read_bases(priors *p, const gess__reader *r, gess_error *err)
{
    double *row = NULL;
    size_t dim = p->model->dim;
    GESS_ALLOC(&p->base, BASES * dim, err);
    GESS_ALLOC(&p->x, dim, err);
    GESS_ALLOC(&row, r->columns, err);
    int status = GESS_OK;
    for (size_t b = 0; status == GESS_OK && b < BASES; b++) {
        status = gess__reader_rows(r, b * r->chains / BASES, 1, (2 * b + 1) * r->draws / (2 * BASES), 1, row, err);
        if (status == GESS_OK) memcpy(p->base + b * dim, row + 1, dim * sizeof *row);
    }
    free(row);
    return status;
}

static int open_model(gess_model **model, const char *directory, gess_error *err)
{
    char path[4096], specification[4096] = "", data[4096] = "";
    gess_options *options = NULL;
    GESS_TRY(gess__directory_path(directory, "config.json", path, sizeof path, err));
    int status = gess_options_read(&options, path, specification, sizeof specification, err);
    if (status == GESS_OK) status = gess_options_get(options, "data", data, sizeof data, err);
    gess_options_free(options);
    GESS_TRY(status);
    return gess_model_open(model, specification, data[0] != '\0' ? data : NULL, err);
}

int gess__plot_priors(gess__plot_data *data, const char *directory, const gess__reader *draws,
                      const gess__summary *summary, const size_t *rows, size_t *without, gess_error *err)
{
    priors p = {0};
    *without = 0;
    GESS_TRY(open_model(&p.model, directory, err));
    int status = GESS_OK;
    if (p.model->log_prior == NULL || p.model->shown > 0 || summary->hidden > 0 || p.model->dim + 1 > draws->columns)
        status =
            gess__fail(err, GESS_ERR_USAGE,
                       "the model of %s does not give its log prior apart, so that no prior can be drawn", directory);
    if (status == GESS_OK) status = read_bases(&p, draws, err);
    if (status == GESS_OK) status = add_curves(&p, data, summary, rows, without, err);
    free(p.base);
    free(p.x);
    gess_model_free(p.model);
    return status;
}
