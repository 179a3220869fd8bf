/* "Did you mean …?": the name nearest to a word that names nothing. */
#ifndef GESS_BASE_SUGGEST_H
#define GESS_BASE_SUGGEST_H

#include "base/status.h"

/* The number of insertions, deletions, changes and swaps of neighbours that make one text of the other: the restricted
 * distance of F. J. Damerau, Communications of the ACM 7 (1964), 171-176. Only the first 63 bytes count. */
size_t gess__edit_distance(const char *a, const char *b);

/* The search for the nearest name: begin with {.word = …}, offer names, then read `name`. */
typedef struct gess__nearest {
    const char *word;
    const char *name; /* the nearest offered so far, the first of equals; NULL: none is near */
    size_t distance;
} gess__nearest;

void gess__nearest_offer(gess__nearest *nearest, const char *name);

/* " (did you mean `NAME`?)" for a message, or "" if no name is near. */
const char *gess__did_you_mean(const gess__nearest *nearest, char text[128]);

#endif
