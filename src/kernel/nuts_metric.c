/* Learns the step size and the metric of nuts in warm-up. */
#include "kernel/nuts_metric.h"

#include "base/assert.h"
#include "base/vmath.h"
#include "kernel/running_cov.h"

/* ---- shrinkage of an estimate towards a small multiple of the identity, as in Stan ---- */

#define PRIOR_POINTS 5.0
#define PRIOR_VARIANCE 1e-3

static double weight_of(double count)
{
    return count / (count + PRIOR_POINTS);
}

static double prior_of(double count)
{
    return PRIOR_VARIANCE * PRIOR_POINTS / (count + PRIOR_POINTS);
}

/* ---- diagonal: metric sd; window count, mean, squares ---- */

static size_t diagonal_size(size_t dim)
{
    return dim;
}

static size_t diagonal_window(size_t dim)
{
    return 1 + 2 * dim;
}

static void diagonal_reset(size_t dim, double *metric)
{
    for (size_t i = 0; i < dim; i++) metric[i] = 1.0;
}

static void diagonal_product(size_t dim, const double *metric, const double *in, double *out)
{
    for (size_t i = 0; i < dim; i++) out[i] = metric[i] * in[i];
}

static void diagonal_add(size_t dim, double *window, const double *x, double *scratch)
{
    double *mean = window + 1, *squares = mean + dim;
    (void)scratch;
    window[0] += 1.0;
    for (size_t i = 0; i < dim; i++) {
        double step = x[i] - mean[i];
        mean[i] += step / window[0];
        squares[i] = gess__fma(step, x[i] - mean[i], squares[i]);
    }
}

static void diagonal_close(size_t dim, const double *window, double *metric, double *scratch)
{
    const double *squares = window + 1 + dim;
    double factor = weight_of(window[0]) / (window[0] - 1.0);
    (void)scratch;
    for (size_t i = 0; i < dim; i++) metric[i] = sqrt(gess__fma(factor, squares[i], prior_of(window[0])));
}

const gess__metric gess__metric_diagonal = {
    .size = diagonal_size,
    .window_size = diagonal_window,
    .reset = diagonal_reset,
    .product = diagonal_product,
    .transposed = diagonal_product,
    .add = diagonal_add,
    .close = diagonal_close,
};

/* ---- dense: metric a packed factor; window a running covariance ---- */

static void dense_reset(size_t dim, double *metric)
{
    memset(metric, 0, gess__packed_size(dim) * sizeof *metric);
    for (size_t k = 0; k < dim; metric += dim - k++) metric[0] = 1.0;
}

static void dense_close(size_t dim, const double *window, double *metric, double *scratch)
{
    const double *chol = window + 1 + dim;
    double factor = sqrt(weight_of(window[0]) / (window[0] - 1.0)), prior = sqrt(prior_of(window[0]));
    for (size_t i = 0; i < gess__packed_size(dim); i++) metric[i] = factor * chol[i];
    for (size_t k = 0; k < dim; k++) {
        memset(scratch, 0, dim * sizeof *scratch);
        scratch[k] = prior;
        gess__packed_add(dim, metric, k, scratch);
    }
}

const gess__metric gess__metric_dense = {
    .size = gess__packed_size,
    .window_size = gess__running_cov_size,
    .reset = dense_reset,
    .product = gess__packed_product,
    .transposed = gess__packed_transposed,
    .add = gess__running_cov_add,
    .close = dense_close,
};

/* ---- windows ---- */

enum { FIRST = 75, LAST = 50, BASE = 25, MIN_WARMUP = 20 };

/* The range of iterations with windows, [from, to), and the length of the first window, for a warm-up of n. */
static void plan(uint64_t n, uint64_t *from, uint64_t *to, uint64_t *length)
{
    *from = FIRST;
    *to = n > LAST ? n - LAST : 0;
    *length = BASE;
    if (FIRST + BASE + LAST <= n) return;
    *from = 15 * n / 100;
    *to = n - n / 10;
    *length = *to - *from;
}

int gess__window_holds(uint64_t n, uint64_t i)
{
    uint64_t from, to, length;
    plan(n, &from, &to, &length);
    return n >= MIN_WARMUP && i >= from && i < to;
}

int gess__window_ends(uint64_t n, uint64_t i)
{
    uint64_t from, to, length;
    if (!gess__window_holds(n, i)) return 0;
    plan(n, &from, &to, &length);
    /* each window is twice as long as the one before; the last takes the rest */
    for (uint64_t end = from + length; end < to; end += length) {
        if (i + 1 == end) return 1;
        length *= 2;
        if (end + 3 * length >= to) break;
    }
    return i + 1 == to;
}

/* ---- the step ---- */

#define TARGET_ACCEPTANCE 0.8
#define SHRINKAGE 0.05
#define DELAY 10.0
#define DECAY 0.75
enum { MIN_LEARNED = 20 }; /* the average over fewer trajectories may be ten times too large */

static double first_log_step(size_t dim)
{
    return -0.25 * gess__log((double)dim);
}

void gess__stepper_start(gess__stepper *s, size_t dim)
{
    *s = (gess__stepper){.started = 1.0, .log_step = first_log_step(dim)};
}

/* The step at the end of the first window was adapted to the identity metric and says nothing about the new one. */
void gess__stepper_restart(gess__stepper *s, size_t dim)
{
    double windows = s->windows + 1.0, before = s->windows > 0.0 ? s->log_average : first_log_step(dim);
    gess__stepper_start(s, dim);
    s->windows = windows;
    s->before = before;
}

void gess__stepper_learn(gess__stepper *s, size_t dim, double acceptance)
{
    const double log_10 = 2.30258509299404568402;
    GESS_ASSERT(s->started != 0.0 && acceptance >= 0.0 && acceptance <= 1.0);
    double centre = log_10 + first_log_step(dim);
    s->count += 1.0;
    double gain = 1.0 / (s->count + DELAY);
    s->error = gess__fma(gain, TARGET_ACCEPTANCE - acceptance, (1.0 - gain) * s->error);
    s->log_step = centre - sqrt(s->count) / SHRINKAGE * s->error;
    double weight = gess__exp(-DECAY * gess__log(s->count));
    s->log_average = gess__fma(weight, s->log_step, (1.0 - weight) * s->log_average);
}

void gess__stepper_end(gess__stepper *s)
{
    if (s->count == 0.0 && s->windows == 0.0) return;
    double step = s->log_average;
    if (s->windows > 0.0 && s->count < MIN_LEARNED) step = s->windows > 1.0 ? s->before : gess__min(step, s->before);
    s->log_step = step;
    s->count = s->windows = 0.0;
}
