/* Arguments of shell commands that messages show, ready to paste. */
#ifndef GESS_BASE_SHELL_H
#define GESS_BASE_SHELL_H

#include <stdio.h>

/* Writes text followed by `ending`, in quotes if a shell needs them. */
void gess__shell_put(FILE *out, const char *text, const char *ending);

/* The same into quoted[size]; "" if it does not fit. Returns `quoted`. */
const char *gess__shell_quote(const char *text, char *quoted, size_t size);

#endif
