/* snprintf() with decimal points, whatever the locale of the calling thread: what gess writes must not depend on it. */
#ifndef GESS_BASE_FORMAT_H
#define GESS_BASE_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

int gess__format(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int gess__vformat(char *text, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

#endif
