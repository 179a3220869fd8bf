/* Eggbox, Gaussian shells, LogGamma mixtures and Rastrigin's function. */
#include "modes.h"

#include <math.h>

/* ---- eggbox ---- */

void setup_eggbox(family *f)
{
    set_box(f, 0.0, 5.0 * TWO_PI);
}

double logp_eggbox(const family *f, const double *x)
{
    (void)f;
    double base = 2.0 + cos(0.5 * x[0]) * cos(0.5 * x[1]);
    return base * base * base * base * base;
}

/* Modes are at 2π (m, n), m and n from 0 to 5 with an even sum: a lattice whose cells are diamonds. Numbered by rows of
 * three. */
unsigned mode_of_eggbox(const family *f, const double *x)
{
    (void)f;
    double u = (x[0] + x[1]) / (2.0 * TWO_PI), v = (x[0] - x[1]) / (2.0 * TWO_PI);
    int a = (int)round(u), b = (int)round(v), m = a + b, n = a - b;
    m = m < 0 ? 0 : m > 5 ? 5 : m;
    n = n < 0 ? 0 : n > 5 ? 5 : n;
    return (unsigned)(3 * m + n / 2);
}

/* Every cell inside has the same mass by symmetry; the box cuts those at its sides in half and those at two of its
 * corners into quarters. */
void truth_of_eggbox(family *f)
{
    for (int m = 0; m <= 5; m++)
        for (int n = m % 2; n <= 5; n += 2)
            f->weights[3 * m + n / 2] = (m == 0 || m == 5 ? 0.5 : 1.0) * (n == 0 || n == 5 ? 0.5 : 1.0) / 12.5;
}

/* ---- shells ---- */

void setup_shells(family *f)
{
    set_box(f, -6.0, 6.0);
}

double logp_shells(const family *f, const double *x)
{
    double rest = 0.0;
    for (size_t i = 1; i < f->dim; i++) rest += x[i] * x[i];
    double left = (sqrt((x[0] + 3.5) * (x[0] + 3.5) + rest) - 2.0) / 0.1;
    double right = (sqrt((x[0] - 3.5) * (x[0] - 3.5) + rest) - 2.0) / 0.1;
    return log_add(-0.5 * left * left, -0.5 * right * right);
}

unsigned mode_of_shells(const family *f, const double *x)
{
    (void)f;
    return x[0] > 0.0;
}

/* ---- LogGamma ---- */

void setup_loggamma(family *f)
{
    set_box(f, -30.0, 30.0);
}

/* LogGamma(x; centre, 1, 1), the density of the log of an exponential variable. */
static double loggamma(double x, double centre)
{
    return x - centre - exp(x - centre);
}

static double normal(double x, double centre)
{
    return -0.5 * (x - centre) * (x - centre) - 0.5 * log(TWO_PI);
}

/* Of the dimensions after the second, the first half are LogGamma. */
static int is_loggamma(const family *f, size_t i)
{
    return i < (f->dim + 2) / 2;
}

double logp_loggamma(const family *f, const double *x)
{
    double value =
        log_add(loggamma(x[0], 10.0), loggamma(x[0], -10.0)) + log_add(normal(x[1], 10.0), normal(x[1], -10.0));
    for (size_t i = 2; i < f->dim; i++) value += is_loggamma(f, i) ? loggamma(x[i], 10.0) : normal(x[i], 10.0);
    return value;
}

unsigned mode_of_loggamma(const family *f, const double *x)
{
    (void)f;
    return 2u * (x[0] > 0.0) + (x[1] > 0.0);
}

void draw_loggamma(const family *f, uint64_t *state, double *x)
{
    do {
        x[0] = (next_uniform(state) < 0.5 ? 10.0 : -10.0) + log(-log(next_uniform(state)));
        x[1] = (next_uniform(state) < 0.5 ? 10.0 : -10.0) + next_normal(state);
        for (size_t i = 2; i < f->dim; i++)
            x[i] = 10.0 + (is_loggamma(f, i) ? log(-log(next_uniform(state))) : next_normal(state));
    } while (!is_inside(f, x));
}

/* ---- Rastrigin ---- */

enum { SIDE = 5 }; /* integers from -2 to 2 */

void setup_rastrigin(family *f)
{
    set_box(f, -5.12, 5.12);
}

static double rastrigin(double x)
{
    return -x * x - 10.0 * (1.0 - cos(TWO_PI * x));
}

double logp_rastrigin(const family *f, const double *x)
{
    double value = 0.0;
    for (size_t i = 0; i < f->dim; i++) value += rastrigin(x[i]);
    return value;
}

static unsigned cell(double x)
{
    double k = round(x);
    return (unsigned)(2.0 + (k < -2.0 ? -2.0 : k > 2.0 ? 2.0 : k));
}

unsigned mode_of_rastrigin(const family *f, const double *x)
{
    unsigned mode = 0;
    for (size_t i = 0; i < f->dim; i++) mode = SIDE * mode + cell(x[i]);
    return mode;
}

/* The density is a product, so the weights are products of the masses of cells in one dimension. */
void truth_of_rastrigin(family *f)
{
    enum { STEPS = 102400 };
    double mass[SIDE] = {0}, sum = 0.0;
    for (int i = 0; i < STEPS; i++) {
        double x = -5.12 + 10.24 * (i + 0.5) / STEPS, value = exp(rastrigin(x));
        mass[cell(x)] += value;
        sum += value;
    }
    for (size_t mode = 0; mode < f->modes; mode++) {
        f->weights[mode] = 1.0;
        size_t rest = mode;
        for (size_t i = 0; i < f->dim; i++, rest /= SIDE) f->weights[mode] *= mass[rest % SIDE] / sum;
    }
}
