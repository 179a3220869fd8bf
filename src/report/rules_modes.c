/* The rules of the verdict on separate modes: a chain alone in one, basins that were given up or lost, a peak that no
 * draw explains, modes that few chains visited, and what R-hat cannot see of all this. */
#include "report/rules.h"

#include "base/format.h"
#include "base/special.h"
#include "report/mode_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_SHOWN = 4,     /* parameters of a point */
    MAX_NAME = 40,     /* bytes of a name there */
    MAX_MODE_NAME = 12 /* in the list of modes */
};

static const char unknown_share[] =
    "Do not use these draws: they do not tell how much of the probability lies there. Run again with --schedule "
    "annealed, which looks for separate modes and weighs them, or with starts around this point too (--init-from DIR "
    "--best, or --init FILE).";

/* ---- points as text ---- */

/* Writes "a = 1, b = 2, …" for the first parameters, those of columns 1 to dim. value() gives that of a row. */
typedef double value_fn(const gess__judge *judge, const json_t *point, size_t row);

static double value_at_top(const gess__judge *j, const json_t *point, size_t row)
{
    (void)point;
    return j->s->figures[row].at_top;
}

static double value_of_point(const gess__judge *j, const json_t *point, size_t row)
{
    const json_t *value = json_array_get(point, j->s->column[row] - 1);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* The bytes of a name that are shown: at most `max`, whole UTF-8 characters. */
static int shown_length(const char *name, size_t max)
{
    size_t length = strlen(name);
    if (length <= max) return (int)length;
    for (length = max; length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80; length--) continue;
    return (int)length;
}

static void print_point(const gess__judge *j, value_fn *value, const json_t *point, char *text, size_t size)
{
    const gess__summary *s = j->s;
    size_t shown = 0, length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < s->count && length < size; i++) {
        double x = value(j, point, i);
        if (strcmp(s->names[i], "lp__") == 0 || isnan(x)) continue;
        int added = shown < MAX_SHOWN
                        ? gess__format(text + length, size - length, "%s%.*s = %.4g", shown > 0 ? ", " : "",
                                       shown_length(s->names[i], MAX_NAME), s->names[i], x)
                        : snprintf(text + length, size - length, ", …");
        if (added < 0 || shown++ == MAX_SHOWN) break;
        length += (size_t)added;
    }
}

/* ---- chains alone ---- */

/* The scale of the upper tail of lp__, at least that of rounding errors; NaN if it is not known. */
static double tail_scale(double excess)
{
    return excess < GESS__MIN_EXCESS ? GESS__MIN_EXCESS : excess;
}

/* A few chains reach higher log densities than all others. */
static int add_high_chain(gess__judge *j)
{
    const gess__posterior_top_figures *top = &j->s->top;
    char point[400];
    if (j->s->chains < GESS__MIN_LONE_CHAINS || !(top->gap > GESS__LONE_EXCESS * tail_scale(top->excess))) return 0;
    print_point(j, value_at_top, NULL, point, sizeof point);
    if (top->few == 1)
        gess__add_finding(
            j, GESS__FAILURE, "lone-chain", unknown_share,
            "Chain %zu alone reaches log densities far above those of all others: %.6g in draw %zu, at %s. "
            "The other %zu chains never exceed %.6g; the highest 1 %% of their draws differ by about %.2g. "
            "Chain %zu has %zu of its %llu draws above that.",
            top->chain + 1, top->highest, top->draw + 1, point, j->s->chains - 1, top->others, top->excess,
            top->chain + 1, top->above, (unsigned long long)j->s->draws);
    else
        gess__add_finding(j, GESS__FAILURE, "lone-chain", unknown_share,
                          "%zu of %zu chains alone reach log densities far above those of all others: chain %zu has "
                          "%.6g in draw %zu, at %s. The others never exceed %.6g; the highest 1 %% of their draws "
                          "differ by about %.2g.",
                          top->few, j->s->chains, top->chain + 1, top->highest, top->draw + 1, point, top->others,
                          top->excess);
    return 1;
}

