/* Checks arguments of public functions, and copies structs between versions of the interface. */
#include "api/argument.h"

#include <string.h>

int gess__check_index(const char *function, const char *what, size_t index, size_t count, gess_error *err)
{
    if (index < count) return GESS_OK;
    return gess__fail(err, GESS_ERR_USAGE, "%s: there are %zu %s, numbered from 0; %zu is not among them", function,
                      count, what, index);
}

int gess__check_paths(const char *function, size_t count, const char *const *paths, gess_error *err)
{
    if (count == 0) return gess__fail(err, GESS_ERR_USAGE, "%s: `count` is 0; give one file per chain", function);
    for (size_t i = 0; i < count; i++)
        if (paths[i] == NULL) return gess__fail(err, GESS_ERR_USAGE, "%s: `paths[%zu]` is NULL", function, i);
    return GESS_OK;
}

int gess__take_struct(const char *function, void *to, size_t size, const void *from, size_t from_size, gess_error *err)
{
    const unsigned char *bytes = from;
    memset(to, 0, size);
    if (from == NULL) return GESS_OK;
    memcpy(to, from, from_size < size ? from_size : size);
    for (size_t i = size; i < from_size; i++)
        if (bytes[i] != 0)
            return gess__fail(err, GESS_ERR_USAGE,
                              "%s: `settings` has a field that gess %s does not know; install the version that the "
                              "program was written for",
                              function, GESS_VERSION_TEXT);
    return GESS_OK;
}
