#include "report/verdict.h"

#include "base/mem.h"
#include "run/directory.h"
#include "run/run.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- thresholds; docs/statistics.md gives the reasons ---- */

#define MIN_DRAWS 50     /* of each chain */
#define RHAT_GOOD 1.01      /* above it: a warning */
#define RHAT_BAD 1.05       /* above it: a failure */
#define ESS_NEEDED 400.0    /* bulk and tail */
#define GAP_BAD 3.0         /* between chains' medians, in a chain's spread */
#define DRIFT_Z 5.0         /* of the ensemble's shift */
#define DRIFT_SHIFT 0.1     /* in normal scores: a failure */
#define CHAIN_SHIFT_Z 8.0   /* of one chain's shift among those of the others */
#define CHAIN_SHIFT 1.0     /* in normal scores: a warning; twice that: a failure */
#define MIN_CHAINS 8     /* that differences between chains are judged by */
#define GEWEKE_Z 6.0        /* where there are fewer chains */
#define GEWEKE_DRAWS 200    /* of each chain */
#define FAILURES_BAD 1e-3   /* share of updates */
#define NANS_MANY 0.01      /* share of evaluations */
#define EVALS_HIGH 8.0      /* evaluations of an update */
#define NU_LOW 0.55         /* the floor is 0.5 */
#define WINDOW_Z 6.0        /* of the mean, sampling against window */
#define WINDOW_SHIFT 0.25   /* in posterior sds: a failure */
#define WINDOW_RATIO 1.5    /* of sds: a warning */
#define LOG_T_BAD 0.1       /* nats a dimension */
#define INTERACTION_BAD 1.5 /* error of the ensemble's mean over that of its chains */

/* ---- findings ---- */

typedef struct judge {
    gess__verdict *verdict;
    const gess__summary *s;
    json_t *history, *config;
    int status;
    gess_error *err;
} judge;

