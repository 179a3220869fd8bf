/* Parses CSV text: lines, quoted names, decimal numbers in the C locale; quotes names for writers. Messages name the
 * line and the column of a fault. */
#include "base/csv.h"

#include "base/assert.h"
#include "base/format.h"
#include "base/mem.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A piece of the file's text, not terminated. */
typedef struct span {
    const char *begin, *end;
} span;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static span trimmed(span s)
{
    while (s.begin < s.end && is_blank(*s.begin)) s.begin++;
    while (s.begin < s.end && is_blank(s.end[-1])) s.end--;
    return s;
}

/* ---- numbers ---- */

/* Whether s has only the characters of decimal numbers, or is nan, inf or infinity with an optional sign. strtod() also
 * takes hexadecimal numbers and nan(...), which are refused here. */
static bool looks_decimal(span s)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    span body = s;
    if (body.begin < body.end && (*body.begin == '+' || *body.begin == '-')) body.begin++;
    size_t length = (size_t)(body.end - body.begin);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (length == strlen(words[i]) && strncasecmp(body.begin, words[i], length) == 0) return true;
    bool digit = false;
    for (const char *c = s.begin; c < s.end; c++) {
        if (*c >= '0' && *c <= '9')
            digit = true;
        else if (*c != '+' && *c != '-' && *c != '.' && *c != 'e' && *c != 'E')
            return false;
    }
    return digit;
}

/* The byte at s.end must be readable, and must not be part of a number. */
static bool parse_span(span s, locale_t c_locale, double *out)
{
    s = trimmed(s);
    if (!looks_decimal(s)) return false;
    char *end;
    double value = strtod_l(s.begin, &end, c_locale);
    if (end != s.end) return false;
    /* 1e999 is a mistake, not an infinity */
    bool digits = s.end[-1] >= '0' && s.end[-1] <= '9';
    if (isinf(value) && (digits || s.end[-1] == '.')) return false;
    *out = value;
    return true;
}

bool gess__parse_real(const char *text, double *out)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) return false;
    bool good = gess__parse_real_in(text, c_locale, out);
    freelocale(c_locale);
    return good;
}

bool gess__parse_real_in(const char *text, locale_t c_locale, double *out)
{
    return parse_span((span){text, text + strlen(text)}, c_locale, out);
}

size_t gess__show_real(char *text, size_t size, double number)
{
    int length = gess__format(text, size, "%.17g", number);
    return length > 0 ? (size_t)length : 0;
}

/* ---- text ---- */

/* Reads the whole file and adds a NUL. The caller frees *text, also after a failure. */
static int read_file(const char *path, char **text, size_t *length, gess_error *err)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return gess__fail(err, GESS_ERR_FILE, "cannot open %s: %s; check the path", path, strerror(errno));
    size_t capacity = 1 << 16, used = 0;
    int status = GESS_OK;
    *text = malloc(capacity);
    while (*text != NULL) {
        used += fread(*text + used, 1, capacity - 1 - used, file);
        if (used < capacity - 1) break;
        char *larger = capacity > SIZE_MAX / 2 ? NULL : realloc(*text, capacity * 2);
        if (larger == NULL) free(*text);
        *text = larger;
        capacity *= 2;
    }
    if (*text == NULL)
        status = gess__fail(err, GESS_ERR_FILE, "%s does not fit into memory; split it", path);
    else if (ferror(file))
        status = gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s; check that it is a file", path, strerror(errno));
    else
        (*text)[used] = '\0';
    *length = used;
    fclose(file);
    return status;
}

/* Puts the next line that is neither empty nor a comment into *line, without its line break; false at the end of the
 * text. */
static bool next_line(span *rest, span *line, size_t *number)
{
    while (rest->begin < rest->end) {
        const char *end = memchr(rest->begin, '\n', (size_t)(rest->end - rest->begin));
        *line = (span){rest->begin, end == NULL ? rest->end : end};
        rest->begin = end == NULL ? rest->end : end + 1;
        (*number)++;
        span content = trimmed(*line);
        if (content.begin < content.end && *content.begin != '#') return true;
    }
    return false;
}

/* Joins the lines of a quoted name that contains line breaks. Without a closing quote nothing changes. */
static void join_quoted(span *rest, span *line, size_t *number)
{
    span joined = *line, after = *rest;
    size_t quotes = 0, lines = 0;
    for (const char *c = line->begin;; c++) {
        if (c == joined.end) {
            if (quotes % 2 == 0) break;
            if (after.begin >= after.end) return;
            const char *end = memchr(after.begin, '\n', (size_t)(after.end - after.begin));
            joined.end = end == NULL ? after.end : end;
            after.begin = end == NULL ? after.end : end + 1;
            lines++;
        }
        quotes += *c == '"';
    }
    *line = joined;
    *rest = after;
    *number += lines;
}

/* Puts the next field of the line into *field; false past the last one. A comma inside double quotes does not separate.
 * `line->begin` becomes NULL after the last field. */
static bool next_field(span *line, span *field)
{
    if (line->begin == NULL) return false;
    bool quoted = false;
    const char *c = line->begin;
    for (; c < line->end && (quoted || *c != ','); c++)
        if (*c == '"') quoted = !quoted;
    *field = (span){line->begin, c};
    line->begin = c < line->end ? c + 1 : NULL;
    return true;
}

