/* The scaling experiment of Nishihara, Murray and Adams (JMLR 15, 2014), "Scaling the Number of Cores": Gaussians with
 * Wishart precision of 50 to 250 dimensions, C = 20 .. 100 cores, K = C .. 5C chains in each of two groups; 125 cells.
 *
 * Here C cores are a budget of 200,000 C evaluations. There are 2K chains, which start at N(0, 10² I), and one matrix
 * per dimension (seed 1). The paper discards the first half of a run. Here warm-up ends by itself, at the latest after
 * half of the budget, and sampling gets half of the budget, which is no more. The figure is the squared error of the
 * marginal standard deviations, summed over the coordinates and averaged over the trials. The paper's matrices are not
 * known, so compare which cells converge (error below 1), not digits. */
#include "base/csv.h"
#include "bench/measure.h"
#include "model/builtin/builtin.h"

#include <math.h>
#include <stdlib.h>

enum { SIZES = GESS__SCALING_SIZES };

typedef struct cell {
    size_t dim, cores, chains; /* 2K */
    double error, spread;      /* mean over the trials; standard error */
    double mean_error;         /* squared error of the means, summed */
    double evals, warmup;
} cell;

int gess__scaling_read(gess__scaling_table *table, gess_error *err)
{
    char path[4096];
    gess__table csv;
    GESS_TRY(gess__data_table("paper_scaling.csv", &csv, path, err));
    int good = csv.rows == SIZES * SIZES * SIZES && csv.columns == 6;
    for (size_t i = 0; good && i < csv.rows; i++) {
        const double *row = csv.values + i * csv.columns;
        size_t d = i / (SIZES * SIZES), c = i / SIZES % SIZES, k = i % SIZES;
        double cores = GESS__SCALING_CORES * (double)(c + 1);
        good = row[0] == GESS__SCALING_DIM * (double)(d + 1) && row[1] == cores && row[2] == cores * (double)(k + 1);
        table->of[d][c][k] = (gess__scaling_paper){.log_error = row[3], .log_bar = row[4], .below = row[5] != 0.0};
    }
    gess__table_free(&csv);
    if (!good) return gess__fail(err, GESS_ERR_FILE, "%s: not the paper's 125 cells in their order", path);
    return GESS_OK;
}

static int run_trial(gess__scaling *t, const char *name, const double *sd, gess_error *err)
{
    gess__sampled s;
    uint64_t half = t->evals_per_core * t->cores / 2;
    gess__plan plan = {.model = name,
                       .settings = t->settings,
                       .seed = t->seed,
                       .chains = t->chains,
                       .max_warmup = half,
                       .sampling = t->halves ? 0 : half,
                       .total = 2 * half,
                       .halves = t->halves,
                       .draws = t->iterations,
                       .start_scale = t->start > 0.0 ? t->start : 10.0};
    int status = gess__sample_gess(&plan, &s, err);
    for (size_t i = 0; status == GESS_OK && i < t->dim; i++) {
        t->sd_error += (s.sd[i] - sd[i]) * (s.sd[i] - sd[i]);
        t->mean_error += s.mean[i] * s.mean[i];
    }
    t->evals = (double)(s.evals_warmup + s.evals_sampling);
    t->evals_warmup = (double)s.evals_warmup;
    gess__sampled_free(&s);
    return status;
}

int gess__scaling_run(gess__scaling *t, gess_error *err)
{
    char name[64];
    gess_model *model = NULL;
    gess__truth truth = {0};
    t->sd_error = t->mean_error = 0.0;
    snprintf(name, sizeof name, "wishart:dim=%zu,seed=%llu", t->dim, t->matrix > 0 ? (unsigned long long)t->matrix : 1);
    int status = gess_model_open(&model, name, NULL, err);
    if (status == GESS_OK) status = gess__truth_find(&truth, model, name, err);
    if (status == GESS_OK) status = run_trial(t, name, truth.sd, err);
    gess_model_free(model);
    gess__truth_free(&truth);
    return status;
}

static int measure_cell(const gess__bench_options *o, cell *c, uint64_t trials, uint64_t evals_per_core,
                        gess_error *err)
{
    double square = 0.0, n = (double)trials;
    for (uint64_t t = 1; t <= trials; t++) {
        gess__scaling trial = {.dim = c->dim,
                               .cores = c->cores,
                               .chains = c->chains,
                               .evals_per_core = evals_per_core,
                               .seed = t,
                               .settings = o->settings};
        GESS_TRY(gess__scaling_run(&trial, err));
        c->error += trial.sd_error / n;
        square += trial.sd_error * trial.sd_error / n;
        c->mean_error += trial.mean_error / n;
        c->evals += trial.evals / n;
        c->warmup += trial.evals_warmup / n;
    }
    c->spread = trials > 1 ? sqrt(fmax(square - c->error * c->error, 0.0) / (n - 1.0)) : NAN;
    return GESS_OK;
}

