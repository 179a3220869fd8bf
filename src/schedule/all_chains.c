/* Plans a stretch of all chains with the frozen state, and counts its iterations. The schedules fixed, independent,
 * pooled and auto use it. */
#include "schedule/all_chains.h"

void gess__all_chains_next(gess__sampler *s, uint64_t until, gess__stretch *stretch)
{
    const gess__ensemble *e = &s->ensemble;
    uint64_t left = until > e->done[0] ? until - e->done[0] : 0;
    *stretch = (gess__stretch){
        .count = left > 0 ? e->chains.count : 0,
        .start = e->done[0],
        .iterations = left,
        .approx = e->frozen.approx,
        .mixture = gess__frozen_mixture(&e->frozen),
        .moves = e->frozen.moves,
        .rebind = e->rebind,
    };
}

void gess__all_chains_ran(gess__sampler *s, const gess__stretch *stretch)
{
    gess__ensemble *e = &s->ensemble;
    e->done[0] += stretch->iterations;
    e->done[1] = e->done[0];
    if (stretch->iterations > 0) e->rebind = 0;
}
