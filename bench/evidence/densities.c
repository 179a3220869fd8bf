/* Densities whose integral is known, as models for `gess sample`: one per compilation, chosen with -DDENSITY_name.
 *
 *   shells     two Gaussian shells in 3 dimensions, of radius 2 and width 0.1, 7 apart; integral in shells_integral()
 *              of study.py
 *   loggamma   LogGamma and Gaussian, in 10 dimensions, with four modes (F. Beaujean and A. Caldwell, 2013); integral 1
 *   bounded    products of Beta, Gamma and exponential densities between bounds, 6 dimensions; integral 1
 *   periodic   two von Mises angles, of concentrations 2 and 0.5 and periods 2π and 10, and a Gaussian; integral 1
 *   far        three Gaussians of weights 0.5, 0.3 and 0.2 and widths 1, 0.5 and 1.5 in 5 dimensions; integral 1
 */
#include <gess/gess.h>
#include <math.h>
#include <stddef.h>

const unsigned gess_plugin_abi = GESS_ABI;

#define PI 3.14159265358979323846
#define LOG_2PI 1.83787706640934548356

/* log of the standard normal density. */
static double normal(double z)
{
    return -0.5 * z * z - 0.5 * LOG_2PI;
}

static double log_sum(double a, double b)
{
    double max = a > b ? a : b;
    return max > -INFINITY ? max + log(exp(a - max) + exp(b - max)) : max;
}

#if defined DENSITY_shells
enum { DIM = 3 };
static const double lower[DIM] = {-7, -7, -7}, upper[DIM] = {7, 7, 7};
static double shell(const double *x, double centre)
{
    double r2 = (x[0] - centre) * (x[0] - centre) + x[1] * x[1] + x[2] * x[2];
    return normal((sqrt(r2) - 2.0) / 0.1) - log(0.1);
}
static double density(const double *x)
{
    return log_sum(shell(x, -3.5), shell(x, 3.5));
}
#elif defined DENSITY_loggamma
enum { DIM = 10 };
#define BOX(a)                       \
    {                                \
        a, a, a, a, a, a, a, a, a, a \
    }
static const double lower[DIM] = BOX(-40), upper[DIM] = BOX(40);
static double log_gamma(double x)
{
    return x - exp(x);
}
static double density(const double *x)
{
    double sum = log_sum(log_gamma(x[0] - 10.0), log_gamma(x[0] + 10.0)) - log(2.0);
    sum += log_sum(normal(x[1] - 10.0), normal(x[1] + 10.0)) - log(2.0);
    for (int i = 2; i < DIM; i++) sum += i < (DIM + 2) / 2 ? log_gamma(x[i] - 10.0) : normal(x[i] - 10.0);
    return sum;
}
#elif defined DENSITY_bounded
enum { DIM = 6 };
static const double lower[DIM] = {0, 0, 0, 0, -INFINITY, 2}, upper[DIM] = {1, 1, INFINITY, INFINITY, 3, 5};
static double density(const double *x)
{
    double sum = lgamma(2.5) - lgamma(0.5) - lgamma(2.0) - 0.5 * log(x[0]) + log1p(-x[0]); /* Beta(1/2, 2) */
    sum += lgamma(8.0) - lgamma(5.0) - lgamma(3.0) + 4.0 * log(x[1]) + 2.0 * log1p(-x[1]); /* Beta(5, 3) */
    sum += 2.0 * log(x[2]) - x[2] - lgamma(3.0);                                           /* Gamma(3) */
    sum += -0.5 * log(x[3]) - x[3] - lgamma(0.5);                                          /* Gamma(1/2) */
    sum += x[4] - 3.0;                                                                     /* exponential, below 3 */
    return sum - log(3.0);                                                                 /* uniform on [2, 5] */
}
#elif defined DENSITY_periodic
enum { DIM = 3 };
static const double lower[DIM] = {-PI, 0, -INFINITY}, upper[DIM] = {PI, 10, INFINITY};
static const unsigned char periodic[DIM] = {1, 1, 0};
/* I0 by its series. */
static double log_bessel(double k)
{
    double term = 1.0, sum = 1.0;
    for (int i = 1; i < 50; i++) sum += term *= k * k / 4.0 / i / i;
    return log(sum);
}
static double density(const double *x)
{
    double sum = 2.0 * cos(x[0] - 2.5) - log_bessel(2.0) - LOG_2PI;
    sum += 0.5 * cos((x[1] - 4.0) * 2.0 * PI / 10.0) - log_bessel(0.5) - log(10.0);
    return sum + normal(x[2] - sin(x[0]));
}
#define PERIODIC periodic
#elif defined DENSITY_far
enum { DIM = 5 };
#define BOX(a)        \
    {                 \
        a, a, a, a, a \
    }
static const double lower[DIM] = BOX(-25), upper[DIM] = BOX(25);
static double mode(const double *x, double weight, double centre, double width)
{
    double sum = log(weight) - DIM * log(width);
    for (int i = 0; i < DIM; i++) sum += normal((x[i] - (i % 2 == 0 ? centre : -centre)) / width);
    return sum;
}
static double density(const double *x)
{
    return log_sum(log_sum(mode(x, 0.5, 0.0, 1.0), mode(x, 0.3, 7.0, 0.5)), mode(x, 0.2, -8.0, 1.5));
}
#else
#error "which density?"
#endif
#ifndef PERIODIC
#define PERIODIC NULL
#endif

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)user;
    (void)worker;
    for (size_t i = 0; i < n; i++) out[i] = density(x + i * dim);
    return 0;
}

int gess_plugin_open(const char *data, gess_density *d, char *message, size_t size);
int gess_plugin_open(const char *data, gess_density *d, char *message, size_t size)
{
    (void)data;
    (void)message;
    (void)size;
    d->dim = DIM;
    d->logp = logp;
    d->lower = lower;
    d->upper = upper;
    d->periodic = PERIODIC;
    return 0;
}
