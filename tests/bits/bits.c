/* Short runs of every model, kernel and schedule, with maps, mixtures and annealing in use, each stopped in warm-up and
 * in the middle of its draws, and resumed; prints a line of checksums for each, which must be the same on every machine:
 *
 *   CASE DRAWS HISTORY SUMMARY     draws.gess; history.json without its times; all figures of the summary
 *
 *   bits [straight] [CASE...]      all cases, or those whose names begin with one of CASE; straight: without the stop
 *   bits first|second DIR [CASE...]    up to the stop, or from there on, in the folders DIR/CASE: on two machines
 *
 * A client of the public interface only. */
#include <gess/draws.h>
#include <gess/gess.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CASES = 64, MAX_NAME = 160 };

typedef struct one {
    char name[MAX_NAME], model[MAX_NAME], options[300];
} one;

static one cases[MAX_CASES];
static size_t case_count;

static void add(const char *name, const char *model, const char *options)
{
    if (case_count == MAX_CASES) {
        fprintf(stderr, "bits: too many cases\n");
        exit(1);
    }
    one *c = &cases[case_count++];
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->model, sizeof c->model, "%s", model);
    snprintf(c->options, sizeof c->options, "%s", options);
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
        add(name, option != NULL ? model : dear ? "ionosphere:points=20" : entry.name, options);
    }
}

static void list_cases(void)
{
    add_all(GESS_LIST_MODELS, "model", NULL, NULL, "chains=12 max-warmup-evals=3000 draws=12");
    add_all(GESS_LIST_KERNELS, "kernel", "gaussian:dim=5,cor=0.5", "kernel", "chains=8 max-warmup-evals=3000 draws=12");
    add_all(GESS_LIST_SCHEDULES, "schedule", "banana:dim=3", "schedule", "chains=24 max-warmup-evals=4000 draws=12");
    add("pooled-gess", "student-t:dim=4,nu=2", "kernel=gess schedule=pooled chains=20 max-warmup-evals=6000 draws=20");
    add("two-group-many", "wishart:dim=30", "schedule=two-group chains=24 max-warmup-evals=4000 draws=10");
    add("map", "funnel:dim=5", "chains=40 max-warmup-evals=40000 draws=12");
    add("mixture", "mixture:spread=4", "chains=40 max-warmup-evals=60000 draws=12");
    add("annealed", "mixture:spread=3", "schedule=annealed chains=24 max-warmup-evals=30000 draws=8");
    add("wide", "wishart:dim=150", "chains=12 max-warmup-evals=9000 draws=4");
    add("stop-rule", "gaussian:dim=3", "chains=8 target-ess=400 target-rhat=1.05");
}

/* ---- checksums ---- */

static uint64_t mix(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) sum = (sum ^ bytes[i]) * UINT64_C(1099511628211); /* FNV-1a */
    return sum;
}

static const uint64_t start = UINT64_C(14695981039346656037);

/* Of a file, by lines if times are to be left out. */
static uint64_t file_sum(const char *directory, const char *name, int text)
{
    char path[5120], line[4096];
    uint64_t sum = start;
    size_t got;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    while (text && fgets(line, sizeof line, file) != NULL)
        if (strstr(line, "\"seconds_") == NULL) sum = mix(sum, line, strlen(line));
    while (!text && (got = fread(line, 1, sizeof line, file)) > 0) sum = mix(sum, line, got);
    fclose(file);
    return sum;
}

static uint64_t summary_sum(const gess_summary *summary)
{
    size_t rows = 0;
    uint64_t sum = start;
    if (gess_summary_rows(summary, &rows, NULL) != GESS_OK) exit(1);
    for (size_t row = 0; row < rows; row++) {
        gess_figures figures;
        if (gess_summary_row(summary, row, &figures, sizeof figures, NULL) != GESS_OK) exit(1);
        const double *numbers = &figures.mean;
        for (size_t i = 0; i < sizeof figures / sizeof *numbers; i++) {
            uint64_t nan = 1; /* there are several */
            sum = numbers[i] == numbers[i] ? mix(sum, &numbers[i], sizeof *numbers) : mix(sum, &nan, sizeof nan);
        }
    }
    return sum;
}

