/* What the public functions check beside GESS_REQUIRE: indices, lists of paths, and structs whose size the caller
 * gives. */
#ifndef GESS_API_ARGUMENT_H
#define GESS_API_ARGUMENT_H

#include "base/mem.h"

/* Fails if `index` is not below `count`. `what`: of what, in the plural. */
int gess__check_index(const char *function, const char *what, size_t index, size_t count, gess_error *err);

/* Fails unless all `count` paths are there and none of them is NULL. */
int gess__check_paths(const char *function, size_t count, const char *const *paths, gess_error *err);

/* Copies the caller's struct of from_size bytes, or nothing if it is NULL, into ours of `size` bytes. Fields that the
 * caller does not know become 0; fields that we do not know must be 0. */
int gess__take_struct(const char *function, void *to, size_t size, const void *from, size_t from_size, gess_error *err);

#endif
