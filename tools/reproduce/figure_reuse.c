/* Figure 4 of the paper, "Reusing the Approximation": a Gaussian in 100 dimensions with Wishart precision, 10⁴
 * iterations from the start, the approximation refitted every 10¹ … 10⁴ iterations: the durations, and tr Σ of the
 * fits. */
#include "base/clock.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "bench/measure.h"
#include "reproduce/reproduce.h"
#include "schedule/two_group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 10000, SHORTEST = 1000, DIM = 100, GROUP = 2 * DIM, MODES = 4, INVERSIONS = 200 };
static const char model_name[] = "wishart:dim=100,seed=1";

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Runs the sweeps of the two-group schedule and records every fit. */
static int follow(gess__sampler *s, uint64_t iterations, json_t *fits, double *fitting, gess_error *err)
{
    const gess__record none = {.thin = 0};
    const gess__ensemble *e = &s->ensemble;
    const gess__two_group *groups = s->state;
    for (uint64_t made = 0;;) {
        gess__stretch stretch;
        double begun = cpu_seconds();
        gess__sampler_next(s, iterations, &stretch);
        *fitting += cpu_seconds() - begun;
        if (stretch.count == 0) return GESS_OK;
        /* the fit is to the other group, which may be `reuse` iterations further */
        if (groups->fits > made)
            json_array_append_new(fits, json_pack("[I, f]", (json_int_t)e->done[1 - groups->turn],
                                                  gess__approx_trace(e->frozen.approx)));
        made = groups->fits;
        GESS_TRY(gess__sampler_run(s, &stretch, &none, err));
    }
}

static int true_trace(const gess_model *model, double *trace, gess_error *err)
{
    gess__truth truth = {0};
    int status = gess__truth_find(&truth, model, model_name, err);
    *trace = 0.0;
    for (size_t i = 0; status == GESS_OK && i < model->dim; i++) *trace += truth.sd[i] * truth.sd[i];
    gess__truth_free(&truth);
    return status;
}

/* The paper's fits invert a D × D matrix for each of K chains, in every iteration of the fit; ours do not. Measures one
 * such inversion: a Cholesky factor, and its inverse. */
static int time_inversion(size_t inversions, json_t **result, gess_error *err)
{
    double *a = NULL, *inverse = NULL;
    int status = gess__alloc_bytes(&a, (size_t)DIM * DIM, sizeof *a, "a matrix", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&inverse, (size_t)DIM * DIM, sizeof *inverse, "a matrix", err);
    double begun = cpu_seconds();
    for (size_t k = 0; status == GESS_OK && k < inversions; k++) {
        for (size_t i = 0; i < DIM; i++)
            for (size_t j = 0; j < DIM; j++) {
                a[i * DIM + j] = exp(-0.1 * fabs((double)i - (double)j));
                inverse[i * DIM + j] = i == j ? 1.0 : 0.0;
            }
        if (!gess__cholesky(DIM, a)) status = gess__fail(err, GESS_ERR_INTERNAL, "the matrix is not positive definite");
        if (status == GESS_OK) gess__solve_lower(DIM, a, DIM, inverse);
    }
    if (status == GESS_OK) *result = json_pack("{s:f}", "seconds", (cpu_seconds() - begun) / (double)inversions);
    free(a);
    free(inverse);
    return status;
}

static int compute(const json_t *settings, json_t **result, gess_error *err)
{
    if (gess__json_count(settings, "inversions") > 0)
        return time_inversion(gess__json_count(settings, "inversions"), result, err);
    gess_model *model = NULL;
    gess__sampler *s = NULL;
    gess__team *team = NULL;
    gess_options o;
    json_t *fits = json_array();
    double fitting = 0.0, begun = 0.0, trace = 0.0;
    gess__options_init(&o);
    o.schedule = "two-group";
    o.chains = 2 * gess__json_count(settings, "group");
    o.reuse = gess__json_count(settings, "reuse");
    o.seed = gess__json_count(settings, "seed");
    o.threads = 1;
    o.warmup = 0;
    int status = gess_model_open(&model, gess__json_text(settings, "model"), NULL, err);
    if (status == GESS_OK) status = true_trace(model, &trace, err);
    if (status == GESS_OK) status = gess__team_new(&team, 1, err);
    if (status == GESS_OK) status = gess__sampler_new(&s, model, &o, 0, (size_t)o.chains, team, err);
    if (status == GESS_OK) {
        begun = cpu_seconds();
        status = follow(s, gess__json_count(settings, "iterations"), fits, &fitting, err);
    }
    if (status == GESS_OK)
        *result = json_pack("{s:f, s:f, s:I, s:I, s:f, s:O}", "seconds", cpu_seconds() - begun, "seconds_fitting",
                            fitting, "evals", (json_int_t)s->ensemble.tally.evals, "made",
                            (json_int_t)((const gess__two_group *)s->state)->fits, "true_trace", trace, "fits", fits);
    json_decref(fits);
    gess__sampler_free(s);
    gess__team_free(team);
    gess_model_free(model);
    return status;
}

