/* Reads the lines `// gess:` of a CUDA source file, which say what its parameters, derived quantities and data are. */
#include "model/cuda_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a line is, for messages. */
typedef struct place {
    const char *path;
    size_t line;
    gess_error *err;
} place;

#define WRITE_PARAMETER "write `// gess: parameter NAME[COUNT] [lower=A] [upper=B] [periodic]`"

static int parse_size(const char *text, size_t *out)
{
    char *end;
    if (text[0] < '0' || text[0] > '9') return 0;
    unsigned long long n = strtoull(text, &end, 10);
    *out = (size_t)n;
    return *end == '\0' && n > 0 && n < 1u << 30;
}

/* NAME or NAME[COUNT]; writes into the word. */
static int read_name(const place *p, char *word, gess__cuda_item *item)
{
    char *open = strchr(word, '['), *close = open != NULL ? strchr(open, ']') : NULL;
    item->count = 1;
    if (open != NULL) {
        if (close == NULL || close[1] != '\0')
            return gess__fail(p->err, GESS_ERR_MODEL, "%.400s, line %zu: `%.60s` is not a name; " WRITE_PARAMETER,
                              p->path, p->line, word);
        *open = *close = '\0';
        item->numbered = true;
        if (strcmp(open + 1, "rows") == 0)
            item->count = GESS__CUDA_ROWS;
        else if (strcmp(open + 1, "columns") == 0)
            item->count = GESS__CUDA_COLUMNS;
        else if (!parse_size(open + 1, &item->count))
            return gess__fail(p->err, GESS_ERR_MODEL,
                              "%.400s, line %zu: how many are %.60s[%.60s]? write a number, `rows` or `columns` (of "
                              "the "
                              "data) between the brackets",
                              p->path, p->line, word, open + 1);
    }
    if (word[0] == '\0' || strlen(word) >= sizeof item->name)
        return gess__fail(p->err, GESS_ERR_MODEL, "%.400s, line %zu: `%.80s` is not a name; it has 1 to %zu bytes",
                          p->path, p->line, word, sizeof item->name - 1);
    strcpy(item->name, word);
    return GESS_OK;
}

/* lower=A, upper=B or periodic. */
static int read_bound(const place *p, const char *word, gess__cuda_item *item)
{
    if (strcmp(word, "periodic") == 0) {
        item->periodic = true;
        return GESS_OK;
    }
    if (strncmp(word, "lower=", 6) == 0 && gess__parse_real(word + 6, &item->lower)) return GESS_OK;
    if (strncmp(word, "upper=", 6) == 0 && gess__parse_real(word + 6, &item->upper)) return GESS_OK;
    return gess__fail(p->err, GESS_ERR_MODEL, "%.400s, line %zu: `%.60s` is not understood; " WRITE_PARAMETER, p->path,
                      p->line, word);
}

static int read_item(const place *p, char *rest, bool bounds, gess__cuda_item *items, size_t *count)
{
    char *more, *word = strtok_r(rest, " \t", &more);
    if (*count == GESS__CUDA_ITEMS)
        return gess__fail(p->err, GESS_ERR_MODEL,
                          "%.400s, line %zu: more than %d lines of this kind; declare several quantities at once: "
                          "NAME[COUNT]",
                          p->path, p->line, GESS__CUDA_ITEMS);
    gess__cuda_item *item = &items[(*count)++];
    *item = (gess__cuda_item){.lower = -INFINITY, .upper = INFINITY};
    if (word == NULL)
        return gess__fail(p->err, GESS_ERR_MODEL, "%.400s, line %zu: which name? " WRITE_PARAMETER, p->path, p->line);
    GESS_TRY(read_name(p, word, item));
    while ((word = strtok_r(NULL, " \t", &more)) != NULL) {
        if (!bounds)
            return gess__fail(p->err, GESS_ERR_MODEL,
                              "%.400s, line %zu: `%.60s` is not understood; write `// gess: derived NAME[COUNT]`",
                              p->path, p->line, word);
        GESS_TRY(read_bound(p, word, item));
    }
    return GESS_OK;
}

static int read_data(const place *p, char *rest, gess__cuda_lines *lines)
{
    char *more;
    lines->data = true;
    for (char *word = strtok_r(rest, " \t", &more); word != NULL; word = strtok_r(NULL, " \t", &more)) {
        if (strncmp(word, "columns=", 8) == 0 && parse_size(word + 8, &lines->columns)) continue;
        if (strncmp(word, "rows=", 5) == 0 && parse_size(word + 5, &lines->rows)) continue;
        return gess__fail(p->err, GESS_ERR_MODEL,
                          "%.400s, line %zu: `%.60s` is not understood; write `// gess: data [columns=N] [rows=N]`",
                          p->path, p->line, word);
    }
    return GESS_OK;
}

