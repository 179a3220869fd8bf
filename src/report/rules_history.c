/* The rules of the verdict that need history.json: the window and the end of warm-up, NaNs, divergences, evaluations
 * per update, and the fit of the approximation. */
#include "report/rules.h"

#include "base/format.h"
#include "base/vmath.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char ended_early[] =
    "Warm-up ended too early: the sampled draws differ from those that T was fitted to. The sampler is exact all the "
    "same, but its first draws depend on the starts: run again with more --max-warmup-evals or --warmup.";

static double element(const json_t *object, const char *key, size_t i)
{
    const json_t *value = json_array_get(json_object_get(object, key), i);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

void gess__rule_window(gess__judge *j)
{
    const gess__summary *s = j->s;
    const json_t *window = json_object_get(j->history, "window");
    size_t worst = s->count, other = s->count;
    double max = 0.0, widest = 1.0;
    if (s->chains < GESS__MIN_CHAINS) return;
    for (size_t i = 0; i < s->count; i++) {
        const gess__figures *f = &s->figures[i];
        const gess__line_moments *m = &f->moments;
        double error = gess__hypot(m->mcse_mean, element(window, "error", s->column[i]));
        error = gess__hypot(error, 16.0 * DBL_EPSILON * m->mean); /* digits that both means may have lost */
        double away = fabs(m->mean - element(window, "mean", s->column[i]));
        double z = away / error * GESS__WINDOW_Z / gess__widen(GESS__WINDOW_Z, s->chains);
        if (gess__is_constant(f) || gess__moments_of(&f->tail) >= GESS__NO_SD) continue;
        if (z > GESS__WINDOW_Z && away > 0.5 * GESS__WINDOW_SHIFT * m->sd && z > max) {
            max = z;
            worst = i;
        }
        double ratio = m->sd / element(window, "sd", s->column[i]);
        ratio = ratio < 1.0 ? 1.0 / ratio : ratio;
        if (m->mcse_sd < 0.05 * m->sd && ratio > GESS__WINDOW_RATIO && ratio > widest) {
            widest = ratio;
            other = i;
        }
    }
    if (worst < s->count) {
        const gess__line_moments *m = &s->figures[worst].moments;
        double away = (m->mean - element(window, "mean", s->column[worst])) / m->sd;
        gess__add_finding(j, fabs(away) > GESS__WINDOW_SHIFT ? GESS__FAILURE : GESS__WARNING, "warm-up", ended_early,
                          "The mean of %s is %.2g standard deviations from that of the final warm-up window, %.1f "
                          "standard errors.",
                          s->names[worst], away, max);
    }
    if (other < s->count)
        gess__add_finding(j, GESS__WARNING, "warm-up", ended_early,
                          "The standard deviation of %s is %.4g, and was %.4g in the final warm-up window.",
                          s->names[other], s->figures[other].moments.sd, element(window, "sd", s->column[other]));
}

void gess__rule_log_t(gess__judge *j)
{
    const json_t *delta = json_object_get(j->history, "delta"), *rows = json_object_get(j->history, "warmup");
    if (json_array_size(rows) == 0 || j->s->chains < GESS__MIN_CHAINS) return;
    double gap = gess__number_of(json_array_get(rows, json_array_size(rows) - 1), "gap");
    double away = gess__number_of(delta, "log_t_window") - gess__number_of(delta, "log_t_sampling");
    double error =
        gess__hypot(gess__number_of(delta, "log_t_window_error"), gess__number_of(delta, "log_t_sampling_error"));
    double allowed =
        GESS__LOG_T_SHIFT * gess__number_of(delta, "dim") + gess__widen(GESS__DRIFT_Z, j->s->chains) * error;
    if (away > 0.0) allowed += 3.0 * gap; /* T gives the draws that it was fitted to a higher density */
    if (!(fabs(away) > allowed)) return;
    char distances[80] = "";
    double there = gess__number_of(delta, "sampling"), here = gess__number_of(delta, "window");
    if (isfinite(there) && isfinite(here))
        gess__format(distances, sizeof distances, " (mean distance %.4g, and %.4g in the window)", there, here);
    gess__add_finding(j, GESS__WARNING, "warm-up", ended_early,
                      "Under the frozen approximation draws are %s than those it was fitted to: by %.2g nats%s.",
                      away > 0.0 ? "less probable" : "more probable", fabs(away), distances);
}

void gess__rule_warmup_end(gess__judge *j)
{
    const json_t *settled = json_object_get(j->s->stats, "warmup_settled");
    if (strcmp(gess__option_of(j, "warmup"), "auto") != 0 || !json_is_false(settled)) return;
    gess__add_finding(j, GESS__WARNING, "warm-up", "Allow more evaluations: --max-warmup-evals.",
                      "Warm-up reached its limit of evaluations while the approximation was still improving.");
}

/* Updates of the sampling phase. */
static double sampling_updates(const gess__judge *j)
{
    const json_t *counts = json_object_get(j->history, "updates_by_evals");
    double updates = 0.0;
    for (size_t i = 0; i < json_array_size(counts); i++) updates += json_number_value(json_array_get(counts, i));
    return updates;
}

void gess__rule_brackets(gess__judge *j)
{
    double failures = gess__number_of(j->history, "failures"), updates = gess__number_of(j->s->stats, "updates");
    double share = failures / (updates > 0.0 ? updates : sampling_updates(j));
    if (failures > 0.0)
        gess__add_finding(j, share > GESS__FAILURES_SHARE ? GESS__FAILURE : GESS__WARNING, "bracket",
                          "A bracket that shrinks to nothing means that the density differs from call to call at the "
                          "same point, or that it jumps there. Check the model for randomness and rounding errors.",
                          "%.0f updates (a share of %.2g) found no new point in their bracket and kept their state.",
                          failures, share);
}

void gess__rule_nans(gess__judge *j)
{
    double nans = gess__number_of(j->history, "nans");
    double evals = gess__number_of(j->history, "evals_sampling") + gess__number_of(j->history, "evals_warmup");
    if (nans > 0.0)
        gess__add_finding(j, nans / evals > GESS__NANS_SHARE ? GESS__WARNING : GESS__NOTE, "nan",
                          "NaN counts as outside the support. The first such points are in nans.csv: return -infinity "
                          "there if this is intended; otherwise correct the model or give its parameters bounds.",
                          "%.0f of %.0f evaluations (%.2g %%) gave NaN.", nans, evals, 100.0 * nans / evals);
}

void gess__rule_crashes(gess__judge *j)
{
    double all = gess__number_of(j->history, "crashes"), outside = gess__number_of(j->history, "crashes_outside");
    double evals = gess__number_of(j->history, "evals_sampling") + gess__number_of(j->history, "evals_warmup");
    if (outside > 0.0)
        gess__add_finding(j, GESS__WARNING, "crash",
                          "With --on-crash outside, a point at which the density crashes or does not return in time "
                          "counts as outside the support. The points are in crashes.csv: if the posterior has mass "
                          "there, the draws lack it. Mend the model, or give its parameters bounds.",
                          "%.0f of %.0f evaluations (%.2g %%) crashed or took too long.", outside, evals,
                          100.0 * outside / evals);
    else if (all > 0.0)
        gess__add_finding(j, GESS__NOTE, "crash",
                          "They were made again, and no draw depends on them. The points are in crashes.csv: "
                          "`gess check` helps to find out what is wrong with the model there.",
                          "%.0f of %.0f evaluations (%.2g %%) lost their worker process.", all, evals,
                          100.0 * all / evals);
}

void gess__rule_divergences(gess__judge *j)
{
    double divergent = gess__number_of(j->history, "divergent");
    if (divergent > 0.0)
        gess__add_finding(j, GESS__WARNING, "divergent",
                          "Where the density bends more sharply than the step size allows, trajectories leave it, and "
                          "regions beyond may be missing from the draws. Another parametrisation helps, or a kernel "
                          "without gradients.",
                          "%.0f trajectories (a share of %.2g) diverged.", divergent, divergent / sampling_updates(j));
}

void gess__rule_evals_per_update(gess__judge *j)
{
    double updates = sampling_updates(j), evals = gess__number_of(j->history, "evals_sampling");
    if (updates > 0.0 && evals / updates > GESS__MAX_EVALS && gess__has_approximation(j))
        gess__add_finding(j, GESS__WARNING, "evaluations",
                          "The t distribution that chains move by is a poor approximation of the density. The draws "
                          "are correct but expensive: more warm-up, more chains, or another parametrisation of a "
                          "curved or funnel-shaped posterior makes them cheaper.",
                          "An update takes %.1f evaluations; about 1 to 3 are usual.", evals / updates);
}

void gess__rule_approximation(gess__judge *j)
{
    const json_t *rows = json_object_get(j->history, "warmup");
    const json_t *last = json_array_get(rows, json_array_size(rows) > 0 ? json_array_size(rows) - 1 : 0);
    if (last == NULL || !gess__has_approximation(j)) return;
    double nu = gess__number_of(last, "nu");
    if (nu < GESS__NU_LOW)
        gess__add_finding(j, GESS__WARNING, "nu",
                          "The density has heavier tails than any t with a mean, or some chains coincide. Means and "
                          "standard deviations may not exist: use quantiles, and check the starts.",
                          "The approximation's degrees of freedom are at their floor (%.3g).", nu);
    else if (isnan(nu))
        gess__add_finding(j, GESS__NOTE, "nu",
                          "Nothing needs to be done: the tails seen in warm-up are those of a Gaussian.",
                          "The approximation's degrees of freedom are at their cap: it is a Gaussian.");
}
