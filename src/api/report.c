/* gess_report() and gess_report_runs() of <gess/draws.h>: the HTML page of a run, or of several. */
#include "api/argument.h"
#include "base/mem.h"
#include "report/html.h"
#include "run/directory.h"

#include <gess/draws.h>
#include <locale.h>

int gess_report_runs(size_t count, const char *const *directories, const char *path,
                     const gess_report_settings *settings, size_t size, char **written, gess_error *err)
{
    char usual[4096];
    gess_report_settings s;
    if (written != NULL) *written = NULL;
    GESS_REQUIRE(directories, err);
    if (count == 0) return gess__fail(err, GESS_ERR_USAGE, "%s: `count` is 0; give one directory or more", __func__);
    GESS_TRY(gess__check_paths(__func__, count, directories, err));
    GESS_TRY(gess__take_struct(__func__, &s, sizeof s, settings, size, err));
    if (path == NULL) {
        GESS_TRY(gess__directory_path(directories[0], "report.html", usual, sizeof usual, err));
        path = usual;
    }
    const gess__report_wishes wishes = {.truth = s.truth, .moments = s.moments != 0, .prior = s.prior != 0};
    locale_t numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = (locale_t)0;
    if (numbers != (locale_t)0) before = uselocale(numbers);
    int status = gess__report_runs(count, directories, path, &wishes, err);
    if (numbers != (locale_t)0) {
        uselocale(before);
        freelocale(numbers);
    }
    return status == GESS_OK && written != NULL ? gess__copy_text(written, path, err) : status;
}

int gess_report(const char *directory, const char *path, char **written, gess_error *err)
{
    if (written != NULL) *written = NULL;
    GESS_REQUIRE(directory, err);
    return gess_report_runs(1, &directory, path, NULL, 0, written, err);
}
