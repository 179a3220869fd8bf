/* Finding a skew layer: directions in which the whitened points are skewed, and a sinh-arcsinh warp (M. C. Jones and
 * A. Pewsey, Biometrika 96, 2009) of each.
 *
 *   1. Points are whitened; a point far out is pulled in to FAR radii, so that outliers do not choose directions.
 *   2. The direction of largest third moment by the power iteration w ← E[z (w·z)²] / |…|, from four starts, among
 *      those orthogonal to the ones before; until none is significantly skewed.
 *   3. Shift, spread, tilt and power of the warp by maximum likelihood: scoring steps with the outer product of the
 *      scores in place of the Hessian, damped. Tails alone are no reason to warp, since T has tails of its own: a
 *      direction counts where the tilt raises the likelihood of each half of the points under the fit to the other.
 *      With few points the power stays 1. */
#include "map/learn.h"

#include "base/lanes.h"
#include "base/linalg.h"
#include "base/special.h"
#include "base/vmath.h"

enum {
    STARTS = 4,
    ITERATIONS = 20,
    MOST_FAILURES = 3,
    FEW = 3000,
    REFITS = 2,
    PARAMETERS = 4,
    SUMS = 1 + PARAMETERS + 10
};

#define LEAST_SKEWNESS 2.5 /* standard errors */
#define LEAST_GAIN 0.005   /* nats, held out */
#define FAR 2.0            /* times sqrt(dim) */
#define FREE_POWER 3000    /* points from which the power is fitted too */
#define MOST_TILT 2.0
#define MOST_LOG_POWER 0.69314718055994530942

/* Shift, log spread, tilt, log power; which of the last two are fitted. */
typedef struct shape {
    double p[PARAMETERS];
    bool tilts, powers;
} shape;

/* ---- 1. whitening ---- */

/* z becomes L⁻¹ z, R = L Lᵀ the correlation matrix, L in a, L⁻¹ in b. */
static bool whiten(gess__learner *l, size_t m)
{
    size_t dim = l->dim;
    gess__self_product(dim, m, 1.0 / (double)m, l->z, l->a);
    for (size_t i = 0; i < dim; i++) l->a[i * dim + i] += 1e-9;
    if (!gess__cholesky(dim, l->a)) return false;
    for (size_t i = 0; i < dim * dim; i++) l->b[i] = i % (dim + 1) == 0 ? 1.0 : 0.0;
    gess__solve_lower(dim, l->a, dim, l->b);
    gess__solve_lower(dim, l->a, m, l->z);
    return true;
}

/* ν of a t with covariance I for points of these squared lengths, the best of a few; INFINITY: a Gaussian. */
static double tails(size_t dim, size_t m, const double *lengths)
{
    static const double tried[] = {3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 14.0, 20.0, 30.0, 50.0, 100.0, 300.0, INFINITY};
    double d = (double)dim, best = INFINITY, most = -INFINITY;
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        double nu = tried[k], sum = 0.0;
        if (isinf(nu)) {
            for (size_t j = 0; j < m; j++) sum -= 0.5 * lengths[j];
            sum -= 0.5 * d * gess__log(2.0) * (double)m;
        } else {
            double norm = gess__log_gamma(0.5 * (nu + d)) - gess__log_gamma(0.5 * nu) - 0.5 * d * gess__log(nu - 2.0);
            for (size_t j = 0; j < m; j++) sum -= 0.5 * (nu + d) * gess__log1p(lengths[j] / (nu - 2.0));
            sum += norm * (double)m;
        }
        if (!(sum > most)) continue;
        most = sum;
        best = nu;
    }
    return best;
}

/* What a point counts in a t with that ν: (ν + D) / (ν − 2 + |z|²), so that whitened points have mean square 1. */
static void set_weights(size_t dim, size_t m, const double *lengths, double *weights)
{
    double nu = tails(dim, m, lengths);
    for (size_t j = 0; j < m; j++) weights[j] = isinf(nu) ? 1.0 : (nu + (double)dim) / (nu - 2.0 + lengths[j]);
}

