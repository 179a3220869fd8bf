/* Figure 2 of the paper: a standard Gaussian in one dimension, sampled by elliptical slice sampling with Gaussian
 * approximations of several variances. If the approximation has lighter tails than the target, chains get stuck. */
#include "base/mem.h"
#include "diagnose/coda.h"
#include "reproduce/plain.h"

#include <math.h>
#include <stdlib.h>

enum { ITERATIONS = 10000, EVERY = 10 };
#define FAR 1.5 /* a chain that stays further out than this is stuck */

static const double variances[] = {0.01, 0.1, 1.0, 10.0, 100.0};
enum { VARIANCES = sizeof variances / sizeof *variances };

/* The longest stay, in iterations, at a distance beyond FAR. Both sides count: the ellipse is centred at the origin, so
 * a stuck chain changes sides, but not its distance. */
static size_t longest_stay(size_t n, const double *x)
{
    size_t longest = 0, now = 0;
    for (size_t i = 0; i < n; i++) {
        now = fabs(x[i]) > FAR ? now + 1 : 0;
        if (now > longest) longest = now;
    }
    return longest;
}

static int sample(double variance, uint64_t seed, double *x, gess_error *err)
{
    gess__plain p = {.chol = {1.0}};
    gess__approx *t = NULL;
    int status = gess__approx_new(&t, 1, err);
    if (status == GESS_OK) {
        t->nu = INFINITY;
        t->chol[0] = sqrt(variance);
        gess__approx_ready(t);
        status = gess__plain_open(&p, 1, "ess", 1, seed, t, err);
    }
    for (size_t i = 0; status == GESS_OK && i < ITERATIONS; i++) {
        status = gess__plain_step(&p, err);
        x[i] = p.ensemble->chains.x[0];
    }
    gess__plain_close(&p);
    gess__approx_free(t);
    return status;
}

static int compute(const json_t *settings, json_t **result, gess_error *err)
{
    double *x = NULL, *scratch = NULL;
    int status = gess__alloc_bytes(&x, ITERATIONS, sizeof *x, "trace", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&scratch, ITERATIONS, sizeof *x, "trace", err);
    if (status == GESS_OK)
        status = sample(gess__json_real(settings, "variance"), gess__json_count(settings, "seed"), x, err);
    if (status == GESS_OK) {
        json_t *trace = json_array();
        for (size_t i = EVERY - 1; i < ITERATIONS; i += EVERY) json_array_append_new(trace, json_real(x[i]));
        json_int_t stay = (json_int_t)longest_stay(ITERATIONS, x);
        for (size_t i = 0; i < ITERATIONS; i++) x[i] *= x[i];
        *result = json_pack("{s:f, s:I, s:o}", "ess", gess__coda_effective_size(1, ITERATIONS, x, scratch), "stay",
                            stay, "trace", trace);
    }
    free(x);
    free(scratch);
    return status;
}

static int plan(const gess__figure *figure, const gess__reproduction *r, gess__cells *cells, gess_error *err)
{
    for (size_t v = 0; v < VARIANCES; v++)
        for (uint64_t trial = 0; trial < r->trials; trial++)
            GESS_TRY(gess__cells_add(cells, r, figure, r->seed + trial, 0.1,
                                     json_pack("{s:f, s:i}", "variance", variances[v], "iterations", ITERATIONS), err,
                                     "variance-%g/%llu", variances[v], (unsigned long long)(r->seed + trial)));
    return GESS_OK;
}

/* Figures over all trials with one variance. */
typedef struct figures {
    double ess, stay; /* means */
    double longest;   /* of the stays */
    const json_t *trace;
    size_t trials;
} figures;

static figures gather(size_t count, const gess__cell *cells, double variance)
{
    figures f = {0};
    for (size_t i = 0; i < count; i++) {
        if (gess__json_real(cells[i].settings, "variance") != variance) continue;
        double stay = gess__json_real(cells[i].result, "stay");
        f.ess += gess__json_real(cells[i].result, "ess");
        f.stay += stay;
        /* the plot shows the trial with the longest stay */
        if (f.trace == NULL || stay > f.longest) {
            f.trace = json_object_get(cells[i].result, "trace");
            f.longest = stay;
        }
        f.trials++;
    }
    f.ess /= (double)f.trials;
    f.stay /= (double)f.trials;
    return f;
}

