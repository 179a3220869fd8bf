/* Figure 5 of the paper, "Comparing Mixing": seven samplers on seven densities, effective samples for each second and
 * for each evaluation. Beyond it: a stricter metric, groups of 50, gess as it runs by default, emcee and zeus. */
#include "bench/measure.h"
#include "reproduce/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- densities and samplers ---- */

typedef struct density {
    const char *name, *label;
    size_t dim;
    uint64_t burn, draws; /* iterations in the paper */
    uint64_t cut;         /* by which NUTS has fewer */
    double cost;          /* seconds of an evaluation, roughly, with what surrounds it */
} density;

static const density densities[] = {{"funnel", "funnel", 10, 10000, 100000, 10, 4e-7},
                                    {"mixture", "mixture", 8, 10000, 100000, 10, 4e-7},
                                    {"breast-cancer", "breast cancer", 31, 10000, 100000, 10, 2e-6},
                                    {"german-credit", "german credit", 25, 10000, 100000, 10, 2.5e-6},
                                    {"stochastic-volatility", "stoch. volatility", 51, 100000, 100000, 100, 7e-7},
                                    {"ionosphere", "ionosphere", 34, 10000, 10000, 100, 2.7e-5},
                                    {"snp", "SNP", 38, 2000, 10000, 10, 1e-6}};
enum { DENSITIES = sizeof densities / sizeof *densities, SNP = DENSITIES - 1 };

enum kind { OWN, TWO_GROUP, NUTS, DEFAULT, PEER };

typedef struct sampler {
    const char *name, *label;
    const char *settings;
    uint64_t chains;
    double evals; /* an update takes, roughly */
    const char *colour;
    enum kind kind;
    int paper; /* one of the paper's seven */
} sampler;

static const sampler samplers[] =
    {{"gess", "GESS", "schedule=two-group,transform=none", 200, 4.0, "#c0392b", TWO_GROUP, 1},
     {"rdss", "RDSS", "kernel=rdss,schedule=independent,transform=none", 100, 7.0, "#e6a23c", OWN, 1},
     {"cwss", "CWSS", "kernel=cwss,schedule=independent,transform=none", 100, 7.0, "#8fbf5a", OWN, 1},
     {"mh", "MH", "kernel=mh,schedule=independent,transform=none", 100, 2.0, "#3aa6a0", OWN, 1},
     {"amh", "AMH", "kernel=amh,schedule=independent,transform=none", 100, 3.0, "#4f94cd", OWN, 1},
     {"nuts", "HMC (NUTS)", "kernel=nuts,schedule=independent", 100, 120.0, "#5b5ea6", NUTS, 1},
     {"pt", "PT", "kernel=mh,schedule=tempering,transform=none", 100, 2.5, "#9b6b9e", OWN, 1},
     {"gess-50", "GESS, groups of 50", "schedule=two-group,transform=none", 100, 4.0, "#e79a91", TWO_GROUP, 0},
     {"auto", "gess, auto", "", 100, 3.0, "#7a1f16", DEFAULT, 0},
     {"emcee", "emcee", "", 100, 3.0, "#566173", PEER, 0},
     {"zeus", "zeus", "", 100, 8.0, "#aab2bd", PEER, 0}};
enum {
    SAMPLERS = sizeof samplers / sizeof *samplers,
    GESS = 0,
    CWSS = 2,
    HMC = 5,
    TEMPERING = 6,
    GROUPS_OF_50 = 7,
    AUTO = 8
};

enum { MAX_TRIALS = 1000 };

/* Iterations that are left when they are scaled down, of burn-in and draws; NUTS has its own. A burn-in that shrinks
 * with the rest would soon be too short for anyone. */
typedef struct least {
    uint64_t burn, draws, nuts_burn, nuts_draws;
} least;

static least least_of(const gess__reproduction *r)
{
    return r->quick ? (least){200, 200, 100, 100} : (least){2000, 1000, 200, 100};
}

/* Warm-up of gess by default ends itself, at the latest after so many evaluations. */
static uint64_t most_warmup(const gess__reproduction *r)
{
    double most = 2e7 * r->scale;
    return (uint64_t)fmin(2e6, fmax(2e5, most));
}

/* ---- cells ---- */

