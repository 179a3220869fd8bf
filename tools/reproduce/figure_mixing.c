/* Figure 5 of the paper, "Comparing Mixing": seven samplers on seven densities, effective samples per second and per
 * evaluation. Beyond the paper: a stricter metric, groups of 50, gess with default settings, emcee and zeus. */
#include "base/options.h"
#include "bench/measure.h"
#include "reproduce/mixing.h"
#include "reproduce/sample.h"

#include <math.h>
#include <stdlib.h>

/* Minimal iterations of burn-in and draws after scaling; NUTS has different ones. Without them, burn-in would soon be
 * too short for every sampler. */
typedef struct min_lengths {
    uint64_t burn, draws, nuts_burn, nuts_draws;
} min_lengths;

static min_lengths min_of(const gess__reproduction *r)
{
    return r->quick ? (min_lengths){200, 200, 100, 100} : (min_lengths){2000, 1000, 200, 100};
}

/* The --max-warmup-evals of gess with default settings. */
static uint64_t max_warmup(const gess__reproduction *r)
{
    return (uint64_t)fmin(2e6, fmax(2e5, 2e7 * r->scale));
}

/* ---- cells ---- */

/* Iterations of a sampler on a density. */
static void plan_lengths(const gess__reproduction *r, const gess__mixing_density *d, const gess__mixing_sampler *s,
                         uint64_t *burn, uint64_t *draws)
{
    min_lengths l = min_of(r);
    int nuts = s->kind == NUTS;
    *burn = gess__scaled(r, nuts ? d->burn / d->cut : d->burn, nuts ? l.nuts_burn : l.burn);
    *draws = gess__scaled(r, nuts ? d->draws / d->cut : d->draws, nuts ? l.nuts_draws : l.draws);
}

static json_t *settings_of(const gess__reproduction *r, const gess__mixing_density *d, const gess__mixing_sampler *s,
                           double *cost)
{
    uint64_t burn, draws;
    plan_lengths(r, d, s, &burn, &draws);
    uint64_t reuse = s->kind == TWO_GROUP && d->dim > 31 ? 10 : 1, walkers = 2 * d->dim > 100 ? 2 * d->dim : 100;
    double updates = (double)s->chains * (double)(burn + draws);
    char text[160];
    *cost = 0.2 + updates * s->evals * d->cost;
    if (s->kind == TWO_GROUP)
        *cost += 2e-8 * (double)(burn + draws) / (double)reuse * 2.0 * (double)s->chains * (double)(d->dim * d->dim);
    if (s->kind == PEER) {
        /* emcee takes one evaluation per walker and iteration; zeus gets as many evaluations */
        double max = fmin(3e6 * r->scale, 1.2e8 / (double)d->dim); /* draws are held in memory */
        uint64_t evals = (uint64_t)fmin((double)(draws * walkers), max);
        return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "model", d->name, "sampler", s->name, "peer", s->name,
                         "chains", (json_int_t)walkers, "warmup", (json_int_t)fmin((double)(burn * walkers), max),
                         "draws", (json_int_t)evals, "reuse", (json_int_t)1);
    }
    snprintf(text, sizeof text, "%s", s->settings);
    if (s->kind == DEFAULT) snprintf(text, sizeof text, "max-warmup-evals=%llu", (unsigned long long)max_warmup(r));
    if (s->kind == DEFAULT)
        *cost = 1.0 + 1.5 * (double)max_warmup(r) * d->cost + (double)(s->chains * draws) * 3.0 * d->cost;
    return json_pack("{s:s, s:s, s:s, s:I, s:o, s:I, s:I}", "model", d->name, "sampler", s->name, "settings", text,
                     "chains", (json_int_t)s->chains, "warmup",
                     s->kind == DEFAULT ? json_null() : json_integer((json_int_t)burn), "draws", (json_int_t)draws,
                     "reuse", (json_int_t)reuse);
}

static int plan(const gess__figure *figure, const gess__reproduction *r, gess__cells *cells, gess_error *err)
{
    char python[1024];
    int peers = gess__peers_found(python);
    for (size_t i = 0; i < DENSITIES; i++)
        for (size_t k = 0; k < SAMPLERS; k++)
            for (uint64_t trial = 0; trial < r->trials; trial++) {
                double cost;
                if (gess__mixing_samplers[k].kind == PEER && !peers) continue;
                json_t *settings = settings_of(r, &gess__mixing_densities[i], &gess__mixing_samplers[k], &cost);
                GESS_TRY(gess__cells_add(cells, r, figure, r->seed + trial, cost, settings, err, "%s/%s/%llu",
                                         gess__mixing_densities[i].name, gess__mixing_samplers[k].name,
                                         (unsigned long long)(r->seed + trial)));
            }
    return GESS_OK;
}

