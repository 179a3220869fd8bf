/* Allocates zeroed, aligned memory, and copies text. */
#include "base/mem.h"

#include "base/assert.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int gess__alloc_bytes(void *out, size_t count, size_t size, const char *what, gess_error *err)
{
    void *memory = NULL;
    GESS_ASSERT(out != NULL);
    if (count <= (SIZE_MAX - GESS__ALIGN) / (size == 0 ? 1 : size)) {
        size_t bytes = count * size;
        bytes = (bytes + GESS__ALIGN - 1) / GESS__ALIGN * GESS__ALIGN;
        memory = aligned_alloc(GESS__ALIGN, bytes == 0 ? GESS__ALIGN : bytes);
        if (memory != NULL) memset(memory, 0, bytes == 0 ? GESS__ALIGN : bytes);
    }
    memcpy(out, &memory, sizeof memory);
    if (memory == NULL)
        return gess__fail(err, GESS_ERR_INTERNAL,
                          "out of memory: %zu elements of %zu bytes (%s); use fewer chains or dimensions", count, size,
                          what);
    return GESS_OK;
}

int gess__copy_text(char **out, const char *text, gess_error *err)
{
    GESS_ASSERT(text != NULL);
    size_t bytes = strlen(text) + 1;
    GESS_TRY(gess__alloc_bytes(out, bytes, 1, "text", err));
    memcpy(*out, text, bytes);
    return GESS_OK;
}

void gess__fill_struct(void *to, size_t to_size, const void *from, size_t size)
{
    memcpy(to, from, to_size < size ? to_size : size);
    if (to_size > size) memset((char *)to + size, 0, to_size - size);
}
