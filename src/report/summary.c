/* Summarises the selected columns, a few at a time on the team: selects columns by name patterns, reads them, and has
 * summary_column.c compute their figures. summary_text.c prints them. */
#include "report/summary.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/vmath.h"
#include "diagnose/groups.h"
#include "draws/reader.h"
#include "parallel/team.h"
#include "report/summary_column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)3 << 29)

/* ---- columns, a few at a time ---- */

/* Where the columns come from: memory, or a file that is read one group of columns at a time. */
typedef struct source {
    const gess__draws *memory;
    const gess__reader *file;
    size_t columns;
    char *const *names;
} source;

typedef struct group {
    gess__summary *summary;
    gess__column_shape shape;
    gess__column_workspace *workspaces;
    size_t first;          /* row of the summary of values[0] */
    const double **values; /* per column of the group: chains × draws */
} group;

/* The levels of the chains, from x, the column lp__. */
static void find_levels(const gess__column_shape *s, const double *x, double *scratch, gess__level *levels)
{
    size_t first = GESS__LAST_HALF(s->draws), count = s->draws - first;
    for (size_t c = 0; c < s->chains; c++) {
        memcpy(scratch, x + c * s->draws + first, count * sizeof *scratch);
        gess__level_of(count, scratch, &levels[c]);
    }
}

static int summarise_one(void *data, unsigned worker, size_t item, gess_error *err)
{
    group *g = data;
    (void)err;
    const gess__summary *s = g->summary;
    if (s->levels != NULL && s->column[g->first + item] == 0) /* lp__ */
        find_levels(&g->shape, g->values[item], g->workspaces[worker].scratch, s->levels);
    gess__summarise_column(&s->figures[g->first + item], &g->shape, &s->circle[g->first + item], g->values[item],
                           &g->workspaces[worker]);
    if (strcmp(s->names[g->first + item], "lp__") == 0)
        gess__posterior_top(g->workspaces[worker].chains, &g->summary->top);
    return GESS_OK;
}

/* Reads columns wanted[0 .. count-1] of the file: values[i] is chains × draws. */
static int read_columns(const gess__reader *r, size_t count, const size_t *wanted, double *const *values,
                        gess_error *err)
{
    enum { PIECE = 1 << 16 }; /* doubles read at a time, but at least one draw of a chain */
    uint64_t piece = PIECE / r->columns > 0 ? PIECE / r->columns : 1;
    if (piece > r->draws) piece = r->draws;
    double *rows = NULL;
    GESS_ALLOC(&rows, (size_t)piece * r->columns, err);
    int status = GESS_OK;
    for (uint64_t first = 0; first < r->draws && status == GESS_OK; first += piece) {
        uint64_t draws = r->draws - first < piece ? r->draws - first : piece;
        for (size_t c = 0; c < r->chains && status == GESS_OK; c++) {
            status = gess__reader_rows(r, c, 1, first, draws, rows, err);
            for (size_t k = 0; k < count && status == GESS_OK; k++) {
                double *to = values[k] + c * r->draws + first;
                for (uint64_t i = 0; i < draws; i++) to[i] = rows[i * r->columns + wanted[k]];
            }
        }
    }
    free(rows);
    return status;
}

/* If one column has no mean, others with nearly as heavy tails are judged by the stricter limit. */
static void share_heavy_tails(gess__summary *s)
{
    bool any = false;
    for (size_t i = 0; i < s->count; i++) any |= gess__moments_of(&s->figures[i].tail) == GESS__NO_MEAN;
    for (size_t i = 0; i < s->count; i++) s->figures[i].tail.beside_heavy = any;
}

static int run_groups(const source *from, group *g, gess__team *team, size_t at_once, double **buffers, gess_error *err)
{
    gess__summary *s = g->summary;
    size_t size = g->shape.chains * g->shape.draws;
    for (size_t first = 0; first < s->count; first += at_once) {
        size_t count = s->count - first < at_once ? s->count - first : at_once;
        g->first = first;
        if (from->memory == NULL) GESS_TRY(read_columns(from->file, count, s->column + first, buffers, err));
        for (size_t i = 0; i < count; i++)
            g->values[i] = from->memory == NULL ? buffers[i] : from->memory->values + s->column[first + i] * size;
        GESS_TRY(gess__team_run(team, count, summarise_one, g, err));
    }
    share_heavy_tails(s);
    return GESS_OK;
}

