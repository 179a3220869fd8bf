/* Figure 6 of the paper, "Scaling the Number of Cores": Gaussians with Wishart precision, 125 triples of dimension,
 * cores and chains; the squared error of the marginal standard deviations. Here C cores are a budget of evaluations
 * (bench/scaling.c runs a cell). Beyond the paper's schedule, there is gess with default settings. */
#include "reproduce/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZES = GESS__SCALING_SIZES,
    EVALS_PER_CORE = GESS__SCALING_EVALS_PER_CORE,
    MIN_EVALS_PER_CORE = 500,
    QUICK_EVALS_PER_CORE = 20000,
    MAX_TRIALS = 1000
};

static const struct {
    const char *name, *label, *settings;
    int halves;
} methods[] = {{"two-group", "two-group", "schedule=two-group,reuse=10", 1}, {"auto", "auto", "", 0}};
enum { METHODS = sizeof methods / sizeof *methods, TWO_GROUP = 0, DEFAULT = 1 };

/* Whether a cell is run. With --quick: the corners in 50 and 100 dimensions, for which a tenth of the budget is enough.
 */
static int chosen(const gess__reproduction *r, size_t d, size_t c, size_t k)
{
    return !r->quick || (d < 2 && c % (SIZES - 1) == 0 && k % (SIZES - 1) == 0);
}

/* Evaluations, and for `auto` the fits of warm-up, which take longer. */
double gess__scaling_cost(size_t method, size_t dim, double evals)
{
    double d = (double)dim;
    return 0.1 + evals * (2e-7 + 6e-11 * d * d) +
           (method == DEFAULT ? 22.0 * pow(d / 100.0, 1.3) * sqrt(evals / 2e6) : 0.0);
}

int gess__scaling_add(const gess__figure *figure, const gess__reproduction *r, gess__cells *cells,
                      const gess__scaling_place *place, uint64_t seed, const char *group, gess_error *err)
{
    size_t m = place->method, dim = GESS__SCALING_DIM * (place->d + 1), cores = GESS__SCALING_CORES * (place->c + 1);
    double cost = gess__scaling_cost(m, dim, (double)place->evals_per_core * (double)cores);
    return gess__cells_add(cells, r, figure, seed, cost,
                           json_pack("{s:s, s:s, s:b, s:I, s:I, s:I, s:I}", "method", methods[m].name, "settings",
                                     methods[m].settings, "halves", methods[m].halves, "dim", (json_int_t)dim, "cores",
                                     (json_int_t)cores, "chains", 2 * (json_int_t)cores * (json_int_t)(place->k + 1),
                                     "each", (json_int_t)place->evals_per_core),
                           err, "%s/%s%zuC/%zu-%zu-%zu/%llu", methods[m].name, group, place->k + 1, dim, cores,
                           cores * (place->k + 1), (unsigned long long)seed);
}

/* The budget of the table. */
static uint64_t budget_of(const gess__reproduction *r)
{
    return gess__scaled(r, EVALS_PER_CORE, r->quick ? QUICK_EVALS_PER_CORE : MIN_EVALS_PER_CORE);
}

static int plan(const gess__figure *figure, const gess__reproduction *r, gess__cells *cells, gess_error *err)
{
    for (size_t i = 0; i < METHODS * SIZES * SIZES * SIZES; i++) {
        const gess__scaling_place place = {i / SIZES / SIZES / SIZES, i / SIZES / SIZES % SIZES, i / SIZES % SIZES,
                                           i % SIZES, budget_of(r)};
        if (!chosen(r, place.d, place.c, place.k)) continue;
        for (uint64_t trial = 0; trial < r->trials; trial++)
            GESS_TRY(gess__scaling_add(figure, r, cells, &place, r->seed + trial, "", err));
    }
    GESS_TRY(gess__budgets_plan(figure, r, cells, err));
    return gess__open_plan(figure, r, cells, err);
}

