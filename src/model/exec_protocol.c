/* What a program is sent and what it answers: the batch of points as text or as doubles, the values, the greeting. */
#include "base/csv.h"
#include "base/mem.h"
#include "model/exec.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GREETING = 1 << 26, SHOWN = 60 };

/* ---- requests ---- */

/* A double, the other way round where the machine is not little-endian. */
static uint64_t little(const void *at)
{
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bits = __builtin_bswap64(bits);
#endif
    return bits;
}

size_t gess__exec_request_room(bool binary, size_t n, size_t dim)
{
    return binary ? (n * dim + 1) * sizeof(double) : (n * dim + 1) * GESS__REAL_SIZE;
}

size_t gess__exec_request(bool binary, size_t n, size_t dim, const double *x, char *out)
{
    if (binary) {
        double count = (double)n;
        uint64_t bits = little(&count);
        memcpy(out, &bits, sizeof bits);
        for (size_t i = 0; i < n * dim; i++) {
            bits = little(x + i);
            memcpy(out + (i + 1) * sizeof bits, &bits, sizeof bits);
        }
        return (n * dim + 1) * sizeof bits;
    }
    size_t used = (size_t)sprintf(out, "%zu\n", n);
    for (size_t i = 0; i < n * dim; i++) {
        used += gess__show_real(out + used, GESS__REAL_SIZE, x[i]);
        out[used++] = (i + 1) % dim == 0 ? '\n' : ' ';
    }
    return used;
}

/* ---- answers ---- */

static enum gess__program_more wrong(gess__exec_reader *r, size_t bad, const char *what, const char *bytes, size_t size)
{
    char shown[SHOWN + 8];
    gess__program_show(bytes, size, shown, sizeof shown);
    r->bad = bad < r->n ? bad : r->n - 1;
    snprintf(r->cause, sizeof r->cause, "wrote `%s` as line %zu of its answer to %zu point%s, %s", shown, bad + 1, r->n,
             r->n == 1 ? "" : "s", what);
    return GESS__PROGRAM_WRONG;
}

/* A whole line, in r->line. */
static enum gess__program_more take_line(gess__exec_reader *r)
{
    while (r->length > 0 && strchr(" \t\r", r->line[r->length - 1]) != NULL) r->length--;
    r->line[r->length] = '\0';
    if (r->got == r->n) return wrong(r, r->got, "which is a line too many", r->line, r->length);
    if (!gess__parse_real_in(r->line, r->c_locale, &r->values[r->got]))
        return wrong(r, r->got,
                     r->length == 0                 ? "where a number is needed"
                     : strchr(r->line, ',') != NULL ? "which is not a number: write one per line, with a decimal point"
                                                    : "which is not a number",
                     r->line, r->length);
    r->got++;
    r->length = 0;
    return GESS__PROGRAM_MORE;
}

static enum gess__program_more take_text(gess__exec_reader *r, const char *bytes, size_t size)
{
    while (size > 0) {
        const char *end = memchr(bytes, '\n', size);
        size_t part = end != NULL ? (size_t)(end - bytes) : size;
        if (r->length + part > GESS__EXEC_LINE) {
            size_t room = GESS__EXEC_LINE - r->length;
            memcpy(r->line + r->length, bytes, room < part ? room : part);
            return wrong(r, r->got, "which is too long for a number", r->line, GESS__EXEC_LINE);
        }
        memcpy(r->line + r->length, bytes, part);
        r->length += part;
        if (end == NULL) break;
        if (take_line(r) == GESS__PROGRAM_WRONG) return GESS__PROGRAM_WRONG;
        bytes = end + 1;
        size -= part + 1;
    }
    if (r->got == r->n && r->length > 0)
        return wrong(r, r->got, "which is more than was asked for", r->line, r->length);
    return r->got == r->n ? GESS__PROGRAM_ENOUGH : GESS__PROGRAM_MORE;
}

static enum gess__program_more take_binary(gess__exec_reader *r, const char *bytes, size_t size)
{
    size_t have = r->got * sizeof(double) + r->length, all = r->n * sizeof(double);
    if (size > all - have) {
        r->bad = r->n - 1;
        snprintf(r->cause, sizeof r->cause, "answered %zu points with %zu bytes or more instead of %zu", r->n,
                 have + size, all);
        return GESS__PROGRAM_WRONG;
    }
    memcpy((char *)r->values + have, bytes, size);
    have += size;
    r->got = have / sizeof(double);
    r->length = have % sizeof(double);
    if (have < all) return GESS__PROGRAM_MORE;
    for (size_t i = 0; i < r->n; i++) {
        uint64_t bits = little(r->values + i);
        memcpy(r->values + i, &bits, sizeof bits);
    }
    return GESS__PROGRAM_ENOUGH;
}

enum gess__program_more gess__exec_take(void *reader, const char *bytes, size_t size)
{
    gess__exec_reader *r = reader;
    return r->binary ? take_binary(r, bytes, size) : take_text(r, bytes, size);
}

/* ---- the greeting ---- */

