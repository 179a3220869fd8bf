/* Finding a skew layer: directions in which the whitened points are skewed, and a warp of each.
 *
 *   1. Points are whitened; a point far out is pulled in to FAR radii, so that outliers do not choose directions.
 *   2. The direction of largest third moment by the power iteration w ← E[z (w·z)²] / |…|, from four starts, among
 *      those orthogonal to the ones before; until none is significantly skewed. Where there are points of other
 *      chains, these must be skewed the same way: chains that have not gone far yet are skewed in directions of their
 *      own.
 *   3. The warp by maximum likelihood. Tails alone are no reason to warp, since T has tails of its own: a direction
 *      counts where tilt and lean raise the likelihood of the other chains' points under the fit, or else of each half
 *      of the points under the fit to the other. With few points the power stays 1 and the lean 0. */
#include "transform/learn.h"

#include "base/linalg.h"
#include "base/vmath.h"

enum {
    W = GESS__LANES,
    STARTS = GESS__SKEW_STARTS,
    ITERATIONS = 20,
    ALONE = 5,
    MAX_FAILURES = 3,
    FEW = 3000,
    REFITS = 2
};

#define MIN_SKEWNESS 2.5 /* standard errors */
#define MIN_GAIN 0.005   /* nats, held out */
#define SETTLED 1e-3       /* by so much of itself the skewness may still rise */
#define MIN_SHARED 0.3   /* of the skewness, in points of other chains */
#define FAR 2.0            /* times sqrt(dim) */
#define FREE_POWER 3000    /* points from which power and lean are fitted too */

/* ---- 1. whitening ---- */

/* What a point of this squared length is to be multiplied by. */
GESS__INLINE double pull(size_t dim, double length)
{
    double most = FAR * FAR * (double)dim;
    return length > most ? sqrt(most / length) : 1.0;
}

/* Of the points of a tile, whose lengths are given: pulled in; those beyond `some` are no points. */
GESS__VECTOR
static void pull_tile(size_t dim, size_t some, double *restrict lengths, double *restrict tile)
{
    double factors[W] = {0};
    for (size_t l = 0; l < some; l++) {
        factors[l] = pull(dim, lengths[l]);
        lengths[l] *= factors[l] * factors[l];
    }
    for (size_t i = 0; i < dim; i++)
        for (size_t l = 0; l < W; l++) tile[i * W + l] *= factors[l];
}

/* The points that directions are looked for with, tile by tile, into `residuals`; their squared lengths into `lengths`.
 */
static void pull_in(gess__learner *l, size_t m, double *lengths, double *weights)
{
    size_t dim = l->dim;
    for (size_t j = 0; j < m; j++) lengths[j] = gess__dot(dim, l->z + j * dim, l->z + j * dim);
    gess__learn_weights(dim, m, lengths, weights);
    for (size_t j = 0; j < m; j += W) {
        size_t some = m - j < W ? m - j : W;
        gess__to_tile(dim, some, l->z + j * dim, l->residuals + j * dim);
        pull_tile(dim, some, lengths + j, l->residuals + j * dim);
    }
}

/* The points of other chains whitened likewise; what they count, and by how much they are to be pulled in. */
static void prepare_check(gess__learner *l)
{
    size_t dim = l->dim, c = l->checked;
    double *weights = l->checks, *factors = l->checks + GESS__CHECKED;
    gess__solve_lower(dim, l->a, c, l->check);
    for (size_t j = 0; j < c; j++) factors[j] = gess__dot(dim, l->check + j * dim, l->check + j * dim);
    gess__learn_weights(dim, c, factors, weights);
    for (size_t j = 0; j < c; j++) factors[j] = pull(dim, factors[j]);
}

