/* `gess export`: the draws of a run in another program's format. The formats are the table of src/export. */
#include "command.h"
#include "export/registry.h"
#include "export/run_source.h"
#include "run/directory.h"
#include "run/run.h"

#include <unistd.h>

enum { OVERWRITE = 256 };

struct arguments {
    const char *directory, *format, *path;
    bool overwrite;
};

void print_exporters(FILE *out)
{
    const gess__exporter *row;
    for (size_t i = 0; (row = gess__exporter_row(i)) != NULL; i++)
        if (gess__exporter_available(row)) fprintf(out, " %s", row->name);
}

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    char names[256];
    switch (key) {
    case 't': a->format = argument; return 0;
    case 'o': a->path = argument; return 0;
    case OVERWRITE: a->overwrite = true; return 0;
    case ARGP_KEY_SUCCESS:
        gess__exporter_names(names, sizeof names);
        if (a->format == NULL) USAGE(state, "which format? give --to FORMAT; there are %s", names);
        return 0;
    default: return take_one(key, argument, state, &a->directory, WHICH_RUN);
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

static int export_draws(const gess__export *run, const gess__exporter *to, const char *path, gess_error *err)
{
    int status = gess__exporter_write(to, run, path, err);
    if (status == GESS_ERR_FILE) quit(status, err);
    GESS_TRY(status);
    printf("%zu chains of %llu draws are in %s\n", run->draws->chains, (unsigned long long)run->draws->draws, path);
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
    const gess__exporter *row;
    for (size_t i = 0; (row = gess__exporter_row(i)) != NULL; i++)
        fprintf(out, "  %-8s %s%s; to DIR/%s\n", row->name, row->help,
                gess__exporter_available(row) ? "" : " (not in this build)", row->path);
    fclose(out);
    return list;
}

int command_export(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] =
        {{"to", 't', "FORMAT", 0, "one of the formats below", 0},
         {"output", 'o', "PATH", 0, "the file, or for csv the folder, to write (default: in the run directory)", 0},
         {"overwrite", OVERWRITE, NULL, 0, "replace existing files", 0},
         {0}};
    static const struct argp argp = {.options = options,
                                     .parser = take,
                                     .args_doc = "DIR --to FORMAT",
                                     .doc = "Writes the draws of a run for other programs.\v",
                                     .help_filter = list_formats};
    struct arguments a = {0};
    const gess__exporter *to = NULL;
    char path[4096];
    GESS_TRY(parse_arguments(&argp, argc, argv, &a));
    GESS_TRY(gess__exporter_find(a.format, &to, err));
    if (a.path == NULL) {
        GESS_TRY(gess__directory_path(a.directory, to->path, path, sizeof path, err));
        a.path = path;
    }
    gess__export_source source;
    int status = gess__export_open(&source, a.directory, err);
    source.run.overwrite = a.overwrite;
    if (status == GESS_OK) status = export_draws(&source.run, to, a.path, err);
    gess__export_close(&source);
    return status;
}
