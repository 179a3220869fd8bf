/* The skew layer: sinh-arcsinh warps (sinh_arcsinh.h) in skewed directions.
 *
 *   u_j = row_j · (y − centre),   w = y + Σ column_j (v_j − u_j),   v_j the warp of u_j
 *
 * The directions are orthogonal in the covariance of the points that were learned from; what is orthogonal to them
 * stays as it is.
 *
 * Learning:
 *   1. The points are whitened. A point farther out than FAR radii is pulled in to that radius, so that outliers do not
 *      choose directions.
 *   2. Directions of largest third moment, each orthogonal to those before it, until none is significantly skewed
 *      (skew_search.c). If there are points of other chains, these must be skewed the same way: chains that have not
 *      travelled far yet differ in the directions in which they are skewed.
 *   3. The warp by maximum likelihood. Heavy tails are no reason to warp, since T has tails too: a direction is warped
 *      only if tilt and lean raise the likelihood of the other chains' points under the fit, or, without such points,
 *      of either half of the points under the fit to the other. With few points the power stays 1 and the lean 0. */
#include "transform/skew.h"

#include "base/linalg.h"
#include "base/tile_matmul.h"
#include "base/tiles.h"
#include "transform/layer_body.h"
#include "transform/layer_learner.h"
#include "transform/sinh_arcsinh_fit.h"
#include "transform/skew_search.h"
#include "transform/tail_weights.h"

enum { W = GESS__LANES, MAX_DIRECTIONS = 64, MAX_FAILURES = 3, REFITS = 2 };

#define MIN_SKEWNESS 2.5       /* standard errors */
#define MIN_SHARED 0.3         /* share of the skewness that the points of other chains must have */
#define MIN_GAIN 0.005         /* nats per point, held out */
#define FAR 2.0                /* radii of sqrt(dim) */
#define FREE_POWER_POINTS 3000 /* points from which power and lean are fitted too */

static size_t max_items(size_t dim)
{
    return dim < MAX_DIRECTIONS ? dim : MAX_DIRECTIONS;
}

/* ---- a tile of points, in place ---- */

static size_t scratch(size_t dim)
{
    return dim + max_items(dim);
}

/* out = rows x for a tile. */
static void tile_product(gess__matrix_rows rows, size_t count, size_t terms, const double *x, double *out)
{
    memset(out, 0, count * W * sizeof *out);
    gess__tile_matmul(rows, count, terms, x, out);
}

/* u_j = row_j · (x − centre) for a tile; `centred` is scratch. */
GESS__INLINE void directions(const gess__layer *layer, size_t dim, const double *restrict tile,
                             double *restrict centred, double *restrict u)
{
    for (size_t i = 0; i < dim; i++)
        for (size_t l = 0; l < W; l++) centred[i * W + l] = tile[i * W + l] - layer->centre[i];
    tile_product((gess__matrix_rows){gess__skew_rows(layer), dim, 1}, layer->count, dim, centred, u);
}

/* x += Σ column_j change_j; `by` is scratch. */
GESS__INLINE void move(const gess__layer *layer, size_t dim, const double *restrict change, double *restrict by,
                       double *restrict tile)
{
    tile_product((gess__matrix_rows){gess__skew_columns(layer), 1, dim}, dim, layer->count, change, by);
    for (size_t i = 0; i < dim * W; i++) tile[i] += by[i];
}

static GESS__VECTOR(map_out,
                    (const gess__layer *layer, size_t dim, double *restrict tile, double *restrict sums,
                     double *restrict v),
                    (layer, dim, tile, sums, v))
{
    directions(layer, dim, tile, v + layer->count * W, v);
    gess__skew_out_body(layer->count, gess__skew_warps(layer), v, sums);
    move(layer, dim, v, v + layer->count * W, tile);
}

static GESS__VECTOR(map_in,
                    (const gess__layer *layer, size_t dim, double *restrict tile, double *restrict sums,
                     double *restrict u),
                    (layer, dim, tile, sums, u))
{
    const gess__warp *warps = gess__skew_warps(layer);
    double product[W];
    directions(layer, dim, tile, u + layer->count * W, u);
    for (size_t j = 0; j < layer->count; j++) {
        gess__warp w = warps[j];
        double slope[W], inverse = 1.0 / w.spread;
        for (size_t l = 0; l < W; l++) {
            double v = gess__warp_in((u[j * W + l] - w.shift) * inverse, w.power, w.lean, w.tilt, &slope[l]);
            u[j * W + l] = v - u[j * W + l];
        }
        gess__warp_add_logs(W, j, layer->count, slope, product, sums);
    }
    move(layer, dim, u, u + layer->count * W, tile);
}

static double constant(const gess__layer *layer)
{
    return gess__warp_constant(layer->count, gess__skew_warps(layer));
}

/* ---- whether it is valid ---- */

