/* A mixture of multivariate t: T(x) = Σ_j w_j t_j(x), each t_j an approximation of approx.h.
 *
 * One component is the plain t. Everything here is per point and in fixed order, so a point's log T
 * has the same bits in any batch. */
#ifndef GESS_APPROX_MIXTURE_H
#define GESS_APPROX_MIXTURE_H

#include "approx/fit.h"

enum { GESS__MAX_COMPONENTS = 16 };

typedef struct gess__mixture {
    size_t dim, count; /* 1 ≤ count ≤ gess__mixture_room(dim) */
    double log_weight[GESS__MAX_COMPONENTS];
    gess__approx *component[GESS__MAX_COMPONENTS];
} gess__mixture;

/* How many components there may be: in many dimensions one, since each takes dim² numbers, and none could be fitted. */
size_t gess__mixture_room(size_t dim);

/* One component, N(0, I). */
int gess__mixture_new(gess__mixture **mixture, size_t dim, gess_error *err);
void gess__mixture_free(gess__mixture *mixture);
void gess__mixture_copy(gess__mixture *to, const gess__mixture *from);

/* Doubles of scratch for the function below with n points. */
size_t gess__mixture_scratch(size_t dim, size_t n);

/* log T of n points (n × dim, row-major), with all its constants. */
void gess__mixture_log_ts(const gess__mixture *mixture, size_t n, const double *points, double *out, double *scratch);

/* log Σ_j exp(terms[j]) for j < count; the largest term is taken out, unless it is infinite. */
double gess__log_sum(size_t count, const double *terms);

/* The same for n of them, to the bit: out[i] of terms[j * stride + i]. */
void gess__log_sums(size_t count, size_t stride, size_t n, const double *terms, double *out);

/* The fit to a warm-up window (mixture_size.c): EM from the single t in mixture->component[0], with more and more
 * components as long as the draws of the half that was not fitted get likelier by it; or with `size` components alone,
 * if an earlier fit had so many and they still serve (0: none had). Deterministic. */
typedef struct gess__mixture_report {
    double score; /* mean log T of draws under the fit to the other half's */
    double gain;  /* by how much that is larger than the single t's */
    unsigned iterations;
} gess__mixture_report;

typedef struct gess__mixture_fitter gess__mixture_fitter;
/* The team, where it is not NULL, helps with the fits. */
int gess__mixture_fitter_new(gess__mixture_fitter **fitter, size_t dim, size_t points, gess__team *team,
                             gess_error *err);
void gess__mixture_fitter_free(gess__mixture_fitter *fitter);
void gess__fit_mixture(gess__mixture_fitter *fitter, const gess__pool *pool, size_t size, gess__mixture *mixture,
                       gess__mixture_report *report);

#endif
