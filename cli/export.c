/* `gess export`: the draws of a run, for other programs; the formats are the rows of exporters.def. */
#include "export/export.h"
#include "base/mem.h"
#include "command.h"
#include "run/directory.h"
#include "run/run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the table ---- */

typedef struct exporter {
    const char *name, *path, *needs, *help;
    gess__export_fn *write; /* NULL: not in this build */
} exporter;

#define WRITE_1(identifier) gess__export_##identifier
#define WRITE_0(identifier) NULL
#define WRITE_IF(built, identifier) WRITE_##built(identifier)
#define WRITE(built, identifier) WRITE_IF(built, identifier)
static const exporter exporters[] = {
#define GESS_EXPORTER(identifier, built, path, needs, help) {#identifier, path, needs, help, WRITE(built, identifier)},
#include "export/exporters.def"
#undef GESS_EXPORTER
};
enum { EXPORTERS = sizeof exporters / sizeof *exporters };

void print_exporters(FILE *out)
{
    for (size_t i = 0; i < EXPORTERS; i++)
        if (exporters[i].write != NULL) fprintf(out, " %s", exporters[i].name);
}

static int find_exporter(const char *name, const exporter **found, gess_error *err)
{
    char all[256] = "";
    for (size_t i = 0; i < EXPORTERS; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", exporters[i].name);
        if (strcmp(exporters[i].name, name) != 0) continue;
        *found = &exporters[i];
        if (exporters[i].write != NULL) return GESS_OK;
        return gess__fail(err, GESS_ERR_USAGE,
                          "this gess was built without %s, which --to %s needs; install it and build gess again, or "
                          "export --to csv",
                          exporters[i].needs, name);
    }
    return gess__fail(err, GESS_ERR_USAGE, "--to %.100s: there is no such format; there are %s", name, all);
}

/* ---- the files of the run ---- */

