/* `gess reproduce`: the experiments of R. Nishihara, I. Murray and R. P. Adams, "Parallel MCMC with Generalized
 * Elliptical Slice Sampling", JMLR 15 (2014). A figure or table is one file and one row of figures.def.
 *
 * A figure is divided into cells, such as one sampler on one density with one seed. A cell depends only on its
 * settings; a child process computes it and stores it as a small file under DIR/cells, with the settings. So a cell is
 * never computed twice, and another setting is another cell. From its cells, a figure makes a page (page.c): data,
 * plots, and the paper's claims beside the measurements. */
#ifndef GESS_REPRODUCE_REPRODUCE_H
#define GESS_REPRODUCE_REPRODUCE_H

#include "base/status.h"

#include <jansson.h>
#include <stdio.h>

typedef struct gess__figure gess__figure;

enum { GESS__REPRODUCE_SOURCES = 64, GESS__REPRODUCE_BUDGETS = 8 };

/* The options of `gess reproduce`. */
typedef struct gess__reproduction {
    const char *directory;
    const char *only; /* texts separated by commas: only cells whose names contain one of them; NULL: all */
    double scale;     /* factor of iterations and evaluations; 1: the whole protocol */
    uint64_t trials, seed;
    unsigned jobs;          /* cells computed at a time */
    unsigned shard, shards; /* compute every shards-th cell, from the shard-th on, and make no page; shards 0: all */
    int quick;              /* small settings, which take minutes */
    FILE *progress;         /* NULL: none */
    size_t sources;
    const char *source[GESS__REPRODUCE_SOURCES]; /* other folders, or archives of cells, with results to take over */
    size_t budgets;
    double budget[GESS__REPRODUCE_BUDGETS]; /* further budgets of the scaling table, times the protocol's */
    const char *version;                    /* of gess that computed the cells; NULL: this one */
    int verify;                             /* compute no cell, draw no plot */
    int lock;                               /* file that locks the directory; the children close it; 0: none */
    int partial;                            /* compute no cell; make pages of those that are there */
    size_t iteration_counts;
    uint64_t iterations[GESS__REPRODUCE_BUDGETS]; /* scaling_open.c: iterations of each chain */
} gess__reproduction;

/* ---- cells (cells.c) ---- */

typedef struct gess__cell {
    const gess__figure *figure;
    char name[96];    /* for readers: figure/model/sampler/trial */
    char file[160];   /* below the directory */
    json_t *settings; /* everything that the result depends on */
    json_t *result;   /* NULL: not computed yet */
    double cost;      /* seconds, roughly; for the order, and to estimate a cell from others of its kind */
} gess__cell;

typedef struct gess__cells {
    size_t count, room;
    gess__cell *cell;
    json_t *rates;   /* of estimate.c; NULL until cells were loaded */
    json_t *carried; /* lines of the archives of r->source by file name, also of cells that are not on the list */
} gess__cells;

/* Adds a cell, unless r->only leaves it out. Takes the reference of `settings`, to which the figure, its revision, the
 * seed and the version of gess are added. */
int gess__cells_add(gess__cells *cells, const gess__reproduction *r, const gess__figure *figure, uint64_t seed,
                    double cost, json_t *settings, gess_error *err, const char *format, ...)
    __attribute__((format(printf, 8, 9)));
void gess__cells_free(gess__cells *cells);

/* Reads the stored results: from the directory's files, then from its archive of cells, then from r->source, whose
 * results are stored in the directory. A file that is damaged or has other settings is ignored. */
int gess__cells_load(gess__cells *cells, const gess__reproduction *r, gess_error *err);

/* Whether the cell of this index is computed here. */
int gess__in_shard(const gess__reproduction *r, size_t i);

/* Computes the missing results of the cells first .. first + count - 1, or of this shard of them, r->jobs at a time,
 * trial by trial, so that a stop leaves whole trials. A result also has what computed it: commit, processor and date.
 * GESS_ERR_STOPPED after SIGINT or SIGTERM; the caller must have blocked both. */