static int plan(const gess__figure *figure, const gess__reproduction *r, gess__cells *cells, gess_error *err)
{
    uint64_t iterations = gess__scaled(r, ITERATIONS, r->quick ? SHORTEST : ITERATIONS), reuse = 10;
    for (size_t i = 0; i < MODES && reuse <= iterations; i++, reuse *= 10)
        for (uint64_t trial = 0; trial < r->trials; trial++)
            GESS_TRY(gess__cells_add(cells, r, figure, r->seed + trial,
                                     0.001 * (double)iterations + 0.012 * 2.0 * (double)iterations / (double)reuse,
                                     json_pack("{s:s, s:i, s:I, s:I}", "model", model_name, "group", GROUP,
                                               "iterations", (json_int_t)iterations, "reuse", (json_int_t)reuse),
                                     err, "reuse-%llu/%llu", (unsigned long long)reuse,
                                     (unsigned long long)(r->seed + trial)));
    return gess__cells_add(cells, r, figure, r->seed, 0.1,
                           json_pack("{s:i, s:i}", "inversions", INVERSIONS, "size", DIM), err, "inversion/%llu",
                           (unsigned long long)r->seed);
}

/* Figures over all trials with one number of iterations between fits. */
typedef struct figures {
    uint64_t reuse;
    size_t trials;
    double seconds, error, fitting, settled, truth;
    const json_t *fits; /* of the first trial */
} figures;

/* The iteration of the first fit whose tr Σ is within a quarter of the true trace; infinite if there is none. (With 200
 * points it is off by a tenth or so, because one direction has most of the variance.) */
static double settled_at(const json_t *result)
{
    double truth = gess__json_real(result, "true_trace");
    size_t i;
    const json_t *fit;
    json_array_foreach(json_object_get(result, "fits"), i,
                       fit) if (fabs(json_number_value(json_array_get(fit, 1)) / truth - 1.0) <=
                                0.25) return json_number_value(json_array_get(fit, 0));
    return INFINITY;
}

static figures gather(size_t count, const gess__cell *cells, uint64_t reuse)
{
    figures f = {.reuse = reuse};
    double seconds[1000];
    for (size_t i = 0; i < count && f.trials < 1000; i++) {
        if (gess__json_count(cells[i].settings, "reuse") != reuse) continue;
        seconds[f.trials++] = gess__json_real(cells[i].result, "seconds");
        f.fitting += gess__json_real(cells[i].result, "seconds_fitting");
        f.settled += settled_at(cells[i].result);
        f.truth = gess__json_real(cells[i].result, "true_trace");
        if (f.fits == NULL) f.fits = json_object_get(cells[i].result, "fits");
    }
    gess__mean_and_error(f.trials, seconds, &f.seconds, &f.error);
    f.fitting /= (double)f.trials;
    f.settled /= (double)f.trials;
    return f;
}

/* Says in words when tr Σ was right. */
static const char *when(double settled, char text[48])
{
    if (isfinite(settled))
        snprintf(text, 48, "at iteration %.0f", settled);
    else
        snprintf(text, 48, "not within the run");
    return text;
}

static void judge_time(json_t *page, const figures *ten, const figures *hundred, const figures *last)
{
    double factor = ten->seconds / last->seconds, step = ten->seconds / hundred->seconds;
    gess__page_claim(page,
                     factor >= 2.0  ? GESS__HOLDS
                     : factor > 1.1 ? GESS__IN_PART
                                    : GESS__FAILS,
                     "Reusing the approximation for more iterations can dramatically reduce the time required.",
                     "%.1f s with a fit every 10 iterations, %.1f s with one every %llu: a factor of %.2f (bound for "
                     "“dramatic”: 2). Fits take %.0f %% of the time at 10.",
                     ten->seconds, last->seconds, (unsigned long long)last->reuse, factor,
                     100.0 * ten->fitting / ten->seconds);
    gess__page_claim(page,
                     step >= 2.0  ? GESS__HOLDS
                     : step > 1.1 ? GESS__IN_PART
                                  : GESS__FAILS,
                     "There is a dramatic difference in time between rebuilding every 10 and every 100 iterations.",
                     "%.1f s against %.1f s: a factor of %.2f (bound: 2).", ten->seconds, hundred->seconds, step);
}

