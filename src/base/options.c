/* Expands <gess/options.def> into the table of options, sets defaults, parses counts, numbers and times, and checks
 * ranges. The command, config.json and the manual use this table. */
#include "base/options.h"

#include "base/csv.h"
#include "base/mem.h"
#include "base/suggest.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(kind, field, option, argument, words)                                 \
    .type = GESS__OPTION_##kind, .name = option, .unit = argument, .help = words, \
    .offset = offsetof(gess_options, field)

static const gess__option table[] = {
#define GESS_COUNT(field, option, value, lowest, highest, argument, words) \
    {ROW(COUNT, field, option, argument, words), .count = (value), .low = (lowest), .high = (highest)},
#define GESS_COUNT_OR_AUTO(field, option, lowest, highest, argument, words) \
    {ROW(COUNT_OR_AUTO, field, option, argument, words), .count = GESS_AUTO, .low = (lowest), .high = (highest)},
#define GESS_COUNT_AUTO_TOO(field, option, value, lowest, highest, argument, words) \
    {ROW(COUNT_OR_AUTO, field, option, argument, words), .count = (value), .low = (lowest), .high = (highest)},
#define GESS_REAL(field, option, value, lowest, highest, argument, words) \
    {ROW(REAL, field, option, argument, words), .real = (value), .min = (lowest), .max = (highest)},
#define GESS_TIME(field, option, argument, words) {ROW(TIME, field, option, argument, words)},
#define GESS_TEXT(field, option, value, argument, words) {ROW(TEXT, field, option, argument, words), .text = value},
#define GESS_FLAG(field, option, words) {ROW(FLAG, field, option, NULL, words)},
#include "base/options_rows.h"
};

const gess__option *gess__option_row(size_t i)
{
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

static const gess__option *find_row(const char *name)
{
    while (*name == '-') name++;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    return NULL;
}

static int no_such_option(const char *name, gess_error *err)
{
    char hint[128];
    while (*name == '-') name++;
    gess__nearest nearest = {.word = name};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) gess__nearest_offer(&nearest, table[i].name);
    return gess__fail(err, GESS_ERR_USAGE, "--%.200s: no such option%s; `gess sample --help` lists them", name,
                      gess__did_you_mean(&nearest, hint));
}

void gess__options_init(gess_options *options)
{
    memset(options, 0, sizeof *options);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        void *field = (char *)options + table[i].offset;
        switch (table[i].type) {
        case GESS__OPTION_COUNT:
        case GESS__OPTION_COUNT_OR_AUTO: *(uint64_t *)field = table[i].count; break;
        case GESS__OPTION_REAL: *(double *)field = table[i].real; break;
        case GESS__OPTION_TEXT: *(const char **)field = table[i].text; break;
        case GESS__OPTION_TIME:
        case GESS__OPTION_FLAG: break;
        }
    }
}

/* digits [. digits] [e digits]: exact, so that 2e6 and 18446744073709551615 are both right. */
bool gess__parse_count(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    long point = 0; /* digits after the decimal point so far */
    bool after = false, any = false;
    const char *c = text;
    for (; isdigit((unsigned char)*c) || (*c == '.' && !after); c++) {
        if (*c == '.') {
            after = true;
            continue;
        }
        if (value > (UINT64_MAX - (uint64_t)(*c - '0')) / 10) return false;
        value = value * 10 + (uint64_t)(*c - '0');
        any = true;
        point += after;
    }
    long exponent = 0;
    if (any && (*c == 'e' || *c == 'E')) {
        c += c[1] == '+' ? 2 : 1;
        if (!isdigit((unsigned char)*c)) return false;
        for (; isdigit((unsigned char)*c) && exponent < 1000; c++) exponent = exponent * 10 + (*c - '0');
    }
    if (!any || *c != '\0') return false;
    for (exponent -= point; exponent > 0; exponent--) {
        if (value > UINT64_MAX / 10) return false;
        value *= 10;
    }
    for (; exponent < 0; exponent++) {
        if (value % 10 != 0) return false;
        value /= 10;
    }
    *out = value;
    return true;
}

bool gess__parse_time(const char *text, double *out)
{
    static const struct {
        char letter;
        double seconds;
    } units[] = {{'s', 1.0}, {'m', 60.0}, {'h', 3600.0}, {'d', 86400.0}};
    char number[64];
    size_t length = strlen(text);
    double factor = 1.0, value;
    if (length == 0 || length >= sizeof number) return false;
    memcpy(number, text, length + 1);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (number[length - 1] == units[i].letter) {
            number[length - 1] = '\0';
            factor = units[i].seconds;
            break;
        }
    if (!gess__parse_real(number, &value) || !(value >= 0.0) || value > 1e12) return false;
    *out = value * factor;
    return true;
}

