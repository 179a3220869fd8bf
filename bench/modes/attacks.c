/* The other densities of the sets `attack`, with several modes, and `attack1`, with one, whose "modes" are four parts
 * of equal probability. */
#include "modes.h"

#include <math.h>

static double square(double x)
{
    return x * x;
}

/* The quarter of a normal variable. */
static unsigned normal_quarter(double z)
{
    double p = 0.5 * erfc(-z / sqrt(2.0));
    return p < 0.25 ? 0 : p < 0.5 ? 1 : p < 0.75 ? 2 : 3;
}

/* ---- two bananas that open towards each other ---- */

static double log_banana(const double *x, double side)
{
    double along = (x[0] - 3.0 * side) / 1.5, across = (x[1] + side * (square(along) - 1.0 - 5.0)) / 0.4;
    return -0.5 * square(along) - 0.5 * square(across);
}

void setup_bananas4(family *f)
{
    set_box(f, -16.0, 16.0);
}

static double log_side(const family *f, const double *x, double side)
{
    double value = log(side > 0.0 ? 0.7 : 0.3) + log_banana(x, side);
    for (size_t i = 2; i < f->dim; i++) value -= 0.5 * square(x[i] - 2.0 * side);
    return value;
}

double logp_bananas4(const family *f, const double *x)
{
    return log_add(log_side(f, x, 1.0), log_side(f, x, -1.0));
}

unsigned mode_of_bananas4(const family *f, const double *x)
{
    return log_side(f, x, 1.0) < log_side(f, x, -1.0);
}

void draw_bananas4(const family *f, uint64_t *state, double *x)
{
    do {
        double side = next_uniform(state) < 0.7 ? 1.0 : -1.0, along = next_normal(state);
        x[0] = 3.0 * side + 1.5 * along;
        x[1] = -side * (square(along) - 1.0 - 5.0) + 0.4 * next_normal(state);
        for (size_t i = 2; i < f->dim; i++) x[i] = 2.0 * side + next_normal(state);
    } while (!is_inside(f, x));
}

/* ---- an eggbox with a tilt ---- */

double logp_tilted_eggbox(const family *f, const double *x)
{
    return logp_eggbox(f, x) + 0.06 * x[0] - 0.03 * x[1];
}

void truth_of_tilted_eggbox(family *f)
{
    enum { STEPS = 4000 };
    double side = f->upper[0] / STEPS, sum = 0.0, top = logp_tilted_eggbox(f, (double[]){f->upper[0], f->upper[1]});
    for (int i = 0; i < STEPS; i++)
        for (int j = 0; j < STEPS; j++) {
            double x[2] = {side * (i + 0.5), side * (j + 0.5)}, value = exp(logp_tilted_eggbox(f, x) - top);
            f->weights[mode_of_eggbox(f, x)] += value;
            sum += value;
        }
    for (size_t k = 0; k < f->modes; k++) f->weights[k] /= sum;
}

/* ---- two shells that touch: radius 2, width 0.1, around ±2 e1 ---- */

double logp_touching(const family *f, const double *x)
{
    double rest = 0.0;
    for (size_t i = 1; i < f->dim; i++) rest += square(x[i]);
    double left = (sqrt(square(x[0] + 2.0) + rest) - 2.0) / 0.1, right = (sqrt(square(x[0] - 2.0) + rest) - 2.0) / 0.1;
    return log_add(-0.5 * square(left), -0.5 * square(right));
}

/* ---- label switching: means and log sds of three components ---- */

enum { POINTS = 90 };
static double observed[POINTS];

void setup_labels6(family *f)
{
    static const double centres[3] = {-5.0, 0.0, 4.0}, widths[3] = {0.7, 1.0, 0.5};
    uint64_t state = 44;
    for (size_t i = 0; i < POINTS; i++) observed[i] = centres[i % 3] + widths[i % 3] * next_normal(&state);
    for (size_t k = 0; k < 3; k++) {
        f->lower[k] = -10.0;
        f->upper[k] = 10.0;
        f->lower[3 + k] = -1.5;
        f->upper[3 + k] = 1.5;
    }
}

