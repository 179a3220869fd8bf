/* R-hat of groups of chains, such as independent ensembles: a group counts as one long chain, with its draws in the
 * order in which they were made, so that the halves of a group are halves in time.
 *
 * This is the nested R-hat of C. C. Margossian et al., "Nested R-hat: assessing the convergence of Markov
 * chain Monte Carlo when running many short chains", Bayesian Analysis (2024), with split, rank-normalised
 * and folded draws as in posterior.h. Chains within a group may interact; groups must not. */
#ifndef GESS_DIAGNOSE_GROUPS_H
#define GESS_DIAGNOSE_GROUPS_H

#include "diagnose/posterior.h"

/* Groups that the chains of one ensemble are compared by; 0: too few chains to group. Consecutive chains form a group,
 * and chains that began in one basin are consecutive (explore/exploration.c), so that no group mixes basins if it can
 * be helped. */
size_t gess__nested_groups(size_t chains);

/* Groups that R-hat compares: the ensembles if there are several, otherwise groups of the chains of one. */
size_t gess__compared_groups(size_t chains, size_t ensembles);

/* First chain of group g if `chains` are split evenly; if the division leaves a rest, earlier groups have one more.
 * g = groups: one past the last chain. */
size_t gess__group_first(size_t chains, size_t groups, size_t g);

/* Chains that every group has; R-hat ignores the extra chain of larger groups. */
size_t gess__group_common(size_t chains, size_t groups);

/* x is chains × n. `work` must have room for `groups` chains of n · gess__group_common() draws; `scratch` has as many
 * doubles as x. */
double gess__rhat_of_groups(gess__posterior_workspace *work, size_t chains, size_t groups, size_t n, const double *x,
                            double *scratch);

#endif
