/* nans.csv of the run directory. */
#ifndef GESS_RUN_NANS_H
#define GESS_RUN_NANS_H

#include <gess/gess.h>

/* Writes the first points at which the density was NaN, where there are any. */
int gess__nans_write(const gess_run *run, gess_error *err);

#endif
