/* Writes the page of a run: reads the files of its directory, computes the summary and the verdict, and fills the page,
 * whose files are embedded in the library. */
#include "base/assert.h"
#include "report/html.h"
#include "run/directory.h"

#include <unistd.h>

/* The files of the page as arrays, made by CMakeLists.txt if the chart library was found: page_page_html,
 * page_page_css, page_page_js and page_chart. */
#include "report/page_files.h"

static int find_page(gess__page *page, gess_error *err)
{
#if GESS_HAVE_CHART
    *page = (gess__page){.html = (const char *)page_page_html,
                         .style = (const char *)page_page_css,
                         .chart = (const char *)page_chart,
                         .script = (const char *)page_page_js};
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

static int write_page(const gess__page *page, const gess__report *report, const char *path, gess_error *err)
{
    gess__verdict verdict = {0};
    json_t *data = NULL;
    int status = gess__judge_run(&verdict, &report->summary, report->directory, err);
    if (status == GESS_OK) status = gess__report_data(&data, report, &verdict, err);
    if (status == GESS_OK) status = gess__page_write(page, data, path, err);
    json_decref(data);
    gess__verdict_free(&verdict);
    return status;
}

int gess__report_run(const char *directory, const char *path, gess_error *err)
{
    GESS_ASSERT(directory != NULL && path != NULL);
    gess__page page;
    GESS_TRY(find_page(&page, err));
    gess__report report = {.directory = directory};
    gess__reader *draws = NULL;
    int status = load_run(&report, &draws, err);
    if (status == GESS_OK) status = write_page(&page, &report, path, err);
    gess__report_free(&report);
    json_decref(report.config);
    json_decref(report.history);
    gess__reader_free(draws);
    return status;
}