/* The points that directions are looked for with, into `residuals`; their squared lengths into `lengths`. */
static void pull_in(gess__learner *l, size_t m, double *lengths, double *weights)
{
    size_t dim = l->dim;
    double most = FAR * FAR * (double)dim;
    for (size_t j = 0; j < m; j++) lengths[j] = gess__dot(dim, l->z + j * dim, l->z + j * dim);
    set_weights(dim, m, lengths, weights);
    for (size_t j = 0; j < m; j++) {
        const double *z = l->z + j * dim;
        double length = lengths[j], factor = length > most ? sqrt(most / length) : 1.0;
        for (size_t i = 0; i < dim; i++) l->residuals[j * dim + i] = factor * z[i];
        lengths[j] = factor * factor * length;
    }
}

/* ---- 2. directions ---- */

/* Takes out of w what lies along the directions found; returns its length after that, and makes it 1. */
static double orthonormal(size_t dim, const double *found, size_t count, double *w)
{
    for (int twice = 0; twice < 2; twice++)
        for (size_t k = 0; k < count; k++) {
            double along = gess__dot(dim, found + k * dim, w);
            for (size_t i = 0; i < dim; i++) w[i] -= along * found[k * dim + i];
        }
    double size = sqrt(gess__dot(dim, w, w));
    for (size_t i = 0; i < dim && size > 0.0; i++) w[i] /= size;
    return size;
}

/* One power iteration: u = z·w, next = E[z u²]; returns E[u³]. */
static double third_moment(size_t dim, size_t m, const double *z, const double *w, double *u, double *next)
{
    gess__product(true, m, 1, dim, z, w, u);
    for (size_t j = 0; j < m; j++) u[j] = u[j] * u[j] / (double)m;
    gess__product(false, dim, 1, m, z, u, next);
    return gess__dot(dim, next, w);
}

/* Climbs from w; returns |E[u³]| where it ends. */
static double climb(size_t dim, size_t m, const double *z, const double *found, size_t count, double *w, double *u,
                    double *next)
{
    double skew = 0.0;
    if (!(orthonormal(dim, found, count, w) > 1e-9)) return 0.0;
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        double old = skew;
        skew = fabs(third_moment(dim, m, z, w, u, next));
        if (!(orthonormal(dim, found, count, next) > 1e-12)) return 0.0;
        memcpy(w, next, dim * sizeof *w);
        if (fabs(skew - old) < 1e-4 * skew) break;
    }
    return skew;
}

/* E[z |z|²] first, then whitened axes by their own skewness. */
static void start(const gess__learner *l, size_t m, int which, double *lengths, double *axes, double *u, double *w)
{
    size_t dim = l->dim, best = 0;
    if (which == 0) {
        for (size_t j = 0; j < m; j++) u[j] = lengths[j] / (double)m;
        gess__product(false, dim, 1, m, l->residuals, u, w);
        return;
    }
    for (size_t i = 1; i < dim; i++)
        if (axes[i] > axes[best]) best = i;
    axes[best] = -1.0;
    for (size_t i = 0; i < dim; i++) w[i] = i == best ? 1.0 : 0.0;
}

/* |E[z_i³]| of every axis of which something is left; −1 of the others. */
static void axis_skewness(const gess__learner *l, size_t m, const double *found, size_t count, double *axes)
{
    size_t dim = l->dim;
    for (size_t i = 0; i < dim; i++) axes[i] = 0.0;
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < dim; i++) {
            double z = l->residuals[j * dim + i];
            axes[i] += z * z * z / (double)m;
        }
    for (size_t i = 0; i < dim; i++) {
        double left = 1.0;
        for (size_t k = 0; k < count; k++) left -= found[k * dim + i] * found[k * dim + i];
        axes[i] = left > 0.1 ? fabs(axes[i]) : -1.0;
    }
}