/* Iterations of a sampler on a density. */
static void plan_lengths(const gess__reproduction *r, const density *d, const sampler *s, uint64_t *burn,
                         uint64_t *draws)
{
    least l = least_of(r);
    int nuts = s->kind == NUTS;
    *burn = gess__scaled(r, nuts ? d->burn / d->cut : d->burn, nuts ? l.nuts_burn : l.burn);
    *draws = gess__scaled(r, nuts ? d->draws / d->cut : d->draws, nuts ? l.nuts_draws : l.draws);
}

static json_t *settings_of(const gess__reproduction *r, const density *d, const sampler *s, double *cost)
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
        /* as many iterations of emcee, which takes one evaluation each; zeus gets as many evaluations */
        double most = fmin(3e6 * r->scale, 1.2e8 / (double)d->dim); /* draws are held in memory */
        uint64_t evals = (uint64_t)fmin((double)(draws * walkers), most);
        return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "model", d->name, "sampler", s->name, "peer", s->name,
                         "chains", (json_int_t)walkers, "warmup", (json_int_t)fmin((double)(burn * walkers), most),
                         "draws", (json_int_t)evals, "reuse", (json_int_t)1);
    }
    snprintf(text, sizeof text, "%s", s->settings);
    if (s->kind == DEFAULT) snprintf(text, sizeof text, "max-warmup-evals=%llu", (unsigned long long)most_warmup(r));
    if (s->kind == DEFAULT)
        *cost = 1.0 + 1.5 * (double)most_warmup(r) * d->cost + (double)(s->chains * draws) * 3.0 * d->cost;
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
                if (samplers[k].kind == PEER && !peers) continue;
                json_t *settings = settings_of(r, &densities[i], &samplers[k], &cost);
                GESS_TRY(gess__cells_add(cells, r, figure, r->seed + trial, cost, settings, err, "%s/%s/%llu",
                                         densities[i].name, samplers[k].name, (unsigned long long)(r->seed + trial)));
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

/* ---- bars ---- */

/* The paper's metric and ours, for each second and for each evaluation. */
enum metric { LOG_SECOND, LOG_EVAL, BULK_SECOND, BULK_EVAL, METRICS };

typedef struct bar {
    size_t trials, failed; /* failed: the sampler gave up */
    size_t rejected;       /* trials that Geweke's diagnostic rejects */
    double height[METRICS], error[METRICS];
    double rhat; /* worst */
    double evals, geweke;
    uint64_t stride;
} bar;

typedef struct bars {
    bar of[DENSITIES][SAMPLERS];
} bars;

static void gather(size_t count, const gess__cell *cells, const char *model, const char *name, bar *b)
{
    double values[METRICS][MAX_TRIALS];
    size_t n = 0;
    *b = (bar){0};
    for (size_t i = 0; i < count && n < MAX_TRIALS; i++) {
        const json_t *r = cells[i].result;
        if (strcmp(gess__json_text(cells[i].settings, "model"), model) != 0 ||
            strcmp(gess__json_text(cells[i].settings, "sampler"), name) != 0)
            continue;
        b->trials++;
        if (json_object_get(r, "error") != NULL) {
            b->failed++;
            continue;
        }
        double seconds = gess__json_real(r, "seconds"), evals = gess__json_real(r, "evals_sampling");
        double log_size = gess__json_real(r, "ess_log"), bulk = gess__json_real(r, "ess_bulk");
        double rhat = gess__json_real(r, "r_hat"), z = fabs(gess__json_real(r, "geweke"));
        values[LOG_SECOND][n] = log_size / seconds;
        values[LOG_EVAL][n] = log_size / evals;
        values[BULK_SECOND][n] = bulk / seconds;
        values[BULK_EVAL][n] = bulk / evals;
        b->rejected += z <= 1.96 ? 0 : 1;
        b->rhat = fmax(b->rhat, isnan(rhat) ? INFINITY : rhat);
        b->evals += evals;
        b->geweke = fmax(b->geweke, isnan(z) ? INFINITY : z);
        b->stride = gess__json_count(r, "stride");
        n++;
    }
    for (int m = 0; m < METRICS; m++) gess__mean_and_error(n, values[m], &b->height[m], &b->error[m]);
    b->evals /= (double)n;
}

/* Whether a bar is shown: by the paper's metric where Geweke's diagnostic accepts at least half of the trials, by
 * ours where the worst R-hat is at most 1.1. A trial in which the sampler gave up is not accepted. */
static int shown(const bar *b, enum metric m)
{
    size_t lost = b->failed + (m <= LOG_EVAL ? b->rejected : 0);
    if (b->trials == 0 || 2 * lost > b->trials || !(b->height[m] > 0.0)) return 0;
    return m <= LOG_EVAL || b->rhat <= 1.1;
}

