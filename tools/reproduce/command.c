/* Parses the arguments of `gess reproduce` and calls reproduce.c. */
#include "reproduce/reproduce.h"

#include "base/csv.h"
#include "command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    const char *name, *verify;
    int scaled, tried; /* --scale and --trials were given */
    gess__reproduction settings;
};

enum { QUICK = 256, TRIALS, SCALE, JOBS, SEED, ONLY, SHARD, FROM, BUDGETS, ITERATIONS, PARTIAL, VERIFY };

/* Settings of --quick. */
#define QUICK_SCALE 0.01
enum { QUICK_TRIALS = 2, TRIALS_OF_THE_PAPER = 5 };

static uint64_t whole(const char *text, double min, double max, struct argp_state *state)
{
    double value;
    if (!gess__parse_real(text, &value) || !(value >= min && value <= max) || value != floor(value))
        USAGE(state, "`%s` is not a whole number from %.0f to %.0f", text, min, max);
    return (uint64_t)value;
}

/* I/N */
static void take_shard(const char *argument, gess__reproduction *r, struct argp_state *state)
{
    char first[16] = "";
    const char *slash = strchr(argument, '/');
    if (slash == NULL || slash == argument || (size_t)(slash - argument) >= sizeof first)
        USAGE(state, "--shard takes I/N, such as 2/8, not `%s`", argument);
    memcpy(first, argument, (size_t)(slash - argument));
    r->shards = (unsigned)whole(slash + 1, 1.0, 100000.0, state);
    r->shard = (unsigned)whole(first, 1.0, (double)r->shards, state);
}

static void take_budgets(const char *argument, gess__reproduction *r, struct argp_state *state)
{
    r->budgets = 0;
    for (size_t length; *argument != '\0'; argument += length + (argument[length] == ',')) {
        char text[32] = "";
        length = strcspn(argument, ",");
        if (length < sizeof text) memcpy(text, argument, length);
        if (r->budgets == GESS__REPRODUCE_BUDGETS)
            USAGE(state, "--budgets takes at most %d numbers", GESS__REPRODUCE_BUDGETS);
        double *budget = &r->budget[r->budgets++];
        if (!gess__parse_real(text, budget) || !(*budget > 0.0 && *budget <= 1000.0))
            USAGE(state, "--budgets takes numbers above 0 and at most 1000, separated by commas, not `%s`", text);
    }
}

