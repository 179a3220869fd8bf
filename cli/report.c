/* `gess report`: writes the HTML page of a run. */
#include "command.h"

#include <gess/draws.h>
#include <sys/stat.h>

struct arguments {
    const char *directory, *path;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'o': a->path = argument; return 0;
    default: return take_one(key, argument, state, &a->directory, WHICH_RUN);
    }
}

int command_report(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] = {{"output", 'o', "FILE", 0,
                                                  "the file to write (default: report.html in the run directory)", 0},
                                                 {0}};
    static const struct argp argp = {.options = options,
                                     .parser = take,
                                     .args_doc = "DIR",
                                     .doc = "Writes a page with the verdict, the summary and plots of a run: one HTML "
                                            "file that needs no network."};
    struct arguments a = {0};
    char *path = NULL;
    struct stat information = {0};
    TRY(parse_arguments(&argp, argc, argv, &a));
    TRY(gess_report(a.directory, a.path, &path, err));
    if (stat(path, &information) == 0)
        printf("%s: %.1f MB, open it in a browser\n", path, (double)information.st_size / 1e6);
    gess_text_free(path);
    return finish_output(err);
}
