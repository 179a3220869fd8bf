/* The scaling table: what the paper leaves open. How far 500 seconds go is not known, nor are the matrices, the breadth
 * of the starts, and the iterations between fits. In the paper's table, cells with the same dimension and chains but
 * other cores have the same errors (judge_cores), as if 500 seconds were a number of iterations that does not depend
 * on the cores. So cells near the border between cells that converge and cells that do not are run here with a number
 * of iterations; and of one cell, everything else is varied, one thing at a time. */
#include "reproduce/scaling.h"

#include <math.h>
#include <string.h>

enum { SIZES = GESS__SCALING_SIZES, MAX_CELLS = 32 };

/* Seconds of the paper's cells, and evaluations per update before chains have found the bulk, roughly. */
#define SECONDS 500.0
#define EVALS_PER_UPDATE 11.0

/* The matrix of each dimension is the one whose trace of the covariance is the median of those of seeds 1 to 21 (seed
 * 1, which the table has, is the third largest in 150 dimensions). K chains per group. */
typedef struct place {
    size_t dim, chains;
    uint64_t matrix, reuse, start;
    const char *differs; /* NULL: a cell of the border */
} place;

static const place places[] = {{50, 20, 10, 10, 10, NULL},
                               {50, 40, 10, 10, 10, NULL},
                               {100, 20, 12, 10, 10, NULL},
                               {100, 40, 12, 10, 10, NULL},
                               {100, 60, 12, 10, 10, NULL},
                               {150, 40, 20, 10, 10, NULL},
                               {150, 60, 20, 10, 10, NULL},
                               {150, 80, 20, 10, 10, NULL},
                               {150, 100, 20, 10, 10, NULL},
                               {150, 120, 20, 10, 10, NULL},
                               {200, 100, 12, 10, 10, NULL},
                               {200, 120, 12, 10, 10, NULL},
                               {200, 160, 12, 10, 10, NULL},
                               {200, 180, 12, 10, 10, NULL},
                               {200, 200, 12, 10, 10, NULL},
                               {200, 240, 12, 10, 10, NULL},
                               {250, 200, 14, 10, 10, NULL},
                               {250, 240, 14, 10, 10, NULL},
                               {250, 300, 14, 10, 10, NULL},
                               {250, 320, 14, 10, 10, NULL},
                               {250, 400, 14, 10, 10, NULL},
                               {250, 500, 14, 10, 10, NULL},
                               {150, 80, 1, 10, 10, "matrix of seed 1"},
                               {150, 80, 20, 1, 10, "fits at every iteration"},
                               {150, 80, 20, 100, 10, "fits every 100 iterations"},
                               {150, 80, 20, 10, 3, "starts N(0, 3² I)"}};
enum { PLACES = sizeof places / sizeof *places };

int gess__open_plan(const gess__figure *figure, const gess__reproduction *r, gess__cells *cells, gess_error *err)
{
    for (size_t n = 0; n < r->iteration_counts; n++)
        for (size_t i = 0; i < PLACES; i++) {
            const place *p = &places[i];
            char settings[64], name[64];
            double evals = EVALS_PER_UPDATE * 2.0 * (double)p->chains * (double)r->iterations[n];
            snprintf(settings, sizeof settings, "schedule=two-group,reuse=%llu", (unsigned long long)p->reuse);
            snprintf(name, sizeof name, "%zu-%zu%s%.12s", p->dim, p->chains, p->differs != NULL ? "-" : "",
                     p->differs == NULL ? ""
                     : p->matrix == 1   ? "matrix1"
                     : p->start != 10   ? "start3"
                     : p->reuse == 1    ? "reuse1"
                                        : "reuse100");
            json_t *json =
                json_pack("{s:s, s:s, s:b, s:I, s:I, s:I, s:I, s:I}", "method", "two-group", "settings", settings,
                          "halves", 1, "dim", (json_int_t)p->dim, "chains", 2 * (json_int_t)p->chains, "iterations",
                          (json_int_t)r->iterations[n], "matrix", (json_int_t)p->matrix, "start", (json_int_t)p->start);
            GESS_TRY(gess__cells_add(cells, r, figure, r->seed, gess__scaling_cost(0, p->dim, evals), json, err,
                                     "two-group/i%llu/%s/%llu", (unsigned long long)r->iterations[n], name,
                                     (unsigned long long)r->seed));
        }
    return GESS_OK;
}