/* ---- verdicts ---- */

static const char *const metric_names[METRICS] = {"the paper's metric per second", "the paper's metric per evaluation",
                                                  "bulk ESS per second", "bulk ESS per evaluation"};

/* Whether two samplers can be compared on a density: both were run, and not all trials of both gave up. */
static int compared(const bars *b, size_t i, size_t first, size_t second)
{
    const bar *x = &b->of[i][first], *y = &b->of[i][second];
    return x->trials > 0 && y->trials > 0 && x->failed + y->failed < x->trials + y->trials;
}

/* A sampler that was run and is not shown is behind everyone who is. */
static int ahead(const bars *b, size_t i, size_t first, size_t second, enum metric m)
{
    const bar *x = &b->of[i][first], *y = &b->of[i][second];
    if (!shown(x, m) || !compared(b, i, first, second)) return 0;
    return !shown(y, m) || x->height[m] > y->height[m];
}

/* Whether the paper's samplers were run on all densities. */
static int complete(const bars *b)
{
    for (size_t i = 0; i < DENSITIES; i++)
        for (size_t k = 0; k < SAMPLERS; k++)
            if (samplers[k].paper && b->of[i][k].trials == 0) return 0;
    return 1;
}

static enum gess__ruling most_of(size_t n, size_t all)
{
    return all == 0 ? GESS__NOT_JUDGED : 2 * n > all ? GESS__HOLDS : n > 0 ? GESS__IN_PART : GESS__FAILS;
}

/* Names of the densities of a mask, as text. */
static void list_densities(unsigned mask, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "none");
    for (size_t i = 0; i < DENSITIES; i++)
        if (mask >> i & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", densities[i].label);
}

static void judge_first(json_t *page, const bars *b, enum metric m)
{
    static const size_t rivals[] = {1, 2, 3, 4};
    char claim[256], four[200], all[200], lost[200];
    unsigned ahead_of_four = 0, first = 0, omitted = 0;
    int all_gave_up = 1;
    for (size_t i = 0; i < DENSITIES; i++) {
        int wins = 1, best = 1;
        all_gave_up &= b->of[i][GESS].failed == b->of[i][GESS].trials;
        for (size_t k = 0; k < sizeof rivals / sizeof *rivals; k++) wins &= ahead(b, i, GESS, rivals[k], m);
        for (size_t k = 1; k < SAMPLERS; k++)
            if (samplers[k].paper) best &= ahead(b, i, GESS, k, m);
        ahead_of_four |= (unsigned)wins << i;
        first |= (unsigned)best << i;
        omitted |= (unsigned)!shown(&b->of[i][GESS], m) << i;
    }
    list_densities(ahead_of_four, four, sizeof four);
    list_densities(first, all, sizeof all);
    list_densities(omitted, lost, sizeof lost);
    snprintf(claim, sizeof claim,
             "For the most part, GESS samples more effectively than the other algorithms: by %s%s.", metric_names[m],
             m > LOG_EVAL ? " (a stricter metric, not the paper's)" : "");
    gess__page_claim(page,
                     all_gave_up                                         ? GESS__NOT_JUDGED
                     : 2 * __builtin_popcount(first) > DENSITIES         ? GESS__HOLDS
                     : 2 * __builtin_popcount(ahead_of_four) > DENSITIES ? GESS__IN_PART
                                                                         : GESS__FAILS,
                     claim,
                     "Of all seven samplers first on %d of %d densities (%s; bound: more than half); ahead of RDSS, "
                     "CWSS, MH and AMH on %d (%s; with more than half of this alone it holds in part). GESS has no bar "
                     "on: %s.",
                     __builtin_popcount(first), DENSITIES, all, __builtin_popcount(ahead_of_four), four, lost);
}

static void judge_tempering(json_t *page, const bars *b)
{
    size_t behind[2] = {0}, before[2] = {0};
    for (size_t i = 0; i < DENSITIES; i++)
        for (int m = LOG_SECOND; m <= LOG_EVAL; m++) {
            behind[m] += (size_t)ahead(b, i, GESS, TEMPERING, (enum metric)m);
            before[m] += (size_t)ahead(b, i, TEMPERING, GESS, (enum metric)m);
        }
    size_t fewest = behind[0] < behind[1] ? behind[0] : behind[1];
    gess__page_claim(
        page, most_of(fewest, DENSITIES), "PT performs poorly, for only one of its chains counts.",
        "By the paper's metric PT is behind GESS on %zu of %d densities per second and on %zu per evaluation, "
        "ahead of it on %zu and %zu (where GESS has no bar, for instance); on the others neither has a bar (bound: "
        "behind on more than half, by both).",
        behind[0], DENSITIES, behind[1], before[0], before[1]);
}

