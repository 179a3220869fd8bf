/* The data of the HTML page: reads the draws a few columns at a time, makes their plots and collects everything as
 * JSON. */
#include "base/assert.h"
#include "base/mem.h"
#include "base/sort.h"
#include "parallel/team.h"
#include "plot/density.h"
#include "report/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_PLOTTED = 250, /* columns */
    MAX_ROWS = 1000,   /* of the table */
    MAX_TEXT = 100,    /* bytes of a name */
    MAX_LIST = 1000,   /* entries of a list from a file */
    PIECE = 1 << 20,   /* numbers read at a time */
    HELD = 1 << 26,    /* numbers of columns held at a time: 512 MiB */
    AT_WORK = 1 << 27  /* numbers in the threads' scratch beside these: 1 GiB */
};

/* ---- columns, a few at a time ---- */

/* Works on one column: its row in the summary and its draws. */
typedef int column_fn(gess__report *report, size_t row, const double *x, gess_error *err);

typedef struct pass {
    gess__report *report;
    column_fn *fn;
    const size_t *rows; /* of the summary */
    size_t first;       /* the first row whose column is held */
    double *values;
} pass;

/* Reads the columns rows[first ..] of all draws into values, chain by chain. */
static int read_columns(const pass *p, size_t count, double *piece, gess_error *err)
{
    const gess__reader *r = p->report->draws;
    uint64_t draws_at_once = PIECE / (r->chains * r->columns);
    if (draws_at_once == 0) draws_at_once = 1;
    for (uint64_t at = 0; at < r->draws; at += draws_at_once) {
        uint64_t n = r->draws - at < draws_at_once ? r->draws - at : draws_at_once;
        GESS_TRY(gess__reader_rows(r, 0, r->chains, at, n, piece, err));
        for (size_t j = 0; j < count; j++) {
            size_t column = p->report->summary.column[p->rows[p->first + j]];
            for (size_t c = 0; c < r->chains; c++) {
                double *to = p->values + (j * r->chains + c) * (size_t)r->draws + at;
                for (uint64_t i = 0; i < n; i++) to[i] = piece[(c * n + i) * r->columns + column];
            }
        }
    }
    return GESS_OK;
}

static int work(void *data, unsigned worker, size_t item, gess_error *err)
{
    const pass *p = data;
    const gess__reader *r = p->report->draws;
    (void)worker;
    return p->fn(p->report, p->rows[p->first + item], p->values + item * r->chains * (size_t)r->draws, err);
}

static int in_portions(pass *p, size_t count, size_t held, gess__team *team, double *piece, gess_error *err)
{
    for (p->first = 0; p->first < count; p->first += held) {
        size_t n = count - p->first < held ? count - p->first : held;
        GESS_TRY(read_columns(p, n, piece, err));
        GESS_TRY(gess__team_run(team, n, work, p, err));
    }
    return GESS_OK;
}

/* One thread per core, but at most `max`. */
static int team_for(gess__team **team, size_t max, gess_error *err)
{
    GESS_TRY(gess__team_new(team, 0, err));
    if (gess__team_size(*team) <= max) return GESS_OK;
    gess__team_free(*team);
    *team = NULL;
    return gess__team_new(team, max > 0 ? (unsigned)max : 1, err);
}

/* Calls fn for the column of every row, on as many threads as memory allows. */
static int for_columns(gess__report *report, const size_t *rows, size_t count, column_fn *fn, gess_error *err)
{
    const gess__reader *r = report->draws;
    size_t all = r->chains * (size_t)r->draws, held = HELD / all, threads = AT_WORK / (10 * all);
    pass p = {.report = report, .fn = fn, .rows = rows};
    gess__team *team = NULL;
    double *piece = NULL;
    size_t row = r->chains * r->columns;
    if (held < 1) held = 1;
    if (held > count) held = count;
    int status = gess__alloc_bytes(&p.values, held * all, sizeof *p.values, "columns", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&piece, row > PIECE ? row : PIECE, sizeof *piece, "rows", err);
    if (status == GESS_OK) status = team_for(&team, threads, err);
    if (status == GESS_OK) status = in_portions(&p, count, held, team, piece, err);
    gess__team_free(team);
    free(piece);
    free(p.values);
    return status;
}

