/* Compares gess with emcee and zeus, on the same compiled densities, with one thread, in one table and one plot.
 *
 * It has effective samples (the smallest bulk ESS over the parameters) per second and per evaluation of sampling, with
 * the worst R-hat, as in efficiency.c, and the evaluations to accuracy of cost.c, if truth or a reference is known.
 * Seconds are those after warm-up, and those of the whole run; the peers discard as many evaluations as they sample
 * with. A figure with an R-hat above 1.05 means nothing, so neither table nor plot compares with it.
 *
 * In the folder of --output: peers.dat, peers.gp (gnuplot) and, if gnuplot can be run, peers.svg. */
#include "bench/measure.h"
#include "run/directory.h"
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_SAMPLERS = 3 };

/* The figures of a sampler on a model. */
typedef struct cell {
    double per_second, per_second_whole, per_eval, rhat, cost;
    int measured, converged;
} cell;

static double number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void take(const json_t *efficiency, const json_t *cost, cell *c)
{
    double ess = number(efficiency, "ess");
    *c = (cell){.per_second = ess / number(efficiency, "seconds_sampling"),
                .per_second_whole = ess / number(efficiency, "seconds"),
                .per_eval = number(efficiency, "ess_per_eval"),
                .rhat = number(efficiency, "r_hat"),
                .cost = number(json_object_get(cost, "both"), "evals"),
                .measured = 1,
                .converged = json_is_true(json_object_get(efficiency, "converged"))};
}

/* A number, or a dash. */
static const char *shown(char *text, size_t size, const char *format, double value)
{
    if (isfinite(value))
        (void)snprintf(text, size, format, value); /* NOLINT(clang-diagnostic-format-nonliteral) */
    else
        (void)snprintf(text, size, "-");
    return text;
}

static void say(const gess__bench_options *o, const char *model, const char *sampler, const cell *c, double times)
{
    char text[6][32];
    gess__bench_say(o, "  %-24s %-6s %10s %10s %9s %s %8s %9s %8s\n", model, sampler,
                    shown(text[0], sizeof *text, "%.0f", c->per_second),
                    shown(text[1], sizeof *text, "%.0f", c->per_second_whole),
                    shown(text[2], sizeof *text, "%.5f", c->per_eval), c->converged ? " " : "x",
                    shown(text[3], sizeof *text, "%.4f", c->rhat), shown(text[4], sizeof *text, "%.3g", c->cost),
                    shown(text[5], sizeof *text, "%.0f", times));
}

static json_t *cell_json(const char *model, const char *sampler, const cell *c, double times, json_t *efficiency,
                         json_t *cost)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:O, s:o}", "model", model, "sampler", sampler,
                     "ess_per_second", gess__bench_number(c->per_second), "ess_per_second_whole",
                     gess__bench_number(c->per_second_whole), "ess_per_eval", gess__bench_number(c->per_eval), "r_hat",
                     gess__bench_number(c->rhat), "converged", c->converged, "cost", gess__bench_number(c->cost),
                     "gess_over_this", gess__bench_number(times), "efficiency", efficiency, "accuracy",
                     cost != NULL ? json_incref(cost) : json_null());
}

typedef struct settings {
    uint64_t seeds, evals, cost_seeds, cost_evals;
} settings;

/* Runs all samplers on one model; cells are in the order of the samplers. */
static int compare(const gess__bench_options *o, const settings *s, const gess__bench_list *samplers, const char *model,
                   cell *cells, json_t *rows, gess_error *err)
{
    gess__bench_options quiet = *o;
    quiet.text = NULL;
    quiet.models = NULL; /* a density without a reference is not an error here */
    for (size_t k = 0; k < samplers->count; k++) {
        json_t *efficiency = json_array(), *costs = json_array();
        int status = gess__bench_efficiency_row(&quiet, samplers->item[k], model, s->seeds, s->evals, efficiency, err);
        if (status == GESS_OK && s->cost_evals > 0)
            status = gess__bench_cost_row(&quiet, samplers->item[k], model, s->cost_seeds, s->cost_evals, costs, err);
        if (status == GESS_OK) {
            json_t *row = json_array_get(efficiency, 0), *cost = json_array_get(costs, 0);
            take(row, cost, &cells[k]);
            double times =
                cells[0].measured && k > 0 && cells[k].converged ? cells[0].per_second / cells[k].per_second : NAN;
            say(o, model, samplers->item[k], &cells[k], times);
            json_array_append_new(rows, cell_json(model, samplers->item[k], &cells[k], times, row, cost));
        }
        json_decref(efficiency);
        json_decref(costs);
        GESS_TRY(status);
    }
    return GESS_OK;
}

