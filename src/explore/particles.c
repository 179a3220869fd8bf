/* Chooses the number of particles by the dimension and the limit of evaluations. */
#include "explore/particles.h"

/* PER_DIMENSION per dimension, within limits; in many dimensions SCARCE per dimension. */
enum { MIN_PARTICLES = 2000, PER_DIMENSION = 1000, MAX_PARTICLES = 4000, SCARCE = 40 };

/* Evaluations that annealing may take per particle. */
enum { EVALS_PER_PARTICLE = 100 };

/* The particles that the limit of evaluations for warm-up allows. */
static uint64_t affordable(const gess__annealing *a)
{
    const gess__warmup *u = &a->learning->adaptation->warmup;
    uint64_t spent = a->learning->ensemble->tally.evals, left = u->max_evals > spent ? u->max_evals - spent : 0;
    return u->fixed == GESS_AUTO ? left / EVALS_PER_PARTICLE : UINT64_MAX;
}

/* Particles that the problem needs. */
static size_t wanted(const gess__annealing *a)
{
    const gess__window *w = &a->learning->adaptation->window;
    size_t n = PER_DIMENSION * w->dim, scarce = SCARCE * w->dim;
    if (n < MIN_PARTICLES) return MIN_PARTICLES;
    return n < MAX_PARTICLES ? n : scarce > MAX_PARTICLES ? scarce : MAX_PARTICLES;
}

int gess__annealing_is_affordable(const gess__annealing *a)
{
    return a->maxima != NULL && affordable(a) >= wanted(a) / 2;
}

size_t gess__particle_rows(const gess__annealing *a)
{
    const gess__window *w = &a->learning->adaptation->window;
    size_t n = wanted(a);
    if (n > affordable(a)) n = gess__annealing_is_affordable(a) ? (size_t)affordable(a) : n / 2;
    size_t rows = (n + w->chains - 1) / w->chains;
    return rows < w->room ? rows : w->room;
}
