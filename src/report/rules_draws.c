/* The rules of the verdict that need only the draws and their figures: R-hat, ESS, modes, stuck chains, drift,
 * targets. */
#include "base/shell.h"
#include "base/vmath.h"
#include "report/rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Draws that R-hat and ESS are allowed beyond what they ask for now, since they are estimates. */
#define DRAWS_MARGIN 1.2

static int min_draws_of(const gess__judge *j)
{
    return gess__is_nested(j) ? GESS__MIN_NESTED_DRAWS : GESS__MIN_DRAWS;
}

/* The effective sample size that a column is judged by. */
static double ess_of(const gess__judge *j, const gess__figures *f)
{
    double ess = gess__min(f->ess_bulk, f->ess_tail);
    return gess__is_two_group(j) ? gess__min(ess, f->sd * f->sd / (f->mcse_series * f->mcse_series)) : ess;
}

/* By how many times more draws per chain the figures of a column meet the rules: effective sizes grow with the draws,
 * and R-hat - 1 falls as fast. */
static double times_more(const gess__judge *j, const gess__figures *f)
{
    const double warning = GESS__RHAT_WARNING - 1.0, failure = GESS__RHAT_FAILURE - 1.0;
    double ess = ess_of(j, f), times = ess > 0.0 ? GESS__MIN_ESS / ess : 1.0;
    int nested = gess__is_nested(j);
    times = gess__max(times, ((nested ? f->r_hat_nested : f->r_hat) - 1.0) / warning);
    return nested ? gess__max(times, (f->r_hat - 1.0) / failure) : times;
}

/* Draws per chain that the rules ask for, in two digits. */
static double draws_needed(const gess__judge *j)
{
    const gess__summary *s = j->s;
    double times = 1.0, unit = 1.0;
    for (size_t i = 0; i < s->count; i++) {
        double more = gess__is_constant(&s->figures[i]) ? 1.0 : times_more(j, &s->figures[i]);
        if (more > times && more < INFINITY) times = more;
    }
    double draws = (double)s->draws * (times > 1.0 ? DRAWS_MARGIN * times : 1.0);
    draws = gess__max(draws, min_draws_of(j));
    while (draws > 100.0 * unit) unit *= 10.0;
    return ceil(draws / unit) * unit;
}

/* How the run gets the draws that the rules ask for. */
static void advise_draws(const gess__judge *j, char *text, size_t size)
{
    char directory[4096];
    snprintf(text, size, "Draw more: `gess resume %s --draws %.0f`",
             gess__shell_quote(j->directory, directory, sizeof directory), draws_needed(j));
}

/* Whether a row is derived from the parameters of a run. The sampler has nothing to do with its being finite. */
static bool is_derived(const gess__judge *j, size_t row)
{
    const json_t *dim = json_object_get(j->config, "dim");
    return json_is_integer(dim) && (json_int_t)j->s->column[row] > json_integer_value(dim);
}

/* Infinite draws, and such as are not a number: a failure in parameters and lp__, a warning in what is derived. */
static void judge_not_finite(gess__judge *j)
{
    const gess__summary *s = j->s;
    size_t bad = 0, first = 0;
    bool failure = false;
    for (size_t i = 0; i < s->count; i++) {
        const gess__figures *f = &s->figures[i];
        if (gess__is_constant(f) || (isfinite(f->mean) && isfinite(f->sd))) continue;
        bool worse = !failure && !is_derived(j, i);
        if (bad++ == 0 || worse) first = i;
        failure |= worse;
    }
    if (bad == 0) return;
    gess__add_finding(j, failure ? GESS__FAILURE : GESS__WARNING, "not-finite",
                      "Check how it is derived: a draw of it is infinite or not a number.",
                      "%s has draws that are not finite (%zu of %zu quantities have); it has no figures%s.",
                      s->names[first], bad, s->count, failure ? "" : ", and is not judged");
}

