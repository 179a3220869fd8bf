/* Steps out and shrinks the interval of a slice along a line, for the kernels rdss and cwss and for coordinate slice
 * updates. */
#include "kernel/slice.h"

#include "kernel/tempered.h"

typedef struct work {
    gess__interval *lanes; /* block */
    double *directions;    /* block × dim */
} work;

static size_t lanes_size(size_t block)
{
    return (block * sizeof(gess__interval) + sizeof(double) - 1) / sizeof(double);
}

static work carve(const gess__update *u)
{
    return (work){.lanes = (gess__interval *)(void *)u->scratch, .directions = u->scratch + lanes_size(u->count)};
}

size_t gess__slice_state_size(size_t dim)
{
    (void)dim;
    return 0;
}

size_t gess__slice_scratch_size(size_t dim, size_t block)
{
    return lanes_size(block) + block * dim;
}

void gess__slice_begin(gess__update *u, gess__slice_direction *direction)
{
    work w = carve(u);
    for (size_t j = 0; j < u->count; j++) {
        u->lane[j] = (uint32_t)j;
        direction(u, j, w.directions + j * u->target->dim);
        gess__interval_open(&w.lanes[j], gess__update_key(u, j, GESS__FOR_SLICE), gess__tempered_here(u, j));
    }
    u->proposals = u->count;
}

void gess__slice_propose(gess__update *u)
{
    size_t dim = u->target->dim;
    work w = carve(u);
    for (size_t p = 0; p < u->proposals; p++) {
        size_t j = u->lane[p];
        const double *x = u->chains->x + (u->first + j) * dim, *d = w.directions + j * dim;
        for (size_t i = 0; i < dim; i++) u->points[p * dim + i] = gess__fma(w.lanes[j].at, d[i], x[i]);
    }
}

int gess__slice_consume(gess__update *u, gess_error *err)
{
    size_t left = 0;
    work w = carve(u);
    for (size_t p = 0; p < u->proposals; p++) {
        uint32_t j = u->lane[p];
        gess__interval *l = &w.lanes[j];
        double value;
        GESS_TRY(gess__tempered_there(u, p, &value, err));
        if (gess__interval_take(l, value)) {
            gess__tempered_move(u, p);
            continue;
        }
        if (l->shrinks >= GESS__MAX_SHRINKS) {
            u->tally.failures++;
            continue;
        }
        gess__interval_aim(l, gess__update_key(u, j, GESS__FOR_SLICE));
        u->lane[left++] = j;
    }
    gess__count_ended(u, u->proposals - left);
    u->proposals = left;
    return GESS_OK;
}