static int compute(const json_t *settings, json_t **result, gess_error *err)
{
    gess__scaling trial = {.dim = (size_t)gess__json_count(settings, "dim"),
                           .cores = (size_t)gess__json_count(settings, "cores"),
                           .chains = (size_t)gess__json_count(settings, "chains"),
                           .evals_per_core = gess__json_count(settings, "each"),
                           .seed = gess__json_count(settings, "seed"),
                           .settings = gess__json_text(settings, "settings"),
                           .iterations = gess__json_count(settings, "iterations"),
                           .matrix = gess__json_count(settings, "matrix"),
                           .start = (double)gess__json_count(settings, "start"),
                           .halves = json_is_true(json_object_get(settings, "halves"))};
    GESS_TRY(gess__scaling_run(&trial, err));
    *result = json_pack("{s:o, s:o, s:f, s:f}", "error", gess__bench_number(trial.sd_error), "mean_error",
                        gess__bench_number(trial.mean_error), "evals", trial.evals, "evals_warmup", trial.evals_warmup);
    return GESS_OK;
}

/* ---- the table ---- */

typedef struct square {
    size_t trials;
    double error, bar; /* NaN if there are no trials */
} square;

typedef struct grid {
    gess__scaling_table paper;
    square of[METHODS][SIZES][SIZES][SIZES];
    size_t judged[METHODS], below[METHODS], alike[METHODS];
    size_t both, both_below[METHODS]; /* cells that were run with both methods */
    size_t below_by_dim[METHODS][SIZES], by_dim[METHODS][SIZES];
    size_t paper_below; /* of the cells that were run */
} grid;

size_t gess__scaling_gather(size_t count, const gess__cell *cells, const gess__scaling_place *place, double *mean,
                            double *bar)
{
    double values[MAX_TRIALS];
    size_t trials = 0, cores = GESS__SCALING_CORES * (place->c + 1);
    *mean = *bar = NAN;
    for (size_t i = 0; i < count && trials < MAX_TRIALS; i++) {
        const json_t *x = cells[i].settings;
        if (gess__json_count(x, "each") != place->evals_per_core || gess__json_count(x, "cores") != cores ||
            gess__json_count(x, "dim") != GESS__SCALING_DIM * (place->d + 1) ||
            gess__json_count(x, "chains") != 2 * cores * (place->k + 1) ||
            strcmp(gess__json_text(x, "method"), methods[place->method].name) != 0)
            continue;
        double error = gess__json_real(cells[i].result, "error");
        values[trials++] = isnan(error) ? INFINITY : error;
    }
    if (trials > 0) gess__mean_and_error(trials, values, mean, bar);
    return trials;
}

static void compare_methods(grid *g)
{
    for (size_t i = 0; i < SIZES * SIZES * SIZES; i++) {
        size_t d = i / SIZES / SIZES, c = i / SIZES % SIZES, k = i % SIZES;
        if (g->of[TWO_GROUP][d][c][k].trials == 0 || g->of[DEFAULT][d][c][k].trials == 0) continue;
        g->both++;
        for (size_t m = 0; m < METHODS; m++) g->both_below[m] += g->of[m][d][c][k].error < 1.0;
    }
}

static void fill(grid *g, uint64_t evals_per_core, size_t count, const gess__cell *cells)
{
    for (size_t m = 0; m < METHODS; m++)
        for (size_t d = 0; d < SIZES; d++)
            for (size_t i = 0; i < SIZES * SIZES; i++) {
                size_t c = i / SIZES, k = i % SIZES;
                const gess__scaling_place place = {m, d, c, k, evals_per_core};
                square *s = &g->of[m][d][c][k];
                s->trials = gess__scaling_gather(count, cells, &place, &s->error, &s->bar);
                if (s->trials == 0) continue;
                int below = s->error < 1.0;
                g->judged[m]++;
                g->below[m] += (size_t)below;
                g->by_dim[m][d]++;
                g->below_by_dim[m][d] += (size_t)below;
                g->alike[m] += (size_t)(below == g->paper.of[d][c][k].below);
                if (m > 0) continue;
                g->paper_below += (size_t)g->paper.of[d][c][k].below;
            }
}