/* ---- runs ---- */

static void check(int status, const char *name, const gess_error *err)
{
    if (status == GESS_OK) return;
    fprintf(stderr, "bits: %s: %s\n", name, err->text);
    exit(1);
}

/* What a session does: it begins the run or resumes it, and ends in warm-up, halfway through the draws, or at the end. */
typedef struct session {
    int begin, end;
} session;
enum { BEGIN, RESUME };
enum { IN_WARMUP, HALFWAY, DONE };

/* `draws` that a run was made for decide how much it learns, so a run is never made for half of them. It is resumed for
 * half of them, and then for all. */
static gess_options *options_of(const one *c, session s)
{
    gess_options *options;
    gess_error err;
    char draws[64];
    char text[320], *rest = text;
    snprintf(text, sizeof text, "seed=11 threads=1 %s", c->options);
    check(gess_options_new(&options, &err), c->name, &err);
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        char *value = strchr(word, '=');
        if (value == NULL) continue;
        *value++ = '\0';
        check(gess_options_set(options, word, value, &err), c->name, &err);
    }
    check(gess_options_get(options, "draws", draws, sizeof draws, &err), c->name, &err);
    if (s.end == HALFWAY && atoi(draws) > 1) {
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

static void print_sums(const one *c, gess_run *run, const char *directory)
{
    gess_summary *summary = NULL;
    gess_error err = {0};
    check(gess_summary_new_run(&summary, run, NULL, 0, &err), c->name, &err);
    printf("%s %016llx %016llx %016llx\n", c->name, (unsigned long long)file_sum(directory, "draws.gess", 0),
           (unsigned long long)file_sum(directory, "history.json", 1), (unsigned long long)summary_sum(summary));
    fflush(stdout);
    gess_summary_free(summary);
}

static void run_session(const one *c, const char *directory, int begin, int end)
{
    gess_model *model = NULL;
    gess_run *run = NULL;
    gess_error err = {0};
    gess_options *options = options_of(c, (session){begin, end});
    check(gess_model_open(&model, c->model, NULL, &err), c->name, &err);
    if (begin == BEGIN)
        check(gess_run_new(&run, model, options, directory, &err), c->name, &err);
    else
        check(gess_run_resume(&run, model, options, directory, &err), c->name, &err);
    if (end == IN_WARMUP) check(gess_run_on_progress(run, stop_in_warmup, NULL, &err), c->name, &err);
    if (end == HALFWAY) check(gess_run_on_draw(run, stop_in_sampling, NULL, &err), c->name, &err);
    int status = gess_run_go(run, &err);
    if (status != GESS_ERR_STOPPED || end == DONE) check(status, c->name, &err);
    if (end == DONE) print_sums(c, run, directory);
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

static int wanted(const one *c, char **names)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (strncmp(c->name, names[i], strlen(names[i])) == 0) return 1;
    return names[0] == NULL;
}

static void remove_run(const char *directory)
{
    static const char *const files[] = {"checkpoint",   "checkpoint.old", "config.json", "draws.gess",
                                        "history.json", "lock",           "log.txt",     "summary.json"};
    char path[5120];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        unlink(path);
    }
    rmdir(directory);
}

int main(int argc, char **argv)
{
    (void)argc;
    char scratch[] = "/tmp/gess-bits-XXXXXX", path[4096];
    char **names = argv + 1, *folder = NULL;
    int parts = FIRST | SECOND;
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
    if (folder == NULL && (folder = mkdtemp(scratch)) == NULL) {
        perror(scratch);
        return 1;
    }
    for (size_t i = 0; i < case_count; i++) {
        if (!wanted(&cases[i], names)) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, cases[i].name) >= (int)sizeof path) return 1;
        run_case(&cases[i], path, parts);
        if (!keep) remove_run(path);
    }
    if (!keep) rmdir(folder);
    return 0;
}
