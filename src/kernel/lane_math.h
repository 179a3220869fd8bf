/* The arithmetic of one chain's update, for kernels over blocks of chains and for devices (lane/): brackets of angles,
 * distances along an ellipse, log T, the turn of each kind of move. Both get the same bits. */
#ifndef GESS_KERNEL_LANE_MATH_H
#define GESS_KERNEL_LANE_MATH_H

#include "base/mutant.h"
#include "base/vmath.h"
#include "chains/tally.h"
#include "kernel/move_mix.h"

#include <stddef.h>

/* A bracket shrinks to about e^-0.9 of its width per angle: 128 angles reach 1e-50 of a turn, below
 * any slice that doubles can resolve. */
enum { GESS__MAX_ANGLES = 128 };

/* z is recomputed from x after this many iterations, since rounding errors accumulate. */
enum { GESS__REBIND_EVERY = 64 };

/* The bracket of one update, angles in turns: [low, high] contains 0, the present point. */
typedef struct gess__bracket {
    double low, high, angle;
} gess__bracket;

/* Draws the first angle and its bracket by a uniform. */
GESS__INLINE gess__bracket gess__bracket_open(double uniform)
{
    gess__bracket b;
    b.low = uniform - 1.0;
    b.high = b.angle = uniform;
    return b;
}

/* Shrinks the bracket towards 0 after a rejected angle and draws the next angle by a uniform. */
GESS__INLINE gess__bracket gess__bracket_shrink(gess__bracket b, double uniform)
{
    int below = b.angle < 0.0;
    if (GESS__MUTANT(BRACKET_SIDE)) below ^= b.angle != b.high;
    double low = gess__select(below, b.angle, b.low), high = gess__select(below, b.high, b.angle);
    b.low = low;
    b.high = high;
    b.angle = gess__fma(uniform, high - low, low);
    return b;
}

/* The bin of an angle in (-1, 1) turns, among GESS__BINS bins over (-1/2, 1/2]. */
static inline size_t gess__angle_bin(double angle)
{
    double place = (angle + 1.5) * GESS__BINS;
    size_t whole = (size_t)place;
    return (whole + ((double)whole < place) - 1) % GESS__BINS; /* the ceiling, less 1 */
}

/* δ at an angle of an ellipse: from δ = |z|², |ζ|² and z·ζ. */
GESS__INLINE double gess__ellipse_delta(double delta, double square, double cross, double sine, double cosine)
{
    return gess__fma(delta * cosine, cosine, gess__fma(square * sine, sine, 2.0 * cross * sine * cosine));
}

/* log T of a t at distance δ, without its constant; power: −(ν + D) / 2. */
GESS__INLINE double gess__t_log(double nu, double power, double delta)
{
    return power * gess__log1p(delta / nu);
}

#endif