/* About half of the memory goes to the workers' workspaces, the rest to columns. */
static int summarise_columns(gess__summary *s, const source *from, const gess__summary_settings *o, gess_error *err)
{
    group g = {.summary = s, .shape = {s->chains, (size_t)s->draws, s->ensembles, o->interacting, o->circles > 0}};
    size_t column = s->chains * (size_t)s->draws * sizeof(double),
           workspace_size =
               column * ((gess__compared_groups(s->chains, s->ensembles) > 0 ? 10U : 6U) + (o->circles > 0 ? 1U : 0U));
    size_t budget = o->max_bytes > 0 ? o->max_bytes : MAX_BYTES, max_workers = budget / 2 / workspace_size;
    gess__team *team = NULL;
    double **buffers = NULL;
    int status = gess__team_new(&team, o->threads, err);
    if (status == GESS_OK && gess__team_size(team) > (max_workers > 0 ? max_workers : 1)) {
        gess__team_free(team);
        status = gess__team_new(&team, max_workers > 0 ? (unsigned)max_workers : 1, err);
    }
    unsigned workers = status == GESS_OK ? gess__team_size(team) : 0;
    size_t at_once = budget / 2 / column > workers ? budget / 2 / column : workers;
    if (at_once > s->count) at_once = s->count;
    if (status == GESS_OK) status = gess__alloc_bytes(&g.workspaces, workers, sizeof *g.workspaces, "workers", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&g.values, at_once, sizeof *g.values, "columns", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&buffers, at_once, sizeof *buffers, "columns", err);
    for (size_t i = 0; i < at_once && status == GESS_OK && from->memory == NULL; i++)
        status = gess__alloc_bytes(&buffers[i], column / sizeof(double), sizeof(double), "column", err);
    for (unsigned i = 0; i < workers && status == GESS_OK; i++)
        status = gess__column_workspace_new(&g.workspaces[i], &g.shape, err);
    if (status == GESS_OK) status = run_groups(from, &g, team, at_once, buffers, err);
    for (unsigned i = 0; g.workspaces != NULL && i < workers; i++) gess__column_workspace_free(&g.workspaces[i]);
    for (size_t i = 0; buffers != NULL && i < at_once; i++) free(buffers[i]);
    free(buffers);
    free(g.values);
    free(g.workspaces);
    gess__team_free(team);
    return status;
}

/* Sets at_top of every row. */
static int find_top_point(gess__summary *s, const source *from, gess_error *err)
{
    const gess__posterior_top_figures *top = &s->top;
    double *row = NULL;
    for (size_t i = 0; i < s->count; i++) s->figures[i].at_top = NAN;
    if (isnan(top->highest)) return GESS_OK;
    if (from->memory != NULL) {
        const gess__draws *d = from->memory;
        for (size_t i = 0; i < s->count; i++)
            s->figures[i].at_top = d->values[(s->column[i] * d->chains + top->chain) * (size_t)d->draws + top->draw];
        return GESS_OK;
    }
    GESS_ALLOC(&row, from->columns, err);
    int status = gess__reader_rows(from->file, top->chain, 1, top->draw, 1, row, err);
    for (size_t i = 0; i < s->count && status == GESS_OK; i++) s->figures[i].at_top = row[s->column[i]];
    free(row);
    return status;
}

/* ---- which columns ---- */

/* The end of the pattern that begins at text: a comma outside brackets, or the end. */
static size_t pattern_length(const char *text)
{
    int depth = 0;
    size_t i = 0;
    for (; text[i] != '\0' && !(text[i] == ',' && depth == 0); i++) {
        if (text[i] == '[' || text[i] == '(') depth++;
        if ((text[i] == ']' || text[i] == ')') && depth > 0) depth--;
    }
    return i;
}

/* * stands for any text, ? for any byte. After a mismatch the last * is extended by one byte. */
static int matches(const char *pattern, size_t length, const char *name)
{
    size_t at = 0, star = length, back = 0, i = 0;
    while (name[i] != '\0') {
        if (at < length && pattern[at] == '*') {
            star = at++;
            back = i;
        } else if (at < length && (pattern[at] == '?' || pattern[at] == name[i])) {
            at++;
            i++;
        } else if (star < length) {
            at = star + 1;
            i = ++back;
        } else {
            return 0;
        }
    }
    while (at < length && pattern[at] == '*') at++;
    return at == length;
}

int gess__name_matches(const char *patterns, const char *name)
{
    while (*patterns != '\0') {
        size_t length = pattern_length(patterns);
        if (matches(patterns, length, name)) return 1;
        patterns += length + (patterns[length] == ',');
    }
    return 0;
}

/* Every pattern must match something, so that a misspelt name is an error. */
static int check_patterns(const source *from, const char *vars, gess_error *err)
{
    while (*vars != '\0') {
        size_t length = pattern_length(vars), found = 0;
        for (size_t i = 0; i < from->columns; i++) found += matches(vars, length, from->names[i]) != 0;
        if (found == 0)
            return gess__fail(err, GESS_ERR_USAGE, "--vars: there is no parameter `%.*s`", (int)length, vars);
        vars += length + (vars[length] == ',');
    }
    return GESS_OK;
}

