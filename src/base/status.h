/* Status codes, messages and the checking macro.
 *
 * Every function that can fail returns a status of <gess/gess.h> (0 is success) and takes a `gess_error *` in the
 * caller's memory. The function that finds the fault writes the message with gess__fail(); its callers pass the status
 * on with GESS_TRY(). A message says what was wrong, where, and what to do. */
#ifndef GESS_BASE_STATUS_H
#define GESS_BASE_STATUS_H

#include <gess/gess.h>
#include <stdbool.h>
#include <stddef.h>

/* Evaluates a call that returns a status, and returns that status if it is not GESS_OK. */
#define GESS_TRY(call)                                      \
    do {                                                    \
        int gess__status_ = (call);                         \
        if (gess__status_ != GESS_OK) return gess__status_; \
    } while (0)

/* Writes the message (truncated to fit) and returns `status`, for `return gess__fail(...)`.
 * `err` may be NULL. */
int gess__fail(gess_error *err, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Clang's analyser cannot know that gess__fail() returns its argument. */
#ifdef __clang_analyzer__
#define gess__fail(err, status, ...) ((void)(gess__fail)((err), (status), __VA_ARGS__), (status))
#endif

/* For public functions: a pointer that must not be NULL. The message names the function and the argument. */
#define GESS_REQUIRE(argument, err)                                                                                \
    do {                                                                                                           \
        if ((argument) == NULL) return gess__fail((err), GESS_ERR_USAGE, "%s: `%s` is NULL", __func__, #argument); \
    } while (0)

/* Puts the formatted context and ": " in front of the message in *err. Returns `status`. */
int gess__blame(gess_error *err, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
