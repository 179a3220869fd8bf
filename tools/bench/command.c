/* Parses the arguments of `gess bench`, runs the benchmark, and prints its table or JSON. */
#include "bench/bench.h"

#include "base/csv.h"
#include "base/suggest.h"
#include "command.h"

#include <math.h>
#include <string.h>

struct arguments {
    const char *name;
    int json;
    gess__bench_options options;
};

enum { MODELS = 256, SAMPLERS, SETTINGS, OUTPUT, SEEDS, EVALS, QUICK };

/* A whole number, which may be written as 2e6. */
static uint64_t whole(const char *text, struct argp_state *state)
{
    double value;
    if (!gess__parse_real(text, &value) || !(value >= 1.0 && value <= 1e15) || value != floor(value))
        USAGE(state, "`%s` is not a whole number from 1", text);
    return (uint64_t)value;
}

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'j': a->json = 1; return 0;
    case MODELS: a->options.models = argument; return 0;
    case SAMPLERS: a->options.samplers = argument; return 0;
    case SETTINGS: a->options.settings = argument; return 0;
    case OUTPUT: a->options.output = argument; return 0;
    case SEEDS: a->options.seeds = whole(argument, state); return 0;
    case EVALS: a->options.evals = whole(argument, state); return 0;
    case QUICK: a->options.quick = 1; return 0;
    case ARGP_KEY_ARG:
        if (a->name != NULL) USAGE(state, "one benchmark at a time, or none for all of them");
        a->name = argument;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void print_result(const gess__bench *bench, const gess__bench_result *r)
{
    printf("%s: %s\n  %8s %8s  %10s %10s\n", bench->name, bench->help, "ratio", "goal", "seconds", "reference");
    for (size_t i = 0; i < r->count; i++) {
        const gess__bench_row *row = &r->rows[i];
        char goal[32] = "", times[2][32] = {"", ""};
        if (isfinite(row->goal)) snprintf(goal, sizeof goal, "%s %.3g", row->more_is_better ? ">=" : "<=", row->goal);
        if (isfinite(row->seconds)) snprintf(times[0], sizeof times[0], "%.4g", row->seconds);
        if (isfinite(row->reference)) snprintf(times[1], sizeof times[1], "%.4g", row->reference);
        printf("  %8.4g %8s  %10s %10s  %s\n", row->ratio, goal, times[0], times[1], row->what);
    }
    fflush(stdout);
}

static json_t *result_json(const gess__bench_result *r)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < r->count; i++) {
        const gess__bench_row *row = &r->rows[i];
        json_array_append_new(rows,
                              json_pack("{s:s, s:o, s:o, s:o, s:o}", "what", row->what, "ratio",
                                        gess__bench_number(row->ratio), "seconds", gess__bench_number(row->seconds),
                                        "reference", gess__bench_number(row->reference), "goal",
                                        gess__bench_number(row->goal)));
    }
    return rows;
}

/* Prints JSON and a newline to stdout. Takes the reference. */
static int print_json(json_t *root, gess_error *err)
{
    int code = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
    json_decref(root);
    if (code != 0) return gess__fail(err, GESS_ERR_FILE, "cannot write the JSON to standard output");
    putchar('\n');
    return finish_output(err);
}

/* Runs one benchmark; its JSON goes into root, its table to stdout. */
static int run_one(const gess__bench *bench, const struct arguments *a, json_t *root, gess_error *err)
{
    if (bench->table != NULL) {
        json_t *json = NULL;
        gess__bench_options options = a->options;
        options.text = a->json ? NULL : stdout;
        int status = bench->table(&options, &json, err);
        if (status == GESS_OK && json != NULL)
            json_object_set_new(root, bench->name, json);
        else
            json_decref(json);
        return status;
    }
    gess__bench_result result = {0};
    GESS_TRY(bench->run(&a->options, &result, err));
    if (a->json)
        json_object_set_new(root, bench->name, result_json(&result));
    else
        print_result(bench, &result);
    return GESS_OK;
}

static const struct argp_option bench_options[] =
    {{"json", 'j', NULL, 0, "as JSON", 0},
     {"models", MODELS, "LIST", 0, "built-in models, separated by commas; of scaling: cells D, D:C or D:C:K", 0},
     {"samplers", SAMPLERS, "LIST", 0, "of gess, emcee and zeus; default: gess, and the others after `make peers`", 0},
     {"seeds", SEEDS, "N", 0, "number of runs, with seeds 1 to N", 0},
     {"evals", EVALS, "N", 0,
      "evaluations: of sampling (efficiency, reference), of the largest budget (cost), per core (scaling), per "
      "chain (utilisation)",
      0},
     {"set", SETTINGS, "NAME=VALUE,...", 0, "options of `gess sample` for the runs of gess, over the defaults", 0},
     {"quick", QUICK, NULL, 0, "a small part, to check that it works", 0},
     {"output", OUTPUT, "FOLDER", 0,
      "where reference and peers write; default: bench/reference of the source tree, and no plot of peers", 0},
     {0}};

static int no_such_bench(const char *name, gess_error *err)
{
    gess__nearest nearest = {.word = name};
    const gess__bench *bench;
    char hint[128];
    for (size_t i = 0; (bench = gess__bench_row_of(i)) != NULL; i++) gess__nearest_offer(&nearest, bench->name);
    return gess__fail(err, GESS_ERR_USAGE, "no benchmark `%.100s`%s; `gess bench --help` lists them", name,
                      gess__did_you_mean(&nearest, hint));
}

int command_bench(int argc, char **argv, gess_error *err)
{
    static const struct argp argp =
        {.options = bench_options,
         .parser = take,
         .args_doc = "[NAME]",
         .doc = "Measures speed, as ratios within one run: overhead, threads, fit, growth, isolate, writing, models. "
                "Without "
                "NAME: all of these. By name only, and for long: utilisation, with a density that sleeps; efficiency, "
                "cost, scaling, reference, peers, ranks, gpu, which count evaluations and take the options below "
                "(--models and "
                "--quick: overhead too)."};
    struct arguments a = {0};
    GESS_TRY(parse_arguments(&argp, argc, argv, &a));
    const gess__bench *bench;
    json_t *root = json_pack("{s:o}", "machine", gess__bench_machine());
    size_t found = 0;
    int status = GESS_OK;
    for (size_t i = 0; status == GESS_OK && (bench = gess__bench_row_of(i)) != NULL; i++) {
        if (a.name != NULL ? strcmp(a.name, bench->name) != 0 : bench->table != NULL) continue;
        found++;
        status = run_one(bench, &a, root, err);
    }
    if (status == GESS_OK && found == 0) status = no_such_bench(a.name, err);
    if (status == GESS_OK && a.json) return print_json(root, err);
    json_decref(root);
    return status == GESS_OK ? finish_output(err) : status;
}
