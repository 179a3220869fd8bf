/* nans.csv of the run directory: the first points at which the density was NaN. */
#ifndef GESS_RUN_NANS_CSV_H
#define GESS_RUN_NANS_CSV_H

#include <gess/gess.h>

/* Writes the file: iteration and chain from 1, the point in the user's scale. Writes nothing if there was no NaN. */
int gess__nans_write(const gess_run *run, gess_error *err);

#endif
