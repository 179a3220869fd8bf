/* A mixture of multivariate t: T(x) = Σ_j w_j t_j(x), each t_j an approximation of approx.h.
 *
 * With one component it is the plain t. Everything here works point by point in a fixed order, so
 * that a point's log T has the same bits in any batch. */
#ifndef GESS_APPROX_MIXTURE_H
#define GESS_APPROX_MIXTURE_H

#include "approx/fit.h"

enum { GESS__MAX_COMPONENTS = 32 };

typedef struct gess__mixture {
    size_t dim, count; /* 1 ≤ count ≤ gess__mixture_room(dim) */
    double log_weight[GESS__MAX_COMPONENTS];
    gess__approx *component[GESS__MAX_COMPONENTS];
    size_t defensive; /* the last so many components: not fitted, but there for the tails (adapt/defence.h) */
} gess__mixture;

/* The largest number of components: 1 in many dimensions, since each takes dim² numbers and could not be fitted. */
size_t gess__mixture_room(size_t dim);

/* A new mixture has one component, N(0, I). */
int gess__mixture_new(gess__mixture **mixture, size_t dim, gess_error *err);
void gess__mixture_free(gess__mixture *mixture);
void gess__mixture_copy(gess__mixture *to, const gess__mixture *from);

/* Doubles of scratch for the function below with n points. */
size_t gess__mixture_scratch(size_t dim, size_t n);

/* log T of n points (n × dim, row-major), normalised. */
void gess__mixture_log_ts(const gess__mixture *mixture, size_t n, const double *points, double *out, double *scratch);

/* log Σ_j exp(terms[j]) for j < count, without overflow. */
double gess__log_sum(size_t count, const double *terms);

/* The same for n sums, with the same bits: out[i] from terms[j * stride + i]. */
void gess__log_sums(size_t count, size_t stride, size_t n, const double *terms, double *out);

typedef struct gess__mixture_report {
    double score; /* mean log T of draws under the fit to the other half */
    double gain;  /* the score minus that of the single t */
    unsigned iterations;
} gess__mixture_report;

typedef struct gess__mixture_fitter gess__mixture_fitter;

/* The workspace of fits to up to `points` points. The team, if not NULL, shares the work. */
int gess__mixture_fitter_new(gess__mixture_fitter **fitter, size_t dim, size_t points, gess__team *team,
                             gess_error *err);
void gess__mixture_fitter_free(gess__mixture_fitter *fitter);

/* Fits a mixture to a warm-up window (mixture_size.c). mixture->component[0] holds the single t on entry. The number of
 * components grows as long as the draws of the half that was not fitted become likelier. If `size` is not 0, only that
 * number is tried, and the single t is kept if it does not help. Deterministic. */
void gess__fit_mixture(gess__mixture_fitter *fitter, const gess__pool *pool, size_t size, gess__mixture *mixture,
                       gess__mixture_report *report);

#endif
