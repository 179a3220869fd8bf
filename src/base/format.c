/* Puts the thread into the C locale while it formats. */
#include "base/format.h"

#include <locale.h>
#include <stdio.h>

int gess__vformat(char *text, size_t size, const char *format, va_list args)
{
    locale_t numbers = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before = (locale_t)0;
    if (numbers != (locale_t)0) before = uselocale(numbers);
    int length = vsnprintf(text, size, format, args);
    if (numbers != (locale_t)0) {
        uselocale(before);
        freelocale(numbers);
    }
    return length;
}

int gess__format(char *text, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = gess__vformat(text, size, format, args);
    va_end(args);
    return length;
}
