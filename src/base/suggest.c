/* Computes edit distances, and decides how far a word may be from the name that was meant. */
#include "base/suggest.h"

#include "base/assert.h"

#include <gess/gess.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b, size_t c)
{
    size_t d = a < b ? a : b;
    return d < c ? d : c;
}

size_t gess__edit_distance(const char *a, const char *b)
{
    size_t n = strnlen(a, LONGEST), m = strnlen(b, LONGEST), rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2]; /* of the prefixes of a */
    for (size_t j = 0; j <= m; j++) last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = least(row[j - 1] + 1, last[j] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        size_t *swap = before;
        before = last;
        last = row;
        row = swap;
    }
    return last[m];
}

void gess__nearest_offer(gess__nearest *nearest, const char *name)
{
    GESS_ASSERT(nearest->word != NULL && name != NULL);
    size_t distance = gess__edit_distance(nearest->word, name), length = strlen(nearest->word);
    if (distance > (length + 2) / 3 || distance >= strlen(name)) return; /* another word altogether */
    if (nearest->name != NULL && distance >= nearest->distance) return;
    nearest->name = name;
    nearest->distance = distance;
}

const char *gess__did_you_mean(const gess__nearest *nearest, char text[128])
{
    text[0] = '\0';
    if (nearest->name != NULL) snprintf(text, 128, " (did you mean `%.100s`?)", nearest->name);
    return text;
}

int gess_nearest_name(const char *word, size_t count, const char *const *names, size_t *index, gess_error *err)
{
    GESS_REQUIRE(word, err);
    GESS_REQUIRE(names, err);
    GESS_REQUIRE(index, err);
    gess__nearest nearest = {.word = word};
    *index = count;
    for (size_t i = 0; i < count; i++) {
        if (names[i] == NULL) continue;
        const char *before = nearest.name;
        gess__nearest_offer(&nearest, names[i]);
        if (nearest.name != before) *index = i;
    }
    return GESS_OK;
}