static void put_square(json_t *row, const square *s)
{
    if (s->trials == 0) {
        gess__page_cell(row, "omitted", "—");
        return;
    }
    const char *class = s->error < 1.0 ? "below" : "above";
    if (s->trials > 1)
        gess__page_cell(row, class, "10^%+.1f ± 10^%+.1f", log10(s->error), log10(s->bar));
    else
        gess__page_cell(row, class, "10^%+.1f", log10(s->error));
}

/* Ours over the paper's. */
static void put_ratio(json_t *row, const square *s, const gess__scaling_paper *paper)
{
    if (s->trials == 0)
        gess__page_cell(row, "omitted", "—");
    else
        gess__page_cell(row, "quiet", "10^%+.1f", log10(s->error) - paper->log_error);
}

static void add_tables(json_t *page, const grid *g)
{
    for (size_t d = 0; d < SIZES; d++) {
        char title[64];
        if (g->by_dim[0][d] + g->by_dim[1][d] == 0) continue;
        snprintf(title, sizeof title, "D = %zu", GESS__SCALING_DIM * (d + 1));
        json_t *rows = gess__page_table(page, title, "C||K = C|K = 2C|K = 3C|K = 4C|K = 5C");
        for (size_t c = 0; c < SIZES; c++)
            for (size_t m = 0; m < METHODS + 2; m++) {
                json_t *row = json_array();
                gess__page_cell(row, NULL, m == 0 ? "%zu" : "", GESS__SCALING_CORES * (c + 1));
                gess__page_cell(row, NULL, "%s",
                                m == 0             ? "paper"
                                : m == METHODS + 1 ? "two-group / paper"
                                                   : methods[m - 1].label);
                for (size_t k = 0; k < SIZES; k++) {
                    const gess__scaling_paper *p = &g->paper.of[d][c][k];
                    if (m == 0)
                        gess__page_cell(row, p->below ? "below" : "above", "10^%+.1f ± 10^%+.1f", p->log_error,
                                        p->log_bar);
                    else if (m == METHODS + 1)
                        put_ratio(row, &g->of[TWO_GROUP][d][c][k], p);
                    else
                        put_square(row, &g->of[m - 1][d][c][k]);
                }
                json_array_append_new(rows, row);
            }
    }
}

/* ---- verdicts ---- */

static void judge_pattern(json_t *page, const grid *g)
{
    const size_t m = TWO_GROUP;
    char claim[256], by_dim[160] = "";
    size_t used = 0;
    for (size_t d = 0; d < SIZES; d++)
        if (g->by_dim[m][d] > 0)
            used += (size_t)snprintf(by_dim + used, sizeof by_dim - used, "%s%zu of %zu in %zu", used > 0 ? ", " : "",
                                     g->below_by_dim[m][d], g->by_dim[m][d], GESS__SCALING_DIM * (d + 1));
    snprintf(claim, sizeof claim,
             "%zu of these %zu cells have an average error below 1 (of the paper's 125: 25, 24, 19, 11 and 2 in 50 to "
             "250 "
             "dimensions).",
             g->paper_below, g->judged[m]);
    gess__page_claim(page,
                     g->judged[m] == 0                      ? GESS__NOT_JUDGED
                     : 10 * g->alike[m] >= 8 * g->judged[m] ? GESS__HOLDS
                     : 10 * g->alike[m] >= 6 * g->judged[m] ? GESS__IN_PART
                                                            : GESS__FAILS,
                     claim,
                     "With two-group, %zu of %zu below 1 (%s dimensions); %zu cells on the paper's side of 1 (bound: "
                     "80 %%).",
                     g->below[m], g->judged[m], by_dim, g->alike[m]);
}

