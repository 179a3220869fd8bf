/* The stop rule: bulk ESS and R-hat of every column of the draws so far, and whether they meet their targets.
 *
 * Blobs do not count: they may be anything, constant, discrete or NaN, and must not hold up a run.
 *
 * The draws are held in memory up to a limit. When it is reached every second draw is dropped, and from then on only
 * every second one is taken, so memory does not grow with the number of draws. Figures of thinned draws understate the
 * effective sample size, never overstate it. */
#ifndef GESS_RUN_STOP_RULE_H
#define GESS_RUN_STOP_RULE_H

#include "diagnose/posterior.h"
#include "execute/ensemble.h"

typedef struct gess__stop_rule {
    size_t chains, ensembles;
    size_t columns;     /* that are held and judged: the first ones of a draw */
    size_t row;         /* numbers of a draw, blobs included */
    size_t max_doubles; /* held in memory */
    uint64_t stride;    /* every stride-th kept draw is held */
    size_t capacity;    /* held draws per chain that there is room for */
    double *values;     /* (column · chains + chain) · capacity + draw */
    double *packed;     /* one column without gaps, per worker */
    size_t packed_size; /* doubles per worker */
    unsigned workers;
    gess__posterior_workspace **chain_work;    /* per worker, for all chains */
    gess__posterior_workspace **ensemble_work; /* per worker, for each ensemble as one long chain; NULL: one ensemble */
    double *rhat, *ess;                        /* of each column at the last check */
    size_t failed_column;                      /* the column that failed last; the next check begins with it */
    bool all_computed;                         /* the last check went through all columns */
    uint64_t draws;                            /* held draws per chain at the check */
} gess__stop_rule;

/* Draws have `columns` numbers, of which the last `blobs` are blobs. */
int gess__stop_rule_new(gess__stop_rule **rule, size_t chains, size_t ensembles, size_t columns, size_t blobs,
                        gess_error *err);
void gess__stop_rule_free(gess__stop_rule *rule);

/* Makes room for `draws` kept draws per chain, or thins. Call it before gess__stop_rule_take() gets them. */
int gess__stop_rule_expect(gess__stop_rule *rule, uint64_t draws, gess_error *err);

/* Takes the draws of a segment; first_chain: the first kept chain of its ensemble. */
void gess__stop_rule_take(gess__stop_rule *rule, size_t first_chain, const gess__segment *segment);

/* Computes the figures of the first `draws` draws per chain. It begins with the column that failed last, and computes
 * the others only if that one passes or if `all`. *targets_met: every column has an ESS of at least `ess` and an R-hat
 * of at most `rhat`; constant columns pass. *least_ess and *worst_rhat are over the columns that were computed. */
int gess__stop_rule_check(gess__stop_rule *rule, uint64_t draws, gess__team *team, int all, double ess, double rhat,
                          int *targets_met, double *least_ess, double *worst_rhat, gess_error *err);

#endif
