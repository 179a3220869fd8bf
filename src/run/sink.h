/* Where the draws of a run go: files, stop rule, progress monitor, callbacks. */
#ifndef GESS_RUN_SINK_H
#define GESS_RUN_SINK_H

#include "execute/ensemble.h"

/* Gets every segment of every ensemble; user: the run. */
int gess__run_take_segment(void *user, const gess__segment *segment, gess_error *err);

#endif