int gess__cells_run(gess__cells *cells, size_t first, size_t count, const gess__reproduction *r, gess_error *err);

/* ---- how long cells take (estimate.c) ---- */

/* Adds a computed cell to the rates, an object by kind of cell. `cost` may be NaN if the result has it. */
void gess__rates_note(json_t *rates, const json_t *settings, const json_t *result, double cost);

/* Seconds that a cell will take, of the clock or of a processor; NaN if no cell of its kind has been computed. */
double gess__cell_seconds(const json_t *rates, const gess__cell *cell, int cpu);

/* Writes to r->progress how many cells are missing, and how many core hours they will take. */
void gess__estimate_show(const gess__cells *cells, const gess__reproduction *r);

/* Writes a duration in s, min or h. */
void gess__put_seconds(FILE *out, double seconds);

/* ---- many cells in one file, and everything in one file (archive.c) ---- */

#define GESS__CELLS_ARCHIVE "cells.jsonl.gz"

/* Writes the results of the cells to the directory's archive: per line {"file", "settings", "result"}, compressed.
 * Cells that only the archive has, or that of a source, of other settings, are kept. */
int gess__cells_archive_store(const gess__cells *cells, const gess__reproduction *r, gess_error *err);

/* Reads an archive: an object by file name. *archive is NULL if there is no such file. */
int gess__cells_archive_load(const char *path, json_t **archive, gess_error *err);

/* manifest.json (versions, date, commands, SHA-256 of each file) and reproduction.tar.gz, which has these files. */
int gess__manifest_store(const gess__reproduction *r, gess_error *err);

/* ---- checking a folder (verify.c) ---- */

/* Makes the pages of a folder again from its cells, and compares claims, verdicts, tables and data with those that it
 * has; compares files with manifest.json. Writes a line per page. GESS_ERR_NOT_CONVERGED if anything differs. */
int gess__reproduce_verify(const char *directory, FILE *out, gess_error *err);

/* ---- figures ---- */

struct gess__figure {
    const char *name, *title;
    const char *help; /* one line */
    int revision;     /* of its cells; increase it if the same settings now have another result */
    int by_trials;    /* whether --trials applies */
    /* Adds the cells. */
    int (*plan)(const gess__figure *figure, const gess__reproduction *r, gess__cells *cells, gess_error *err);
    /* Computes a cell, in a child process. If the sampler gives up, the result is {"error": text}. */
    int (*compute)(const json_t *settings, json_t **result, gess_error *err);
    /* Fills the page from the cells; some cells may be left out. */
    int (*make)(const gess__reproduction *r, size_t count, const gess__cell *cells, json_t *page, gess_error *err);
};

/* Row i of the table; NULL past the end. */
const gess__figure *gess__figure_row(size_t i);

/* Makes the figure of this name, or `all`. */
int gess__reproduce(const char *name, const gess__reproduction *r, gess_error *err);

/* Fills the page of a figure from its cells, of which some have no result if r->partial is set; *page is NULL if none
 * has one. The caller releases it. */
int gess__figure_page(const gess__figure *figure, const gess__reproduction *r, size_t count, const gess__cell *cells,
                      json_t **page, gess_error *err);

/* An iteration count n of the paper, scaled down, but not below `min` (or n, if that is less). */
uint64_t gess__scaled(const gess__reproduction *r, uint64_t n, uint64_t min);

/* ---- pages (page.c) ----
 *
 * A page is a JSON object, which is also NAME.json:
 *   paper      what the paper shows, in a sentence or two
 *   setup      list of texts: how it was measured, what was scaled down
 *   claims     list of {claim, measured, verdict}
 *   plots      list of {file, caption}; NAME.svg and NAME.png of each file
 *   tables     list of {title, head, rows}; a row is a list of texts, or of {text, class}
 *   missing    list of texts: the cells that --partial did not find
 *   notes      list of texts
 *   data       list of flat objects with the same keys: NAME.csv
 *   made with  version, commit, date, machine, seeds, and what was scaled down
 *   reproduction  the options, for --verify */