static void judge_default(json_t *page, const grid *g)
{
    gess__page_claim(page,
                     g->both == 0                                        ? GESS__NOT_JUDGED
                     : g->both_below[DEFAULT] > g->both_below[TWO_GROUP] ? GESS__HOLDS
                     : g->both_below[DEFAULT] > 0 && g->both_below[DEFAULT] == g->both_below[TWO_GROUP] ? GESS__IN_PART
                                                                                                        : GESS__FAILS,
                     "(Not of the paper.) With the same evaluations, gess as it runs by default converges in more "
                     "cells than "
                     "the paper's schedule.",
                     "Of %zu cells that were run with both, auto has %zu below 1, two-group %zu.", g->both,
                     g->both_below[DEFAULT], g->both_below[TWO_GROUP]);
}

/* The errors of the column that the paper's text discusses, D = 200 and K = 3C, as text. Returns whether all its cells
 * were run. *turns: whether few cores fail and more converge. */
static int read_column(const grid *g, size_t m, char *text, size_t size, int *turns)
{
    size_t used = 0, works = 0;
    int order = 1;
    for (size_t c = 0; c < SIZES; c++) {
        const square *s = &g->of[m][3][c][2];
        if (s->trials == 0) return 0;
        used += (size_t)snprintf(text + used, size - used, "%s10^%+.1f", c > 0 ? ", " : "", log10(s->error));
        if (s->error < 1.0)
            works++;
        else
            order &= works == 0;
    }
    *turns = order && works > 0 && works < SIZES;
    return 1;
}

static void judge_column(json_t *page, const grid *g)
{
    static const char claim[] =
        "With D = 200 and K = 3C, 20 and 40 cores fail (10^3.1, 10^2.7), 60, 80 and 100 converge "
        "(10^-0.6, 10^-1.7, 10^-2.3).";
    char text[160], other[160], beside[200] = "";
    int turns = 0, ignored;
    if (!read_column(g, TWO_GROUP, text, sizeof text, &turns)) {
        gess__page_claim(page, GESS__NOT_JUDGED, claim, "Cells were left out.");
        return;
    }
    if (read_column(g, DEFAULT, other, sizeof other, &ignored))
        snprintf(beside, sizeof beside, " With auto: %s.", other);
    gess__page_claim(page, turns ? GESS__HOLDS : GESS__FAILS, claim,
                     "With 20, 40, 60, 80 and 100: %s. It holds where few cores fail and more converge, wherever the "
                     "border "
                     "is.%s",
                     text, beside);
}

/* Whether more chains help at the same budget. */
static void judge_chains(json_t *page, const grid *g)
{
    size_t rows = 0, turned = 0, lost = 0, all = 0, paper = 0;
    for (size_t d = 0; d < SIZES; d++)
        for (size_t c = 0; c < SIZES; c++) {
            const square *few = &g->of[TWO_GROUP][d][c][0], *many = &g->of[TWO_GROUP][d][c][SIZES - 1];
            paper += (size_t)(!g->paper.of[d][c][0].below && g->paper.of[d][c][SIZES - 1].below);
            if (few->trials == 0 || many->trials == 0) continue;
            all++;
            rows += few->error < 1.0 ? 0 : 1;
            turned += !(few->error < 1.0) && many->error < 1.0;
            lost += few->error < 1.0 && !(many->error < 1.0);
        }
    gess__page_claim(page,
                     all == 0                       ? GESS__NOT_JUDGED
                     : turned > lost                ? GESS__HOLDS
                     : turned == lost && turned > 0 ? GESS__IN_PART
                                                    : GESS__FAILS,
                     "Additional chains can even enable the sampler to converge where it otherwise would not.",
                     "Of %zu pairs of dimension and cores, K = C fails in %zu; with K = 5C and the same budget %zu of "
                     "these "
                     "converge (in the paper %zu of 25), and %zu that converged no longer do.",
                     all, rows, turned, paper, lost);
}

/* ---- the plot ---- */

