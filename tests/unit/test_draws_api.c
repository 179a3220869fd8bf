/* <gess/draws.h>: every function on a small run and on CSV files, compared with the internal functions; structs of
 * other versions; errors. */
#include "base/options.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "draws/draws.h"
#include "readers/draws_file.h"
#include "report/verdict.h"

#include <ftw.h>
#include <gess/draws.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHAINS = 12, DRAWS = 60, COLUMNS = 3 };

static char folder[] = "test_draws_api-XXXXXX", directory[64];
static gess_run *run;
static gess_model *model;

#define GOOD(call)                                       \
    do {                                                 \
        gess_error err = {0};                            \
        if ((call) != GESS_OK) fail_msg("%s", err.text); \
    } while (0)

/* The call fails with this status and a message that contains `words`. */
#define REFUSED(call, wanted, words)                                     \
    do {                                                                 \
        gess_error err = {0};                                            \
        assert_int_equal((call), (wanted));                              \
        assert_int_equal(err.status, (wanted));                          \
        if (strstr(err.text, (words)) == NULL) fail_msg("%s", err.text); \
    } while (0)

/* ---- the run ---- */

static int make_run(void **state)
{
    (void)state;
    gess_error err = {0};
    gess_options options;
    if (mkdtemp(folder) == NULL) return 1;
    snprintf(directory, sizeof directory, "%s/run", folder);
    gess__options_init(&options);
    options.chains = CHAINS;
    options.draws = DRAWS;
    options.warmup = 30;
    options.thin = 2;
    options.seed = 7;
    options.threads = 1;
    options.save_warmup = 1;
    int status = gess_model_open(&model, "banana", NULL, &err);
    if (status == GESS_OK) status = gess_run_new(&run, model, &options, directory, &err);
    if (status == GESS_OK) status = gess_run_go(run, &err);
    if (status != GESS_OK) print_error("%s\n", err.text);
    return status;
}

static int remove_entry(const char *path, const struct stat *information, int type, struct FTW *at)
{
    (void)information, (void)type, (void)at;
    return remove(path);
}

