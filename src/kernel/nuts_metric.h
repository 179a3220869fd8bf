/* What `nuts` adapts in warm-up: a metric, diagonal or dense, and a step size.
 *
 * The metric is the factor L of an estimate LLᵀ of the covariance: diag(sd), or a packed Cholesky factor
 * (running_cov.h). Momenta are kept whitened, p ~ N(0, I), so that a step is x += ε L p and p += ε/2 Lᵀ ∇ log π. */
#ifndef GESS_KERNEL_NUTS_METRIC_H
#define GESS_KERNEL_NUTS_METRIC_H

#include <stddef.h>
#include <stdint.h>

typedef struct gess__metric {
    size_t (*size)(size_t dim);        /* doubles of L */
    size_t (*window_size)(size_t dim); /* doubles of a window, initially zeros; the first is its count of points */
    void (*reset)(size_t dim, double *metric); /* L = I */
    void (*product)(size_t dim, const double *metric, const double *in, double *out);
    void (*transposed)(size_t dim, const double *metric, const double *in, double *out);
    void (*add)(size_t dim, double *window, const double *x, double *scratch);        /* scratch: dim */
    void (*close)(size_t dim, const double *window, double *metric, double *scratch); /* L from the window */
} gess__metric;

extern const gess__metric gess__metric_diagonal, gess__metric_dense;

/* Whether iteration i of a warm-up of n belongs to a window; whether it is the last of its window. The windows are
 * Stan's: none at first, then windows of doubling length, then none at the end, while the step size settles. */
int gess__window_holds(uint64_t n, uint64_t i);
int gess__window_ends(uint64_t n, uint64_t i);

/* Dual averaging of the log step (M. D. Hoffman & A. Gelman, JMLR 15 (2014), section 3.2). */
typedef struct gess__stepper {
    double started, log_step, log_average, error, count;
    double windows, before; /* closed windows; the log step to fall back on, from an earlier window */
} gess__stepper;

/* Starts with the step that suits a whitened target of `dim` dimensions. A step that is too large costs little, one
 * that is too small costs much. */
void gess__stepper_start(gess__stepper *s, size_t dim);

/* Restarts the adaptation of the step after a window was closed, since the metric has changed. */
void gess__stepper_restart(gess__stepper *s, size_t dim);

/* Learns from the acceptance of a trajectory made with the present step. */
void gess__stepper_learn(gess__stepper *s, size_t dim, double acceptance);

/* Ends adaptation and fixes the step: the average, or the fallback if the average is over too few trajectories. */
void gess__stepper_end(gess__stepper *s);

#endif
