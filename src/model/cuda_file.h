/* Models in CUDA source files (<gess/gess_cuda.h>): what the loader's parts, cuda_file*.c, have in common. */
#ifndef GESS_MODEL_CUDA_FILE_H
#define GESS_MODEL_CUDA_FILE_H

#include "base/csv.h"
#include "model/model.h"

/* One quantity, or several with a number in their names. */
typedef struct gess__cuda_item {
    char name[64];
    size_t count; /* GESS__CUDA_ROWS, GESS__CUDA_COLUMNS: as many as the data have */
    bool numbered;
    double lower, upper;
    bool periodic;
} gess__cuda_item;

#define GESS__CUDA_ROWS SIZE_MAX
#define GESS__CUDA_COLUMNS (SIZE_MAX - 1)

enum { GESS__CUDA_ITEMS = 256 };

/* What the lines `// gess:` of a file say. */
typedef struct gess__cuda_lines {
    gess__cuda_item parameters[GESS__CUDA_ITEMS], derived[GESS__CUDA_ITEMS];
    size_t parameter_count, derived_count;
    bool data;            /* there is a line about data */
    size_t columns, rows; /* that it asks for: exactly, at least; 0: any */
} gess__cuda_lines;

/* Reads them from the file's text. `path` is for messages. */
int gess__cuda_lines_read(gess__cuda_lines *lines, const char *text, const char *path, gess_error *err);

/* Fills in dimension, names, bounds and derived quantities, given the data (values NULL: there are none). */
int gess__cuda_lines_apply(const gess__cuda_lines *lines, gess__model *m, const gess__table *data, const char *path,
                           gess_error *err);

/* The functions of a file, compiled for the processor. */
typedef struct gess__cuda_host {
    void *library;
    double (*logp)(size_t dim, const double *numbers, const double *x);
    void (*derived)(size_t dim, const double *numbers, const double *x, double *out);
} gess__cuda_host;

/* Compiles a file by the machine's C++ compiler and loads the result. *found: whether there is one. */
int gess__cuda_host_open(gess__cuda_host *host, const char *path, bool derived, bool *found, gess_error *err);
void gess__cuda_host_close(gess__cuda_host *host);

#endif
