/* The interval of a slice along a line, for kernels over blocks of chains and for devices (lane/): how it is opened,
 * its next proposal, stepping out and shrinking. */
#ifndef GESS_KERNEL_SLICE_INTERVAL_H
#define GESS_KERNEL_SLICE_INTERVAL_H

#include "base/mutant.h"
#include "base/variates.h"

#define GESS__SLICE_WIDTH 1.0

enum { GESS__SLICE_STEPS = 100, GESS__MAX_SHRINKS = 128 };

enum gess__slice_stage { GESS__SLICE_LEFT, GESS__SLICE_RIGHT, GESS__SLICE_SHRINKING };

typedef struct gess__interval {
    double height;    /* log density of the slice */
    double low, high; /* the interval */
    double at;        /* t of the proposal */
    int left, right;  /* remaining steps of each end */
    enum gess__slice_stage stage;
    uint32_t shrinks;
} gess__interval;

/* Sets the next proposal: an end that may still step out, or a random point of the interval. The key's purpose is
 * GESS__FOR_SLICE. */
GESS__INLINE void gess__interval_aim(gess__interval *l, gess__key key)
{
    if (l->stage == GESS__SLICE_LEFT && l->left == 0) l->stage = GESS__SLICE_RIGHT;
    if (l->stage == GESS__SLICE_RIGHT && l->right == 0) l->stage = GESS__SLICE_SHRINKING;
    if (l->stage == GESS__SLICE_SHRINKING)
        l->at = gess__fma(gess__one_uniform(key, 2 + l->shrinks), l->high - l->low, l->low);
    else
        l->at = l->stage == GESS__SLICE_LEFT ? l->low : l->high;
}

/* Opens the interval around a point with log density `here`. */
GESS__INLINE void gess__interval_open(gess__interval *l, gess__key key, double here)
{
    double height, offset;
    gess__two_uniforms(key, 0, &height, &offset);
    if (GESS__MUTANT(SLICE_OFFSET)) offset = 0.0;
    l->left = (int)(GESS__SLICE_STEPS * gess__one_uniform(key, 1));
    l->right = GESS__SLICE_STEPS - 1 - l->left;
    if (GESS__MUTANT(SLICE_SPLIT)) l->left = l->right = GESS__SLICE_STEPS - 1;
    l->height = here + gess__log(height);
    l->low = -offset * GESS__SLICE_WIDTH;
    l->high = (1.0 - offset) * GESS__SLICE_WIDTH;
    l->stage = GESS__SLICE_LEFT;
    l->shrinks = 0;
    gess__interval_aim(l, key);
}

/* Takes a proposal: true if the chain moves there. Otherwise the end is stepped out if the proposal is inside the slice
 * and fixed if it is not, or the interval shrinks to the rejected proposal. */
GESS__INLINE int gess__interval_take(gess__interval *l, double value)
{
    int inside = value > l->height;
    if (l->stage == GESS__SLICE_SHRINKING) {
        if (inside) return 1;
        int below = l->at < 0.0;
        double end = GESS__MUTANT(SLICE_CUT) ? 0.0 : l->at;
        if (GESS__MUTANT(SLICE_SIDE)) below = !below;
        if (below)
            l->low = end;
        else
            l->high = end;
        l->shrinks++;
    } else if (l->stage == GESS__SLICE_LEFT) {
        l->left = inside ? l->left - 1 : 0;
        if (inside) l->low -= GESS__SLICE_WIDTH;
    } else {
        l->right = inside ? l->right - 1 : 0;
        if (inside) l->high += GESS__SLICE_WIDTH;
    }
    return 0;
}

#endif