json_t *gess__page_new(const gess__figure *figure, const gess__reproduction *r);
void gess__page_text(json_t *page, const char *list, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Tells the page that some cells have the iterations, or evaluations, of the protocol times `factor`. It may be larger
 * than r->scale. The page shows the smallest and the largest factor. */
void gess__page_scale(json_t *page, double factor);

/* Tells the page what computed its cells (making.c). */
void gess__page_making(json_t *page, size_t count, const gess__cell *cells);

/* Tells the page which of the planned cells have no result. */
void gess__page_missing(json_t *page, size_t count, const gess__cell *cells);

/* Says in a sentence what the page lacks of the protocol; "" if nothing. */
void gess__page_shortfall(const json_t *page, char *text, size_t size);

/* The command that makes a page, as text. */
json_t *gess__page_command(const json_t *page);

/* Writes version, commits, processors, dates, seeds and command of a page. */
void gess__put_making(FILE *out, const json_t *page);

/* What computes cells here: {commit, cpu, date}. */
json_t *gess__making(void);

/* The commit of the source tree, with "-dirty" if what is compiled or read was changed since; "" if git does not know.
 */
const char *gess__commit(void);

/* The verdict on a claim. */
enum gess__ruling { GESS__HOLDS, GESS__IN_PART, GESS__FAILS, GESS__NOT_JUDGED };
void gess__page_claim(json_t *page, enum gess__ruling ruling, const char *claim, const char *measured, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds a row to the data. Takes the reference. */
void gess__page_data(json_t *page, json_t *row);

/* Adds a table. Returns its list of rows, which the page owns, to append to. */
json_t *gess__page_table(json_t *page, const char *title, const char *head);
void gess__page_cell(json_t *row, const char *class, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The data of a page as CSV. */
void gess__page_csv(FILE *out, const void *page);

/* Writes NAME.html, NAME.json and NAME.csv. */
int gess__page_store(const gess__reproduction *r, const gess__figure *figure, const json_t *page, gess_error *err);

/* index.html and results.md, of all figures in the directory. */
int gess__page_index(const gess__reproduction *r, gess_error *err);

/* ---- plots (plot.c) ---- */

/* A script for gnuplot, in memory. After gess__plot_begin(), print to `script`. */
typedef struct gess__plot {
    FILE *script;
    char *text;
    size_t size;
    unsigned width, height;
} gess__plot;

int gess__plot_begin(gess__plot *plot, unsigned width, unsigned height, gess_error *err);

/* Writes FILE.gp, runs gnuplot for FILE.svg and FILE.png, and adds the plot to the page. Without gnuplot the page
 * has a note instead. Releases the plot. */
int gess__plot_end(gess__plot *plot, const gess__reproduction *r, json_t *page, const char *file, const char *caption,
                   gess_error *err);
/* Releases a plot without drawing it. */
void gess__plot_drop(gess__plot *plot);

/* Whether gnuplot can be run. */
int gess__plot_found(void);

/* Writes a text in double quotes, with gnuplot's special characters escaped. */
void gess__plot_quote(FILE *script, const char *text);

/* ---- helpers ---- */

/* Writes a file under a temporary name and renames it. `put` writes to the stream. */
typedef void gess__put_fn(FILE *out, const void *what);
int gess__store_file(const gess__reproduction *r, const char *name, gess__put_fn *put, const void *what,
                     gess_error *err);
int gess__store_json(const gess__reproduction *r, const char *name, const json_t *root, gess_error *err);

/* Members of an object; an absent number is NaN or 0, an absent text "". */
double gess__json_real(const json_t *object, const char *key);
uint64_t gess__json_count(const json_t *object, const char *key);
const char *gess__json_text(const json_t *object, const char *key);

/* Mean and standard error of n values; the error of one value is NaN. */
void gess__mean_and_error(size_t n, const double *values, double *mean, double *error);

#endif