static int remove_run(void **state)
{
    (void)state;
    gess_run_free(run);
    gess_model_free(model);
    return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* folder/name */
static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* ---- draws ---- */

static void shape_of_draws(void **state)
{
    (void)state;
    gess_draws *d = NULL;
    gess_draws_shape shape;
    char *text = NULL;
    size_t column = 99;
    GOOD(gess_draws_open(&d, directory, &err));
    GOOD(gess_draws_info(d, &shape, sizeof shape, &err));
    assert_int_equal(shape.chains, CHAINS);
    assert_int_equal(shape.draws, DRAWS);
    assert_int_equal(shape.columns, COLUMNS);
    assert_int_equal(shape.thin, 2);
    assert_int_equal(shape.dim, 2);
    assert_int_equal(shape.ensembles, 1);
    assert_int_equal(shape.seed, 7);
    assert_true(shape.has_seed && shape.has_warmup);
    GOOD(gess_draws_model(d, &text, &err));
    assert_string_equal(text, "banana");
    gess_text_free(text);
    GOOD(gess_draws_name(d, 0, &text, &err));
    assert_string_equal(text, "lp__");
    gess_text_free(text);
    GOOD(gess_draws_name(d, 2, &text, &err));
    GOOD(gess_draws_find(d, text, &column, &err));
    assert_int_equal(column, 2);
    gess_text_free(text);
    REFUSED(gess_draws_name(d, COLUMNS, &text, &err), GESS_ERR_USAGE, "3 columns");
    assert_null(text);
    REFUSED(gess_draws_find(d, "nobody", &column, &err), GESS_ERR_USAGE, "nobody");
    gess_draws_close(d);
    gess_draws_close(NULL);
}

/* Programs of earlier and of later versions have other sizes. */
static void other_sizes(void **state)
{
    (void)state;
    gess_draws *d = NULL;
    struct {
        gess_draws_shape shape;
        char more[16];
    } large;
    GOOD(gess_draws_open(&d, directory, &err));
    memset(&large, 0x55, sizeof large);
    GOOD(gess_draws_info(d, &large.shape, offsetof(gess_draws_shape, draws), &err));
    assert_int_equal(large.shape.columns, COLUMNS);
    assert_true(large.shape.draws == 0x5555555555555555u);
    GOOD(gess_draws_info(d, &large.shape, sizeof large, &err));
    assert_int_equal(large.shape.draws, DRAWS);
    for (size_t i = 0; i < sizeof large.more; i++) assert_int_equal(large.more[i], 0);
    gess_draws_close(d);
}

static void read_draws(void **state)
{
    (void)state;
    char path[96];
    gess_draws *d = NULL;
    gess__draws all;
    double rows[DRAWS * COLUMNS], column[DRAWS];
    snprintf(path, sizeof path, "%s/draws.gess", directory);
    GOOD(gess__draws_read(&all, path, &err));
    GOOD(gess_draws_open(&d, path, &err)); /* the file, in place of the directory */
    for (size_t c = 0; c < CHAINS; c++) {
        GOOD(gess_draws_read(d, c, 0, DRAWS, 0, COLUMNS, rows, &err));
        for (size_t i = 0; i < DRAWS; i++)
            for (size_t j = 0; j < COLUMNS; j++)
                assert_true(rows[i * COLUMNS + j] == all.values[(j * CHAINS + c) * DRAWS + i]);
        GOOD(gess_draws_read(d, c, 7, DRAWS - 9, 1, 1, column, &err));
        for (size_t i = 0; i < DRAWS - 9; i++) assert_true(column[i] == rows[(i + 7) * COLUMNS + 1]);
    }
    GOOD(gess_draws_read(d, 0, DRAWS, 0, 0, COLUMNS, rows, &err));
    REFUSED(gess_draws_read(d, CHAINS, 0, 1, 0, 1, rows, &err), GESS_ERR_USAGE, "12 chains of 60 draws");
    REFUSED(gess_draws_read(d, 0, DRAWS, 1, 0, 1, rows, &err), GESS_ERR_USAGE, "60 draws");
    REFUSED(gess_draws_read(d, 0, 1, UINT64_MAX, 0, 1, rows, &err), GESS_ERR_USAGE, "60 draws");
    REFUSED(gess_draws_read(d, 0, 0, 1, 1, COLUMNS, rows, &err), GESS_ERR_USAGE, "3 columns");
    gess_draws_close(d);
    gess__draws_free(&all);
}

/* More draws than are read at a time. */
static void read_pieces(void **state)
{
    (void)state;
    enum { MANY = 70000 };
    static const char *const names[] = {"lp__", "x"};
    static double rows[2 * MANY], values[MANY];
    gess_draws *d = NULL;
    gess_draws_shape shape;
    for (size_t i = 0; i < 2 * MANY; i++) rows[i] = (double)i + 0.5;
    FILE *file = draws_file_new(in_folder("long.gess"), 1, 2, names, 1);
    draws_file_append(file, 2, 0, 1, 0, MANY, rows);
    assert_int_equal(fclose(file), 0);
    GOOD(gess_draws_open(&d, in_folder("long.gess"), &err));
    GOOD(gess_draws_info(d, &shape, sizeof shape, &err));
    assert_true(shape.draws == MANY && shape.dim == 0 && !shape.has_seed && !shape.has_warmup);
    GOOD(gess_draws_read(d, 0, 3, MANY - 4, 1, 1, values, &err));
    for (size_t i = 0; i < MANY - 4; i++) assert_true(values[i] == rows[2 * (i + 3) + 1]);
    gess_draws_close(d);
}

/* The draws of warm-up are a file like the others. */
static void read_warmup(void **state)
{
    (void)state;
    char path[96];
    gess_draws *d = NULL;
    gess_draws_shape shape;
    snprintf(path, sizeof path, "%s/warmup.gess", directory);
    GOOD(gess_draws_open(&d, path, &err));
    GOOD(gess_draws_info(d, &shape, sizeof shape, &err));
    assert_true(shape.draws > 0 && shape.chains == CHAINS && shape.seed == 7);
    gess_draws_close(d);
}

static void draws_of_csv(void **state)
{
    (void)state;
    char first[96], second[96];
    const char *paths[2] = {first, second}, *none[2] = {first, NULL};
    gess_draws *d = NULL;
    gess_draws_shape shape;
    double values[4];
    char *text = NULL;
    snprintf(first, sizeof first, "%s/1.csv", folder);
    snprintf(second, sizeof second, "%s/2.csv", folder);
    put_file(first, "lp__,x\n1,2\n3,4\n5,6\n");
    put_file(second, "lp__,x\n7,8\n9,10\n11,12\n");
    GOOD(gess_draws_open_csv(&d, 2, paths, &err));
    GOOD(gess_draws_info(d, &shape, sizeof shape, &err));
    assert_int_equal(shape.chains, 2);
    assert_int_equal(shape.draws, 3);
    assert_int_equal(shape.dim, 0);
    assert_false(shape.has_seed || shape.has_warmup);
    GOOD(gess_draws_read(d, 1, 1, 2, 0, 2, values, &err));
    assert_true(values[0] == 9 && values[1] == 10 && values[2] == 11 && values[3] == 12);
    GOOD(gess_draws_model(d, &text, &err));
    assert_string_equal(text, "");
    gess_text_free(text);
    gess_draws_close(d);
    REFUSED(gess_draws_open_csv(&d, 2, none, &err), GESS_ERR_USAGE, "`paths[1]` is NULL");
    REFUSED(gess_draws_open_csv(&d, 0, paths, &err), GESS_ERR_USAGE, "`count` is 0");
    put_file(second, "lp__,y\n7,8\n");
    REFUSED(gess_draws_open_csv(&d, 2, paths, &err), GESS_ERR_USAGE, "2.csv");
    assert_null(d);
    REFUSED(gess_draws_open(&d, in_folder("nowhere"), &err), GESS_ERR_FILE, "nowhere");
    assert_null(d);
    put_file(second, "gessdraw and nothing else");
    REFUSED(gess_draws_open(&d, second, &err), GESS_ERR_FILE, "2.csv");
    REFUSED(gess_draws_open(NULL, first, &err), GESS_ERR_USAGE, "gess_draws_open: `draws` is NULL");
    REFUSED(gess_draws_open(&d, NULL, &err), GESS_ERR_USAGE, "gess_draws_open: `path` is NULL");
    assert_int_equal(gess_draws_open(&d, NULL, NULL), GESS_ERR_USAGE);
}

/* ---- summary ---- */

static void assert_same_figures(const gess_summary *summary, const gess__summary *wanted)
{
    size_t rows = 0;
    GOOD(gess_summary_rows(summary, &rows, &err));
    assert_int_equal(rows, wanted->count);
    for (size_t i = 0; i < rows; i++) {
        gess_figures f;
        char *name = NULL;
        const gess__figures *w = &wanted->figures[i];
        GOOD(gess_summary_name(summary, i, &name, &err));
        assert_string_equal(name, wanted->names[i]);
        gess_text_free(name);
        GOOD(gess_summary_row(summary, i, &f, sizeof f, &err));
#define FIGURE(name, format, rank) assert_true(f.name == w->name || (isnan(f.name) && isnan(w->name)));
        GESS__FIGURE_TABLE(FIGURE)
#undef FIGURE
    }
    /* the public struct has a field for every figure, and then `circular` */
#define FIGURE(name, format, rank) +1
    assert_int_equal(offsetof(gess_figures, circular), sizeof(double) * (0 GESS__FIGURE_TABLE(FIGURE)));
#undef FIGURE
}

static void assert_text(const gess_summary *summary, int format, size_t width, const char *wanted)
{
    char *text = NULL;
    GOOD(gess_summary_text(summary, format, width, &text, &err));
    assert_string_equal(text, wanted);
    gess_text_free(text);
}

static void summary_of_run(void **state)
{
    (void)state;
    gess_summary *summary = NULL, *live = NULL;
    gess__summary wanted;
    gess_summary_stats stats;
    char *memory = NULL, *text = NULL;
    size_t size = 0;
    GOOD(gess__summarise_run(&wanted, directory, (gess__summary_settings){0}, &err));
    GOOD(gess_summary_new(&summary, directory, NULL, 0, &err));
    assert_same_figures(summary, &wanted);
    GOOD(gess_summary_info(summary, &stats, sizeof stats, &err));
    assert_false(stats.has_stats); /* there is no summary.json yet */
    assert_true(stats.chains == CHAINS && stats.draws == DRAWS && stats.ensembles == 1 && isnan(stats.seconds));
    gess_summary_free(summary);

    GOOD(gess_summary_new_run(&live, run, NULL, 0, &err));
    assert_same_figures(live, &wanted);
    GOOD(gess_summary_write(live, directory, &err));
    GOOD(gess_summary_new(&summary, directory, NULL, 0, &err));
    GOOD(gess_summary_info(summary, &stats, sizeof stats, &err));
    assert_true(stats.has_stats && stats.evals > stats.evals_sampling && stats.evals_sampling > 0);
    assert_true(stats.warmup == 30 && stats.seconds >= stats.seconds_sampling && isnan(stats.stop_ess));
    gess__summary_free(&wanted);

    GOOD(gess__summarise_run(&wanted, directory, (gess__summary_settings){0}, &err));
    FILE *out = open_memstream(&memory, &size);
    gess__summary_print_table(&wanted, 100, out);
    fclose(out);
    assert_text(summary, GESS_FORMAT_TEXT, 100, memory);
    free(memory);
    out = open_memstream(&memory, &size);
    gess__summary_csv(&wanted, out);
    fclose(out);
    assert_text(summary, GESS_FORMAT_CSV, 0, memory);
    if (setlocale(LC_NUMERIC, getenv("LOCPATH") != NULL ? "comma" : "de_DE.UTF-8") != NULL)
        assert_text(summary, GESS_FORMAT_CSV, 0, memory);
    setlocale(LC_NUMERIC, "C");
    free(memory);
    json_t *root = gess__summary_json(&wanted);
    memory = json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
    GOOD(gess_summary_text(summary, GESS_FORMAT_JSON, 0, &text, &err));
    assert_int_equal(strncmp(text, memory, strlen(memory)), 0);
    assert_string_equal(text + strlen(memory), "\n");
    gess_text_free(text);
    REFUSED(gess_summary_text(summary, 3, 0, &text, &err), GESS_ERR_USAGE, "no format 3");
    assert_null(text);
    free(memory);
    json_decref(root);
    gess__summary_free(&wanted);
    gess_summary_free(summary);
    gess_summary_free(live);
}

static void summary_settings(void **state)
{
    (void)state;
    gess_summary *summary = NULL;
    gess_verdict *verdict = NULL;
    gess_figures first, second;
    size_t rows = 0;
    struct {
        gess_summary_settings known;
        long later;
    } settings = {.known = {.threads = 1, .worst_first = 1}};
    GOOD(gess_summary_new(&summary, directory, &settings.known, sizeof settings, &err));
    GOOD(gess_summary_row(summary, 0, &first, sizeof first, &err));
    GOOD(gess_summary_row(summary, 1, &second, sizeof second, &err));
    assert_true(first.r_hat >= second.r_hat);
    REFUSED(gess_summary_row(summary, COLUMNS, &first, sizeof first, &err), GESS_ERR_USAGE, "3 rows");
    gess_summary_free(summary);

    settings.later = 1;
    REFUSED(gess_summary_new(&summary, directory, &settings.known, sizeof settings, &err), GESS_ERR_USAGE,
            "does not know");
    assert_null(summary);
    settings.known.variables = "lp__";
    GOOD(gess_summary_new(&summary, directory, &settings.known, sizeof settings.known, &err));
    GOOD(gess_summary_rows(summary, &rows, &err));
    assert_int_equal(rows, 1);
    REFUSED(gess_verdict_new(&verdict, directory, summary, &err), GESS_ERR_USAGE, "needs all of them");
    gess_summary_free(summary);
    settings.known.variables = "nobody";
    REFUSED(gess_summary_new(&summary, directory, &settings.known, sizeof settings.known, &err), GESS_ERR_USAGE,
            "nobody");
    settings.known = (gess_summary_settings){.threads = 5000};
    REFUSED(gess_summary_new(&summary, directory, &settings.known, sizeof settings.known, &err), GESS_ERR_USAGE,
            "threads");
    REFUSED(gess_summary_new(&summary, in_folder("nowhere"), NULL, 0, &err), GESS_ERR_FILE, "nowhere");
}

static void nans_of_run(void **state)
{
    (void)state;
    char path[96], *text = NULL;
    GOOD(gess_nans_text(directory, &text, &err));
    assert_string_equal(text, "");
    gess_text_free(text);
    snprintf(path, sizeof path, "%s/nans.csv", folder);
    put_file(path, "iteration,chain,x1\n1,2,0.5\n");
    GOOD(gess_nans_text(folder, &text, &err));
    assert_non_null(strstr(text, "nans.csv):\n  iteration,chain,x1\n  1,2,0.5\n"));
    gess_text_free(text);
}

/* ---- verdict and report ---- */

static void verdict_of_run(void **state)
{
    (void)state;
    gess_verdict *verdict = NULL;
    gess_summary *summary = NULL;
    gess_verdict_result result;
    gess_finding finding;
    gess__summary s;
    gess__verdict v;
    char *text = NULL, *memory = NULL;
    size_t size = 0;
    GOOD(gess__summarise_run(&s, directory, (gess__summary_settings){0}, &err));
    GOOD(gess__judge_run(&v, &s, directory, &err));
    FILE *out = open_memstream(&memory, &size);
    gess__verdict_print(&v, &s, out);
    fclose(out);
    GOOD(gess_summary_new(&summary, directory, NULL, 0, &err));
    for (int given = 0; given < 2; given++) {
        GOOD(gess_verdict_new(&verdict, directory, given ? summary : NULL, &err));
        GOOD(gess_verdict_info(verdict, &result, sizeof result, &err));
        assert_int_equal(result.pass, v.pass);
        assert_int_equal(result.findings, v.count);
        assert_true(result.chains == CHAINS && result.draws == DRAWS && result.least_ess > 0 &&
                    result.worst_rhat > 0.9);
        assert_true(v.count > 0); /* the run is far too short */
        for (size_t i = 0; i < v.count; i++) {
            GOOD(gess_verdict_finding(verdict, i, &finding, sizeof finding, &err));
            assert_int_equal(finding.level, v.findings[i].level);
            assert_string_equal(finding.code, v.findings[i].code);
            assert_string_equal(finding.text, v.findings[i].text);
            assert_string_equal(finding.advice, v.findings[i].advice);
        }
        REFUSED(gess_verdict_finding(verdict, v.count, &finding, sizeof finding, &err), GESS_ERR_USAGE, "findings");
        GOOD(gess_verdict_text(verdict, GESS_FORMAT_TEXT, &text, &err));
        assert_string_equal(text, memory);
        gess_text_free(text);
        GOOD(gess_verdict_text(verdict, GESS_FORMAT_JSON, &text, &err));
        assert_true(strncmp(text, "{\n  \"pass\": ", 12) == 0 && strstr(text, finding.code) != NULL);
        gess_text_free(text);
        REFUSED(gess_verdict_text(verdict, GESS_FORMAT_CSV, &text, &err), GESS_ERR_USAGE, "no format 2");
        gess_verdict_free(verdict);
    }
    REFUSED(gess_verdict_new(&verdict, in_folder("nowhere"), NULL, &err), GESS_ERR_FILE, "nowhere");
    assert_null(verdict);
    assert_int_equal(GESS_LEVEL_NOTE, GESS__NOTE);
    assert_int_equal(GESS_LEVEL_FAILURE, GESS__FAILURE);
    free(memory);
    gess_summary_free(summary);
    gess__verdict_free(&v);
    gess__summary_free(&s);
}

static void report_of_run(void **state)
{
    (void)state;
    char *written = NULL;
    gess_error err = {0};
    int status = gess_report(directory, NULL, &written, &err);
    if (status == GESS_ERR_USAGE && strstr(err.text, "Chart.js") != NULL) return; /* not in this build */
    assert_int_equal(status, GESS_OK);
    assert_non_null(strstr(written, "run/report.html"));
    assert_int_equal(access(written, R_OK), 0);
    gess_text_free(written);
    assert_int_equal(gess_report(directory, in_folder("page.html"), NULL, NULL), GESS_OK);
    assert_int_equal(access(in_folder("page.html"), R_OK), 0);
    assert_int_equal(gess_report(in_folder("nowhere"), NULL, &written, &err), GESS_ERR_FILE);
    assert_null(written);
}

/* ---- export ---- */

static void export_run(void **state)
{
    (void)state;
    gess_export_result result;
    GOOD(gess_export(directory, "csv", NULL, 0, &result, sizeof result, &err));
    assert_true(result.chains == CHAINS && result.draws == DRAWS);
    assert_non_null(strstr(result.path, "run/csv"));
    REFUSED(gess_export(directory, "csv", NULL, 0, NULL, 0, &err), GESS_ERR_USAGE, "12 files");
    GOOD(gess_export(directory, "csv", NULL, 1, NULL, 0, &err));
    REFUSED(gess_export(directory, "parquet", NULL, 0, NULL, 0, &err), GESS_ERR_USAGE, "csv, netcdf, emcee");
    REFUSED(gess_export(in_folder("nowhere"), "csv", NULL, 0, NULL, 0, &err), GESS_ERR_FILE, "nowhere");

    /* the exported files have the same summary */
    char paths[CHAINS][96];
    const char *list[CHAINS];
    gess_summary *of_files = NULL;
    gess__summary wanted;
    for (size_t c = 0; c < CHAINS; c++) {
        snprintf(paths[c], sizeof paths[c], "%s/csv/chain-%zu.csv", directory, c + 1);
        list[c] = paths[c];
    }
    GOOD(gess_summary_new_csv(&of_files, CHAINS, list, NULL, 0, &err));
    GOOD(gess__summarise_run(&wanted, directory, (gess__summary_settings){0}, &err));
    assert_same_figures(of_files, &wanted);
    gess__summary_free(&wanted);
    gess_summary_free(of_files);
}

/* A process whose export ran into a full disk ends as any other. */
static void export_to_full_disk(void **state)
{
    (void)state;
    static const char *const formats[] = {"netcdf", "emcee"};
    for (size_t i = 0; i < 2; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            gess_error err = {0};
            struct rlimit limit = {4096, 4096};
            signal(SIGSEGV, SIG_DFL); /* cmocka's handler would go on with the next test */
            signal(SIGABRT, SIG_DFL);
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &limit);
            int status = gess_export(directory, formats[i], NULL, 0, NULL, 0, &err);
            if (status == GESS_ERR_USAGE && strstr(err.text, "built without") != NULL) status = GESS_ERR_FILE;
            exit(status);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), GESS_ERR_FILE);
    }
}

