/* A Gaussian in a few dimensions, sampled with an approximation that is given: for the figures that look at single
 * updates. Its density notes where it was asked, so that the angles of an update can be seen. */
#ifndef GESS_REPRODUCE_PLAIN_H
#define GESS_REPRODUCE_PLAIN_H

#include "reproduce/reproduce.h"
#include "schedule/schedule.h"

enum { GESS__PLAIN_DIM = 2, GESS__PLAIN_SEEN = 64 };

typedef struct gess__plain {
    gess_model model;
    double centre[GESS__PLAIN_DIM];
    double chol[GESS__PLAIN_DIM * GESS__PLAIN_DIM]; /* of the covariance, column-major, lower */
    double observed[GESS__PLAIN_DIM], noise;        /* times N(x; observed, noise² I), where noise > 0 */
    size_t seen;                                    /* points since it was set to 0, the first of them kept: */
    double points[GESS__PLAIN_SEEN][GESS__PLAIN_DIM];
    gess__team *team;
    gess__sampler *sampler;
    gess__ensemble *ensemble; /* the sampler's */
} gess__plain;

/* An ellipse of standard deviations `along` and `across` the direction `degrees`, as a factor of its covariance. */
void gess__plain_tilt(double chol[4], double along, double across, double degrees);

/* Chains of a kernel with an approximation that stays; centre, chol, observed and noise are set. Release it also
 * after a failure. */
int gess__plain_open(gess__plain *plain, size_t dim, const char *kernel, size_t chains, uint64_t seed,
                     const gess__approx *approx, gess_error *err);
void gess__plain_close(gess__plain *plain);

/* One more update of every chain. */
int gess__plain_step(gess__plain *plain, gess_error *err);

/* The second point ν of the ellipse on which the next step moves the chain, and the scale s (1 for `ess`). */
void gess__plain_ellipse(const gess__plain *plain, size_t chain, double *nu, double *s);

/* n independent points of the Gaussian, rows of dim. */
void gess__plain_points(const gess__plain *plain, size_t dim, uint64_t seed, size_t n, double *points);

/* By how much a new state is off the ellipse around `centre` through `old` and `nu`: |a² + b² - 1|, where the new
 * state is a (old - centre) + b (nu - centre). */
double gess__plain_off(const double *centre, const double *old, const double *nu, const double *new_state);

/* The squared distance within which a share of a t (or, ν infinite, a Gaussian) in two dimensions lies. */
double gess__plain_contour(double nu, double share);

/* A point as a list of JSON. */
json_t *gess__plain_json(size_t dim, const double *x);

#endif