/* The next direction into found[count]; returns its skewness. The starts climb with every few-th point, the best of
 * them goes on with all. */
static double next_direction(gess__learner *l, size_t m, double *found, size_t count, double *lengths, double *u)
{
    size_t dim = l->dim, stride = m / FEW < 1 ? 1 : m / FEW, few = m / stride;
    double *w = l->small, *next = l->small + dim, *axes = l->small + 2 * dim, best = 0.0;
    double *sample = l->pair + l->most * dim, *to = found + count * dim;
    if (count == 0)
        for (size_t j = 0; j < few; j++)
            memcpy(sample + j * dim, l->residuals + j * stride * dim, dim * sizeof *sample);
    axis_skewness(l, m, found, count, axes);
    for (int which = 0; which < STARTS && (size_t)which <= dim; which++) {
        start(l, m, which, lengths, axes, u, w);
        double skew = climb(dim, few, sample, found, count, w, u, next);
        if (!(skew > best)) continue;
        best = skew;
        memcpy(to, w, dim * sizeof *w);
    }
    return best > 0.0 ? climb(dim, m, l->residuals, found, count, to, u, next) : 0.0;
}

/* ---- 3. warps ---- */

/* Sums over points of minus the log-likelihood, its gradient and the products of its gradient. */
GESS__VECTOR
static void add_scores(size_t n, const double *restrict x, const double *restrict weights, const double *restrict p,
                       double *restrict out)
{
    double s[SUMS][GESS__LANES] = {{0}}, shift = p[0], inverse = gess__exp(-p[1]), tilt = p[2], power = gess__exp(p[3]);
    for (size_t j = 0; j + GESS__LANES <= n; j += GESS__LANES)
        for (size_t l = 0; l < GESS__LANES; l++) {
            double t = (x[j + l] - shift) * inverse, size = fabs(t), square = t * t, root = sqrt(1.0 + square);
            double angle = copysign(gess__log1p(size + square / (1.0 + root)), t);
            double q = gess__fma(power, angle, -tilt), high = gess__select(fabs(q) > 300.0, 300.0, fabs(q));
            double e = gess__exp(high), c = 0.5 * (e + 1.0 / e), v = copysign(0.5 * (e - 1.0 / e), q);
            double w = weights[j + l], by_q = w * v * c - v / c, by_t = by_q * power / root + t / (root * root);
            double g0 = -by_t * inverse, g1 = 1.0 - by_t * t, g2 = -by_q, g3 = by_q * power * angle - 1.0;
            s[0][l] += 0.5 * w * v * v - gess__log(c / root);
            s[1][l] += g0;
            s[2][l] += g1;
            s[3][l] += g2;
            s[4][l] += g3;
            s[5][l] += g0 * g0;
            s[6][l] += g0 * g1;
            s[7][l] += g0 * g2;
            s[8][l] += g0 * g3;
            s[9][l] += g1 * g1;
            s[10][l] += g1 * g2;
            s[11][l] += g1 * g3;
            s[12][l] += g2 * g2;
            s[13][l] += g2 * g3;
            s[14][l] += g3 * g3;
        }
    size_t used = n / GESS__LANES * GESS__LANES;
    for (size_t u = 0; u < SUMS; u++) {
        out[u] = 0.0;
        for (size_t l = 0; l < GESS__LANES; l++) out[u] += s[u][l];
        out[u] /= (double)used;
    }
    out[0] += p[1] - p[3];
}

/* Whether x has reached ±most and the loss still falls outwards. */
static bool at_bound(double x, double most, double slope)
{
    return (x >= most && slope < 0.0) || (x <= -most && slope > 0.0);
}