static bool valid(const gess__layer *layer, size_t dim)
{
    const double *rows = gess__skew_rows(layer), *columns = gess__skew_columns(layer);
    for (size_t i = 0; i < layer->count * dim; i++)
        if (!isfinite(rows[i]) || !isfinite(columns[i])) return false;
    for (size_t j = 0; j < layer->count; j++) {
        if (!gess__warp_valid(&gess__skew_warps(layer)[j])) return false;
        for (size_t k = 0; k < layer->count; k++) {
            double product = gess__dot(dim, rows + j * dim, columns + k * dim);
            if (!(fabs(product - (j == k ? 1.0 : 0.0)) < 1e-6)) return false;
        }
    }
    return true;
}

/* ---- learning: 1. whitening ---- */

/* The factor that pulls a point of this squared length in. */
GESS__INLINE double pull_factor(size_t dim, double length)
{
    double max = FAR * FAR * (double)dim;
    return length > max ? sqrt(max / length) : 1.0;
}

/* Pulls in the first `points` points of a tile, which have these squared lengths, and sets the others to 0. */
static GESS__VECTOR(pull_tile, (size_t dim, size_t points, double *restrict lengths, double *restrict tile),
                    (dim, points, lengths, tile))
{
    double factors[W] = {0};
    for (size_t l = 0; l < points; l++) {
        factors[l] = pull_factor(dim, lengths[l]);
        lengths[l] *= factors[l] * factors[l];
    }
    for (size_t i = 0; i < dim; i++)
        for (size_t l = 0; l < W; l++) tile[i * W + l] *= factors[l];
}

/* Writes the pulled points to `residuals`, in tiles, and their squared lengths to `lengths`. The weights are those of
 * the points as they were. */
static void pull_in(gess__learner *l, size_t m, double *lengths, double *weights)
{
    size_t dim = l->dim;
    for (size_t j = 0; j < m; j++) lengths[j] = gess__dot(dim, l->z + j * dim, l->z + j * dim);
    gess__tail_weights(dim, m, lengths, weights);
    for (size_t j = 0; j < m; j += W) {
        size_t points = m - j < W ? m - j : W;
        gess__to_tile(dim, points, l->z + j * dim, l->residuals + j * dim);
        pull_tile(dim, points, lengths + j, l->residuals + j * dim);
    }
}

/* ---- learning: points of other chains. check_vectors: their weights, their pull factors, their places along a
 * direction ---- */

/* Whitens them as the others, and sets their weights and pull factors. */
static void prepare_check(gess__learner *l)
{
    size_t dim = l->dim, c = l->check_count;
    double *weights = l->check_vectors, *factors = l->check_vectors + GESS__VALIDATION_POINTS;
    gess__solve_lower(dim, l->a, c, l->check);
    for (size_t j = 0; j < c; j++) factors[j] = gess__dot(dim, l->check + j * dim, l->check + j * dim);
    gess__tail_weights(dim, c, factors, weights);
    for (size_t j = 0; j < c; j++) factors[j] = pull_factor(dim, factors[j]);
}

/* Sets their places along w and returns their skewness. */
static double check_direction(const gess__learner *l, const double *w)
{
    size_t c = l->check_count;
    const double *factors = l->check_vectors + GESS__VALIDATION_POINTS;
    double *u = l->check_vectors + 2 * (size_t)GESS__VALIDATION_POINTS, sum = 0.0;
    gess__product(true, c, 1, l->dim, l->check, w, u);
    for (size_t j = 0; j < c; j++) {
        double pulled = factors[j] * u[j];
        sum += pulled * pulled * pulled;
    }
    return sum / (double)c;
}

/* ---- learning: 3. warps ---- */

/* Warps while they are fitted, and the directions, of those found, that they belong to. */
typedef struct fits {
    size_t count, which[MAX_DIRECTIONS];
    gess__shape shapes[MAX_DIRECTIONS];
} fits;

/* The learner's vectors. */
enum { LENGTHS, PLACES, WEIGHTS, THINNED, THINNED_WEIGHTS };

/* Whether the direction is worth a warp; fits it to thinned points. */
static bool fit_direction(const gess__learner *l, size_t m, const double *direction, gess__shape *shape)
{
    double *v = l->vectors, *u = v + PLACES * m, *thinned = v + THINNED * m, *weights = v + THINNED_WEIGHTS * m;
    gess__product(true, m, 1, l->dim, l->z, direction, u);
    size_t count = gess__shape_thin(m, u, thinned);
    gess__shape_thin(m, v + WEIGHTS * m, weights);
    gess__validation validation = {l->check_count, l->check_vectors + 2 * (size_t)GESS__VALIDATION_POINTS,
                                   l->check_vectors};
    return gess__shape_gain(shape, l->team, count, thinned, weights, validation) > MIN_GAIN;
}