double logp_labels6(const family *f, const double *x)
{
    (void)f;
    double value = 0.0;
    for (size_t i = 0; i < POINTS; i++) {
        double sum = -INFINITY;
        for (size_t k = 0; k < 3; k++)
            sum = log_add(sum, -x[3 + k] - 0.5 * square((observed[i] - x[k]) * exp(-x[3 + k])));
        value += sum;
    }
    return value;
}

/* ---- a sinusoid with weekly visits: frequency and two amplitudes ---- */

enum { VISITS = 14, STEPS = 200000 };
static double visit[VISITS], velocity[VISITS], edges[MAX_MODES];

void setup_weekly(family *f)
{
    static const int weeks[VISITS] = {0, 1, 2, 4, 5, 7, 8, 11, 12, 15, 16, 19, 23, 24};
    uint64_t state = 45;
    for (size_t i = 0; i < VISITS; i++) {
        visit[i] = 7.0 * weeks[i] + 1.2 * (next_uniform(&state) - 0.5);
        velocity[i] = 2.5 * cos(TWO_PI * 0.085 * visit[i] + 0.7) + next_normal(&state);
    }
    f->lower[0] = 0.01;
    f->upper[0] = 0.5;
    for (size_t i = 1; i < 3; i++) {
        f->lower[i] = -15.0;
        f->upper[i] = 15.0;
    }
}

double logp_weekly(const family *f, const double *x)
{
    (void)f;
    double squares = (square(x[1]) + square(x[2])) / 9.0;
    for (size_t i = 0; i < VISITS; i++) {
        double angle = TWO_PI * x[0] * visit[i];
        squares += square(velocity[i] - x[1] * cos(angle) - x[2] * sin(angle));
    }
    return -0.5 * squares;
}

/* The amplitudes are normal given the frequency. */
static double log_margin(double frequency)
{
    double cc = 1.0 / 9.0, ss = 1.0 / 9.0, cs = 0.0, c = 0.0, s = 0.0;
    for (size_t i = 0; i < VISITS; i++) {
        double angle = TWO_PI * frequency * visit[i], a = cos(angle), b = sin(angle);
        cc += a * a;
        ss += b * b;
        cs += a * b;
        c += a * velocity[i];
        s += b * velocity[i];
    }
    double det = cc * ss - cs * cs;
    return 0.5 * (ss * c * c - 2.0 * cs * c * s + cc * s * s) / det - 0.5 * log(det);
}

unsigned mode_of_weekly(const family *f, const double *x)
{
    unsigned mode = 0;
    while (mode + 1 < f->modes && x[0] > edges[mode]) mode++;
    return mode;
}

/* Modes are ranges of the frequency between the deepest minima: pieces between minima, of which the neighbours with the
 * least mass are joined. */
void truth_of_weekly(family *f)
{
    enum { MAX_PIECES = 1000 };
    static double density[STEPS], mass[MAX_PIECES], end[MAX_PIECES];
    double sum = 0.0, width = (f->upper[0] - f->lower[0]) / STEPS;
    for (size_t i = 0; i < STEPS; i++)
        sum += density[i] = exp(log_margin(f->lower[0] + width * ((double)i + 0.5)) - 40.0);
    size_t pieces = 1;
    for (size_t i = 0; i < STEPS; i++) {
        if (i > 0 && i + 1 < STEPS && density[i] < density[i - 1] && density[i] <= density[i + 1] &&
            pieces < MAX_PIECES)
            end[pieces++ - 1] = f->lower[0] + width * ((double)i + 0.5);
        mass[pieces - 1] += density[i] / sum;
    }
    for (; pieces > f->modes; pieces--) {
        size_t least = 0;
        for (size_t i = 1; i + 1 < pieces; i++)
            if (mass[i] + mass[i + 1] < mass[least] + mass[least + 1]) least = i;
        mass[least] += mass[least + 1];
        for (size_t i = least + 1; i + 1 < pieces; i++) mass[i] = mass[i + 1];
        for (size_t i = least; i + 2 < pieces; i++) end[i] = end[i + 1];
    }
    for (size_t i = 0; i < f->modes; i++) f->weights[i] = mass[i];
    for (size_t i = 0; i + 1 < f->modes; i++) edges[i] = end[i];
}

/* ---- one mode ---- */