/* The names and columns that `vars` selects, lp__ last. */
static int choose_columns(gess__summary *s, const source *from, const gess__summary_settings *o, gess_error *err)
{
    const char *vars = o->vars;
    GESS_ALLOC(&s->names, from->columns, err);
    GESS_ALLOC(&s->column, from->columns, err);
    GESS_ALLOC(&s->figures, from->columns, err);
    GESS_ALLOC(&s->circle, from->columns, err);
    if (vars != NULL) GESS_TRY(check_patterns(from, vars, err));
    int log_density_first = strcmp(from->names[0], "lp__") == 0;
    size_t hidden = log_density_first && from->file != NULL ? from->file->hidden : 0;
    for (size_t j = 0; j < from->columns; j++) {
        size_t column = log_density_first ? (j + 1) % from->columns : j;
        if (vars != NULL && (j < hidden || !gess__name_matches(vars, from->names[column]))) continue;
        s->hidden += j < hidden;
        if (log_density_first && column == 0) GESS_ALLOC(&s->levels, s->chains, err);
        GESS_TRY(gess__copy_text(&s->names[s->count], from->names[column], err));
        if (column < o->circles) s->circle[s->count] = o->circle[column];
        s->column[s->count++] = column;
    }
    return s->count > 0 ? GESS_OK : gess__fail(err, GESS_ERR_USAGE, "--vars: no parameter is named");
}

static int summarise(gess__summary *s, const source *from, size_t chains, uint64_t draws,
                     const gess__summary_settings *o, gess_error *err)
{
    GESS_ASSERT(chains > 0 && from->columns > 0);
    *s = (gess__summary){.chains = chains, .draws = draws, .ensembles = o->ensembles > 1 ? o->ensembles : 1};
    if (draws == 0) return gess__fail(err, GESS_ERR_USAGE, "there are no draws yet");
    if (s->ensembles > chains)
        return gess__fail(err, GESS_ERR_USAGE, "%zu chains cannot be of %zu ensembles", chains, s->ensembles);
    if (o->blobs > 0 && o->blobs < from->columns) s->first_blob = from->columns - o->blobs;
    GESS_TRY(choose_columns(s, from, o, err));
    s->top = gess__posterior_no_top;
    GESS_TRY(summarise_columns(s, from, o, err));
    return find_top_point(s, from, err);
}

int gess__summarise_draws(gess__summary *s, const gess__draws *d, const gess__summary_settings *o, gess_error *err)
{
    const source from = {.memory = d, .columns = d->columns, .names = d->names};
    return summarise(s, &from, d->chains, d->draws, o, err);
}

int gess__summarise(gess__summary *s, const gess__draws *d, gess_error *err)
{
    return gess__summarise_draws(s, d, &(gess__summary_settings){0}, err);
}

int gess__summarise_file(gess__summary *s, const char *path, const gess__summary_settings *o, gess_error *err)
{
    gess__reader *reader = NULL;
    *s = (gess__summary){0};
    int status = gess__reader_open(&reader, path, err);
    if (status == GESS_OK) {
        const source from = {.file = reader, .columns = reader->columns, .names = reader->names};
        status = summarise(s, &from, reader->chains, reader->draws, o, err);
    }
    gess__reader_free(reader);
    return status;
}

void gess__summary_free(gess__summary *s)
{
    for (size_t i = 0; i < s->count; i++) free(s->names[i]);
    free(s->names);
    free(s->column);
    free(s->figures);
    free(s->circle);
    free(s->levels);
    json_decref(s->stats);
    *s = (gess__summary){0};
}

double gess__summary_worst_nested(const gess__summary *s)
{
    double worst = NAN;
    for (size_t i = 0; i < s->count; i++)
        if (isfinite(s->figures[i].r_hat_nested)) worst = gess__max(worst, s->figures[i].r_hat_nested);
    return worst;
}

/* ---- worst first ---- */

typedef struct ranked {
    double rhat, ess;
    size_t row;
} ranked;

static int worst_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->rhat != y->rhat) return x->rhat > y->rhat ? -1 : 1;
    if (x->ess != y->ess) return x->ess < y->ess ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

void gess__summary_sort(gess__summary *s)
{
    size_t first = s->hidden, count = s->count - first; /* rows that are not shown stay where they are */
    ranked *order = calloc(count + 1, sizeof *order);
    char **names = calloc(count + 1, sizeof *names);
    size_t *column = calloc(count + 1, sizeof *column);
    gess__figures *figures = calloc(count + 1, sizeof *figures);
    gess__circle *circle = calloc(count + 1, sizeof *circle);
    for (size_t i = 0; order != NULL && i < count; i++) {
        const gess__figures *f = &s->figures[first + i];
        int constant = f->sd == 0.0;
        order[i] = (ranked){isfinite(f->r_hat) ? f->r_hat
                            : constant         ? -1.0
                                               : INFINITY,
                            isfinite(f->ess_bulk) ? f->ess_bulk : 0.0, first + i};
    }
    if (order != NULL && names != NULL && column != NULL && figures != NULL && circle != NULL) {
        qsort(order, count, sizeof *order, worst_first);
        for (size_t i = 0; i < count; i++) {
            names[i] = s->names[order[i].row];
            column[i] = s->column[order[i].row];
            figures[i] = s->figures[order[i].row];
            circle[i] = s->circle[order[i].row];
        }
        memcpy(s->names + first, names, count * sizeof *names);
        memcpy(s->column + first, column, count * sizeof *column);
        memcpy(s->figures + first, figures, count * sizeof *figures);
        memcpy(s->circle + first, circle, count * sizeof *circle);
    }
    free(order);
    free(names);
    free(column);
    free(figures);
    free(circle);
}