static void judge_iterations(json_t *page, const figures *ten, const figures *hundred, const figures *thousand)
{
    char first[48], second[48];
    int settles = isfinite(ten->settled) && isfinite(hundred->settled);
    gess__page_claim(page,
                     settles && hundred->settled <= ten->settled + 200.0              ? GESS__HOLDS
                     : settles && hundred->settled <= 2.0 * fmax(ten->settled, 100.0) ? GESS__IN_PART
                                                                                      : GESS__FAILS,
                     "In iterations, there is little difference between rebuilding every 10 and every 100.",
                     "tr Σ first comes within a quarter of the true trace %s with 10, %s with 100 (bound: two turns of "
                     "100 "
                     "apart).",
                     when(ten->settled, first), when(hundred->settled, second));
    gess__page_claim(page, isfinite(ten->settled) && !(thousand->settled <= ten->settled) ? GESS__HOLDS : GESS__FAILS,
                     "If the approximation is rebuilt frequently, it settles in fewer iterations.",
                     "The same with a fit every 1000 iterations: %s; every 10: %s.", when(thousand->settled, first),
                     when(ten->settled, second));
}

/* What the paper's fits would add. The fewest they can need is one iteration each. */
static void judge_inversions(json_t *page, const figures *f, size_t modes, double inversion, uint64_t iterations)
{
    double with[MODES] = {0}, fit = GROUP * inversion;
    for (size_t i = 0; i < modes; i++)
        with[i] = f[i].seconds - f[i].fitting + 2.0 * (double)iterations / (double)f[i].reuse * fit;
    double factor = with[0] / with[modes - 1], step = with[0] / with[1];
    gess__page_claim(
        page,
        factor >= 2.0 && step >= 2.0 ? GESS__HOLDS
        : factor >= 2.0              ? GESS__IN_PART
                                     : GESS__FAILS,
        "(The same two claims, with the paper's cost of a fit.) The paper's fits invert a D × D matrix for "
        "each of the K chains in every iteration, O(KD³); those of gess are O(KD²).",
        "An inversion takes %.2g ms. With one iteration per fit, the fewest there can be, %.0f s with a fit "
        "every 10 iterations, %.1f s with one every 100, %.1f s with one every %llu: factors of %.1f and "
        "%.1f (bound: 2).",
        1e3 * inversion, with[0], with[1], with[modes - 1], (unsigned long long)f[modes - 1].reuse, factor, step);
}

/* Seconds of an inversion; NaN if this was not measured. */
static double inversion_of(size_t count, const gess__cell *cells)
{
    for (size_t i = 0; i < count; i++)
        if (gess__json_count(cells[i].settings, "inversions") > 0) return gess__json_real(cells[i].result, "seconds");
    return NAN;
}

static void judge(json_t *page, const figures *f, size_t modes, double inversion, uint64_t iterations)
{
    size_t there = 0;
    for (size_t i = 0; i < modes; i++) there += f[i].trials > 0;
    if (modes < 3 || there < modes) {
        gess__page_claim(page, GESS__NOT_JUDGED, "Reusing the approximation saves time.", "Cells were left out.");
        return;
    }
    judge_time(page, &f[0], &f[1], &f[modes - 1]);
    if (!isnan(inversion)) judge_inversions(page, f, modes, inversion, iterations);
    judge_iterations(page, &f[0], &f[1], &f[2]);
}

static int draw(const gess__reproduction *r, const figures *f, size_t modes, json_t *page, gess_error *err)
{
    static const char *const colours[MODES] = {"#0b62a8", "#12733f", "#b7791f", "#c0392b"};
    gess__plot plot;
    GESS_TRY(gess__plot_begin(&plot, 1100, 420, err));
    FILE *s = plot.script;
    fputs("$times << EOD\n", s);
    for (size_t i = 0; i < modes; i++)
        if (f[i].trials > 0)
            fprintf(s, "%zu %llu %.4g %.4g %.4g\n", i, (unsigned long long)f[i].reuse, f[i].seconds,
                    isnan(f[i].error) ? 0.0 : f[i].error, f[i].fitting);
    fputs("EOD\n", s);
    for (size_t i = 0; i < modes; i++) {
        size_t n = json_array_size(f[i].fits);
        fprintf(s, "$trace%zu << EOD\n", i);
        for (size_t k = 0; k < n; k++) {
            const json_t *fit = json_array_get(f[i].fits, k);
            fprintf(s, "%lld %.5g\n", (long long)json_integer_value(json_array_get(fit, 0)) + 1,
                    json_number_value(json_array_get(fit, 1)));
        }
        fputs("EOD\n", s);
    }
    fputs("set multiplot layout 1,2\nset style fill solid 0.85 noborder\nset boxwidth 0.6\nset yrange [0:*]\n"
          "set xrange [-0.6:*]\nset xlabel 'iterations between fits'\nset ylabel 'seconds'\nset key outside top center "
          "horizontal\n"
          "plot $times using 1:3:xtic(2) with boxes lc rgb '#9cc3e6' title 'all', "
          "$times using 1:5 with boxes lc rgb '#0b62a8' title 'fits', "
          "$times using 1:($3-$4):(0):(2*$4) with vectors nohead lw 1.5 lc rgb '#1b2430'\n"
          "set logscale xy\nset xrange [1:*]\nset yrange [*:*]\nset format y '10^{%L}'\nset xlabel 'iteration'\n"
          "set ylabel 'tr Σ'\nplot ",
          s);
    for (size_t i = 0; i < modes; i++)
        fprintf(s, "%s$trace%zu with linespoints pt 7 ps 0.35 lc rgb '%s' title 'every %llu'", i > 0 ? ", " : "", i,
                colours[i], (unsigned long long)f[i].reuse);
    fprintf(s, ", %.6g with lines dt 2 lc rgb '#8a94a3' title 'tr of the covariance'\nunset multiplot\n", f[0].truth);
    return gess__plot_end(&plot, r, page, "figure-reuse",
                          "Left: seconds of one core for all iterations, and of them those in fits. Right: tr Σ of "
                          "every "
                          "fit, first trial; the dashed line is the trace of the true covariance.",
                          err);
}

