#include "invariance/targets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- banana, D = 2 ---- */

static double banana_logp(const double *x)
{
    double r = x[1] - (x[0] * x[0] - 1.0);
    return -0.5 * (x[0] * x[0] + r * r);
}

static void banana_draw(const double *n, double u, double *x)
{
    (void)u;
    x[0] = n[0];
    x[1] = n[1] + (n[0] * n[0] - 1.0);
}

static double banana_delta(const double *x)
{
    return x[0] * x[0] + x[1] * x[1] / 3.0;
}

/* ---- half-line: exponentials, hard bounds, D = 3 ---- */

static double half_line_logp(const double *x)
{
    for (size_t i = 0; i < 3; i++)
        if (!(x[i] > 0.0)) return -INFINITY;
    return -(x[0] + x[1] + x[2]);
}

static void half_line_draw(const double *n, double u, double *x)
{
    for (size_t i = 0; i < 2; i++) x[i] = -log(0.5 * erfc(n[i] / sqrt(2.0)));
    x[2] = -log(u);
}

static double half_line_delta(const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < 3; i++) sum += (x[i] - 1.0) * (x[i] - 1.0);
    return sum;
}

/* ---- correlated Gaussian, D = 10, all correlations 0.7 ---- */

enum { GAUSSIAN_DIM = 10 };
#define GAUSSIAN_COR 0.7

static double gaussian_delta(const double *x)
{
    double squares = 0.0, sum = 0.0;
    for (size_t i = 0; i < GAUSSIAN_DIM; i++) {
        squares += x[i] * x[i];
        sum += x[i];
    }
    return (squares - GAUSSIAN_COR * sum * sum / (1.0 + (GAUSSIAN_DIM - 1) * GAUSSIAN_COR)) / (1.0 - GAUSSIAN_COR);
}

static double gaussian_logp(const double *x)
{
    return -0.5 * gaussian_delta(x);
}

static void gaussian_draw(const double *n, double u, double *x)
{
    (void)u;
    for (size_t i = 0; i < GAUSSIAN_DIM; i++)
        x[i] = sqrt(GAUSSIAN_COR) * n[GAUSSIAN_DIM] + sqrt(1.0 - GAUSSIAN_COR) * n[i];
}

/* ---- t with 3 degrees of freedom, D = 5 ---- */

enum { T_DIM = 5 };

static double t_delta(const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < T_DIM; i++) sum += x[i] * x[i];
    return log1p(sum / 3.0); /* δ itself has no variance */
}

static double t_logp(const double *x)
{
    return -0.5 * (3 + T_DIM) * t_delta(x);
}

/* χ²₃ = n² + an independent χ²₂ = n² − 2 log u. */
static void t_draw(const double *n, double u, double *x)
{
    double scale = sqrt(3.0 / (n[T_DIM] * n[T_DIM] - 2.0 * log(u)));
    for (size_t i = 0; i < T_DIM; i++) x[i] = n[i] * scale;
}

/* ---- two modes, D = 2: unit Gaussians at (±2, 0) with weights 0.7 and 0.3 ---- */

static double modes_logp(const double *x)
{
    double a = log(0.7) - 0.5 * (x[0] - 2.0) * (x[0] - 2.0), b = log(0.3) - 0.5 * (x[0] + 2.0) * (x[0] + 2.0);
    double m = fmax(a, b);
    return m + log(exp(a - m) + exp(b - m)) - 0.5 * x[1] * x[1];
}

static void modes_draw(const double *n, double u, double *x)
{
    x[0] = n[0] + (u < 0.7 ? 2.0 : -2.0);
    x[1] = n[1];
}

static double modes_delta(const double *x)
{
    return x[0] * x[0] / 5.0 + x[1] * x[1];
}

/* ---- bounds of every kind, D = 4: x1 > 0 exponential, 0 < x2 < 1 with density 2x, x3 < 0 with -x3
 * exponential, x4 on a circle with density 1 + cos x4 ---- */

static const double bounded_lower[] = {0.0, 0.0, -INFINITY, 0.0};
static const double bounded_upper[] = {INFINITY, 1.0, 0.0, 6.28318530717958623200};
static const unsigned char bounded_periodic[] = {0, 0, 0, 1};