/* One chain stays in a place of its own, whatever its log density: far from the others' means, or in a small part of
 * where they are. */
static void add_own_place(gess__judge *j)
{
    const gess__summary *s = j->s;
    double limit = gess__widen(GESS__OWN_Z, s->chains), max = limit;
    size_t worst = s->count;
    int narrow = 0;
    if (s->chains < GESS__MIN_CHAINS || s->draws < GESS__MIN_DRAWS) return;
    for (size_t i = 0; i < s->count; i++) {
        const gess__column_chains *c = &s->figures[i].chains;
        if (gess__is_constant(&s->figures[i])) continue;
        if (fabs(c->own_shift) > GESS__OWN_SHIFT && c->own_score > max) {
            max = c->own_score;
            worst = i;
            narrow = 0;
        }
        if (c->own_spread < GESS__OWN_SPREAD && c->own_spread_score > max) {
            max = c->own_spread_score;
            worst = i;
            narrow = 1;
        }
    }
    if (worst == s->count) return;
    const gess__column_chains *c = &s->figures[worst].chains;
    const char *name = s->names[worst];
    static const char advice[] =
        "The chain is in a place that it does not leave and the others do not enter, so the draws do not tell how "
        "probable it is. Check its trace. Run again with --schedule annealed, which weighs separate modes, or with "
        "another "
        "parametrisation that joins the places.";
    if (narrow)
        gess__add_finding(j, GESS__FAILURE, "lone-chain", advice,
                          "Chain %zu alone stays in a small part of where the others are: its spread in %s is %.2g of "
                          "the usual one, %.0f times what is usual among chains.",
                          c->own_narrow + 1, name, c->own_spread, max);
    else
        gess__add_finding(j, GESS__FAILURE, "lone-chain", advice,
                          "Chain %zu alone is in another place: its mean in %s is %.2g standard deviations from that "
                          "of "
                          "the others, %.0f times what is usual among chains.",
                          c->own_chain + 1, name, c->own_shift, max);
}

void gess__rule_lone(gess__judge *j)
{
    if (!add_high_chain(j)) add_own_place(j);
}

/* ---- basins ---- */

static const json_t *basins_of(const gess__judge *j)
{
    return json_object_get(json_object_get(j->history, "exploration"), "basins");
}

/* The number of basins with this fate; *heaviest is the one with the most starts. */
static size_t count_basins(const gess__judge *j, const char *fate, const json_t **heaviest)
{
    const json_t *basins = basins_of(j);
    size_t count = 0;
    double most = -INFINITY;
    for (size_t i = 0; i < json_array_size(basins); i++) {
        const json_t *basin = json_array_get(basins, i);
        const char *its = json_string_value(json_object_get(basin, "fate"));
        double starts = gess__number_of(basin, "starts");
        if (its == NULL || strcmp(its, fate) != 0) continue;
        count++;
        if (heaviest == NULL || (*heaviest != NULL && !(starts > most))) continue;
        most = starts;
        *heaviest = basin;
    }
    return count;
}

/* Writes ", weight 1e-05 ± 2e-06", or nothing if the weight is not known. */
static void print_weight(const json_t *basin, char *text, size_t size)
{
    double weight = gess__number_of(basin, "weight"), error = gess__number_of(basin, "error");
    text[0] = '\0';
    if (isnan(weight)) return;
    if (isnan(error))
        gess__format(text, size, ", weight %.2g (its error is not known)", weight);
    else
        gess__format(text, size, ", weight %.2g ± %.1g", weight, error);
}

void gess__rule_unweighed(gess__judge *j)
{
    if (!json_is_true(json_object_get(json_object_get(j->history, "exploration"), "unweighed"))) return;
    gess__add_finding(j, GESS__FAILURE, "unweighed",
                      "The draws do not tell how probable each mode is. Raise the limit of evaluations "
                      "(--max-warmup-evals, --max-evals), or leave it out; `--schedule annealed` weighs modes in any "
                      "case.",
                      "Warm-up found separate modes but did not weigh them: its limit of evaluations did not allow for "
                      "annealing, or hardly a point around the starts is inside the support.");
}

