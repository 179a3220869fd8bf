/* The saturating step of a scale layer, for hierarchical models.
 *
 * The prior of coordinate x_i is N(x_k, τ²), and its likelihood is a Gaussian of variance v about d. Given x_k and τ it
 * has precision 1/τ² + 1/v and a mean between x_k and d. With u = κ log τ that is
 *
 *   h = u − log(1 + cap e^u),   a = x_k + s (pull + Σ pull_slope_j x_j),   s = cap e^u / (1 + cap e^u),
 *
 * so the spread follows τ as long as τ is small, then saturates. The form matters on the way to τ → 0, where chains
 * come seldom and from which they must return: there every x_i lies within τ of x_k, and a regression's factor of 0.99
 * instead of 1, or 1.9 instead of κ = 2, leaves them outside. So κ is an integer (1 for a log variance, 2 for a log
 * standard deviation). The factors of the mean are integers too, with nothing added, unless that loses held-out
 * likelihood.
 *
 * A coordinate of the level above, such as its mean, has a variance that τ² adds to: h = log(floor + e^u). */
#include "transform/scale_search.h"

#include "base/tiles.h"
#include "transform/regression.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The learner's vectors; PULLS has one per driver of the mean. */
enum { ONES, RESIDUALS, INVERSES, WEIGHTS, WORK, TARGET, SHARES, PULLS, VECTORS = PULLS + GESS__MAX_DRIVERS };

_Static_assert((int)VECTORS <= (int)GESS__LEARN_VECTORS, "more vectors than the learner has");
_Static_assert(2 + 2 * (int)GESS__MAX_DRIVERS <= (int)GESS__MAX_TERMS, "1, the drivers, and the pulls");

typedef struct saturation {
    const double *y; /* the coordinate that is mapped, less the integer multiples of its drivers */
    const double *x; /* the driver of the spread, standardised */
    size_t leads;    /* drivers of the mean that the pull depends on */
    const double *lead[GESS__MAX_DRIVERS];
    double slope; /* κ for x */
    double cap, floor, level;
    gess__terms mean; /* its last terms are the pulls: s, and s times each lead */
} saturation;

/* Sets the slope, and INVERSES = e^−u for all points. */
static GESS__VECTOR(set_slope, (saturation * f, double slope, size_t m, double *restrict inverses),
                    (f, slope, m, inverses))
{
    const double *restrict x = f->x;
    f->slope = slope;
    for (size_t j = 0; j < m; j++) {
        double u = -slope * x[j];
        u = gess__select(u > GESS__MAX_LOG_SCALE, GESS__MAX_LOG_SCALE, u);
        u = gess__select(u < -GESS__MAX_LOG_SCALE, -GESS__MAX_LOG_SCALE, u);
        inverses[j] = gess__exp(u);
    }
}

/* Sets the weights e^−h, without the level, and the shares s. */
static GESS__VECTOR(weigh,
                    (double cap, double bottom, size_t begin, size_t end, const double *restrict inverses,
                     double *restrict weights, double *restrict shares),
                    (cap, bottom, begin, end, inverses, weights, shares))
{
    for (size_t j = begin; j < end; j++) weights[j] = inverses[j] + cap;
    for (size_t j = begin; j < end && cap > 0.0; j++) shares[j] = cap / weights[j];
    for (size_t j = begin; j < end && !(cap > 0.0); j++) shares[j] = 0.0;
    for (size_t j = begin; j < end && bottom > 0.0; j++) weights[j] /= gess__fma(bottom, inverses[j], 1.0);
}

/* Means of h without the level, and of r² e^−h. Weights lie between about e^−60 and e^60, so the product of four does
 * not overflow. */
static GESS__VECTOR(mean_levels,
                    (size_t n, const double *restrict r, const double *restrict weights, double *restrict level,
                     double *restrict square),
                    (n, r, weights, level, square))
{
    double logs[GESS__LANES] = {0}, squares[GESS__LANES] = {0};
    size_t j = 0;
    for (; j + 4 * GESS__LANES <= n; j += 4 * GESS__LANES)
        for (size_t l = j; l < j + GESS__LANES; l++) {
            double a = weights[l], b = weights[l + GESS__LANES], c = weights[l + 2 * GESS__LANES];
            double d = weights[l + 3 * GESS__LANES], ra = r[l], rb = r[l + GESS__LANES];
            double rc = r[l + 2 * GESS__LANES], rd = r[l + 3 * GESS__LANES];
            logs[l - j] -= gess__log(a * b * (c * d));
            squares[l - j] += (ra * ra * a + rb * rb * b) + (rc * rc * c + rd * rd * d);
        }
    for (; j < n; j++) {
        logs[0] -= gess__log(weights[j]);
        squares[0] += r[j] * r[j] * weights[j];
    }
    *level = gess__lane_sum(logs) / (double)n;
    *square = gess__lane_sum(squares) / (double)n;
}

