/* `gess report`: writes the HTML page of a run, or of several that it compares. */
#include "command.h"
#include "trust.h"

#include <gess/draws.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MOST_RUNS = 8, MEAN = 256, PRIOR };

struct arguments {
    const char *directories[MOST_RUNS], *path;
    size_t count;
    int trusted;
    gess_report_settings settings;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'o': a->path = argument; return 0;
    case 't': a->settings.truth = argument; return 0;
    case MEAN: a->settings.moments = 1; return 0;
    case PRIOR: a->settings.prior = 1; return 0;
    case 'T': a->trusted = 1; return 0;
    case ARGP_KEY_ARG:
        if (a->count == MOST_RUNS)
            USAGE(state, "`%s` is one run too many: a page compares at most %d", argument, MOST_RUNS);
        a->directories[a->count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (a->count == 0) USAGE(state, "%s", WHICH_RUN);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int command_report(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] =
        {{"output", 'o', "FILE", 0, "the file to write (default: report.html in the directory of the first run)", 0},
         {"truth", 't', "FILE", 0, "mark true values: a JSON object, or a line per parameter, as in `mu, 1.5`", 0},
         {"mean", MEAN, NULL, 0, "begin with mean ± sd in place of the median with its 68 % interval", 0},
         {"prior", PRIOR, NULL, 0, "draw priors, if the model gives its log prior apart", 0},
         {"trust-model", 'T', NULL, 0, "run the plug-in of another user's run, for --prior", 0},
         {0}};
    static const struct argp argp = {.options = options,
                                     .parser = take,
                                     .args_doc = "DIR [DIR...]",
                                     .doc = "Writes a page with the results, plots and diagnostics of a run, or of "
                                            "several that it compares: one HTML file that needs no network."};
    struct arguments a = {0};
    char *path = NULL;
    struct stat information = {0};
    TRY(parse_arguments(&argp, argc, argv, &a));
    if (a.settings.prior) TRY(check_trust_of_directory(a.directories[0], a.trusted, err));
    TRY(gess_report_runs(a.count, a.directories, a.path, &a.settings, sizeof a.settings, &path, err));
    if (stat(path, &information) == 0)
        printf("%s: %.1f MB, open it in a browser\n", path, (double)information.st_size / 1e6);
    gess_text_free(path);
    return finish_output(err);
}