static int check_count(const gess__option *row, uint64_t count, gess_error *err)
{
    if (count == GESS_AUTO && row->type == GESS__OPTION_COUNT_OR_AUTO) return GESS_OK;
    if (count >= row->low && count <= row->high) return GESS_OK;
    return gess__fail(err, GESS_ERR_USAGE, "--%s %llu: out of range; it must be from %llu to %llu", row->name,
                      (unsigned long long)count, (unsigned long long)row->low, (unsigned long long)row->high);
}

static int check_real(const gess__option *row, double number, gess_error *err)
{
    if (number >= row->min && number <= row->max) return GESS_OK;
    return gess__fail(err, GESS_ERR_USAGE, "--%s %g: out of range; it must be from %g to %g", row->name, number,
                      row->min, row->max);
}

int gess__options_check(const gess_options *options, gess_error *err)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const gess__option *row = &table[i];
        const void *field = (const char *)options + row->offset;
        switch (row->type) {
        case GESS__OPTION_COUNT:
        case GESS__OPTION_COUNT_OR_AUTO: GESS_TRY(check_count(row, *(const uint64_t *)field, err)); break;
        case GESS__OPTION_REAL: GESS_TRY(check_real(row, *(const double *)field, err)); break;
        case GESS__OPTION_TIME:
            if (!(*(const double *)field >= 0.0))
                return gess__fail(err, GESS_ERR_USAGE, "--%s: a time cannot be negative", row->name);
            break;
        case GESS__OPTION_TEXT:
            if (row->text != NULL && *(const char *const *)field == NULL)
                return gess__fail(err, GESS_ERR_USAGE, "--%s is not set; its default is %s", row->name, row->text);
            break;
        case GESS__OPTION_FLAG: break;
        }
    }
    return GESS_OK;
}

static int set_count(const gess__option *row, const char *value, uint64_t *field, gess_error *err)
{
    uint64_t count;
    if (row->type == GESS__OPTION_COUNT_OR_AUTO && strcmp(value, "auto") == 0) {
        *field = GESS_AUTO;
        return GESS_OK;
    }
    if (!gess__parse_count(value, &count))
        return gess__fail(err, GESS_ERR_USAGE, "--%s %s: not a whole number%s; write it as 1000 or 1e3", row->name,
                          value, row->type == GESS__OPTION_COUNT_OR_AUTO ? " or `auto`" : "");
    GESS_TRY(check_count(row, count, err));
    *field = count;
    return GESS_OK;
}

static int set_real(const gess__option *row, const char *value, double *field, gess_error *err)
{
    double number;
    if (!gess__parse_real(value, &number))
        return gess__fail(err, GESS_ERR_USAGE, "--%s %s: not a number", row->name, value);
    GESS_TRY(check_real(row, number, err));
    *field = number;
    return GESS_OK;
}

static int set_time(const gess__option *row, const char *value, double *field, gess_error *err)
{
    if (gess__parse_time(value, field)) return GESS_OK;
    return gess__fail(err, GESS_ERR_USAGE, "--%s %s: not a time; write it as 90s, 5m, 2h or 1d", row->name, value);
}

