/* log.txt of the run directory: one line per event, for people. Its wording may change between versions. */
#ifndef GESS_RUN_LOG_H
#define GESS_RUN_LOG_H

#include "schedule/schedule.h"

/* Appends one line, with the seconds since the session began in front. A log that cannot be written does not end a run;
 * a run without files has none. */
void gess__run_log(const gess_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What ensemble number `which` (from 0) has after a stage of warm-up, and what the schedule `auto` has chosen so far.
 */
void gess__run_log_stage(const gess_run *run, size_t which, const gess__sampler *sampler);

/* What the helper ranks did: one line per rank. */
void gess__run_log_ranks(const gess_run *run);

#endif
