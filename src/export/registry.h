/* The table of exporters: look-up by name, a walk over its rows for lists and help texts, and the call of an exporter,
 * with its library loaded if it is in one. */
#ifndef GESS_EXPORT_REGISTRY_H
#define GESS_EXPORT_REGISTRY_H

#include "export/export.h"

typedef struct gess__exporter {
    const char *name;       /* as given to --to */
    const char *help;       /* one line */
    const char *path;       /* default output, relative to the run directory */
    const char *needs;      /* what to install for it; "": nothing */
    const char *library;    /* file name of the library that it is in; NULL: it is a part of libgess */
    const char *symbol;     /* of its function there */
    gess__export_fn *write; /* NULL: it is in a library */
} gess__exporter;

/* Row i, NULL past the end. */
const gess__exporter *gess__exporter_row(size_t i);

/* The names of all rows, separated by ", ". */
void gess__exporter_names(char *text, size_t size);

/* Whether the exporter can be called: it is a part of libgess, or its library can be loaded. */
bool gess__exporter_available(const gess__exporter *row);

/* The row of a name. Fails for an unknown name, and for an exporter whose library is missing; the message says what to
 * do. */
int gess__exporter_find(const char *name, const gess__exporter **found, gess_error *err);

/* Writes the draws of a run in the exporter's format. A library stays loaded. */
int gess__exporter_write(const gess__exporter *row, const gess__export *run, const char *path, gess_error *err);

/* The version of gess, as libgess and the libraries of exporters have it. (build.c) */
extern const char gess__export_build[];

#define GESS_EXPORTER(identifier, path, help) gess__export_fn gess__export_##identifier;
#define GESS_EXPORTER_IN(library, identifier, path, needs, help) gess__export_fn gess__export_##identifier;
#include "export/exporters.def"
#undef GESS_EXPORTER
#undef GESS_EXPORTER_IN

#endif