/* Whether a list of D, D:C and D:C:K has the cell. */
static int listed(const gess__bench_list *list, size_t dim, size_t cores, size_t half)
{
    const size_t have[3] = {dim, cores, half};
    for (size_t i = 0; i < list->count; i++) {
        const char *at = list->item[i];
        int same = *at != '\0';
        for (size_t j = 0; j < 3 && same && *at != '\0'; j++) {
            char *end = NULL;
            same = strtoull(at, &end, 10) == have[j] && (*end == ':' || *end == '\0');
            at = *end == ':' ? end + 1 : end;
        }
        if (same && *at == '\0') return 1;
    }
    return 0;
}

/* Whether a cell is run. With --quick: the smallest and the largest ensembles at 20 cores, in 50 and 100 dimensions. */
static int chosen(const gess__bench_options *o, const gess__bench_list *list, size_t d, size_t c, size_t k)
{
    size_t cores = GESS__SCALING_CORES * (c + 1);
    if (list->count > 0) return listed(list, GESS__SCALING_DIM * (d + 1), cores, cores * (k + 1));
    return !o->quick || (d < 2 && c == 0 && (k == 0 || k == SIZES - 1));
}

static int table(const gess__bench_options *o, json_t **json, gess_error *err)
{
    uint64_t trials = o->seeds > 0 ? o->seeds : o->quick ? 1 : 5, evals_per_core = o->evals > 0 ? o->evals : 200000;
    size_t cells = 0, good = 0, papers = 0;
    gess__scaling_table paper;
    gess__bench_list list;
    GESS_TRY(gess__bench_split(o->models != NULL ? o->models : "", &list, err));
    GESS_TRY(gess__scaling_read(&paper, err));
    int status = GESS_OK;
    json_t *rows = json_array();
    gess__bench_say(o,
                    "Squared error of the marginal sds, summed, and the paper's; %llu trials, %llu evaluations per "
                    "core\n  %4s %4s %5s %10s %10s %10s %10s %10s\n",
                    (unsigned long long)trials, (unsigned long long)evals_per_core, "D", "C", "K", "error", "+-",
                    "paper", "warm-up", "evals");
    for (size_t d = 0; d < SIZES; d++)
        for (size_t k = 0; k < SIZES * SIZES && status == GESS_OK; k++) {
            if (!chosen(o, &list, d, k / SIZES, k % SIZES)) continue;
            cell c = {.dim = GESS__SCALING_DIM * (d + 1), .cores = GESS__SCALING_CORES * (k / SIZES + 1)};
            const gess__scaling_paper *its = &paper.of[d][k / SIZES][k % SIZES];
            double theirs = pow(10.0, its->log_error);
            c.chains = 2 * c.cores * (k % SIZES + 1);
            status = measure_cell(o, &c, trials, evals_per_core, err);
            if (status != GESS_OK) break;
            cells++;
            good += c.error < 1.0;
            papers += (size_t)its->below;
            gess__bench_say(o, "  %4zu %4zu %5zu %10.3g %10.2g %10.3g %10.3g %10.3g\n", c.dim, c.cores, c.chains / 2,
                            c.error, c.spread, theirs, c.warmup, c.evals);
            json_array_append_new(rows,
                                  json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:f, s:f, s:f}", "dim", (json_int_t)c.dim,
                                            "cores", (json_int_t)c.cores, "chains", (json_int_t)c.chains, "error",
                                            gess__bench_number(c.error), "standard_error", gess__bench_number(c.spread),
                                            "mean_error", gess__bench_number(c.mean_error), "paper", theirs,
                                            "evals_warmup", c.warmup, "evals", c.evals));
        }
    gess__bench_say(o, "  %zu of %zu cells below 1; the paper: %zu\n", good, cells, papers);
    *json = json_pack("{s:I, s:I, s:I, s:I, s:o}", "trials", (json_int_t)trials, "cells", (json_int_t)cells,
                      "below_one", (json_int_t)good, "paper_below_one", (json_int_t)papers, "rows", rows);
    return status;
}

const gess__bench gess__bench_scaling = {
    .name = "scaling",
    .help = "the paper's 125 cells of dimensions and chains (by name only)",
    .table = table,
};
