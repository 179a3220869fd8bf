/* The reference of annealing: a distribution over the space y that covers where chains start, that can be drawn from
 * and whose normalised density is known. The annealed density at power β is
 *
 *   reference(y)^(1 − β) · π(y)^β,
 *
 * from the reference (β = 0) to the target (β = 1).
 *
 *   between two bounds     uniform in x: the logistic distribution of y, or with hard bounds the uniform one
 *   periodic               uniform in x: a standard Gaussian (u, v)
 *   all other coordinates  jointly a multivariate t with a diagonal scale matrix, from the starts of the chains */
#ifndef GESS_TRANSFORM_REFERENCE_H
#define GESS_TRANSFORM_REFERENCE_H

#include "base/archive.h"
#include "base/rng.h"
#include "transform/bounds.h"

enum gess__reference_kind {
    GESS__REFERENCE_T,
    GESS__REFERENCE_LOGISTIC,
    GESS__REFERENCE_NORMAL,
    GESS__REFERENCE_UNIFORM
};

typedef struct gess__reference {
    size_t dim;
    double power;                    /* β; 1: the target itself */
    enum gess__reference_kind *kind; /* dim */
    double *centre, *scale;          /* dim: of the t; the middle and the width of a uniform coordinate */
    double log_norm;                 /* of the whole density */
} gess__reference;

/* Makes the reference of a space with these bounds; the t has centre 0 and scale 1. */
int gess__reference_new(gess__reference **reference, const gess__bounds *bounds, gess_error *err);
void gess__reference_free(gess__reference *reference);

/* Whether it is uniform in x: every parameter lies between two bounds or is periodic. */
bool gess__reference_is_box(const gess__reference *reference);

/* Sets centre and scale of the t from n points of y (n × dim). */
void gess__reference_fit(gess__reference *reference, size_t n, const double *points);

/* Its log density at a point y. */
double gess__reference_log(const gess__reference *reference, const double *y);

/* Draws a point. The key's purpose is GESS__FOR_REFERENCE. */
void gess__reference_draw(const gess__reference *reference, gess__key key, double *y);

/* Power, centre and scale; the archive is bad if they are impossible. */
void gess__reference_archive(gess__reference *reference, gess__archive *archive);

#endif