void gess__rule_basins(gess__judge *j)
{
    const json_t *lost = NULL, *given_up = NULL;
    char point[400], weight[80];
    size_t count = count_basins(j, "lost", &lost), all = json_array_size(basins_of(j));
    if (count > 0) {
        print_point(j, value_of_point, json_object_get(lost, "centre"), point, sizeof point);
        print_weight(lost, weight, sizeof weight);
        gess__add_finding(j, GESS__FAILURE, "basin-lost",
                          "A mode may be missing from these draws. Run again with --schedule annealed, with more "
                          "chains "
                          "(--chains), or with starts around this point too (--init).",
                          "%zu of %zu basins were found in warm-up and later left, and nothing shows that they hold no "
                          "probability. The one with the most starts (%.0f): centre %s, log density %.6g%s.",
                          count, all, gess__number_of(lost, "starts"), point, gess__number_of(lost, "lp"), weight);
    }
    count = count_basins(j, "given up", &given_up);
    if (count == 0) return;
    print_point(j, value_of_point, json_object_get(given_up, "centre"), point, sizeof point);
    print_weight(given_up, weight, sizeof weight);
    gess__add_finding(j, GESS__NOTE, "basin-given-up",
                      "Nothing needs to be done: their estimated weights are too small to matter.",
                      "%zu of %zu basins that warm-up found %s given up. The one with the most starts (%.0f): "
                      "centre "
                      "%s, log density %.6g%s.",
                      count, all, count == 1 ? "was" : "were", gess__number_of(given_up, "starts"), point,
                      gess__number_of(given_up, "lp"), weight);
}

void gess__rule_peak(gess__judge *j)
{
    const json_t *peak = json_object_get(j->history, "peak"), *where = json_object_get(peak, "point");
    const gess__posterior_top_figures *top = &j->s->top;
    double lp = gess__number_of(peak, "lp"), mass = gess__number_of(peak, "mass");
    char point[400], share[80] = "how much of the probability lies around it is not known";
    if (isnan(lp)) return;
    if (isnan(mass)) {
        if (!(lp - top->highest > GESS__LONE_EXCESS * tail_scale(top->excess_all)) ||
            !(lp - top->median > GESS__PEAK_PER_DIM * (double)json_array_size(where)))
            return;
    } else {
        if (!(mass > GESS__PEAK_MASS)) return;
        gess__format(share, sizeof share, "about %.2g of the probability lies around it", mass);
    }
    print_point(j, value_of_point, where, point, sizeof point);
    gess__add_finding(j, GESS__FAILURE, "peak", unknown_share,
                      "The run evaluated a point with a log density of %.6g, and no draw exceeds %.6g: %s; %s.", lp,
                      top->highest, point, share);
}

/* ---- modes of the kept draws ---- */

/* How often a chain visited one mode more, over all chains; NaN if it is not known. */
static double passages(const gess__judge *j)
{
    const json_t *modes = json_object_get(j->history, "modes");
    double visits = 0.0;
    for (size_t i = 0; i < json_array_size(modes); i++) visits += gess__number_of(json_array_get(modes, i), "chains");
    return visits - (double)j->s->chains;
}

void gess__rule_mode_alone(gess__judge *j)
{
    const json_t *modes = json_object_get(j->history, "modes"), *worst = NULL;
    const int stay = passages(j) <= 0.0;
    double limit = stay ? GESS__MIN_VISITORS - 1.0 : 1.0, most = GESS__MODE_WEIGHT;
    char point[400], weight[80];
    if (j->s->chains < 2 || json_array_size(modes) < 2) return;
    for (size_t i = 0; i < json_array_size(modes); i++) {
        const json_t *mode = json_array_get(modes, i);
        double share = gess__number_of(mode, "weight");
        if (!(gess__number_of(mode, "chains") <= limit) || !(share > most)) continue;
        most = share;
        worst = mode;
    }
    if (worst == NULL) return;
    double chains = gess__number_of(worst, "chains");
    print_point(j, value_of_point, json_object_get(worst, "centre"), point, sizeof point);
    print_weight(worst, weight, sizeof weight);
    gess__add_finding(j, GESS__FAILURE, "mode-alone",
                      "The weight of such a mode is that of its starts, not its probability. Run again with --schedule "
                      "annealed or with more chains (--chains), until many chains have visited every mode.",
                      "Only %.0f of %zu chains visited the mode around %s%s%s.", chains, j->s->chains, point, weight,
                      stay ? ", and no chain visited more than one mode" : "");
}

