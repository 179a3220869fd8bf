/* Draws from CSV files of other programs, one file a chain. */
#ifndef GESS_DRAWS_TABLES_H
#define GESS_DRAWS_TABLES_H

#include "draws/store.h"

/* Reads the files, which must have a header and the same columns and number of rows.
 *
 * Files of CmdStan are such files, those that gess exports too. Columns whose names end in __ are the
 * sampler's own and left out, but lp__; where the comments say that warm-up was saved, its rows are
 * left out. An apostrophe in front of what a spreadsheet would take for a formula is taken away. */
int gess__draws_from_tables(gess__draws *draws, size_t files, char *const *paths, gess_error *err);

#endif