static void judge_hmc(json_t *page, const bars *b)
{
    const bar *snp = &b->of[SNP][HMC];
    char where[200];
    unsigned mask = 0;
    for (size_t i = 0; i < DENSITIES; i++) {
        size_t better = 0;
        for (size_t k = 0; k < SAMPLERS; k++)
            if (samplers[k].paper && k != HMC) better += (size_t)ahead(b, i, k, HMC, LOG_EVAL);
        mask |= (unsigned)(i != SNP && better <= 2 && shown(&b->of[i][HMC], LOG_EVAL)) << i;
    }
    list_densities(mask, where, sizeof where);
    gess__page_claim(page, most_of((size_t)__builtin_popcount(mask), DENSITIES - 1), "HMC performs well.",
                     "Among the best three of the seven per evaluation, by the paper's metric, on %d of the %d "
                     "densities "
                     "other than SNP (%s).",
                     __builtin_popcount(mask), DENSITIES - 1, where);
    gess__page_claim(page,
                     snp->failed == snp->trials ? GESS__NOT_JUDGED
                     : !shown(snp, LOG_EVAL)    ? GESS__HOLDS
                     : !(snp->rhat <= 1.1)      ? GESS__IN_PART
                                                : GESS__FAILS,
                     "HMC fails to converge on SNP, whose density is only piecewise continuous.",
                     "Geweke's diagnostic rejects %zu of %zu trials, and %zu gave up (bound: together more than "
                     "half); the worst R-hat is %.3f.",
                     snp->rejected, snp->trials, snp->failed, snp->rhat);
}

/* Claims of this project, not of the paper. */
static void judge_beyond(json_t *page, const bars *b)
{
    enum { EMCEE = AUTO + 1, ZEUS = AUTO + 2 };
    char python[1024];
    size_t groups = 0, autos = 0, peers = 0, with_groups = 0, with_autos = 0, with_peers = 0;
    for (size_t i = 0; i < DENSITIES; i++) {
        with_groups += (size_t)compared(b, i, GESS, GROUPS_OF_50);
        groups += (size_t)ahead(b, i, GESS, GROUPS_OF_50, BULK_EVAL);
        with_autos += (size_t)compared(b, i, AUTO, GESS);
        autos += (size_t)ahead(b, i, AUTO, GESS, BULK_EVAL);
        with_peers += (size_t)(compared(b, i, AUTO, EMCEE) && compared(b, i, AUTO, ZEUS));
        peers += (size_t)(ahead(b, i, AUTO, EMCEE, BULK_EVAL) && ahead(b, i, AUTO, ZEUS, BULK_EVAL));
    }
    gess__page_claim(page, most_of(groups, with_groups),
                     "(Not of the paper.) Groups of 100 chains do better than groups of 50 with the same fits.",
                     "By bulk ESS per evaluation on %zu of %zu densities with both.", groups, with_groups);
    gess__page_claim(page, most_of(autos, with_autos),
                     "(Not of the paper.) gess as it runs by default is ahead of the paper's schedule.",
                     "By bulk ESS per evaluation of sampling on %zu of %zu densities with both.", autos, with_autos);
    if (with_peers > 0 || gess__peers_found(python))
        gess__page_claim(page, most_of(peers, with_peers),
                         "(Not of the paper.) gess as it runs by default is ahead of emcee and zeus.",
                         "By bulk ESS per evaluation of sampling on %zu of %zu densities with all three.", peers,
                         with_peers);
}

/* ---- plots and tables ---- */

/* Whole powers of ten around the bars; some where there are none. */
static void put_range(FILE *s, const bars *b, enum metric m, const size_t *which, size_t count)
{
    double low = INFINITY, high = 0.0;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < DENSITIES; i++) {
            const bar *x = &b->of[i][which[k]];
            if (!shown(x, m)) continue;
            low = fmin(low, x->height[m]);
            high = fmax(high, x->height[m] + (isnan(x->error[m]) ? 0.0 : x->error[m]));
        }
    if (high == 0.0) low = high = 1.0;
    fprintf(s, "set yrange [1e%.0f:1e%.0f]\n", floor(log10(0.7 * low)), ceil(log10(1.05 * high)));
}

