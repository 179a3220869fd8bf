/* Prints the summary as a table, as CSV and as JSON, with the run's cost. summary.c computes it. */
#include "base/csv.h"
#include "report/summary.h"

#include <math.h>
#include <string.h>

/* ---- the run's cost ---- */

static const char *const stat_names[] =
    {"evals",          "evals_sampling",   "evals_speculative", "updates",   "failures",
     "seconds",        "seconds_sampling", "seconds_learning",  "nans",      "warmup",
     "warmup_settled", "targets_met",      "stop_ess",          "stop_rhat", "method"};
enum { STATS = sizeof stat_names / sizeof *stat_names };

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

int gess__summary_set_stats(gess__summary *s, const gess_stats *stats, gess_error *err)
{
    json_decref(s->stats);
    s->stats =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:I, s:I, s:b, s:b, s:o, s:o, s:s?}", "evals",
                  (json_int_t)stats->evals, "evals_sampling", (json_int_t)stats->evals_sampling, "evals_speculative",
                  (json_int_t)stats->evals_speculative, "updates", (json_int_t)stats->updates, "failures",
                  (json_int_t)stats->failures, "seconds", stats->seconds, "seconds_sampling", stats->seconds_sampling,
                  "seconds_learning", stats->seconds_learning, "nans", (json_int_t)stats->nans, "warmup",
                  (json_int_t)stats->warmup, "warmup_settled", stats->warmup_settled, "targets_met", stats->targets_met,
                  "stop_ess", number(stats->least_ess), "stop_rhat", number(stats->worst_rhat), "method",
                  stats->method[0] != '\0' ? stats->method : NULL);
    if (s->stats == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory");
    return GESS_OK;
}

int gess__summary_load_stats(gess__summary *s, const char *path, gess_error *err)
{
    json_error_t where;
    json_t *root = json_load_file(path, 0, &where);
    if (root == NULL) return gess__fail(err, GESS_ERR_FILE, "%s, line %d: %s", path, where.line, where.text);
    json_decref(s->stats);
    s->stats = json_object();
    for (size_t i = 0; i < STATS; i++) {
        json_t *value = json_object_get(root, stat_names[i]);
        if (json_is_number(value) || json_is_boolean(value) || json_is_string(value))
            json_object_set(s->stats, stat_names[i], value);
    }
    json_decref(root);
    return GESS_OK;
}

/* ---- the figures, as a row ---- */

#define FIGURE(name, format) +1
enum { FIGURES = 0 GESS__FIGURE_TABLE(FIGURE) };
#undef FIGURE

static const struct {
    const char *name, *format;
} figure[] = {
#define FIGURE(name, format) {#name, format},
    GESS__FIGURE_TABLE(FIGURE)
#undef FIGURE
};

static void row_of(const gess__figures *figures, double row[FIGURES])
{
    gess__figures f = gess__figures_shown(figures);
    size_t i = 0;
#define FIGURE(name, format) row[i++] = f.name;
    GESS__FIGURE_TABLE(FIGURE)
#undef FIGURE
}

json_t *gess__summary_json(const gess__summary *s)
{
    json_t *root = json_object(), *parameters = json_array();
    for (size_t i = 0; i < s->count; i++) {
        double row[FIGURES];
        json_t *object = json_object();
        row_of(&s->figures[i], row);
        json_object_set_new(object, "name", json_string(s->names[i]));
        for (size_t k = 0; k < FIGURES; k++) json_object_set_new(object, figure[k].name, number(row[k]));
        json_array_append_new(parameters, object);
    }
    json_object_set_new(root, "parameters", parameters);
    json_object_set_new(root, "chains", json_integer((json_int_t)s->chains));
    json_object_set_new(root, "draws", json_integer((json_int_t)s->draws));
    json_object_set_new(root, "ensembles", json_integer((json_int_t)s->ensembles));
    for (size_t i = 0; i < STATS; i++) {
        json_t *value = json_object_get(s->stats, stat_names[i]);
        json_object_set(root, stat_names[i], value != NULL ? value : json_null());
    }
    return root;
}

void gess__summary_csv(const gess__summary *s, FILE *out)
{
    fputs("name", out);
    for (size_t k = 0; k < FIGURES; k++) fprintf(out, ",%s", figure[k].name);
    fputc('\n', out);
    for (size_t i = 0; i < s->count; i++) {
        double row[FIGURES];
        row_of(&s->figures[i], row);
        gess__csv_put_name(out, s->names[i]);
        for (size_t k = 0; k < FIGURES; k++) fprintf(out, isfinite(row[k]) ? ",%.17g" : ",NA", row[k]);
        fputc('\n', out);
    }
}

