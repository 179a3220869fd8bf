/* Draws from CSV files, such as the exports of CmdStan and gess: one file per chain. */
#ifndef GESS_DRAWS_TABLES_H
#define GESS_DRAWS_TABLES_H

#include "draws/draws.h"

/* Reads the files, which must have a header and the same columns and number of rows.
 *
 * Columns whose names end in __, except lp__, belong to the sampler and are left out. If the comments say that warm-up
 * was saved, its rows are left out. An apostrophe in front of a name that a spreadsheet would take for a formula is
 * removed. */
int gess__draws_from_tables(gess__draws *draws, size_t files, char *const *paths, gess_error *err);

#endif