static int compute(const json_t *settings, json_t **result, gess_error *err)
{
    const json_t *warmup = json_object_get(settings, "warmup");
    gess__trial trial = {.model = gess__json_text(settings, "model"),
                         .settings = gess__json_text(settings, "settings"),
                         .peer = json_string_value(json_object_get(settings, "peer")),
                         .seed = gess__json_count(settings, "seed"),
                         .chains = gess__json_count(settings, "chains"),
                         .warmup = json_is_null(warmup) ? GESS_AUTO : (uint64_t)json_integer_value(warmup),
                         .draws = gess__json_count(settings, "draws"),
                         .reuse = gess__json_count(settings, "reuse")};
    return gess__trial_run(&trial, result, err);
}

static json_t *data_of(const gess__cell *cell)
{
    static const char *const counts[] = {"chains", "draws", "evals_warmup", "evals_sampling", "stride", "failures"};
    static const char *const reals[] = {"seconds", "ess_log", "geweke", "ess_bulk", "r_hat"};
    json_t *row = json_pack("{s:s, s:s, s:I}", "model", gess__json_text(cell->settings, "model"), "sampler",
                            gess__json_text(cell->settings, "sampler"), "seed",
                            (json_int_t)gess__json_count(cell->settings, "seed"));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_object_set_new(row, counts[i], json_integer((json_int_t)gess__json_count(cell->result, counts[i])));
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        json_object_set_new(row, reals[i], gess__bench_number(gess__json_real(cell->result, reals[i])));
    json_object_set_new(row, "error", json_string(gess__json_text(cell->result, "error")));
    return row;
}

static void describe(const gess__reproduction *r, json_t *page, const gess__mixing_bars *b)
{
    min_lengths l = min_of(r);
    char python[1024];
    gess__page_text(
        page, "paper",
        "Figure 5 of the paper: seven parallel samplers on seven distributions, effective samples per second "
        "and per density evaluation, mean and standard error of five runs; bars are omitted where the Geweke "
        "diagnostic rejects. Its heights are pictures only; its claims can be compared.");
    gess__page_text(page, "setup",
                    "The paper's metric: number of chains × effective size (coda) of Σ_k log π(x_k). Bars are omitted "
                    "where "
                    "Geweke's |z| > 1.96 in the majority of the trials.");
    gess__page_text(page, "setup",
                    "The stricter one: the smallest rank-normalised bulk ESS over the parameters; omitted where the "
                    "worst "
                    "R-hat of the trials is above 1.1. Table entries with ✗ are omitted ones.");
    gess__page_text(
        page, "setup",
        "GESS is two groups of 100 chains, all evaluations counted, fits at every iteration for D ≤ 31 and every "
        "tenth beyond; the others have 100 chains (PT: 100 temperatures from 1 to 100, of which the cold one "
        "counts). NUTS runs a tenth of the iterations, on stochastic volatility and ionosphere a hundredth; a "
        "gradient counts as one evaluation, and positive parameters are on a log scale.");
    gess__page_text(page, "setup",
                    "Iterations: burn-in 10⁴ and 10⁵ draws (stochastic volatility 10⁵ and 10⁵, ionosphere 10⁴ and 10⁴, "
                    "SNP 2000 and 10⁴), times %.3g, at least %llu and %llu (NUTS: %llu and %llu), but never more than "
                    "these; %llu "
                    "trials. Evaluations and seconds are those after burn-in; seconds are of one core.",
                    r->scale, (unsigned long long)l.burn, (unsigned long long)l.draws, (unsigned long long)l.nuts_burn,
                    (unsigned long long)l.nuts_draws, (unsigned long long)r->trials);
    gess__page_text(page, "setup",
                    "gess, auto: 100 chains, default settings but for a warm-up of at most %llu evaluations. emcee and "
                    "zeus: "
                    "their default moves on the same compiled densities, 100 walkers or 2 per dimension, as many "
                    "evaluations as emcee "
                    "takes for these iterations, at most %.0f.",
                    (unsigned long long)max_warmup(r), 3e6 * r->scale);
    if (!gess__peers_found(python))
        gess__page_text(page, "notes",
                        "emcee and zeus were left out: their virtual environment is not there (`make peers`).");
    uint64_t stride = 1;
    for (size_t i = 0; i < DENSITIES; i++)
        for (size_t k = 0; k < SAMPLERS; k++)
            if (b->of[i][k].stride > stride) stride = b->of[i][k].stride;
    if (stride > 1)
        gess__page_text(page, "notes",
                        "Bulk ESS and R-hat look at up to a million draws of a parameter, one in up to %llu (column "
                        "stride of the data). Where the draws between them carry more, the bulk ESS is that of as many "
                        "draws without gaps, from the end of the run, times the draws there are for each.",
                        (unsigned long long)stride);
}

