/* Maximum likelihood for the sinh-arcsinh warp (sinh_arcsinh.h): minus the log-likelihood of normal values with
 * variances 1 / weights, minimised by BFGS.
 *
 * POWER and LEAN are half the sum and half the difference of two numbers, of which the powers of the right and of the
 * left side are bounded functions. */
#include "transform/sinh_arcsinh_fit.h"

#include "base/tiles.h"
#include "parallel/blocks.h"
#include "transform/layer_learner.h"

enum { SHIFT, SPREAD, TILT, POWER, LEAN, PARAMETERS = GESS__SHAPE_PARAMETERS };

enum { MAX_ITERATIONS = 60, THINNED = 4000, MAX_BLOCKS = (GESS__MAX_LEARN_POINTS + GESS__BLOCK - 1) / GESS__BLOCK };

/* The longest step of a parameter. */
#define MAX_STEP 0.7

/* The fit has converged after two steps in a row that gain less, in nats per point. */
#define TOLERANCE 5e-5

/* A side whose power is much above 1 gives T a tail much lighter than a Gaussian's, and chains that get there all the
 * same hardly leave it. The same holds for the steep side of a large tilt. */
#define MAX_TILT 1.5
#define MIN_POWER 0.25
#define MAX_POWER 1.25

/* The parameters of the warp, and their derivatives by the parameters of the fit. */
typedef struct bounded {
    double shift, spread, tilt, power, lean; /* logarithms of spread and power; lean as a share of the power */
    double tilt_slope;                       /* by TILT */
    double power_by[2], lean_by[2];          /* by POWER and LEAN */
} bounded;

/* x / sqrt(1 + (x / max)²), between −max and max. */
static double squashed(double x, double max, double *slope)
{
    double factor = 1.0 / sqrt(1.0 + (x / max) * (x / max));
    *slope = factor * factor * factor;
    return x * factor;
}

/* The power of a side, 1 for x = 0. */
static double side_power(double x, double *slope)
{
    double low = gess__log(MIN_POWER), high = gess__log(MAX_POWER), centre = 0.5 * (low + high);
    double half = 0.5 * (high - low), share = -centre / half, start = half * share / sqrt(1.0 - share * share);
    return gess__exp(centre + squashed(start + x, half, slope));
}

static bounded bound(const double *p)
{
    double right_slope, left_slope, right = side_power(p[POWER] + p[LEAN], &right_slope);
    double left = side_power(p[POWER] - p[LEAN], &left_slope), sum = left + right;
    double across = 2.0 * left * right / (sum * sum);
    bounded b = {.shift = p[SHIFT], .spread = p[SPREAD], .power = gess__log(0.5 * sum), .lean = (right - left) / sum};
    b.tilt = squashed(p[TILT], MAX_TILT, &b.tilt_slope);
    b.power_by[0] = (right * right_slope + left * left_slope) / sum;
    b.power_by[1] = (right * right_slope - left * left_slope) / sum;
    b.lean_by[0] = across * (right_slope - left_slope);
    b.lean_by[1] = across * (right_slope + left_slope);
    return b;
}

gess__warp gess__shape_warp(const gess__shape *s)
{
    bounded b = bound(s->p);
    double power = gess__exp(b.power);
    return (gess__warp){b.shift, gess__exp(b.spread), b.tilt, power, power * b.lean};
}

/* Sums over points of minus the log-likelihood and its gradient by the parameters of the warp. Leaves out the last
 * n % LANES points. */
