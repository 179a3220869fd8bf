/* Makes the table of modes: sorts them by weight, and picks the parameters whose centres are furthest apart, in units
 * of the modes' own sds. */
#include "report/mode_table.h"

#include "base/vmath.h"
#include "report/rules.h"

#include <math.h>

static double element(const json_t *object, const char *key, size_t i)
{
    const json_t *value = json_array_get(json_object_get(object, key), i);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* order[]: indices of the heaviest modes, the heaviest first; modes without a weight are left out. Returns their
 * number. */
static size_t sort_modes(const json_t *modes, size_t order[GESS__MAX_MODES])
{
    double weight[GESS__MAX_MODES];
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(modes); i++) {
        double w = gess__number_of(json_array_get(modes, i), "weight");
        if (!isfinite(w)) continue;
        size_t at = count < GESS__MAX_MODES ? count++ : count;
        for (; at > 0 && w > weight[at - 1]; at--) {
            if (at == GESS__MAX_MODES) continue; /* the lightest drops out */
            weight[at] = weight[at - 1];
            order[at] = order[at - 1];
        }
        if (at == GESS__MAX_MODES) continue;
        weight[at] = w;
        order[at] = i;
    }
    return count;
}

/* How far the centres of the listed modes are apart in parameter k, in units of their mean sd; 0 if it is not known. */
static double separation(const json_t *modes, size_t count, const size_t *order, size_t k)
{
    double low = INFINITY, high = -INFINITY, sd = 0.0;
    for (size_t i = 0; i < count; i++) {
        const json_t *mode = json_array_get(modes, order[i]);
        double centre = element(mode, "centre", k), own = element(mode, "sd", k);
        if (!isfinite(centre)) return 0.0;
        low = gess__min(low, centre);
        high = gess__max(high, centre);
        sd += isfinite(own) ? own / (double)count : 0.0;
    }
    return high > low ? (sd > 0.0 ? (high - low) / sd : INFINITY) : 0.0;
}

/* rows[]: rows of the summary, those whose parameters differ most first, and only those that differ by an sd, but at
 * least one. Returns their number. */
static size_t choose_parameters(const json_t *modes, size_t count, const size_t *order, const gess__summary *s,
                                size_t rows[GESS__MAX_MODE_PARAMETERS])
{
    double apart[GESS__MAX_MODE_PARAMETERS];
    size_t dim = json_array_size(json_object_get(json_array_get(modes, order[0]), "centre")), chosen = 0;
    for (size_t row = 0; row < s->count; row++) {
        if (s->column[row] == 0 || s->column[row] > dim) continue;
        double a = separation(modes, count, order, s->column[row] - 1);
        size_t at = chosen < GESS__MAX_MODE_PARAMETERS ? chosen++ : chosen;
        for (; at > 0 && a > apart[at - 1]; at--) {
            if (at == GESS__MAX_MODE_PARAMETERS) continue;
            apart[at] = apart[at - 1];
            rows[at] = rows[at - 1];
        }
        if (at == GESS__MAX_MODE_PARAMETERS) continue;
        apart[at] = a;
        rows[at] = row;
    }
    while (chosen > 1 && apart[chosen - 1] < 1.0) chosen--;
    return chosen;
}

static json_t *numbers(const json_t *mode, const char *key, const gess__summary *s, const size_t *rows, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, number(element(mode, key, s->column[rows[i]] - 1)));
    return list;
}

json_t *gess__mode_table(const json_t *history, const gess__summary *s)
{
    const json_t *modes = json_object_get(history, "modes");
    size_t order[GESS__MAX_MODES], rows[GESS__MAX_MODE_PARAMETERS], count = sort_modes(modes, order);
    if (count < 2) return NULL;
    size_t parameters = choose_parameters(modes, count, order, s, rows);
    json_t *names = json_array(), *list = json_array();
    for (size_t i = 0; i < parameters; i++) {
        json_t *name = json_string(s->names[rows[i]]);
        json_array_append_new(names, name != NULL ? name : json_string("(not UTF-8)"));
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *mode = json_array_get(modes, order[i]);
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:o, s:o, s:o}", "weight", number(gess__number_of(mode, "weight")),
                                        "error", number(gess__number_of(mode, "error")), "chains",
                                        number(gess__number_of(mode, "chains")), "centre",
                                        numbers(mode, "centre", s, rows, parameters), "sd",
                                        numbers(mode, "sd", s, rows, parameters)));
    }
    return json_pack("{s:I, s:o, s:o}", "count", (json_int_t)json_array_size(modes), "parameters", names, "list", list);
}
