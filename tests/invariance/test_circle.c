/* Circle test of the bracket loop by itself.
 *
 * The slice is three asymmetric arcs of a circle. An angle uniform on them, moved by the shrinkage
 * loop, must stay uniform: χ² with 21 bins. Only this test finds mistakes of the bracket; tests of
 * whole ensembles do not. */
#include "base/rng.h"
#include "invariance/judge.h"
#include "kernel/ellipse.h"

#include <math.h>
#include <stdio.h>

enum { REPLICATES = 200000, BINS = 21, ARCS = 3 };

static const double starts[ARCS] = {0.05, 0.31, 0.72}, lengths[ARCS] = {0.02, 0.17, 0.09};
static const double total = 0.02 + 0.17 + 0.09;

/* A point of the circle (in turns) at arc length s along the slice, 0 <= s < total. */
static double point_at(double s)
{
    for (int i = 0; i < ARCS; i++) {
        if (s < lengths[i] || i == ARCS - 1) return starts[i] + s;
        s -= lengths[i];
    }
    return 0.0;
}

/* The inverse: arc length along the slice, or -1 outside it. */
static double length_at(double turn)
{
    double before = 0.0;
    turn -= floor(turn);
    for (int i = 0; i < ARCS; i++) {
        if (turn >= starts[i] && turn < starts[i] + lengths[i]) return before + turn - starts[i];
        before += lengths[i];
    }
    return -1.0;
}

int main(void)
{
    double counts[BINS] = {0}, chi2 = 0.0, angles = 0.0;
    for (uint32_t replicate = 0; replicate < REPLICATES; replicate++) {
        gess__key key = {.seed = 20140101, .iteration = replicate, .chain = 0, .purpose = GESS__FOR_TEST};
        double present = point_at(total * gess__uniform(key, 0)), length = -1.0;
        gess__bracket bracket = gess__bracket_open(gess__uniform(key, 1));
        uint32_t tries = 0;
        for (; tries < GESS__MAX_ANGLES; tries++) {
            length = length_at(present + bracket.angle);
            if (length >= 0.0) break;
            bracket = gess__bracket_shrink(bracket, gess__uniform(key, 2 + tries));
        }
        if (length < 0.0) length = length_at(present); /* no other point: the state is kept */
        angles += tries + 1;
        int bin = (int)(length / total * BINS);
        counts[bin < BINS ? bin : BINS - 1]++;
    }
    const double expected = (double)REPLICATES / BINS;
    for (int i = 0; i < BINS; i++) chi2 += (counts[i] - expected) * (counts[i] - expected) / expected;
    double p = judge_chi2(chi2, BINS - 1);
    printf("circle: chi2 %.2f on %d degrees of freedom, p %.3g, %.2f angles an update\n", chi2, BINS - 1, p,
           angles / REPLICATES);
    if (p < 1e-6) printf("circle: NOT INVARIANT\n");
    return p < 1e-6;
}
