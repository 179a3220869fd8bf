/* log.txt of the run directory. */
#ifndef GESS_RUN_LOG_H
#define GESS_RUN_LOG_H

#include "execute/ensemble.h"

/* One line, with the seconds since the run began. */
void gess__run_log(const gess_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What `auto` has chosen so far. */
void gess__run_log_choice(const gess_run *run, const gess__ensemble *e);

/* What the other ranks did. */
void gess__run_log_ranks(const gess_run *run);

#endif