/* Coloured squares: log10 of the error, the paper's and the measured ones. */
static int draw(const gess__reproduction *r, const grid *g, json_t *page, gess_error *err)
{
    gess__plot plot;
    GESS_TRY(gess__plot_begin(&plot, 1200, 780, err));
    FILE *s = plot.script;
    fputs("set multiplot layout 3,5 margins 0.09,0.90,0.08,0.93 spacing 0.025,0.05\nunset grid\nset cbrange [-4:4]\n"
          "set palette defined (-4 '#0b4f8a', -0.01 '#cfe3f5', 0 '#f4f4f4', 0.01 '#fbe3d6', 4 '#b3402a')\n"
          "set xrange [0.5:5.5]\nset yrange [0.5:5.5]\nset xtics 1 format ''\nset ytics ('' 1, '' 2, '' 3, '' 4, '' "
          "5)\n"
          "set border 15\nunset colorbox\n",
          s);
    for (size_t m = 0; m < METHODS + 1; m++)
        for (size_t d = 0; d < SIZES; d++) {
            fprintf(s, "$g%zu%zu << EOD\n", m, d);
            for (size_t i = 0; i < SIZES * SIZES; i++) {
                size_t c = i / SIZES, k = i % SIZES;
                double value = m == 0 ? g->paper.of[d][c][k].log_error : log10(fmin(g->of[m - 1][d][c][k].error, 1e99));
                if (m == 0 || g->of[m - 1][d][c][k].trials > 0)
                    fprintf(s, "%zu %zu %.3f\n", k + 1, c + 1, fmax(-4.0, fmin(4.0, value)));
            }
            fputs("9 9 0\nEOD\n", s);
            if (m == 0) fprintf(s, "set title 'D = %zu'\n", GESS__SCALING_DIM * (d + 1));
            if (m > 0) fputs("unset title\n", s);
            if (d == 0)
                fprintf(s, "set ylabel '%s'\nset ytics ('20' 1, '40' 2, '60' 3, '80' 4, 'C = 100' 5)\n",
                        m == 0 ? "the paper" : methods[m - 1].label);
            if (d == 1) fputs("unset ylabel\nset ytics ('' 1, '' 2, '' 3, '' 4, '' 5)\n", s);
            if (m == METHODS) fputs("set xtics ('C' 1, '2C' 2, '3C' 3, '4C' 4, '5C' 5)\n", s);
            if (m == METHODS && d == SIZES - 1)
                fputs("set colorbox user origin 0.92,0.08 size 0.015,0.85\nset cblabel 'log_{10} of the squared "
                      "error'\n",
                      s);
            fprintf(s,
                    "plot $g%zu%zu using 1:2:($1-0.47):($1+0.47):($2-0.47):($2+0.47):3 with boxxyerror fs solid "
                    "noborder "
                    "lc palette\n",
                    m, d);
        }
    fputs("unset multiplot\n", s);
    return gess__plot_end(&plot, r, page, "table-scaling",
                          "Squared error of the marginal standard deviations, log10, for D dimensions, C cores (from "
                          "below) "
                          "and K chains in each group (from the left). Blue is below 1. White: not run.",
                          err);
}

/* log10 of the error that the paper prints for a cell; NaN for a cell of scaling_open.c, which has no cores. */
static double paper_error(const grid *g, const json_t *settings)
{
    size_t cores = gess__json_count(settings, "cores"), chains = gess__json_count(settings, "chains") / 2;
    if (cores == 0) return NAN;
    return g->paper
        .of[gess__json_count(settings, "dim") / GESS__SCALING_DIM - 1][cores / GESS__SCALING_CORES - 1]
           [chains / cores - 1]
        .log_error;
}