/* ---- plots ---- */

static int take_plots(gess__report *report, size_t row, const double *x, gess_error *err)
{
    const gess__detail detail = gess__detail_for(report->draws->chains, report->draws->draws, report->plotted);
    const gess__figures *figures = &report->summary.figures[row];
    const gess__circle *circle = &report->summary.circle[row];
    size_t i = 0, all = detail.chains * detail.draws;
    double *unwrapped = NULL;
    while (report->rows[i] != row) i++;
    if (gess__is_circle(circle) && isfinite(figures->circle_cut)) {
        GESS_ALLOC(&unwrapped, all, err);
        gess__circular_unwrap(circle, figures->circle_cut, all, x, unwrapped);
    }
    int status = gess__column_plots(&report->plots[i], &detail, unwrapped != NULL ? unwrapped : x, figures, err);
    free(unwrapped);
    return status;
}

/* The ends of the 68 % interval of a row of the table. */
static int take_quantiles(gess__report *report, size_t row, const double *x, gess_error *err)
{
    size_t all = report->draws->chains * (size_t)report->draws->draws;
    const gess__figures *figures = &report->summary.figures[row];
    const gess__circle *circle = &report->summary.circle[row];
    double *sorted = NULL;
    bool finite = all > 1;
    GESS_ALLOC(&sorted, all, err);
    memcpy(sorted, x, all * sizeof *sorted);
    if (gess__is_circle(circle) && isfinite(figures->circle_cut))
        gess__circular_unwrap(circle, figures->circle_cut, all, sorted, sorted);
    for (size_t i = 0; i < all; i++) finite &= isfinite(sorted[i]) != 0;
    if (finite) {
        gess__sort(all, sorted);
        report->q16[row] = gess__sorted_quantile(sorted, all, GESS__SIGMA_BELOW);
        report->q84[row] = gess__sorted_quantile(sorted, all, GESS__SIGMA_ABOVE);
    }
    free(sorted);
    return GESS_OK;
}

/* Worst first: by R-hat; rows without one come last. */
static int worse(const void *a, const void *b, void *user)
{
    const gess__figures *f = user;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    double x = isnan(f[i].r_hat) ? 0.0 : f[i].r_hat, y = isnan(f[j].r_hat) ? 0.0 : f[j].r_hat;
    if (x != y) return x > y ? -1 : 1;
    return i < j ? -1 : i > j;
}

static int by_row(const void *a, const void *b)
{
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    return i < j ? -1 : i > j;
}

/* rows[]: the `max` worst of the rows that are shown, in ascending order, with lp__ always among them. Returns their
 * number. */
static size_t choose(size_t *rows, const gess__summary *s, size_t max)
{
    size_t count = s->count - s->hidden;
    for (size_t i = 0; i < count; i++) rows[i] = s->hidden + i;
    if (count <= max) return count;
    qsort_r(rows, count - 1, sizeof *rows, worse, (void *)(uintptr_t)s->figures);
    rows[max - 1] = s->count - 1;
    qsort(rows, max, sizeof *rows, by_row);
    return max;
}

int gess__report_plots(gess__report *report, gess_error *err)
{
    GESS_ASSERT(report->draws != NULL && report->summary.count > 0 && report->plots == NULL);
    GESS_ALLOC(&report->rows, report->summary.count, err);
    GESS_ALLOC(&report->plots, MAX_PLOTTED, err);
    GESS_ALLOC(&report->q16, report->summary.count, err);
    GESS_ALLOC(&report->q84, report->summary.count, err);
    for (size_t i = 0; i < report->summary.count; i++) report->q16[i] = report->q84[i] = NAN;
    size_t listed = choose(report->rows, &report->summary, MAX_ROWS);
    GESS_TRY(for_columns(report, report->rows, listed, take_quantiles, err));
    report->plotted = choose(report->rows, &report->summary, MAX_PLOTTED);
    return for_columns(report, report->rows, report->plotted, take_plots, err);
}