enum gess__program_more gess__exec_take_greeting(void *greeting, const char *bytes, size_t size)
{
    gess__exec_greeting *g = greeting;
    const char *end = memchr(bytes, '\n', size);
    size_t part = end != NULL ? (size_t)(end - bytes) : size;
    if (g->length + part + 1 > MAX_GREETING) return GESS__PROGRAM_WRONG;
    if (g->length + part + 1 > g->room) {
        size_t room = 2 * (g->length + part + 1);
        char *more = realloc(g->text, room);
        if (more == NULL) return GESS__PROGRAM_WRONG;
        g->text = more;
        g->room = room;
    }
    memcpy(g->text + g->length, bytes, part);
    g->length += part;
    g->text[g->length] = '\0';
    g->complete = end != NULL;
    g->extra = end != NULL && part + 1 < size;
    if (g->extra) return GESS__PROGRAM_WRONG;
    return end != NULL ? GESS__PROGRAM_ENOUGH : GESS__PROGRAM_MORE;
}

/* The next word of a text, terminated, or NULL; *text moves behind it. */
static char *next_word(char **text)
{
    char *word = *text + strspn(*text, " \t\r");
    if (*word == '\0') return NULL;
    char *end = word + strcspn(word, " \t\r");
    *text = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

/* `ok [binary] DIM` at the beginning; *text moves behind it. */
static bool parse_start(char **text, bool *binary, size_t *dim)
{
    char *word = next_word(text), *end;
    if (word == NULL || strcmp(word, "ok") != 0) return false;
    word = next_word(text);
    *binary = word != NULL && strcmp(word, "binary") == 0;
    if (*binary) word = next_word(text);
    if (word == NULL || word[0] < '0' || word[0] > '9') return false;
    unsigned long long value = strtoull(word, &end, 10);
    *dim = (size_t)value;
    return *end == '\0';
}

/* Cuts `(lower,upper)` or `(lower,upper,periodic)` off a name. Returns whether it is there. */
static bool cut_bounds(char *name, double *lower, double *upper, unsigned char *periodic)
{
    static const char around[] = ",periodic)";
    size_t length = strlen(name), tail = strlen(around);
    char *open = strrchr(name, '('), *comma = open != NULL ? strchr(open, ',') : NULL;
    if (comma == NULL || open == name || name[length - 1] != ')') return false;
    *periodic = length > tail && strcmp(name + length - tail, around) == 0;
    name[*periodic ? length - tail : length - 1] = '\0';
    *comma = '\0';
    if (gess__parse_real(open + 1, lower) && gess__parse_real(comma + 1, upper)) {
        *open = '\0';
        return true;
    }
    *comma = ','; /* some name with brackets */
    name[*periodic ? length - tail : length - 1] = *periodic ? ',' : ')';
    *periodic = 0;
    return false;
}

static int take_names(gess__model *m, char *text, char cause[GESS__EXEC_CAUSE], gess_error *err)
{
    size_t dim = m->model.dim, count = 0;
    const char **names = NULL;
    double *lower = NULL, *upper = NULL;
    unsigned char *periodic = NULL;
    char *word = next_word(&text);
    if (word == NULL) return GESS_OK;
    GESS_MODEL_ALLOC(m, &names, dim, err);
    GESS_MODEL_ALLOC(m, &lower, dim, err);
    GESS_MODEL_ALLOC(m, &upper, dim, err);
    GESS_MODEL_ALLOC(m, &periodic, dim, err);
    for (; word != NULL; word = next_word(&text), count++) {
        if (count >= dim) continue;
        lower[count] = -INFINITY;
        upper[count] = INFINITY;
        cut_bounds(word, &lower[count], &upper[count], &periodic[count]);
        names[count] = word;
    }
    m->model.names = names;
    m->model.lower = lower;
    m->model.upper = upper;
    m->model.periodic = periodic;
    if (count == dim) return GESS_OK;
    snprintf(cause, GESS__EXEC_CAUSE, "gives %zu name%s for %zu parameters in its greeting; give each one, or none",
             count, count == 1 ? "" : "s", dim);
    return GESS_ERR_MODEL;
}

int gess__exec_parse_greeting(gess__model *m, char *text, bool *binary, char cause[GESS__EXEC_CAUSE], gess_error *err)
{
    char shown[SHOWN + 8];
    gess__program_show(text, strlen(text), shown, sizeof shown);
    if (strncmp(text, "error ", 6) == 0) {
        snprintf(cause, GESS__EXEC_CAUSE, "says: %.200s", text + 6);
        return GESS_ERR_MODEL;
    }
    if (!parse_start(&text, binary, &m->model.dim)) {
        snprintf(cause, GESS__EXEC_CAUSE,
                 "greets with `%s` instead of `ok DIM`, with the number of its parameters; only answers go to standard "
                 "output, messages to standard error",
                 shown);
        return GESS_ERR_MODEL;
    }
    GESS_TRY(gess__model_check_counts(m->model.dim, 0, 0, err));
    return take_names(m, text, cause, err);
}

bool gess__exec_same_greeting(const char *text, size_t dim, bool binary)
{
    char start[64], *at = start;
    bool other_binary;
    size_t other_dim;
    snprintf(start, sizeof start, "%s", text);
    return parse_start(&at, &other_binary, &other_dim) && other_dim == dim && other_binary == binary;
}
