/* Statistical judgement for tests of samplers.
 *
 * p-values of two-sample tests, and the sequential rule of Gandy & Scott (arXiv 2001.06465): a
 * family of p-values fails where Bonferroni's smallest is below β, passes where it is well above,
 * and is otherwise looked at again with more replicates, so that the chance of a false alarm is
 * below the stated rate and small errors are still found. */
#ifndef GESS_TESTS_JUDGE_H
#define GESS_TESTS_JUDGE_H

#include <gess/gess.h>
#include <stddef.h>

/* Two-sided Kolmogorov-Smirnov and equal-means tests; the samples are sorted in place. */
double judge_ks(size_t n, double *x, size_t m, double *y);
double judge_means(size_t n, const double *x, size_t m, const double *y);

/* Chance of a χ² above `value` with `freedom` degrees of freedom. */
double judge_chi2(double value, double freedom);

/* A family of tests run with a given number of replicates: returns how many p-values there are,
 * written into p (at most `most`), with the name of each in names. */
typedef size_t judge_family(size_t replicates, unsigned stage, void *data, size_t most, double *p, const char **names);

/* 1 where the family passes, 0 where it fails; says why on stdout. Where the environment has GESS_FIRST_FAILURE, the
 * first failure ends the program with 1. */
int judge_sequentially(const char *title, judge_family *family, void *data, size_t replicates, double false_alarms);

/* Ends the program with 2 where the status is not good: the test could not be run. */
void judge_must(int status, const gess_error *err);

#endif
