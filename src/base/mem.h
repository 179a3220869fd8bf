/* Allocates memory that is zeroed and aligned to pairs of cache lines. Sizes are checked for overflow; a failure is a
 * message, not a crash. */
#ifndef GESS_BASE_MEM_H
#define GESS_BASE_MEM_H

#include "base/status.h"

#define GESS__ALIGN 128

/* Allocates count × size bytes into *out, a pointer to any object pointer; released with free().
 * count × size = 0 gives a valid pointer. */
int gess__alloc_bytes(void *out, size_t count, size_t size, const char *what, gess_error *err);

/* GESS_ALLOC(&pointer, count, err): `count` elements of the pointer's type. */
#define GESS_ALLOC(pointer, count, err) \
    GESS_TRY(gess__alloc_bytes((pointer), (count), sizeof **(pointer), #pointer, (err)))

/* A copy of a string, which the caller frees. */
int gess__copy_text(char **out, const char *text, gess_error *err);

/* Fills the caller's struct of to_size bytes with ours of `size` bytes. Fields that only the caller knows become 0. */
void gess__fill_struct(void *to, size_t to_size, const void *from, size_t size);

#endif
