#include "base/clock.h"
#include "base/options.h"
#include "command.h"
#include "execute/ensemble.h"
#include "launch.h"
#include "report/verdict.h"
#include "run/config.h"
#include "run/directory.h"
#include "run/run.h"

#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- arguments ---- */

struct arguments {
    const char *model, *directory;
    const char *config_model; /* of --config */
    int quiet;
    gess_options options;
};

enum { OWN_OPTIONS = 3 };    /* that are not rows of options.def */
enum { FIRST_KEY = 0x1000 }; /* of the rows of options.def */

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
    case 'c': return 0; /* taken already */
    case ARGP_KEY_ARG:
        if (a->model != NULL) USAGE(state, "one model only, not `%s` as well", argument);
        a->model = argument;
        return 0;
    case ARGP_KEY_END:
        if (a->model == NULL && a->config_model == NULL) USAGE(state, "which model? `gess models` lists them");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The rows of options.def as argp's options, with their defaults in the help. */
static struct argp_option *argp_options(void)
{
    size_t rows = 0;
    while (gess__option_row(rows) != NULL) rows++;
    struct argp_option *options = calloc(rows + OWN_OPTIONS + 1, sizeof *options);
    if (options == NULL) return NULL;
    options[0] = (struct argp_option){"output", 'o', "DIR", 0, "run directory (default: gess-runs/MODEL-SEED)", 0};
    options[1] = (struct argp_option){"quiet", 'q', NULL, 0, "no progress and no summary", 0};
    options[2] =
        (struct argp_option){"config", 'c', "FILE", 0, "model and options of a run's config.json, before others", 0};
    for (size_t i = 0; i < rows; i++) {
        const gess__option *row = gess__option_row(i);
        char *help = malloc(512);
        if (help == NULL) break;
        gess__option_help(row, help, 512);
        options[i + OWN_OPTIONS] = (struct argp_option){row->name, FIRST_KEY + (int)i, row->unit, 0, help, 0};
    }
    return options;
}

static void free_options(struct argp_option *options)
{
    for (struct argp_option *o = options + OWN_OPTIONS; o->name != NULL; o++) free((char *)(uintptr_t)o->doc);
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

/* gess-runs/MODEL-SEED, with anything a file name should not have replaced. */
static void default_directory(const struct arguments *a, char *path, size_t size)
{
    int prefix = snprintf(path, size, "gess-runs/");
    const char *slash = strrchr(a->model, '/'), *colon = strchr(a->model, ':');
    const char *name = slash != NULL && colon == NULL ? slash + 1 : a->model;
    snprintf(path + prefix, size - (size_t)prefix, "%s-%llu", name, (unsigned long long)a->options.seed);
    for (char *c = path + prefix; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && strchr("._-", *c) == NULL) *c = '_';
}

/* ---- progress ---- */

struct progress {
    const gess_run *run;
    int terminal;
    double last;         /* seconds at which a line was shown */
    gess_stats previous; /* at that moment */
    double each;         /* evaluations an update, as shown */
    double rate;         /* evaluations a second, smoothed */
};

static void show_time(char *text, size_t size, double seconds)
{
    if (seconds < 60.0)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 3600.0)
        snprintf(text, size, "%d min %d s", (int)seconds / 60, (int)seconds % 60);
    else if (seconds < 1e9)
        snprintf(text, size, "%d h %d min", (int)(seconds / 3600.0), (int)fmod(seconds, 3600.0) / 60);
    else
        snprintf(text, size, "for ever");
}

/* Seconds until the targets are met, or the evaluations spent, whichever is first; NaN before the first check.
 * ESS grows with the draws, and R-hat² - 1 falls with them. */
static double time_to_targets(const struct progress *p, const gess_stats *s)
{
    const gess__history *h = &p->run->history;
    const gess_options *o = &p->run->options;
    if (h->checks == 0 || !isfinite(s->worst_rhat) || s->draws == 0 || o->target_rhat <= 1.0) return NAN;
    double more = fmax((double)o->target_ess / s->least_ess,
                       (s->worst_rhat * s->worst_rhat - 1.0) / (o->target_rhat * o->target_rhat - 1.0));
    double draws = (double)h->check[h->checks - 1].draws * more - (double)s->draws;
    double left = fmax(draws, 0.0) * s->seconds_sampling / (double)s->draws;
    return fmin(left, fmax((double)o->max_evals - (double)s->evals, 0.0) / p->rate);
}

