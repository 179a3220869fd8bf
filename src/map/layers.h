/* What a learned map is made of: shared by learned.c, which applies it, and learn.c, which finds it.
 *
 * Both kinds of layer leave what they have nothing to say about as it is, to the bit: coordinates without a step,
 * directions without a warp. */
#ifndef GESS_MAP_LAYERS_H
#define GESS_MAP_LAYERS_H

#include "base/vmath.h"
#include "map/learned.h"

enum gess__layer_kind { GESS__SCALE_LAYER = 1, GESS__SKEW_LAYER = 2 };

enum { GESS__MOST_DRIVERS = 3, GESS__MOST_DIRECTIONS = 64 };

/* |h| at most; a step stays invertible since h depends on other coordinates only. */
#define GESS__MOST_LOG_SCALE 60.0

/* One coordinate of a scale layer, t_k = y_k − centre_k:
 *   a = shift + Σ mean_j t_(mean_from j) + bend t_(bend_from)²,  h = Σ scale_j t_(scale_from j),
 *   w = (y_at − a) / (spread e^(h/2)).
 * No padding: it is archived as it is. */
typedef struct gess__scale_step {
    uint32_t at;            /* the coordinate that is mapped */
    uint32_t means, scales; /* how many drivers a and h have */
    uint32_t bends;         /* 1 where a has a square, else 0 */
    uint32_t mean_from[GESS__MOST_DRIVERS], scale_from[GESS__MOST_DRIVERS];
    uint32_t bend_from, unused;
    double shift, spread, bend;
    double mean[GESS__MOST_DRIVERS], scale[GESS__MOST_DRIVERS];
} gess__scale_step;

/* One direction of a skew layer: v = sinh(power asinh((u − shift) / spread) − tilt). */
typedef struct gess__warp {
    double shift, spread, tilt, power;
} gess__warp;

typedef struct gess__layer {
    uint32_t kind, count; /* count: steps or directions */
    double constant;      /* what does not depend on the point in log |dy/dw| */
    double *centre;       /* dim */

    /* scale: in an order in which no step uses a coordinate that it or a later one maps */
    gess__scale_step *steps; /* room for dim */

    /* skew: u_j = row_j · (y − centre), w = y + Σ column_j (v_j − u_j); row_j · column_k is 1 where j = k, else 0 */
    double *rows, *columns; /* room for gess__most_directions(dim), each dim long */
    gess__warp *warps;
} gess__layer;

struct gess__learned {
    size_t dim, count;
    gess__layer layers[GESS__MOST_LAYERS];
};

size_t gess__most_directions(size_t dim);

/* Whether a layer can be what it says: indices, order, finite numbers, positive scales, rows that invert columns. */
bool gess__layer_possible(const gess__layer *layer, size_t dim);

/* sinh(power asinh(x) + tilt); *slope is the derivative without the factor `power`. Beyond 1e150 squares would
 * overflow, and sqrt(1 + x²) is |x|. */
GESS__INLINE double gess__warped(double x, double power, double tilt, double *slope)
{
    double size = fabs(x), root = sqrt(gess__fma(size, size, 1.0));
    int big = size > 1e150;
    root = gess__select(big, size, root);
    double rest = gess__select(big, size, size * size / (1.0 + root));
    double angle = gess__fma(power, copysign(gess__log1p(size + rest), x), tilt);
    double e = gess__exp(fabs(angle)), inverse = 1.0 / e;
    *slope = 0.5 * (e + inverse) / root;
    return copysign(0.5 * (e - inverse), angle);
}

/* Sets the constant, when all else is set. */
void gess__layer_finish(gess__layer *layer);

#endif
