/* Densities that a program computes, `exec:COMMAND`. The protocol is in docs/file-formats.md. */
#ifndef GESS_MODEL_EXEC_H
#define GESS_MODEL_EXEC_H

#include "model/model.h"
#include "parallel/program.h"

#include <locale.h>

/* The command of a specification `exec:COMMAND`; NULL: it is another sort of model. */
const char *gess__exec_command(const char *specification /* or NULL */);

/* The word number `index` of a command that names a regular file, into path[size]. Returns false past the last one. */
bool gess__exec_file(const char *command, size_t index, char *path, size_t size);

/* What to call the model: the name of its program's file, without folder and extension, or the command's first word. */
void gess__exec_name(const char *command, char *name, size_t size);

/* ---- exec_protocol.c: requests, answers and the greeting, as bytes ---- */

enum { GESS__EXEC_LINE = 400 }; /* bytes of a line of an answer, at most */

/* Reads the answer to a request. */
typedef struct gess__exec_reader {
    bool binary;
    size_t n, got;  /* points of the request, and values that have come */
    double *values; /* n */
    size_t length;  /* bytes of the line, or of the number, that is not complete yet */
    char line[GESS__EXEC_LINE + 1];
    locale_t c_locale;
    /* GESS__PROGRAM_WRONG */
    size_t bad; /* the point whose answer is wrong */
    char cause[GESS__EXEC_CAUSE];
} gess__exec_reader;

/* Bytes that a request of n points may have. */
size_t gess__exec_request_room(bool binary, size_t n, size_t dim);
/* Writes a request; returns its bytes. */
size_t gess__exec_request(bool binary, size_t n, size_t dim, const double *x, char *out);

/* `reader` is a gess__exec_reader. */
enum gess__program_more gess__exec_take(void *reader, const char *bytes, size_t size);

/* The line that a program answers with when it is started. */
typedef struct gess__exec_greeting {
    char *text;
    size_t length, room;
    bool complete, extra;
} gess__exec_greeting;

enum gess__program_more gess__exec_take_greeting(void *greeting, const char *bytes, size_t size);

/* Takes the line apart: sets dimension, names, bounds of the model, and whether it speaks binary. On a fault `cause`
 * has words that follow "the program". The greeting's text is written to, and must stay as long as the model. */
int gess__exec_parse_greeting(gess__model *m, char *text, bool *binary, char cause[GESS__EXEC_CAUSE], gess_error *err);
/* The same for another program of the same model: only checks that it says the same. */
bool gess__exec_same_greeting(const char *text, size_t dim, bool binary);

#endif