static int draw(const gess__reproduction *r, const figures *f, json_t *page, gess_error *err)
{
    gess__plot plot;
    size_t i;
    const json_t *value;
    GESS_TRY(gess__plot_begin(&plot, 1000, 900, err));
    fprintf(plot.script,
            "set multiplot layout %d,1\nset yrange [-4.2:4.2]\nset xrange [0:%d]\nset ytics 2\n"
            "set lmargin 8\n",
            VARIANCES, ITERATIONS);
    for (size_t v = 0; v < VARIANCES; v++) {
        fprintf(plot.script, "$v%zu << EOD\n", v);
        json_array_foreach(f[v].trace, i, value)
            fprintf(plot.script, "%zu %.4g\n", EVERY * (i + 1), json_number_value(value));
        fprintf(plot.script, "EOD\nset ylabel 'variance %g'\nplot $v%zu with lines lw 0.8 lc rgb '%s'\n", variances[v],
                v, variances[v] == 0.01 ? "#c0392b" : "#0b62a8");
    }
    fputs("unset multiplot\n", plot.script);
    return gess__plot_end(&plot, r, page, "figure-trace",
                          "Traces of a standard Gaussian under elliptical slice sampling with Gaussian approximations "
                          "of "
                          "five variances, one of every ten states; of the trials, the one with the longest stay.",
                          err);
}

static void judge(json_t *page, const figures *f)
{
    const figures *narrow = &f[0], *exact = &f[2];
    if (narrow->trials == 0 || exact->trials == 0) {
        gess__page_claim(page, GESS__NOT_JUDGED, "With variance 0.01 the chain gets stuck.", "Cells were left out.");
        return;
    }
    gess__page_claim(page, narrow->longest >= 100.0 && narrow->stay > 10.0 * exact->stay ? GESS__HOLDS : GESS__FAILS,
                     "With variance 0.01 the Markov chain sometimes gets stuck (in the paper between iterations 400 "
                     "and "
                     "630 of its plot).",
                     "With 0.01 the longest stay beyond |x| = %.1f is %.0f iterations, the mean of the trials, and "
                     "%.0f at most; with variance 1, %.0f (bound: 100, and ten times as long).",
                     FAR, narrow->stay, narrow->longest, exact->stay);
    gess__page_claim(page, narrow->ess < 0.05 * exact->ess ? GESS__HOLDS : GESS__FAILS,
                     "It mixes slowly where the target has much heavier tails than the approximation.",
                     "Effective size of x² in %d states: %.0f with variance 0.01, %.0f with 1 (bound: a twentieth).",
                     ITERATIONS, narrow->ess, exact->ess);
}

static int make(const gess__reproduction *r, size_t count, const gess__cell *cells, json_t *page, gess_error *err)
{
    figures f[VARIANCES];
    json_t *rows = gess__page_table(page, "Mixing",
                                    "variance of the approximation|effective size of x² (coda)|longest stay "
                                    "beyond 1.5, mean|most");
    gess__page_text(page, "paper",
                    "Figure 2 of the paper: traces of a Gaussian with zero mean and unit variance, sampled by "
                    "elliptical "
                    "slice sampling with various Gaussian approximations. Of the variances only 0.01 is in the text.");
    for (size_t v = 0; v < VARIANCES; v++) {
        f[v] = gather(count, cells, variances[v]);
        if (f[v].trials == 0) continue;
        json_t *row = json_array();
        gess__page_cell(row, NULL, "%g", variances[v]);
        gess__page_cell(row, "number", "%.0f", f[v].ess);
        gess__page_cell(row, "number", "%.0f", f[v].stay);
        gess__page_cell(row, "number", "%.0f", f[v].longest);
        json_array_append_new(rows, row);
    }
    for (size_t i = 0; i < count; i++)
        gess__page_data(page,
                        json_pack("{s:f, s:I, s:f, s:I}", "variance", gess__json_real(cells[i].settings, "variance"),
                                  "seed", (json_int_t)gess__json_count(cells[i].settings, "seed"), "ess_square",
                                  gess__json_real(cells[i].result, "ess"), "longest_stay",
                                  (json_int_t)gess__json_count(cells[i].result, "stay")));
    gess__page_text(page, "setup",
                    "Kernel ess, schedule fixed, one chain, %d iterations, %llu trials; no iterations are scaled down.",
                    ITERATIONS, (unsigned long long)r->trials);
    judge(page, f);
    return draw(r, f, page, err);
}

const gess__figure gess__figure_trace = {
    .name = "figure-trace",
    .title = "Traces with approximations of several variances",
    .help = "elliptical slice sampling with approximations that are too narrow and too wide",
    .revision = 1,
    .by_trials = 1,
    .plan = plan,
    .compute = compute,
    .make = make,
};
