/* Status codes, messages and the checking macro.
 *
 * Every function that can fail returns a status of <gess/status.def> (0 is good) and takes a
 * `gess_error *` in the caller's memory. The place that finds the fault writes the message with
 * gess__fail(); everyone above passes the status on with GESS_TRY(). A message says what was
 * wrong, where, and what to do. */
#ifndef GESS_BASE_STATUS_H
#define GESS_BASE_STATUS_H

#include <gess/gess.h>
#include <stdbool.h>
#include <stddef.h>

/* Calls something that returns a status and returns that status if it is not good. */
#define GESS_TRY(call)                                      \
    do {                                                    \
        int gess__status_ = (call);                         \
        if (gess__status_ != GESS_OK) return gess__status_; \
    } while (0)

/* Writes the message (truncated to fit) and returns `status`, for `return gess__fail(...)`.
 * `err` may be NULL. */
int gess__fail(gess_error *err, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The analyser of clang cannot know that what is returned is what was given. */
#ifdef __clang_analyzer__
#define gess__fail(err, status, ...) ((void)(gess__fail)((err), (status), __VA_ARGS__), (status))
#endif

/* Puts `context` and ": " in front of the message that is already there. Returns err's status. */
int gess__blame(gess_error *err, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
