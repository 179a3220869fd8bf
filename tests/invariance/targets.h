/* Targets that can be sampled exactly, for invariance tests. */
#ifndef GESS_TESTS_TARGETS_H
#define GESS_TESTS_TARGETS_H

#include "base/rng.h"
#include "transform/bounds.h"

#include <gess/gess.h>

typedef struct exact_target {
    const char *name;
    size_t dim;
    gess_logp_fn *logp;
    /* An independent draw from dim + 1 normals and a uniform. */
    void (*draw)(const double *normals, double uniform, double *x);
    /* Squared distance from the centre in the target's metric. */
    double (*delta)(const double *x);
    const double *lower, *upper;   /* or NULL */
    const unsigned char *periodic; /* or NULL */
} exact_target;

extern const exact_target exact_targets[];
extern const size_t exact_target_count;

/* For slice kernels: two Gaussians of standard deviation 80, wider than an interval can be stepped out; and three
 * pieces with gaps between them in each of two coordinates, which show mistakes of stepping out and shrinkage. */
extern const exact_target exact_wide, exact_pieces;

/* The statistics that tests compare: x1, x2, log density and δ of a point, into out[0], out[stride], … */
enum { EXACT_STATISTICS = 4 };
void exact_statistics(const exact_target *target, const double *x, size_t stride, double *out);

/* Makes draw number `number` of stream `seed`; scratch holds dim + 1 doubles. */
void exact_draw(const exact_target *target, uint64_t seed, uint64_t number, double *x, double *scratch);

/* The same in the unbounded space, y. The radius of a periodic parameter's point has a Rayleigh distribution. */
void exact_state(const exact_target *target, const gess__bounds *bounds, uint64_t seed, uint64_t number, double *y);

/* A model of the target, with the target as its user pointer. Its gradients are finite differences, which suffice:
 * leapfrog steps are exactly reversible with any function of the point in place of the gradient. */
gess_model exact_model(const exact_target *target);

#endif
