/* Short runs of every model, kernel and schedule, with every layer of the map, mixtures, annealing, a second learning,
 * bounds, files of starts and approximations, and the evidence in use, each stopped in warm-up and in the middle of its
 * draws, and resumed with two threads. Prints a line of checksums for each, which must be the same on every machine:
 *
 *   CASE DRAWS HISTORY SUMMARY TEXT EVIDENCE    draws.gess; history.json without its times; all figures of the summary
 *                                               and the text of the verdict; the summary and the draws as CSV;
 *                                               evidence.json, or - if the case has none
 *   CASE NUMBERS TEXT                           of what needs no run: numbers read from a CSV, and fits
 *
 *   bits [straight] [CASE...]      all cases, or those whose names begin with one of CASE; straight: without the stop
 *   bits first|second DIR [CASE...]    up to the stop, or from there on, in the folders DIR/CASE: on two machines
 *
 * Everything is done in the locale of the environment. A client of the public interface only. */
#include "sums.h"

#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CASES = 64, MAX_NAME = 160 };

typedef struct one {
    char name[MAX_NAME], model[MAX_NAME], options[300];
    const char *shows; /* what log.txt must say, so that the case has what it is there for; or NULL */
} one;

static one cases[MAX_CASES];
static size_t case_count;

static void add(const char *name, const char *model, const char *options, const char *shows)
{
    if (case_count == MAX_CASES) {
        fprintf(stderr, "bits: too many cases\n");
        exit(1);
    }
    one *c = &cases[case_count++];
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->model, sizeof c->model, "%s", model);
    snprintf(c->options, sizeof c->options, "%s", options);
    c->shows = shows;
}

/* Rows of a list, so that a new one has a case, and fails until its checksums are stored. */
static void add_all(int kind, const char *prefix, const char *model, const char *option, const char *rest)
{
    for (size_t i = 0; i < gess_list_count(kind); i++) {
        gess_entry entry;
        char name[MAX_NAME], options[300];
        if (gess_list(kind, i, &entry, sizeof entry, NULL) != GESS_OK) exit(1);
        snprintf(name, sizeof name, "%s-%s", prefix, entry.name);
        if (option != NULL)
            snprintf(options, sizeof options, "%s=%s %s", option, entry.name, rest);
        else
            snprintf(options, sizeof options, "%s", rest);
        if (strcmp(name, "schedule-independent") == 0 || strcmp(name, "schedule-tempering") == 0)
            strcat(options, " kernel=mh");
        int dear = option == NULL && strcmp(entry.name, "ionosphere") == 0;
        add(name, option != NULL ? model : dear ? "ionosphere:points=20" : entry.name, options, NULL);
    }
}

static void list_cases(void)
{
    add_all(GESS_LIST_MODELS, "model", NULL, NULL, "chains=12 max-warmup-evals=3000 draws=12");
    add_all(GESS_LIST_KERNELS, "kernel", "gaussian:dim=5,cor=0.5", "kernel", "chains=8 max-warmup-evals=3000 draws=12");
    add_all(GESS_LIST_SCHEDULES, "schedule", "banana:dim=3", "schedule", "chains=24 max-warmup-evals=4000 draws=12");
    add("pooled-gess", "student-t:dim=4,nu=2", "kernel=gess schedule=pooled chains=20 max-warmup-evals=6000 draws=20",
        NULL);
    add("two-group-many", "wishart:dim=30", "schedule=two-group chains=24 max-warmup-evals=4000 draws=10 reuse=2",
        NULL);
    add("tempering-tuned", "mixture:spread=3", "schedule=tempering kernel=mh ladder=tuned chains=24 warmup=60 draws=10",
        NULL);
    add("ensembles", "banana:dim=3", "ensembles=2 chains=24 max-warmup-evals=8000 thin=2 draws=10", "ensemble 2");
    add("bounds", "bounds", "chains=24 max-warmup-evals=8000 draws=20", NULL);
    add("map-skew", "eight-schools:centred=0", "chains=32 max-warmup-evals=20000 draws=20 seed=22", "map skew (");
    add("map-scale", "banana", "chains=40 max-warmup-evals=40000 draws=12", "map scale (");
    add("map-warp", "eight-schools:centred=0", "chains=32 max-warmup-evals=20000 draws=30 seed=2", "map warp (");
    add("mixture", "mixture:spread=4", "chains=40 max-warmup-evals=60000 draws=12", "components 3");
    add("annealed", "mixture:spread=3", "schedule=annealed chains=24 max-warmup-evals=30000 draws=8",
        "basin 8: weight");
    add("wide", "wishart:dim=150", "chains=12 max-warmup-evals=9000 draws=4", NULL);
    add("stop-rule", "gaussian:dim=3", "chains=64 target-ess=400 target-rhat=1.05", NULL);
    add("relearn", "eight-schools", "chains=64 max-warmup-evals=5000 max-evals=3000000", "T disappoints");
    add("missed", "spike", "chains=64 target-ess=400 target-rhat=1.05 seed=45", "a mode was missed");
    add("box-one", "box", "chains=24 draws=12", "annealing: power 1 ");
    add("box-two", "two-boxes", "chains=24 draws=12", "annealing: power 1 ");
    add("evidence", "banana", "chains=8 target-ess=500 target-rhat=1.05 evidence=1", NULL);
    add("non-centred", "eight-schools:centred=0", "chains=24 max-warmup-evals=8000 draws=10", NULL);
    add("inputs", "gaussian:dim=3", "schedule=fixed approx=approx.json init=starts.csv chains=6 warmup=0 draws=8",
        NULL);
    add("evidence-refit", "gaussian:dim=2", "kernel=mh chains=16 draws=200 evidence=1", NULL);
    add("evidence-map", "banana", "schedule=two-group chains=16 draws=200 evidence=1", NULL);
}

