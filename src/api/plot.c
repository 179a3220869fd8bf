/* gess_plot() of <gess/draws.h>: a figure of a run as a file. */
#include "api/argument.h"
#include "base/mem.h"
#include "report/plots.h"

#include <gess/draws.h>
#include <locale.h>

int gess_plot(const char *directory, const char *kind, const char *path, const gess_plot_settings *settings,
              size_t size, char **notes, gess_error *err)
{
    gess_plot_settings s;
    char text[1000] = "";
    if (notes != NULL) *notes = NULL;
    GESS_REQUIRE(directory, err);
    GESS_REQUIRE(kind, err);
    GESS_REQUIRE(path, err);
    GESS_TRY(gess__take_struct(__func__, &s, sizeof s, settings, size, err));
    const gess__plot_wishes wishes = {.variables = s.variables,
                                      .truth = s.truth,
                                      .moments = s.moments != 0,
                                      .prior = s.prior != 0};
    /* numbers have decimal points, whatever the caller's locale */
    locale_t numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = (locale_t)0;
    if (numbers != (locale_t)0) before = uselocale(numbers);
    int status = gess__plot_run(directory, kind, path, &wishes, text, sizeof text, err);
    if (numbers != (locale_t)0) {
        uselocale(before);
        freelocale(numbers);
    }
    return status == GESS_OK && notes != NULL ? gess__copy_text(notes, text, err) : status;
}
