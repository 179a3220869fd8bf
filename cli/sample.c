/* `gess sample`: parses the options (the rows of options.def) and starts a new run. */
#include "command.h"
#include "crash.h"
#include "launch.h"
#include "supervise.h"
#include "trust.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

struct arguments {
    const char *model, *directory;
    char config_model[4096]; /* from --config; empty: there is none */
    const char *config;      /* the file of --config, or NULL */
    int quiet, trusted;
    int best, starts; /* --best was given; another option about starts was */
    gess_options *options;
};

enum { COMMAND_OPTIONS = 4 }; /* that are not rows of options.def */
enum { FIRST_KEY = 0x1000 };  /* argp key of row 0 of options.def */

/* Starts on the command line replace those of --config, which may come from another of these options. */
static int replace_starts(struct arguments *a, const char *name, gess_error *err)
{
    static const char *const names[] = {"init", "init-from", "start-scale"}, *const defaults[] = {"", "", "1"};
    int replaces = 0;
    if (strcmp(name, "best") == 0) a->best = 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) replaces |= strcmp(name, names[i]) == 0;
    if (!replaces || a->starts) return GESS_OK;
    a->starts = 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        TRY(gess_options_set(a->options, names[i], defaults[i], err));
    return gess_options_set(a->options, "best", a->best ? "1" : "0", err);
}

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    gess_error err;
    gess_entry row;
    if (key >= FIRST_KEY && key < FIRST_KEY + 0x1000) {
        if (!list_row(GESS_LIST_OPTIONS, (size_t)(key - FIRST_KEY), &row)) return ARGP_ERR_UNKNOWN;
        if (replace_starts(a, row.name, &err) != GESS_OK) USAGE(state, "%s", err.text);
        if (gess_options_set(a->options, row.name, argument, &err) != GESS_OK) USAGE(state, "%s", err.text);
        return 0;
    }
    switch (key) {
    case 'o': a->directory = argument; return 0;
    case 'q': a->quiet = 1; return 0;
    case 'c': a->config = argument; return 0; /* make_options() has read it */
    case 't': a->trusted = 1; return 0;
    case ARGP_KEY_ARG:
        if (a->model != NULL) USAGE(state, "give one model only, not `%s` as well", argument);
        a->model = argument;
        return 0;
    case ARGP_KEY_END:
        if (a->model == NULL && a->config_model[0] == '\0') USAGE(state, "which model? `gess models` lists them");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

void option_help(const gess_entry *row, char *text, size_t size)
{
    char number[64];
    const char *value = row->value;
    if (row->type == GESS_OPTION_REAL) {
        snprintf(number, sizeof number, "%g", strtod(value, NULL));
        value = number;
    }
    if (row->type == GESS_OPTION_FLAG || row->type == GESS_OPTION_TIME || value == NULL || value[0] == '\0')
        snprintf(text, size, "%s", row->help);
    else
        snprintf(text, size, "%s (default: %s)", row->help, value);
}

/* The rows of options.def as options of argp, with their defaults in the help. */
static struct argp_option *argp_options(void)
{
    size_t rows = gess_list_count(GESS_LIST_OPTIONS);
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
    options[3] =
        (struct argp_option){"trust-model", 't', NULL, 0, "run a plug-in that is not beside the file of --config", 0};
    for (size_t i = 0; i < rows; i++) {
        gess_entry row;
        char *help = malloc(512);
        if (help == NULL || !list_row(GESS_LIST_OPTIONS, i, &row)) {
            free(help);
            break;
        }
        option_help(&row, help, 512);
        options[i + COMMAND_OPTIONS] = (struct argp_option){row.name, FIRST_KEY + (int)i, row.unit, 0, help, 0};
    }
    return options;
}

static void free_options(struct argp_option *options)
{
    for (struct argp_option *o = options + COMMAND_OPTIONS; o->name != NULL; o++) free((char *)(uintptr_t)o->doc);
    free(options);
}

static void put_list(FILE *out, const char *title, int kind)
{
    gess_entry row;
    fprintf(out, "%s:\n", title);
    for (size_t i = 0; list_row(kind, i, &row); i++) fprintf(out, "  %-12s %s\n", row.name, row.help);
}

/* Appends the tables of kernels and schedules to the help. */
static char *filter(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC) return (char *)(uintptr_t)text;
    char *all = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&all, &size);
    if (out == NULL) return NULL;
    put_list(out, "Kernels", GESS_LIST_KERNELS);
    fputc('\n', out);
    put_list(out, "Schedules", GESS_LIST_SCHEDULES);
    fclose(out);
    return all;
}