/* ---- a density of our own: every kind of bound, a circle, blobs and derived quantities ---- */

enum { BOUNDED = 5 };

/* Only operations that are correctly rounded everywhere, and no contraction of them (-ffp-contract=off). */
static int bounded_logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp, double *blobs)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        const double *p = x + i * dim;
        double circle = p[4] * p[4] * (1.0 - p[4]) * (1.0 - p[4]), line = p[0] - 0.5 * p[1];
        blobs[i] = line;
        logp[i] = -0.5 * line * line - 2.0 * p[1] + sqrt(p[1]) - 1.5 * (3.0 - p[2]) - p[3] * p[3] + 16.0 * circle;
    }
    return 0;
}

static int bounded_derive(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out)
{
    (void)user, (void)worker, (void)dim;
    for (size_t i = 0; i < derived; i++) out[i] = x[0] * x[1] / (1.0 + x[3] * x[3]);
    return 0;
}

/* A half square, and a narrow cap that chains seldom meet. */
static int spike_logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        const double *p = x + i * dim;
        double a = (p[0] - 0.7) / 0.05, b = (p[1] - 0.7) / 0.05, cap = 9.0 * (1.0 - a * a - b * b);
        logp[i] = -0.5 * (p[0] * p[0] + p[1] * p[1]) + (cap > 0.0 ? cap : 0.0);
    }
    return 0;
}

/* One or two maxima in a box. */
static int box_logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    const int *maxima = user;
    (void)worker;
    for (size_t i = 0; i < n; i++) {
        double first = 0.0, second = -0.5;
        for (size_t k = 0; k < dim; k++) {
            double a = x[i * dim + k] - 2.0, b = x[i * dim + k] + 2.0;
            first -= 2.0 * a * a;
            second -= 2.0 * b * b;
        }
        logp[i] = *maxima == 1 || first > second ? first : second;
    }
    return 0;
}

static int open_own(const one *c, gess_model **model, gess_error *err)
{
    static const double lower[] = {-6.0, -6.0}, upper[] = {6.0, 6.0};
    static int maxima[] = {1, 2};
    gess_density density = {.size = sizeof density, .dim = 2, .name = "spike", .logp = spike_logp};
    if (strcmp(c->model, "spike") == 0) return gess_model_new(model, &density, err);
    density.name = "box";
    density.logp = box_logp;
    density.user = &maxima[strcmp(c->model, "box") != 0];
    density.lower = lower;
    density.upper = upper;
    return gess_model_new(model, &density, err);
}

static int open_model(const one *c, gess_model **model, gess_error *err)
{
    if (strcmp(c->model, "spike") == 0 || strcmp(c->model, "box") == 0 || strcmp(c->model, "two-boxes") == 0)
        return open_own(c, model, err);
    static const double lower[BOUNDED] = {-INFINITY, 0.0, -INFINITY, -1.0, 0.0},
                        upper[BOUNDED] = {INFINITY, INFINITY, 3.0, 2.0, 1.0};
    static const unsigned char periodic[BOUNDED] = {0, 0, 0, 0, 1};
    static const char *const derived[] = {"ratio"};
    const gess_density density = {.size = sizeof density,
                                  .name = "bounds",
                                  .dim = BOUNDED,
                                  .lower = lower,
                                  .upper = upper,
                                  .periodic = periodic,
                                  .derived = 1,
                                  .derived_names = derived,
                                  .derive = bounded_derive,
                                  .blobs = 1,
                                  .logp_blobs = bounded_logp};
    return strcmp(c->model, "bounds") == 0 ? gess_model_new(model, &density, err)
                                           : gess_model_open(model, c->model, NULL, err);
}

/* ---- runs ---- */

/* Exits unless log.txt says that the run had what the case is there for. */
static void check_log(const one *c, const char *directory)
{
    char path[5120], line[4096];
    int found = c->shows == NULL;
    snprintf(path, sizeof path, "%s/log.txt", directory);
    FILE *file = fopen(path, "r");
    while (!found && file != NULL && fgets(line, sizeof line, file) != NULL) found = strstr(line, c->shows) != NULL;
    if (file != NULL) fclose(file);
    if (found) return;
    fprintf(stderr, "bits: %s: its log.txt has no '%s'\n", c->name, c->shows);
    exit(1);
}

enum { BEGIN, RESUME };            /* how a session begins */
enum { IN_WARMUP, HALFWAY, DONE }; /* and ends; HALFWAY: of the draws */

