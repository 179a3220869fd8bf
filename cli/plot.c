/* `gess plot`: draws a figure of a run into a file. */
#include "command.h"
#include "trust.h"

#include <gess/draws.h>

struct arguments {
    const char *directory, *kind, *path;
    int trusted;
    gess_plot_settings settings;
};

enum { MEAN = 256, PRIOR };

static void print_kinds(FILE *out)
{
    gess_entry row;
    for (size_t i = 0; list_row(GESS_LIST_PLOTS, i, &row); i++) fprintf(out, "  %-8s%s\n", row.name, row.help);
}

static char *filter(int key, const char *text, void *input)
{
    char *help = NULL;
    size_t size = 0;
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC) return (char *)(uintptr_t)text;
    FILE *out = open_memstream(&help, &size);
    if (out == NULL) return (char *)(uintptr_t)text;
    fprintf(out, "KIND is one of:\n\n");
    print_kinds(out);
    fclose(out);
    return help;
}

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'o': a->path = argument; return 0;
    case 'v': a->settings.variables = argument; return 0;
    case 't': a->settings.truth = argument; return 0;
    case MEAN: a->settings.moments = 1; return 0;
    case PRIOR: a->settings.prior = 1; return 0;
    case 'T': a->trusted = 1; return 0;
    case ARGP_KEY_ARG:
        if (a->directory != NULL && a->kind != NULL)
            USAGE(state, "`%s` is one argument too many: a directory and a kind were given", argument);
        *(a->directory == NULL ? &a->directory : &a->kind) = argument;
        return 0;
    case ARGP_KEY_END:
        if (a->directory == NULL) USAGE(state, "%s", WHICH_RUN);
        if (a->kind == NULL) USAGE(state, "which plot? give corner, trace, forest or ranks");
        if (a->path == NULL) USAGE(state, "which file? give -o FILE, whose name ends in .pdf, .svg or .png");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int command_plot(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] =
        {{"output", 'o', "FILE", 0, "the file to write; .pdf, .svg or .png says what it is", 0},
         {"vars", 'v', "NAMES", 0, "parameters, as patterns with * and ?, separated by commas", 0},
         {"truth", 't', "FILE", 0, "mark true values: a JSON object, or a line per parameter, as in `mu, 1.5`", 0},
         {"mean", MEAN, NULL, 0, "mean ± sd in place of the median with its 68 % interval", 0},
         {"prior", PRIOR, NULL, 0, "draw priors, if the model gives its log prior apart", 0},
         {"trust-model", 'T', NULL, 0, "run the plug-in of another user's run, for --prior", 0},
         {0}};
    static const struct argp argp = {.options = options,
                                     .parser = take,
                                     .args_doc = "DIR KIND",
                                     .doc = "Draws a figure of the run in DIR into a file, without a browser.\v ",
                                     .help_filter = filter};
    struct arguments a = {0};
    char *notes = NULL;
    TRY(parse_arguments(&argp, argc, argv, &a));
    if (a.settings.prior) TRY(check_trust_of_directory(a.directory, a.trusted, err));
    TRY(gess_plot(a.directory, a.kind, a.path, &a.settings, sizeof a.settings, &notes, err));
    printf("%s%s\n", notes, a.path);
    gess_text_free(notes);
    return finish_output(err);
}