/* Tells the page by which factors iterations were scaled. Warm-up of gess with default settings ends by itself, and
 * peers have a budget of evaluations, so these do not count. */
static void add_scales(const gess__reproduction *r, json_t *page, const gess__mixing_bars *b)
{
    for (size_t i = 0; i < DENSITIES; i++)
        for (size_t k = 0; k < SAMPLERS; k++) {
            const gess__mixing_density *d = &gess__mixing_densities[i];
            uint64_t burn, draws, cut = gess__mixing_samplers[k].kind == NUTS ? d->cut : 1;
            if (b->of[i][k].trials == 0 || gess__mixing_samplers[k].kind == PEER) continue;
            plan_lengths(r, d, &gess__mixing_samplers[k], &burn, &draws);
            gess__page_scale(page, (double)(draws * cut) / (double)d->draws);
            if (gess__mixing_samplers[k].kind != DEFAULT)
                gess__page_scale(page, (double)(burn * cut) / (double)d->burn);
        }
}

static int make(const gess__reproduction *r, size_t count, const gess__cell *cells, json_t *page, gess_error *err)
{
    gess__mixing_bars *b = calloc(1, sizeof *b);
    if (b == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for the bars");
    for (size_t i = 0; i < DENSITIES; i++)
        for (size_t k = 0; k < SAMPLERS; k++)
            gess__mixing_gather(count, cells, gess__mixing_densities[i].name, gess__mixing_samplers[k].name,
                                &b->of[i][k]);
    for (size_t i = 0; i < count; i++) gess__page_data(page, data_of(&cells[i]));
    describe(r, page, b);
    add_scales(r, page, b);
    if (gess__mixing_judgeable(b)) {
        for (int m = 0; m < METRICS; m++) gess__mixing_judge_first(page, b, (enum gess__mixing_metric)m);
        gess__mixing_judge_tempering(page, b);
        gess__mixing_judge_hmc(page, b);
    } else {
        gess__page_claim(page, GESS__NOT_JUDGED, "For the most part, GESS samples more effectively than the others.",
                         "Cells were left out.");
    }
    gess__mixing_judge_beyond(page, b);
    for (int m = 0; m < METRICS; m++) gess__mixing_table(page, b, (enum gess__mixing_metric)m);
    gess__mixing_convergence(page, b);
    int status =
        gess__mixing_draw(r, b, LOG_SECOND, 1, page, "figure-mixing",
                          "The paper's figure: its seven samplers, its metric. Logarithmic axis; nothing is rescaled.",
                          err);
    if (status == GESS_OK)
        status =
            gess__mixing_draw(r, b, BULK_SECOND, 1, page, "figure-mixing-bulk",
                              "The same samplers by the smallest rank-normalised bulk ESS over the parameters.", err);
    if (status == GESS_OK)
        status = gess__mixing_draw(r, b, BULK_SECOND, 0, page, "figure-mixing-beyond",
                                   "Beyond the paper: groups of 100 and of 50, gess by default, and its peers, by the "
                                   "same metric.",
                                   err);
    free(b);
    return status;
}

const gess__figure gess__figure_mixing = {
    .name = "figure-mixing",
    .title = "Comparing mixing: seven samplers, seven densities",
    .help = "effective samples per second and per evaluation of the paper's samplers, and beyond",
    .revision = 2,
    .by_trials = 1,
    .plan = plan,
    .compute = compute,
    .make = make,
};
