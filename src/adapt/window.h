/* The window of warm-up: the draws of the last stages, in the sampling space, that approximations are fitted to.
 *
 * It holds one iteration in `stride`, so that it never outgrows its room. A window starts anew with a stage whose draws
 * are unlike those before. */
#ifndef GESS_ADAPT_WINDOW_H
#define GESS_ADAPT_WINDOW_H

#include "approx/fit.h"
#include "base/archive.h"
#include "execute/stretch.h"

typedef struct gess__window {
    size_t chains, dim;
    uint64_t start;            /* iteration at which it began */
    uint64_t stage;            /* iteration at which its newest stage began */
    uint64_t length;           /* iterations of the newest stage */
    uint64_t stride;           /* one iteration in `stride` is held */
    size_t draws;              /* held per chain */
    size_t room;               /* draws per chain that it can hold */
    double *points;            /* (draw · chains + chain) × dim; NULL: only log densities are kept */
    double *values;            /* draw · chains + chain: their log densities */
    double *packed;            /* the points again, those of the first half of the chains first */
    double *chain_mean;        /* per chain: mean log density in the newest complete stage */
    double *chain_mean_before; /* the same of the stage before */
} gess__window;

/* Allocates a window; `points`: with points, not only log densities. */
int gess__window_new(gess__window *w, size_t chains, size_t dim, int points, gess_error *err);
void gess__window_free(gess__window *w);

/* Number of points that it holds. */
size_t gess__window_points(const gess__window *w);

/* Opens a stage of w->length iterations at iteration w->stage; `anew`: forgets what it held. */
void gess__window_begin_stage(gess__window *w, int anew);

/* The stage is complete. */
void gess__window_end_stage(gess__window *w);

/* Where the stage's points go. */
gess__collect gess__window_collect(const gess__window *w);

/* Draws per chain that it held before its newest stage. */
size_t gess__window_older(const gess__window *w);

/* Mean log density of the newest stage, and its standard error from the means of the chains: these are nearly
 * independent of each other, the draws of one chain are not. Sets chain_mean. */
void gess__window_mean_values(gess__window *w, double *mean, double *error);

/* The same of the newest stage's second half; nothing if the stage has fewer than two draws per chain. */
void gess__window_late_values(gess__window *w, double *mean, double *error);

/* The points with those of the first half of the chains first, each half draw by draw. */
gess__pool gess__window_pack(gess__window *w);

/* Its state; `draws` per chain of its contents (more than its room: bad). */
void gess__window_archive(gess__window *w, gess__archive *archive);
void gess__window_archive_contents(gess__window *w, uint64_t draws, gess__archive *archive);

#endif
