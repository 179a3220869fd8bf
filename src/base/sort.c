#include "base/sort.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void gess__sort(size_t n, double *values)
{
    qsort(values, n, sizeof *values, ascending);
}
