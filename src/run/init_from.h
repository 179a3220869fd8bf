/* Starting points from the draws of another run: --init-from DIR [--best], and --init DIR. */
#ifndef GESS_RUN_INIT_FROM_H
#define GESS_RUN_INIT_FROM_H

#include "base/csv.h"
#include "base/options.h"

/* Refuses options about starts that contradict each other. */
int gess__init_check(const gess_options *options, gess_error *err);

/* The run directory that chains start from, or NULL: --init-from, or --init if that is a folder. */
const char *gess__init_directory(const gess_options *options);

/* Chooses options->chains draws of the run in `directory`: points has a row per chain and a column per parameter of the
 * model, in order, and no names. Release with gess__table_free(), also after a failure.
 *
 * By default chain by chain and draw by draw, evenly: the last draw of each chain if there are as many chains. With
 * --best the same among the distinct draws of the last halves of the chains at the highest level (diagnose/levels.h).
 */
int gess__init_from(const gess_model *model, const gess_options *options, const char *directory, gess__table *points,
                    gess_error *err);

#endif
