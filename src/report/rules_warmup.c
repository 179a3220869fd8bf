/* The rules of the verdict about warm-up, by history.json: the draws that T was fitted to against those that came
 * after, and how warm-up ended. */
#include "base/format.h"
#include "base/vmath.h"
#include "report/rerun.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ended_early[] =
    "Warm-up ended too early: the sampled draws differ from those that the approximation was fitted to. The sampler is "
    "exact all the same, but its first draws depend on the starts: run again with more --max-warmup-evals or --warmup.";

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

/* Whether the ensemble was moving in one of the last two stages of a warm-up. The last one may have been cut to a few
 * iterations, which show no movement. */
static int ended_moving(const json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i), *after = json_array_get(rows, i + 2);
        if (after != NULL && gess__number_of(after, "ensemble") == gess__number_of(row, "ensemble")) continue;
        if (json_is_true(json_object_get(row, "moving"))) return 1;
    }
    return 0;
}

/* The command that allows more: at least the default, or four times the limit; of all evaluations too, if they were the
 * limit. NULL if memory is short. The caller frees it. */
static char *more_warmup(const gess__judge *j)
{
    const unsigned long long usual = 2000000;
    unsigned long long limit = strtoull(gess__option_of(j, "max-warmup-evals"), NULL, 10);
    unsigned long long all = strtoull(gess__option_of(j, "max-evals"), NULL, 10), more = 4 * limit;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) return NULL;
    fputs("The approximation was fitted to chains that had not arrived: it may lack regions that no chain has been in, "
          "and the chains agree without them. ",
          out);
    if (gess__can_rerun(j)) {
        if (more < usual) more = usual;
        fputs("Allow more: `", out);
        gess__rerun_begin(out, j);
        fprintf(out, " --max-warmup-evals %llu", more);
        if (all < 2 * more) fprintf(out, " --max-evals %llu", 4 * all > 2 * more ? 4 * all : 2 * more);
        gess__rerun_end(out, j, "-longer");
        fputs("`", out);
    } else {
        fputs("Run again with a larger max-warmup-evals.", out);
    }
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

void gess__rule_warmup_end(gess__judge *j)
{
    const json_t *settled = json_object_get(j->s->stats, "warmup_settled");
    if (strcmp(gess__option_of(j, "warmup"), "auto") != 0 || !json_is_false(settled)) return;
    if (!ended_moving(json_object_get(j->history, "warmup"))) {
        gess__add_finding(j, GESS__WARNING, "warm-up", "Allow more evaluations: --max-warmup-evals.",
                          "Warm-up reached its limit of evaluations while the approximation was still improving.");
        return;
    }
    char *advice = more_warmup(j);
    gess__add_finding(j, GESS__FAILURE, "warm-up-cut", advice != NULL ? advice : "",
                      "Warm-up reached its limit of evaluations while the ensemble was still moving, in one of its "
                      "last "
                      "two stages.");
    free(advice);
}

void gess__rule_light_tails(gess__judge *j)
{
    double excess = gess__number_of(json_object_get(j->history, "delta"), "tail_excess");
    if (!(excess > GESS__TAIL_EXCESS)) return;
    gess__add_finding(j, GESS__WARNING, "light-tails",
                      "Let the run go on (gess resume DIR --draws N), or run again with a larger --target-ess: then "
                      "warm-up learns for longer. Until then do not quote quantiles beyond 90 %.",
                      "In one of its tails the approximation was too light when sampling began: draws there were %.2g "
                      "nats further above it than others. Chains come to such places late and stay long, so standard "
                      "deviations and far quantiles may be off by more than their standard errors.",
                      excess);
}
