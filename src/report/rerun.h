/* Commands that run a model again with the options of a run that was judged, for the advice of findings. */
#ifndef GESS_REPORT_RERUN_H
#define GESS_REPORT_RERUN_H

#include "report/rules.h"

#include <stdio.h>

/* Whether the command line can open the model of the run: config.json names it. */
int gess__can_rerun(const gess__judge *judge);

/* Writes `gess sample MODEL --config DIR/config.json`. */
void gess__rerun_begin(FILE *out, const gess__judge *judge);

/* Writes the run's directory with `ending`, in quotes if a shell needs them. */
void gess__rerun_directory(FILE *out, const gess__judge *judge, const char *ending);

/* Writes ` -o DIR` with `ending`. */
void gess__rerun_end(FILE *out, const gess__judge *judge, const char *ending);

#endif
