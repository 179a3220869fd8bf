/* `gess export`: the draws of a run in another program's format. */
#include "command.h"

#include <gess/draws.h>
#include <unistd.h>

enum { OVERWRITE = 256 };

struct arguments {
    const char *directory, *format, *path;
    bool overwrite;
};

void print_exporters(FILE *out)
{
    gess_entry row;
    for (size_t i = 0; list_row(GESS_LIST_EXPORTERS, i, &row); i++)
        if (row.built) fprintf(out, " %s", row.name);
}

/* The names of all formats, separated by commas. */
static void name_formats(char *text, size_t size)
{
    gess_entry row;
    size_t used = 0;
    for (size_t i = 0; used < size && list_row(GESS_LIST_EXPORTERS, i, &row); i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", row.name);
}

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    char names[256] = "";
    switch (key) {
    case 't': a->format = argument; return 0;
    case 'o': a->path = argument; return 0;
    case OVERWRITE: a->overwrite = true; return 0;
    case ARGP_KEY_SUCCESS:
        name_formats(names, sizeof names);
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

static char *list_formats(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC) return (char *)(uintptr_t)text;
    char *list = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&list, &size);
    if (out == NULL) return NULL;
    fputs("Formats:\n", out);
    gess_entry row;
    for (size_t i = 0; list_row(GESS_LIST_EXPORTERS, i, &row); i++)
        fprintf(out, "  %-8s %s%s; to DIR/%s\n", row.name, row.help, row.built ? "" : " (not in this build)", row.path);
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
    gess_export_result result;
    TRY(parse_arguments(&argp, argc, argv, &a));
    int status = gess_export(a.directory, a.format, a.path, a.overwrite, &result, sizeof result, err);
    if (status == GESS_ERR_FILE) quit(status, err);
    TRY(status);
    printf("%zu chains of %llu draw%s are in %s\n", result.chains, (unsigned long long)result.draws,
           result.draws == 1 ? "" : "s", result.path);
    return finish_output(err);
}