void gess__rule_draws(gess__judge *j)
{
    const gess__summary *s = j->s;
    int min_draws = min_draws_of(j);
    char resume[4300], advice[4400];
    advise_draws(j, resume, sizeof resume);
    snprintf(advice, sizeof advice, "%s, or leave --draws to gess.", resume);
    if (s->draws < (uint64_t)min_draws)
        gess__add_finding(j, GESS__FAILURE, "draws", advice,
                          "There %s %llu draw%s per chain; with fewer than %d it cannot be judged whether the chains "
                          "mix.",
                          s->draws == 1 ? "is" : "are", (unsigned long long)s->draws, s->draws == 1 ? "" : "s",
                          min_draws);
    judge_not_finite(j);
}

/* The figures of R-hat that are compared with a limit. */
typedef struct rhat_check {
    size_t worst, bad;
    double value;
} rhat_check;

static double rhat_of(const gess__figures *f, int nested)
{
    return nested ? f->r_hat_nested : f->r_hat;
}

static rhat_check check_rhat(const gess__summary *s, int nested, double limit)
{
    rhat_check r = {.worst = s->count};
    for (size_t i = 0; i < s->count; i++) {
        double rhat = rhat_of(&s->figures[i], nested);
        if (!(rhat > limit)) continue;
        r.bad++;
        if (r.worst < s->count && !(rhat > r.value)) continue;
        r.worst = i;
        r.value = rhat;
    }
    return r;
}

/* Few draws of many chains: the nested R-hat of groups of chains decides, and R-hat of single chains only where it
 * would be a failure. */
void gess__rule_rhat(gess__judge *j)
{
    const gess__summary *s = j->s;
    int nested = gess__is_nested(j);
    rhat_check r = check_rhat(s, nested, GESS__RHAT_WARNING);
    double limit = GESS__RHAT_WARNING;
    if (nested) {
        rhat_check chains = check_rhat(s, 0, GESS__RHAT_FAILURE);
        if (chains.bad > 0 && !(r.value > GESS__RHAT_FAILURE)) {
            r = chains;
            nested = 0;
            limit = GESS__RHAT_FAILURE;
        }
    }
    if (r.bad == 0) return;
    int failure = r.value > GESS__RHAT_FAILURE;
    char resume[4300], more[4400];
    advise_draws(j, resume, sizeof resume);
    snprintf(more, sizeof more, "%s.", resume);
    gess__add_finding(j, failure ? GESS__FAILURE : GESS__WARNING, "r-hat",
                      failure ? "Do not use these draws yet. Run for longer (more --draws or --max-evals); if that "
                                "does not help, check the traces of this parameter for chains in different places and "
                                "for chains that still move away from their starts."
                              : more,
                      "%s of %s is %.4f (%zu of %zu quantities are above %.2f): %s, or their halves, differ.",
                      nested ? "Nested R-hat" : "R-hat", s->names[r.worst], r.value, r.bad, s->count, limit,
                      nested ? "groups of chains" : "chains");
}

void gess__rule_ess(gess__judge *j)
{
    const gess__summary *s = j->s;
    size_t worst = s->count;
    double min = INFINITY;
    for (size_t i = 0; i < s->count; i++) {
        const gess__figures *f = &s->figures[i];
        double ess = ess_of(j, f);
        if (gess__is_constant(f) || !(ess < min)) continue;
        min = ess;
        worst = i;
    }
    if (worst == s->count || min >= GESS__MIN_ESS) return;
    char resume[4300], advice[4400];
    advise_draws(j, resume, sizeof resume);
    snprintf(advice, sizeof advice, "%s; the error of a mean falls with the square root of the effective sample size.",
             resume);
    gess__add_finding(j, GESS__FAILURE, "ess", advice,
                      "The effective sample size of %s is %.0f; below %.0f neither the figures nor R-hat can be relied "
                      "on.",
                      s->names[worst], min, GESS__MIN_ESS);
}