void gess__report_free(gess__report *report)
{
    for (size_t i = 0; i < report->plotted; i++) json_decref(report->plots[i]);
    free(report->plots);
    free(report->rows);
    free(report->q16);
    free(report->q84);
    free(report->corner);
    free(report->truth);
    gess__plot_data_free(&report->priors);
    gess__summary_free(&report->summary);
}

/* ---- JSON ---- */

/* Text of at most `max` bytes, cut between UTF-8 characters. */
static json_t *text_of(const char *text, size_t max)
{
    size_t length = text != NULL ? strlen(text) : 0, end = length;
    if (length > max) {
        for (end = max; end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80; end--) continue;
    }
    json_t *cut = json_stringn(text != NULL ? text : "", end);
    if (cut == NULL) return json_string("(not UTF-8)");
    if (end == length) return cut;
    json_t *marked = json_sprintf("%s…", json_string_value(cut));
    json_decref(cut);
    return marked;
}

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* Adds "table": {"row": […], "name": […], "mean": […], …}. */
static int table_of(const gess__report *report, json_t *root, gess_error *err)
{
    const gess__summary *s = &report->summary;
    size_t *rows = NULL;
    GESS_ALLOC(&rows, s->count, err);
    size_t count = choose(rows, s, MAX_ROWS);
    const struct {
        const char *key;
        size_t offset;
        int rank;
    } fields[] = {
#define FIGURE(name, format, rank) {#name, offsetof(gess__figures, name), rank},
        GESS__FIGURE_TABLE(FIGURE)
#undef FIGURE
    };
    json_t *table = json_object(), *names = json_array(), *index = json_array(), *circular = json_array();
    json_t *q16 = json_array(), *q84 = json_array(), *nested = json_array(), *period = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(index, json_integer((json_int_t)rows[i]));
        json_array_append_new(names, text_of(s->names[rows[i]], MAX_TEXT));
        json_array_append_new(q16, number(report->q16[rows[i]]));
        json_array_append_new(q84, number(report->q84[rows[i]]));
        json_array_append_new(nested, number(s->figures[rows[i]].r_hat_nested));
        json_array_append_new(period, number(gess__is_circle(&s->circle[rows[i]])
                                                 ? s->circle[rows[i]].upper - s->circle[rows[i]].lower
                                                 : NAN));
        json_array_append_new(circular, json_boolean(gess__is_circle(&s->circle[rows[i]])));
    }
    json_object_set_new(table, "row", index);
    json_object_set_new(table, "circular", circular);
    json_object_set_new(table, "name", names);
    json_object_set_new(table, "q16", q16);
    json_object_set_new(table, "q84", q84);
    json_object_set_new(table, "r_hat_nested", nested);
    json_object_set_new(table, "period", period);
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        if (fields[k].rank > GESS__FIGURES_REPORTED) continue;
        json_t *list = json_array();
        for (size_t i = 0; i < count; i++) {
            double value;
            gess__figures shown = gess__figures_shown(&s->figures[rows[i]]);
            memcpy(&value, (const char *)&shown + fields[k].offset, sizeof value);
            json_array_append_new(list, number(value));
        }
        json_object_set_new(table, fields[k].key, list);
    }
    json_object_set_new(root, "table", table);
    free(rows);
    return GESS_OK;
}

/* The plots; of a run that is compared only what the corner plot needs. */
static json_t *plots_of(const gess__report *report, bool compared)
{
    static const char *const rest[] = {"trace", "band", "ranks", "acf", "growth"};
    json_t *list = json_array();
    for (size_t i = 0; i < report->plotted; i++) {
        json_object_set_new(report->plots[i], "row", json_integer((json_int_t)report->rows[i]));
        json_object_set_new(report->plots[i], "name", text_of(report->summary.names[report->rows[i]], MAX_TEXT));
        for (size_t k = 0; compared && k < sizeof rest / sizeof *rest; k++) json_object_del(report->plots[i], rest[k]);
        json_array_append(list, report->plots[i]);
    }
    return list;
}