static GESS__VECTOR(add_losses,
                    (size_t n, const double *restrict x, const double *restrict weights, const bounded *b,
                     double *restrict out),
                    (n, x, weights, b, out))
{
    double s[1 + PARAMETERS][GESS__LANES] = {{0}}, shift = b->shift, inverse = gess__exp(-b->spread), tilt = b->tilt;
    double power = gess__exp(b->power), lean = b->lean;
    for (size_t j = 0; j + GESS__LANES <= n; j += GESS__LANES)
        for (size_t l = 0; l < GESS__LANES; l++) {
            double t = (x[j + l] - shift) * inverse, root, a = gess__asinh(t, &root), side = sqrt(1.0 + a * a);
            double bend = side - 1.0, bent = power * gess__fma(lean, bend, a), q = bent - tilt, c;
            q = copysign(gess__select(fabs(q) > 200.0, 200.0, fabs(q)), q);
            double v = gess__sinh(q, &c), w = weights[j + l], leaning = gess__fma(lean, a, side);
            /* one division for the inverses of root, side, leaning and c */
            double roots = root * side, rest = leaning * c, all = 1.0 / (roots * rest);
            double by_root = all * side * rest, by_side = all * root * rest, by_c = all * roots * leaning;
            double slope = a * by_side, along = leaning * by_side, by_along = all * roots * c * side;
            double by_q = w * v * c - v * by_c;
            double by_a = by_q * power * along - lean * by_side * by_side * by_side * by_along;
            double by_t = by_root * gess__fma(t, by_root, by_a);
            s[0][l] += 0.5 * w * v * v - gess__log(c * along * by_root);
            s[1 + SHIFT][l] -= by_t * inverse;
            s[1 + SPREAD][l] += 1.0 - by_t * t;
            s[1 + TILT][l] -= by_q;
            s[1 + POWER][l] += by_q * bent - 1.0;
            s[1 + LEAN][l] += by_q * power * bend - slope * by_along;
        }
    for (size_t u = 0; u <= PARAMETERS; u++) out[u] = gess__lane_sum(s[u]);
}

struct losses {
    const double *x, *weights;
    const bounded *b;
    double sums[MAX_BLOCKS][1 + PARAMETERS];
};

static void losses_of_block(void *data, unsigned worker, size_t block, size_t first, size_t count)
{
    (void)worker;
    struct losses *l = data;
    add_losses(count, l->x + first, l->weights + first, l->b, l->sums[block]);
}

/* Means over the n points of what add_losses() sums. */
static void mean_losses(gess__team *team, size_t n, const double *x, const double *weights, const bounded *b,
                        double *out)
{
    const double operations_per_point = 100.0;
    size_t used = n - n % GESS__LANES;
    struct losses l = {.x = x, .weights = weights, .b = b};
    gess__blocks(team, operations_per_point * (double)n, n, losses_of_block, &l);
    for (size_t u = 0; u <= PARAMETERS; u++) {
        out[u] = 0.0;
        for (size_t block = 0; block < gess__block_count(n); block++) out[u] += l.sums[block][u];
        out[u] /= (double)used;
    }
    out[0] += b->spread - b->power;
}

/* The loss at s, and its gradient: 0 by the parameters that are held fixed. */
static double loss_at(const gess__shape *s, gess__team *team, size_t n, const double *x, const double *weights,
                      double *gradient)
{
    double sums[1 + PARAMETERS], *by = sums + 1;
    bounded b = bound(s->p);
    mean_losses(team, n, x, weights, &b, sums);
    double power = b.power_by[0] * by[POWER] + b.lean_by[0] * by[LEAN];
    double lean = b.power_by[1] * by[POWER] + b.lean_by[1] * by[LEAN];
    gradient[SHIFT] = by[SHIFT];
    gradient[SPREAD] = by[SPREAD];
    gradient[TILT] = s->tilts ? by[TILT] * b.tilt_slope : 0.0;
    gradient[POWER] = s->powers ? power : 0.0;
    gradient[LEAN] = s->leans ? lean : 0.0;
    return sums[0];
}

/* The BFGS update of the inverse Hessian, after a step s that changed the gradient by y; none if the curvature along s
 * is not positive. */
static void update_hessian(double *h, const double *s, const double *y)
{
    double hy[PARAMETERS] = {0}, sy = 0.0, yhy = 0.0;
    for (size_t u = 0; u < PARAMETERS; u++) {
        for (size_t v = 0; v < PARAMETERS; v++) hy[u] += h[u * PARAMETERS + v] * y[v];
        sy += s[u] * y[u];
        yhy += y[u] * hy[u];
    }
    if (!(sy > 1e-12)) return;
    for (size_t u = 0; u < PARAMETERS; u++)
        for (size_t v = 0; v < PARAMETERS; v++)
            h[u * PARAMETERS + v] += (1.0 + yhy / sy) * s[u] * s[v] / sy - (hy[u] * s[v] + s[u] * hy[v]) / sy;
}

