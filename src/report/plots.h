/* Figures of a run as files: which parameters they show, their draws, true values and priors. plot/ draws them. */
#ifndef GESS_REPORT_PLOTS_H
#define GESS_REPORT_PLOTS_H

#include "draws/reader.h"
#include "plot/figure.h"
#include "report/summary.h"

/* ---- draws of some columns (plot_data.c) ---- */

/* What is plotted of a run: parameters in the order of the summary. */
typedef struct gess__plot_data {
    size_t count, chains, draws, step; /* one draw in `step` is held: `draws` per chain */
    gess__plotted *parameter;
    double **x;     /* of each parameter: chains × draws */
    double **prior; /* of each parameter: points and densities; NULL: none */
} gess__plot_data;

/* Reads the columns of `count` rows of the summary, thinned so that at most `most` draws of each are held. */
int gess__plot_data_read(gess__plot_data *data, const gess__reader *draws, const gess__summary *summary, size_t count,
                         const size_t *rows, size_t most, gess_error *err);
void gess__plot_data_free(gess__plot_data *data); /* safe on a zeroed one */

/* Reads one draw in `step` of some columns, values[column of the list][chain][draw]; `draws` of each chain. */
int gess__read_thinned(const gess__reader *reader, size_t count, const size_t *columns, size_t step,
                       double *const *values, gess_error *err);

/* ---- which parameters (plot_choice.c) ---- */

/* rows[]: those of the summary that match the patterns, in order. GESS_ERR_USAGE if a pattern matches none, or if they
 * are more than `max`. Returns their number in *count; rows has room for summary->count. */
int gess__plot_choose_named(const gess__summary *summary, const char *patterns, size_t max, size_t *rows, size_t *count,
                            gess_error *err);

/* The rows with the largest R-hat, at most `max`, in order; lp__ only if `with_lp`. Returns their number. */
size_t gess__plot_choose_worst(const gess__summary *summary, size_t max, bool with_lp, size_t *rows);

/* The rows of a corner plot, at most `max`, in order: all parameters if they are so few; otherwise those of the largest
 * correlations between two parameters, as far as these are at least 0.3, and then those with the smallest bulk ESS. */
int gess__plot_choose_corner(const gess__reader *draws, const gess__summary *summary, size_t max, size_t *rows,
                             size_t *count, gess_error *err);

/* ---- true values (plot_truth.c) ---- */

/* truth[summary->count], NaN for those that the file does not name. The file is a JSON object of names and numbers, or
 * has a line per parameter: its name and the number, with a comma, blanks or `=` between them, and comments behind #.
 */
int gess__read_truth(const char *path, const gess__summary *summary, double *truth, gess_error *err);

/* ---- priors (plot_prior.c) ---- */

/* Adds to each parameter the density of its prior over the range that is plotted, from the model that config.json
 * names: what its log prior is along the parameter, if that is the same wherever the others are. *without: how many
 * parameters got none, because their prior depends on others or has no finite integral. GESS_ERR_USAGE if the model
 * gives no prior. */
int gess__plot_priors(gess__plot_data *data, const char *directory, const gess__reader *draws,
                      const gess__summary *summary, const size_t *rows, size_t *without, gess_error *err);

/* ---- a figure of a run (plot_run.c) ---- */

typedef struct gess__plot_wishes {
    const char *variables; /* patterns with * and ?, separated by commas; NULL: the figure's own choice */
    const char *truth;     /* a file; NULL: none */
    bool moments, prior;
} gess__plot_wishes;

/* Row i of plots.def: its name; NULL past the end. */
const char *gess__plot_name(size_t i, const char **help);

/* Draws a figure of the run in a directory into a file. notes[size]: what a reader should know, a line each. */
int gess__plot_run(const char *directory, const char *kind, const char *path, const gess__plot_wishes *wishes,
                   char *notes, size_t size, gess_error *err);

#endif
