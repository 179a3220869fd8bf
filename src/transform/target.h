/* The target: the density as the sampler sees it, and the definition of the sampling space.
 *
 * There are three spaces, and two maps between them:
 *
 *   x   the user's parameters, in which the model's density is written and draws are stored
 *   y   unbounded coordinates, one per free parameter and two per periodic one      x ↔ y: bounds.h
 *   w   the SAMPLING SPACE, in which chains move, T is fitted and kernels work      y ↔ w: learned_map.h
 *
 * Functions called `in` map towards w, functions called `out` towards x. The density in the sampling space is that of x
 * times |dx/dw|: target.c multiplies, bounds.c and learned_map.c give the two factors. Without a learned map w is y;
 * without bounds y is x. Everything above this folder works with w, and asks the target for x when a draw is stored or
 * a message names a point. y and w have the same dimension. */
#ifndef GESS_TRANSFORM_TARGET_H
#define GESS_TRANSFORM_TARGET_H

#include "transform/bounds.h"
#include "transform/call.h"
#include "transform/learned_map.h"
#include "transform/reference.h"

typedef struct gess__target {
    const gess_model *model; /* borrowed */
    gess__bounds bounds;
    gess__learned *learned;     /* owned; NULL if no map is learned */
    gess__reference *reference; /* owned; NULL if the target is never annealed */
    gess__calls calls;          /* all zero: calls are neither watched nor noted; `asking` is owned */
    size_t dim;                 /* of w and y */
    size_t columns;             /* of a draw: log density, parameters, derived quantities, blobs */
} gess__target;

/* transform: 1 to sample bounded parameters on a log or logit scale, 0 for hard bounds. gess__target_free() must follow
 * even after a failure. */
int gess__target_init(gess__target *target, const gess_model *model, int transform, gess_error *err);
void gess__target_free(gess__target *target);

/* Gives the target a map that can be learned, at first the identity. Must be called before scratch is sized. */
int gess__target_learn(gess__target *target, gess_error *err);

/* Gives the target a reference, at power 1: the target can be annealed. */
int gess__target_anneal(gess__target *target, gess_error *err);

/* Doubles of scratch for the functions below with up to n points. */
size_t gess__target_scratch(const gess__target *target, size_t n);

/* w → y of one point; returns log |dy/dw|. */
double gess__target_out(const gess__target *target, const double *w, double *y, double *scratch);

/* The log density in the space y of a point, from that of the annealed target; the same at power 1. */
double gess__target_unannealed(const gess__target *target, const double *y, double value);

/* Log densities in the sampling space of n points w (n × dim), annealed if the reference's power is below 1, raw: NaN
 * and infinities are passed on, since a value that the sampler does not use must not count. The model is not called for
 * points outside its bounds. gradients is n × dim, or NULL; only a target without a learned map has gradients. blobs is
 * n × model->blobs, or NULL if they are not wanted or there are none; rows of points outside the bounds are arbitrary.
 * If the model fails, err->chain is the number of the point to blame in this batch, from 1: the caller replaces it by
 * the number of its chain. May be called by several threads at once, with different `worker` and scratch. */
int gess__target_evaluate(const gess__target *target, unsigned worker, size_t n, const double *w, double *values,
                          double *gradients, double *blobs, double *scratch, gess_error *err);

/* Whether the last evaluation of a worker failed because its process was lost (--isolate): GESS_OK if not, otherwise a
 * status other than that, with a message. For callers that take a model's own failure for a point outside the support.
 */
int gess__target_lost(const gess__target *target, unsigned worker, gess_error *err);

/* Writes n draws in the user's space into rows, `stride` doubles apart, `columns` each: log density without Jacobian,
 * parameters, derived quantities, blobs. `values`: the log densities in the sampling space; `blobs`: of the same
 * evaluations, NULL if there are none. */
int gess__target_draws(const gess__target *target, unsigned worker, size_t n, const double *w, const double *values,
                       const double *blobs, double *rows, size_t stride, double *scratch, gess_error *err);

/* Writes the derived quantities of a point x of the user's space behind it. */
int gess__target_derive(const gess__target *target, unsigned worker, double *x, gess_error *err);

/* Writes the point as "name = value, …" for messages, shortened with "…" if it does not fit. Scratch as for one
 * point. */
void gess__target_describe(const gess__target *target, const double *w, char *text, size_t size, double *scratch);

/* Adds a point and the number of its chain, from 1, to a message. Scratch as for one point. */
void gess__target_add_point(const gess__target *target, const double *w, uint64_t chain, double *scratch,
                            gess_error *err);

#endif