static void set_pulls(const saturation *f, size_t begin, size_t end, double *v, size_t m)
{
    for (size_t j = 0; j < f->leads; j++)
        gess__multiply(end - begin, v + SHARES * m + begin, f->lead[j] + begin, v + (PULLS + j) * m + begin);
}

static void set_bounds(saturation *f, double cap, double bottom, size_t begin, size_t end, double *v, size_t m)
{
    f->cap = cap;
    f->floor = bottom;
    weigh(cap, bottom, begin, end, v + INVERSES * m, v + WEIGHTS * m, v + SHARES * m);
    set_pulls(f, begin, end, v, m);
}

/* Fits the mean for these bounds, then the level; returns the loss. The mean must be fitted for every cap: the pull of
 * the data lets residuals grow with τ even if the spread is capped. */
static double fit_with(saturation *f, double cap, double bottom, size_t begin, size_t end, double *v, size_t m)
{
    double level, square;
    set_bounds(f, cap, bottom, begin, end, v, m);
    gess__fit_mean(&f->mean, v + WEIGHTS * m, f->y, begin, end, v + WORK * m, v + RESIDUALS * m);
    mean_levels(end - begin, v + RESIDUALS * m + begin, v + WEIGHTS * m + begin, &level, &square);
    f->level = gess__log(square + 1e-300);
    return 0.5 * (level + f->level + 1.0);
}

/* The best bounds so far, and their loss. */
typedef struct bounds {
    double loss, cap, floor;
} bounds;

static void try_bounds(saturation *f, double cap, double bottom, size_t begin, size_t end, double *v, size_t m,
                       bounds *best)
{
    double loss = fit_with(f, cap, bottom, begin, end, v, m);
    if (loss < best->loss) *best = (bounds){loss, cap, bottom};
}

/* Fits with the best bounds near those of f; a bound that is 0 stays 0. Returns the loss. */
static double refit(saturation *f, size_t begin, size_t end, double *v, size_t m)
{
    static const double near[] = {0.5, 0.7, 1.4, 2.0};
    bounds first = {.cap = f->cap, .floor = f->floor}, best = {.loss = INFINITY};
    try_bounds(f, first.cap, first.floor, begin, end, v, m, &best);
    if (!(first.cap + first.floor > 0.0)) return best.loss;
    for (size_t i = 0; i < COUNT(near); i++)
        try_bounds(f, near[i] * first.cap, near[i] * first.floor, begin, end, v, m, &best);
    return fit_with(f, best.cap, best.floor, begin, end, v, m);
}

/* Fits with the best bounds of a grid, then of those near it. Returns the loss. */
static double fit(saturation *f, bool floor_only, size_t begin, size_t end, double *v, size_t m)
{
    static const double caps[] = {0x1p-8, 0x1p-6, 0x1p-4, 0x1p-2, 1.0, 4.0, 16.0, 64.0, 256.0},
                        floors[] = {0x1p-4, 0x1p-2, 1.0};
    bounds best = {.loss = INFINITY};
    if (!floor_only) try_bounds(f, 0.0, 0.0, begin, end, v, m, &best);
    for (size_t i = 0; !floor_only && i < COUNT(caps) - (f->slope < 0.0 ? 0 : 2); i++)
        try_bounds(f, caps[i], 0.0, begin, end, v, m, &best);
    for (size_t i = 0; i < COUNT(floors); i++) try_bounds(f, 0.0, floors[i], begin, end, v, m, &best);
    f->cap = best.cap;
    f->floor = best.floor;
    return refit(f, begin, end, v, m);
}

static double loss_of(saturation *f, size_t begin, size_t end, double *v, size_t m)
{
    double *r = v + RESIDUALS * m, level, square;
    set_bounds(f, f->cap, f->floor, begin, end, v, m);
    gess__regression_predict(&f->mean, begin, end, r);
    for (size_t j = begin; j < end; j++) r[j] = f->y[j] - r[j];
    mean_levels(end - begin, v + RESIDUALS * m + begin, v + WEIGHTS * m + begin, &level, &square);
    return 0.5 * (level + f->level + square * gess__exp(-f->level));
}

/* The mean loss of either half of the points under the fit to the other half. */
static double held_out(saturation f, double *v, size_t m)
{
    size_t half = m / 2;
    saturation back = f;
    (void)refit(&f, 0, half, v, m);
    (void)refit(&back, half, m, v, m);
    return 0.5 * loss_of(&f, half, m, v, m) + 0.5 * loss_of(&back, 0, half, v, m);
}

/* ---- means with free and with integer factors ---- */

/* Adds the pull and its slopes by all drivers of the mean of `linear`. */
static void add_pulls(const gess__learner *l, size_t m, const gess__scale_step *linear, saturation *f, double *v)
{
    f->leads = linear->means;
    f->mean.columns[f->mean.count++] = v + SHARES * m;
    for (size_t j = 0; j < f->leads; j++) {
        f->lead[j] = l->z + (size_t)linear->mean_from[j] * m;
        f->mean.columns[f->mean.count++] = v + (PULLS + j) * m;
    }
}

