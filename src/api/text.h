/* Text that is returned to callers: a stream into memory, with decimal points whatever the caller's locale. */
#ifndef GESS_API_TEXT_H
#define GESS_API_TEXT_H

#include "base/status.h"

#include <jansson.h>
#include <locale.h>
#include <stdio.h>

typedef struct gess__text {
    FILE *out;
    char *memory;
    size_t size;
    locale_t numbers, before; /* the C locale, and the thread's own */
} gess__text;

/* Opens the stream and sets the thread's locale; gess__text_end() must follow if this succeeds. */
int gess__text_begin(gess__text *text, gess_error *err);

/* Closes the stream and restores the locale. *result is the text, for gess_text_free(), or NULL after a failure. */
int gess__text_end(gess__text *text, char **result, gess_error *err);

/* JSON as text, as the commands print it. Takes the reference; NULL (out of memory) is an error. */
int gess__text_of_json(json_t *root, char **result, gess_error *err);

/* The message for a value of enum gess_format that a function does not have. */
int gess__no_format(const char *function, int format, gess_error *err);

#endif
