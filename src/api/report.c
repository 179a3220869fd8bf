/* gess_report() of <gess/draws.h>: the HTML page of a run. */
#include "api/argument.h"
#include "base/mem.h"
#include "report/html.h"
#include "run/directory.h"

#include <gess/draws.h>

int gess_report(const char *directory, const char *path, char **written, gess_error *err)
{
    char usual[4096];
    if (written != NULL) *written = NULL;
    GESS_REQUIRE(directory, err);
    if (path == NULL) {
        GESS_TRY(gess__directory_path(directory, "report.html", usual, sizeof usual, err));
        path = usual;
    }
    GESS_TRY(gess__report_run(directory, path, err));
    return written != NULL ? gess__copy_text(written, path, err) : GESS_OK;
}
