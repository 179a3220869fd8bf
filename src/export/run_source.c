/* Opens draws.gess and warmup.gess of a run directory, reads config.json and summary.json, and checks that they belong
 * together. */
#include "export/run_source.h"

#include "base/assert.h"
#include "draws/circles.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int join(const char *directory, const char *file, char path[4096], gess_error *err)
{
    int length = snprintf(path, 4096, "%s/%s", directory, file);
    if (length > 0 && length < 4096) return GESS_OK;
    return gess__fail(err, GESS_ERR_USAGE, "the path of the run directory is too long: %.200s…", directory);
}

/* A JSON file of the run; *root is NULL if there is none. *written: when the file was written last; may be NULL. */
static int load_json(const char *directory, const char *file, json_t **root, time_t *written, gess_error *err)
{
    char path[4096];
    struct stat information;
    json_error_t where;
    *root = NULL;
    GESS_TRY(join(directory, file, path, err));
    if (stat(path, &information) != 0 && errno == ENOENT) return GESS_OK;
    *root = json_load_file(path, 0, &where);
    if (*root == NULL) return gess__fail(err, GESS_ERR_FILE, "%s, line %d: %s", path, where.line, where.text);
    if (written != NULL) *written = information.st_mtime;
    return GESS_OK;
}

static double number_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool is_whole(const char *text)
{
    return text != NULL && *text != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* How many of the quantities of a draw are parameters: all of them, unless config.json says otherwise. */
static int read_dim(gess__export *run, const char *directory, const json_t *config, gess_error *err)
{
    size_t quantities = run->draws->columns - 1;
    const json_t *dim = json_object_get(config, "dim");
    run->dim = run->draws->parameters > 0 ? run->draws->parameters : quantities;
    if (dim == NULL || run->draws->parameters > 0) return GESS_OK;
    json_int_t value = json_integer_value(dim);
    if (value < 1 || (uint64_t)value > quantities)
        return gess__fail(err, GESS_ERR_FILE,
                          "%s/config.json has \"dim\" %lld, but a draw has %zu quantities; they are of different "
                          "runs",
                          directory, (long long)value, quantities);
    run->dim = (size_t)value;
    return GESS_OK;
}

/* Fills in what the two files say; the texts stay theirs. */
static void describe(gess__export *run, const json_t *config, const json_t *summary)
{
    const json_t *options = json_object_get(config, "options");
    const char *seed = json_string_value(json_object_get(options, "seed"));
    const char *warmup = json_string_value(json_object_get(options, "warmup"));
    run->model = json_string_value(json_object_get(config, "model"));
    run->seed = is_whole(seed) ? seed : NULL;
    const json_t *done = json_object_get(summary, "warmup");
    if (json_is_integer(done) && json_integer_value(done) >= 0)
        run->warmup = (uint64_t)json_integer_value(done);
    else if (is_whole(warmup))
        run->warmup = strtoull(warmup, NULL, 10);
    run->seconds_sampling = number_of(json_object_get(summary, "seconds_sampling"));
    run->seconds_warmup = number_of(json_object_get(summary, "seconds")) - run->seconds_sampling;
}

/* The draws of warm-up, if they were kept and every chain has some. */
static int open_warmup(gess__export_source *source, const char *directory, gess_error *err)
{
    char path[4096];
    const gess__reader *draws = source->draws;
    GESS_TRY(join(directory, "warmup.gess", path, err));
    if (access(path, F_OK) != 0) return GESS_OK;
    GESS_TRY(gess__reader_open_shown(&source->warmup, path, err));
    if (source->warmup->chains != draws->chains || source->warmup->columns != draws->columns)
        return gess__fail(err, GESS_ERR_FILE, "%s and the draws.gess beside it are of different runs", path);
    if (source->warmup->draws > 0) source->run.warmup_draws = source->warmup;
    return GESS_OK;
}

int gess__export_open(gess__export_source *source, const char *directory, gess_error *err)
{
    char path[4096];
    GESS_ASSERT(directory != NULL);
    *source = (gess__export_source){0};
    GESS_TRY(join(directory, "draws.gess", path, err));
    GESS_TRY(gess__reader_open_shown(&source->draws, path, err));
    if (source->draws->draws == 0) return gess__fail(err, GESS_ERR_USAGE, "%s has no draws yet", path);
    source->run.draws = source->draws;
    GESS_TRY(open_warmup(source, directory, err));
    GESS_TRY(load_json(directory, "config.json", &source->config, &source->run.started, err));
    GESS_TRY(load_json(directory, "summary.json", &source->summary, NULL, err));
    GESS_TRY(read_dim(&source->run, directory, source->config, err));
    describe(&source->run, source->config, source->summary);
    GESS_TRY(gess__circles_of_config(source->config, &source->circle, &source->run.circles, err));
    source->run.circle = source->circle;
    return GESS_OK;
}

void gess__export_close(gess__export_source *source)
{
    gess__reader_free(source->draws);
    gess__reader_free(source->warmup);
    free(source->circle);
    json_decref(source->config);
    json_decref(source->summary);
    *source = (gess__export_source){0};
}
