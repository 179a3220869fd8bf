/* The density as the sampler sees it: a model behind the map w ↔ x between the sampling space and
 * the user's, with log |dx/dw| inside. Everything above this folder works with w, and asks the
 * target for x when a draw is stored. The map is made of the bounds' x ↔ y and, where warm-up learns one, of
 * y ↔ w; without it w is y. */
#ifndef GESS_TRANSFORM_TARGET_H
#define GESS_TRANSFORM_TARGET_H

#include "transform/bounds.h"
#include "transform/learned_map.h"

typedef struct gess__target {
    const gess_model *model;
    gess__bounds bounds;
    gess__learned *learned; /* or NULL */
    size_t dim;             /* of w and y */
    size_t columns;         /* of a draw: log density, parameters, derived quantities */
} gess__target;

/* transform: sample bounded parameters on a log or logit scale; otherwise bounds are hard. */
int gess__target_init(gess__target *target, const gess_model *model, int transform, gess_error *err);
void gess__target_free(gess__target *target);

/* Gives the target a map that can be learned, to begin with the identity. Before scratch is sized. */
int gess__target_learn(gess__target *target, gess_error *err);

/* w → y of one point; returns log |dy/dw|. */
double gess__target_out(const gess__target *target, const double *w, double *y, double *scratch);

/* Doubles of scratch for the functions here with up to n points. */
size_t gess__target_scratch(const gess__target *target, size_t n);

/* Log densities in the sampling space of n points w (n × dim), raw: NaN and infinities are passed
 * on, since a value that is never used must not count. The model is not asked about points outside
 * its bounds. gradients is n × dim, or NULL. */
int gess__target_evaluate(const gess__target *target, unsigned worker, size_t n, const double *w, double *values,
                          double *gradients, double *scratch, gess_error *err);

/* n draws in the user's scale into rows, `stride` doubles apart, `columns` each: log density without Jacobian,
 * parameters, derived quantities. */
int gess__target_draws(const gess__target *target, unsigned worker, size_t n, const double *w, const double *values,
                       double *rows, size_t stride, double *scratch, gess_error *err);

/* Writes a point as "name = value, …" for messages, shortened with "…" where it does not fit; scratch as above. */
void gess__target_describe(const gess__target *target, const double *w, char *text, size_t size, double *scratch);

#endif