static double bounded_logp(const double *x)
{
    return -x[0] + log(x[1]) + x[2] + log1p(cos(x[3]));
}

static double uniform_of(double normal)
{
    return 0.5 * erfc(-normal / sqrt(2.0));
}

static void bounded_draw(const double *n, double u, double *x)
{
    double low = 0.0, high = bounded_upper[3];
    x[0] = -log(uniform_of(n[0]));
    x[1] = sqrt(uniform_of(n[1]));
    x[2] = log(uniform_of(n[2]));
    for (int i = 0; i < 60; i++) { /* the angle at which (x + sin x) / 2π reaches u */
        double middle = 0.5 * (low + high);
        if ((middle + sin(middle)) / bounded_upper[3] < u)
            low = middle;
        else
            high = middle;
    }
    x[3] = 0.5 * (low + high);
}

static double bounded_delta(const double *x)
{
    return x[1] + 0.3 * cos(x[3]) + 0.1 * sin(2.0 * x[3]) - 0.2 * x[2];
}

/* ---- funnel, D = 3: x1 ~ N(0, 1), the others N(0, e^(1.5 x1)) ---- */

static double funnel_logp(const double *x)
{
    return -0.5 * (x[0] * x[0] + (x[1] * x[1] + x[2] * x[2]) * exp(-1.5 * x[0])) - 1.5 * x[0];
}

static void funnel_draw(const double *n, double u, double *x)
{
    (void)u;
    x[0] = n[0];
    for (size_t i = 1; i < 3; i++) x[i] = n[i] * exp(0.75 * n[0]);
}

static double funnel_delta(const double *x)
{
    return log1p(x[1] * x[1]) + log1p(x[2] * x[2]); /* squares themselves have too heavy tails */
}

/* ---- wide, D = 2: standard deviations of 80 ---- */

static double wide_delta(const double *x)
{
    return (x[0] * x[0] + x[1] * x[1]) / 6400.0;
}

static double wide_logp(const double *x)
{
    return -0.5 * wide_delta(x);
}

static void wide_draw(const double *n, double u, double *x)
{
    (void)u;
    for (size_t i = 0; i < 2; i++) x[i] = 80.0 * n[i];
}

/* ---- pieces, D = 2: in each coordinate constant on three pieces, nothing between them ---- */

static const double piece_low[] = {0.0, 0.9, 3.0}, piece_high[] = {0.4, 1.7, 3.6}, piece_level[] = {0.0, -0.5, 0.3};

static double pieces_logp(const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < 2; i++) {
        double level = -INFINITY;
        for (size_t k = 0; k < 3; k++)
            if (x[i] > piece_low[k] && x[i] < piece_high[k]) level = piece_level[k];
        sum += level;
    }
    return sum;
}

static void pieces_draw(const double *n, double u, double *x)
{
    double mass[3], all = 0.0;
    for (size_t k = 0; k < 3; k++) all += mass[k] = (piece_high[k] - piece_low[k]) * exp(piece_level[k]);
    for (size_t i = 0; i < 2; i++) {
        double left = all * (i == 0 ? u : uniform_of(n[0]));
        size_t k = 0;
        for (; k < 2 && left > mass[k]; k++) left -= mass[k];
        x[i] = piece_low[k] + left / mass[k] * (piece_high[k] - piece_low[k]);
    }
}

static double pieces_delta(const double *x)
{
    return (x[0] - 1.8) * (x[0] - 1.8) + (x[1] - 1.8) * (x[1] - 1.8);
}

/* ---- table and batches ---- */

#define BATCH(name)                                                                                           \
    static int name##_batch(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp) \
    {                                                                                                         \
        (void)user;                                                                                           \
        (void)worker;                                                                                         \
        for (size_t i = 0; i < n; i++) logp[i] = name##_logp(x + i * dim);                                    \
        return 0;                                                                                             \
    }
BATCH(banana)
BATCH(half_line)
BATCH(gaussian)
BATCH(t)
BATCH(modes)
BATCH(bounded)
BATCH(funnel)
BATCH(wide)
BATCH(pieces)

