#include "schedule/all_chains.h"

/* In warm-up of `auto`, one iteration in AXES goes along a coordinate; of more than MAX_AXES coordinates each would
 * have its turn too seldom. */
enum { AXES = 8, MAX_AXES = 100 };

void gess__all_chains_next(gess__ensemble *e, uint64_t until, gess__stretch *stretch)
{
    uint64_t left = until > e->done[0] ? until - e->done[0] : 0;
    *stretch = (gess__stretch){
        .count = left > 0 ? e->chains.count : 0,
        .start = e->done[0],
        .iterations = left,
        .approx = e->approx,
        .mixture = e->mixture != NULL && e->mixture->count > 1 ? e->mixture : NULL,
        .globals = e->globals,
        .period = e->period,
        .axes = e->mixture != NULL && !e->warmup.over && e->target.dim <= MAX_AXES ? AXES : 0,
        .rebind = e->rebind,
    };
}

void gess__all_chains_ran(gess__ensemble *e, const gess__stretch *stretch)
{
    e->done[0] += stretch->iterations;
    e->done[1] = e->done[0];
    if (stretch->iterations > 0) e->rebind = 0;
}
