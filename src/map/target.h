/* The density as the sampler sees it: a model behind an invertible map y = m(x) from the user's
 * space to the sampling space, with log |∂x/∂y| inside.
 *
 * The map is the identity so far: y = x, no Jacobian. Everything above this folder works with y
 * and asks the target for x when a draw is stored. */
#ifndef GESS_MAP_TARGET_H
#define GESS_MAP_TARGET_H

#include "base/status.h"

typedef struct gess__target {
    const gess_model *model;
    size_t dim;
} gess__target;

void gess__target_init(gess__target *target, const gess_model *model);

/* Log densities in the sampling space of n points y (n × dim), raw: NaN and infinities are passed
 * on, since a value that is never used must not count. gradients is n × dim, or NULL. */
int gess__target_evaluate(const gess__target *target, unsigned worker, size_t n, const double *y, double *values,
                          double *gradients, gess_error *err);

/* A draw in the user's scale: parameters into x (dim), log density without Jacobian returned. */
double gess__target_draw(const gess__target *target, const double *y, double value, double *x);

/* A point of the user's space in the sampling space. */
void gess__target_map(const gess__target *target, const double *x, double *y);

/* Writes a point as "name = value, …" for messages, shortened with "…" where it does not fit. */
void gess__target_describe(const gess__target *target, const double *y, char *text, size_t size);

#endif