void gess__rule_modes(gess__judge *j)
{
    const gess__summary *s = j->s;
    size_t worst = s->count;
    for (size_t i = 0; i < s->count; i++) {
        const gess__column_chains *c = &s->figures[i].chains;
        if (gess__is_constant(&s->figures[i]) || !(c->gap > GESS__GAP_FAILURE) ||
            !(s->figures[i].r_hat > GESS__RHAT_WARNING))
            continue;
        if (worst == s->count || c->gap > s->figures[worst].chains.gap) worst = i;
    }
    if (worst == s->count) return;
    const gess__column_chains *c = &s->figures[worst].chains;
    gess__add_finding(j, GESS__FAILURE, "modes",
                      "Chains do not pass between these places, so the number of chains in a place does not tell its "
                      "probability. If you know the proportions, give starts by them (--init); otherwise join the "
                      "modes by tempering or another parametrisation, or sample them separately.",
                      "Chains are in different places of %s: %zu around %.4g and %zu around %.4g (chain %zu is one of "
                      "the %s), %.1f times the spread of a chain apart.",
                      s->names[worst], c->below, c->place_low, c->above, c->place_high, c->in_smaller + 1,
                      c->below <= c->above ? "former" : "latter", c->gap);
}

void gess__rule_stuck(gess__judge *j)
{
    const gess__summary *s = j->s;
    size_t worst = s->count;
    for (size_t i = 0; i < s->count; i++) {
        const gess__column_chains *c = &s->figures[i].chains;
        if (gess__is_constant(&s->figures[i]) || c->constant == 0 || c->constant == s->chains) continue;
        if (worst == s->count || c->constant > s->figures[worst].chains.constant) worst = i;
    }
    if (worst < s->count) {
        const gess__column_chains *c = &s->figures[worst].chains;
        gess__add_finding(j, GESS__FAILURE, "stuck",
                          "Check where these chains are (`gess export`): in a tail that the approximation does not "
                          "reach, in a region cut off from the rest, or at a point where the density differs from call "
                          "to call. A longer warm-up helps, and so does the kernel `gess` in place of `ess`.",
                          "%zu of %zu chains never moved in %s (chain %zu is the first).", c->constant, s->chains,
                          s->names[worst], c->first_constant + 1);
        return;
    }
    for (size_t i = 0; i < s->count; i++) {
        const gess__column_chains *c = &s->figures[i].chains;
        if (gess__is_constant(&s->figures[i]) || c->narrow == 0 || s->draws < 20 ||
            !(s->figures[i].r_hat > GESS__RHAT_WARNING))
            continue;
        if (worst == s->count || c->min_spread < s->figures[worst].chains.min_spread) worst = i;
    }
    if (worst == s->count) return;
    const gess__column_chains *c = &s->figures[worst].chains;
    gess__add_finding(j, s->figures[worst].r_hat > GESS__RHAT_FAILURE ? GESS__FAILURE : GESS__WARNING, "stuck",
                      "Check the traces of these chains: they are in a place that they can hardly leave. A longer "
                      "warm-up or another parametrisation helps.",
                      "%zu of %zu chains hardly moved in %s: chain %zu is the first; the narrowest has %.3g of the "
                      "usual spread.",
                      c->narrow, s->chains, s->names[worst], c->first_narrow + 1, c->min_spread);
}

void gess__rule_drift(gess__judge *j)
{
    const gess__summary *s = j->s;
    size_t worst = s->count;
    double max = 0.0;
    if (s->chains < GESS__MIN_CHAINS && s->draws < GESS__DRIFT_DRAWS) return;
    for (size_t i = 0; i < s->count; i++) {
        const gess__figures *f = &s->figures[i];
        double z = fabs(f->drift_z);
        if (gess__is_constant(f) || !(z > GESS__DRIFT_Z) || !(fabs(f->chains.shift) > 0.5 * GESS__DRIFT_SHIFT) ||
            !(z > max))
            continue;
        max = z;
        worst = i;
    }
    if (worst < s->count) {
        const gess__column_chains *c = &s->figures[worst].chains;
        gess__add_finding(j, fabs(c->shift) > GESS__DRIFT_SHIFT ? GESS__FAILURE : GESS__WARNING, "drift",
                          "The chains had not converged when sampling began: run again with a longer warm-up "
                          "(--warmup, --max-warmup-evals).",
                          "The chains as a whole drift in %s: by %.2g standard deviations from the first half of the "
                          "draws to the second (drift_z %.1f).",
                          s->names[worst], c->shift, s->figures[worst].drift_z);
    }
}

