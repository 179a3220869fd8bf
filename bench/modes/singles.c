/* Densities with one mode, for counting false alarms. Their "modes" are four parts of equal probability: quarters of
 * the first coordinate, or quadrants of the first two. */
#include "modes.h"

#include <math.h>

void setup_unbounded(family *f)
{
    set_unbounded(f);
}

void setup_positive(family *f)
{
    set_box(f, 0.0, INFINITY);
}

void setup_unit_box(family *f)
{
    set_box(f, 0.0, 1.0);
}

unsigned mode_of_quadrant(const family *f, const double *x)
{
    (void)f;
    return 2u * (x[0] > 0.0) + (x[1] > 0.0);
}

/* The quarter of a probability. */
static unsigned quarter(double probability)
{
    return probability < 0.25 ? 0 : probability < 0.5 ? 1 : probability < 0.75 ? 2 : 3;
}

/* ---- one shell of radius 2 and width 0.1; in two dimensions a ring ---- */

double logp_shell(const family *f, const double *x)
{
    double squares = 0.0;
    for (size_t i = 0; i < f->dim; i++) squares += x[i] * x[i];
    double z = (sqrt(squares) - 2.0) / 0.1;
    return -0.5 * z * z;
}

/* ---- skewed: logs of exponential variables ---- */

double logp_skewed(const family *f, const double *x)
{
    double value = 0.0;
    for (size_t i = 0; i < f->dim; i++) value += x[i] - exp(x[i]);
    return value;
}

unsigned mode_of_skewed(const family *f, const double *x)
{
    (void)f;
    return quarter(-expm1(-exp(x[0])));
}

/* ---- positive: log normal, and exponential with its mode at the bound ---- */

double logp_lognormal(const family *f, const double *x)
{
    double value = 0.0;
    for (size_t i = 0; i < f->dim; i++) {
        double z = log(x[i]);
        value -= z + 0.5 * z * z;
    }
    return value;
}

unsigned mode_of_lognormal(const family *f, const double *x)
{
    (void)f;
    return quarter(0.5 * erfc(-log(x[0]) / sqrt(2.0)));
}

double logp_exponential(const family *f, const double *x)
{
    double value = 0.0;
    for (size_t i = 0; i < f->dim; i++) value -= x[i];
    return value;
}

unsigned mode_of_exponential(const family *f, const double *x)
{
    (void)f;
    return quarter(-expm1(-x[0]));
}

/* ---- in the unit box: uniform, and Beta(1, 3) ---- */

double logp_uniform(const family *f, const double *x)
{
    (void)f;
    (void)x;
    return 0.0;
}

unsigned mode_of_uniform(const family *f, const double *x)
{
    (void)f;
    return quarter(x[0]);
}

double logp_beta(const family *f, const double *x)
{
    double value = 0.0;
    for (size_t i = 0; i < f->dim; i++) value += 2.0 * log1p(-x[i]);
    return value;
}

unsigned mode_of_beta(const family *f, const double *x)
{
    (void)f;
    return quarter(1.0 - pow(1.0 - x[0], 3.0));
}

/* ---- a sharp top: Laplace ---- */

double logp_laplace(const family *f, const double *x)
{
    double value = 0.0;
    for (size_t i = 0; i < f->dim; i++) value -= fabs(x[i]);
    return value;
}

unsigned mode_of_laplace(const family *f, const double *x)
{
    (void)f;
    return quarter(x[0] < 0.0 ? 0.5 * exp(x[0]) : 1.0 - 0.5 * exp(-x[0]));
}

/* ---- two scales around one centre: half sd 1, half sd 3 ---- */

double logp_two_scales(const family *f, const double *x)
{
    double squares = 0.0;
    for (size_t i = 0; i < f->dim; i++) squares += x[i] * x[i];
    return log_add(-0.5 * squares, -0.5 * squares / 9.0 - (double)f->dim * log(3.0));
}

/* ---- a direction and a length: von Mises, centred at the ends of the range, and N(0, 1) ---- */

void setup_angle(family *f)
{
    set_unbounded(f);
    f->lower[0] = 0.0;
    f->upper[0] = TWO_PI;
    f->periodic[0] = 1;
}

double logp_angle(const family *f, const double *x)
{
    (void)f;
    return 2.0 * cos(x[0]) - 0.5 * x[1] * x[1];
}

unsigned mode_of_angle(const family *f, const double *x)
{
    (void)f;
    return 2u * (sin(x[0]) > 0.0) + (x[1] > 0.0);
}
