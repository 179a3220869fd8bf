/* The method that a run used, in words: gess_stats.method. */
#ifndef GESS_RUN_METHOD_TEXT_H
#define GESS_RUN_METHOD_TEXT_H

#include <gess/gess.h>

/* Fills run->stats.method, from the first ensemble: the others are set up alike. Empty before warm-up is over. */
void gess__run_describe_method(gess_run *run);

#endif