/* log10 of the error of a place; NaN if it was not run. */
static double error_of(const place *p, uint64_t iterations, size_t count, const gess__cell *cells, double *evals)
{
    char settings[64];
    snprintf(settings, sizeof settings, "schedule=two-group,reuse=%llu", (unsigned long long)p->reuse);
    for (size_t i = 0; i < count; i++) {
        const json_t *x = cells[i].settings;
        if (gess__json_count(x, "iterations") != iterations || gess__json_count(x, "dim") != p->dim ||
            gess__json_count(x, "chains") != 2 * p->chains || gess__json_count(x, "matrix") != p->matrix ||
            gess__json_count(x, "start") != p->start || strcmp(gess__json_text(x, "settings"), settings) != 0)
            continue;
        if (evals != NULL) *evals = gess__json_real(cells[i].result, "evals");
        double error = gess__json_real(cells[i].result, "error");
        return isnan(error) ? INFINITY : log10(error);
    }
    return NAN;
}

/* The paper's cells with these dimensions and chains, for 20, 40 … cores. Returns their number. */
static size_t paper_cells(const gess__scaling_table *paper, size_t dim, size_t chains,
                          const gess__scaling_paper *of[SIZES], size_t cores[SIZES])
{
    size_t n = 0;
    for (size_t c = 1; c <= SIZES; c++) {
        size_t of_core = GESS__SCALING_CORES * c;
        if (chains % of_core != 0 || chains / of_core > SIZES) continue;
        of[n] = &paper->of[dim / GESS__SCALING_DIM - 1][c - 1][chains / of_core - 1];
        cores[n++] = of_core;
    }
    return n;
}

/* ---- verdicts ---- */

/* Whether the paper's errors depend on the cores, if dimension and chains are the same. */
static void judge_cores(json_t *page, const gess__scaling_table *paper)
{
    size_t groups = 0, same_side = 0, close = 0;
    for (size_t d = 1; d <= SIZES; d++)
        for (size_t chains = GESS__SCALING_CORES; chains <= SIZES * SIZES * GESS__SCALING_CORES;
             chains += GESS__SCALING_CORES) {
            const gess__scaling_paper *of[SIZES];
            size_t cores[SIZES], n = paper_cells(paper, GESS__SCALING_DIM * d, chains, of, cores), below = 0;
            double min = INFINITY, max = -INFINITY;
            if (n < 2) continue;
            for (size_t i = 0; i < n; i++) {
                min = fmin(min, of[i]->log_error);
                max = fmax(max, of[i]->log_error);
                below += of[i]->below != 0;
            }
            groups++;
            same_side += below == 0 || below == n;
            close += max - min <= 0.61;
        }
    gess__page_claim(page, 10 * same_side >= 9 * groups ? GESS__HOLDS : GESS__FAILS,
                     "(Our reading of the budget.) In the paper's table the error depends on the dimension and on the "
                     "number of chains, and hardly on the number of cores: 500 seconds were the same number of "
                     "iterations with 20 cores as with 100, not five times as many evaluations.",
                     "Of %zu groups of the paper's cells with the same D and K but other C, %zu are on one side of 1 "
                     "(bound: 90 %%), and in %zu all errors are within a factor of 4.",
                     groups, same_side, close);
}

/* How well a number of iterations gives the paper's cells of a dimension. */
typedef struct fit {
    uint64_t iterations;
    size_t run, alike; /* of the paper's cells near the border: all, and those on their side of 1 */
    double distance;   /* sum of the differences of log10 of the errors */
    size_t below;      /* of all 25 cells, if more chains help: below 1 */
} fit;

static fit fit_iterations(const gess__scaling_table *paper, size_t dim, uint64_t iterations, size_t count,
                          const gess__cell *cells)
{
    fit f = {.iterations = iterations};
    size_t most = 0;
    for (size_t i = 0; i < PLACES; i++) {
        const gess__scaling_paper *of[SIZES];
        size_t cores[SIZES];
        double error = error_of(&places[i], iterations, count, cells, NULL);
        if (places[i].dim != dim || places[i].differs != NULL || isnan(error)) continue;
        size_t n = paper_cells(paper, dim, places[i].chains, of, cores);
        for (size_t k = 0; k < n; k++) {
            f.alike += (error < 0.0) == (of[k]->below != 0);
            f.distance += fabs(error - of[k]->log_error);
        }
        f.run += n;
        f.below += error < 0.0 ? n : 0;
        if (places[i].chains > most) most = places[i].chains;
    }
    for (size_t c = 1; c <= SIZES; c++)
        for (size_t k = 1; k <= SIZES; k++) f.below += f.run > 0 && GESS__SCALING_CORES * c * k > most;
    return f;
}

/* The number of iterations with most of a dimension's cells on the paper's side of 1; of several, the closest. */
static fit best_fit(const gess__reproduction *r, const gess__scaling_table *paper, size_t dim, size_t count,
                    const gess__cell *cells)
{
    fit best = {0};
    for (size_t n = 0; n < r->iteration_counts; n++) {
        fit f = fit_iterations(paper, dim, r->iterations[n], count, cells);
        if (f.run < best.run || f.run == 0) continue;
        if (f.run == best.run && f.alike < best.alike) continue;
        if (f.run == best.run && f.alike == best.alike && f.distance >= best.distance) continue;
        best = f;
    }
    return best;
}

