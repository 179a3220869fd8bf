/* Shared by the statistical tests: runs whose draws are kept in memory, and their figures. */
#ifndef GESS_TESTS_SUPPORT_H
#define GESS_TESTS_SUPPORT_H

#include "diagnose/posterior.h"

#include <gess/gess.h>

typedef struct kept {
    size_t chains, dim;
    uint64_t draws; /* per chain */
    double *values; /* parameter by parameter, chain by chain, draw by draw */
    gess_stats stats;
    /* while the run goes on */
    uint64_t room;
    double *rows; /* chain by chain, draw by draw */
} kept;

/* Samples a built-in model; with 0 draws the stop rules decide. Fails the test on an error. */
void sample(kept *k, const char *model, const gess_options *options);
void kept_free(kept *k);

/* Figures of every parameter (dim of them), the worst R-hat and the smallest bulk ESS. */
void judge(const kept *k, gess__posterior_figures *figures, double *worst_rhat, double *least_ess);

/* The true standard deviations of a wishart model, dim of them. */
void wishart_truth(const char *model, double *sd);

#endif
