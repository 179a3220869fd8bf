/* R-hat of groups of chains, such as independent ensembles: each group is taken as one long chain, its
 * draws in the order in which they were made, so that the halves of a group are halves in time.
 *
 * This is the nested R-hat of C. C. Margossian et al., "Nested R-hat: assessing the convergence of Markov
 * chain Monte Carlo when running many short chains", Bayesian Analysis (2024), with split, rank-normalised
 * and folded draws as in posterior.h. Chains within a group may interact; groups must not. */
#ifndef GESS_DIAGNOSE_GROUPS_H
#define GESS_DIAGNOSE_GROUPS_H

#include "diagnose/posterior.h"

/* First chain of group g where `chains` are split evenly, earlier groups having one more where it does not
 * divide; g = groups: one past the last. */
size_t gess__group_first(size_t chains, size_t groups, size_t g);

/* Chains that every group has; R-hat leaves out what some have beyond. */
size_t gess__group_common(size_t chains, size_t groups);

/* x is chains × n. `work` must have been made for `groups` chains of n · gess__group_common() draws;
 * `scratch` holds as many doubles as x. */
double gess__rhat_of_groups(gess__posterior_workspace *work, size_t chains, size_t groups, size_t n, const double *x,
                            double *scratch);

#endif
