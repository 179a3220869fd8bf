/* The figures of a run: corner, traces, forest, ranks. Each makes a drawing of parameters that the caller has read. */
#ifndef GESS_PLOT_FIGURE_H
#define GESS_PLOT_FIGURE_H

#include "plot/canvas.h"

/* The ends of a 68 % interval: one sd of a Gaussian on either side. */
#define GESS__SIGMA_BELOW 0.158655253931457
#define GESS__SIGMA_ABOVE 0.841344746068543

/* A parameter and its draws, x[chain · draws + draw], one draw in `step`. What is not known is NaN. */
typedef struct gess__plotted {
    const char *name;
    const double *x;
    size_t chains, draws, step;
    double mean, sd, q5, q16, q50, q84, q95;
    double ess, r_hat; /* bulk ESS of all draws */
    bool doubtful;     /* R-hat, of groups of chains where there are many, is above what convergence needs */
    double truth;
    size_t prior_points; /* 0: no prior is known */
    const double *prior_x, *prior_density;
} gess__plotted;

typedef struct gess__figure {
    const char *title; /* what the picture is of */
    size_t count;
    const gess__plotted *parameter;
    bool moments; /* mean ± sd in place of the median and its 68 % interval */
} gess__figure;

int gess__plot_corner(gess__canvas **canvas, const gess__figure *figure, gess_error *err);
int gess__plot_trace(gess__canvas **canvas, const gess__figure *figure, gess_error *err);
int gess__plot_forest(gess__canvas **canvas, const gess__figure *figure, gess_error *err);
int gess__plot_ranks(gess__canvas **canvas, const gess__figure *figure, gess_error *err);

/* The interval that is shown of a parameter: median and 68 %, or mean ± sd. (axis.c) */
void gess__plotted_interval(const gess__plotted *p, bool moments, double *low, double *middle, double *high);

/* The parts of "1.23 +0.04 −0.05", with two digits of the smaller error. `below` is empty if both errors read the same;
 * then `above` is "± 0.04". `power` is what all three are multiplied by, such as "×10⁻⁷", or empty. */
typedef struct gess__interval_words {
    char value[48], above[48], below[48], power[32];
} gess__interval_words;

void gess__interval_text(double low, double middle, double high, gess__interval_words *words); /* (axis.c) */

/* The parts in one line: "1.23 ± 0.04", "(1.23 +0.04 −0.05)×10⁻⁷". (axis.c) */
void gess__interval_line(const gess__interval_words *words, char *text, size_t size);

#endif
