/* Summarises the run in a directory: reads from config.json what its draws.gess does not say. */
#include "report/summary.h"

#include "draws/circles.h"
#include "run/directory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int gess__summary_settings_of_run(gess__summary_settings *settings, const char *directory, gess_error *err)
{
    char path[4096];
    settings->ensembles = 1;
    settings->blobs = 0;
    GESS_TRY(gess__directory_path(directory, "config.json", path, sizeof path, err));
    json_t *root = json_load_file(path, 0, NULL), *options = json_object_get(root, "options");
    const char *text = json_string_value(json_object_get(options, "ensembles"));
    const char *schedule = json_string_value(json_object_get(options, "schedule"));
    json_int_t blobs = json_integer_value(json_object_get(root, "blobs"));
    size_t count = text != NULL ? strtoul(text, NULL, 10) : 1;
    if (count > 0) settings->ensembles = count;
    if (blobs > 0) settings->blobs = (size_t)blobs;
    settings->interacting = schedule != NULL && strcmp(schedule, "two-group") == 0;
    int status = gess__circles_of_config(root, &settings->circle, &settings->circles, err);
    json_decref(root);
    return status;
}

int gess__summarise_run(gess__summary *s, const char *directory, gess__summary_settings settings, gess_error *err)
{
    char path[4096];
    *s = (gess__summary){0};
    GESS_TRY(gess__directory_path(directory, "draws.gess", path, sizeof path, err));
    int status = gess__summary_settings_of_run(&settings, directory, err);
    if (status == GESS_OK) status = gess__summarise_file(s, path, &settings, err);
    free(settings.circle);
    GESS_TRY(status);
    GESS_TRY(gess__directory_path(directory, "summary.json", path, sizeof path, err));
    return access(path, F_OK) == 0 ? gess__summary_load_stats(s, path, err) : GESS_OK;
}
