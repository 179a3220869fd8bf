/* The stop rule: bulk ESS and R-hat of every column of the draws so far, and whether they meet their targets.
 *
 * With many chains, R-hat asks each of them for as many draws as a few chains would need between them: with 64 chains,
 * 1.01 takes an ESS of 6,400. So the target is compared with the nested R-hat of groups of chains (diagnose/groups.h),
 * and R-hat of the chains, which shows single chains that are somewhere else, has a limit of five times the excess.
 * What would make the verdict fail in any case is waited for too: enough effective draws in the tails, and no single
 * chain that drifts or is elsewhere.
 *
 * Blobs do not count: they may be anything, constant, discrete or NaN, and must not hold up a run.
 *
 * The draws are held in memory up to a limit. When it is reached every second draw is dropped, and from then on only
 * every second one is taken, so memory does not grow with the number of draws. Figures of thinned draws understate the
 * effective sample size, never overstate it. */
#ifndef GESS_RUN_STOP_RULE_H
#define GESS_RUN_STOP_RULE_H

#include "diagnose/chain_checks.h"
#include "diagnose/circular.h"
#include "execute/ensemble.h"

/* R-hat − 1 of single chains may be this many times what the target allows for groups. */
#define GESS__CHAINS_EXCESS 5.0

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
    gess__posterior_workspace **chain_work; /* per worker, for all chains */
    gess__posterior_workspace **group_work; /* per worker, for each group as one long chain; NULL: no groups */
    size_t groups;                          /* of chains that are compared: the ensembles, or those of one; 0: none */
    double *rhat, *ess, *nested;            /* of each column at the last check */
    unsigned char *bad;                     /* of each column: it fails */
    gess__circle *circle;                   /* of each column */
    gess__posterior_chain *chain;           /* workers × chains */
    double *chain_scratch;                  /* workers × 2 chains */
    double target_ess, target_rhat;         /* of the check */
    size_t failed_column;                   /* the column that failed last; the next check begins with it */
    bool all_computed;                      /* the last check went through all columns */
    uint64_t draws;                         /* held draws per chain at the check */
} gess__stop_rule;

/* Figures of the columns that a check computed. */
typedef struct gess__stop_figures {
    int targets_met;
    double least_ess, worst_rhat;
    double worst_nested; /* R-hat of groups; NaN if chains are not grouped */
} gess__stop_figures;

/* Draws have `columns` numbers, of which the last `blobs` are blobs. `nested`: the chains of one ensemble do not
 * interact, so that groups of them can be compared. */
int gess__stop_rule_new(gess__stop_rule **rule, size_t chains, size_t ensembles, size_t columns, size_t blobs,
                        int nested, gess_error *err);
void gess__stop_rule_free(gess__stop_rule *rule);

/* Periodic parameters of the model are judged as draws on a circle that is cut open where they are few, as in the
 * summary. */
void gess__stop_rule_periodic(gess__stop_rule *rule, const gess_model *model);

/* Forgets all draws. */
void gess__stop_rule_restart(gess__stop_rule *rule);

/* Makes room for `draws` kept draws per chain, or thins. Call it before gess__stop_rule_take() gets them. */
int gess__stop_rule_expect(gess__stop_rule *rule, uint64_t draws, gess_error *err);

/* Takes the draws of a segment; first_chain: the first kept chain of its ensemble. */
void gess__stop_rule_take(gess__stop_rule *rule, size_t first_chain, const gess__segment *segment);

/* Computes the figures of the first `draws` draws per chain. It begins with the column that failed last, and computes
 * the others only if that one passes or if `all`. Targets are met if every column has an ESS of at least `ess` and an
 * R-hat of at most `rhat`; constant columns pass. */
int gess__stop_rule_check(gess__stop_rule *rule, uint64_t draws, gess__team *team, int all, double ess, double rhat,
                          gess__stop_figures *figures, gess_error *err);

#endif
