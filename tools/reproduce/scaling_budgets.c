/* The scaling table with other budgets. The paper's C cores worked for 500 seconds; how many evaluations these were is
 * not known. A budget of F times the protocol's would be 2.5 / F milliseconds per evaluation. Every other row and
 * column of the table, in all dimensions, shows which budget has the paper's pattern. */
#include "reproduce/scaling.h"

#include <math.h>
#include <string.h>

enum { STEP = 2, SIZES = GESS__SCALING_SIZES, EACH_DIM = ((SIZES + 1) / STEP) * ((SIZES + 1) / STEP) };

static const double SECONDS = 500.0; /* of the paper's cells */

static uint64_t evals_of(double budget)
{
    return (uint64_t)llround(budget * GESS__SCALING_EVALS_PER_CORE);
}

int gess__budgets_plan(const gess__figure *figure, const gess__reproduction *r, gess__cells *cells, gess_error *err)
{
    for (size_t b = 0; b < r->budgets; b++) {
        if (r->budget[b] == r->scale) continue; /* in the table */
        char group[32];
        snprintf(group, sizeof group, "x%.6g/", r->budget[b]);
        for (size_t d = 0; d < SIZES; d++)
            for (size_t c = 0; c < SIZES; c += STEP)
                for (size_t k = 0; k < SIZES; k += STEP) {
                    const gess__scaling_place place = {0, d, c, k, evals_of(r->budget[b])};
                    GESS_TRY(gess__scaling_add(figure, r, cells, &place, r->seed, group, err));
                }
    }
    return GESS_OK;
}

/* What a budget gives. */
typedef struct pattern {
    size_t run, alike, below[SIZES];
} pattern;

static pattern count_cells(double budget, const gess__scaling_table *paper, size_t count, const gess__cell *cells)
{
    pattern p = {0};
    for (size_t d = 0; d < SIZES; d++)
        for (size_t c = 0; c < SIZES; c += STEP)
            for (size_t k = 0; k < SIZES; k += STEP) {
                const gess__scaling_place place = {0, d, c, k, evals_of(budget)};
                double mean, error;
                if (gess__scaling_gather(count, cells, &place, &mean, &error) == 0) continue;
                p.run++;
                p.below[d] += mean < 1.0;
                p.alike += (mean < 1.0) == (paper->of[d][c][k].below != 0);
            }
    return p;
}

static pattern count_paper(const gess__scaling_table *paper)
{
    pattern p = {0};
    for (size_t d = 0; d < SIZES; d++)
        for (size_t c = 0; c < SIZES; c += STEP)
            for (size_t k = 0; k < SIZES; k += STEP) p.below[d] += paper->of[d][c][k].below != 0;
    return p;
}

static size_t all_below(const pattern *p)
{
    size_t sum = 0;
    for (size_t d = 0; d < SIZES; d++) sum += p->below[d];
    return sum;
}

static void add_row(json_t *rows, const char *label, const char *speed, const pattern *p, int is_paper)
{
    json_t *row = json_array();
    gess__page_cell(row, NULL, "%s", label);
    gess__page_cell(row, "number", "%s", speed);
    for (size_t d = 0; d < SIZES; d++) gess__page_cell(row, "number", "%zu", p->below[d]);
    gess__page_cell(row, "number", "%zu", all_below(p));
    gess__page_cell(row, "number", is_paper ? "" : "%zu", p->alike);
    json_array_append_new(rows, row);
}

void gess__budgets_show(json_t *page, const gess__reproduction *r, const gess__scaling_table *paper, size_t count,
                        const gess__cell *cells)
{
    const pattern printed = count_paper(paper);
    size_t best = 0, complete = 0, best_below = 0;
    double best_budget = NAN;
    char list[512] = "", label[64], speed[64];
    size_t used = 0;
    if (r->budgets == 0) return;
    json_t *rows =
        gess__page_table(page,
                         "Cells below 1 by budget: 9 cells per dimension (20, 60, 100 cores; K = C, 3C, 5C), two-group",
                         "evaluations per core|500 s would be|D = 50|100|150|200|250|of 45|on the paper's side");
    add_row(rows, "the paper", "", &printed, 1);
    for (size_t b = 0; b < r->budgets; b++) {
        const pattern p = count_cells(r->budget[b], paper, count, cells);
        if (p.run == 0) continue;
        snprintf(label, sizeof label, p.run < SIZES * EACH_DIM ? "%.6g × 200,000 (%zu cells)" : "%.6g × 200,000",
                 r->budget[b], p.run);
        snprintf(speed, sizeof speed, "%.3g ms per evaluation", 1e3 * SECONDS / (double)evals_of(r->budget[b]));
        add_row(rows, label, speed, &p, 0);
        if (p.run < SIZES * EACH_DIM) continue;
        if (used < sizeof list - 64)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%zu (%zu on its side) at %.6g times",
                                     complete > 0 ? ", " : "", all_below(&p), p.alike, r->budget[b]);
        complete++;
        if (p.alike <= best) continue;
        best = p.alike;
        best_below = all_below(&p);
        best_budget = r->budget[b];
    }
    if (complete == 0) {
        gess__page_claim(page, GESS__NOT_JUDGED,
                         "(The budget.) With some number of evaluations for 500 seconds, the cells that converge are "
                         "the paper's.",
                         "No budget has all of its 45 cells.");
        return;
    }
    gess__page_claim(page,
                     10 * best >= 9 * SIZES * EACH_DIM   ? GESS__HOLDS
                     : 10 * best >= 8 * SIZES * EACH_DIM ? GESS__IN_PART
                                                         : GESS__FAILS,
                     "(The budget.) With some number of evaluations for 500 seconds, the cells that converge are the "
                     "paper's.",
                     "Of 45 cells the paper has %zu below 1, two-group %s. At best, with %.6g times 200,000 "
                     "evaluations "
                     "per core (%.3g ms per evaluation), %zu are below 1 and %zu on the paper's side (bound: 90 %%).",
                     all_below(&printed), list, best_budget,
                     1e3 * SECONDS / (best_budget * GESS__SCALING_EVALS_PER_CORE), best_below, best);
}