/* Where the run is, and how long it will take. */
static void describe_place(const struct progress *p, const gess_stats *s, uint64_t planned, char *text, size_t size)
{
    char left[40] = "";
    double seconds =
        planned > 0 ? s->seconds / (double)s->iterations * (double)(planned - s->iterations) : time_to_targets(p, s);
    if (isfinite(seconds)) show_time(left, sizeof left, seconds);
    int used = s->draws == 0 ? snprintf(text, size, "warm-up, iteration %llu", (unsigned long long)s->iterations)
                             : snprintf(text, size, "draw %llu", (unsigned long long)s->draws);
    if (planned > 0)
        used += snprintf(text + used, size - (size_t)used, ", %d %%",
                         (int)(100.0 * (double)s->iterations / (double)planned));
    if (left[0] != '\0') snprintf(text + used, size - (size_t)used, ", %s%s left", planned > 0 ? "" : "about ", left);
}

/* Cuts the line so that it stays one; characters are not cut in two. */
static void fit_terminal(char *line)
{
    struct winsize window;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col < 20) return;
    size_t shown = 0;
    for (char *c = line; *c != '\0'; c++) {
        if (((unsigned char)*c & 0xc0) == 0x80) continue;
        if (++shown < window.ws_col) continue;
        *c = '\0';
        return;
    }
}

static void show_progress(void *user, const gess_stats *s, uint64_t planned)
{
    struct progress *p = user;
    double wait = p->terminal ? 0.1 : 10.0, passed = s->seconds - p->last;
    if (s->iterations == 0 || passed < wait) return;
    double updates = (double)(s->updates - p->previous.updates), evals = (double)(s->evals - p->previous.evals);
    if (updates > 0.0) p->each = evals / updates;
    double rate = evals / passed;
    p->rate = p->rate > 0.0 ? 0.8 * p->rate + 0.2 * rate : rate;
    char nu[40] = "", place[160], figures[160] = "", line[512];
    if (!isnan(s->nu)) snprintf(nu, sizeof nu, ", nu %.3g", s->nu);
    describe_place(p, s, planned, place, sizeof place);
    if (isfinite(s->worst_rhat))
        snprintf(figures, sizeof figures, ", ESS %.0f, R-hat %.3f (slowest: %s)", s->least_ess, s->worst_rhat,
                 s->slowest);
    snprintf(line, sizeof line, "%s%s, %.3g evaluations/s, %.2f an update%s", place, figures, p->rate, p->each, nu);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?'; /* names are the user's */
    if (p->terminal) fit_terminal(line);
    fprintf(stderr, p->terminal ? "\r%s\033[K" : "%s\n", line);
    fflush(stderr);
    p->last = s->seconds;
    p->previous = *s;
}

/* ---- signals: the first ends the run after its sweep, the second at once ---- */

static gess_run *signalled;
static volatile sig_atomic_t signals;
static const int caught[] = {SIGINT, SIGTERM, SIGUSR1};

static volatile double first_signal;

/* Of several processes the first decides; and launchers may send what they got from a terminal or a batch system a
 * second time. */
static int is_echo(void)
{
    return launch_comm() != NULL && (launch_rank() > 0 || gess__seconds() - first_signal < 1.0);
}

static void on_signal(int number)
{
    if (signals++ == 0) {
        first_signal = gess__seconds();
        gess_stop(signalled);
        return;
    }
    if (is_echo()) return;
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(gess_run *run)
{
    signalled = run;
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) signal(caught[i], run != NULL ? on_signal : SIG_DFL);
}

/* ---- the command ---- */

/* How warm-up and the stop rules went, where gess decided them. */
static void print_verdict(const gess_stats *s, const gess_options *o, int stopped)
{
    if (o->warmup == GESS_AUTO && s->warmup_settled)
        printf("warm-up ended itself after %llu iterations\n", (unsigned long long)s->warmup);
    else if (o->warmup == GESS_AUTO)
        printf("warm-up was ended by its limit of evaluations after %llu iterations, still improving\n",
               (unsigned long long)s->warmup);
    if (s->method[0] != '\0') printf("%s\n", s->method);
    if (o->draws != GESS_AUTO || stopped) return;
    if (s->targets_met)
        printf("targets met: smallest bulk ESS %.0f, worst R-hat %.4f\n", s->least_ess, s->worst_rhat);
    else
        printf("TARGETS NOT MET: smallest bulk ESS %.0f, worst R-hat %.4f; do not trust these figures yet: give more "
               "%s\n",
               s->least_ess, s->worst_rhat,
               o->warmup == GESS_AUTO && !s->warmup_settled ? "--max-warmup-evals and --max-evals" : "--max-evals");
}

