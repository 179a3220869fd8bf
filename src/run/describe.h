/* The method that a run used, in words. */
#ifndef GESS_RUN_DESCRIBE_H
#define GESS_RUN_DESCRIBE_H

#include <gess/gess.h>

/* Fills stats.method. */
void gess__run_describe_method(gess_run *run);

#endif
