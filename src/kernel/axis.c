#include "kernel/axis.h"

#include <math.h>
#include <string.h>

/* A coordinate, by its standard deviation under T. */
static void along(const gess__update *u, size_t j, double *direction)
{
    size_t dim = u->target->dim;
    double uniform = gess__uniform(gess__update_key(u, j, GESS__FOR_COMPONENT), 0), variance = 0.0;
    size_t at = (size_t)(uniform * (double)dim);
    for (size_t k = 0; k <= at; k++) variance += u->approx->chol[at + k * dim] * u->approx->chol[at + k * dim];
    memset(direction, 0, dim * sizeof *direction);
    direction[at] = sqrt(variance);
}

void gess__axis_begin(gess__update *u)
{
    gess__slice_begin(u, along);
    u->tally.axes += u->count;
}

int gess__axis_consume(gess__update *u, gess_error *err)
{
    u->tally.axis_evals += u->proposals;
    return gess__slice_consume(u, err);
}
