/* Targets that can be sampled exactly, for invariance tests. */
#ifndef GESS_TESTS_TARGETS_H
#define GESS_TESTS_TARGETS_H

#include "base/rng.h"

#include <gess/gess.h>

typedef struct exact_target {
    const char *name;
    size_t dim;
    gess_logp_fn *logp;
    /* An independent draw from dim + 1 normals and a uniform. */
    void (*draw)(const double *normals, double uniform, double *x);
    /* Squared distance from the centre in the target's own metric. */
    double (*delta)(const double *x);
    const double *lower, *upper;   /* or NULL */
    const unsigned char *periodic; /* or NULL */
} exact_target;

extern const exact_target exact_targets[];
extern const size_t exact_target_count;

/* Draw number `number` of stream `seed`; scratch holds dim + 1 doubles. */
void exact_draw(const exact_target *target, uint64_t seed, uint64_t number, double *x, double *scratch);

/* A model of the target, with the target as its user pointer. */
gess_model exact_model(const exact_target *target);

#endif
