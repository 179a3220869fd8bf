#include "report/summary.h"
#include "command.h"
#include "draws/tables.h"
#include "run/run.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct arguments {
    char **paths;
    size_t count;
    int json;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'j': a->json = 1; return 0;
    case ARGP_KEY_ARGS:
        (void)argument;
        a->paths = state->argv + state->next;
        a->count = (size_t)(state->argc - state->next);
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS: USAGE(state, "of what? give a run directory, or CSV files, one for each chain"); return 0;
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

static int summarise_run(const char *directory, gess__draws *draws, gess__summary *summary, gess_error *err)
{
    char path[4096];
    GESS_TRY(gess__directory_path(directory, "draws.gess", path, sizeof path, err));
    GESS_TRY(gess__draws_read(draws, path, err));
    GESS_TRY(gess__summarise(summary, draws, err));
    GESS_TRY(gess__directory_path(directory, "summary.json", path, sizeof path, err));
    return access(path, F_OK) == 0 ? gess__summary_load_stats(summary, path, err) : GESS_OK;
}

static int summarise_files(const struct arguments *a, gess__draws *draws, gess__summary *summary, gess_error *err)
{
    GESS_TRY(gess__draws_from_tables(draws, a->count, a->paths, err));
    return gess__summarise(summary, draws, err);
}

int command_summary(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] = {{"json", 'j', NULL, 0, "as JSON, with every figure", 0}, {0}};
    static const struct argp argp =
        {.options = options,
         .parser = take,
         .args_doc = "DIR\nFILE…",
         .doc = "Summarises a run directory, or CSV files with a header, one file for each chain."};
    struct arguments a = {0};
    GESS_TRY(parse_arguments(&argp, argc, argv, &a));
    gess__draws draws = {0};
    gess__summary summary = {0};
    int folder = is_folder(a.paths[0]), status;
    if (folder && a.count > 1) return gess__fail(err, GESS_ERR_USAGE, "one run directory at a time, not %zu", a.count);
    status = folder ? summarise_run(a.paths[0], &draws, &summary, err) : summarise_files(&a, &draws, &summary, err);
    if (status == GESS_OK && a.json)
        status = print_json(gess__summary_json(&summary), err);
    else if (status == GESS_OK) {
        gess__summary_print(&summary, stdout);
        if (folder) print_nans(a.paths[0]);
        status = finish_output(err);
    }
    gess__summary_free(&summary);
    gess__draws_free(&draws);
    return status;
}
