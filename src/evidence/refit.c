/* Fits a mixture of t to the draws of one half of the series, for bridging those of the other half. */
#include "base/assert.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "evidence/part.h"

#include <stdlib.h>
#include <string.h>

/* Draws that a T is fitted to: at most MAX_POINTS, and MAX_NUMBERS coordinates; at least PER_DIMENSION per dimension.
 */
enum { MAX_POINTS = 20000, MAX_NUMBERS = 1 << 22, PER_DIMENSION = 10, MIN_POINTS = 200 };

/* Copies up to `max` draws of a part, evenly spaced within its series, to points: those of every other series first,
 * then the rest; as the pool of the fits wants them. */
static gess__pool gather(const gess__part *p, size_t max, double *points)
{
    const gess__stored *s = p->stored;
    size_t stride = (p->n1 + max - 1) / max, count[2] = {0, 0}, at = 0;
    for (size_t half = 0; half < 2; half++)
        for (size_t k = half; k < p->series; k += 2)
            for (size_t i = stride - 1; i < s->n; i += stride) {
                memcpy(points + at++ * s->dim, s->w + ((p->first + k * p->step) * s->n + i) * s->dim,
                       s->dim * sizeof *points);
                count[half]++;
            }
    return (
        gess__pool){.half = count[0], .half_new = count[0], .rest = count[1], .rest_new = count[1], .points = points};
}

/* Fits `to` to the draws of `from`. */
static int fit(const gess__part *from, gess__part *to, size_t max, double *points, gess__team *team, gess_error *err)
{
    gess__fitter *fitter = NULL;
    gess__mixture_fitter *mixer = NULL;
    gess__fit_report report;
    gess__mixture_report mixed = {0};
    size_t dim = from->target->dim;
    gess__pool pool = gather(from, max, points);
    size_t count = pool.half + pool.rest;
    int status = gess__fitter_new(&fitter, dim, count, err);
    if (status == GESS_OK) gess__fit(fitter, count, points, GESS__FIT_QUICK, to->t->component[0], &report);
    gess__fitter_free(fitter);
    if (status == GESS_OK && gess__mixture_room(dim) > 1 && pool.half > 0 && pool.rest > 0) {
        status = gess__mixture_fitter_new(&mixer, dim, count, team, err);
        if (status == GESS_OK) gess__fit_mixture(mixer, &pool, 0, to->t, &mixed);
        gess__mixture_fitter_free(mixer);
    }
    return status == GESS_OK ? gess__part_levels(to, err) : status;
}

int gess__part_refit(gess__part part[2], gess__team *team, int *done, gess_error *err)
{
    size_t dim = part[0].target->dim, max = MAX_NUMBERS / dim < MAX_POINTS ? MAX_NUMBERS / dim : MAX_POINTS;
    size_t fewest = part[0].n1 < part[1].n1 ? part[0].n1 : part[1].n1;
    double *points = NULL;
    *done = 0;
    if (fewest < PER_DIMENSION * dim || fewest < MIN_POINTS || max < PER_DIMENSION * dim) return GESS_OK;
    size_t most = part[0].n1 > part[1].n1 ? part[0].n1 : part[1].n1, room = most < max ? most : max;
    GESS_ALLOC(&points, room * dim, err);
    int status = fit(&part[0], &part[1], max, points, team, err);
    if (status == GESS_OK) status = fit(&part[1], &part[0], max, points, team, err);
    free(points);
    *done = status == GESS_OK;
    return status;
}
