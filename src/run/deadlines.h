/* The clock of a run: when a checkpoint is due, and when --max-time is over. */
#ifndef GESS_RUN_DEADLINES_H
#define GESS_RUN_DEADLINES_H

#include <gess/gess.h>

/* Called after every segment of the current ensemble, which has done `iterations` iterations. Pauses the run if a
 * checkpoint is due, and stops it if --max-time is over. The only place where time has an effect, and it never changes
 * a draw. */
void gess__run_poll_clock(gess_run *run, uint64_t iterations);

#endif