static void take_iterations(const char *argument, gess__reproduction *r, struct argp_state *state)
{
    r->iteration_counts = 0;
    for (size_t length; *argument != '\0'; argument += length + (argument[length] == ',')) {
        char text[32] = "";
        length = strcspn(argument, ",");
        if (length < sizeof text) memcpy(text, argument, length);
        if (r->iteration_counts == GESS__REPRODUCE_BUDGETS)
            USAGE(state, "--iterations takes at most %d numbers", GESS__REPRODUCE_BUDGETS);
        r->iterations[r->iteration_counts++] = whole(text, 20.0, 1e9, state);
    }
}

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'o': a->settings.directory = argument; return 0;
    case 'q': a->settings.progress = NULL; return 0;
    case QUICK: a->settings.quick = 1; return 0;
    case TRIALS:
        a->settings.trials = whole(argument, 1.0, 1000.0, state);
        a->tried = 1;
        return 0;
    case SCALE:
        if (!gess__parse_real(argument, &a->settings.scale) || !(a->settings.scale > 0.0 && a->settings.scale <= 100.0))
            USAGE(state, "`%s` is not a number above 0 and at most 100", argument);
        a->scaled = 1;
        return 0;
    case JOBS: a->settings.jobs = (unsigned)whole(argument, 1.0, 1024.0, state); return 0;
    case SEED: a->settings.seed = whole(argument, 0.0, 9e15, state); return 0;
    case ONLY: a->settings.only = argument; return 0;
    case SHARD: take_shard(argument, &a->settings, state); return 0;
    case BUDGETS: take_budgets(argument, &a->settings, state); return 0;
    case ITERATIONS: take_iterations(argument, &a->settings, state); return 0;
    case PARTIAL: a->settings.partial = 1; return 0;
    case VERIFY: a->verify = argument; return 0;
    case FROM:
        if (a->settings.sources == GESS__REPRODUCE_SOURCES)
            USAGE(state, "--from can be given at most %d times", GESS__REPRODUCE_SOURCES);
        a->settings.source[a->settings.sources++] = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (a->name != NULL) USAGE(state, "one name only, not `%s` as well", argument);
        a->name = argument;
        return 0;
    case ARGP_KEY_END:
        if (a->name == NULL && a->verify == NULL) USAGE(state, "what? a name of the list, or all");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option reproduce_options[] =
    {{"output", 'o', "DIR", 0, "folder of pages, data and cells (default: gess-reproduction)", 0},
     {"quick", QUICK, NULL, 0, "two trials, a hundredth of the iterations; takes minutes, to check that it works", 0},
     {"trials", TRIALS, "N", 0, "runs per setting, with different seeds (default: 5, as in the paper)", 0},
     {"scale", SCALE, "F", 0, "the paper's iterations, and the budgets of evaluations, times F (default: 1)", 0},
     {"jobs", JOBS, "N", 0, "cells at a time, one thread per cell (default: one per core)", 0},
     {"seed", SEED, "S", 0, "seed of the first trial; the others follow it (default: 1)", 0},
     {"only", ONLY, "TEXT,...", 0, "only cells with one of these texts in their names, such as funnel/mh", 0},
     {"shard", SHARD, "I/N", 0,
      "compute only the I-th of N parts of the cells, and no page: for several machines, each with a folder of its own",
      0},
     {"from", FROM, "DIR", 0, "take over the cells of this folder, or cells.jsonl.gz (can be given again)", 0},
     {"budgets", BUDGETS, "F,...", 0,
      "table-scaling: a part of the cells with these budgets as well, times the protocol's, one trial", 0},
     {"iterations", ITERATIONS, "N,...", 0,
      "table-scaling: in addition, cells near the border with N iterations of every chain, whatever the cores, one "
      "trial",
      0},
     {"partial", PARTIAL, NULL, 0,
      "compute nothing: make the pages from the cells that there are; each page lists those that are missing", 0},
     {"verify", VERIFY, "DIR", 0,
      "run nothing: make the pages of DIR again from its cells, and compare claims, verdicts, tables, data and "
      "checksums",
      0},
     {"quiet", 'q', NULL, 0, "no progress", 0},
     {0}};

/* The list of figures. */
static char *filter(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC) return (char *)(uintptr_t)text;
    char *all = malloc(4096);
    if (all == NULL) return NULL;
    size_t used = (size_t)snprintf(all, 4096, "Names:\n");
    for (size_t i = 0; gess__figure_row(i) != NULL; i++)
        used += (size_t)snprintf(all + used, 4096 - used, "  %-16s %s\n", gess__figure_row(i)->name,
                                 gess__figure_row(i)->help);
    snprintf(all + used, 4096 - used, "  %-16s %s\n", "all", "all of these");
    return all;
}

int command_reproduce(int argc, char **argv, gess_error *err)
{
    static const struct argp argp =
        {.options = reproduce_options,
         .parser = take,
         .args_doc = "NAME",
         .doc =
             "Repeats an experiment of the paper and writes data (CSV, JSON), plots (SVG, PNG, by gnuplot) and a "
             "page with the paper's claims beside the measurements. After a stop or a kill, the same command goes on "
             "where it was.\v(names)",
         .help_filter = filter};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct arguments a = {.settings = {.directory = "gess-reproduction",
                                       .scale = 1.0,
                                       .trials = TRIALS_OF_THE_PAPER,
                                       .seed = 1,
                                       .jobs = cores > 0 ? (unsigned)cores : 1,
                                       .progress = stderr}};
    GESS_TRY(parse_arguments(&argp, argc, argv, &a));
    if (a.verify != NULL) {
        GESS_TRY(gess__reproduce_verify(a.verify, stdout, err));
        return finish_output(err);
    }
    if (a.settings.quick && !a.scaled) a.settings.scale = QUICK_SCALE;
    if (a.settings.quick && !a.tried) a.settings.trials = QUICK_TRIALS;
    GESS_TRY(gess__reproduce(a.name, &a.settings, err));
    if (a.settings.shards > 0)
        printf("%s/cells\n", a.settings.directory);
    else
        printf("%s/index.html\n", a.settings.directory);
    return finish_output(err);
}
