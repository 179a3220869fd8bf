/* Expands exporters.def into the table of formats of `gess export --to`, and loads the libraries of exporters that are
 * no part of libgess. */
#include "export/registry.h"

#include "base/assert.h"
#include "base/library.h"
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

static const gess__exporter table[] = {
#define GESS_EXPORTER(identifier, path, help) {#identifier, help, path, "", NULL, NULL, gess__export_##identifier},
#define GESS_EXPORTER_IN(library, identifier, path, needs, help) \
    {#identifier, help, path, needs, "lib" #library ".so", "gess__export_" #identifier, NULL},
#include "export/exporters.def"
#undef GESS_EXPORTER
#undef GESS_EXPORTER_IN
};

const gess__exporter *gess__exporter_row(size_t i)
{
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

void gess__exporter_names(char *text, size_t size)
{
    size_t used = 0;
    GESS_ASSERT(size > 0);
    text[0] = '\0';
    for (size_t i = 0; i < sizeof table / sizeof *table && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", table[i].name);
}

/* The exporter's function, from its library if it is in one. */
static int load(const gess__exporter *row, gess__export_fn **write, gess_error *err)
{
    gess__library library;
    *write = row->write;
    if (row->library == NULL) return GESS_OK;
    if (!gess__library_open(&library, row->library, false)) {
        if (library.path[0] == '\0')
            return gess__fail(err, GESS_ERR_USAGE,
                              "this gess was built without %s, which --to %s needs; install it and build gess again, "
                              "or export --to csv",
                              row->needs, row->name);
        return gess__fail(err, GESS_ERR_USAGE, "--to %s needs %s, which cannot be loaded: %.300s; install %s",
                          row->name, library.path, library.why, row->needs);
    }
    const char *build = gess__library_symbol(&library, "gess__export_build");
    void *symbol = gess__library_symbol(&library, row->symbol);
    if (build == NULL || symbol == NULL || strcmp(build, gess__export_build) != 0)
        return gess__fail(err, GESS_ERR_USAGE,
                          "%s is of another version of gess (%s) than this one (%s); install both from one build",
                          library.path, build != NULL ? build : "unknown", gess__export_build);
    memcpy(write, &symbol, sizeof symbol);
    return GESS_OK;
}

bool gess__exporter_available(const gess__exporter *row)
{
    gess__export_fn *write;
    GESS_ASSERT(row != NULL);
    return load(row, &write, NULL) == GESS_OK;
}

int gess__exporter_find(const char *name, const gess__exporter **found, gess_error *err)
{
    char names[256];
    gess__export_fn *write;
    GESS_ASSERT(name != NULL);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) != 0) continue;
        *found = &table[i];
        return load(&table[i], &write, err);
    }
    gess__nearest nearest = {.word = name};
    char hint[128];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) gess__nearest_offer(&nearest, table[i].name);
    gess__exporter_names(names, sizeof names);
    return gess__fail(err, GESS_ERR_USAGE, "--to %.100s: there is no such format%s; there are %s", name,
                      gess__did_you_mean(&nearest, hint), names);
}

int gess__exporter_write(const gess__exporter *row, const gess__export *run, const char *path, gess_error *err)
{
    gess__export_fn *write;
    GESS_ASSERT(row != NULL && run != NULL && path != NULL);
    GESS_TRY(load(row, &write, err));
    return write(run, path, err);
}
