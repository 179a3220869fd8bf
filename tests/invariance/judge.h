/* Statistical judgement for tests of samplers.
 *
 * p-values of two-sample tests, and the sequential rule of Gandy & Scott (arXiv 2001.06465): a
 * family of p-values fails if Bonferroni's smallest is below β, passes if it is well above, and is
 * otherwise repeated with more replicates. So the chance of a false alarm stays below the stated rate,
 * and small errors are still found. */
#ifndef GESS_TESTS_JUDGE_H
#define GESS_TESTS_JUDGE_H

#include <gess/gess.h>
#include <stddef.h>

/* Two-sided Kolmogorov-Smirnov and equal-means tests; the samples are sorted in place. */
double judge_ks(size_t n, double *x, size_t m, double *y);
double judge_means(size_t n, const double *x, size_t m, const double *y);

/* Chance of a χ² above `value` with `freedom` degrees of freedom. */
double judge_chi2(double value, double freedom);

/* Runs a family of tests with the given number of replicates. Writes its p-values (at most `max`) into p
 * and their names into names, and returns their number. */
typedef size_t judge_family(size_t replicates, unsigned stage, void *data, size_t max, double *p, const char **names);

/* Returns 1 if the family passes and 0 if it fails, and prints why on stdout. If the environment variable
 * GESS_FIRST_FAILURE is set, the first failure ends the program with 1. */
int judge_sequentially(const char *title, judge_family *family, void *data, size_t replicates, double false_alarms);

/* Ends the program with 2 if the status is an error: the test could not be run. */
void judge_must(int status, const gess_error *err);

#endif