static size_t count_fields(span line)
{
    size_t count = 0;
    span field;
    while (next_field(&line, &field)) count++;
    return count;
}

/* Copies a name without its blanks and quotes; "" inside quotes is one quote. */
static int copy_name(span s, char **out, gess_error *err)
{
    s = trimmed(s);
    bool quoted = s.end - s.begin >= 2 && *s.begin == '"' && s.end[-1] == '"';
    if (quoted) {
        s.begin++;
        s.end--;
    }
    GESS_ALLOC(out, (size_t)(s.end - s.begin) + 1, err);
    char *to = *out;
    for (const char *c = s.begin; c < s.end; c++) {
        if (*c == '\0') continue;
        *to++ = *c;
        if (quoted && *c == '"' && c + 1 < s.end && c[1] == '"') c++;
    }
    return GESS_OK;
}

/* At most 40 characters of a field for a message, with unprintable ones as `?`. */
static const char *shown(span s, char buffer[44])
{
    s = trimmed(s);
    size_t length = (size_t)(s.end - s.begin), kept = length > 40 ? 37 : length;
    for (size_t i = 0; i < kept; i++) {
        unsigned char c = (unsigned char)s.begin[i];
        buffer[i] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    strcpy(buffer + kept, length > 40 ? "..." : "");
    return buffer;
}

/* ---- tables ---- */

static int read_header(gess__table *table, span line, gess_error *err)
{
    GESS_ALLOC(&table->names, table->columns, err);
    span field;
    for (size_t i = 0; next_field(&line, &field); i++) GESS_TRY(copy_name(field, &table->names[i], err));
    return GESS_OK;
}

/* Reads one line of numbers into `values`; false if a field is not a number: *bad and *column
 * (from 1) say which. */
static bool read_numbers(span line, locale_t c_locale, double *values, span *bad, size_t *column)
{
    span field;
    for (size_t i = 0; next_field(&line, &field); i++)
        if (!parse_span(field, c_locale, &values[i])) {
            *bad = field;
            *column = i + 1;
            return false;
        }
    return true;
}

static int read_table(gess__table *table, const char *path, span rest, locale_t c_locale, gess_error *err)
{
    static const char mark[] = "\xef\xbb\xbf"; /* byte order mark, which some editors write */
    if (rest.end - rest.begin >= 3 && memcmp(rest.begin, mark, 3) == 0) rest.begin += 3;
    size_t fields = 1; /* an upper bound on the fields of the whole file */
    for (const char *c = rest.begin; c < rest.end; c++) fields += *c == ',' || *c == '\n';

    span line, bad;
    size_t number = 0, column;
    char buffer[44];
    if (!next_line(&rest, &line, &number))
        return gess__fail(err, GESS_ERR_USAGE, "%s holds no numbers: it is empty or has only comments", path);
    join_quoted(&rest, &line, &number);
    table->columns = count_fields(line);
    GESS_ALLOC(&table->values, fields, err);
    if (read_numbers(line, c_locale, table->values, &bad, &column))
        table->rows = 1;
    else
        GESS_TRY(read_header(table, line, err));

    while (next_line(&rest, &line, &number)) {
        size_t count = count_fields(line);
        if (count != table->columns)
            return gess__fail(err, GESS_ERR_USAGE,
                              "%s, line %zu: %zu fields, but the first line has %zu; give every line as many", path,
                              number, count, table->columns);
        if (!read_numbers(line, c_locale, table->values + table->rows * table->columns, &bad, &column))
            return gess__fail(err, GESS_ERR_USAGE,
                              "%s, line %zu, column %zu: '%s' is not a number; write numbers such as -1.5e-3, "
                              "nan, "
                              "inf or -inf, separated by commas",
                              path, number, column, shown(bad, buffer));
        table->rows++;
    }
    if (table->rows == 0)
        return gess__fail(err, GESS_ERR_USAGE, "%s has a header but no line of numbers after it: add one", path);
    return GESS_OK;
}

int gess__table_read(gess__table *table, const char *path, gess_error *err)
{
    GESS_ASSERT(path != NULL);
    *table = (gess__table){0};
    char *text = NULL;
    size_t length = 0;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory while opening %s", path);
    int status = read_file(path, &text, &length, err);
    if (status == GESS_OK) status = read_table(table, path, (span){text, text + length}, c_locale, err);
    if (status != GESS_OK) gess__table_free(table);
    free(text);
    freelocale(c_locale);
    return status;
}

void gess__table_free(gess__table *table)
{
    if (table->names != NULL)
        for (size_t i = 0; i < table->columns; i++) free(table->names[i]);
    free(table->names);
    free(table->values);
    *table = (gess__table){0};
}

void gess__csv_put_name(FILE *out, const char *name)
{
    if (strpbrk(name, ",\"\n\r") == NULL) {
        fputs(name, out);
        return;
    }
    fputc('"', out);
    for (; *name != '\0'; name++) {
        if (*name == '"') fputc('"', out);
        fputc(*name, out);
    }
    fputc('"', out);
}
