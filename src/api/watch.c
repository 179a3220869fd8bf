/* gess_watch_text() of <gess/draws.h>: a run seen while it goes on. */
#include "report/watch.h"

#include "api/text.h"

#include <gess/draws.h>

int gess_watch_text(const char *directory, int format, size_t width, double seconds, char **text, int *state,
                    gess_error *err)
{
    gess__watch watch = {0};
    gess__text stream;
    GESS_REQUIRE(text, err);
    *text = NULL;
    GESS_REQUIRE(directory, err);
    if (format != GESS_FORMAT_TEXT && format != GESS_FORMAT_JSON && format != GESS_FORMAT_HTML)
        return gess__no_format(__func__, format, err);
    int status = gess__watch_load(&watch, directory, err);
    if (status == GESS_OK && state != NULL) *state = watch.state;
    if (status == GESS_OK && format == GESS_FORMAT_JSON) {
        json_t *root = watch.progress != NULL ? json_incref(watch.progress) : json_object();
        json_object_set_new(root, "watch", json_integer(watch.state));
        status = gess__text_of_json(root, text, err);
    } else if (status == GESS_OK) {
        status = gess__text_begin(&stream, err);
        if (status == GESS_OK) {
            if (format == GESS_FORMAT_TEXT)
                gess__watch_print(&watch, width, stream.out);
            else
                gess__watch_page(&watch, seconds, stream.out);
            status = gess__text_end(&stream, text, err);
        }
    }
    gess__watch_free(&watch);
    return status;
}