/* ---- the plot ---- */

static int open_file(const char *folder, const char *name, char *path, size_t size, FILE **out, gess_error *err)
{
    snprintf(path, size, "%s/%s", folder, name);
    *out = fopen(path, "we");
    return *out != NULL ? GESS_OK : gess__fail(err, GESS_ERR_FILE, "%s: %s", path, strerror(errno));
}

static int close_file(FILE *out, const char *path, gess_error *err)
{
    int bad = ferror(out);
    if (fclose(out) != 0 || bad) return gess__fail(err, GESS_ERR_FILE, "%s: cannot be written", path);
    return GESS_OK;
}

/* A row per model: its name; per sampler ESS per second, ESS per evaluation, cost; NaN if it has not converged. */
static int write_data(const char *folder, const gess__bench_list *models, const gess__bench_list *samplers,
                      cell cells[][MAX_SAMPLERS], char *path, size_t size, gess_error *err)
{
    FILE *out;
    GESS_TRY(open_file(folder, "peers.dat", path, size, &out, err));
    fprintf(out, "# model; then of %s", samplers->item[0]);
    for (size_t k = 1; k < samplers->count; k++) fprintf(out, ", %s", samplers->item[k]);
    fprintf(out, ": ESS per second, ESS per evaluation, evaluations to accuracy\n");
    for (size_t i = 0; i < models->count; i++) {
        fprintf(out, "\"%s\"", models->item[i]);
        for (size_t k = 0; k < samplers->count; k++) {
            const cell *c = &cells[i][k];
            double none = c->converged ? 0.0 : NAN;
            fprintf(out, " %.6g %.6g %.6g", c->per_second + none, c->per_eval + none,
                    isfinite(c->cost) ? c->cost : NAN);
        }
        fprintf(out, "\n");
    }
    return close_file(out, path, err);
}

/* The lower end of the axis of a panel: half of the smallest value. */
static double lowest(size_t panel, size_t models, size_t samplers, cell cells[][MAX_SAMPLERS])
{
    double min = INFINITY;
    for (size_t i = 0; i < models; i++)
        for (size_t k = 0; k < samplers; k++) {
            const cell *c = &cells[i][k];
            double value = panel == 0 ? c->per_second : panel == 1 ? c->per_eval : c->cost;
            if ((panel == 2 || c->converged) && isfinite(value)) min = fmin(min, value);
        }
    return isfinite(min) && min > 0.0 ? 0.5 * min : 1.0;
}

static int write_script(const char *folder, size_t models, const gess__bench_list *samplers, cell cells[][MAX_SAMPLERS],
                        char *path, size_t size, gess_error *err)
{
    static const char *const titles[] = {"effective samples per second (no bar: R-hat above 1.05)",
                                         "effective samples per evaluation (no bar: R-hat above 1.05)",
                                         "evaluations until every mean and spread is known to 0.05 sd (no bar: not "
                                         "reached, or truth not known)"};
    static const char *const colours[] = {"#1b6ca8", "#e08e45", "#7a9e3b"};
    FILE *out;
    GESS_TRY(open_file(folder, "peers.gp", path, size, &out, err));
    fprintf(out, "set terminal svg size 1000,1050 font 'sans,13' background rgb 'white'\nset output 'peers.svg'\n"
                 "set datafile missing 'nan'\nset style data histogram\nset style histogram clustered gap 1\n"
                 "set style fill solid border -1\nset logscale y\nset grid ytics\nset xtics rotate by -20 noenhanced\n"
                 "set key outside top right noenhanced\nset format y '10^{%%T}'\nset multiplot layout 3,1\n");
    for (size_t panel = 0; panel < 3; panel++) {
        fprintf(out, "set title '%s'\nset yrange [%g:*]\nplot ", titles[panel],
                lowest(panel, models, samplers->count, cells));
        for (size_t k = 0; k < samplers->count; k++)
            fprintf(out, "%s'peers.dat' using %zu%s title '%s' lc rgb '%s'", k > 0 ? ", " : "", 2 + 3 * k + panel,
                    k == 0 ? ":xtic(1)" : "", samplers->item[k], colours[k % 3]);
        fprintf(out, "\n");
    }
    fprintf(out, "unset multiplot\n");
    return close_file(out, path, err);
}