/* Places along w of the points of other chains, into the third row of `checks`; returns their skewness. */
static double check_direction(const gess__learner *l, const double *w)
{
    size_t c = l->checked;
    const double *factors = l->checks + GESS__CHECKED;
    double *u = l->checks + 2 * (size_t)GESS__CHECKED, sum = 0.0;
    gess__product(true, c, 1, l->dim, l->check, w, u);
    for (size_t j = 0; j < c; j++) {
        double pulled = factors[j] * u[j];
        sum += pulled * pulled * pulled;
    }
    return sum / (double)c;
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

/* Adds z (z·w)² of the points of a tile, in lanes; four sums side by side, so that none waits for itself. */
GESS__VECTOR
static void add_third_moments(size_t dim, const double *restrict tile, const double *restrict w, double *restrict sums)
{
    double s0[W] = {0}, s1[W] = {0}, s2[W] = {0}, s3[W] = {0};
    size_t i = 0;
    for (; i + 4 <= dim; i += 4) {
        const double *restrict z = tile + i * W;
        for (size_t l = 0; l < W; l++) s0[l] = gess__fma(z[l], w[i], s0[l]);
        for (size_t l = 0; l < W; l++) s1[l] = gess__fma(z[W + l], w[i + 1], s1[l]);
        for (size_t l = 0; l < W; l++) s2[l] = gess__fma(z[2 * W + l], w[i + 2], s2[l]);
        for (size_t l = 0; l < W; l++) s3[l] = gess__fma(z[3 * W + l], w[i + 3], s3[l]);
    }
    for (; i < dim; i++)
        for (size_t l = 0; l < W; l++) s0[l] = gess__fma(tile[i * W + l], w[i], s0[l]);
    for (size_t l = 0; l < W; l++) {
        double u = (s0[l] + s1[l]) + (s2[l] + s3[l]);
        s0[l] = u * u;
    }
    for (i = 0; i < dim; i++)
        for (size_t l = 0; l < W; l++) sums[i * W + l] = gess__fma(tile[i * W + l], s0[l], sums[i * W + l]);
}

struct moments {
    size_t dim, count;
    const double *tiles, *w;
    double *lanes; /* of each block, a tile for each direction */
};

static void moments_of_block(void *data, unsigned worker, size_t block, size_t first, size_t points)
{
    (void)worker;
    const struct moments *a = data;
    size_t dim = a->dim, end = first + points;
    double *sums = a->lanes + block * a->count * dim * W;
    memset(sums, 0, a->count * dim * W * sizeof *sums);
    for (size_t j = first; j < end; j += W)
        for (size_t c = 0; c < a->count; c++)
            add_third_moments(dim, a->tiles + j * dim, a->w + c * dim, sums + c * dim * W);
}

/* E[z (z·w)²] of m points in tiles, for each of the directions w: the points are read once for all of them. */
static void third_moments(gess__learner *l, size_t m, const double *tiles, size_t count, const double *w, double *next)
{
    size_t dim = l->dim, stride = count * dim * W, blocks = gess__block_count(m);
    struct moments a = {dim, count, tiles, w, l->lanes};
    gess__blocks(l->team, 4.0 * (double)(m * dim * count), m, moments_of_block, &a);
    for (size_t i = 0; i < count * dim; i++) {
        next[i] = 0.0;
        for (size_t b = 0; b < blocks; b++) next[i] += gess__lane_sum(l->lanes + b * stride + i * W);
        next[i] /= (double)m;
    }
}

static size_t most_skewed(size_t count, const double *skews)
{
    size_t best = 0;
    for (size_t c = 1; c < count; c++)
        if (skews[c] > skews[best]) best = c;
    return best;
}

/* Of those that have not settled, the one that is ahead of all, or none. */
static size_t lead(size_t left, size_t *which, const double *skews, size_t count)
{
    size_t best = most_skewed(count, skews);
    for (size_t k = 0; k < left; k++)
        if (which[k] == best) {
            which[0] = best;
            return 1;
        }
    return 0;
}

/* The power iteration from `count` directions w side by side, each until it has settled, or after ALONE steps the
 * best only; *skews: |E[(w·z)³]| where they end, 0 for one that leads nowhere. `trial`: as much again twice. */
static void climb(gess__learner *l, size_t m, const double *tiles, const double *found, size_t known, size_t count,
                  double *w, double *skews, double *trial)
{
    size_t dim = l->dim, left = 0, which[STARTS];
    double *next = trial + count * dim;
    for (size_t c = 0; c < count; c++) {
        skews[c] = 0.0;
        if (orthonormal(dim, found, known, w + c * dim) > 1e-9) which[left++] = c;
    }
    for (int iteration = 0; iteration < ITERATIONS && left > 0; iteration++) {
        size_t kept = 0;
        for (size_t k = 0; k < left; k++) memcpy(trial + k * dim, w + which[k] * dim, dim * sizeof *w);
        third_moments(l, m, tiles, left, trial, next);
        for (size_t k = 0; k < left; k++) {
            size_t c = which[k];
            double old = skews[c];
            skews[c] = fabs(gess__dot(dim, next + k * dim, trial + k * dim));
            if (!(orthonormal(dim, found, known, next + k * dim) > 1e-12)) {
                skews[c] = 0.0;
                continue;
            }
            memcpy(w + c * dim, next + k * dim, dim * sizeof *w);
            if (!(fabs(skews[c] - old) < SETTLED * skews[c])) which[kept++] = c;
        }
        left = kept;
        if (iteration + 1 == ALONE) left = lead(left, which, skews, count);
    }
}

/* The axis of most skewness, which is not to come again. */
static void next_axis(size_t dim, double *axes, double *w)
{
    size_t best = 0;
    for (size_t i = 1; i < dim; i++)
        if (axes[i] > axes[best]) best = i;
    axes[best] = -1.0;
    for (size_t i = 0; i < dim; i++) w[i] = i == best ? 1.0 : 0.0;
}

/* Adds z |z|² and z³ of the points of a tile, in lanes. */
GESS__VECTOR
static void add_starts(size_t dim, const double *restrict tile, const double *restrict lengths, double *restrict radial,
                       double *restrict cubes)
{
    for (size_t i = 0; i < dim; i++)
        for (size_t l = 0; l < W; l++) {
            double z = tile[i * W + l];
            radial[i * W + l] = gess__fma(z, lengths[l], radial[i * W + l]);
            cubes[i * W + l] = gess__fma(z * z, z, cubes[i * W + l]);
        }
}

/* Where climbs begin: E[z |z|²], and E[z_i³] of every axis. */
static void find_starts(gess__learner *l, size_t m, const double *lengths, double *radial, double *cubes)
{
    size_t dim = l->dim;
    double *lanes = l->lanes;
    memset(lanes, 0, 2 * dim * W * sizeof *lanes);
    for (size_t j = 0; j < m; j += W) {
        double some[W] = {0};
        memcpy(some, lengths + j, (m - j < W ? m - j : W) * sizeof *some);
        add_starts(dim, l->residuals + j * dim, some, lanes, lanes + dim * W);
    }
    for (size_t i = 0; i < dim; i++) {
        radial[i] = gess__lane_sum(lanes + i * W) / (double)m;
        cubes[i] = gess__lane_sum(lanes + (dim + i) * W) / (double)m;
    }
}

/* Every stride-th tile into `sample`; returns how many points these have. */
static size_t thin_tiles(const gess__learner *l, size_t m, size_t stride, double *sample)
{
    size_t dim = l->dim, few = 0, tiles = (m + W - 1) / W;
    for (size_t t = 0; t < tiles; t += stride) {
        memcpy(sample + few * dim, l->residuals + t * W * dim, W * dim * sizeof *sample);
        few += m - t * W < W ? m - t * W : W;
    }
    return few;
}

/* |E[z_i³]| of every axis of which something is left; −1 of the others. */
static void axis_skewness(size_t dim, const double *cubes, const double *found, size_t count, double *axes)
{
    for (size_t i = 0; i < dim; i++) {
        double left = 1.0;
        for (size_t k = 0; k < count; k++) left -= found[k * dim + i] * found[k * dim + i];
        axes[i] = left > 0.1 ? fabs(cubes[i]) : -1.0;
    }
}

/* What all searches for a direction use: the points that climbs begin with, and where climbs begin. */
typedef struct search {
    size_t m, few;            /* points, and those of `sample` */
    double *sample;           /* tiles */
    double *radial, *cubes;   /* E[z |z|²]; E[z_i³] of every axis */
    double *axes, *w, *trial; /* scratch */
} search;

static search begin_search(gess__learner *l, size_t m, const double *lengths)
{
    size_t dim = l->dim, stride = m / FEW < 1 ? 1 : m / FEW;
    search s = {.m = m, .sample = l->pair + l->most * dim, .axes = l->small};
    s.cubes = s.axes + dim;
    s.radial = s.cubes + dim;
    s.w = s.radial + dim;
    s.trial = s.w + STARTS * dim;
    s.few = thin_tiles(l, m, stride, s.sample);
    find_starts(l, m, lengths, s.radial, s.cubes);
    return s;
}

/* The next direction into found[count]; returns its skewness. The starts climb with the points of every few-th tile,
 * the best of them goes on with all. */
static double next_direction(gess__learner *l, const search *s, double *found, size_t count)
{
    size_t dim = l->dim, starts = dim < STARTS ? dim + 1 : STARTS;
    double *to = found + count * dim, skews[STARTS];
    axis_skewness(dim, s->cubes, found, count, s->axes);
    memcpy(s->w, s->radial, dim * sizeof *s->w);
    for (size_t c = 1; c < starts; c++) next_axis(dim, s->axes, s->w + c * dim);
    climb(l, s->few, s->sample, found, count, starts, s->w, skews, s->trial);
    size_t best = most_skewed(starts, skews);
    if (!(skews[best] > 0.0)) return 0.0;
    memcpy(to, s->w + best * dim, dim * sizeof *to);
    climb(l, s->m, l->residuals, found, count, 1, to, skews, s->trial);
    return skews[0];
}

/* ---- the layer ---- */

/* Directions that are warped, of those found, and how. */
typedef struct warps {
    size_t count, which[GESS__MAX_DIRECTIONS];
    gess__shape shapes[GESS__MAX_DIRECTIONS];
} warps;

static void find_warps(gess__learner *l, size_t n, size_t m, double *found, const double *lengths, double *weights,
                       double *u, warps *w)
{
    size_t dim = l->dim, most = gess__max_directions(dim);
    double *some = l->vectors + 3 * m, *some_weights = l->vectors + 4 * m;
    double threshold = MIN_SKEWNESS * sqrt(6.0 / gess__learn_effective(n));
    const search s = begin_search(l, m, lengths);
    int failures = 0;
    for (size_t k = 0; k < most && failures < MAX_FAILURES; k++) {
        double skewness = next_direction(l, &s, found, k);
        if (!(skewness > threshold)) break;
        if (l->checked > 0 && !(check_direction(l, found + k * dim) > MIN_SHARED * skewness)) {
            failures++;
            continue;
        }
        gess__shape shape = {.tilts = true, .powers = n >= FREE_POWER, .leans = n >= FREE_POWER};
        gess__product(true, m, 1, dim, l->z, found + k * dim, u);
        size_t few = gess__shape_thin(m, u, some);
        gess__shape_thin(m, weights, some_weights);
        gess__checked checked = {l->checked, l->checks + 2 * (size_t)GESS__CHECKED, l->checks};
        if (!(gess__shape_gain(&shape, l->team, few, some, some_weights, checked) > MIN_GAIN)) {
            failures++;
            continue;
        }
        failures = 0;
        w->which[w->count] = k;
        w->shapes[w->count++] = shape;
    }
}

/* What the warp of u changes in |z|². */
GESS__VECTOR
static void add_warped(size_t m, const double *restrict u, const gess__warp *warp, double *restrict lengths)
{
    for (size_t j = 0; j < m; j++) {
        double slope;
        double v = gess__warp_in((u[j] - warp->shift) / warp->spread, warp->power, warp->lean, warp->tilt, &slope);
        lengths[j] += v * v - u[j] * u[j];
    }
}

/* |z|² after the warps. */
static void warped_lengths(const gess__learner *l, size_t m, const double *found, const warps *w, double *lengths,
                           double *u)
{
    size_t dim = l->dim;
    for (size_t j = 0; j < m; j++) lengths[j] = gess__dot(dim, l->z + j * dim, l->z + j * dim);
    for (size_t k = 0; k < w->count; k++) {
        gess__warp warp = gess__shape_warp(&w->shapes[k]);
        gess__product(true, m, 1, dim, l->z, found + w->which[k] * dim, u);
        add_warped(m, u, &warp, lengths);
    }
    for (size_t j = 0; j < m; j++) lengths[j] = fmin(fmax(lengths[j], 0.0), 1e100);
}

/* Skewness looks like tails until it is gone: tails and weights again, from the warped points, and the warps with
 * these. */
static void refit(const gess__learner *l, size_t m, const double *found, double *lengths, double *weights, double *u,
                  warps *w)
{
    warped_lengths(l, m, found, w, lengths, u);
    gess__learn_weights(l->dim, m, lengths, weights);
    for (size_t k = 0; k < w->count; k++) {
        gess__product(true, m, 1, l->dim, l->z, found + w->which[k] * l->dim, u);
        gess__shape_fit(&w->shapes[k], l->team, m, u, weights);
    }
}

/* row = S⁻¹ L⁻ᵀ w, column = S L w in the points' own coordinates. */
static void add_direction(const gess__learner *l, const double *w, const gess__shape *s, gess__layer *layer)
{
    size_t dim = l->dim;
    double *row = layer->rows + layer->count * dim, *column = layer->columns + layer->count * dim;
    gess__product(true, dim, 1, dim, l->b, w, row);
    gess__product(false, dim, 1, dim, l->a, w, column);
    for (size_t i = 0; i < dim; i++) {
        row[i] /= l->sd[i];
        column[i] *= l->sd[i];
    }
    layer->warps[layer->count++] = gess__shape_warp(s);
}

int gess__learn_skew(gess__learner *l, size_t n, const double *points, gess__learned *map)
{
    size_t m = gess__learn_points(l, n, GESS__SKEW_POINTS);
    if (m == 0 || map->count == GESS__MAX_LAYERS || !gess__learn_standardise(l, n, points, m, false)) return 0;
    if (!gess__learn_whiten(l, m, l->z)) return 0;
    double *lengths = l->vectors, *u = l->vectors + m, *weights = l->vectors + 2 * m, *found = l->pair;
    warps w = {0};
    pull_in(l, m, lengths, weights);
    if (l->checked > 0) prepare_check(l);
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
