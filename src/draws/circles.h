/* Which columns of draws are periodic, or lie between two bounds, as config.json and the comments of exported CSV files
 * say. */
#ifndef GESS_DRAWS_CIRCLES_H
#define GESS_DRAWS_CIRCLES_H

#include "diagnose/circular.h"

#include <jansson.h>

/* Reads "periodic" and "bounded" of a config.json, which may be NULL: circle[columns], by columns of the draws. *circle
 * is NULL if there is none; otherwise the caller frees it. Entries that make no sense are ignored. */
int gess__circles_of_config(const json_t *config, gess__circle **circle, size_t *columns, gess_error *err);

/* Reads a line such as "# periodic_2 = 0, 6.28": parameter 2 has these bounds. Returns 0 if it is no such line. */
size_t gess__circle_of_comment(const char *line, gess__circle *circle);

#endif