static void judge_iterations(json_t *page, const gess__reproduction *r, const gess__scaling_table *paper, size_t count,
                             const gess__cell *cells)
{
    char text[512] = "", below[64] = "";
    size_t used = 0, put = 0, run = 0, alike = 0, all_below = 0;
    for (size_t d = 1; d <= SIZES; d++) {
        fit f = best_fit(r, paper, GESS__SCALING_DIM * d, count, cells);
        put +=
            (size_t)snprintf(below + put, sizeof below - put, f.run > 0 ? "%s%zu" : "%s?", d > 1 ? ", " : "", f.below);
        if (f.run == 0) continue;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%zu of %zu in %zu dimensions with %llu (%.3g ms each)",
                             used > 0 ? ", " : "", f.alike, f.run, GESS__SCALING_DIM * d,
                             (unsigned long long)f.iterations, 1e3 * SECONDS / (double)f.iterations);
        run += f.run;
        alike += f.alike;
        all_below += f.below;
    }
    gess__page_claim(page,
                     run == 0                ? GESS__NOT_JUDGED
                     : 10 * alike >= 9 * run ? GESS__HOLDS
                     : 10 * alike >= 8 * run ? GESS__IN_PART
                                             : GESS__FAILS,
                     "(The same.) With some number of iterations for 500 seconds, by dimension but whatever the "
                     "cores, the cells near the border are on the paper's side of it.",
                     "Of the paper's cells with these dimensions and chains, on the same side of 1: %s; in all %zu of "
                     "%zu (bound: 90 %%). If fewer chains than in these cells fail, and more converge, %zu of 125 are "
                     "below 1 (%s; the paper: 81: 25, 24, 19, 11, 2).",
                     text, alike, run, all_below, below);
}

/* ---- the table ---- */

static void put_paper(json_t *row, const gess__scaling_table *paper, const place *p)
{
    const gess__scaling_paper *of[SIZES];
    size_t cores[SIZES], n = paper_cells(paper, p->dim, p->chains, of, cores), used = 0;
    char text[128] = "";
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s10^%+.1f (%zu)", i > 0 ? ", " : "",
                                 of[i]->log_error, cores[i]);
    gess__page_cell(row, "quiet", "%s", text);
}

static void add_table(json_t *page, const gess__reproduction *r, const gess__scaling_table *paper, size_t count,
                      const gess__cell *cells)
{
    char head[512] = "D|K|differs|the paper (C)";
    size_t used = strlen(head);
    for (size_t n = 0; n < r->iteration_counts; n++)
        used +=
            (size_t)snprintf(head + used, sizeof head - used, "|%llu iterations", (unsigned long long)r->iterations[n]);
    json_t *rows =
        gess__page_table(page, "Cells near the border with a number of iterations of every chain, one trial", head);
    for (size_t i = 0; i < PLACES; i++) {
        json_t *row = json_array();
        size_t run = 0;
        gess__page_cell(row, NULL, "%zu", places[i].dim);
        gess__page_cell(row, NULL, "%zu", places[i].chains);
        gess__page_cell(row, NULL, "%s", places[i].differs != NULL ? places[i].differs : "");
        put_paper(row, paper, &places[i]);
        for (size_t n = 0; n < r->iteration_counts; n++) {
            double evals = NAN, error = error_of(&places[i], r->iterations[n], count, cells, &evals);
            if (isnan(error))
                gess__page_cell(row, "omitted", "—");
            else
                gess__page_cell(row, error < 0.0 ? "below" : "above", "10^%+.1f (%.2g evaluations)", error, evals);
            run += isnan(error) ? 0 : 1;
        }
        if (run > 0)
            json_array_append_new(rows, row);
        else
            json_decref(row);
    }
}

int gess__open_show(json_t *page, const gess__reproduction *r, const gess__scaling_table *paper, size_t count,
                    const gess__cell *cells, gess_error *err)
{
    judge_cores(page, paper);
    if (r->iteration_counts == 0) return GESS_OK;
    judge_iterations(page, r, paper, count, cells);
    add_table(page, r, paper, count, cells);
    gess__page_text(page, "setup",
                    "Cells near the border: a number of iterations of every chain instead of a budget of evaluations, "
                    "the first half discarded, two-group, one trial, the matrix of the median trace of the covariance "
                    "of seeds 1 to 21 (seeds 10, 12, 20, 12, 14 in 50 to 250 dimensions), starts N(0, 10² I), fits "
                    "every 10 iterations. In one cell one of these is varied.");
    return gess__matrices_show(page, err);
}