/* pairs: x ~ N(0, 1), y ~ N(x², 0.3²) */
double logp_banana10(const family *f, const double *x)
{
    double value = 0.0;
    for (size_t i = 0; i + 1 < f->dim; i += 2)
        value -= 0.5 * square(x[i]) + 0.5 * square((x[i + 1] - square(x[i])) / 0.3);
    return value;
}

unsigned mode_of_normal(const family *f, const double *x)
{
    (void)f;
    return normal_quarter(x[0]);
}

/* the log variance is N(0, 3²), all others N(0, that) */
double logp_funnel20(const family *f, const double *x)
{
    double squares = 0.0;
    for (size_t i = 1; i < f->dim; i++) squares += square(x[i]);
    return -square(x[0]) / 18.0 - 0.5 * (double)(f->dim - 1) * x[0] - 0.5 * exp(-x[0]) * squares;
}

unsigned mode_of_funnel20(const family *f, const double *x)
{
    (void)f;
    return normal_quarter(x[0] / 3.0);
}

double logp_half15(const family *f, const double *x)
{
    double value = 0.0;
    for (size_t i = 0; i < f->dim; i++) value -= 0.5 * square(x[i]);
    return value;
}

unsigned mode_of_half15(const family *f, const double *x)
{
    (void)f;
    double p = erf(x[0] / sqrt(2.0));
    return p < 0.25 ? 0 : p < 0.5 ? 1 : p < 0.75 ? 2 : 3;
}

double logp_t5(const family *f, const double *x)
{
    double squares = 0.0;
    for (size_t i = 0; i < f->dim; i++) squares += square(x[i]);
    return -0.5 * (3.0 + (double)f->dim) * log1p(squares / 3.0);
}

double logp_cauchy3(const family *f, const double *x)
{
    double value = 0.0;
    for (size_t i = 0; i < f->dim; i++) value -= log1p(square(x[i]));
    return value;
}

/* a horseshoe without data: log scale N(0, 1), log local scales of half Cauchys, effects N(0, (scale · local)²) */
double logp_horseshoe9(const family *f, const double *x)
{
    size_t n = (f->dim - 1) / 2;
    double value = -0.5 * square(x[0]);
    for (size_t i = 0; i < n; i++) {
        double local = x[1 + i], effect = x[1 + n + i] * exp(-x[0] - local);
        value += local - log1p(exp(2.0 * local)) - x[0] - local - 0.5 * square(effect);
    }
    return value;
}

double logp_lognormal12(const family *f, const double *x)
{
    double value = 0.0;
    for (size_t i = 0; i < f->dim; i++) value -= log(x[i]) + 0.5 * square(log(x[i]) / 1.5);
    return value;
}

unsigned mode_of_lognormal12(const family *f, const double *x)
{
    (void)f;
    return normal_quarter(log(x[0]) / 1.5);
}

double logp_shell20(const family *f, const double *x)
{
    double squares = 0.0;
    for (size_t i = 0; i < f->dim; i++) squares += square(x[i]);
    return -0.5 * square((sqrt(squares) - 5.0) / 0.2);
}

/* steps of one nat */
double logp_steps3(const family *f, const double *x)
{
    double squares = 0.0;
    for (size_t i = 0; i < f->dim; i++) squares += square(x[i]);
    return -floor(2.0 * sqrt(squares));
}

/* sds from 0.01 to 100 */
double logp_scales30(const family *f, const double *x)
{
    double value = 0.0;
    for (size_t i = 0; i < f->dim; i++) {
        double sd = pow(10.0, -2.0 + 4.0 * (double)i / (double)(f->dim - 1));
        value -= 0.5 * square(x[i] / sd);
    }
    return value;
}

/* Beta(1/2, 1/2): infinite at the walls */
double logp_arcsine4(const family *f, const double *x)
{
    double value = 0.0;
    for (size_t i = 0; i < f->dim; i++) value -= 0.5 * (log(x[i]) + log1p(-x[i]));
    return value;
}

unsigned mode_of_arcsine4(const family *f, const double *x)
{
    (void)f;
    double p = 4.0 / TWO_PI * asin(sqrt(x[0]));
    return p < 0.25 ? 0 : p < 0.5 ? 1 : p < 0.75 ? 2 : 3;
}
