/* The scale layer: a learned non-centring.
 *
 *   y_i ↦ (y_i − a_i) exp(−h_i / 2)
 *
 * a_i and h_i are linear in a few other coordinates, the drivers, a_i with a square of one of them if that helps. The
 * drivers of a coordinate come before it in an order that the layer chooses, so a step is invertible whatever its
 * numbers are, and log |dy/dw| is a sum over steps (scale.h has the formulas). It removes funnels, bananas and the
 * hierarchies of centred models.
 *
 * Learning finds the drivers and their order (scale_drivers.c), then one step after the other by regressions of mean
 * and log variance, and keeps a step only if it raises the held-out likelihood (scale_steps.c, scale_saturated.c). */
#include "transform/scale.h"

#include "base/tiles.h"
#include "transform/scale_search.h"

#include <float.h>

enum { W = GESS__LANES };

/* ---- a tile of points, in place ---- */

static GESS__VECTOR(map_out,
                    (const gess__layer *layer, size_t dim, double *restrict tile, double *restrict sums,
                     double *restrict scratch),
                    (layer, dim, tile, sums, scratch))
{
    (void)dim;
    (void)scratch;
    gess__scale_out_body(layer->count, gess__scale_steps(layer), layer->centre, tile, sums);
}

/* From the last step to the first, so that the drivers of a step are still coordinates of y. */
static GESS__VECTOR(map_in,
                    (const gess__layer *layer, size_t dim, double *restrict tile, double *restrict sums,
                     double *restrict scratch),
                    (layer, dim, tile, sums, scratch))
{
    (void)dim;
    (void)scratch;
    const gess__scale_step *steps = gess__scale_steps(layer);
    for (size_t p = layer->count; p-- > 0;) {
        const gess__scale_step *s = &steps[p];
        double a[W], h[W], *x = tile + (size_t)s->at * W;
        gess__mean_and_scale(layer->centre, s, tile, a, h);
        for (size_t l = 0; l < W; l++) {
            x[l] = (x[l] - a[l]) / (s->spread * gess__exp(0.5 * h[l]));
            sums[l] = gess__fma(-0.5, h[l], sums[l]);
        }
    }
}

static double constant(const gess__layer *layer)
{
    double sum = 0.0;
    for (size_t p = 0; p < layer->count; p++) sum += gess__log(gess__scale_steps(layer)[p].spread);
    return sum;
}

/* ---- whether it is valid ---- */

static size_t max_items(size_t dim)
{
    return dim;
}

/* Whether coordinate k is mapped by step p or a later one. */
static bool mapped_from(const gess__layer *layer, size_t p, uint32_t k)
{
    for (; p < layer->count; p++)
        if (gess__scale_steps(layer)[p].at == k) return true;
    return false;
}

static bool drivers_valid(const gess__layer *layer, size_t p, size_t dim, uint32_t count, const uint32_t *from,
                          const double *factors)
{
    for (uint32_t j = 0; j < count; j++)
        if (from[j] >= dim || mapped_from(layer, p, from[j]) || !isfinite(factors[j])) return false;
    return true;
}

static bool saturation_valid(const gess__scale_step *s)
{
    for (size_t j = 0; j < GESS__MAX_DRIVERS; j++)
        if (!isfinite(s->pull_slope[j])) return false;
    if (s->saturated > 1 || !isfinite(s->cap) || !isfinite(s->floor) || !isfinite(s->pull)) return false;
    return s->cap >= 0.0 && s->floor >= 0.0;
}

static bool step_valid(const gess__layer *layer, size_t p, size_t dim)
{
    const gess__scale_step *s = &gess__scale_steps(layer)[p];
    return s->at < dim && !mapped_from(layer, p + 1, s->at) && s->means <= GESS__MAX_DRIVERS &&
           s->scales <= GESS__MAX_DRIVERS && s->bends <= 1 && saturation_valid(s) && isfinite(s->shift) &&
           isfinite(s->spread) && s->spread >= DBL_MIN &&
           drivers_valid(layer, p, dim, s->means, s->mean_from, s->mean) &&
           drivers_valid(layer, p, dim, s->scales, s->scale_from, s->scale) &&
           drivers_valid(layer, p, dim, s->bends, &s->bend_from, &s->bend);
}

static bool valid(const gess__layer *layer, size_t dim)
{
    for (size_t p = 0; p < layer->count; p++)
        if (!step_valid(layer, p, dim)) return false;
    return true;
}

/* ---- learning ---- */

static size_t learn_bytes(size_t dim, size_t points)
{
    (void)points;
    return gess__scale_search_bytes(dim);
}

static void learn(gess__learner *l, size_t n, const double *points, gess__layer *layer)
{
    gess__scale_search search;
    gess__scale_step *steps = gess__scale_steps(layer);
    size_t m = gess__learn_points(l, n, GESS__SCALE_POINTS);
    if (m == 0 || !gess__learn_standardise(l, n, points, m, true)) return;
    if (!gess__scale_find_drivers(&search, l, n, m)) return;
    for (size_t p = 1; p < l->dim; p++)
        if (gess__scale_fit_step(&search, p, &steps[layer->count]) > 0.0) layer->count++;
    gess__scale_agree(&search, layer->count, steps);
}

static size_t extrapolates(const gess__layer *layer, size_t i)
{
    const gess__scale_step *s = &gess__scale_steps(layer)[i];
    return s->scales > 0 ? s->scale_from[0] : SIZE_MAX;
}

const gess__layer_type gess__layer_scale = {
    .name = "scale",
    .unit = "coordinate",
    .archived = 1,
    .max_uses = 1,
    .parts = {{.bytes = sizeof(gess__scale_step)}},
    .max_items = max_items,
    .in = map_in,
    .out = map_out,
    .constant = constant,
    .valid = valid,
    .extrapolates = extrapolates,
    .learn = learn,
    .learn_bytes = learn_bytes,
};

size_t gess__scale_driver(const gess__learned *map, double uniform)
{
    const gess__layer *layer = map->layers;
    const gess__layer *end = layer + map->count;
    while (layer < end && layer->type != &gess__layer_scale) layer++;
    size_t count = 0;
    for (size_t p = 0; layer < end && p < layer->count; p++) count += gess__scale_steps(layer)[p].scales > 0;
    size_t left = (size_t)(uniform * (double)count);
    for (size_t p = 0; count > 0; p++) {
        const gess__scale_step *s = &gess__scale_steps(layer)[p];
        if (s->scales > 0 && left-- == 0) return s->scale_from[0];
    }
    return map->dim;
}