/* `draws` that a run was made for decide how much it learns, so a run is never made for half of them. It is resumed for
 * half of them, and then for all. */
static gess_options *options_of(const one *c, int begin, int end)
{
    gess_options *options;
    gess_error err;
    char draws[64];
    char text[320], *rest = text;
    snprintf(text, sizeof text, "seed=11 threads=%d %s", begin == BEGIN ? 1 : 2, c->options);
    check(gess_options_new(&options, &err), c->name, &err);
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        char *value = strchr(word, '=');
        if (value == NULL) continue;
        *value++ = '\0';
        check(gess_options_set(options, word, value, &err), c->name, &err);
    }
    check(gess_options_get(options, "draws", draws, sizeof draws, &err), c->name, &err);
    if (end == HALFWAY && atoi(draws) > 1) {
        snprintf(draws, sizeof draws, "%d", atoi(draws) / 2);
        check(gess_options_set(options, "draws", draws, &err), c->name, &err);
    }
    return options;
}

static int stop_in_warmup(void *user, const gess_stats *stats, uint64_t planned)
{
    (void)user, (void)planned;
    return stats->evals >= 1000;
}

/* For runs that sample until their targets are met. */
static int stop_in_sampling(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                            size_t columns, const double *rows)
{
    (void)user, (void)first_chain, (void)chains, (void)columns, (void)rows;
    return first_draw + draws >= 2;
}

static void run_session(const one *c, const char *directory, int begin, int end)
{
    gess_model *model = NULL;
    gess_run *run = NULL;
    gess_error err = {0};
    gess_options *options = options_of(c, begin, end);
    check(open_model(c, &model, &err), c->name, &err);
    if (begin == BEGIN)
        check(gess_run_new(&run, model, options, directory, &err), c->name, &err);
    else
        check(gess_run_resume(&run, model, options, directory, &err), c->name, &err);
    if (end == IN_WARMUP) check(gess_run_on_progress(run, stop_in_warmup, NULL, &err), c->name, &err);
    if (end == HALFWAY) check(gess_run_on_draw(run, stop_in_sampling, NULL, &err), c->name, &err);
    int status = gess_run_go(run, &err);
    if (status != GESS_ERR_STOPPED || end == DONE) check(status, c->name, &err);
    if (end == DONE) {
        check_log(c, directory);
        print_sums(c->name, run, directory, strstr(c->options, "evidence=1") != NULL);
    }
    gess_run_free(run);
    gess_model_free(model);
    gess_options_free(options);
}

enum { FIRST = 1, SECOND = 2, STRAIGHT = 4 };

static void run_case(const one *c, const char *directory, int parts)
{
    if (parts & FIRST) {
        run_session(c, directory, BEGIN, IN_WARMUP);
        run_session(c, directory, RESUME, HALFWAY);
    }
    if (parts & SECOND) run_session(c, directory, RESUME, DONE);
    if (parts & STRAIGHT) run_session(c, directory, BEGIN, DONE);
}

static int wanted(const char *name, char **names)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0) return 1;
    return names[0] == NULL;
}

static void remove_run(const char *directory)
{
    static const char *const files[] = {"checkpoint",    "checkpoint.old",  "config.json",   "draws.gess",
                                        "evidence.json", "evidence.values", "history.json",  "journal",
                                        "lock",          "log.txt",         "progress.json", "summary.json"};
    char path[5120];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        unlink(path);
    }
    rmdir(directory);
}

/* A locale whose numbers have commas must change nothing, and it must be there if it is asked for. */
static void set_locale(void)
{
    if (setlocale(LC_ALL, "") != NULL) return;
    fprintf(stderr, "bits: the locale of the environment does not exist\n");
    exit(1);
}

int main(int argc, char **argv)
{
    (void)argc;
    char scratch[] = "/tmp/gess-bits-XXXXXX", path[4096];
    char **names = argv + 1, *folder = NULL;
    int parts = FIRST | SECOND;
    set_locale();
    list_cases();
    if (*names != NULL && strcmp(*names, "straight") == 0) {
        parts = STRAIGHT;
        names++;
    } else if (*names != NULL && (strcmp(*names, "first") == 0 || strcmp(*names, "second") == 0) && names[1] != NULL) {
        parts = strcmp(*names, "first") == 0 ? FIRST : SECOND;
        folder = names[1];
        names += 2;
    }
    int keep = folder != NULL;
    if (folder == NULL) folder = mkdtemp(scratch);
    if (folder == NULL || chdir(folder) != 0) { /* so that texts hold no path of this machine */
        perror(folder != NULL ? folder : scratch);
        return 1;
    }
    make_inputs();
    for (size_t i = 0; i < case_count; i++) {
        if (!wanted(cases[i].name, names)) continue;
        if (snprintf(path, sizeof path, "./%s", cases[i].name) >= (int)sizeof path) return 1;
        run_case(&cases[i], path, parts);
        if (!keep) remove_run(path);
    }
    if (parts & (SECOND | STRAIGHT)) print_direct(wanted, names);
    if (!keep) {
        remove_inputs();
        if (rmdir(folder) != 0) perror(folder);
    }
    return 0;
}