/* Returns whether gnuplot made the picture. */
static int draw(const char *folder)
{
    pid_t child;
    int code = -1;
    posix_spawn_file_actions_t actions;
    char *place = strdup(folder);
    char *argv[] = {"sh", "-c", "cd \"$1\" && exec gnuplot peers.gp", "sh", place, NULL};
    if (place == NULL) return 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
                                     0); /* it warns about series without a bar */
    int fault = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    free(place);
    if (fault != 0) return 0;
    while (waitpid(child, &code, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(code) && WEXITSTATUS(code) == 0;
}

static int plot(const gess__bench_options *o, const gess__bench_list *models, const gess__bench_list *samplers,
                cell cells[][MAX_SAMPLERS], gess_error *err)
{
    char path[2][1024];
    if (o->output == NULL) return GESS_OK;
    GESS_TRY(write_data(o->output, models, samplers, cells, path[0], sizeof *path, err));
    GESS_TRY(write_script(o->output, models->count, samplers, cells, path[1], sizeof *path, err));
    gess__bench_say(o, "%s, %s%s\n", path[0], path[1],
                    draw(o->output) ? ", peers.svg" : "; no picture: gnuplot cannot be run");
    return GESS_OK;
}

static int table(const gess__bench_options *o, json_t **json, gess_error *err)
{
    static const char *const default_models =
        "funnel,mixture,german-credit,breast-cancer,stochastic-volatility,snp,wishart:dim=50,"
        "eight-schools:centred=0,rats";
    gess__bench_list models, samplers;
    cell cells[GESS__BENCH_ITEMS][MAX_SAMPLERS] = {0};
    settings s = {.seeds = o->seeds > 0 ? o->seeds : 1,
                  .evals = o->evals > 0 ? o->evals
                           : o->quick   ? 50000
                                        : 1000000,
                  .cost_seeds = o->seeds > 0 ? o->seeds
                                : o->quick   ? 2
                                             : 10,
                  .cost_evals = o->quick       ? 50000
                                : o->evals > 0 ? o->evals
                                               : 1600000};
    const char *list = o->models != NULL ? o->models : o->quick ? "mixture,eight-schools:centred=0" : default_models;
    GESS_TRY(gess__bench_split(list, &models, err));
    GESS_TRY(gess__bench_samplers(o, &samplers, err));
    if (samplers.count > MAX_SAMPLERS)
        return gess__fail(err, GESS_ERR_USAGE, "bench peers: name every sampler only once");
    /* fails now rather than after the runs */
    if (o->output != NULL) GESS_TRY(gess__make_folders(o->output, err));
    gess__bench_say(o,
                    "Smallest bulk ESS over the parameters per second (of sampling; of the whole run) and per "
                    "evaluation, x: "
                    "R-hat above 1.05; evaluations, warm-up included, until every mean and spread is known to 0.05 sd, "
                    "by %llu seeds; "
                    "ESS per second of gess over that of the sampler.\n  %-24s %-6s %10s %10s %9s   %8s %9s %8s\n",
                    (unsigned long long)s.cost_seeds, "model", "", "ESS/s", "whole", "ESS/eval", "R-hat", "cost",
                    "gess");
    json_t *rows = json_array();
    int status = GESS_OK;
    for (size_t i = 0; status == GESS_OK && i < models.count; i++)
        status = compare(o, &s, &samplers, models.item[i], cells[i], rows, err);
    if (status == GESS_OK) status = plot(o, &models, &samplers, cells, err);
    *json = json_pack("{s:I, s:I, s:I, s:I, s:o}", "evals", (json_int_t)s.evals, "seeds", (json_int_t)s.seeds,
                      "cost_seeds", (json_int_t)s.cost_seeds, "cost_evals", (json_int_t)s.cost_evals, "rows", rows);
    return status;
}

const gess__bench gess__bench_peers = {
    .name = "peers",
    .help = "gess beside emcee and zeus: ESS per second and per evaluation, cost, a plot (by name only)",
    .table = table,
};
