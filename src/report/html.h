/* The HTML report: one file that needs nothing else, with its data inside as JSON.
 *
 * Every number that the page shows is computed here, from all draws; the page only draws it. Draws are
 * read in pieces, and what goes into the page is binned, decimated or counted: whatever the run, the
 * page stays below 5 MB. Names are hostile input; they reach the page as JSON and are shown as text. */
#ifndef GESS_REPORT_HTML_H
#define GESS_REPORT_HTML_H

#include "draws/reader.h"
#include "report/summary.h"
#include "report/verdict.h"

/* ---- what is shown of one column (html_column.c) ---- */

/* How much of a column goes into the page; it follows from the shape of the run. */
typedef struct gess__detail {
    size_t chains, draws;
    size_t trace_chains, trace_points; /* at most, of a trace */
    size_t rank_rows;                  /* chains, or groups of chains, of a rank plot */
    size_t sample;                     /* points of the corner plot */
} gess__detail;

/* Room for `columns` plotted columns. */
gess__detail gess__detail_for(size_t chains, uint64_t draws, size_t columns);

/* Plots of a column, x[chain · draws + draw], as JSON: a new reference in *plots. */
int gess__column_plots(json_t **plots, const gess__detail *detail, const double *x, const gess__figures *figures,
                       gess_error *err);

/* ---- the whole (html_data.c) ---- */

/* A run, as far as it is known: files that are not there are NULL. */
typedef struct gess__report {
    const char *directory;
    const gess__reader *draws;
    json_t *config, *history;
    gess__summary summary; /* gess__report_free() releases it */
    size_t plotted;        /* columns with plots, the worst where there are many */
    size_t *rows;          /* their rows in the summary, ascending */
    json_t **plots;
} gess__report;

/* Reads the draws, with the summary there, and makes the plots. */
int gess__report_plots(gess__report *report, gess_error *err);
void gess__report_free(gess__report *report); /* the summary and the plots; all else is the caller's */

/* Everything that the page knows, a new reference. */
int gess__report_data(json_t **root, const gess__report *report, const gess__verdict *verdict, gess_error *err);

/* ---- the page (html.c) ---- */

/* The parts of a page: texts that were made files of src/report/html and of the chart library. */
typedef struct gess__page {
    const char *html, *style, *chart, *script;
} gess__page;

/* Writes the page, under another name first where `path` is an ordinary file or nothing yet. */
int gess__page_write(const gess__page *page, const json_t *data, const char *path, gess_error *err);

#endif
