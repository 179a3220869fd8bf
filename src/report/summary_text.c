/* Prints the summary as a table, as CSV and as JSON, with the run's cost. summary.c computes it. */
#include "base/csv.h"
#include "base/special.h"
#include "base/vmath.h"
#include "diagnose/groups.h"
#include "report/summary.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
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

#define FIGURE(name, format, rank) +1
enum { FIGURES = 0 GESS__FIGURE_TABLE(FIGURE) };
#undef FIGURE

static const struct {
    const char *name, *format;
    int rank;
} figure[] = {
#define FIGURE(name, format, rank) {#name, format, rank},
    GESS__FIGURE_TABLE(FIGURE)
#undef FIGURE
};

static void row_of(const gess__figures *figures, double row[FIGURES])
{
    gess__figures f = gess__figures_shown(figures);
    size_t i = 0;
#define FIGURE(name, format, rank) row[i++] = f.name;
    GESS__FIGURE_TABLE(FIGURE)
#undef FIGURE
}

json_t *gess__summary_json(const gess__summary *s)
{
    json_t *root = json_object(), *parameters = json_array();
    for (size_t i = s->hidden; i < s->count; i++) {
        double row[FIGURES];
        json_t *object = json_object();
        row_of(&s->figures[i], row);
        json_object_set_new(object, "name", json_string(s->names[i]));
        for (size_t k = 0; k < FIGURES; k++) json_object_set_new(object, figure[k].name, number(row[k]));
        json_object_set_new(object, "circular", json_boolean(gess__is_circle(&s->circle[i])));
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
    fputs(",circular\n", out);
    for (size_t i = s->hidden; i < s->count; i++) {
        double row[FIGURES];
        row_of(&s->figures[i], row);
        gess__csv_put_name(out, s->names[i]);
        for (size_t k = 0; k < FIGURES; k++) fprintf(out, isfinite(row[k]) ? ",%.17g" : ",NA", row[k]);
        fprintf(out, ",%d\n", (int)gess__is_circle(&s->circle[i]));
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

/* Which figures the table has, how wide they are with the blank in front, and how wide the names are. */
typedef struct layout {
    bool nested; /* there is an R-hat of groups of chains */
    bool shown[FIGURES];
    int width[FIGURES];
    int names;
} layout;

/* Figures that the table treats in ways of their own. NESTED, the R-hat of groups of chains, takes the place of R_HAT
 * if there are any groups. */
enum {
    MEAN = offsetof(gess__figures, mean) / sizeof(double),
    SD = offsetof(gess__figures, sd) / sizeof(double),
    Q5 = offsetof(gess__figures, q5) / sizeof(double),
    Q50 = offsetof(gess__figures, q50) / sizeof(double),
    Q95 = offsetof(gess__figures, q95) / sizeof(double),
    R_HAT = offsetof(gess__figures, r_hat) / sizeof(double),
    NESTED = offsetof(gess__figures, r_hat_nested) / sizeof(double)
};

/* The name above a column of the table. */
static const char *heading(size_t k)
{
    return k == NESTED ? "nested" : figure[k].name;
}

/* Figures that say where a parameter lies. */
static bool is_location(size_t k)
{
    return k == MEAN || k == Q5 || k == Q50 || k == Q95;
}

/* How many digits of a mean or a quantile are worth showing: three of the standard deviation, four at least. */
static int digits_of(double x, double sd)
{
    if (!isfinite(sd) || !(sd > 0.0) || !(fabs(x) > sd)) return 4;
    int digits = (int)(floor(gess__log10(fabs(x))) - floor(gess__log10(sd))) + 3;
    return digits < 4 ? 4 : digits > 15 ? 15 : digits;
}

static void cell_text(const double *row, size_t k, char text[32])
{
    double x = row[k];
    int digits = is_location(k) ? digits_of(x, row[SD]) : 4;
    snprintf(text, 32, "NA");
    if (!isfinite(x)) return;
    if (digits > 4 && fabs(x) >= 1.0 && fabs(x) < 1e15) { /* a plain number: a date, say */
        int decimals = digits - 1 - (int)floor(gess__log10(fabs(x)));
        snprintf(text, 32, "%.*f", decimals > 0 ? decimals : 0, x);
    } else if (digits > 4) {
        snprintf(text, 32, "%.*g", digits, x);
    } else {
        snprintf(text, 32, figure[k].format, x);
    }
}

static void measure(const gess__summary *s, layout *l)
{
    l->names = 4;
    for (size_t k = 0; k < FIGURES; k++) l->width[k] = 1 + (int)strlen(heading(k));
    for (size_t i = s->hidden; i < s->count; i++) {
        double row[FIGURES];
        char text[32];
        row_of(&s->figures[i], row);
        if (width_of(s->names[i]) > l->names) l->names = width_of(s->names[i]);
        for (size_t k = 0; k < FIGURES; k++) {
            cell_text(row, k, text);
            if (1 + (int)strlen(text) > l->width[k]) l->width[k] = 1 + (int)strlen(text);
        }
    }
}

static int rank_of(const layout *l, size_t k)
{
    if (l->nested && (k == R_HAT || k == NESTED)) k = k == R_HAT ? NESTED : R_HAT;
    return figure[k].rank;
}

/* Takes figures in the order of their ranks while they fit into `width` columns; those of the first four ranks always,
 * beside names that are cut if they must. 0: GESS__FIGURES_SHOWN figures; SIZE_MAX: all. */
static void choose_figures(size_t width, layout *l)
{
    enum { KEPT = 4, MIN_NAMES = 8 };
    bool limited = width > 0 && width < 10000;
    int last = width == SIZE_MAX ? FIGURES : GESS__FIGURES_SHOWN, used = 0;
    for (int rank = 1; rank <= last; rank++)
        for (size_t k = 0; k < FIGURES; k++) {
            if (rank_of(l, k) != rank) continue;
            if (rank <= KEPT || !limited || l->names + used + l->width[k] <= (int)width) {
                l->shown[k] = true;
                used += l->width[k];
            } else {
                last = rank; /* those of higher rank are not to jump the queue */
            }
        }
    if (limited && l->names + used > (int)width)
        l->names = (int)width - used > MIN_NAMES ? (int)width - used : MIN_NAMES;
}

static void print_plain(const char *name, FILE *out)
{
    for (; *name != '\0'; name++) fputc((unsigned char)*name < ' ' ? '?' : *name, out);
}

/* Prints a name in `width` columns, the last of them an ellipsis if it is longer. */
static void print_name(const char *name, int width, FILE *out)
{
    int whole = width_of(name), shown = 0;
    for (; *name != '\0'; name++) {
        if (((unsigned char)*name & 0xc0) != 0x80 && shown++ == width - 1 && whole > width) break;
        fputc((unsigned char)*name < ' ' ? '?' : *name, out);
    }
    if (whole > width) fputs("…", out);
    fprintf(out, "%*s", whole < width ? width - whole : 0, "");
}

static void print_rows(const gess__summary *s, const layout *l, FILE *out)
{
    fprintf(out, "%*s", l->names, "");
    for (size_t k = 0; k < FIGURES; k++)
        if (l->shown[k]) fprintf(out, "%*s", l->width[k], heading(k));
    fputc('\n', out);
    for (size_t i = s->hidden; i < s->count; i++) {
        double row[FIGURES];
        char text[32];
        row_of(&s->figures[i], row);
        print_name(s->names[i], l->names, out);
        for (size_t k = 0; k < FIGURES; k++) {
            cell_text(row, k, text);
            if (l->shown[k]) fprintf(out, "%*s", l->width[k], text);
        }
        fputc('\n', out);
    }
}

/* Says which R-hat the table shows. */
static void print_rhat(const gess__summary *s, FILE *out)
{
    if (isfinite(gess__summary_worst_nested(s))) {
        double single = NAN;
        for (size_t i = s->hidden; i < s->count; i++)
            if (isfinite(s->figures[i].r_hat)) single = gess__max(single, s->figures[i].r_hat);
        size_t groups = gess__compared_groups(s->chains, s->ensembles);
        fprintf(out, "nested: R-hat of %zu groups of %zu chains, each taken as one long chain", groups,
                s->chains / groups);
        if (isfinite(single))
            fprintf(out, "; r_hat, of the halves of the %zu chains of one ensemble, is at most %.4f (--all)", s->chains,
                    single);
        fputc('\n', out);
        return;
    }
    if (s->ensembles > 1)
        fprintf(out,
                "r_hat compares %zu independent ensembles, each taken as one long chain, and all chains; it is the "
                "larger of the two\n",
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
    for (size_t i = s->hidden; i < s->count; i++)
        if (gess__moments_of(&s->figures[i].tail) >= GESS__NO_SD && lost++ == 0) first = i;
    if (lost == 0) return;
    const gess__tail_index *t = &s->figures[first].tail;
    print_plain(s->names[first], out);
    if (lost > 1) fprintf(out, " and %zu more", lost - 1);
    fprintf(out,
            ": the tails are too heavy for figures that are NA (tail index %.2f ± %.2f; a standard deviation exists "
            "below 1/2, a mean below 1); quote q50, q5 and q95, with mcse_q50, mcse_q5 and mcse_q95 (--all)\n",
            t->index, t->se);
}

/* Says which parameters are on a circle, and which of them have no mean. */
static void print_circles(const gess__summary *s, FILE *out)
{
    size_t circles = 0, even = 0, first = 0, first_even = 0;
    for (size_t i = s->hidden; i < s->count; i++) {
        const gess__figures *f = &s->figures[i];
        if (!gess__is_circle(&s->circle[i])) continue;
        if (circles++ == 0) first = i;
        if (gess__circular_no_mean(f->ess_bulk, f->circle_length) && even++ == 0) first_even = i;
    }
    if (circles == 0) return;
    print_plain(s->names[first], out);
    if (circles > 1) fprintf(out, " and %zu more", circles - 1);
    fprintf(out, ": periodic, so mean and sd are circular, and quantiles may lie beyond a bound\n");
    if (even == 0) return;
    print_plain(s->names[first_even], out);
    if (even > 1) fprintf(out, " and %zu more", even - 1);
    fprintf(out, ": spread evenly over the circle, which has no mean then\n");
}

/* Names the figures that the terminal has no room for. */
static void print_left_out(const layout *l, FILE *out)
{
    const char *before = "not shown for want of room: ";
    bool any = false;
    for (size_t k = 0; k < FIGURES; k++) {
        if (l->shown[k] || rank_of(l, k) > GESS__FIGURES_SHOWN) continue;
        fprintf(out, "%s%s", before, heading(k));
        before = ", ";
        any = true;
    }
    if (any) fprintf(out, " (--all shows every figure)\n");
}

static void print_notes(const gess__summary *s, const layout *l, FILE *out)
{
    fprintf(out, "%zu chain%s of %llu draw%s", s->chains, s->chains == 1 ? "" : "s", (unsigned long long)s->draws,
            s->draws == 1 ? "" : "s");
    json_int_t evals = json_integer_value(json_object_get(s->stats, "evals"));
    if (evals > 0)
        fprintf(out, "; %lld evaluations (%lld after warm-up), %.1f s", (long long)evals,
                (long long)json_integer_value(json_object_get(s->stats, "evals_sampling")),
                json_number_value(json_object_get(s->stats, "seconds")));
    fputc('\n', out);
    print_rhat(s, out);
    print_left_out(l, out);
    print_circles(s, out);
    print_lost_moments(s, out);
    json_int_t nans = json_integer_value(json_object_get(s->stats, "nans"));
    json_int_t failures = json_integer_value(json_object_get(s->stats, "failures"));
    if (nans > 0) fprintf(out, "%lld evaluations gave NaN and were counted as outside the support\n", (long long)nans);
    if (failures > 0)
        fprintf(out, "%lld updates found no new point in their bracket and kept their state\n", (long long)failures);
}

/* Prints text, broken between words so that no line has more than `width` columns, further lines indented by two. */
static void print_folded(const char *text, size_t width, FILE *out)
{
    size_t column = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " \n");
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        size_t wide = (size_t)width_of(word);
        if (column > 2 && column + 1 + wide > width) {
            fputs("\n  ", out);
            column = 2;
        } else if (column > 0) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)length, text);
        column += wide;
        text += length;
        if (*text == '\n') {
            fputc('\n', out);
            column = 0;
        }
        text += *text != '\0';
    }
}

void gess__summary_print_table(const gess__summary *s, size_t width, FILE *out)
{
    layout l = {0};
    char *notes = NULL;
    size_t size = 0;
    l.nested = isfinite(gess__summary_worst_nested(s));
    measure(s, &l);
    choose_figures(width, &l);
    print_rows(s, &l, out);
    fputc('\n', out);
    FILE *text = open_memstream(&notes, &size);
    if (text == NULL) return;
    print_notes(s, &l, text);
    if (fclose(text) == 0) print_folded(notes, width < 20 ? SIZE_MAX : width, out);
    free(notes);
}