static void put_bars(FILE *s, const bars *b, enum metric m, const size_t *which, size_t count, const char *title)
{
    double width = 0.8 / (double)count;
    fprintf(s, "$bars << EOD\n");
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < DENSITIES; i++) {
            const bar *x = &b->of[i][which[k]];
            double error = isnan(x->error[m]) ? 0.0 : x->error[m];
            if (shown(x, m))
                fprintf(s, "%.4f %.5g %.5g %.5g\n", (double)i - 0.4 + width * ((double)k + 0.5), x->height[m],
                        fmax(x->height[m] - error, 0.02 * x->height[m]), x->height[m] + error);
        }
        fputs("-10 1 1 1\n\n\n", s); /* a block is never empty */
    }
    fputs("EOD\n", s);
    put_range(s, b, m, which, count);
    fprintf(s, "set title '%s'\nset xtics rotate by 25 right (", title);
    for (size_t i = 0; i < DENSITIES; i++) fprintf(s, "%s'%s' %zu", i > 0 ? ", " : "", densities[i].label, i);
    fprintf(s, ")\nset boxwidth %.4f\nplot ", 0.92 * width);
    for (size_t k = 0; k < count; k++)
        fprintf(s,
                "%s$bars index %zu using 1:2 with boxes lc rgb '%s' title '%s', $bars index %zu using "
                "1:3:(0):($4-$3) with vectors nohead lw 1.5 lc rgb '#1b2430'",
                k > 0 ? ", " : "", k, samplers[which[k]].colour, samplers[which[k]].label, k);
    fputc('\n', s);
}

static int draw(const gess__reproduction *r, const bars *b, enum metric first, int paper, json_t *page,
                const char *file, const char *caption, gess_error *err)
{
    gess__plot plot;
    size_t which[SAMPLERS], count = 0;
    for (size_t k = 0; k < SAMPLERS; k++) {
        size_t there = 0;
        for (size_t i = 0; i < DENSITIES; i++) there += b->of[i][k].trials;
        if (there > 0 && (paper ? samplers[k].paper : (k == GESS || !samplers[k].paper))) which[count++] = k;
    }
    if (count == 0) return GESS_OK;
    GESS_TRY(gess__plot_begin(&plot, 1200, 520, err));
    fprintf(plot.script,
            "set multiplot layout 1,2\nset style fill solid 0.95 noborder\nset logscale y\nset format y '10^{%%L}'\n"
            "set xrange [-0.6:%g]\nset key outside below horizontal samplen 1 width 1\nset ylabel 'effective "
            "samples'\n",
            DENSITIES - 0.4);
    put_bars(plot.script, b, first, which, count, "per second");
    put_bars(plot.script, b, first + 1, which, count, "per density evaluation");
    fputs("unset multiplot\n", plot.script);
    return gess__plot_end(&plot, r, page, file, caption, err);
}

static void put_number(json_t *row, const bar *b, enum metric m, int first)
{
    if (b->trials == 0)
        gess__page_cell(row, "omitted", "—");
    else if (b->failed == b->trials)
        gess__page_cell(row, "omitted", "gave up");
    else if (!shown(b, m))
        gess__page_cell(row, "omitted", "%.2g ✗", b->height[m]);
    else if (isnan(b->error[m]))
        gess__page_cell(row, first ? "first" : "above", "%.3g", b->height[m]);
    else
        gess__page_cell(row, first ? "first" : "above", "%.3g ± %.1g", b->height[m], b->error[m]);
}

static void add_table(json_t *page, const bars *b, enum metric m)
{
    char title[160], head[256] = "sampler";
    size_t used = strlen(head);
    for (size_t i = 0; i < DENSITIES; i++)
        used += (size_t)snprintf(head + used, sizeof head - used, "|%s", densities[i].label);
    snprintf(title, sizeof title, "By %s", metric_names[m]);
    json_t *rows = gess__page_table(page, title, head);
    for (size_t k = 0; k < SAMPLERS; k++) {
        json_t *row = json_array();
        gess__page_cell(row, NULL, "%s", samplers[k].label);
        for (size_t i = 0; i < DENSITIES; i++) {
            int first = samplers[k].paper;
            for (size_t l = 0; l < SAMPLERS; l++)
                if (samplers[l].paper && l != k) first &= ahead(b, i, k, l, m);
            put_number(row, &b->of[i][k], m, first);
        }
        json_array_append_new(rows, row);
    }
}