/* One line of what `gess diagnose` would say, where it says no. */
static int print_doubts(const gess__summary *summary, const char *directory, gess_error *err)
{
    gess__verdict verdict = {0};
    int status = gess__judge_run(&verdict, summary, directory, err);
    if (status == GESS_OK && !verdict.pass)
        printf("DO NOT TRUST THIS YET: %s (`gess diagnose %s` says more)\n", verdict.findings[0].text, directory);
    gess__verdict_free(&verdict);
    return status;
}

static int write_summary(const gess_run *run, const gess_options *options, int quiet, gess_error *err)
{
    char path[4096];
    gess_stats stats;
    gess__summary summary = {0};
    const gess__summary_settings settings = {.ensembles = run->ensembles, .threads = (unsigned)options->threads};
    gess_run_stats(run, &stats);
    int status = gess__directory_path(run->directory, "draws.gess", path, sizeof path, err);
    if (status == GESS_OK) status = gess__summarise_file(&summary, path, &settings, err);
    if (status == GESS_OK) status = gess__summary_set_stats(&summary, &stats, err);
    if (status == GESS_OK)
        status = gess__directory_write_json(run->directory, "summary.json", gess__summary_json(&summary), err);
    if (status == GESS_OK && !quiet) {
        gess__summary_print_table(&summary, table_width(), stdout);
        print_nans(run->directory);
        print_verdict(&stats, options, !run->finished);
        status = print_doubts(&summary, run->directory, err);
        printf("\nDraws and summary are in %s\n", run->directory);
        if (status == GESS_OK) status = finish_output(err);
    }
    gess__summary_free(&summary);
    return status;
}

int run_and_report(gess_run *run, const gess_options *options, int quiet, gess_error *err)
{
    struct progress progress = {.run = run, .terminal = isatty(STDERR_FILENO)};
    if (launch_rank() > 0) {
        catch_signals(run);
        return gess_run_go(run, err);
    }
    if (run->options.max_time == 0.0) run->options.max_time = launch_time_left();
    if (!quiet) {
        gess_run_on_progress(run, show_progress, &progress);
        run->monitor.wanted = 1;
    }
    catch_signals(run);
    int status = gess_run_go(run, err);
    catch_signals(NULL);
    if (progress.terminal && progress.last > 0.0) fputc('\n', stderr);
    if (status == GESS_ERR_STOPPED) {
        gess_stats stats;
        gess_run_stats(run, &stats);
        if (stats.draws > 0) GESS_TRY(write_summary(run, options, quiet, err));
        return gess__fail(err, GESS_ERR_STOPPED, "%s after %llu draws of each chain; go on with: gess resume %s",
                          run->out_of_time ? "--max-time is over: stopped" : "stopped", (unsigned long long)stats.draws,
                          run->directory);
    }
    GESS_TRY(status);
    return run->stats.draws > 0 ? write_summary(run, options, quiet, err) : GESS_OK;
}

/* --config comes before every other option, wherever it stands. */
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
    const gess_model *model = NULL;
    gess_run *run = NULL;
    if (a->model == NULL) a->model = a->config_model;
    default_directory(a, directory, sizeof directory);
    int status = gess_model_open(&model, a->model, a->options.data, err);
    if (status == GESS_OK)
        status = gess_run_new(&run, model, &a->options, a->directory != NULL ? a->directory : directory, err);
    if (status == GESS_OK) status = run_and_report(run, &a->options, a->quiet, err);
    gess_run_free(run);
    gess_model_close(model);
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
    gess_options_init(&a.options);
    int status = take_config(argc, argv, &a, &keep, err);
    if (status == GESS_OK) status = parse_arguments(&argp, argc, argv, &a);
    a.options.comm = launch_comm();
    if (status == GESS_OK) status = launch_cover(start, &a, err);
    json_decref(keep);
    free_options(options);
    return status;
}