/* A cell's row of the data. */
static json_t *data_of(const grid *g, const gess__cell *cell)
{
    const json_t *x = cell->settings;
    const char *reuse = strstr(gess__json_text(x, "settings"), "reuse=");
    uint64_t matrix = gess__json_count(x, "matrix"), start = gess__json_count(x, "start");
    json_t *row = json_pack("{s:s, s:I, s:I, s:I, s:I}", "method", gess__json_text(x, "method"), "dim",
                            (json_int_t)gess__json_count(x, "dim"), "cores", (json_int_t)gess__json_count(x, "cores"),
                            "chains_of_a_group", (json_int_t)gess__json_count(x, "chains") / 2, "seed",
                            (json_int_t)gess__json_count(x, "seed"));
    json_object_set_new(row, "evals_per_core", json_integer((json_int_t)gess__json_count(x, "each")));
    json_object_set_new(row, "iterations", json_integer((json_int_t)gess__json_count(x, "iterations")));
    json_object_set_new(row, "reuse", json_integer(reuse != NULL ? strtoll(reuse + strlen("reuse="), NULL, 10) : 0));
    json_object_set_new(row, "matrix", json_integer(matrix > 0 ? (json_int_t)matrix : 1));
    json_object_set_new(row, "start", json_integer(start > 0 ? (json_int_t)start : 10));
    json_object_set_new(row, "paper_log10_error", gess__bench_number(paper_error(g, x)));
    json_object_set_new(row, "error", gess__bench_number(gess__json_real(cell->result, "error")));
    json_object_set_new(row, "mean_error", gess__bench_number(gess__json_real(cell->result, "mean_error")));
    json_object_set_new(row, "evals_warmup", json_real(gess__json_real(cell->result, "evals_warmup")));
    json_object_set_new(row, "evals", json_real(gess__json_real(cell->result, "evals")));
    return row;
}

static int make_page(const gess__reproduction *r, size_t count, const gess__cell *cells, grid *g, json_t *page,
                     gess_error *err)
{
    GESS_TRY(gess__scaling_read(&g->paper, err));
    fill(g, budget_of(r), count, cells);
    compare_methods(g);
    gess__page_scale(page, (double)budget_of(r) / EVALS_PER_CORE);
    gess__page_text(
        page, "paper",
        "Figure 6 of the paper: the squared error of the marginal standard deviations of Gaussians with Wishart "
        "precision after 500 seconds on C cores with K chains in each group, average of five trials; below 1 in "
        "blue.");
    gess__page_text(
        page, "setup",
        "wishart:dim=D,seed=1 (the paper's matrices are not known, so the pattern compares, not the digits); "
        "starts N(0, 10² I); C cores are %llu·C evaluations in all (the protocol: %d·C), of which the first half "
        "is discarded; 2K chains; %llu trials%s.",
        (unsigned long long)budget_of(r), EVALS_PER_CORE, (unsigned long long)r->trials,
        r->quick ? "; 8 of the 125 cells" : "");
    gess__page_text(page, "setup",
                    "two-group: the paper's schedule, fits every 10 iterations. auto: default settings, a warm-up that "
                    "ends "
                    "itself or at half of the budget, then draws for half of the budget.");
    judge_pattern(page, g);
    judge_column(page, g);
    judge_chains(page, g);
    judge_default(page, g);
    gess__budgets_show(page, r, &g->paper, count, cells);
    GESS_TRY(gess__open_show(page, r, &g->paper, count, cells, err));
    add_tables(page, g);
    for (size_t i = 0; i < count; i++) gess__page_data(page, data_of(g, &cells[i]));
    return draw(r, g, page, err);
}

static int make(const gess__reproduction *r, size_t count, const gess__cell *cells, json_t *page, gess_error *err)
{
    grid *g = calloc(1, sizeof *g);
    if (g == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for the table");
    int status = make_page(r, count, cells, g, page, err);
    free(g);
    return status;
}

const gess__figure gess__figure_scaling = {
    .name = "table-scaling",
    .title = "Scaling the number of cores: 125 cells",
    .help = "errors in 50 to 250 dimensions with 20 to 500 chains, beside the paper's",
    .revision = 1,
    .by_trials = 1,
    .plan = plan,
    .compute = compute,
    .make = make,
};