/* The quasi-Newton step, shortened so that no parameter moves by more than MAX_STEP; returns the slope along it, < 0.
 */
static double direction(const double *h, const double *g, double *step)
{
    double slope = 0.0, longest = 0.0;
    for (size_t u = 0; u < PARAMETERS; u++) {
        step[u] = 0.0;
        for (size_t v = 0; v < PARAMETERS; v++) step[u] -= h[u * PARAMETERS + v] * g[v];
        slope += step[u] * g[u];
        longest = gess__max(longest, fabs(step[u]));
    }
    double factor = longest > MAX_STEP ? MAX_STEP / longest : 1.0;
    for (size_t u = 0; u < PARAMETERS; u++) step[u] *= factor;
    return slope * factor;
}

/* BFGS with a line search that halves the step. */
void gess__shape_fit(gess__shape *s, gess__team *team, size_t n, const double *x, const double *weights)
{
    double *h = s->inverse_hessian, g[PARAMETERS], step[PARAMETERS], next[PARAMETERS] = {0};
    double loss = loss_at(s, team, n, x, weights, g), fraction = 1.0;
    for (size_t u = 0; !s->fitted && u < PARAMETERS; u++) h[u * (PARAMETERS + 1)] = 0.5;
    s->fitted = true;
    for (int iteration = 0, small = 0; iteration < MAX_ITERATIONS && fraction > 0.0 && small < 2; iteration++) {
        double slope = direction(h, g, step), trial = INFINITY, from[PARAMETERS];
        memcpy(from, s->p, sizeof from);
        for (fraction = 1.0; fraction > 1e-4; fraction *= 0.5) {
            for (size_t u = 0; u < PARAMETERS; u++) s->p[u] = from[u] + fraction * step[u];
            trial = loss_at(s, team, n, x, weights, next);
            if (trial <= loss + 1e-4 * fraction * slope) break;
        }
        if (!(trial <= loss)) {
            memcpy(s->p, from, sizeof from);
            return;
        }
        for (size_t u = 0; u < PARAMETERS; u++) {
            step[u] *= fraction;
            g[u] = next[u] - g[u];
        }
        update_hessian(h, step, g);
        memcpy(g, next, sizeof g);
        small = loss - trial < TOLERANCE ? small + 1 : 0;
        loss = trial;
    }
}

static double loss_of(const gess__shape *s, size_t n, const double *x, const double *weights)
{
    double unused[PARAMETERS];
    return loss_at(s, NULL, n, x, weights, unused);
}

size_t gess__shape_thin(size_t m, const double *x, double *out)
{
    size_t count = m < THINNED ? m : THINNED;
    for (size_t j = 0; j < count; j++) out[j] = x[j * m / count];
    return count;
}

/* Fits both shapes to n points and returns the gain of the full one on the validation points. For the `first` fit the
 * full shape starts where the plain one ends. */
static double gain_over(gess__shape *plain, gess__shape *full, bool first, gess__team *team, size_t n, const double *x,
                        const double *weights, gess__validation others)
{
    gess__shape_fit(plain, team, n, x, weights);
    if (first) memcpy(full->p, plain->p, sizeof full->p);
    gess__shape_fit(full, team, n, x, weights);
    return loss_of(plain, others.count, others.x, others.weights) -
           loss_of(full, others.count, others.x, others.weights);
}

double gess__shape_gain(gess__shape *full, gess__team *team, size_t m, const double *x, const double *weights,
                        gess__validation validation)
{
    size_t half = m / 2;
    gess__shape plain = *full;
    plain.tilts = plain.leans = false;
    plain.p[TILT] = plain.p[LEAN] = 0.0;
    if (validation.count > 0) return gain_over(&plain, full, true, team, m, x, weights, validation);
    gess__validation front = {half, x, weights}, back = {m - half, x + half, weights + half};
    double gain = 0.5 * gain_over(&plain, full, true, team, front.count, front.x, front.weights, back);
    return gain + 0.5 * gain_over(&plain, full, false, team, back.count, back.x, back.weights, front);
}
