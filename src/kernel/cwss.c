/* Coordinate-wise slice sampling: an update along a coordinate chosen at random (slice.h). */
#include "kernel/slice.h"

#include <string.h>

static void choose_coordinate(const gess__update *u, size_t j, double *direction)
{
    size_t dim = u->target->dim;
    double uniform = gess__uniform(gess__update_key(u, j, GESS__FOR_COMPONENT), 0);
    memset(direction, 0, dim * sizeof *direction);
    direction[(size_t)(uniform * (double)dim)] = 1.0; /* below dim: uniform is below 1 by 2^-53, dim far below 2^53 */
}

static void begin(gess__update *u)
{
    gess__slice_begin(u, choose_coordinate);
}

const gess__kernel gess__kernel_cwss = {
    .name = "cwss",
    .help = "slice sampling along a random coordinate",
    .exact = 1,
    .state_size = gess__slice_state_size,
    .scratch_size = gess__slice_scratch_size,
    .begin = begin,
    .propose = gess__slice_propose,
    .consume = gess__slice_consume,
};
