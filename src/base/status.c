/* Writes error messages, puts a context in front of them, and names status codes. */
#include "base/status.h"

#include "base/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int(gess__fail)(gess_error *err, int status, const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        gess__vformat(err->text, sizeof err->text, format, args);
        va_end(args);
        err->status = status;
        err->density_text[0] = '\0';
        err->chain = 0;
        err->dim = 0;
    }
    return status;
}

int gess__blame(gess_error *err, int status, const char *format, ...)
{
    if (err != NULL) {
        char old[sizeof err->text], context[sizeof err->text / 2];
        memcpy(old, err->text, sizeof old);
        va_list args;
        va_start(args, format);
        gess__vformat(context, sizeof context, format, args);
        va_end(args);
        snprintf(err->text, sizeof err->text, "%s: %.*s", context, (int)(sizeof err->text - strlen(context) - 3), old);
        err->status = status;
    }
    return status;
}

const char *gess_version(void)
{
    return GESS_VERSION_TEXT;
}

int gess_version_number(void)
{
    return GESS_VERSION_NUMBER;
}

const char *gess_status_text(int status)
{
    switch (status) {
#define GESS_STATUS(name, value, text) \
    case value:                        \
        return text;
#include <gess/status.def>
#undef GESS_STATUS
    default: return "unknown status";
    }
}
