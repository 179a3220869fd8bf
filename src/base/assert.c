/* Prints a failed assertion and aborts. */
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef GESS_ASSERTIONS

_Noreturn void gess__assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "gess: assertion failed: %s (%s:%d); this is a mistake in gess, please report it\n", condition,
            file, line);
    abort();
}

#else

typedef int gess__no_assertions; /* a translation unit may not be empty */

#endif
