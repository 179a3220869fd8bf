/* An external program that this process starts and talks to through its standard streams.
 *
 * It is a command of /bin/sh, in a process group of its own, which signals to this process do not reach. It is killed,
 * with all that it has started in that group, by gess__program_stop(), or by the keeper if this process ends without
 * that. After fork() it belongs to the process that started it: a copy may only abandon it. */
#ifndef GESS_PARALLEL_PROGRAM_H
#define GESS_PARALLEL_PROGRAM_H

#include "parallel/keeper.h"
#include "parallel/processes.h"

typedef struct gess__program gess__program;

/* Takes a line that the program has written to its standard error, without its end, shown as text in one line. */
typedef void gess__program_heard_fn(void *user, const char *line);

/* `environment`: NAME=VALUE, NULL at the end, added to that of this process, of which it replaces variables. */
int gess__program_start(gess__program **program, const gess__keeper *keeper, const char *command,
                        const char *const *environment, gess__program_heard_fn *heard, void *user, gess_error *err);
/* Tells it that nothing more comes, so that it may end. */
void gess__program_end_input(gess__program *program /* or NULL */);
/* Kills it, unless it ends by itself within `patience` seconds of the end of its input, and frees it. */
void gess__program_stop(gess__program *program /* or NULL */, double patience);
/* Frees a copy that fork() has made. */
void gess__program_abandon(gess__program *program /* or NULL */);

/* What a reader wants after some bytes of standard output. */
enum gess__program_more { GESS__PROGRAM_MORE, GESS__PROGRAM_ENOUGH, GESS__PROGRAM_WRONG };

typedef struct gess__exchange {
    const char *out; /* written to its standard input; size bytes */
    size_t size;
    enum gess__program_more (*take)(void *reader, const char *bytes, size_t size); /* gets its standard output */
    void *reader;
    double seconds; /* the limit; 0: none */
    gess__interrupt_fn *interrupt;
    void *user;
} gess__exchange;

/* Writes, and reads until the reader has enough (GESS__PROCESS_DONE) or the answer is wrong (GESS__PROCESS_WRONG). The
 * other ends are those of gess__processes_call(). After any but DONE the program is of no more use: stop it. */
enum gess__process_end gess__program_exchange(gess__program *program, const gess__exchange *exchange);

/* Before an exchange: whether the program is still there (DONE), has written something that it was not asked for
 * (WRONG; up to size - 1 bytes of it in text), or is gone (DIED). */
enum gess__process_end gess__program_check(gess__program *program, char *text, size_t size);

/* How it ended, as words that follow "the program": "ended with exit status 3", and the last line of its standard
 * error. Reads what it has left there, and kills what has closed its output but goes on. */
void gess__program_describe(gess__program *program, char *text, size_t size);

/* Writes up to `size` bytes as text for a message: what is not printable becomes ?, and … says that it goes on. */
void gess__program_show(const char *bytes, size_t size, char *text, size_t room);

#endif
