/* Random-direction slice sampling: an update along a line whose direction is uniform on the sphere (slice.h). */
#include "base/tiles.h"
#include "kernel/slice.h"

#include <math.h>

static void draw_direction(const gess__update *u, size_t j, double *direction)
{
    size_t dim = u->target->dim;
    gess__normals(gess__update_key(u, j, GESS__FOR_NORMALS), dim, direction);
    double length = sqrt(gess__dot(dim, direction, direction));
    for (size_t i = 0; i < dim; i++) direction[i] /= length;
}

static void begin(gess__update *u)
{
    gess__slice_begin(u, draw_direction);
}

const gess__kernel gess__kernel_rdss = {
    .name = "rdss",
    .help = "slice sampling along random directions",
    .exact = 1,
    .state_size = gess__slice_state_size,
    .scratch_size = gess__slice_scratch_size,
    .begin = begin,
    .propose = gess__slice_propose,
    .consume = gess__slice_consume,
};
