/* Expands exporters.def into the table of formats of `gess export --to`, and refuses formats whose library was not
 * built in. */
#include "export/registry.h"

#include "base/assert.h"

#include <stdio.h>
#include <string.h>

#define WRITE_1(identifier) gess__export_##identifier
#define WRITE_0(identifier) NULL
#define WRITE_IF(built, identifier) WRITE_##built(identifier)
#define WRITE(built, identifier) WRITE_IF(built, identifier)

static const gess__exporter table[] = {
#define GESS_EXPORTER(identifier, built, path, needs, help) {#identifier, help, path, needs, WRITE(built, identifier)},
#include "export/exporters.def"
#undef GESS_EXPORTER
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

int gess__exporter_find(const char *name, const gess__exporter **found, gess_error *err)
{
    char names[256];
    GESS_ASSERT(name != NULL);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) != 0) continue;
        *found = &table[i];
        if (table[i].write != NULL) return GESS_OK;
        return gess__fail(err, GESS_ERR_USAGE,
                          "this gess was built without %s, which --to %s needs; install it and build gess again, or "
                          "export --to csv",
                          table[i].needs, name);
    }
    gess__exporter_names(names, sizeof names);
    return gess__fail(err, GESS_ERR_USAGE, "--to %.100s: there is no such format; there are %s", name, names);
}
