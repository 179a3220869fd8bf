/* A Gaussian in one or two dimensions, sampled with a given approximation, for the figures that show single updates.
 * Its density records the points of its evaluations, so that the figures can show the angles that an update tried. */
#ifndef GESS_REPRODUCE_PLAIN_H
#define GESS_REPRODUCE_PLAIN_H

#include "reproduce/reproduce.h"
#include "schedule/schedule.h"

enum { GESS__PLAIN_DIM = 2, GESS__PLAIN_SEEN = 64 };

typedef struct gess__plain {
    gess_model model;
    double centre[GESS__PLAIN_DIM];
    double chol[GESS__PLAIN_DIM * GESS__PLAIN_DIM]; /* of the covariance, column-major, lower */
    double observed[GESS__PLAIN_DIM], noise;        /* if noise > 0, times N(x; observed, noise² I) */
    size_t seen;                                    /* evaluations since it was set to 0; the first points are in: */
    double points[GESS__PLAIN_SEEN][GESS__PLAIN_DIM];
    gess__team *team;
    gess__sampler *sampler;
    gess__ensemble *ensemble; /* the sampler's */
} gess__plain;

/* The Cholesky factor of a covariance with standard deviations `along` and `across` the direction `degrees`. */
void gess__plain_tilt(double chol[4], double along, double across, double degrees);

/* Makes chains of a kernel with a fixed approximation; centre, chol, observed and noise must be set. Close it also
 * after a failure. */
int gess__plain_open(gess__plain *plain, size_t dim, const char *kernel, size_t chains, uint64_t seed,
                     const gess__approx *approx, gess_error *err);
void gess__plain_close(gess__plain *plain);

/* Updates every chain once. */
int gess__plain_step(gess__plain *plain, gess_error *err);

/* The second point ν of the ellipse of the next update of a chain, and the scale s (1 for `ess`). */
void gess__plain_ellipse(const gess__plain *plain, size_t chain, double *nu, double *s);

/* n independent points of the Gaussian, rows of dim. */
void gess__plain_points(const gess__plain *plain, size_t dim, uint64_t seed, size_t n, double *points);

/* The distance of a new state from the ellipse around `centre` through `old` and `nu`: |a² + b² - 1|, if the new state
 * is centre + a (old - centre) + b (nu - centre). */
double gess__plain_off(const double *centre, const double *old, const double *nu, const double *new_state);

/* The squared distance that contains a share of a t (or, if ν is infinite, a Gaussian) in two dimensions. */
double gess__plain_contour(double nu, double share);

/* A point as a JSON list. */
json_t *gess__plain_json(size_t dim, const double *x);

#endif
