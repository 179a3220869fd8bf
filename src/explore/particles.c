/* Chooses the number of particles by the dimension, the limit of evaluations and the modes that are known; looks for
 * valleys between clusters of them. */
#include "explore/particles.h"

#include "base/mem.h"
#include "explore/evaluate.h"
#include "explore/weighing.h"

#include <math.h>
#include <stdlib.h>

/* PER_DIMENSION per dimension, within limits; in many dimensions SCARCE per dimension; one in FEW of them for as long
 * as there is one mode. */
enum { MIN_PARTICLES = 2000, PER_DIMENSION = 1000, MAX_PARTICLES = 4000, SCARCE = 40, FEW = 4 };

/* Evaluations that annealing may take per particle. */
enum { EVALS_PER_PARTICLE = 100 };

/* Points between two clusters; the fall of the log density that makes a valley. */
enum { BETWEEN = 9 };
#define VALLEY 1.0

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
    if (a->state.few) n /= FEW;
    size_t rows = (n + w->chains - 1) / w->chains;
    return rows < w->room ? rows : w->room;
}

/* The highest particle of cluster k. */
static size_t top_of(const gess__annealing *a, size_t k)
{
    size_t n = gess__window_points(&a->learning->adaptation->window), best = n;
    for (size_t i = 0; i < n; i++)
        if (a->clusters->label[i] == k && (best == n || a->raw[i] > a->raw[best])) best = i;
    return best;
}

/* Puts the points between the particles i and j into `points`. */
static void put_between(const gess__window *w, size_t i, size_t j, double *points)
{
    const double *from = w->points + i * w->dim, *to = w->points + j * w->dim;
    for (size_t m = 0; m < BETWEEN; m++)
        for (size_t k = 0; k < w->dim; k++)
            points[m * w->dim + k] = from[k] + (double)(m + 1) / (BETWEEN + 1.0) * (to[k] - from[k]);
}

int gess__particles_apart(gess__annealing *a, const gess__record *record, int *several, gess_error *err)
{
    gess__ensemble *e = a->learning->ensemble;
    gess__reference *r = e->target.reference;
    const gess__window *w = &a->learning->adaptation->window;
    *several = a->maxima->state.count > 1;
    if (*several || e->frozen.mixture->count == 1) return GESS_OK;
    gess__weighing_cluster(a); /* after a stop they are not known */
    size_t others = a->clusters->count - 1, first = top_of(a, 0);
    double *points = NULL, *values, power = r->power;
    if (others == 0) return GESS_OK;
    GESS_TRY(gess__alloc_bytes(&points, others * BETWEEN * (w->dim + 1), sizeof *points, "points", err));
    values = points + others * BETWEEN * w->dim;
    for (size_t k = 0; k < others; k++) put_between(w, first, top_of(a, k + 1), points + k * BETWEEN * w->dim);
    r->power = 1.0;
    int status = gess__evaluate_points(e, record, others * BETWEEN, points, values, err);
    r->power = power;
    for (size_t i = 0; status == GESS_OK && i < others * BETWEEN; i++) {
        double lower = gess__min(a->raw[first], a->raw[top_of(a, i / BETWEEN + 1)]);
        *several |= values[i] < lower - VALLEY;
    }
    free(points);
    return status;
}
