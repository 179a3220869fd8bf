/* The warp layer: y_i ↦ sinh-arcsinh warp of y_i (sinh_arcsinh.h), for single coordinates whose two tails differ, as
 * those of the logarithms of scale parameters often do.
 *
 * Learning:
 *   1. Every coordinate by itself, by maximum likelihood: with tilt and lean, and without, the power being free in
 *      both. Heavy tails are no reason to warp, since T has tails too, and those of a joint t belong to no single
 *      coordinate. So a coordinate is warped only if tilt and lean raise the likelihood of the other chains' points
 *      under the fit, or, without such points, of either half of the points under the fit to the other.
 *   2. The tails that all coordinates share once these are warped: the weights of a t, and the warps fitted again with
 *      them, so that the warps leave these tails to T. */
#include "transform/warp.h"

#include "base/tiles.h"
#include "transform/layer_body.h"
#include "transform/layer_learner.h"
#include "transform/sinh_arcsinh_fit.h"
#include "transform/tail_weights.h"

enum { W = GESS__LANES, REFITS = 2 };

#define MIN_GAIN 0.02 /* nats per point, held out */
#define MIN_NATS 2.0  /* the same summed over the number of independent points */

/* ---- a tile of points, in place ---- */

static GESS__VECTOR(map_out,
                    (const gess__layer *layer, size_t dim, double *restrict tile, double *restrict sums,
                     double *restrict scratch),
                    (layer, dim, tile, sums, scratch))
{
    (void)dim;
    (void)scratch;
    gess__warp_out_body(layer->count, gess__warp_coordinates(layer), gess__warp_warps(layer), tile, sums);
}

static GESS__VECTOR(map_in,
                    (const gess__layer *layer, size_t dim, double *restrict tile, double *restrict sums,
                     double *restrict scratch),
                    (layer, dim, tile, sums, scratch))
{
    (void)dim;
    (void)scratch;
    const uint32_t *at = gess__warp_coordinates(layer);
    const gess__warp *warps = gess__warp_warps(layer);
    double product[W];
    for (size_t j = 0; j < layer->count; j++) {
        gess__warp w = warps[j];
        double slope[W], inverse = 1.0 / w.spread, *restrict x = tile + (size_t)at[j] * W;
        for (size_t l = 0; l < W; l++)
            x[l] = gess__warp_in((x[l] - w.shift) * inverse, w.power, w.lean, w.tilt, &slope[l]);
        gess__warp_add_logs(W, j, layer->count, slope, product, sums);
    }
}

static double constant(const gess__layer *layer)
{
    return gess__warp_constant(layer->count, gess__warp_warps(layer));
}

/* ---- whether it is valid ---- */

static size_t max_items(size_t dim)
{
    return dim;
}

static bool valid(const gess__layer *layer, size_t dim)
{
    const uint32_t *at = gess__warp_coordinates(layer);
    for (size_t j = 0; j < layer->count; j++) {
        if (at[j] >= dim || !gess__warp_valid(&gess__warp_warps(layer)[j])) return false;
        if (j > 0 && at[j] <= at[j - 1]) return false;
    }
    return true;
}

/* ---- learning ---- */

/* The coordinates that are warped while they are fitted: room for dim, in the learner's scratch. */
typedef struct found {
    size_t count;
    gess__shape *shapes;
    uint32_t *at;
} found;

static size_t learn_bytes(size_t dim, size_t points)
{
    (void)points;
    return dim * (sizeof(gess__shape) + sizeof(uint32_t));
}

/* Finds the coordinates that are worth a warp. `thinned`: scratch, one number per point. */
static void find_coordinates(gess__learner *l, size_t n, size_t m, const double *ones, double *thinned, found *f)
{
    double min_gain = MIN_NATS / gess__learn_effective(n);
    if (min_gain < MIN_GAIN) min_gain = MIN_GAIN;
    for (size_t i = 0; i < l->dim; i++) {
        gess__shape s = {.tilts = true, .powers = true, .leans = true};
        size_t count = gess__shape_thin(m, l->z + i * m, thinned);
        gess__validation validation = {l->check_count, l->check + i * l->check_count, l->check_vectors};
        if (!(gess__shape_gain(&s, l->team, count, thinned, ones, validation) > min_gain)) continue;
        gess__shape_fit(&s, l->team, count, thinned, ones);
        gess__shape_fit(&s, l->team, m, l->z + i * m, ones);
        f->at[f->count] = (uint32_t)i;
        f->shapes[f->count++] = s;
    }
}