/* ---- the table ---- */

/* Columns that a terminal shows for UTF-8 text: bytes that do not continue a character. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

enum { CELL = 11 };

static void print_cell(FILE *out, double x, const char *format)
{
    char text[32] = "NA";
    if (isfinite(x)) snprintf(text, sizeof text, format, x);
    fprintf(out, " %10s", text);
}

/* How many figures fit into `width` columns beside names of `names` columns. */
static size_t figures_shown(size_t width, int names)
{
    if (width == 0) return GESS__FIGURES_SHOWN;
    size_t room = width > (size_t)names ? (width - (size_t)names) / CELL : 0;
    if (room < GESS__FIGURES_NARROW) return GESS__FIGURES_NARROW;
    return room < FIGURES ? room : FIGURES;
}

static void print_name(const char *name, FILE *out)
{
    for (; *name != '\0'; name++) fputc((unsigned char)*name < ' ' ? '?' : *name, out);
}

static void print_rows(const gess__summary *s, size_t shown, int width, FILE *out)
{
    fprintf(out, "%-*s", width, "");
    for (size_t k = 0; k < shown; k++) fprintf(out, " %10s", figure[k].name);
    fputc('\n', out);
    for (size_t i = 0; i < s->count; i++) {
        double row[FIGURES];
        row_of(&s->figures[i], row);
        print_name(s->names[i], out);
        fprintf(out, "%*s", width - width_of(s->names[i]), "");
        for (size_t k = 0; k < shown; k++) print_cell(out, row[k], figure[k].format);
        fputc('\n', out);
    }
}

/* Says which R-hat the table shows. */
static void print_rhat(const gess__summary *s, FILE *out)
{
    if (s->ensembles > 1)
        fprintf(out,
                "r_hat compares %zu independent ensembles, each taken as one long chain, and all chains; it is the "
                "larger of "
                "the two\n",
                s->ensembles);
    else if (s->chains > 1)
        fprintf(out, "r_hat compares the halves of the %zu chains of one ensemble\n", s->chains);
    else
        fprintf(out, "r_hat compares the halves of one chain\n");
}

/* Says why moments are missing. */
static void print_lost_moments(const gess__summary *s, FILE *out)
{
    size_t lost = 0, first = 0;
    for (size_t i = 0; i < s->count; i++)
        if (gess__moments_of(&s->figures[i].tail) >= GESS__NO_SD && lost++ == 0) first = i;
    if (lost == 0) return;
    const gess__tail_index *t = &s->figures[first].tail;
    print_name(s->names[first], out);
    if (lost > 1) fprintf(out, " and %zu more", lost - 1);
    fprintf(out,
            ": the tails are too heavy for figures that are NA (tail index %.2f ± %.2f; a standard deviation exists "
            "below 1/2, a mean below 1); quote q50, q5 and q95, with mcse_q50, mcse_q5 and mcse_q95 (--all)\n",
            t->index, t->se);
}

void gess__summary_print_table(const gess__summary *s, size_t width, FILE *out)
{
    int names = 4;
    for (size_t i = 0; i < s->count; i++)
        if (width_of(s->names[i]) > names) names = width_of(s->names[i]);
    print_rows(s, figures_shown(width, names), names, out);
    fprintf(out, "\n%zu chain%s of %llu draws", s->chains, s->chains == 1 ? "" : "s", (unsigned long long)s->draws);
    json_int_t evals = json_integer_value(json_object_get(s->stats, "evals"));
    if (evals > 0)
        fprintf(out, "; %lld evaluations (%lld after warm-up), %.1f s", (long long)evals,
                (long long)json_integer_value(json_object_get(s->stats, "evals_sampling")),
                json_number_value(json_object_get(s->stats, "seconds")));
    fputc('\n', out);
    print_rhat(s, out);
    print_lost_moments(s, out);
    json_int_t nans = json_integer_value(json_object_get(s->stats, "nans"));
    json_int_t failures = json_integer_value(json_object_get(s->stats, "failures"));
    if (nans > 0) fprintf(out, "%lld evaluations gave NaN and were counted as outside the support\n", (long long)nans);
    if (failures > 0)
        fprintf(out, "%lld updates found no new point in their bracket and kept their state\n", (long long)failures);
}