/* Finds directions one after the other, into `found`, and those that are worth a warp, into w. */
static void find_directions(gess__learner *l, size_t n, size_t m, double *found, fits *w)
{
    size_t dim = l->dim;
    double threshold = MIN_SKEWNESS * sqrt(6.0 / gess__learn_effective(n));
    gess__skew_search search;
    gess__skew_search_begin(&search, l, m, l->vectors + LENGTHS * m);
    int failures = 0;
    for (size_t k = 0; k < max_items(dim) && failures < MAX_FAILURES; k++) {
        const double *direction = found + k * dim;
        double skewness = gess__skew_search_next(&search, found, k);
        if (!(skewness > threshold)) break;
        bool free_power = n >= FREE_POWER_POINTS;
        gess__shape shape = {.tilts = true, .powers = free_power, .leans = free_power};
        failures++;
        if (l->check_count > 0 && !(check_direction(l, direction) > MIN_SHARED * skewness)) continue;
        if (!fit_direction(l, m, direction, &shape)) continue;
        failures = 0;
        w->which[w->count] = k;
        w->shapes[w->count++] = shape;
    }
}

/* Adds to |z|² what the warp of u changes. */
static GESS__VECTOR(add_warped, (size_t m, const double *restrict u, const gess__warp *warp, double *restrict lengths),
                    (m, u, warp, lengths))
{
    for (size_t j = 0; j < m; j++) {
        double slope;
        double v = gess__warp_in((u[j] - warp->shift) / warp->spread, warp->power, warp->lean, warp->tilt, &slope);
        lengths[j] += v * v - u[j] * u[j];
    }
}

/* |z|² after the warps. */
static void warped_lengths(const gess__learner *l, size_t m, const double *found, const fits *w)
{
    size_t dim = l->dim;
    double *lengths = l->vectors + LENGTHS * m, *u = l->vectors + PLACES * m;
    for (size_t j = 0; j < m; j++) lengths[j] = gess__dot(dim, l->z + j * dim, l->z + j * dim);
    for (size_t k = 0; k < w->count; k++) {
        gess__warp warp = gess__shape_warp(&w->shapes[k]);
        gess__product(true, m, 1, dim, l->z, found + w->which[k] * dim, u);
        add_warped(m, u, &warp, lengths);
    }
    for (size_t j = 0; j < m; j++) lengths[j] = gess__min(gess__max(lengths[j], 0.0), 1e100);
}

/* Skewed points seem to have heavy tails until they are warped. So weights are found again from the warped points, and
 * the warps with these weights. */
static void refit(const gess__learner *l, size_t m, const double *found, fits *w)
{
    double *u = l->vectors + PLACES * m, *weights = l->vectors + WEIGHTS * m;
    warped_lengths(l, m, found, w);
    gess__tail_weights(l->dim, m, l->vectors + LENGTHS * m, weights);
    for (size_t k = 0; k < w->count; k++) {
        gess__product(true, m, 1, l->dim, l->z, found + w->which[k] * l->dim, u);
        gess__shape_fit(&w->shapes[k], l->team, m, u, weights);
    }
}

/* ---- learning: the layer ---- */

static size_t learn_bytes(size_t dim, size_t points)
{
    return gess__skew_search_bytes(dim, points);
}

/* row = S⁻¹ L⁻ᵀ w, column = S L w in the coordinates of the points, S being their standard deviations. */
static void add_direction(const gess__learner *l, const double *w, const gess__shape *s, gess__layer *layer)
{
    size_t dim = l->dim;
    double *row = gess__skew_rows(layer) + layer->count * dim, *column = gess__skew_columns(layer) + layer->count * dim;
    gess__product(true, dim, 1, dim, l->b, w, row);
    gess__product(false, dim, 1, dim, l->a, w, column);
    for (size_t i = 0; i < dim; i++) {
        row[i] /= l->sd[i];
        column[i] *= l->sd[i];
    }
    gess__skew_warps(layer)[layer->count++] = gess__shape_warp(s);
}

static void learn(gess__learner *l, size_t n, const double *points, gess__layer *layer)
{
    size_t m = gess__learn_points(l, n, GESS__MAX_LEARN_POINTS);
    if (m == 0 || !gess__learn_standardise(l, n, points, m, false) || !gess__learn_whiten(l, m, l->z)) return;
    double *found = l->pair;
    fits w = {0};
    pull_in(l, m, l->vectors + LENGTHS * m, l->vectors + WEIGHTS * m);
    if (l->check_count > 0) prepare_check(l);
    find_directions(l, n, m, found, &w);
    for (int round = 0; round < REFITS && w.count > 0; round++) refit(l, m, found, &w);
    for (size_t k = 0; k < w.count; k++) add_direction(l, found + w.which[k] * l->dim, &w.shapes[k], layer);
}

const gess__layer_type gess__layer_skew = {
    .name = "skew",
    .unit = "direction",
    .archived = 2,
    .max_uses = 2, /* a second one finds what the first left */
    .parts = {{.bytes_per_dim = sizeof(double)}, {.bytes_per_dim = sizeof(double)}, {.bytes = sizeof(gess__warp)}},
    .max_items = max_items,
    .scratch = scratch,
    .in = map_in,
    .out = map_out,
    .constant = constant,
    .valid = valid,
    .learn = learn,
    .learn_bytes = learn_bytes,
};
