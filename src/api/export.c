/* gess_export() of <gess/draws.h>: the draws of a run for other programs. */
#include "export/export.h"

#include "api/argument.h"
#include "export/registry.h"
#include "export/run_source.h"
#include "run/directory.h"

#include <gess/draws.h>
#include <stdio.h>

int gess_export(const char *directory, const char *format, const char *path, int overwrite, gess_export_result *result,
                size_t size, gess_error *err)
{
    const gess__exporter *to = NULL;
    char usual[4096];
    GESS_REQUIRE(directory, err);
    GESS_REQUIRE(format, err);
    GESS_TRY(gess__exporter_find(format, &to, err));
    if (path == NULL) {
        GESS_TRY(gess__directory_path(directory, to->path, usual, sizeof usual, err));
        path = usual;
    }
    gess__export_source source;
    gess_export_result all = {0};
    int status = gess__export_open(&source, directory, err);
    source.run.overwrite = overwrite != 0;
    if (status == GESS_OK) status = gess__exporter_write(to, &source.run, path, err);
    if (status == GESS_OK) {
        all.chains = source.draws->chains;
        all.draws = source.draws->draws;
        snprintf(all.path, sizeof all.path, "%s", path);
        if (result != NULL) gess__fill_struct(result, size, &all, sizeof all);
    }
    gess__export_close(&source);
    return status;
}
