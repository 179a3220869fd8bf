/* `gess sample`: parses the options (the rows of options.def) and starts a new run. */
#include "base/options.h"
#include "command.h"
#include "launch.h"
#include "run/config.h"
#include "schedule/schedule.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

struct arguments {
    const char *model, *directory;
    const char *config_model; /* from --config */
    int quiet;
    gess_options options;
};

enum { COMMAND_OPTIONS = 3 }; /* that are not rows of options.def */
enum { FIRST_KEY = 0x1000 };  /* argp key of row 0 of options.def */

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    gess_error err;
    if (key >= FIRST_KEY && key < FIRST_KEY + 0x1000) {
        const gess__option *row = gess__option_row((size_t)(key - FIRST_KEY));
        if (row == NULL) return ARGP_ERR_UNKNOWN;
        if (gess_options_set(&a->options, row->name, argument, &err) != GESS_OK) USAGE(state, "%s", err.text);
        return 0;
    }
    switch (key) {
    case 'o': a->directory = argument; return 0;
    case 'q': a->quiet = 1; return 0;
    case 'c': return 0; /* take_config() has read it */
    case ARGP_KEY_ARG:
        if (a->model != NULL) USAGE(state, "give one model only, not `%s` as well", argument);
        a->model = argument;
        return 0;
    case ARGP_KEY_END:
        if (a->model == NULL && a->config_model == NULL) USAGE(state, "which model? `gess models` lists them");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The rows of options.def as options of argp, with their defaults in the help. */
static struct argp_option *argp_options(void)
{
    size_t rows = 0;
    while (gess__option_row(rows) != NULL) rows++;
    struct argp_option *options = calloc(rows + COMMAND_OPTIONS + 1, sizeof *options);
    if (options == NULL) return NULL;
    options[0] = (struct argp_option){"output", 'o', "DIR", 0, "run directory (default: gess-runs/MODEL-SEED)", 0};
    options[1] = (struct argp_option){"quiet", 'q', NULL, 0, "show no progress and no summary", 0};
    options[2] = (struct argp_option){"config",
                                      'c',
                                      "FILE",
                                      0,
                                      "take model and options from a run's config.json; other options override them",
                                      0};
    for (size_t i = 0; i < rows; i++) {
        const gess__option *row = gess__option_row(i);
        char *help = malloc(512);
        if (help == NULL) break;
        gess__option_help(row, help, 512);
        options[i + COMMAND_OPTIONS] = (struct argp_option){row->name, FIRST_KEY + (int)i, row->unit, 0, help, 0};
    }
    return options;
}

static void free_options(struct argp_option *options)
{
    for (struct argp_option *o = options + COMMAND_OPTIONS; o->name != NULL; o++) free((char *)(uintptr_t)o->doc);
    free(options);
}

/* Appends the tables of kernels and schedules to the help. */
static char *filter(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC) return (char *)(uintptr_t)text;
    char *all = malloc(8192);
    if (all == NULL) return NULL;
    size_t used = (size_t)snprintf(all, 8192, "Kernels:\n");
    for (size_t i = 0; gess__kernel_row(i) != NULL; i++)
        used += (size_t)snprintf(all + used, 8192 - used, "  %-12s %s\n", gess__kernel_row(i)->name,
                                 gess__kernel_row(i)->help);
    used += (size_t)snprintf(all + used, 8192 - used, "\nSchedules:\n");
    for (size_t i = 0; gess__schedule_row(i) != NULL; i++)
        used += (size_t)snprintf(all + used, 8192 - used, "  %-12s %s\n", gess__schedule_row(i)->name,
                                 gess__schedule_row(i)->help);
    return all;
}

/* gess-runs/MODEL-SEED, with _ for every character that a file name should not have. */
static void default_directory(const struct arguments *a, char *path, size_t size)
{
    int prefix = snprintf(path, size, "gess-runs/");
    const char *slash = strrchr(a->model, '/'), *colon = strchr(a->model, ':');
    const char *name = slash != NULL && colon == NULL ? slash + 1 : a->model;
    snprintf(path + prefix, size - (size_t)prefix, "%s-%llu", name, (unsigned long long)a->options.seed);
    for (char *c = path + prefix; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && strchr("._-", *c) == NULL) *c = '_';
}

/* Reads --config before all other options, wherever it stands, so that they override it. */
static int take_config(int argc, char **argv, struct arguments *a, json_t **keep, gess_error *err)
{
    for (int i = 1; i < argc && argv[i] != NULL; i++) {
        const char *path = NULL;
        if (strncmp(argv[i], "--config=", 9) == 0) path = argv[i] + 9;
        if (strncmp(argv[i], "-c", 2) == 0 && argv[i][2] != '\0') path = argv[i] + 2;
        if ((strcmp(argv[i], "--config") == 0 || strcmp(argv[i], "-c") == 0) && i + 1 < argc) path = argv[i + 1];
        if (path != NULL) return gess__config_read(path, &a->options, &a->config_model, keep, err);
    }
    return GESS_OK;
}

static int start(void *data, gess_error *err)
{
    struct arguments *a = data;
    char directory[4096];
    gess_model *model = NULL;
    gess_run *run = NULL;
    if (a->model == NULL) a->model = a->config_model;
    default_directory(a, directory, sizeof directory);
    int status = gess_model_open(&model, a->model, a->options.data, err);
    if (status == GESS_OK)
        status = gess_run_new(&run, model, &a->options, a->directory != NULL ? a->directory : directory, err);
    if (status == GESS_OK) status = run_and_report(run, &a->options, a->quiet, err);
    gess_run_free(run);
    gess_model_free(model);
    return status;
}

int command_sample(int argc, char **argv, gess_error *err)
{
    struct argp_option *options = argp_options();
    if (options == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory");
    struct argp argp = {.options = options,
                        .parser = take,
                        .args_doc = "MODEL",
                        .doc =
                            "Draws samples from MODEL, a built-in name with parameters as in wishart:dim=50,seed=3 or "
                            "the path of a model of your own as in ./mymodel.so, and writes them to a run "
                            "directory.\v(tables)",
                        .help_filter = filter};
    struct arguments a = {0};
    json_t *keep = NULL;
    gess__options_init(&a.options);
    int status = take_config(argc, argv, &a, &keep, err);
    if (status == GESS_OK) status = parse_arguments(&argp, argc, argv, &a);
    a.options.comm = launch_comm();
    if (status == GESS_OK) status = launch_with_comm_thread(start, &a, err);
    json_decref(keep);
    free_options(options);
    return status;
}