void gess__rule_chain_drift(gess__judge *j)
{
    const gess__summary *s = j->s;
    size_t worst = s->count;
    if (s->chains < GESS__MIN_CHAINS) return;
    for (size_t i = 0; i < s->count; i++) {
        const gess__column_chains *c = &s->figures[i].chains;
        if (gess__is_constant(&s->figures[i]) || !(c->chain_score > GESS__CHAIN_SHIFT_Z) ||
            !(fabs(c->chain_shift) > GESS__CHAIN_SHIFT))
            continue;
        if (worst == s->count || c->chain_score > s->figures[worst].chains.chain_score) worst = i;
    }
    if (worst == s->count) return;
    const gess__column_chains *c = &s->figures[worst].chains;
    gess__add_finding(j, fabs(c->chain_shift) > 2.0 * GESS__CHAIN_SHIFT ? GESS__FAILURE : GESS__WARNING, "drift",
                      "One chain moves while the others stay: it arrived late, or it is leaving. Check its trace; a "
                      "longer warm-up lets it arrive.",
                      "Chain %zu drifts in %s: by %.2g standard deviations from its first half to its second, %.0f "
                      "times what is usual among chains.",
                      c->shifted + 1, s->names[worst], c->chain_shift, c->chain_score);
}

void gess__rule_targets(gess__judge *j)
{
    if (strcmp(gess__option_of(j, "draws"), "auto") != 0 || !json_is_false(json_object_get(j->s->stats, "targets_met")))
        return;
    gess__add_finding(j, GESS__WARNING, "targets", "Allow more evaluations: --max-evals.",
                      "The run ended before it met its targets (bulk ESS %s, R-hat %s): smallest ESS %.0f, worst R-hat "
                      "%.4f at the last check.",
                      gess__option_of(j, "target-ess"), gess__option_of(j, "target-rhat"),
                      gess__number_of(j->s->stats, "stop_ess"), gess__number_of(j->s->stats, "stop_rhat"));
}

void gess__rule_interaction(gess__judge *j)
{
    const gess__summary *s = j->s;
    size_t worst = s->count;
    double max = GESS__INTERACTION;
    if (!gess__is_two_group(j)) return;
    for (size_t i = 0; i < s->count; i++) {
        double ratio = s->figures[i].mcse_series / s->figures[i].mcse_mean;
        if (gess__is_constant(&s->figures[i]) || !(ratio > max) || gess__moments_of(&s->figures[i].tail) >= GESS__NO_SD)
            continue;
        max = ratio;
        worst = i;
    }
    if (worst < s->count)
        gess__add_finding(j, GESS__WARNING, "interaction",
                          "Quote mcse_series (`gess summary --all`) instead of mcse_mean: it is the error of the "
                          "ensemble's mean.",
                          "Chains that are fitted to each other are correlated: the error of the mean of %s is %.2g, "
                          "%.1f times what independent chains would have.",
                          s->names[worst], s->figures[worst].mcse_series, max);
    if (s->ensembles == 1)
        gess__add_finding(j, GESS__NOTE, "r-hat-blind",
                          "`--ensembles 4` runs four independent ensembles, and R-hat then compares them.",
                          "The chains of a two-group ensemble are fitted to each other, so R-hat between them is too "
                          "low. Errors of means are judged by the ensemble's mean series.");
}
