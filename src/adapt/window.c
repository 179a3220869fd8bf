/* Holds the draws of the warm-up window: thins them when they outgrow their room, measures their mean log densities,
 * and packs them into the two halves of the chains for fits. Workers write the draws into it (execute/task.c). */
#include "adapt/window.h"

#include "base/assert.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points that a window holds, at least MIN_DRAWS per chain, and at most MAX_DOUBLES numbers in all, so that memory
 * stays O(chains · dim + dim²) in many dimensions. */
enum { POINTS = 20000, MAX_DOUBLES = 1 << 22, MIN_DRAWS = 4 };

int gess__window_new(gess__window *w, size_t chains, size_t dim, int with_points, gess_error *err)
{
    GESS_ASSERT(chains > 0 && dim > 0);
    size_t points = POINTS < MAX_DOUBLES / dim ? POINTS : MAX_DOUBLES / dim;
    w->chains = chains;
    w->dim = dim;
    w->room = points / chains > MIN_DRAWS ? points / chains : MIN_DRAWS;
    points = w->room * chains;
    GESS_ALLOC(&w->values, points, err);
    GESS_ALLOC(&w->chain_mean, chains, err);
    GESS_ALLOC(&w->chain_mean_before, chains, err);
    if (!with_points) return GESS_OK;
    GESS_ALLOC(&w->points, points * dim, err);
    GESS_ALLOC(&w->packed, points * dim, err);
    return GESS_OK;
}

void gess__window_free(gess__window *w)
{
    free(w->points);
    free(w->values);
    free(w->packed);
    free(w->chain_mean);
    free(w->chain_mean_before);
}

size_t gess__window_points(const gess__window *w)
{
    return w->draws * w->chains;
}

/* Keeps every second draw. */
static void thin(gess__window *w)
{
    size_t chains = w->chains, row = chains * w->dim;
    w->stride *= 2;
    w->draws /= 2;
    for (size_t i = 0; i < w->draws; i++) {
        if (w->points != NULL) memcpy(w->points + i * row, w->points + (2 * i + 1) * row, row * sizeof *w->points);
        memcpy(w->values + i * chains, w->values + (2 * i + 1) * chains, chains * sizeof *w->values);
    }
}

void gess__window_begin_stage(gess__window *w, int anew)
{
    GESS_ASSERT(w->room > 0 && w->length > 0);
    memcpy(w->chain_mean_before, w->chain_mean, w->chains * sizeof *w->chain_mean);
    if (anew) {
        w->start = w->stage;
        w->stride = 1;
        w->draws = 0;
    }
    while ((w->stage + w->length - w->start) / w->stride > w->room) thin(w);
}

void gess__window_end_stage(gess__window *w)
{
    w->draws = (size_t)((w->stage + w->length - w->start) / w->stride);
}

gess__collect gess__window_collect(const gess__window *w)
{
    return (gess__collect){.start = w->start, .stride = w->stride, .points = w->points, .values = w->values};
}

size_t gess__window_older(const gess__window *w)
{
    return (size_t)((w->stage - w->start) / w->stride);
}

/* Mean log density of the draws from number `from` of every chain on. */
static void mean_values(gess__window *w, size_t from, double *mean, double *error)
{
    size_t chains = w->chains;
    double sum = 0.0, squares = 0.0, draws = (double)(w->draws - from);
    for (size_t c = 0; c < chains; c++) {
        double chain_mean = 0.0;
        for (size_t i = from; i < w->draws; i++) chain_mean += w->values[i * chains + c];
        chain_mean /= draws;
        w->chain_mean[c] = chain_mean;
        sum += chain_mean;
        squares += chain_mean * chain_mean;
    }
    *mean = sum / (double)chains;
    double variance = squares / (double)chains - *mean * *mean;
    *error = sqrt(gess__max(variance, 0.0) / (double)chains);
}

void gess__window_mean_values(gess__window *w, double *mean, double *error)
{
    mean_values(w, gess__window_older(w), mean, error);
}

void gess__window_late_values(gess__window *w, double *mean, double *error)
{
    size_t older = gess__window_older(w);
    if (w->draws > older + 1) mean_values(w, older + (w->draws - older) / 2, mean, error);
}

gess__pool gess__window_pack(gess__window *w)
{
    GESS_ASSERT(w->points != NULL && w->draws <= w->room);
    size_t dim = w->dim, chains = w->chains, half = chains / 2, newest = w->draws - gess__window_older(w);
    double *first = w->packed, *second = w->packed + w->draws * half * dim;
    for (size_t i = 0; i < w->draws; i++) {
        const double *row = w->points + i * chains * dim;
        memcpy(first + i * half * dim, row, half * dim * sizeof *row);
        memcpy(second + i * (chains - half) * dim, row + half * dim, (chains - half) * dim * sizeof *row);
    }
    return (gess__pool){.half = w->draws * half,
                        .half_new = newest * half,
                        .rest = w->draws * (chains - half),
                        .rest_new = newest * (chains - half),
                        .points = w->packed};
}

void gess__window_archive(gess__window *w, gess__archive *a)
{
    GESS_ARCHIVE(a, &w->start);
    GESS_ARCHIVE(a, &w->stage);
    GESS_ARCHIVE(a, &w->length);
    GESS_ARCHIVE(a, &w->stride);
    GESS_ARCHIVE(a, &w->draws);
    gess__archive_expect(a, w->room);
}

void gess__window_archive_contents(gess__window *w, uint64_t draws, gess__archive *a)
{
    if (w->room == 0 || draws > w->room) {
        a->bad = 1;
        return;
    }
    gess__archive_bytes(a, w->chain_mean, w->chains * sizeof *w->chain_mean);
    gess__archive_bytes(a, w->chain_mean_before, w->chains * sizeof *w->chain_mean_before);
    size_t points = (size_t)draws * w->chains;
    gess__archive_bytes(a, w->values, points * sizeof *w->values);
    if (w->points != NULL) gess__archive_bytes(a, w->points, points * w->dim * sizeof *w->points);
}
