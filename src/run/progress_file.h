/* progress.json of the run directory: how far the run is, for `gess watch`. It is replaced every few seconds while
 * draws arrive, and when a session begins and ends. Nothing that the run does depends on it; a file that cannot be
 * written is left out. */
#ifndef GESS_RUN_PROGRESS_FILE_H
#define GESS_RUN_PROGRESS_FILE_H

#include "base/status.h"

#include <stdint.h>

enum { GESS__PROGRESS_TRAIL = 64 };

typedef struct gess__progress_point {
    uint64_t draws, evals;
    double ess, rhat;
} gess__progress_point;

typedef struct gess__progress_file {
    bool checking;  /* the targets are being checked, which may take a while */
    double written; /* monotonic seconds; 0: never in this session */
    double rate;    /* evaluations per second since the last time, smoothed */
    uint64_t evals; /* at the last time */
    size_t points;  /* of the trail: ESS and R-hat at checks of this session */
    gess__progress_point trail[GESS__PROGRESS_TRAIL];
} gess__progress_file;

/* Whether it is time to write the file again. */
bool gess__progress_file_due(const gess_run *run);

/* Writes it. `state`: "running", "stopped", "finished" or "failed"; `message`: why it failed, or NULL. run->stats must
 * be up to date. */
void gess__progress_file_write(gess_run *run, const char *state, const char *message);

/* Says that a check of the targets begins or ends. */
void gess__progress_file_check(gess_run *run, bool begins);

/* Notes what a check found. */
void gess__progress_file_note(gess_run *run, uint64_t draws);

#endif