/* Adds the text of one mode. */
static size_t print_mode(const json_t *table, const json_t *mode, char *text, size_t size)
{
    const json_t *names = json_object_get(table, "parameters"), *centre = json_object_get(mode, "centre");
    double error = gess__number_of(mode, "error"), weight = gess__number_of(mode, "weight");
    int length = 0, decimals = error > 1e-8 ? 1 - (int)floor(gess__log10(error)) : 4; /* two digits of the error */
    if (error > 0.0)
        length = gess__format(text, size, "%.*f ± %.*f", decimals, weight, decimals, error);
    else
        length = gess__format(text, size, "%.4g", weight);
    for (size_t i = 0; i < json_array_size(names) && i < 3; i++) {
        const json_t *x = json_array_get(centre, i);
        const char *name = json_string_value(json_array_get(names, i));
        length += gess__format(text + length, size - (size_t)length, "%s%.*s = %.3g", i == 0 ? " at " : ", ",
                               shown_length(name, MAX_MODE_NAME), name, json_is_number(x) ? json_number_value(x) : NAN);
    }
    return (size_t)length;
}

void gess__rule_mode_list(gess__judge *j)
{
    j->verdict->modes = gess__mode_table(j->history, j->s);
    const json_t *table = j->verdict->modes, *list = json_object_get(table, "list");
    char text[900];
    size_t length = 0, shown = 0;
    if (table == NULL) return;
    for (; shown < json_array_size(list); shown++) {
        char one[200];
        size_t more = print_mode(table, json_array_get(list, shown), one, sizeof one);
        if (length + more + 3 > sizeof text) break;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", shown > 0 ? "; " : "", one);
    }
    size_t all = (size_t)json_integer_value(json_object_get(table, "count"));
    gess__add_finding(j, GESS__NOTE, "modes-found",
                      "Weights are shares of the draws. Errors come from the chains' passages between the modes.",
                      "The draws have %zu modes%s. Weights and centres: %s.", all,
                      shown < all ? ", of which the largest are shown" : "", text);
}

/* ---- what R-hat cannot see ---- */

/* Whether the run gives reason to doubt that its chains know every mode: its exploration found several basins, and
 * chains are few, or did not pass between modes, or a basin was given up or lost. 1 if nothing was explored. */
static int has_doubts(const gess__judge *j)
{
    const json_t *basins = basins_of(j);
    if (!json_is_array(basins) || json_array_size(basins) == 0) return 1;
    size_t modes = json_array_size(json_object_get(j->history, "modes"));
    size_t several = count_basins(j, "kept", NULL),
           gone = count_basins(j, "lost", NULL) + count_basins(j, "given up", NULL);
    if (several + gone < 2 && modes < 2) return 0;
    return gone > 0 || j->s->chains < 2 * GESS__MIN_CHAINS || !(passages(j) > 0.5 * (double)j->s->chains);
}

void gess__rule_shared_warmup(gess__judge *j)
{
    const gess__summary *s = j->s;
    if (s->ensembles > 1 || gess__is_two_group(j) || j->config == NULL || s->chains < 2 || !gess__has_approximation(j))
        return;
    if (strcmp(gess__option_of(j, "warmup"), "0") == 0 || strcmp(gess__option_of(j, "schedule"), "fixed") == 0) return;
    if (!has_doubts(j)) return;
    gess__add_finding(j, GESS__NOTE, "r-hat-blind",
                      "`--ensembles 4` repeats the warm-up in four independent ensembles, and R-hat then compares "
                      "them.",
                      "All chains shared one warm-up. R-hat shows whether they agree, not what none of them has found, "
                      "such as a mode that no start led to.");
}
