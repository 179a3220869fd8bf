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
                         .vector = (const char *)page_vector_js,
                         .figures = (const char *)page_figures_js,
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

static int load_run(gess__report *report, gess__reader **draws, const gess__report_wishes *wishes, gess_error *err)
{
    char path[4096];
    GESS_TRY(gess__directory_path(report->directory, "draws.gess", path, sizeof path, err));
    GESS_TRY(gess__reader_open(draws, path, err));
    report->draws = *draws;
    GESS_TRY(load_json(report->directory, "config.json", &report->config, err));
    GESS_TRY(load_json(report->directory, "history.json", &report->history, err));
    GESS_TRY(load_json(report->directory, "evidence.json", &report->evidence, err));
    GESS_TRY(gess__summarise_run(&report->summary, report->directory, (gess__summary_settings){0}, err));
    GESS_TRY(gess__report_plots(report, err));
    return gess__report_results(report, wishes, err);
}

static int data_of_loaded(json_t **data, const gess__report *report, bool compared, gess_error *err)
{
    gess__verdict verdict = {0};
    int status = gess__judge_run(&verdict, &report->summary, report->directory, err);
    if (status == GESS_OK) status = gess__report_data(data, report, &verdict, compared, err);
    gess__verdict_free(&verdict);
    return status;
}

/* The data of the run in a directory: a new reference in *data. */
static int data_of_run(json_t **data, const char *directory, const gess__report_wishes *wishes, bool compared,
                       gess_error *err)
{
    gess__report report = {.directory = directory};
    gess__reader *draws = NULL;
    int status = load_run(&report, &draws, wishes, err);
    if (status == GESS_OK) status = data_of_loaded(data, &report, compared, err);
    gess__report_free(&report);
    json_decref(report.config);
    json_decref(report.history);
    json_decref(report.evidence);
    gess__reader_free(draws);
    return status;
}

int gess__report_runs(size_t count, const char *const *directories, const char *path, const gess__report_wishes *wishes,
                      gess_error *err)
{
    GESS_ASSERT(count > 0 && directories != NULL && path != NULL);
    static const gess__report_wishes none = {0};
    gess__page page;
    json_t *data = NULL, *others = json_array();
    GESS_TRY(find_page(&page, err));
    int status = data_of_run(&data, directories[0], wishes, false, err);
    for (size_t i = 1; status == GESS_OK && i < count; i++) {
        json_t *other = NULL;
        status = data_of_run(&other, directories[i], &none, true, err);
        json_array_append_new(others, other != NULL ? other : json_null());
    }
    if (data != NULL) json_object_set(data, "others", others);
    if (status == GESS_OK) status = gess__page_write(&page, data, path, err);
    json_decref(others);
    json_decref(data);
    return status;
}
