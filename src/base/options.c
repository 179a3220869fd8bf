#include "base/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const gess__option table[] = {
#define GESS_COUNT(field, option, value, lowest, highest, argument, text_)                                             \
    {.type = GESS__OPTION_COUNT, .name = option, .unit = argument, .help = text_,                                      \
     .offset = offsetof(gess_options, field), .count = (value), .low = (lowest), .high = (highest)},
#define GESS_TEXT(field, option, value, argument, text_)                                                               \
    {.type = GESS__OPTION_TEXT, .name = option, .unit = argument, .help = text_,                                       \
     .offset = offsetof(gess_options, field), .text = value},
#define GESS_FLAG(field, option, text_)                                                                                \
    {.type = GESS__OPTION_FLAG, .name = option, .help = text_, .offset = offsetof(gess_options, field)},
#include <gess/options.def>
#undef GESS_COUNT
#undef GESS_TEXT
#undef GESS_FLAG
};

const gess__option *gess__option_row(size_t i)
{
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

void gess_options_init(gess_options *options)
{
    memset(options, 0, sizeof *options);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *field = (char *)options + table[i].offset;
        if (table[i].type == GESS__OPTION_COUNT) *(uint64_t *)(void *)field = table[i].count;
        if (table[i].type == GESS__OPTION_TEXT) *(const char **)(void *)field = table[i].text;
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

static int set_count(const gess__option *row, const char *value, uint64_t *field, gess_error *err)
{
    uint64_t count;
    if (!gess__parse_count(value, &count))
        return gess__fail(err, GESS_ERR_USAGE, "--%s %s: not a whole number; write it as 1000 or 1e3", row->name, value);
    if (count < row->low || count > row->high)
        return gess__fail(err, GESS_ERR_USAGE, "--%s %s: out of range; it must be from %llu to %llu", row->name, value,
                          (unsigned long long)row->low, (unsigned long long)row->high);
    *field = count;
    return GESS_OK;
}

int gess_options_set(gess_options *options, const char *name, const char *value, gess_error *err)
{
    while (*name == '-') name++;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) != 0) continue;
        void *field = (char *)options + table[i].offset;
        switch (table[i].type) {
        case GESS__OPTION_COUNT: return set_count(&table[i], value, field, err);
        case GESS__OPTION_TEXT: *(const char **)field = value; return GESS_OK;
        case GESS__OPTION_FLAG: *(int *)field = value == NULL || strcmp(value, "0") != 0; return GESS_OK;
        }
    }
    return gess__fail(err, GESS_ERR_USAGE, "--%s: no such option; `gess sample --help` lists them", name);
}

void gess__option_show(const gess_options *options, const gess__option *option, char *text, size_t size)
{
    const void *field = (const char *)options + option->offset;
    const char *word = "";
    switch (option->type) {
    case GESS__OPTION_COUNT:
        snprintf(text, size, "%llu", (unsigned long long)*(const uint64_t *)field);
        return;
    case GESS__OPTION_TEXT:
        if (*(const char *const *)field != NULL) word = *(const char *const *)field;
        break;
    case GESS__OPTION_FLAG: word = *(const int *)field ? "1" : "0"; break;
    }
    snprintf(text, size, "%s", word);
}
