/* The experiments of R. Nishihara, I. Murray and R. P. Adams, "Parallel MCMC with Generalized Elliptical Slice
 * Sampling", JMLR 15 (2014), done again: a file and a row of figures.def for each figure or table.
 *
 * A figure is cut into cells, such as one sampler on one density with one seed. A cell is computed from its
 * settings, and from nothing else, in a process of its own, and stored as a small file under DIR/cells that
 * carries the settings. So whatever was computed is never computed again, and another setting is another cell.
 * When a figure's cells are there, it makes a page of them (page.c): data, plots, and the paper's claims beside
 * what was measured. */
#ifndef GESS_REPRODUCE_REPRODUCE_H
#define GESS_REPRODUCE_REPRODUCE_H

#include "base/status.h"

#include <jansson.h>
#include <stdio.h>

typedef struct gess__figure gess__figure;

/* What was asked for. */
typedef struct gess__reproduction {
    const char *directory;
    const char *only; /* texts separated by commas: cells whose names have none of them are left out; NULL: all */
    double scale;     /* of iterations and evaluations; 1: the whole protocol */
    uint64_t trials, seed;
    unsigned jobs;  /* cells at a time */
    int quick;      /* less of everything, so that it takes minutes */
    FILE *progress; /* NULL: none */
} gess__reproduction;

/* ---- cells (cells.c) ---- */

typedef struct gess__cell {
    const gess__figure *figure;
    char name[96];    /* for people: figure/model/sampler/trial */
    char file[160];   /* below the directory */
    json_t *settings; /* all that the result depends on */
    json_t *result;   /* NULL: not computed yet */
    double cost;      /* seconds, roughly, for the time left */
} gess__cell;

typedef struct gess__cells {
    size_t count, room;
    gess__cell *cell;
} gess__cells;

/* Adds a cell, unless it is left out. Takes the reference of `settings`; figure, its revision, seed and version
 * of gess are added to them. */
int gess__cells_add(gess__cells *cells, const gess__reproduction *r, const gess__figure *figure, uint64_t seed,
                    double cost, json_t *settings, gess_error *err, const char *format, ...)
    __attribute__((format(printf, 8, 9)));
void gess__cells_free(gess__cells *cells);

/* Takes what is stored from the directory. A file that is damaged or of other settings counts as none. */
int gess__cells_load(gess__cells *cells, const gess__reproduction *r, gess_error *err);

/* Computes what is missing of the cells first .. first + count - 1, r->jobs at a time; GESS_ERR_STOPPED after
 * SIGINT or SIGTERM, which the caller has blocked. */
int gess__cells_run(gess__cells *cells, size_t first, size_t count, const gess__reproduction *r, gess_error *err);

/* ---- figures ---- */

struct gess__figure {
    const char *name, *title;
    const char *help; /* one line */
    int revision;     /* of its cells: one more wherever the same settings get another result */
    int by_trials;    /* whether --trials makes it smaller */
    /* Adds the cells. */
    int (*plan)(const gess__figure *figure, const gess__reproduction *r, gess__cells *cells, gess_error *err);
    /* The result of a cell. A sampler that gave up is a result: {"error": text}. */
    int (*compute)(const json_t *settings, json_t **result, gess_error *err);
    /* Fills the page from the cells, of which some may be left out. */
    int (*make)(const gess__reproduction *r, size_t count, const gess__cell *cells, json_t *page, gess_error *err);
};

/* Row i of the table, NULL past the end. */
const gess__figure *gess__figure_row(size_t i);

/* Makes the figure of this name, or `all`. */
int gess__reproduce(const char *name, const gess__reproduction *r, gess_error *err);

/* An iteration count of the paper, scaled down; not below `least`, nor above n. */
uint64_t gess__scaled(const gess__reproduction *r, uint64_t n, uint64_t least);

/* ---- pages (page.c) ----
 *
 * A page is a JSON object, which is also NAME.json:
 *   paper      what the paper shows, in a sentence or two
 *   setup      list of texts: how it was measured, what was scaled down
 *   claims     list of {claim, measured, verdict}
 *   plots      list of {file, caption}; NAME.svg and NAME.png of each file
 *   tables     list of {title, head, rows}; a row is a list of texts, or of {text, class}
 *   notes      list of texts
 *   data       list of flat objects with the same keys: NAME.csv
 *   made with  version, machine, seeds, and what was scaled down */
json_t *gess__page_new(const gess__figure *figure, const gess__reproduction *r);
void gess__page_text(json_t *page, const char *list, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Iterations, or evaluations, of some cells are the protocol's times `factor`: what was done, which may be more than
 * was asked for. The page has the least and the greatest of them. */
void gess__page_scale(json_t *page, double factor);

/* What becomes of a claim. */
enum gess__ruling { GESS__HOLDS, GESS__IN_PART, GESS__FAILS, GESS__NOT_JUDGED };
void gess__page_claim(json_t *page, enum gess__ruling ruling, const char *claim, const char *measured, ...)
    __attribute__((format(printf, 4, 5)));

/* A row of the data. Takes the reference. */
void gess__page_data(json_t *page, json_t *row);

/* A table; the rows are added to what it returns, which is the page's. */
json_t *gess__page_table(json_t *page, const char *title, const char *head);
void gess__page_cell(json_t *row, const char *class, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Writes NAME.html, NAME.json and NAME.csv. */
int gess__page_store(const gess__reproduction *r, const gess__figure *figure, const json_t *page, gess_error *err);

/* index.html and results.md, of all figures in the directory. */
int gess__page_index(const gess__reproduction *r, gess_error *err);

/* ---- plots (plot.c) ---- */

/* A script for gnuplot, in memory. gess__plot_begin() opens it, after which it is a stream to print to. */
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
void gess__plot_drop(gess__plot *plot);

/* Whether gnuplot can be run. */
int gess__plot_found(void);

/* Text in double quotes of gnuplot, its special characters made harmless. */
void gess__plot_quote(FILE *script, const char *text);

/* ---- helpers ---- */

/* Writes a file under another name first. `put` writes to the stream. */
typedef void gess__put_fn(FILE *out, const void *what);
int gess__store_file(const gess__reproduction *r, const char *name, gess__put_fn *put, const void *what,
                     gess_error *err);
int gess__store_json(const gess__reproduction *r, const char *name, const json_t *root, gess_error *err);

/* Members of an object; a number that is absent or null is NaN, a text that is absent "". */
double gess__json_real(const json_t *object, const char *key);
uint64_t gess__json_count(const json_t *object, const char *key);
const char *gess__json_text(const json_t *object, const char *key);

/* Mean and standard error (NaN of one value) of n values. */
void gess__mean_and_error(size_t n, const double *values, double *mean, double *error);

#endif
