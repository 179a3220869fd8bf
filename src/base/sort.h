/* Sorts arrays of doubles. */
#ifndef GESS_BASE_SORT_H
#define GESS_BASE_SORT_H

#include <stddef.h>

/* Sorts n numbers, none of them NaN, in ascending order. May allocate. */
void gess__sort(size_t n, double *values);

#endif
