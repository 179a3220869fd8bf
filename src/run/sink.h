/* Where the draws of a run go: the files, the stop rule, the progress monitor and the caller's callbacks. */
#ifndef GESS_RUN_SINK_H
#define GESS_RUN_SINK_H

#include "execute/ensemble.h"

/* The gess__record.sink of every ensemble; `user` is the run. One thread at a time calls it, not always the same. */
int gess__run_sink(void *user, const gess__segment *segment, gess_error *err);

#endif
