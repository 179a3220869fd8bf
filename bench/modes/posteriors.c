/* Posteriors with several modes: the period of a velocity curve, and the means of a mixture whose components can be
 * exchanged. Their data are simulated with fixed seeds. */
#include "modes.h"

#include <math.h>

/* ---- a velocity curve ----
 *
 * v_i = offset + amplitude · cos(2π t_i / period + phase) + N(0, 1), with observations at night only, so that
 * frequencies that differ by one per day fit nearly alike.
 *
 * Priors: log period uniform; amplitude Rayleigh and phase uniform, so that amplitude · (cos, sin)(phase) is
 * N(0, SCALE² I); offset N(0, SCALE²). So the curve is linear in three normal parameters for a given period: they
 * are integrated analytically, and one integral over the period remains. */

enum { NIGHTS = 12, PERIODS = 400000 };
static const double SCALE = 5.0;

typedef struct curve {
    double t[NIGHTS], v[NIGHTS];
    double edges[MAX_MODES]; /* log periods between modes, ascending; modes - 1 of them */
} curve;

static curve velocities;

void setup_velocity(family *f)
{
    static const double nights[NIGHTS] = {0, 1, 3, 4, 8, 9, 13, 17, 18, 22, 27, 29};
    uint64_t state = 19;
    curve *c = &velocities;
    for (size_t i = 0; i < NIGHTS; i++) {
        c->t[i] = nights[i] + 0.16 * (next_uniform(&state) - 0.5);
        c->v[i] = 1.0 + 3.0 * cos(TWO_PI * c->t[i] / 3.7 + 1.0) + next_normal(&state);
    }
    static const double lower[4] = {-0.36, 0.0, 0.0, -30.0}, upper[4] = {3.0, 30.0, TWO_PI, 30.0};
    for (size_t i = 0; i < 4; i++) {
        f->lower[i] = lower[i];
        f->upper[i] = upper[i];
    }
    f->periodic[2] = 1;
    f->constants = c;
}

double logp_velocity(const family *f, const double *x)
{
    const curve *c = f->constants;
    double frequency = TWO_PI * exp(-x[0]), squares = 0.0;
    for (size_t i = 0; i < NIGHTS; i++) {
        double rest = c->v[i] - x[3] - x[1] * cos(frequency * c->t[i] + x[2]);
        squares += rest * rest;
    }
    return log(x[1]) - 0.5 * squares - 0.5 * (x[1] * x[1] + x[3] * x[3]) / (SCALE * SCALE);
}

/* The log density of the log period alone, up to a constant: with M = I / SCALE² + XᵀX and b = Xᵀv, it is
 * (bᵀ M⁻¹ b - log det M) / 2. M is factored as L Lᵀ. */
static double log_margin(const curve *c, double log_period)
{
    double frequency = TWO_PI * exp(-log_period), m[3][3] = {{0}}, b[3] = {0}, value = 0.0;
    for (size_t i = 0; i < NIGHTS; i++) {
        double row[3] = {1.0, cos(frequency * c->t[i]), sin(frequency * c->t[i])};
        for (size_t j = 0; j < 3; j++) {
            b[j] += row[j] * c->v[i];
            for (size_t k = 0; k <= j; k++) m[j][k] += row[j] * row[k];
        }
    }
    for (size_t j = 0; j < 3; j++) m[j][j] += 1.0 / (SCALE * SCALE);
    for (size_t j = 0; j < 3; j++) {
        for (size_t k = 0; k <= j; k++) {
            for (size_t l = 0; l < k; l++) m[j][k] -= m[j][l] * m[k][l];
            m[j][k] = k < j ? m[j][k] / m[k][k] : sqrt(m[j][j]);
        }
        for (size_t l = 0; l < j; l++) b[j] -= m[j][l] * b[l];
        b[j] /= m[j][j];
        value += 0.5 * b[j] * b[j] - log(m[j][j]);
    }
    return value;
}

unsigned mode_of_velocity(const family *f, const double *x)
{
    const curve *c = f->constants;
    unsigned mode = 0;
    while (mode + 1 < f->modes && x[0] > c->edges[mode]) mode++;
    return mode;
}

/* Cuts the range of log periods at every minimum of the density; then the two neighbours with the least mass are joined
 * until f->modes pieces are left. */
void truth_of_velocity(family *f)
{
    static double density[PERIODS];
    enum { MAX_PIECES = 2000 };
    static double mass[MAX_PIECES], edge[MAX_PIECES];
    curve *c = f->constants;
    double sum = 0.0, largest = -INFINITY, width = (f->upper[0] - f->lower[0]) / PERIODS;
    for (size_t i = 0; i < PERIODS; i++) {
        density[i] = log_margin(c, f->lower[0] + width * ((double)i + 0.5));
        largest = fmax(largest, density[i]);
    }
    for (size_t i = 0; i < PERIODS; i++) sum += density[i] = exp(density[i] - largest);
    size_t pieces = 1;
    for (size_t i = 0; i < PERIODS; i++) {
        if (i > 0 && i + 1 < PERIODS && density[i] < density[i - 1] && density[i] <= density[i + 1] &&
            pieces < MAX_PIECES)
            edge[pieces++ - 1] = f->lower[0] + width * ((double)i + 0.5);
        mass[pieces - 1] += density[i] / sum;
    }
    while (pieces > f->modes) {
        size_t least = 0;
        for (size_t i = 1; i + 1 < pieces; i++)
            if (mass[i] + mass[i + 1] < mass[least] + mass[least + 1]) least = i;
        mass[least] += mass[least + 1];
        for (size_t i = least + 1; i + 1 < pieces; i++) mass[i] = mass[i + 1];
        for (size_t i = least; i + 2 < pieces; i++) edge[i] = edge[i + 1];
        pieces--;
    }
    for (size_t i = 0; i < f->modes; i++) f->weights[i] = mass[i];
    for (size_t i = 0; i + 1 < f->modes; i++) c->edges[i] = edge[i];
}

/* ---- label switching ----
 *
 * y_i ~ (1/3) Σ_k N(μ_k, σ²); μ_k uniform in [-10, 10], log σ uniform in [-2, 2]. */

enum { POINTS = 60 };
static double observed[POINTS];

void setup_labels(family *f)
{
    static const double centres[3] = {-4.0, 0.5, 5.0};
    uint64_t state = 22;
    for (size_t i = 0; i < POINTS; i++) observed[i] = centres[i % 3] + next_normal(&state);
    set_box(f, -10.0, 10.0);
    f->lower[3] = -2.0;
    f->upper[3] = 2.0;
}

double logp_labels(const family *f, const double *x)
{
    (void)f;
    double value = -POINTS * x[3], precision = exp(-2.0 * x[3]);
    for (size_t i = 0; i < POINTS; i++) {
        double q[3], least = INFINITY, sum = 0.0;
        for (size_t k = 0; k < 3; k++) {
            q[k] = 0.5 * precision * (observed[i] - x[k]) * (observed[i] - x[k]);
            least = fmin(least, q[k]);
        }
        for (size_t k = 0; k < 3; k++) sum += exp(least - q[k]);
        value += log(sum) - least;
    }
    return value;
}

/* The order of the means. */
unsigned mode_of_labels(const family *f, const double *x)
{
    (void)f;
    unsigned bits = 4u * (x[0] < x[1]) + 2u * (x[0] < x[2]) + (x[1] < x[2]);
    static const unsigned modes[8] = {0, 1, 0, 2, 3, 0, 4, 5}; /* two of the eight are impossible */
    return modes[bits];
}
