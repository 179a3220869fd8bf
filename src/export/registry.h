/* The table of exporters: look-up by name, and a walk over its rows for help texts, the manual and tests. */
#ifndef GESS_EXPORT_REGISTRY_H
#define GESS_EXPORT_REGISTRY_H

#include "export/export.h"

typedef struct gess__exporter {
    const char *name;       /* as given to --to */
    const char *help;       /* one line */
    const char *path;       /* default output, relative to the run directory */
    const char *needs;      /* what to install for it; "": nothing */
    gess__export_fn *write; /* NULL: not in this build */
} gess__exporter;

/* Row i, NULL past the end. */
const gess__exporter *gess__exporter_row(size_t i);

/* The names of all rows, separated by ", ". */
void gess__exporter_names(char *text, size_t size);

/* The row of a name. Fails for an unknown name, and for an exporter that is not in this build; the message says what
 * to do. */
int gess__exporter_find(const char *name, const gess__exporter **found, gess_error *err);

#define GESS_EXPORTER(identifier, built, path, needs, help) gess__export_fn gess__export_##identifier;
#include "export/exporters.def"
#undef GESS_EXPORTER

#endif
