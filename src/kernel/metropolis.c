/* The Metropolis step that the kernels mh and amh share: propose, then accept or stay. */
#include "kernel/metropolis.h"

#include "kernel/tempered.h"

size_t gess__walk_scratch_size(size_t dim, size_t block)
{
    (void)block;
    return 2 * dim; /* a step, and the kernel's scratch for it */
}

void gess__walk_begin(gess__update *u)
{
    for (size_t j = 0; j < u->count; j++) u->lane[j] = (uint32_t)j;
    u->proposals = u->count;
}

void gess__walk_propose(gess__update *u, const gess__walk *walk)
{
    size_t dim = u->target->dim;
    for (size_t j = 0; j < u->count; j++) {
        const double *x = u->chains->x + (u->first + j) * dim;
        walk->step(u, j, u->scratch);
        for (size_t i = 0; i < dim; i++) u->points[j * dim + i] = x[i] + u->scratch[i];
    }
}

int gess__walk_consume(gess__update *u, const gess__walk *walk, gess_error *err)
{
    for (size_t j = 0; j < u->count; j++) {
        double value;
        GESS_TRY(gess__tempered_there(u, j, &value, err));
        double ratio = value - gess__tempered_here(u, j);
        if (ratio > gess__log(gess__uniform(gess__update_key(u, j, GESS__FOR_SLICE), 0))) {
            gess__tempered_move(u, j);
            u->tally.taken++;
        }
        walk->learn(u, j, ratio < 0.0 ? gess__exp(ratio) : 1.0);
    }
    u->tally.tried += u->count;
    gess__count_ended(u, u->count);
    u->proposals = 0;
    return GESS_OK;
}
