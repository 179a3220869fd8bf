/* Opens a run directory for export: its draws, and what config.json and summary.json say about the run. */
#ifndef GESS_EXPORT_RUN_SOURCE_H
#define GESS_EXPORT_RUN_SOURCE_H

#include "export/export.h"

#include <jansson.h>

typedef struct gess__export_source {
    gess__export run; /* points into the fields below; the caller may set `overwrite` */
    gess__reader *draws, *warmup;
    json_t *config, *summary;
    gess__circle *circle;
} gess__export_source;

/* Fails if there are no draws yet. Works without the JSON files: an export needs the draws only. */
int gess__export_open(gess__export_source *source, const char *directory, gess_error *err);

/* Frees everything; also after a failed open. */
void gess__export_close(gess__export_source *source);

#endif
