/* Draws from CSV files of other programs, one file a chain. */
#ifndef GESS_DRAWS_TABLES_H
#define GESS_DRAWS_TABLES_H

#include "draws/store.h"

/* Reads the files, which must have a header and the same columns and number of rows. */
int gess__draws_from_tables(gess__draws *draws, size_t files, char *const *paths, gess_error *err);

#endif