/* A damped scoring step from s with the sums there. */
static shape stepped(const shape *s, const double *sums, double damping)
{
    double a[PARAMETERS * PARAMETERS], b[PARAMETERS];
    const bool held[PARAMETERS] = {false, false, !s->tilts || at_bound(s->p[2], MOST_TILT, sums[3]),
                                   !s->powers || at_bound(s->p[3], MOST_LOG_POWER, sums[4])};
    shape to = *s;
    for (size_t u = 0, k = 1 + PARAMETERS; u < PARAMETERS; u++)
        for (size_t v = u; v < PARAMETERS; v++, k++)
            a[u * PARAMETERS + v] = a[v * PARAMETERS + u] = held[u] || held[v] ? 0.0 : sums[k];
    for (size_t u = 0; u < PARAMETERS; u++) {
        a[u * PARAMETERS + u] = held[u] ? 1.0 : a[u * PARAMETERS + u] * (1.0 + damping);
        b[u] = held[u] ? 0.0 : -sums[1 + u];
    }
    gess__learn_solve(PARAMETERS, a, b);
    for (size_t u = 0; u < PARAMETERS; u++) to.p[u] += b[u];
    to.p[2] = fmin(fmax(to.p[2], -MOST_TILT), MOST_TILT);
    to.p[3] = fmin(fmax(to.p[3], -MOST_LOG_POWER), MOST_LOG_POWER);
    return to;
}

/* Maximum likelihood from where s is; returns minus the log-likelihood a point, but a constant. */
static double fit_shape(shape *s, size_t n, const double *x, const double *weights)
{
    double sums[SUMS], trial[SUMS], damping = 0.01;
    add_scores(n, x, weights, s->p, sums);
    for (int iteration = 0; iteration < 40 && damping < 1e8; iteration++) {
        shape to = stepped(s, sums, damping);
        add_scores(n, x, weights, to.p, trial);
        if (!(trial[0] <= sums[0])) {
            damping *= 10.0;
            continue;
        }
        double won = sums[0] - trial[0];
        *s = to;
        memcpy(sums, trial, sizeof sums);
        damping *= 0.2;
        if (won < 1e-6) break;
    }
    return sums[0];
}

static double loss_of(const shape *s, size_t n, const double *x, const double *weights)
{
    double sums[SUMS];
    add_scores(n, x, weights, s->p, sums);
    return sums[0];
}

/* What the tilt gains over the same without, each half under the fit to the other. */
static double held_out_gain(const shape *from, size_t m, const double *x, const double *weights)
{
    size_t half = m / 2;
    double gain = 0.0;
    for (int side = 0; side < 2; side++) {
        const double *mine = side ? x + half : x, *other = side ? x : x + half;
        const double *my_weights = side ? weights + half : weights, *other_weights = side ? weights : weights + half;
        size_t n = side ? m - half : half;
        shape full = *from, plain = *from;
        plain.tilts = false;
        plain.p[2] = 0.0;
        (void)fit_shape(&plain, n, mine, my_weights);
        memcpy(full.p, plain.p, sizeof full.p);
        (void)fit_shape(&full, n, mine, my_weights);
        gain += 0.5 * (loss_of(&plain, m - n, other, other_weights) - loss_of(&full, m - n, other, other_weights));
    }
    return gain;
}

/* ---- the layer ---- */

/* Directions that are warped, of those found, and how. */
typedef struct warps {
    size_t count, which[GESS__MOST_DIRECTIONS];
    shape shapes[GESS__MOST_DIRECTIONS];
} warps;

static void find_warps(gess__learner *l, size_t n, size_t m, double *found, double *lengths, double *weights, double *u,
                       warps *w)
{
    size_t dim = l->dim, most = gess__most_directions(dim);
    double threshold = LEAST_SKEWNESS * sqrt(6.0 / gess__learn_effective(n));
    int failures = 0;
    for (size_t k = 0; k < most && failures < MOST_FAILURES; k++) {
        if (!(next_direction(l, m, found, k, lengths, u) > threshold)) break;
        shape s = {.tilts = true, .powers = n >= FREE_POWER};
        gess__product(true, m, 1, dim, l->z, found + k * dim, u);
        if (!(held_out_gain(&s, m, u, weights) > LEAST_GAIN)) {
            failures++;
            continue;
        }
        failures = 0;
        (void)fit_shape(&s, m, u, weights);
        w->which[w->count] = k;
        w->shapes[w->count++] = s;
    }
}