static int set_flag(const gess__option *row, const char *value, int *field, gess_error *err)
{
    if (value != NULL && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        return gess__fail(err, GESS_ERR_USAGE, "--%s %s: it is a flag, on with 1 and off with 0", row->name, value);
    *field = value == NULL || *value == '1';
    return GESS_OK;
}

/* Copies the text; NULL or an empty one gives the option its default back. */
static int set_text(gess_options *options, const gess__option *row, const char *value, gess_error *err)
{
    char **owned = &options->owned[row - table], *copy = NULL;
    if (value != NULL && *value != '\0') GESS_TRY(gess__copy_text(&copy, value, err));
    free(*owned);
    *owned = copy;
    *(const char **)(void *)((char *)options + row->offset) = copy != NULL ? copy : row->text;
    return GESS_OK;
}

int gess_options_set(gess_options *options, const char *name, const char *value, gess_error *err)
{
    GESS_REQUIRE(options, err);
    GESS_REQUIRE(name, err);
    const gess__option *row = find_row(name);
    if (row == NULL) return no_such_option(name, err);
    void *field = (char *)options + row->offset;
    if (value == NULL && row->type != GESS__OPTION_FLAG && row->type != GESS__OPTION_TEXT)
        return gess__fail(err, GESS_ERR_USAGE, "--%s needs a value", row->name);
    switch (row->type) {
    case GESS__OPTION_COUNT:
    case GESS__OPTION_COUNT_OR_AUTO: return set_count(row, value, field, err);
    case GESS__OPTION_REAL: return set_real(row, value, field, err);
    case GESS__OPTION_TIME: return set_time(row, value, field, err);
    case GESS__OPTION_TEXT: return set_text(options, row, value, err);
    case GESS__OPTION_FLAG: return set_flag(row, value, field, err);
    }
    return GESS_OK;
}

int gess_options_get(const gess_options *options, const char *name, char *value, size_t size, gess_error *err)
{
    GESS_REQUIRE(options, err);
    GESS_REQUIRE(name, err);
    GESS_REQUIRE(value, err);
    const gess__option *row = find_row(name);
    if (row == NULL) return no_such_option(name, err);
    char text[64];
    const char *shown = text;
    if (row->type == GESS__OPTION_TEXT) {
        shown = *(const char *const *)(const void *)((const char *)options + row->offset);
        if (shown == NULL) shown = "";
    } else {
        gess__option_show(options, row, text, sizeof text);
    }
    if (strlen(shown) >= size)
        return gess__fail(err, GESS_ERR_USAGE, "--%s: its value needs %zu bytes, and there are %zu", row->name,
                          strlen(shown) + 1, size);
    strcpy(value, shown);
    return GESS_OK;
}

/* ---- handles ---- */

void gess__options_clear(gess_options *options)
{
    for (size_t i = 0; i < GESS__OPTION_ROWS; i++) free(options->owned[i]);
    memset(options->owned, 0, sizeof options->owned);
}

int gess__options_copy(gess_options *to, const gess_options *from, gess_error *err)
{
    *to = *from;
    memset(to->owned, 0, sizeof to->owned);
    for (size_t i = 0; i < GESS__OPTION_ROWS; i++) {
        if (table[i].type != GESS__OPTION_TEXT) continue;
        const char *text = *(const char *const *)(const void *)((const char *)from + table[i].offset);
        if (text == NULL || text == table[i].text) continue;
        int status = set_text(to, &table[i], text, err);
        if (status == GESS_OK) continue;
        gess__options_clear(to);
        return status;
    }
    return GESS_OK;
}

int gess_options_new(gess_options **options, gess_error *err)
{
    GESS_REQUIRE(options, err);
    GESS_ALLOC(options, 1, err);
    gess__options_init(*options);
    return GESS_OK;
}

int gess_options_copy(gess_options **copy, const gess_options *options, gess_error *err)
{
    GESS_REQUIRE(copy, err);
    *copy = NULL;
    GESS_REQUIRE(options, err);
    GESS_ALLOC(copy, 1, err);
    int status = gess__options_copy(*copy, options, err);
    if (status == GESS_OK) return GESS_OK;
    free(*copy);
    *copy = NULL;
    return status;
}

void gess_options_free(gess_options *options)
{
    if (options == NULL) return;
    gess__options_clear(options);
    free(options);
}

int gess_options_set_watch(gess_options *options, gess_watch_fn *fn, void *user, gess_error *err)
{
    GESS_REQUIRE(options, err);
    options->watch = fn;
    options->watch_user = user;
    return GESS_OK;
}

int gess_options_set_comm(gess_options *options, gess_comm *comm, gess_error *err)
{
    GESS_REQUIRE(options, err);
    options->comm = comm;
    return GESS_OK;
}

void gess__option_show(const gess_options *options, const gess__option *option, char *text, size_t size)
{
    const void *field = (const char *)options + option->offset;
    const char *word = "";
    switch (option->type) {
    case GESS__OPTION_COUNT_OR_AUTO:
        if (*(const uint64_t *)field == GESS_AUTO) {
            word = "auto";
            break;
        }
        /* fall through */
    case GESS__OPTION_COUNT: snprintf(text, size, "%llu", (unsigned long long)*(const uint64_t *)field); return;
    case GESS__OPTION_REAL:
    case GESS__OPTION_TIME: gess__show_real(text, size, *(const double *)field); return;
    case GESS__OPTION_TEXT:
        if (*(const char *const *)field != NULL) word = *(const char *const *)field;
        break;
    case GESS__OPTION_FLAG: word = *(const int *)field ? "1" : "0"; break;
    }
    snprintf(text, size, "%s", word);
}