static uint64_t iterations_of(size_t count, const gess__cell *cells)
{
    for (size_t i = 0; i < count; i++)
        if (gess__json_count(cells[i].settings, "reuse") > 0) return gess__json_count(cells[i].settings, "iterations");
    return ITERATIONS;
}

static int make(const gess__reproduction *r, size_t count, const gess__cell *cells, json_t *page, gess_error *err)
{
    figures f[MODES] = {0};
    size_t modes = 0;
    uint64_t iterations = iterations_of(count, cells), reuse = 10;
    json_t *rows = gess__page_table(page, "Durations",
                                    "iterations between fits|seconds|standard error|seconds in fits|tr Σ "
                                    "right from iteration");
    for (; modes < MODES && reuse <= iterations; modes++, reuse *= 10) {
        f[modes] = gather(count, cells, reuse);
        if (f[modes].trials == 0) continue;
        json_t *row = json_array();
        gess__page_cell(row, NULL, "%llu", (unsigned long long)reuse);
        gess__page_cell(row, "number", "%.2f", f[modes].seconds);
        gess__page_cell(row, "number", isnan(f[modes].error) ? "—" : "%.2f", f[modes].error);
        gess__page_cell(row, "number", "%.2f", f[modes].fitting);
        gess__page_cell(row, "number", isfinite(f[modes].settled) ? "%.0f" : "not", f[modes].settled);
        json_array_append_new(rows, row);
    }
    gess__page_scale(page, (double)iterations / ITERATIONS);
    gess__page_text(page, "paper",
                    "Figure 4 of the paper: GESS on a 100-dimensional Gaussian for 10⁴ iterations, each approximation "
                    "reused for 10, 100, 1000 and 10⁴ iterations: durations, and tr Σ over the iterations.");
    gess__page_text(page, "setup",
                    "%s, two groups of %d chains (the paper does not say; with fewer than 2D the fit is the projected "
                    "one), %llu iterations of every chain from its start (the paper: %d), %llu trials. Seconds of one "
                    "core.",
                    model_name, GROUP, (unsigned long long)iterations, ITERATIONS, (unsigned long long)r->trials);
    for (size_t i = 0; i < count; i++)
        if (gess__json_count(cells[i].settings, "reuse") > 0)
            gess__page_data(page,
                            json_pack("{s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:o}", "reuse",
                                      (json_int_t)gess__json_count(cells[i].settings, "reuse"), "seed",
                                      (json_int_t)gess__json_count(cells[i].settings, "seed"), "iterations",
                                      (json_int_t)iterations, "seconds", gess__json_real(cells[i].result, "seconds"),
                                      "seconds_fitting", gess__json_real(cells[i].result, "seconds_fitting"), "fits",
                                      (json_int_t)gess__json_count(cells[i].result, "made"), "evals",
                                      (json_int_t)gess__json_count(cells[i].result, "evals"), "settled",
                                      gess__bench_number(settled_at(cells[i].result))));
    judge(page, f, modes, inversion_of(count, cells), iterations);
    size_t drawn = json_array_size(json_object_get(page, "data"));
    return drawn > 0 ? draw(r, f, modes, page, err) : GESS_OK;
}

const gess__figure gess__figure_reuse = {
    .name = "figure-reuse",
    .title = "Reusing the approximation",
    .help = "durations and tr Σ with fits every 10 to 10,000 iterations",
    .revision = 2,
    .by_trials = 1,
    .plan = plan,
    .compute = compute,
    .make = make,
};