/* gess-runs/MODEL-SEED, with the model's title and with _ for every character that a file name should not have. */
static void default_directory(const struct arguments *a, const gess_model *model, char *path, size_t size)
{
    char seed[64] = "";
    gess_model_info info = {0};
    int prefix = snprintf(path, size, "gess-runs/");
    gess_model_describe(model, &info, sizeof info, NULL);
    const char *name = info.title != NULL ? info.title : a->model;
    gess_options_get(a->options, "seed", seed, sizeof seed, NULL);
    snprintf(path + prefix, size - (size_t)prefix, "%s-%s", name, seed);
    for (char *c = path + prefix; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && strchr("._-", *c) == NULL) *c = '_';
}

/* Makes the options: those of --config, wherever it stands, so that the other arguments override them; otherwise the
 * defaults. */
static int make_options(int argc, char **argv, struct arguments *a, gess_error *err)
{
    for (int i = 1; i < argc && argv[i] != NULL; i++) {
        const char *path = NULL;
        if (strncmp(argv[i], "--config=", 9) == 0) path = argv[i] + 9;
        if (strncmp(argv[i], "-c", 2) == 0 && argv[i][2] != '\0') path = argv[i] + 2;
        if ((strcmp(argv[i], "--config") == 0 || strcmp(argv[i], "-c") == 0) && i + 1 < argc) path = argv[i + 1];
        if (path != NULL) return gess_options_read(&a->options, path, a->config_model, sizeof a->config_model, err);
    }
    return gess_options_new(&a->options, err);
}

static int start(void *data, gess_error *err)
{
    struct arguments *a = data;
    char directory[4096];
    gess_model *model = NULL;
    gess_run *run = NULL;
    if (a->model == NULL) {
        a->model = a->config_model;
        TRY(check_trust(a->model, a->config, a->trusted, a->quiet, err));
    }
    TRY(begin_supervised(a->model, a->options, a->directory != NULL ? a->directory : "", err));
    int status = open_model(&model, a->model, a->options, err);
    if (status == GESS_OK) default_directory(a, model, directory, sizeof directory);
    if (a->directory == NULL) a->directory = directory;
    supervised_directory(a->directory);
    if (status == GESS_OK) status = gess_run_new(&run, model, a->options, a->directory, err);
    if (status == GESS_OK) status = run_and_report(run, a->options, a->directory, a->quiet, err);
    status = explain_lost(status, a->model, a->options, a->directory, err);
    gess_run_free(run);
    gess_model_free(model);
    return status;
}

int command_sample(int argc, char **argv, gess_error *err)
{
    struct argp_option *options = argp_options();
    if (options == NULL) return fail(err, GESS_ERR_INTERNAL, "out of memory");
    struct argp argp =
        {.options = options,
         .parser = take,
         .args_doc = "MODEL",
         .doc = "Draws samples from MODEL, a built-in name with parameters as in wishart:dim=50,seed=3 or "
                "the path of a model of your own as in ./mymodel.so or mymodel.cu (CUDA), or a program as in "
                "'exec:python3 model.py', and writes them to a run "
                "directory.\v(tables)",
         .help_filter = filter};
    struct arguments a = {0};
    int status = make_options(argc, argv, &a, err);
    if (status == GESS_OK) status = parse_arguments(&argp, argc, argv, &a);
    if (status == GESS_OK) status = gess_options_set_comm(a.options, launch_comm(), err);
    if (status == GESS_OK) status = gess_comm_call(launch_comm(), start, &a, err);
    gess_options_free(a.options);
    free_options(options);
    return status;
}