/* |z|² after the warps. */
static void warped_lengths(const gess__learner *l, size_t m, const double *found, const warps *w, double *lengths,
                           double *u)
{
    size_t dim = l->dim;
    for (size_t j = 0; j < m; j++) lengths[j] = gess__dot(dim, l->z + j * dim, l->z + j * dim);
    for (size_t k = 0; k < w->count; k++) {
        const double *p = w->shapes[k].p;
        double inverse = gess__exp(-p[1]), power = gess__exp(p[3]);
        gess__product(true, m, 1, dim, l->z, found + w->which[k] * dim, u);
        for (size_t j = 0; j < m; j++) {
            double slope, v = gess__warped((u[j] - p[0]) * inverse, power, -p[2], &slope);
            lengths[j] += v * v - u[j] * u[j];
        }
    }
    for (size_t j = 0; j < m; j++) lengths[j] = fmin(fmax(lengths[j], 0.0), 1e100);
}

/* Skewness looks like tails until it is gone: tails and weights again, from the warped points, and the warps with
 * these. */
static void refit(const gess__learner *l, size_t m, const double *found, double *lengths, double *weights, double *u,
                  warps *w)
{
    warped_lengths(l, m, found, w, lengths, u);
    set_weights(l->dim, m, lengths, weights);
    for (size_t k = 0; k < w->count; k++) {
        gess__product(true, m, 1, l->dim, l->z, found + w->which[k] * l->dim, u);
        (void)fit_shape(&w->shapes[k], m, u, weights);
    }
}

/* row = S⁻¹ L⁻ᵀ w, column = S L w in the points' own coordinates. */
static void add_direction(const gess__learner *l, const double *w, const shape *s, gess__layer *layer)
{
    size_t dim = l->dim;
    double *row = layer->rows + layer->count * dim, *column = layer->columns + layer->count * dim;
    gess__product(true, dim, 1, dim, l->b, w, row);
    gess__product(false, dim, 1, dim, l->a, w, column);
    for (size_t i = 0; i < dim; i++) {
        row[i] /= l->sd[i];
        column[i] *= l->sd[i];
    }
    layer->warps[layer->count++] = (gess__warp){s->p[0], gess__exp(s->p[1]), s->p[2], gess__exp(s->p[3])};
}

int gess__learn_skew(gess__learner *l, size_t n, const double *points, gess__learned *map)
{
    size_t m = gess__learn_points(l, n, GESS__SKEW_POINTS);
    if (m == 0 || map->count == GESS__MOST_LAYERS || !gess__learn_standardise(l, n, points, m, false)) return 0;
    if (!whiten(l, m)) return 0;
    double *lengths = l->vectors, *u = l->vectors + m, *weights = l->vectors + 2 * m, *found = l->pair;
    warps w = {0};
    pull_in(l, m, lengths, weights);
    find_warps(l, n, m, found, lengths, weights, u, &w);
    for (int round = 0; round < REFITS && w.count > 0; round++) refit(l, m, found, lengths, weights, u, &w);
    gess__layer *layer = &map->layers[map->count];
    layer->kind = GESS__SKEW_LAYER;
    layer->count = 0;
    memcpy(layer->centre, l->mean, l->dim * sizeof *l->mean);
    for (size_t k = 0; k < w.count; k++) add_direction(l, found + w.which[k] * l->dim, &w.shapes[k], layer);
    if (!gess__layer_possible(layer, l->dim)) return 0;
    gess__layer_finish(layer);
    map->count++;
    return 1;
}
