/* The scaling experiment of Nishihara, Murray and Adams (JMLR 15, 2014), "Scaling the Number of Cores": Gaussians with
 * Wishart precision of 50 to 250 dimensions, C = 20 .. 100 cores, K = C .. 5C chains in each of two groups; 125 cells.
 *
 * Here C cores are a budget: 200,000 C evaluations in all. Chains start at N(0, 10² I), one matrix for each
 * dimension (seed 1), 2K chains. The paper discards the first half; a warm-up that ends itself, and otherwise
 * at half of the budget, and then half of the budget of draws, costs no more. The figure is the squared error of
 * the marginal standard deviations, summed over the coordinates and averaged over the trials. The paper's
 * matrices are not known, so what compares is which cells converge (below 1), not digits. */
#include "bench/measure.h"

#include <math.h>

enum { SIZES = 5, FIRST_DIM = 50, FIRST_CORES = 20 };

/* log10 of the paper's mean squared errors, [dimension][cores][K / C - 1]. */
static const double paper[SIZES][SIZES][SIZES] = {{{-0.5, -1.2, -1.5, -1.7, -1.6},
                                                   {-0.8, -2.6, -1.9, -1.8, -2.4},
                                                   {-1.6, -1.6, -2.1, -2.1, -2.2},
                                                   {-1.3, -2.4, -2.4, -2.1, -2.3},
                                                   {-1.6, -1.7, -2.0, -2.2, -2.5}},
                                                  {{0.3, -1.3, -1.7, -1.9, -2.4},
                                                   {-1.1, -1.9, -2.5, -2.5, -2.7},
                                                   {-1.7, -2.5, -2.8, -2.9, -2.9},
                                                   {-2.1, -2.7, -2.7, -2.9, -3.1},
                                                   {-2.4, -2.8, -3.0, -3.0, -2.9}},
                                                  {{2.3, 2.3, 1.4, 0.5, -0.7},
                                                   {2.1, -0.1, -1.1, -1.4, -1.8},
                                                   {1.3, -1.2, -1.6, -1.9, -1.7},
                                                   {-0.0, -1.7, -2.2, -1.9, -2.1},
                                                   {-0.7, -1.8, -1.9, -2.0, -2.3}},
                                                  {{2.8, 3.0, 3.1, 3.1, 3.0},
                                                   {3.1, 3.1, 2.7, 1.1, -1.4},
                                                   {3.1, 2.6, -0.6, -1.7, -2.0},
                                                   {3.1, 0.7, -1.7, -1.9, -2.1},
                                                   {3.0, -1.4, -2.3, -2.0, -2.3}},
                                                  {{3.5, 3.5, 3.5, 3.5, 3.5},
                                                   {3.5, 3.5, 3.5, 3.5, 3.6},
                                                   {3.5, 3.5, 3.6, 3.6, 2.3},
                                                   {3.5, 3.5, 3.5, 1.1, -0.8},
                                                   {3.5, 3.6, 2.2, 0.3, -0.1}}};

typedef struct cell {
    size_t dim, cores, chains; /* 2K */
    double error, spread;      /* mean over the trials; standard error */
    double mean_error;         /* squared error of the means, summed */
    double evals, warmup;
} cell;

static int measure_trial(const gess__bench_options *o, cell *c, const char *name, uint64_t seed, uint64_t each,
                         const double *sd, double *error, gess_error *err)
{
    gess__sampled s;
    uint64_t half = each * c->cores / 2;
    gess__plan plan = {.model = name,
                       .settings = o->settings,
                       .seed = seed,
                       .chains = c->chains,
                       .max_warmup = half,
                       .sampling = half,
                       .start_scale = 10.0};
    int status = gess__sample_own(&plan, &s, err);
    *error = 0.0;
    for (size_t i = 0; status == GESS_OK && i < c->dim; i++) {
        *error += (s.sd[i] - sd[i]) * (s.sd[i] - sd[i]);
        c->mean_error += s.mean[i] * s.mean[i];
    }
    c->evals += (double)(s.evals_warmup + s.evals_sampling);
    c->warmup += (double)s.evals_warmup;
    gess__sampled_free(&s);
    return status;
}

static int measure_cell(const gess__bench_options *o, cell *c, uint64_t trials, uint64_t each, gess_error *err)
{
    char name[64];
    const gess_model *model = NULL;
    gess__truth truth = {0};
    double square = 0.0, n = (double)trials;
    snprintf(name, sizeof name, "wishart:dim=%zu,seed=1", c->dim);
    int status = gess_model_open(&model, name, NULL, err);
    if (status == GESS_OK) status = gess__truth_find(&truth, model, name, err);
    for (uint64_t t = 1; status == GESS_OK && t <= trials; t++) {
        double error = 0.0;
        status = measure_trial(o, c, name, t, each, truth.sd, &error, err);
        c->error += error / n;
        square += error * error / n;
    }
    c->spread = trials > 1 ? sqrt(fmax(square - c->error * c->error, 0.0) / (n - 1.0)) : NAN;
    c->mean_error /= n;
    c->evals /= n;
    c->warmup /= n;
    gess_model_close(model);
    gess__truth_free(&truth);
    return status;
}

/* Of --quick: the smallest and the largest ensembles at 20 cores, in 50 and 100 dimensions. */
static int chosen(const gess__bench_options *o, size_t d, size_t c, size_t k)
{
    return !o->quick || (d < 2 && c == 0 && (k == 0 || k == SIZES - 1));
}

static int table(const gess__bench_options *o, json_t **json, gess_error *err)
{
    uint64_t trials = o->seeds > 0 ? o->seeds : o->quick ? 1 : 5, each = o->evals > 0 ? o->evals : 200000;
    size_t cells = 0, good = 0, papers = 0;
    int status = GESS_OK;
    json_t *rows = json_array();
    gess__bench_say(o,
                    "Squared error of the marginal sds, summed, and the paper's; %llu trials, %llu evaluations for "
                    "each "
                    "of C\n  %4s %4s %5s %10s %10s %10s %10s %10s\n",
                    (unsigned long long)trials, (unsigned long long)each, "D", "C", "K", "error", "+-", "paper",
                    "warm-up", "evals");
    for (size_t d = 0; d < SIZES; d++)
        for (size_t k = 0; k < SIZES * SIZES && status == GESS_OK; k++) {
            if (!chosen(o, d, k / SIZES, k % SIZES)) continue;
            cell c = {.dim = FIRST_DIM * (d + 1), .cores = FIRST_CORES * (k / SIZES + 1)};
            double theirs = pow(10.0, paper[d][k / SIZES][k % SIZES]);
            c.chains = 2 * c.cores * (k % SIZES + 1);
            status = measure_cell(o, &c, trials, each, err);
            if (status != GESS_OK) break;
            cells++;
            good += c.error < 1.0;
            papers += theirs < 1.0;
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