/* Reads a JSON file of the run; NULL if there is none, which is no error: an export needs the draws only. */
static int load_json(const char *directory, const char *file, json_t **root, time_t *written, gess_error *err)
{
    char path[4096];
    struct stat information;
    json_error_t where;
    *root = NULL;
    GESS_TRY(gess__directory_path(directory, file, path, sizeof path, err));
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

/* Fills in what config.json and summary.json say; they own the texts. */
static int describe(gess__export *run, const char *directory, const json_t *config, const json_t *summary,
                    gess_error *err)
{
    const json_t *options = json_object_get(config, "options");
    const char *seed = json_string_value(json_object_get(options, "seed"));
    const char *warmup = json_string_value(json_object_get(options, "warmup"));
    size_t quantities = run->draws->columns - 1;
    run->model = json_string_value(json_object_get(config, "model"));
    run->seed = is_whole(seed) ? seed : NULL;
    run->dim = quantities;
    const json_t *dim = json_object_get(config, "dim");
    if (dim != NULL) {
        json_int_t value = json_integer_value(dim);
        if (value < 1 || (uint64_t)value > quantities)
            return gess__fail(err, GESS_ERR_FILE,
                              "%s/config.json has \"dim\" %lld, but a draw has %zu quantities: the files belong to "
                              "different runs",
                              directory, (long long)value, quantities);
        run->dim = (size_t)value;
    }
    const json_t *done = json_object_get(summary, "warmup");
    if (json_is_integer(done) && json_integer_value(done) >= 0)
        run->warmup = (uint64_t)json_integer_value(done);
    else if (is_whole(warmup))
        run->warmup = strtoull(warmup, NULL, 10);
    run->seconds_sampling = number_of(json_object_get(summary, "seconds_sampling"));
    run->seconds_warmup = number_of(json_object_get(summary, "seconds")) - run->seconds_sampling;
    return GESS_OK;
}

/* ---- the command ---- */

enum { OVERWRITE = 256 };

struct arguments {
    const char *directory, *format, *path;
    bool overwrite;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 't': a->format = argument; return 0;
    case 'o': a->path = argument; return 0;
    case OVERWRITE: a->overwrite = true; return 0;
    case ARGP_KEY_ARG:
        if (a->directory != NULL) USAGE(state, "give one run directory only, not `%s` as well", argument);
        a->directory = argument;
        return 0;
    case ARGP_KEY_END:
        if (a->directory == NULL) USAGE(state, "which run? give its directory");
        if (a->format == NULL) USAGE(state, "which format? give --to csv, --to netcdf or --to emcee");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Ends the command after a file could not be written, without exit handlers: HDF5 (1.10.8 at least) would try to write
 * the file again in its handler, and crash. */
static void quit(int status, const gess_error *err)
{
    fprintf(stderr, "gess: %s\n", err->text);
    fflush(NULL);
    _exit(status);
}

/* The files that an export reads. */
typedef struct sources {
    gess__reader *draws, *warmup;
    json_t *config, *summary;
} sources;

/* The draws of warm-up, if they were saved and every chain has some. */
static int open_warmup(const char *directory, sources *from, gess__export *run, gess_error *err)
{
    char file[4096];
    GESS_TRY(gess__directory_path(directory, "warmup.gess", file, sizeof file, err));
    if (access(file, F_OK) != 0) return GESS_OK;
    GESS_TRY(gess__reader_open(&from->warmup, file, err));
    if (from->warmup->chains != from->draws->chains || from->warmup->columns != from->draws->columns)
        return gess__fail(err, GESS_ERR_FILE, "%s and the draws.gess beside it belong to different runs", file);
    if (from->warmup->draws > 0) run->warmup_draws = from->warmup;
    return GESS_OK;
}

static int export_draws(const struct arguments *a, const exporter *to, const char *path, sources *from, gess_error *err)
{
    char file[4096];
    gess__export run = {.overwrite = a->overwrite};
    GESS_TRY(gess__directory_path(a->directory, "draws.gess", file, sizeof file, err));
    GESS_TRY(gess__reader_open(&from->draws, file, err));
    if (from->draws->draws == 0) return gess__fail(err, GESS_ERR_USAGE, "%s has no draws yet", file);
    run.draws = from->draws;
    GESS_TRY(open_warmup(a->directory, from, &run, err));
    GESS_TRY(load_json(a->directory, "config.json", &from->config, &run.started, err));
    GESS_TRY(load_json(a->directory, "summary.json", &from->summary, NULL, err));
    GESS_TRY(describe(&run, a->directory, from->config, from->summary, err));
    int status = to->write(&run, path, err);
    if (status == GESS_ERR_FILE) quit(status, err);
    GESS_TRY(status);
    printf("%zu chains of %llu draws are in %s\n", run.draws->chains, (unsigned long long)run.draws->draws, path);
    return finish_output(err);
}

static char *list_formats(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC) return (char *)(uintptr_t)text;
    char *list = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&list, &size);
    if (out == NULL) return NULL;
    fputs("Formats:\n", out);
    for (size_t i = 0; i < EXPORTERS; i++)
        fprintf(out, "  %-8s %s%s; to DIR/%s\n", exporters[i].name, exporters[i].help,
                exporters[i].write == NULL ? " (not in this build)" : "", exporters[i].path);
    fclose(out);
    return list;
}

int command_export(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] =
        {{"to", 't', "FORMAT", 0, "csv, netcdf or emcee", 0},
         {"output", 'o', "PATH", 0, "the file, or for csv the folder, to write (default: in the run directory)", 0},
         {"overwrite", OVERWRITE, NULL, 0, "replace existing files", 0},
         {0}};
    static const struct argp argp = {.options = options,
                                     .parser = take,
                                     .args_doc = "DIR --to FORMAT",
                                     .doc = "Writes the draws of a run for other programs.\v",
                                     .help_filter = list_formats};
    struct arguments a = {0};
    const exporter *to = NULL;
    char path[4096];
    GESS_TRY(parse_arguments(&argp, argc, argv, &a));
    GESS_TRY(find_exporter(a.format, &to, err));
    if (a.path == NULL) {
        GESS_TRY(gess__directory_path(a.directory, to->path, path, sizeof path, err));
        a.path = path;
    }
    sources from = {0};
    int status = export_draws(&a, to, a.path, &from, err);
    gess__reader_free(from.draws);
    gess__reader_free(from.warmup);
    json_decref(from.config);
    json_decref(from.summary);
    return status;
}