/* A copy of the numbers, booleans, lists and objects in `value`, down to `depth` levels; all else becomes null. */
static json_t *plain_copy(const json_t *value, int depth)
{
    const char *key;
    json_t *item, *copy;
    size_t i;
    if (json_is_number(value) || json_is_boolean(value)) return json_copy((json_t *)(uintptr_t)value);
    if (depth == 0) return json_null();
    if (json_is_array(value)) {
        copy = json_array();
        json_array_foreach(value, i, item) if (i < MAX_LIST) json_array_append_new(copy, plain_copy(item, depth - 1));
        return copy;
    }
    if (!json_is_object(value)) return json_null();
    copy = json_object();
    json_object_foreach((json_t *)(uintptr_t)value, key, item) if (json_object_size(copy) < 64 && strlen(key) < 64)
        json_object_set_new(copy, key, plain_copy(item, depth - 1));
    return copy;
}

/* The part of history.json that the page shows. */
static json_t *history_of(const json_t *history)
{
    static const char *const keys[] = {"warmup",       "checks",        "angles",         "updates_by_evals",
                                       "failures",     "nans",          "seconds_warmup", "seconds_sampling",
                                       "evals_warmup", "evals_sampling"};
    if (!json_is_object(history)) return json_null();
    json_t *copy = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = json_object_get(history, keys[i]);
        if (value != NULL) json_object_set_new(copy, keys[i], plain_copy(value, 2));
    }
    return copy;
}

static json_t *options_of(const json_t *config)
{
    const char *key;
    json_t *value, *options = json_object_get(config, "options"), *copy = json_object();
    json_object_foreach(options, key, value)
    {
        if (json_object_size(copy) >= 100 || strlen(key) >= 64) continue;
        char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        json_object_set_new(copy, key, text_of(text != NULL ? text : json_string_value(value), 300));
        free(text);
    }
    return copy;
}

static json_t *verdict_of(const gess__verdict *verdict)
{
    json_t *findings = json_array();
    for (size_t i = 0; i < verdict->count && i < 200; i++) {
        const gess__finding *f = &verdict->findings[i];
        json_array_append_new(findings,
                              json_pack("{s:i, s:o, s:o, s:o}", "level", f->level, "code", text_of(f->code, 64), "text",
                                        text_of(f->text, 1500), "advice", text_of(f->advice, 1500)));
    }
    return json_pack("{s:b, s:i, s:o}", "pass", verdict->pass, "count", (int)verdict->count, "findings", findings);
}

/* The table of modes, with names cut. */
static json_t *modes_of(const gess__verdict *verdict)
{
    size_t i;
    json_t *name, *copy = json_deep_copy(verdict->modes), *names = json_array();
    if (copy == NULL) {
        json_decref(names);
        return json_null();
    }
    json_array_foreach(json_object_get(copy, "parameters"), i, name)
        json_array_append_new(names, text_of(json_string_value(name), MAX_TEXT));
    json_object_set_new(copy, "parameters", names);
    return copy;
}

int gess__report_data(json_t **root, const gess__report *report, const gess__verdict *verdict, bool compared,
                      gess_error *err)
{
    const gess__reader *r = report->draws;
    const gess__summary *s = &report->summary;
    const gess__detail detail = gess__detail_for(r->chains, r->draws, report->plotted);
    *root = json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I}", "version", GESS_VERSION_TEXT, "model",
                      text_of(json_string_value(json_object_get(report->config, "model")), 300), "chains",
                      (json_int_t)r->chains, "draws", (json_int_t)r->draws, "thin", (json_int_t)r->thin, "columns",
                      (json_int_t)r->columns, "sampled", (json_int_t)detail.sample);
    if (*root == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory");
    json_object_set_new(*root, "title", text_of(json_string_value(json_object_get(report->config, "title")), 300));
    json_object_set_new(*root, "directory", text_of(report->directory, 500));
    json_object_set_new(*root, "stats", s->stats != NULL ? json_deep_copy(s->stats) : json_object());
    json_object_set_new(*root, "options", options_of(report->config));
    json_object_set_new(*root, "verdict", verdict_of(verdict));
    json_object_set_new(*root, "modes", modes_of(verdict));
    if (!compared) json_object_set_new(*root, "history", history_of(report->history));
    json_object_set_new(*root, "plots", plots_of(report, compared));
    gess__report_add_results(*root, report);
    return table_of(report, *root, err);
}