/* ---- fit ---- */

static void fit_points(void **state)
{
    (void)state;
    enum { POINTS = 50, DIM = 2 };
    double points[POINTS * DIM], mu[DIM], sigma[DIM * DIM], again[DIM * DIM];
    gess_fit *fit = NULL;
    gess_fit_result result, of_file;
    char *text = NULL;
    FILE *file = fopen(in_folder("points.csv"), "w");
    assert_non_null(file);
    fputs("left,right\n", file);
    for (size_t i = 0; i < POINTS; i++) {
        points[i * DIM] = sin((double)i * 1.7) + 3.0;
        points[i * DIM + 1] = cos((double)i * 2.3) * 2.0 + points[i * DIM];
        fprintf(file, "%.17g,%.17g\n", points[i * DIM], points[i * DIM + 1]);
    }
    fclose(file);
    GOOD(gess_fit_new(&fit, POINTS, DIM, points, &err));
    GOOD(gess_fit_info(fit, &result, sizeof result, &err));
    GOOD(gess_fit_mu(fit, mu, &err));
    GOOD(gess_fit_sigma(fit, sigma, &err));
    assert_true(result.dim == DIM && result.points == POINTS && result.rank == DIM && result.converged);
    assert_true(fabs(mu[0] - 3.0) < 0.2 && sigma[1] == sigma[2] && sigma[0] > 0 && isfinite(result.loglik));
    GOOD(gess_fit_text(fit, GESS_FORMAT_TEXT, &text, &err));
    assert_non_null(strstr(text, "\nx2 "));
    gess_text_free(text);
    gess_fit_free(fit);

    GOOD(gess_fit_new_csv(&fit, in_folder("points.csv"), &err));
    GOOD(gess_fit_info(fit, &of_file, sizeof of_file, &err));
    GOOD(gess_fit_sigma(fit, again, &err));
    assert_memory_equal(sigma, again, sizeof sigma);
    assert_true(of_file.nu == result.nu && of_file.loglik == result.loglik && of_file.iterations == result.iterations);
    GOOD(gess_fit_text(fit, GESS_FORMAT_TEXT, &text, &err));
    assert_non_null(strstr(text, "\nright "));
    gess_text_free(text);
    GOOD(gess_fit_text(fit, GESS_FORMAT_JSON, &text, &err));
    json_t *root = json_loads(text, 0, NULL);
    assert_true(json_number_value(json_array_get(json_array_get(json_object_get(root, "sigma"), 1), 0)) == sigma[2]);
    json_decref(root);
    gess_text_free(text);
    REFUSED(gess_fit_text(fit, GESS_FORMAT_CSV, &text, &err), GESS_ERR_USAGE, "no format");
    gess_fit_free(fit);

    REFUSED(gess_fit_new(&fit, 1, DIM, points, &err), GESS_ERR_USAGE, "at least two");
    REFUSED(gess_fit_new(&fit, POINTS, 0, points, &err), GESS_ERR_USAGE, "`dim`");
    REFUSED(gess_fit_new(&fit, SIZE_MAX, 8, points, &err), GESS_ERR_USAGE, "memory");
    points[3] = NAN;
    REFUSED(gess_fit_new(&fit, POINTS, DIM, points, &err), GESS_ERR_USAGE, "point 2, column 2");
    assert_null(fit);
    REFUSED(gess_fit_new_csv(&fit, in_folder("nowhere"), &err), GESS_ERR_FILE, "nowhere");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shape_of_draws),      cmocka_unit_test(other_sizes),
                                       cmocka_unit_test(read_warmup),         cmocka_unit_test(read_draws),
                                       cmocka_unit_test(read_pieces),         cmocka_unit_test(draws_of_csv),
                                       cmocka_unit_test(summary_of_run),      cmocka_unit_test(summary_settings),
                                       cmocka_unit_test(nans_of_run),         cmocka_unit_test(verdict_of_run),
                                       cmocka_unit_test(report_of_run),       cmocka_unit_test(export_run),
                                       cmocka_unit_test(export_to_full_disk), cmocka_unit_test(fit_points)};
    return cmocka_run_group_tests(tests, make_run, remove_run);
}
