/* `gess report`: writes the HTML page of a run. */
#include "command.h"
#include "report/html.h"
#include "run/directory.h"
#include "run/run.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files of the page as arrays, made by CMakeLists.txt: report_page_html, report_page_css, report_page_js and, if
 * the chart library was found, report_chart. */
#include "report_files.h"

struct arguments {
    const char *directory, *path;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'o': a->path = argument; return 0;
    default: return take_one(key, argument, state, &a->directory, WHICH_RUN);
    }
}

static int find_page(gess__page *page, gess_error *err)
{
#if GESS_HAVE_CHART
    *page = (gess__page){.html = (const char *)report_page_html,
                         .style = (const char *)report_page_css,
                         .chart = (const char *)report_chart,
                         .script = (const char *)report_page_js};
    (void)err;
    return GESS_OK;
#else
    (void)page;
    return gess__fail(err, GESS_ERR_USAGE,
                      "this gess was built without Chart.js, which plots the report; install it (Debian: "
                      "libjs-chart.js) and build gess again. `gess summary` has the figures");
#endif
}

/* Reads a JSON file of the run; NULL if there is none, which is no error. */
static int load_json(const char *directory, const char *file, json_t **root, gess_error *err)
{
    char path[4096];
    json_error_t where;
    GESS_TRY(gess__directory_path(directory, file, path, sizeof path, err));
    if (access(path, F_OK) != 0) return GESS_OK;
    *root = json_load_file(path, 0, &where);
    if (*root == NULL) return gess__fail(err, GESS_ERR_FILE, "%s, line %d: %s", path, where.line, where.text);
    return GESS_OK;
}

static int load_run(gess__report *report, gess__reader **draws, gess_error *err)
{
    char path[4096];
    GESS_TRY(gess__directory_path(report->directory, "draws.gess", path, sizeof path, err));
    GESS_TRY(gess__reader_open(draws, path, err));
    report->draws = *draws;
    GESS_TRY(load_json(report->directory, "config.json", &report->config, err));
    GESS_TRY(load_json(report->directory, "history.json", &report->history, err));
    GESS_TRY(gess__summarise_run(&report->summary, report->directory, (gess__summary_settings){0}, err));
    return gess__report_plots(report, err);
}

static int write_report(const struct arguments *a, const gess__page *page, const gess__report *report, gess_error *err)
{
    gess__verdict verdict = {0};
    json_t *data = NULL;
    struct stat information = {0};
    int status = gess__judge_run(&verdict, &report->summary, a->directory, err);
    if (status == GESS_OK) status = gess__report_data(&data, report, &verdict, err);
    if (status == GESS_OK) status = gess__page_write(page, data, a->path, err);
    json_decref(data);
    gess__verdict_free(&verdict);
    GESS_TRY(status);
    if (stat(a->path, &information) == 0)
        printf("%s: %.1f MB, open it in a browser\n", a->path, (double)information.st_size / 1e6);
    return finish_output(err);
}

int command_report(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] = {{"output", 'o', "FILE", 0,
                                                  "the file to write (default: report.html in the run directory)", 0},
                                                 {0}};
    static const struct argp argp = {.options = options,
                                     .parser = take,
                                     .args_doc = "DIR",
                                     .doc = "Writes a page with the verdict, the summary and plots of a run: one HTML "
                                            "file that needs no network."};
    struct arguments a = {0};
    char path[4096];
    gess__page page;
    GESS_TRY(parse_arguments(&argp, argc, argv, &a));
    GESS_TRY(find_page(&page, err));
    if (a.path == NULL) {
        GESS_TRY(gess__directory_path(a.directory, "report.html", path, sizeof path, err));
        a.path = path;
    }
    gess__report report = {.directory = a.directory};
    gess__reader *draws = NULL;
    int status = load_run(&report, &draws, err);
    if (status == GESS_OK) status = write_report(&a, &page, &report, err);
    gess__report_free(&report);
    json_decref(report.config);
    json_decref(report.history);
    gess__reader_free(draws);
    return status;
}
