/* The HTML report: one self-contained file with its data inside as JSON.
 *
 * Every number that the page shows is computed here, from all draws; the page only plots it. Draws are read in pieces
 * and go into the page binned, decimated or counted, so that the page stays below 5 MB for any run. Names are hostile
 * input: they reach the page as JSON and are shown as text. */
#ifndef GESS_REPORT_HTML_H
#define GESS_REPORT_HTML_H

#include "draws/reader.h"
#include "report/plots.h"
#include "report/summary.h"
#include "report/verdict.h"

/* ---- the plots of one column (html_column.c) ---- */

/* How much of a column goes into the page. */
typedef struct gess__detail {
    size_t chains, draws;
    size_t trace_chains, trace_points; /* of a trace */
    size_t rank_rows;                  /* chains, or groups of chains, of a rank plot */
    size_t sample;                     /* points of the corner plot */
} gess__detail;

/* The detail that keeps the page small if `columns` columns are plotted. */
gess__detail gess__detail_for(size_t chains, uint64_t draws, size_t columns);

/* Plots of a column, x[chain · draws + draw], as JSON: a new reference in *plots. */
int gess__column_plots(json_t **plots, const gess__detail *detail, const double *x, const gess__figures *figures,
                       gess_error *err);

/* ---- the whole (html_data.c) ---- */

/* A run and its plots. config, history and evidence are NULL if the file is missing. */
typedef struct gess__report {
    const char *directory;
    const gess__reader *draws;
    json_t *config, *history, *evidence;
    gess__summary summary; /* gess__report_free() releases it */
    size_t plotted;        /* number of columns with plots: all, or the worst if there are many */
    size_t *rows;          /* their rows in the summary, ascending */
    json_t **plots;
    double *q16, *q84; /* of each row that the table shows; NaN if it has draws that are not finite */
    size_t *corner;    /* the rows that the corner plot begins with */
    size_t in_corner;
    double *truth; /* of each row, NaN if it is not known; NULL: none is */
    gess__plot_data priors;
    bool moments;
} gess__report;

/* What a page may show beside the draws, and how it begins. */
typedef struct gess__report_wishes {
    const char *truth; /* a file of true values, or NULL */
    bool moments;      /* begin with mean ± sd in place of the median with its 68 % interval */
    bool prior;        /* draw priors, from the model of the run */
} gess__report_wishes;

/* Reads the draws and makes the plots; the summary must be set. */
int gess__report_plots(gess__report *report, gess_error *err);
void gess__report_free(gess__report *report); /* frees the summary and the plots; the caller owns the rest */

/* All data of the page, as JSON: a new reference in *root. With `compared` only what a page shows of a second run. */
int gess__report_data(json_t **root, const gess__report *report, const gess__verdict *verdict, bool compared,
                      gess_error *err);

/* ---- what is beside the draws (html_results.c) ---- */

/* Finds what the results show: the corner's parameters, true values and priors. */
int gess__report_results(gess__report *report, const gess__report_wishes *wishes, gess_error *err);

/* Adds them to the page's data, and the evidence if evidence.json is there. */
void gess__report_add_results(json_t *root, const gess__report *report);

/* ---- the page (html.c) ---- */

/* The texts that a page is made of: the files of src/report/html and the chart library. */
typedef struct gess__page {
    const char *html, *style, *chart, *vector, *figures, *script;
} gess__page;

/* Writes the page. A regular or new file is written under a temporary name and renamed. */
int gess__page_write(const gess__page *page, const json_t *data, const char *path, gess_error *err);

/* ---- a run (html_run.c) ---- */

/* Writes the page of the run in directories[0], compared with the runs in the others. True values and priors are those
 * of the first. Fails if this build has no chart library. */
int gess__report_runs(size_t count, const char *const *directories, const char *path, const gess__report_wishes *wishes,
                      gess_error *err);

#endif
