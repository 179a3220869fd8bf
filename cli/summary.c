/* `gess summary`: prints the figures of a run, or of CSV files with draws. */
#include "report/summary.h"
#include "command.h"
#include "draws/csv_chains.h"
#include "run/directory.h"
#include "run/run.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

struct arguments {
    char **paths;
    size_t count;
    int json, csv, sort, all;
    gess__summary_settings settings;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'j': a->json = 1; return 0;
    case 'c': a->csv = 1; return 0;
    case 's': a->sort = 1; return 0;
    case 'a': a->all = 1; return 0;
    case 'v': a->settings.vars = argument; return 0;
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
    char path[4096], line[4096];
    if (gess__directory_path(directory, "nans.csv", path, sizeof path, NULL) != GESS_OK) return;
    FILE *file = fopen(path, "r");
    if (file == NULL) return;
    printf("the first points at which the density was NaN (%s):\n", path);
    while (fgets(line, sizeof line, file) != NULL) printf("  %s", line);
    fclose(file);
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

static int summarise_files(const struct arguments *a, gess__summary *summary, gess_error *err)
{
    gess__draws draws = {0};
    int status = gess__draws_from_tables(&draws, a->count, a->paths, err);
    if (status == GESS_OK) status = gess__summarise_draws(summary, &draws, &a->settings, err);
    gess__draws_free(&draws);
    return status;
}

static int print(const struct arguments *a, gess__summary *summary, int folder, gess_error *err)
{
    if (a->sort) gess__summary_sort(summary);
    if (a->json) return print_json(gess__summary_json(summary), err);
    if (a->csv) {
        gess__summary_csv(summary, stdout);
    } else {
        gess__summary_print_table(summary, a->all ? SIZE_MAX : table_width(), stdout);
        if (folder) print_nans(a->paths[0]);
    }
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
    GESS_TRY(parse_arguments(&argp, argc, argv, &a));
    gess__summary summary = {0};
    int folder = is_folder(a.paths[0]), status;
    if (folder && a.count > 1) return gess__fail(err, GESS_ERR_USAGE, "give one run directory only, not %zu", a.count);
    status = folder ? gess__summarise_run(&summary, a.paths[0], a.settings, err) : summarise_files(&a, &summary, err);
    if (status == GESS_OK) status = print(&a, &summary, folder, err);
    gess__summary_free(&summary);
    return status;
}
