/* Draws particles by their weights, with one random number. Copies of a particle get places in the same half of the
 * chains, since fits compare the halves, and in different rows, since the chains of the run come from one row. */
#include "explore/resampling.h"

#include "base/assert.h"
#include "base/mutant.h"

#include <string.h>

void gess__annealing_resample(gess__annealing *a, size_t from_points)
{
    gess__ensemble *e = a->learning->ensemble;
    gess__window *w = &a->learning->adaptation->window;
    size_t n = gess__window_points(w), from = 0, dim = w->dim;
    GESS_ASSERT(from_points >= n && from_points <= w->room * w->chains);
    gess__key key = {.seed = e->seed,
                     .iteration = a->state.steps,
                     .chain = e->chains.first,
                     .purpose = GESS__FOR_RESAMPLING};
    double sum = 0.0, start = gess__uniform(key, 0), *points = w->packed;
    for (size_t i = 0; i < from_points; i++) sum += a->weight[i];
    double below = a->weight[0];
    for (size_t j = 0; j < n; j++) {
        double at = ((double)j + start) / (double)n * sum;
        while (from + 1 < from_points && (below <= at || a->weight[from] == 0.0)) below += a->weight[++from];
        size_t ancestor = GESS__MUTANT(UNWEIGHTED_RESAMPLING) ? j : from;
        size_t to = j % w->draws * w->chains + j / w->draws;
        memcpy(points + to * dim, w->points + ancestor * dim, dim * sizeof *points);
        w->values[to] = (double)ancestor;
    }
    memcpy(w->points, points, n * dim * sizeof *points);
    for (size_t i = 0; i < n; i++) a->weight[i] = a->raw[(size_t)w->values[i]];
    memcpy(a->raw, a->weight, n * sizeof *a->raw);
    for (size_t i = 0; i < n; i++) a->weight[i] = a->log_reference[(size_t)w->values[i]];
    memcpy(a->log_reference, a->weight, n * sizeof *a->raw);
}
