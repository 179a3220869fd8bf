#include "bench/bench.h"

#include "command.h"

#include <math.h>
#include <string.h>

struct arguments {
    const char *name;
    int json;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'j': a->json = 1; return 0;
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
        char goal[32] = "";
        if (isfinite(row->goal)) snprintf(goal, sizeof goal, "%s %.3g", row->more_is_better ? ">=" : "<=", row->goal);
        printf("  %8.3f %8s  %10.4g %10.4g  %s\n", row->ratio, goal, row->seconds, row->reference, row->what);
    }
    fflush(stdout);
}

static json_t *result_json(const gess__bench_result *r)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < r->count; i++) {
        const gess__bench_row *row = &r->rows[i];
        json_array_append_new(rows, json_pack("{s:s, s:f, s:f, s:f, s:o}", "what", row->what, "ratio", row->ratio,
                                              "seconds", row->seconds, "reference", row->reference, "goal",
                                              isfinite(row->goal) ? json_real(row->goal) : json_null()));
    }
    return rows;
}

int command_bench(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] = {{"json", 'j', NULL, 0, "as JSON", 0}, {0}};
    static const struct argp argp =
        {.options = options,
         .parser = take,
         .args_doc = "[NAME]",
         .doc = "Measures speed, as ratios within one run: overhead, threads, models. Without NAME: all."};
    struct arguments a = {0};
    GESS_TRY(parse_arguments(&argp, argc, argv, &a));
    const gess__bench *bench;
    json_t *root = json_object();
    size_t found = 0;
    int status = GESS_OK;
    for (size_t i = 0; status == GESS_OK && (bench = gess__bench_row_of(i)) != NULL; i++) {
        gess__bench_result result = {0};
        if (a.name != NULL && strcmp(a.name, bench->name) != 0) continue;
        found++;
        status = bench->run(&result, err);
        if (status != GESS_OK) break;
        if (a.json)
            json_object_set_new(root, bench->name, result_json(&result));
        else
            print_result(bench, &result);
    }
    if (status == GESS_OK && found == 0)
        status = gess__fail(err, GESS_ERR_USAGE, "no benchmark `%s`; `gess bench --help` lists them", a.name);
    if (status == GESS_OK && a.json) return print_json(root, err);
    json_decref(root);
    return status == GESS_OK ? finish_output(err) : status;
}