/* What follows `// gess:`. */
static int read_line(const place *p, char *text, gess__cuda_lines *lines)
{
    char *kind = text + strspn(text, " \t"), *rest = kind + strcspn(kind, " \t");
    if (*rest != '\0') *rest++ = '\0';
    if (strcmp(kind, "parameter") == 0) return read_item(p, rest, true, lines->parameters, &lines->parameter_count);
    if (strcmp(kind, "derived") == 0) return read_item(p, rest, false, lines->derived, &lines->derived_count);
    if (strcmp(kind, "data") == 0) return read_data(p, rest, lines);
    return gess__fail(p->err, GESS_ERR_MODEL,
                      "%.400s, line %zu: `%.60s` is not understood; a line `// gess:` goes on with parameter, derived "
                      "or "
                      "data",
                      p->path, p->line, kind);
}

int gess__cuda_lines_read(gess__cuda_lines *lines, const char *text, const char *path, gess_error *err)
{
    static const char mark[] = "gess:";
    place p = {.path = path, .err = err};
    *lines = (gess__cuda_lines){0};
    while (*text != '\0') {
        char line[512];
        size_t length = strcspn(text, "\n"), kept = length < sizeof line ? length : sizeof line - 1;
        p.line++;
        memcpy(line, text, kept);
        line[kept] = '\0';
        line[strcspn(line, "\r")] = '\0';
        char *at = line + strspn(line, " \t");
        text += length + (text[length] == '\n');
        if (strncmp(at, "//", 2) != 0) continue;
        at += 2;
        at += strspn(at, " \t");
        if (strncmp(at, mark, sizeof mark - 1) != 0) continue;
        GESS_TRY(read_line(&p, at + sizeof mark - 1, lines));
    }
    if (lines->parameter_count > 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_MODEL,
                      "%.400s declares no parameter; " WRITE_PARAMETER " into the file, one line each", path);
}

/* ---- the model ---- */

static size_t count_of(const gess__cuda_item *item, const gess__table *data)
{
    if (item->count == GESS__CUDA_ROWS) return data->rows;
    return item->count == GESS__CUDA_COLUMNS ? data->columns : item->count;
}

static int check_data(const gess__cuda_lines *lines, const gess__table *data, const char *path, gess_error *err)
{
    bool needed = lines->data;
    for (size_t i = 0; i < lines->parameter_count; i++) needed |= lines->parameters[i].count >= GESS__CUDA_COLUMNS;
    for (size_t i = 0; i < lines->derived_count; i++) needed |= lines->derived[i].count >= GESS__CUDA_COLUMNS;
    if (needed && data->values == NULL)
        return gess__fail(err, GESS_ERR_MODEL, "the model %.400s needs a data file; give it with --data FILE", path);
    if (data->values == NULL || ((lines->columns == 0 || data->columns == lines->columns) && data->rows >= lines->rows))
        return GESS_OK;
    char columns[48] = "";
    if (lines->columns > 0) snprintf(columns, sizeof columns, " of %zu columns", lines->columns);
    return gess__fail(err, GESS_ERR_MODEL,
                      "the data of the model %.400s have %zu rows of %zu columns; it wants %zu rows or more%s", path,
                      data->rows, data->columns, lines->rows > 0 ? lines->rows : 1, columns);
}

/* Names of all quantities of a list; *total: how many. */
static int make_names(const gess__cuda_item *items, size_t count, gess__model *m, const gess__table *data,
                      size_t *total, const char *const **out, gess_error *err)
{
    enum { WIDTH = sizeof items->name + 24 };
    const char **names = NULL;
    char *text = NULL;
    *total = 0;
    for (size_t i = 0; i < count; i++) *total += count_of(&items[i], data);
    if (*total == 0) return GESS_OK;
    GESS_MODEL_ALLOC(m, &names, *total, err);
    GESS_TRY(gess__model_alloc(m, &text, *total, WIDTH, err));
    for (size_t i = 0, at = 0; i < count; i++)
        for (size_t k = 0; k < count_of(&items[i], data); k++, at++) {
            names[at] = text + at * WIDTH;
            if (items[i].numbered)
                snprintf(text + at * WIDTH, WIDTH, "%s[%zu]", items[i].name, k + 1);
            else
                snprintf(text + at * WIDTH, WIDTH, "%s", items[i].name);
        }
    *out = names;
    return GESS_OK;
}

int gess__cuda_lines_apply(const gess__cuda_lines *lines, gess__model *m, const gess__table *data, const char *path,
                           gess_error *err)
{
    gess_model *model = &m->model;
    double *lower = NULL, *upper = NULL;
    unsigned char *periodic = NULL;
    GESS_TRY(check_data(lines, data, path, err));
    GESS_TRY(make_names(lines->parameters, lines->parameter_count, m, data, &model->dim, &model->names, err));
    GESS_TRY(make_names(lines->derived, lines->derived_count, m, data, &model->derived, &model->derived_names, err));
    GESS_MODEL_ALLOC(m, &lower, model->dim, err);
    GESS_MODEL_ALLOC(m, &upper, model->dim, err);
    GESS_MODEL_ALLOC(m, &periodic, model->dim, err);
    for (size_t i = 0, at = 0; i < lines->parameter_count; i++)
        for (size_t k = 0; k < count_of(&lines->parameters[i], data); k++, at++) {
            lower[at] = lines->parameters[i].lower;
            upper[at] = lines->parameters[i].upper;
            periodic[at] = lines->parameters[i].periodic;
        }
    model->lower = lower;
    model->upper = upper;
    model->periodic = periodic;
    return GESS_OK;
}
