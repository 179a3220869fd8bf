/* Computes the mean vector of draws on a circle and what follows from it, and finds the emptiest place of the
 * circle. */
#include "diagnose/circular.h"

#include "base/assert.h"
#include "base/special.h"
#include "base/vmath.h"

#include <math.h>

#define PI 3.14159265358979323846

enum { BINS = 720, WINDOW = BINS / 8 };

/* In turns. */
static double angle_of(const gess__circle *c, double x)
{
    return (x - c->lower) / (c->upper - c->lower);
}

static double sine_of(double turns)
{
    double sine, cosine;
    gess__sincos_turns(turns, &sine, &cosine);
    return sine;
}

/* x, moved by whole periods to at least `low` and below low + period. */
static double onto_branch(double x, double low, double period)
{
    if (x >= low && x < low + period) return x;
    double y = x - period * floor((x - low) / period);
    return y < low + period ? y : low; /* rounding */
}

/* The middle of the emptiest eighth of the circle: the position, in bins from the mean, of the window with the fewest
 * draws, or of the middle of the longest run of such windows. */
static double emptiest(const size_t counts[BINS])
{
    size_t in[BINS] = {0}, least = SIZE_MAX, longest = 0, end = 0, run = 0;
    for (size_t k = 0; k < WINDOW; k++) in[0] += counts[k];
    for (size_t b = 1; b < BINS; b++) in[b] = in[b - 1] - counts[b - 1] + counts[(b - 1 + WINDOW) % BINS];
    for (size_t b = 0; b < BINS; b++)
        if (in[b] < least) least = in[b];
    for (size_t b = 0; b < 2 * BINS; b++) { /* twice round: a run may pass bin 0 */
        run = in[b % BINS] == least ? run + 1 : 0;
        if (run > longest && run <= BINS) {
            longest = run;
            end = b;
        }
    }
    double first = (double)end - (double)longest + 1.0; /* of the run's windows; the last ends at end + WINDOW */
    return fmod((first + (double)end + (double)WINDOW) / 2.0, BINS);
}

/* The cut, at most one period below the mean. */
static double find_cut(const gess__circle *c, size_t count, const double *x, double mean)
{
    size_t counts[BINS] = {0};
    double period = c->upper - c->lower;
    for (size_t i = 0; i < count; i++) {
        double turn = (x[i] - mean) / period, place = (turn - floor(turn)) * BINS;
        counts[place < BINS ? (size_t)place : 0]++;
    }
    return mean - period + period * (emptiest(counts) / BINS);
}

void gess__circular_of(const gess__circle *c, size_t count, const double *x, gess__circular_figures *f)
{
    GESS_ASSERT(gess__is_circle(c) && count > 0);
    *f = (gess__circular_figures){NAN, NAN, NAN, NAN, NAN, NAN};
    double sine = 0.0, cosine = 0.0, versed = 0.0;
    double first = angle_of(c, x[0]), period = c->upper - c->lower;
    for (size_t i = 0; i < count; i++) { /* angles from the first draw: exact if all are equal */
        if (!isfinite(x[i])) return;
        double up, across;
        gess__sincos_turns(angle_of(c, x[i]) - first, &up, &across);
        sine += up;
        cosine += across;
    }
    double turn = gess__atan2_turns(sine, cosine);
    for (size_t i = 0; i < count; i++) { /* 1 − R without cancellation */
        double half = sine_of(0.5 * (angle_of(c, x[i]) - first - turn));
        versed += 2.0 * half * half;
    }
    double apart = gess__min(versed / (double)count, 1.0);
    f->mean = onto_branch(x[0] + turn * period, c->lower, period);
    f->length = 1.0 - apart;
    f->sd = sqrt(-2.0 * gess__log1p(-apart)) * period / (2.0 * PI);
    f->cut = find_cut(c, count, x, f->mean);
}

void gess__circular_unwrap(const gess__circle *c, double cut, size_t count, const double *x, double *y)
{
    for (size_t i = 0; i < count; i++) y[i] = onto_branch(x[i], cut, c->upper - c->lower);
}

void gess__circular_errors(const gess__circle *c, size_t count, const double *x, gess__posterior_workspace *work,
                           double *scratch, gess__circular_figures *f)
{
    double unit = (c->upper - c->lower) / (2.0 * PI), mean = angle_of(c, f->mean);
    if (!isfinite(f->mean)) return;
    for (size_t i = 0; i < count; i++) scratch[i] = sine_of(angle_of(c, x[i]) - mean);
    gess__posterior_load(work, scratch);
    f->mcse_mean = gess__posterior_mcse_mean(work) / f->length * unit;
    for (size_t i = 0; i < count; i++) {
        double half = sine_of(0.5 * (angle_of(c, x[i]) - mean));
        scratch[i] = 2.0 * half * half;
    }
    gess__posterior_load(work, scratch);
    f->mcse_sd = gess__posterior_mcse_mean(work) / f->length / (f->sd / unit) * unit;
}

bool gess__circular_no_mean(double ess, double length)
{
    return ess * length * length < 6.907755278982137; /* ln 1000 */
}
