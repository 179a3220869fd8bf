/* The rules of the verdict about the course of a run that need history.json: NaNs, crashes, divergences, evaluations
 * per update, and the fit of the approximation. */
#include "report/rules.h"

#include <math.h>

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
                          "same point, or that it jumps there. Check the model for randomness and rounding errors. "
                          "Starts that are millions of standard deviations away do it, too, in warm-up: give others "
                          "(--init).",
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
