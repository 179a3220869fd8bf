/* `gess summary`: prints the figures of a run, or of CSV files with draws. */
#include "command.h"

#include <gess/draws.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

struct arguments {
    char **paths;
    size_t count;
    int json, csv, all;
    gess_summary_settings settings;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'j': a->json = 1; return 0;
    case 'c': a->csv = 1; return 0;
    case 's': a->settings.worst_first = 1; return 0;
    case 'a': a->all = 1; return 0;
    case 'v': a->settings.variables = argument; return 0;
    case 't': {
        char *end;
        unsigned long threads = strtoul(argument, &end, 10);
        if (*end != '\0' || end == argument || threads > 4096)
            USAGE(state, "--threads %s: not from 0 to 4096", argument);
        a->settings.threads = (unsigned)threads;
        return 0;
    }
    case ARGP_KEY_ARGS:
        a->paths = state->argv + state->next;
        a->count = (size_t)(state->argc - state->next);
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS: USAGE(state, "which draws? give a run directory, or CSV files, one per chain"); return 0;
    case ARGP_KEY_END:
        if (a->json && a->csv) USAGE(state, "--json or --csv, not both");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

void print_nans(const char *directory)
{
    char *text = NULL;
    if (gess_nans_text(directory, &text, NULL) == GESS_OK) fputs(text, stdout);
    gess_text_free(text);
}

static int is_folder(const char *path)
{
    struct stat information;
    return stat(path, &information) == 0 && S_ISDIR(information.st_mode);
}

size_t table_width(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}

static int print(const struct arguments *a, const gess_summary *summary, int folder, gess_error *err)
{
    char *text = NULL;
    int format = a->json ? GESS_FORMAT_JSON : a->csv ? GESS_FORMAT_CSV : GESS_FORMAT_TEXT;
    TRY(gess_summary_text(summary, format, a->all ? SIZE_MAX : table_width(), &text, err));
    TRY(print_text(text, err));
    if (folder && format == GESS_FORMAT_TEXT) print_nans(a->paths[0]);
    return finish_output(err);
}

int command_summary(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] = {{"json", 'j', NULL, 0, "print JSON, with every figure", 0},
                                                 {"csv", 'c', NULL, 0, "print CSV, with every figure", 0},
                                                 {"all", 'a', NULL, 0, "show every figure in the table", 0},
                                                 {"vars", 'v', "NAMES", 0,
                                                  "only these parameters: names separated by commas, with * and ?", 0},
                                                 {"sort", 's', NULL, 0,
                                                  "show the worst first: by r_hat, then by ess_bulk", 0},
                                                 {"threads", 't', "N", 0, "threads; 0: one per core", 0},
                                                 {0}};
    static const struct argp argp = {.options = options,
                                     .parser = take,
                                     .args_doc = "DIR\nFILE…",
                                     .doc =
                                         "Summarises a run directory, or CSV files with a header, one file per chain."};
    struct arguments a = {0};
    TRY(parse_arguments(&argp, argc, argv, &a));
    gess_summary *summary = NULL;
    int folder = is_folder(a.paths[0]), status;
    if (folder && a.count > 1) return fail(err, GESS_ERR_USAGE, "give one run directory only, not %zu", a.count);
    if (folder)
        status = gess_summary_new(&summary, a.paths[0], &a.settings, sizeof a.settings, err);
    else
        status =
            gess_summary_new_csv(&summary, a.count, (const char *const *)a.paths, &a.settings, sizeof a.settings, err);
    if (status == GESS_OK) status = print(&a, summary, folder, err);
    gess_summary_free(summary);
    return status;
}
