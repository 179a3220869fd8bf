/* What the stop rules look at: the draws so far, held in memory up to a limit, and their figures.
 *
 * Past the limit every second draw is dropped and from then on only every second one is taken, so
 * memory does not grow with the number of draws; figures of thinned draws understate the effective
 * sample size, never overstate it. */
#ifndef GESS_RUN_STOP_RULE_H
#define GESS_RUN_STOP_RULE_H

#include "diagnose/posterior.h"
#include "execute/ensemble.h"

typedef struct gess__stop_rule {
    size_t chains, columns, ensembles;
    size_t most;        /* doubles held, at most */
    uint64_t stride;    /* one kept draw in so many is held */
    size_t capacity;    /* draws of a chain that there is room for */
    double *values;     /* (column · chains + chain) · capacity + draw */
    double *packed;     /* one column without gaps, for each worker */
    size_t packed_size; /* doubles of one worker's */
    unsigned workers;
    gess__posterior_workspace **work;     /* one for each worker */
    gess__posterior_workspace **together; /* likewise, of ensembles as long chains; NULL: one ensemble */
    double *rhat, *ess;                   /* of each column at the last check */
    size_t worst;                         /* column that failed last */
    uint64_t draws;                       /* of each chain, at the check */
} gess__stop_rule;

int gess__stop_rule_new(gess__stop_rule **watch, size_t chains, size_t ensembles, size_t columns, gess_error *err);
void gess__stop_rule_free(gess__stop_rule *watch);

/* Makes room for `draws` kept draws of each chain, or thins; call it before they come. */
int gess__stop_rule_expect(gess__stop_rule *watch, uint64_t draws, gess_error *err);

/* Takes the draws of a segment. */
void gess__stop_rule_take(gess__stop_rule *watch, size_t first_chain, const gess__segment *segment);

/* Figures over `draws` draws of each chain. The column that failed last is looked at first, and the
 * others only where it passes, or where all are asked for. *met: every column has at least `ess` and at most `rhat`;
 * *least and *worst are over the columns that were looked at. */
int gess__stop_rule_check(gess__stop_rule *watch, uint64_t draws, gess__team *team, int all, double ess, double rhat,
                          int *met, double *least, double *worst, gess_error *err);

#endif