const exact_target exact_targets[] = {
    {"banana", 2, banana_batch, banana_draw, banana_delta, NULL, NULL, NULL},
    {"half-line", 3, half_line_batch, half_line_draw, half_line_delta, NULL, NULL, NULL},
    {"gaussian", GAUSSIAN_DIM, gaussian_batch, gaussian_draw, gaussian_delta, NULL, NULL, NULL},
    {"t3", T_DIM, t_batch, t_draw, t_delta, NULL, NULL, NULL},
    {"two modes", 2, modes_batch, modes_draw, modes_delta, NULL, NULL, NULL},
    {"bounded", 4, bounded_batch, bounded_draw, bounded_delta, bounded_lower, bounded_upper, bounded_periodic},
    {"funnel", 3, funnel_batch, funnel_draw, funnel_delta, NULL, NULL, NULL},
};
const exact_target exact_pieces = {"pieces", 2, pieces_batch, pieces_draw, pieces_delta, NULL, NULL, NULL};
const exact_target exact_wide = {"wide", 2, wide_batch, wide_draw, wide_delta, NULL, NULL, NULL};
const size_t exact_target_count = sizeof exact_targets / sizeof *exact_targets;

void exact_draw(const exact_target *target, uint64_t seed, uint64_t number, double *x, double *scratch)
{
    gess__key key = {.seed = seed, .iteration = number, .chain = 0, .purpose = GESS__FOR_TEST};
    gess__normals(key, target->dim + 1, scratch);
    key.chain = 1;
    target->draw(scratch, gess__uniform(key, 0), x);
}

void exact_state(const exact_target *target, const gess__bounds *bounds, uint64_t seed, uint64_t number, double *y)
{
    double x[16], scratch[17];
    exact_draw(target, seed, number, x, scratch);
    if (!gess__bounds_in(bounds, x, y)) exit(2);
    for (size_t i = 0; i < target->dim; i++) {
        const gess__coordinate *c = &bounds->coordinates[i];
        if (c->kind != GESS__CIRCLE) continue;
        gess__key key = {.seed = seed, .iteration = number, .chain = 2, .purpose = GESS__FOR_TEST};
        double radius = sqrt(-2.0 * log(gess__uniform(key, 0)));
        y[c->at] *= radius;
        y[c->at + 1] *= radius;
    }
}

void exact_statistics(const exact_target *target, const double *x, size_t stride, double *out)
{
    double logp;
    target->logp(NULL, 0, 1, target->dim, x, &logp);
    out[0] = x[0];
    out[stride] = x[1];
    out[2 * stride] = logp;
    out[3 * stride] = target->delta(x);
}

/* Central differences that stay between the bounds. */
static int differences(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp,
                       double *gradient)
{
    const exact_target *t = user;
    for (size_t i = 0; i < n; i++) {
        double point[16], ends[2];
        for (size_t k = 0; k < dim; k++) point[k] = x[i * dim + k];
        for (size_t k = 0; k < dim; k++) {
            double at = point[k], step = 1e-6 * (1.0 + fabs(at));
            if (t->lower != NULL) step = fmin(step, 0.5 * fmin(at - t->lower[k], t->upper[k] - at));
            for (int side = 0; side < 2; side++) {
                point[k] = side == 0 ? at - step : at + step;
                t->logp(NULL, worker, 1, dim, point, &ends[side]);
            }
            gradient[i * dim + k] = (ends[1] - ends[0]) / (2.0 * step);
            point[k] = at;
        }
    }
    return t->logp(NULL, worker, n, dim, x, logp);
}

/* Inside every target's support; the tests set the states themselves. */
static void start_inside(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    for (size_t i = 0; i < dim; i++) x[i] = fabs(normals[i]);
}

/* The same for `bounded`. */
static void start_bounded(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    (void)dim;
    bounded_draw(normals, uniform_of(normals[3]), x);
}

gess_model exact_model(const exact_target *target)
{
    gess_model model = {0};
    model.name = target->name;
    model.dim = target->dim;
    model.logp = target->logp;
    model.gradient = differences;
    model.user = (void *)(uintptr_t)target;
    model.start = target->lower != NULL ? start_bounded : start_inside;
    model.lower = target->lower;
    model.upper = target->upper;
    model.periodic = target->periodic;
    return model;
}
