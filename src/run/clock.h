/* When a checkpoint or the end of the time limit is due. */
#ifndef GESS_RUN_CLOCK_H
#define GESS_RUN_CLOCK_H

#include <gess/gess.h>

/* Asks for a checkpoint where one is due: the workers come to the end of what they are at. */
void gess__run_heed_clock(gess_run *run, uint64_t iterations);

#endif
