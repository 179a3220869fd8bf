/* The history of a run: the stages of warm-up, the checks of the stop rule, the moments of the final warm-up window and
 * the counts of the kernels. Checkpoints save it, and history.json shows it.
 *
 * `gess diagnose` compares the window with the sampled draws: if the draws that T was fitted to differ from those that
 * came after, warm-up ended too early. */
#ifndef GESS_RUN_HISTORY_H
#define GESS_RUN_HISTORY_H

#include "schedule/schedule.h"

#include <jansson.h>

typedef struct gess__history_stage_row {
    uint64_t ensemble, stage; /* from 1 */
    uint64_t iterations, evals, moving;
    double evals_per_update, nu, trace, score, gain, gap, mean_value;
    uint32_t basins;                   /* that are known */
    uint32_t spread[GESS__MAX_BASINS]; /* chains in each of them */
    uint32_t unused;
} gess__history_stage_row;

typedef struct gess__history_check_row {
    uint64_t draws, evals;
    double ess, rhat;
} gess__history_check_row;

/* Count, mean and sum of squared deviations, updated one number at a time (Welford). */
typedef struct gess__moments {
    double count, mean, squares;
} gess__moments;

typedef struct gess__history {
    uint64_t stages, checks;
    gess__history_stage_row *stage;
    gess__history_check_row *check;
    size_t columns;
    /* per column: the window's draws in the user's scale; empty for derived quantities and blobs */
    gess__moments *draws;
    gess__moments *chains;        /* per column: the chains' means of these draws */
    gess__moments deltas, log_ts; /* the chains' means of δ and log T under the frozen T */
    double peak;                  /* the highest log density that a window held, in the user's scale */
    double *peak_at;              /* columns: the row of a draw there */
    double peak_mass;             /* share of the probability around it that draws have missed; NaN: not known */
} gess__history;

int gess__history_open(gess__history *history, size_t columns, gess_error *err);
void gess__history_free(gess__history *history);

/* Adds the stage of warm-up that ensemble number `which` (from 0) has ended. The last stage also adds the window. */
int gess__history_stage(gess__history *history, size_t which, const gess__sampler *sampler, gess_error *err);

/* Forgets what belongs to draws that were given up: the checks and the moments of the window. */
void gess__history_restart(gess__history *history);

/* Draws have missed this share of the probability, around a point (of dim coordinates) with the log density lp. */
void gess__history_missed(gess__history *history, size_t dim, double lp, const double *point, double mass);

/* Adds a check of the stop rule. A second check of the same draws replaces the first. */
int gess__history_check(gess__history *history, uint64_t draws, const gess_stats *stats, gess_error *err);

void gess__history_archive(gess__history *history, gess__archive *archive);

/* The content of history.json (docs/file-formats.md): a new reference, or NULL if memory runs out. */
json_t *gess__history_json(const gess__history *history, size_t ensembles, gess__sampler *const *sampler,
                           const gess_stats *stats);

#endif
