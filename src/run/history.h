/* What a run went through: its warm-up stage by stage, the looks of the stop rules, the final warm-up
 * window, and what the kernels counted. Kept in checkpoints, written to history.json.
 *
 * The window's figures are what sampling is compared with: where the draws that T was fitted to differ
 * from those that came after, warm-up ended too early. */
#ifndef GESS_RUN_HISTORY_H
#define GESS_RUN_HISTORY_H

#include "execute/ensemble.h"

#include <jansson.h>

typedef struct gess__history_stage_row {
    uint64_t ensemble, stage, iterations, evals, moving;
    double each, nu, trace, score, gain, gap, mean_value;
} gess__history_stage_row;

typedef struct gess__history_check_row {
    uint64_t draws, evals;
    double ess, rhat;
} gess__history_check_row;

/* Count, mean and sum of squared deviations, one number at a time. */
typedef struct gess__moments {
    double count, mean, squares;
} gess__moments;

typedef struct gess__history {
    uint64_t stages, checks;
    gess__history_stage_row *stage;
    gess__history_check_row *check;
    size_t columns;
    gess__moments *draws;         /* columns: of the window's draws, in the user's scale; derived quantities: none */
    gess__moments *chains;        /* columns: of the chains' means of them */
    gess__moments deltas, log_ts; /* of the chains' means of δ and log T under the frozen T */
} gess__history;

int gess__history_open(gess__history *history, size_t columns, gess_error *err);
void gess__history_free(gess__history *history);

/* A warm-up stage of ensemble number `which` has ended; with the last one the window is looked at. */
int gess__history_stage(gess__history *history, size_t which, const gess__ensemble *e, gess_error *err);

/* The stop rules have looked. A second look at the same draws takes the place of the first. */
int gess__history_check(gess__history *history, uint64_t draws, const gess_stats *stats, gess_error *err);

void gess__history_archive(gess__history *history, gess__archive *archive);

/* history.json (docs/file-formats.md); a new reference, or NULL. */
json_t *gess__history_json(const gess__history *history, size_t ensembles, gess__ensemble *const *ensemble,
                           const gess_stats *stats);

#endif
