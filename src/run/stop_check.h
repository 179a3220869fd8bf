/* Sampling until targets are met: when the stop rule is checked next, and what a check records. */
#ifndef GESS_RUN_STOP_CHECK_H
#define GESS_RUN_STOP_CHECK_H

#include <gess/gess.h>

/* Which columns a check covers. */
typedef enum gess__check_columns {
    GESS__FIRST_FAILING_COLUMN, /* stop at the column that failed last time, if it still fails */
    GESS__ALL_COLUMNS
} gess__check_columns;

/* Draws per chain of the first check: more where T lacks tails. */
uint64_t gess__targets_first_check(const gess_run *run);

/* Draws per chain of the check after one at `draws`, if --max-evals allows it. */
uint64_t gess__targets_check_after(const gess_run *run, uint64_t draws);

/* The same if `needed` draws should meet the targets: there if that is sooner, but after an eighth more draws at least.
 */
uint64_t gess__targets_check_towards(const gess_run *run, uint64_t draws, double needed);

/* Draws per chain at which to check next, given that the last check was at `draws` (0: there was none), by the figures
 * of that check; at most as many as --max-evals still allows; 0 if it allows none. It depends on counts of evaluations
 * and on draws, never on time. */
uint64_t gess__targets_next_check(const gess_run *run, uint64_t draws);

/* The share of the targets that the last check found reached: ESS and 1 / (R-hat² − 1) grow in proportion to the draws.
 */
double gess__targets_reached(const gess_run *run);

/* Checks the first `draws` draws of every chain against --target-ess and --target-rhat, and writes the figures to
 * run->stats, log.txt and the history. */
int gess__targets_check(gess_run *run, uint64_t draws, gess__check_columns columns, gess_error *err);

#endif