static void say(judge *j, int level, const char *code, const char *advice, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static void say(judge *j, int level, const char *code, const char *advice, const char *format, ...)
{
    enum { MOST = 64 };
    gess__verdict *v = j->verdict;
    char text[1000];
    va_list args;
    if (j->status != GESS_OK || v->count == MOST) return;
    if (v->findings == NULL) j->status = gess__alloc_bytes(&v->findings, MOST, sizeof *v->findings, "findings", j->err);
    if (j->status != GESS_OK) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    gess__finding *f = &v->findings[v->count++];
    f->level = level;
    f->code = code;
    j->status = gess__copy_text(&f->text, text, j->err);
    if (j->status == GESS_OK) j->status = gess__copy_text(&f->advice, advice, j->err);
}

/* A number of a JSON object, NaN where there is none. */
static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *option_of(const judge *j, const char *name)
{
    const char *text = json_string_value(json_object_get(json_object_get(j->config, "options"), name));
    return text != NULL ? text : "";
}

static int is_two_group(const judge *j)
{
    return strcmp(option_of(j, "schedule"), "two-group") == 0;
}

/* A fixed parameter, or a derived quantity that never changes. */
static int is_constant(const gess__figures *f)
{
    return f->sd == 0.0;
}

/* Standard errors from few chains are themselves uncertain: what a z of 5 or 6 would be for many. */
static double widened(double z, size_t chains)
{
    return z * (1.0 + 4.0 / ((double)chains - 1.0));
}

/* ---- too few draws, R-hat, effective sizes ---- */

static void judge_draws(judge *j)
{
    const gess__summary *s = j->s;
    if (s->draws < MIN_DRAWS)
        say(j, GESS__FAILURE, "draws", "Draw more: `gess resume DIR --draws 1000`, or leave --draws to gess.",
            "There are %llu draws of each chain; with fewer than %d nothing can be said about whether chains mix.",
            (unsigned long long)s->draws, MIN_DRAWS);
    size_t bad = 0, first = 0;
    for (size_t i = 0; i < s->count; i++) {
        const gess__figures *f = &s->figures[i];
        if (is_constant(f) || (isfinite(f->mean) && isfinite(f->sd))) continue;
        if (bad++ == 0) first = i;
    }
    if (bad > 0)
        say(j, GESS__FAILURE, "not-finite", "Look at how it is derived: a draw of it is infinite or not a number.",
            "%s has draws that are not finite (%zu of %zu quantities have); it has no figures.", s->names[first], bad,
            s->count);
}

static void judge_rhat(judge *j)
{
    const gess__summary *s = j->s;
    size_t worst = s->count, bad = 0;
    for (size_t i = 0; i < s->count; i++) {
        double rhat = s->figures[i].r_hat;
        if (!(rhat > RHAT_GOOD)) continue;
        bad++;
        if (worst == s->count || rhat > s->figures[worst].r_hat) worst = i;
    }
    if (bad == 0) return;
    double rhat = s->figures[worst].r_hat;
    int failure = rhat > RHAT_BAD;
    say(j, failure ? GESS__FAILURE : GESS__WARNING, "r-hat",
        failure ? "Do not use these draws yet. Run for longer (more --draws or --max-evals); where that does not help, "
                  "look at the traces of this parameter: chains in different places, or a start that is not forgotten."
                : "More draws bring it down: with many chains it falls with the draws of each chain.",
        "R-hat of %s is %.4f (%zu of %zu quantities are above %.2f): chains, or their halves, differ.", s->names[worst],
        rhat, bad, s->count, RHAT_GOOD);
}

static void judge_ess(judge *j)
{
    const gess__summary *s = j->s;
    size_t worst = s->count;
    double least = INFINITY;
    for (size_t i = 0; i < s->count; i++) {
        const gess__figures *f = &s->figures[i];
        double ess = fmin(f->ess_bulk, f->ess_tail);
        if (is_two_group(j)) ess = fmin(ess, f->sd * f->sd / (f->mcse_series * f->mcse_series));
        if (is_constant(f) || !(ess < least)) continue;
        least = ess;
        worst = i;
    }
    if (worst == s->count || least >= ESS_NEEDED) return;
    say(j, GESS__FAILURE, "ess", "Draw more; the error of means falls with the square root of the effective size.",
        "The effective sample size of %s is %.0f; below %.0f neither the figures nor R-hat can be relied on.",
        s->names[worst], least, ESS_NEEDED);
}

/* ---- chains against each other ---- */

static void judge_stuck(judge *j)
{
    const gess__summary *s = j->s;
    size_t worst = s->count;
    for (size_t i = 0; i < s->count; i++) {
        const gess__column_chains *c = &s->figures[i].chains;
        if (is_constant(&s->figures[i]) || c->constant == 0 || c->constant == s->chains) continue;
        if (worst == s->count || c->constant > s->figures[worst].chains.constant) worst = i;
    }
    if (worst < s->count) {
        const gess__column_chains *c = &s->figures[worst].chains;
        say(j, GESS__FAILURE, "stuck",
            "Look at where it is (`gess export`): a tail that T does not reach, a density that is not the same twice, "
            "or a region cut off from the rest. The kernel `gess` with a t in place of `ess`, or a longer warm-up, "
            "help.",
            "%zu of %zu chains never moved in %s (chain %zu is the first).", c->constant, s->chains, s->names[worst],
            c->first_constant + 1);
        return;
    }
    for (size_t i = 0; i < s->count; i++) {
        const gess__column_chains *c = &s->figures[i].chains;
        if (is_constant(&s->figures[i]) || c->narrow == 0 || s->draws < 20 || !(s->figures[i].r_hat > RHAT_GOOD))
            continue;
        if (worst == s->count || c->least_spread < s->figures[worst].chains.least_spread) worst = i;
    }
    if (worst == s->count) return;
    const gess__column_chains *c = &s->figures[worst].chains;
    say(j, s->figures[worst].r_hat > RHAT_BAD ? GESS__FAILURE : GESS__WARNING, "stuck",
        "Look at the traces of these chains: they are in a place that they can hardly leave. More warm-up, or another "
        "parametrisation, helps.",
        "%zu of %zu chains hardly moved in %s: chain %zu is the first, the narrowest covers %.3g of what is usual.",
        c->narrow, s->chains, s->names[worst], c->first_narrow + 1, c->least_spread);
}

static void judge_modes(judge *j)
{
    const gess__summary *s = j->s;
    size_t worst = s->count;
    for (size_t i = 0; i < s->count; i++) {
        const gess__column_chains *c = &s->figures[i].chains;
        if (is_constant(&s->figures[i]) || !(c->gap > GAP_BAD) || !(s->figures[i].r_hat > RHAT_GOOD)) continue;
        if (worst == s->count || c->gap > s->figures[worst].chains.gap) worst = i;
    }
    if (worst == s->count) return;
    const gess__column_chains *c = &s->figures[worst].chains;
    size_t fewer = c->below < c->above ? c->below : c->above;
    say(j, GESS__FAILURE, "modes",
        "Chains do not pass between these places, so their shares say nothing about how probable each is. Give starts "
        "in proportion where you know it (--init), join the modes by tempering or another parametrisation, or study "
        "them apart.",
        "Chains are in different places of %s: %zu around %.4g and %zu around %.4g (chain %zu is %s), %.1f times a "
        "chain's own spread apart.",
        s->names[worst], c->below, c->place_low, c->above, c->place_high, c->alone + 1,
        fewer == 1 ? "alone" : "one of the fewer", c->gap);
}

/* The whole ensemble's shift from its first half to its second, in standard errors. */
static double drift_of(const judge *j, const gess__figures *f)
{
    const gess__summary *s = j->s;
    if (s->chains < MIN_CHAINS) return s->draws >= GEWEKE_DRAWS ? f->geweke * DRIFT_Z / GEWEKE_Z : NAN;
    double error = f->chains.shift_error;
    if (is_two_group(j)) error = fmax(error, 2.0 * f->mcse_series / f->sd); /* chains that interact drift together */
    return f->chains.shift / error * DRIFT_Z / widened(DRIFT_Z, s->chains);
}

static void judge_drift(judge *j)
{
    const gess__summary *s = j->s;
    size_t worst = s->count;
    double most = 0.0;
    for (size_t i = 0; i < s->count; i++) {
        const gess__figures *f = &s->figures[i];
        double z = fabs(drift_of(j, f));
        if (is_constant(f) || !(z > DRIFT_Z) || !(fabs(f->chains.shift) > 0.5 * DRIFT_SHIFT) || !(z > most)) continue;
        most = z;
        worst = i;
    }
    if (worst < s->count) {
        const gess__column_chains *c = &s->figures[worst].chains;
        say(j, fabs(c->shift) > DRIFT_SHIFT ? GESS__FAILURE : GESS__WARNING, "drift",
            "The chains had not arrived when draws began: use a longer warm-up (--warmup, --max-warmup-evals) and draw "
            "anew.",
            "All chains together drift in %s: from the first half of the draws to the second by %.2g standard "
            "deviations, %.1f times what chance gives.",
            s->names[worst], c->shift, most);
    }
    if (s->chains < MIN_CHAINS) return;
    worst = s->count;
    for (size_t i = 0; i < s->count; i++) {
        const gess__column_chains *c = &s->figures[i].chains;
        if (is_constant(&s->figures[i]) || !(c->chain_score > CHAIN_SHIFT_Z) || !(fabs(c->chain_shift) > CHAIN_SHIFT))
            continue;
        if (worst == s->count || c->chain_score > s->figures[worst].chains.chain_score) worst = i;
    }
    if (worst == s->count) return;
    const gess__column_chains *c = &s->figures[worst].chains;
    say(j, fabs(c->chain_shift) > 2.0 * CHAIN_SHIFT ? GESS__FAILURE : GESS__WARNING, "drift",
        "One chain moves where the others stay: it came late, or it leaves. Look at its trace; a longer warm-up lets "
        "it arrive.",
        "Chain %zu drifts in %s: by %.2g standard deviations from its first half to its second, %.0f times what is "
        "usual among chains.",
        c->shifted + 1, s->names[worst], c->chain_shift, c->chain_score);
}

/* ---- what the kernel met ---- */

/* Whether the kernel moves by an approximation. */
static int approximates(const judge *j)
{
    return !json_is_false(json_object_get(j->history, "approximation"));
}

static void judge_kernel(judge *j)
{
    const json_t *counts = json_object_get(j->history, "updates_by_evals");
    double updates = 0.0, failures = number_of(j->history, "failures"), nans = number_of(j->history, "nans");
    double evals = number_of(j->history, "evals_sampling"), all = evals + number_of(j->history, "evals_warmup");
    for (size_t i = 0; i < json_array_size(counts); i++) updates += json_number_value(json_array_get(counts, i));
    double run_updates = number_of(j->s->stats, "updates");
    double share = failures / (run_updates > 0.0 ? run_updates : updates);
    if (failures > 0.0)
        say(j, share > FAILURES_BAD ? GESS__FAILURE : GESS__WARNING, "bracket",
            "A bracket that shrinks to nothing means that the density is not the same twice at the same point, or "
            "that it jumps there. Check the model for randomness and for rounding.",
            "%.0f updates (%.2g of them) found no new point in their bracket and kept their state.", failures, share);
    if (nans > 0.0)
        say(j, nans / all > NANS_MANY ? GESS__WARNING : GESS__NOTE, "nan",
            "NaN counts as outside the support. The first such points are in nans.csv: return -infinity there if that "
            "is meant, mend the model if not, or give its parameters bounds.",
            "%.0f of %.0f evaluations (%.2g %%) gave NaN.", nans, all, 100.0 * nans / all);
    double divergent = number_of(j->history, "divergent");
    if (divergent > 0.0)
        say(j, GESS__WARNING, "divergent",
            "Where the density bends more sharply than the step allows, trajectories leave it, and regions beyond may "
            "be "
            "missing from the draws. Another parametrisation helps, or a kernel without gradients.",
            "%.0f trajectories (%.2g of them) diverged.", divergent, divergent / updates);
    if (updates > 0.0 && evals / updates > EVALS_HIGH && approximates(j))
        say(j, GESS__WARNING, "evaluations",
            "The t that chains move by is a poor picture of the density. Draws are right but dear: more warm-up, more "
            "chains, or another parametrisation (curved or funnel-shaped posteriors) make it cheaper.",
            "An update takes %.1f evaluations; about 1 to 3 are usual.", evals / updates);
}

static void judge_approximation(judge *j)
{
    const json_t *rows = json_object_get(j->history, "warmup");
    const json_t *last = json_array_get(rows, json_array_size(rows) > 0 ? json_array_size(rows) - 1 : 0);
    if (last == NULL || !approximates(j)) return;
    double nu = number_of(last, "nu");
    if (nu < NU_LOW)
        say(j, GESS__WARNING, "nu",
            "The density has tails that no t with a mean has, or some chains coincide. Means and standard deviations "
            "may not exist: look at quantiles, and at the starts.",
            "The approximation's degrees of freedom are at their floor (%.3g).", nu);
    else if (isnan(nu))
        say(j, GESS__NOTE, "nu", "Nothing needs to be done: the tails seen in warm-up are those of a Gaussian.",
            "The approximation's degrees of freedom are at their cap: it is a Gaussian.");
}

/* ---- sampling against warm-up ---- */

static const char early[] =
    "Warm-up ended too early: what T was fitted to is not what sampling found. Draws are exact all the same, but the "
    "first ones remember the starts: run again with more --max-warmup-evals or --warmup.";

static double element(const json_t *object, const char *key, size_t i)
{
    const json_t *value = json_array_get(json_object_get(object, key), i);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void judge_window(judge *j)
{
    const gess__summary *s = j->s;
    const json_t *window = json_object_get(j->history, "window");
    size_t worst = s->count, other = s->count;
    double most = 0.0, widest = 1.0;
    if (s->chains < MIN_CHAINS) return;
    for (size_t i = 0; i < s->count; i++) {
        const gess__figures *f = &s->figures[i];
        double error = hypot(f->mcse_mean, element(window, "error", s->column[i]));
        double away = fabs(f->mean - element(window, "mean", s->column[i]));
        double z = away / error * WINDOW_Z / widened(WINDOW_Z, s->chains);
        if (is_constant(f)) continue;
        if (z > WINDOW_Z && away > 0.5 * WINDOW_SHIFT * f->sd && z > most) {
            most = z;
            worst = i;
        }
        double ratio = f->sd / element(window, "sd", s->column[i]);
        ratio = ratio < 1.0 ? 1.0 / ratio : ratio;
        if (f->mcse_sd < 0.05 * f->sd && ratio > WINDOW_RATIO && ratio > widest) {
            widest = ratio;
            other = i;
        }
    }
    if (worst < s->count) {
        double away = (s->figures[worst].mean - element(window, "mean", s->column[worst])) / s->figures[worst].sd;
        say(j, fabs(away) > WINDOW_SHIFT ? GESS__FAILURE : GESS__WARNING, "warm-up", early,
            "The mean of %s is %.2g standard deviations from that of the final warm-up window, %.1f standard errors.",
            s->names[worst], away, most);
    }
    if (other < s->count)
        say(j, GESS__WARNING, "warm-up", early,
            "The standard deviation of %s is %.4g, and was %.4g in the final warm-up window.", s->names[other],
            s->figures[other].sd, element(window, "sd", s->column[other]));
}

static void judge_log_t(judge *j)
{
    const json_t *delta = json_object_get(j->history, "delta"), *rows = json_object_get(j->history, "warmup");
    if (json_array_size(rows) == 0 || j->s->chains < MIN_CHAINS) return;
    double gap = number_of(json_array_get(rows, json_array_size(rows) - 1), "gap");
    double away = number_of(delta, "log_t_window") - number_of(delta, "log_t_sampling");
    double error = hypot(number_of(delta, "log_t_window_error"), number_of(delta, "log_t_sampling_error"));
    double allowed = LOG_T_BAD * number_of(delta, "dim") + widened(DRIFT_Z, j->s->chains) * error;
    if (away > 0.0) allowed += 3.0 * gap; /* a fit flatters what it was fitted to */
    if (!(fabs(away) > allowed)) return;
    char distances[80] = "";
    double there = number_of(delta, "sampling"), here = number_of(delta, "window");
    if (isfinite(there) && isfinite(here))
        snprintf(distances, sizeof distances, " (mean distance %.4g, and %.4g in the window)", there, here);
    say(j, GESS__WARNING, "warm-up", early,
        "Under the frozen approximation draws are %s than those it was fitted to: by %.2g nats%s.",
        away > 0.0 ? "less probable" : "more probable", fabs(away), distances);
}

static void judge_warmup_end(judge *j)
{
    const json_t *settled = json_object_get(j->s->stats, "warmup_settled");
    if (strcmp(option_of(j, "warmup"), "auto") != 0 || !json_is_false(settled)) return;
    say(j, GESS__WARNING, "warm-up", "Give it more: --max-warmup-evals.",
        "Warm-up was ended by its limit of evaluations, while the approximation still improved.");
}

/* ---- what was asked for, and what cannot be seen ---- */

static void judge_targets(judge *j)
{
    if (strcmp(option_of(j, "draws"), "auto") != 0 || !json_is_false(json_object_get(j->s->stats, "targets_met")))
        return;
    say(j, GESS__WARNING, "targets", "Give it more evaluations: --max-evals.",
        "The run ended without its targets (bulk ESS %s, R-hat %s): smallest ESS %.0f, worst R-hat %.4f at the last "
        "check.",
        option_of(j, "target-ess"), option_of(j, "target-rhat"), number_of(j->s->stats, "stop_ess"),
        number_of(j->s->stats, "stop_rhat"));
}

static void judge_interaction(judge *j)
{
    const gess__summary *s = j->s;
    size_t worst = s->count;
    double most = INTERACTION_BAD;
    if (!is_two_group(j)) return;
    for (size_t i = 0; i < s->count; i++) {
        double ratio = s->figures[i].mcse_series / s->figures[i].mcse_mean;
        if (is_constant(&s->figures[i]) || !(ratio > most)) continue;
        most = ratio;
        worst = i;
    }
    if (worst < s->count)
        say(j, GESS__WARNING, "interaction",
            "Quote mcse_series (`gess summary --all`) in place of mcse_mean: it is that of the ensemble's mean series.",
            "Chains that are fitted to each other move together: the error of the mean of %s is %.2g, %.1f times what "
            "the chains alone suggest.",
            s->names[worst], s->figures[worst].mcse_series, most);
    if (s->ensembles == 1)
        say(j, GESS__NOTE, "r-hat-blind", "`--ensembles 4` runs independent ones, and R-hat then compares them.",
            "The chains of a two-group ensemble are fitted to each other, so R-hat between them flatters. Errors of "
            "means are judged by the ensemble's mean series.");
}

static void note_blindness(judge *j)
{
    const gess__summary *s = j->s;
    if (s->ensembles > 1 || is_two_group(j) || j->config == NULL || s->chains < 2 || !approximates(j)) return;
    if (strcmp(option_of(j, "warmup"), "0") == 0 || strcmp(option_of(j, "schedule"), "fixed") == 0) return;
    say(j, GESS__NOTE, "r-hat-blind", "`--ensembles 4` repeats the warm-up, and R-hat then compares the ensembles.",
        "All chains shared one warm-up. R-hat sees whether they agree, not what none of them has found, such as a "
        "mode that no start led to.");
}

/* ---- the whole ---- */

static json_t *load(const char *directory, const char *file)
{
    char path[4096];
    if (gess__directory_path(directory, file, path, sizeof path, NULL) != GESS_OK) return NULL;
    return json_load_file(path, 0, NULL);
}

static int by_level(const void *a, const void *b)
{
    const gess__finding *x = a, *y = b;
    return y->level - x->level;
}

/* Stable: findings of a level stay in the order of the rules. */
static void sort_findings(gess__verdict *v)
{
    for (size_t i = 1; i < v->count; i++)
        for (size_t k = i; k > 0 && by_level(&v->findings[k - 1], &v->findings[k]) > 0; k--) {
            gess__finding swap = v->findings[k];
            v->findings[k] = v->findings[k - 1];
            v->findings[k - 1] = swap;
        }
}

int gess__judge(gess__verdict *v, const gess__summary *s, const char *directory, gess_error *err)
{
    *v = (gess__verdict){0};
    judge j = {.verdict = v, .s = s, .err = err};
    j.history = load(directory, "history.json");
    j.config = load(directory, "config.json");
    static void (*const of_draws[])(judge *) = {judge_draws, judge_rhat,  judge_ess,     judge_modes,
                                                judge_stuck, judge_drift, judge_targets, judge_interaction};
    static void (*const of_history[])(judge *) = {judge_window, judge_log_t, judge_warmup_end, judge_kernel,
                                                  judge_approximation};
    for (size_t i = 0; i < sizeof of_draws / sizeof *of_draws; i++) of_draws[i](&j);
    for (size_t i = 0; j.history != NULL && i < sizeof of_history / sizeof *of_history; i++) of_history[i](&j);
    note_blindness(&j);
    if (j.history == NULL || j.config == NULL)
        say(&j, GESS__NOTE, "files", "They are written when a run ends or is stopped.",
            "%s is missing or cannot be read: what it is needed for was passed over.",
            j.history == NULL ? "history.json" : "config.json");
    json_decref(j.history);
    json_decref(j.config);
    if (j.status != GESS_OK) return j.status;
    sort_findings(v);
    v->pass = v->count == 0 || v->findings[0].level < GESS__FAILURE;
    return GESS_OK;
}

void gess__verdict_free(gess__verdict *v)
{
    for (size_t i = 0; i < v->count; i++) {
        free(v->findings[i].text);
        free(v->findings[i].advice);
    }
    free(v->findings);
    *v = (gess__verdict){0};
}

/* ---- output ---- */

static const char *const level_names[] = {"note", "warning", "failure"};

/* The smallest bulk ESS and the worst R-hat, of what has one. */
static void extremes(const gess__summary *s, double *ess, double *rhat)
{
    *ess = INFINITY;
    *rhat = -INFINITY;
    for (size_t i = 0; i < s->count; i++) {
        *ess = fmin(*ess, s->figures[i].ess_bulk);
        *rhat = fmax(*rhat, s->figures[i].r_hat);
    }
}

/* Text in lines of at most 100 columns, indented. */
static void print_wrapped(const char *text, FILE *out)
{
    enum { WIDTH = 100 };
    size_t used = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (used > 0 && used + 1 + length > WIDTH) {
            fputs("\n    ", out);
            used = 0;
        } else {
            fputs(used > 0 ? " " : "    ", out);
            used += used > 0;
        }
        for (size_t i = 0; i < length; i++) fputc((unsigned char)text[i] < ' ' ? '?' : text[i], out);
        used += length;
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

void gess__verdict_print(const gess__verdict *v, const gess__summary *s, FILE *out)
{
    double ess, rhat;
    extremes(s, &ess, &rhat);
    fprintf(out, "%s: %zu chains of %llu draws, smallest bulk ESS %.0f, worst R-hat %.4f\n", v->pass ? "PASS" : "FAIL",
            s->chains, (unsigned long long)s->draws, ess, rhat);
    for (size_t i = 0; i < v->count; i++) {
        fprintf(out, "\n%s (%s)\n", level_names[v->findings[i].level], v->findings[i].code);
        print_wrapped(v->findings[i].text, out);
        print_wrapped(v->findings[i].advice, out);
    }
}

json_t *gess__verdict_json(const gess__verdict *v, const gess__summary *s)
{
    double ess, rhat;
    json_t *findings = json_array();
    extremes(s, &ess, &rhat);
    for (size_t i = 0; i < v->count; i++)
        json_array_append_new(findings, json_pack("{s:s, s:s, s:s, s:s}", "level", level_names[v->findings[i].level],
                                                  "code", v->findings[i].code, "text", v->findings[i].text, "advice",
                                                  v->findings[i].advice));
    return json_pack("{s:b, s:I, s:I, s:o, s:o, s:o}", "pass", v->pass, "chains", (json_int_t)s->chains, "draws",
                     (json_int_t)s->draws, "least_ess", isfinite(ess) ? json_real(ess) : json_null(), "worst_rhat",
                     isfinite(rhat) ? json_real(rhat) : json_null(), "findings", findings);
}