static GESS__VECTOR(warp_column, (size_t n, const gess__warp *warp, double *restrict x), (n, warp, x))
{
    double inverse = 1.0 / warp->spread, slope;
    for (size_t j = 0; j < n; j++)
        x[j] = gess__warp_in((x[j] - warp->shift) * inverse, warp->power, warp->lean, warp->tilt, &slope);
}

/* Gives n values mean 0 and mean square 1. */
static void standardise_column(size_t n, double *x)
{
    double mean = 0.0, square = 0.0;
    for (size_t j = 0; j < n; j++) mean += x[j];
    mean /= (double)n;
    for (size_t j = 0; j < n; j++) square += (x[j] - mean) * (x[j] - mean);
    square /= (double)n;
    double factor = square > 0.0 ? 1.0 / sqrt(square) : 1.0;
    for (size_t j = 0; j < n; j++) x[j] = (x[j] - mean) * factor;
}

/* Weights of the points in a t of all coordinates, those found being warped; false if the warped points are singular.
 * `lengths`, `column`: scratch, one number per point. */
static bool weights_after(gess__learner *l, size_t m, const found *f, double *lengths, double *column, double *weights)
{
    size_t dim = l->dim;
    for (size_t i = 0, k = 0; i < dim; i++) {
        memcpy(column, l->z + i * m, m * sizeof *column);
        if (k < f->count && f->at[k] == i) {
            gess__warp w = gess__shape_warp(&f->shapes[k++]);
            warp_column(m, &w, column);
            standardise_column(m, column);
        }
        for (size_t j = 0; j < m; j++) l->residuals[j * dim + i] = column[j];
    }
    if (!gess__learn_whiten(l, m, l->residuals)) return false;
    for (size_t j = 0; j < m; j++) {
        const double *z = l->residuals + j * dim;
        lengths[j] = gess__min(gess__dot(dim, z, z), 1e100);
    }
    gess__tail_weights(dim, m, lengths, weights);
    return true;
}

/* Adds the warp of coordinate i, from the standardised coordinate to that of the points. */
static void add_coordinate(const gess__learner *l, uint32_t i, const gess__shape *s, gess__layer *layer)
{
    gess__warp w = gess__shape_warp(s);
    w.shift = l->mean[i] + l->sd[i] * w.shift;
    w.spread *= l->sd[i];
    gess__warp_coordinates(layer)[layer->count] = i;
    gess__warp_warps(layer)[layer->count++] = w;
}

static void learn(gess__learner *l, size_t n, const double *points, gess__layer *layer)
{
    size_t m = gess__learn_points(l, n, GESS__MAX_LEARN_POINTS);
    if (m == 0 || !gess__learn_standardise(l, n, points, m, true)) return;
    double *lengths = l->vectors, *column = l->vectors + m, *weights = l->vectors + 2 * m;
    found f = {.shapes = l->scratch};
    f.at = (uint32_t *)(void *)(f.shapes + l->dim);
    for (size_t j = 0; j < m; j++) weights[j] = 1.0;
    for (size_t j = 0; j < l->check_count; j++) l->check_vectors[j] = 1.0;
    find_coordinates(l, n, m, weights, column, &f);
    for (int round = 0; round < REFITS && f.count > 0; round++) {
        if (!weights_after(l, m, &f, lengths, column, weights)) return;
        for (size_t k = 0; k < f.count; k++) gess__shape_fit(&f.shapes[k], l->team, m, l->z + f.at[k] * m, weights);
    }
    for (size_t k = 0; k < f.count; k++) add_coordinate(l, f.at[k], &f.shapes[k], layer);
}

static size_t extrapolates(const gess__layer *layer, size_t i)
{
    return gess__warp_coordinates(layer)[i];
}

const gess__layer_type gess__layer_warp = {
    .name = "warp",
    .unit = "coordinate",
    .archived = 3,
    .max_uses = 1,
    .parts = {{.bytes = sizeof(uint32_t)}, {.bytes = sizeof(gess__warp)}},
    .max_items = max_items,
    .in = map_in,
    .out = map_out,
    .constant = constant,
    .valid = valid,
    .extrapolates = extrapolates,
    .learn = learn,
    .learn_bytes = learn_bytes,
};