static void add_convergence(json_t *page, const bars *b)
{
    char head[256] = "sampler";
    size_t used = strlen(head);
    for (size_t i = 0; i < DENSITIES; i++)
        used += (size_t)snprintf(head + used, sizeof head - used, "|%s", densities[i].label);
    json_t *rows = gess__page_table(page, "Convergence: trials that Geweke rejects, worst R-hat", head);
    for (size_t k = 0; k < SAMPLERS; k++) {
        json_t *row = json_array();
        gess__page_cell(row, NULL, "%s", samplers[k].label);
        for (size_t i = 0; i < DENSITIES; i++) {
            const bar *x = &b->of[i][k];
            if (x->trials == 0)
                gess__page_cell(row, "omitted", "—");
            else if (x->failed == x->trials)
                gess__page_cell(row, "omitted", "gave up");
            else
                gess__page_cell(row, shown(x, LOG_EVAL) && shown(x, BULK_EVAL) ? "above" : "omitted",
                                x->failed > 0 ? "%zu of %zu, %.3f, %zu gave up" : "%zu of %zu, %.3f", x->rejected,
                                x->trials, x->rhat, x->failed);
        }
        json_array_append_new(rows, row);
    }
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

static void describe(const gess__reproduction *r, json_t *page, const bars *b)
{
    least l = least_of(r);
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
                    "their default moves on the same compiled densities, 100 walkers or 2 a dimension, as many "
                    "evaluations as emcee "
                    "takes for these iterations, at most %.0f.",
                    (unsigned long long)most_warmup(r), 3e6 * r->scale);
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

/* What became of the iterations: at least MIN_ITERATIONS, and so on, of the samplers that were run. Warm-up of gess
 * by default ends itself, and peers have a budget of their own. */
static void add_scales(const gess__reproduction *r, json_t *page, const bars *b)
{
    for (size_t i = 0; i < DENSITIES; i++)
        for (size_t k = 0; k < SAMPLERS; k++) {
            const density *d = &densities[i];
            uint64_t burn, draws, cut = samplers[k].kind == NUTS ? d->cut : 1;
            if (b->of[i][k].trials == 0 || samplers[k].kind == PEER) continue;
            plan_lengths(r, d, &samplers[k], &burn, &draws);
            gess__page_scale(page, (double)(draws * cut) / (double)d->draws);
            if (samplers[k].kind != DEFAULT) gess__page_scale(page, (double)(burn * cut) / (double)d->burn);
        }
}

static int make(const gess__reproduction *r, size_t count, const gess__cell *cells, json_t *page, gess_error *err)
{
    bars *b = calloc(1, sizeof *b);
    if (b == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for the bars");
    for (size_t i = 0; i < DENSITIES; i++)
        for (size_t k = 0; k < SAMPLERS; k++) gather(count, cells, densities[i].name, samplers[k].name, &b->of[i][k]);
    for (size_t i = 0; i < count; i++) gess__page_data(page, data_of(&cells[i]));
    describe(r, page, b);
    add_scales(r, page, b);
    if (complete(b)) {
        for (int m = 0; m < METRICS; m++) judge_first(page, b, (enum metric)m);
        judge_tempering(page, b);
        judge_hmc(page, b);
    } else {
        gess__page_claim(page, GESS__NOT_JUDGED, "For the most part, GESS samples more effectively than the others.",
                         "Cells were left out.");
    }
    judge_beyond(page, b);
    for (int m = 0; m < METRICS; m++) add_table(page, b, (enum metric)m);
    add_convergence(page, b);
    int status =
        draw(r, b, LOG_SECOND, 1, page, "figure-mixing",
             "The paper's figure: its seven samplers, its metric. Logarithmic axis; nothing is rescaled.", err);
    if (status == GESS_OK)
        status = draw(r, b, BULK_SECOND, 1, page, "figure-mixing-bulk",
                      "The same samplers by the smallest rank-normalised bulk ESS over the parameters.", err);
    if (status == GESS_OK)
        status =
            draw(r, b, BULK_SECOND, 0, page, "figure-mixing-beyond",
                 "Beyond the paper: groups of 100 and of 50, gess by default, and its peers, by the same metric.", err);
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