static saturation free_mean(const gess__learner *l, size_t m, const gess__scale_step *linear, double *v)
{
    saturation f = {.y = l->z + (size_t)linear->at * m, .x = l->z + (size_t)linear->scale_from[0] * m};
    f.mean.columns[f.mean.count++] = v;
    for (size_t j = 0; j < linear->means; j++) f.mean.columns[f.mean.count++] = l->z + (size_t)linear->mean_from[j] * m;
    add_pulls(l, m, linear, &f, v);
    return f;
}

/* The integer factors nearest to those of the free mean, with nothing added, into `step`; y less their part into
 * TARGET. */
static saturation integer_mean(const gess__learner *l, size_t m, const saturation *fitted,
                               const gess__scale_step *linear, gess__scale_step *step, double *v)
{
    uint32_t i = linear->at;
    double *target = v + TARGET * m, start = l->mean[i] / l->sd[i];
    saturation f = {.y = target, .x = fitted->x, .slope = fitted->slope};
    for (size_t q = 0; q < m; q++) target[q] = l->z[i * m + q] + start;
    for (size_t j = 0; j < linear->means; j++) {
        uint32_t k = linear->mean_from[j];
        const double *column = l->z + (size_t)k * m;
        double factor = rint(fitted->mean.factors[1 + j] * l->sd[i] / l->sd[k]);
        step->mean[j] = factor;
        step->shift += factor * l->mean[k];
        for (size_t q = 0; q < m; q++) target[q] -= factor * (l->sd[k] * column[q] + l->mean[k]) / l->sd[i];
    }
    add_pulls(l, m, linear, &f, v);
    return f;
}

/* ---- the step ---- */

/* Chooses κ, unless the search says it, with the sign of the linear slope, by the loss of the free mean on all points.
 * Returns how many nats per point 2 is better than 1. */
static double choose_slope(const gess__scale_search *s, saturation *f, double sd, double linear_slope, double *v)
{
    double sign = linear_slope < 0.0 ? -sd : sd, *inverses = v + INVERSES * s->m;
    set_slope(f, (s->kappa == 2 ? 2.0 : 1.0) * sign, s->m, inverses);
    double one = fit(f, s->floor_only, 0, s->m, v, s->m);
    if (s->kappa != 0) return 0.0;
    saturation first = *f;
    set_slope(f, 2.0 * sign, s->m, inverses);
    double two = fit(f, s->floor_only, 0, s->m, v, s->m);
    if (two < one) return one - two;
    *f = first;
    set_slope(f, sign, s->m, inverses);
    return one - two;
}

static void write_free_mean(const gess__learner *l, const saturation *f, gess__scale_step *step)
{
    double sd = l->sd[step->at];
    step->shift = l->mean[step->at] + sd * f->mean.factors[0];
    for (size_t j = 0; j < step->means; j++) step->mean[j] = sd * f->mean.factors[1 + j] / l->sd[step->mean_from[j]];
}

static void write_rest(const gess__learner *l, const saturation *f, uint32_t driver, gess__scale_step *step)
{
    double sd = l->sd[step->at];
    const double *pulls = f->mean.factors + f->mean.count - f->leads - 1;
    step->scales = step->saturated = 1;
    step->scale_from[0] = driver;
    step->scale[0] = f->slope / l->sd[driver];
    step->spread = sd * gess__exp(0.5 * f->level);
    step->cap = f->cap;
    step->floor = f->floor;
    step->pull = sd * pulls[0];
    for (size_t j = 0; j < f->leads; j++) step->pull_slope[j] = sd * pulls[1 + j] / l->sd[step->mean_from[j]];
}

double gess__scale_fit_saturated(gess__scale_search *s, const gess__scale_step *linear, gess__scale_step *step)
{
    const gess__learner *l = s->learner;
    size_t m = s->m;
    double *v = l->vectors;
    uint32_t driver = linear->scale_from[0];
    saturation loose = free_mean(l, m, linear, v);
    double better = choose_slope(s, &loose, l->sd[driver], linear->scale[0], v);
    if (driver == s->hub) s->votes += better;
    *step = (gess__scale_step){.at = linear->at, .means = linear->means};
    memcpy(step->mean_from, linear->mean_from, sizeof step->mean_from);
    double loss = held_out(loose, v, m);
    saturation integer = integer_mean(l, m, &loose, linear, step, v);
    (void)fit(&integer, false, 0, m, v, m);
    double integer_loss = held_out(integer, v, m);
    if (integer_loss < loss + s->max_loss) {
        write_rest(l, &integer, driver, step);
        return integer_loss;
    }
    write_free_mean(l, &loose, step);
    write_rest(l, &loose, driver, step);
    return loss;
}
