/* Finding a warp layer: single coordinates whose two tails differ.
 *
 *   1. Every coordinate by itself, by maximum likelihood: with tilt and lean, and without. Heavy tails alone are no
 * reason to warp, since T has tails of its own and those of a joint t are no coordinate's: a coordinate counts where
 * tilt and lean raise the likelihood of other chains' points under the fit, or else of each half of the points under
 * the fit to the other, the power being free in both.
 *   2. The tails that all coordinates have together once these are warped: a t's weights, and the warps again with
 *      them, so that the warps leave these tails to T. */
#include "transform/learn.h"

#include "base/tiles.h"

enum { REFITS = 2 };

#define MIN_GAIN 0.02 /* nats, held out */
#define MIN_NATS 2.0  /* the same in all, of points as good as independent */

/* Which coordinates are to be warped, into `order`, and how, into shapes; returns how many. */
static size_t find_coordinates(gess__learner *l, size_t n, size_t m, const double *ones, double *some,
                               gess__shape *shapes)
{
    size_t count = 0;
    double least = MIN_NATS / gess__learn_effective(n);
    if (least < MIN_GAIN) least = MIN_GAIN;
    for (size_t i = 0; i < l->dim; i++) {
        gess__shape s = {.tilts = true, .powers = true, .leans = true};
        size_t few = gess__shape_thin(m, l->z + i * m, some);
        gess__checked checked = {l->checked, l->check + i * l->checked, l->checks};
        if (!(gess__shape_gain(&s, l->team, few, some, ones, checked) > least)) continue;
        gess__shape_fit(&s, l->team, few, some, ones);
        gess__shape_fit(&s, l->team, m, l->z + i * m, ones);
        l->order[count] = (uint32_t)i;
        shapes[count++] = s;
    }
    return count;
}

GESS__VECTOR
static void warp_all(size_t n, const gess__warp *warp, double *restrict x)
{
    double inverse = 1.0 / warp->spread, slope;
    for (size_t j = 0; j < n; j++)
        x[j] = gess__warp_in((x[j] - warp->shift) * inverse, warp->power, warp->lean, warp->tilt, &slope);
}

/* n values: mean 0 and mean square 1. */
static void centre_and_scale(size_t n, double *x)
{
    double mean = 0.0, square = 0.0;
    for (size_t j = 0; j < n; j++) mean += x[j];
    mean /= (double)n;
    for (size_t j = 0; j < n; j++) square += (x[j] - mean) * (x[j] - mean);
    square /= (double)n;
    double factor = square > 0.0 ? 1.0 / sqrt(square) : 1.0;
    for (size_t j = 0; j < n; j++) x[j] = (x[j] - mean) * factor;
}

/* Weights of the points in a t of all coordinates, those found warped. */
static bool weights_after(gess__learner *l, size_t m, size_t count, const gess__shape *shapes, double *lengths,
                          double *u, double *weights)
{
    size_t dim = l->dim;
    for (size_t i = 0, k = 0; i < dim; i++) {
        memcpy(u, l->z + i * m, m * sizeof *u);
        if (k < count && l->order[k] == i) {
            gess__warp w = gess__shape_warp(&shapes[k++]);
            warp_all(m, &w, u);
            centre_and_scale(m, u);
        }
        for (size_t j = 0; j < m; j++) l->residuals[j * dim + i] = u[j];
    }
    if (!gess__learn_whiten(l, m, l->residuals)) return false;
    for (size_t j = 0; j < m; j++) {
        const double *z = l->residuals + j * dim;
        lengths[j] = fmin(gess__dot(dim, z, z), 1e100);
    }
    gess__learn_weights(dim, m, lengths, weights);
    return true;
}

/* The warp of the points' own coordinates, from that of standardised ones. */
static void add_coordinate(const gess__learner *l, uint32_t i, const gess__shape *s, gess__layer *layer)
{
    gess__warp w = gess__shape_warp(s);
    w.shift = l->mean[i] + l->sd[i] * w.shift;
    w.spread *= l->sd[i];
    layer->at[layer->count] = i;
    layer->warps[layer->count++] = w;
}

int gess__learn_warp(gess__learner *l, size_t n, const double *points, gess__learned *map)
{
    size_t m = gess__learn_points(l, n, GESS__SKEW_POINTS);
    if (m == 0 || map->count == GESS__MAX_LAYERS || !gess__learn_standardise(l, n, points, m, true)) return 0;
    double *lengths = l->vectors, *u = l->vectors + m, *weights = l->vectors + 2 * m;
    for (size_t j = 0; j < m; j++) weights[j] = 1.0;
    for (size_t j = 0; j < l->checked; j++) l->checks[j] = 1.0;
    size_t count = find_coordinates(l, n, m, weights, u, l->shapes);
    for (int round = 0; round < REFITS && count > 0; round++) {
        if (!weights_after(l, m, count, l->shapes, lengths, u, weights)) return 0;
        for (size_t k = 0; k < count; k++) gess__shape_fit(&l->shapes[k], l->team, m, l->z + l->order[k] * m, weights);
    }
    gess__layer *layer = &map->layers[map->count];
    layer->kind = GESS__WARP_LAYER;
    layer->count = 0;
    memcpy(layer->centre, l->mean, l->dim * sizeof *l->mean);
    for (size_t k = 0; k < count; k++) add_coordinate(l, l->order[k], &l->shapes[k], layer);
    if (!gess__layer_possible(layer, l->dim)) return 0;
    gess__layer_finish(layer);
    map->count++;
    return 1;
}
