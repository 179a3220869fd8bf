/* The summary of a run: the figures of every parameter, and what the run cost.
 *
 * The draws are read a few columns at a time, so that memory is bounded (gess__summary_settings.max_bytes) whatever the
 * size of the file. */
#ifndef GESS_REPORT_SUMMARY_H
#define GESS_REPORT_SUMMARY_H

#include "diagnose/chain_checks.h"
#include "diagnose/circular.h"
#include "diagnose/levels.h"
#include "diagnose/tail_index.h"
#include "draws/draws.h"

#include <jansson.h>
#include <stdio.h>

/* One row per figure: FIGURE(field and JSON key, format in the text table, rank). The table shows the figures of rank
 * 1 to GESS__FIGURES_SHOWN, on a narrow terminal those of the first ranks that fit, and all with --all; --json and
 * --csv have all of them. */
#define GESS__FIGURE_TABLE(FIGURE)      \
    FIGURE(mean, "%.4g", 1)             \
    FIGURE(sd, "%.4g", 2)               \
    FIGURE(mcse_mean, "%.4g", 9)        \
    FIGURE(q5, "%.4g", 5)               \
    FIGURE(q50, "%.4g", 7)              \
    FIGURE(q95, "%.4g", 6)              \
    FIGURE(ess_bulk, "%.0f", 3)         \
    FIGURE(ess_tail, "%.0f", 10)        \
    FIGURE(r_hat, "%.4f", 4)            \
    FIGURE(drift_z, "%.2f", 8)          \
    FIGURE(ess_coda, "%.0f", 11)        \
    FIGURE(geweke, "%.2f", 13)          \
    FIGURE(tau, "%.2f", 12)             \
    FIGURE(mcse_sd, "%.4g", 14)         \
    FIGURE(mcse_q5, "%.4g", 15)         \
    FIGURE(mcse_q50, "%.4g", 16)        \
    FIGURE(mcse_q95, "%.4g", 17)        \
    FIGURE(mcse_series, "%.4g", 18)     \
    FIGURE(r_hat_chains, "%.4f", 19)    \
    FIGURE(r_hat_ensembles, "%.4f", 20) \
    FIGURE(tail_index, "%.2f", 21)      \
    FIGURE(tail_index_se, "%.2f", 22)   \
    FIGURE(r_hat_nested, "%.4f", 23)
enum { GESS__FIGURES_SHOWN = 10, GESS__FIGURES_REPORTED = 12 /* of the report: likewise */ };

typedef struct gess__line_moments {
    double mean, sd, mcse_mean, mcse_sd;
} gess__line_moments;

typedef struct gess__figures {
#define FIGURE(name, format, rank) double name;
    GESS__FIGURE_TABLE(FIGURE)
#undef FIGURE
    gess__column_chains chains; /* the chains compared with each other */
    double at_top;              /* the value in the draw with the highest lp__; NaN if lp__ is not summarised */
    gess__tail_index tail;
    double circle_length;       /* of the mean vector of a periodic parameter; NaN: it is not periodic */
    double circle_cut;          /* where its circle was cut open */
    gess__line_moments moments; /* of the draws as numbers, on a circle too: for comparison with those of warm-up */
} gess__figures;

typedef struct gess__summary {
    size_t count; /* rows: parameters in model order, then derived quantities and blobs, lp__ last */
    char **names;
    size_t *column;    /* of each row, in the draws; in a run, column 0 is lp__ */
    size_t hidden;     /* the first rows, which are judged but not shown: coordinates of the sampler */
    size_t first_blob; /* the first column of the draws that is a blob; 0: there are none */
    gess__figures *figures;
    gess__circle *circle;            /* of each row; of no extent: not periodic */
    gess__posterior_top_figures top; /* of lp__; NaN if it is not summarised */
    size_t chains, ensembles;
    uint64_t draws;
    gess__level *levels; /* chains: where each ends in lp__; NULL if column 0 is not lp__ or not among the rows */
    json_t *stats;       /* evals, seconds, …; NULL if they are not known */
} gess__summary;

typedef struct gess__summary_settings {
    size_t ensembles; /* that the chains are split into; 0: one */
    size_t blobs;     /* how many of the last columns are blobs */
    unsigned threads; /* 0: one per core */
    const char *vars; /* patterns with * and ?, separated by commas, or NULL: all */
    size_t max_bytes; /* of memory, roughly; 0: 1.5 GiB */
    bool interacting; /* chains of an ensemble influence each other */
    size_t circles;   /* columns that `circle` covers; further ones are not periodic */
    gess__circle *circle;
} gess__summary_settings;

/* Summarises draws in memory. */
int gess__summarise(gess__summary *summary, const gess__draws *draws, gess_error *err);
int gess__summarise_draws(gess__summary *summary, const gess__draws *draws, const gess__summary_settings *settings,
                          gess_error *err);

/* Summarises a file of draws, a few columns at a time. */
int gess__summarise_file(gess__summary *summary, const char *path, const gess__summary_settings *settings,
                         gess_error *err);

/* Sets ensembles, blobs, interacting and circles from the config.json of a run; 1, 0 and none if it does not say. The
 * caller frees `circle`, also after a failure. (summary_run.c) */
int gess__summary_settings_of_run(gess__summary_settings *settings, const char *directory, gess_error *err);

/* Summarises the draws.gess of a run, with these settings and the cost from its summary.json, if there is one. */
int gess__summarise_run(gess__summary *summary, const char *directory, gess__summary_settings settings,
                        gess_error *err);

void gess__summary_free(gess__summary *summary);

/* The worst R-hat of groups of chains; NaN if there are no groups. */
double gess__summary_worst_nested(const gess__summary *summary);

/* A copy in which figures that the tails leave without meaning are NaN: sd, mcse_sd, mcse_mean and mcse_series if the
 * variance does not exist, and mean if the mean does not (gess__moments_of()); mean and mcse_mean of a periodic
 * parameter that is spread evenly over its circle (gess__circular_no_mean()). Whatever is shown to users or programs
 * is taken from it; the rules of the verdict use the figures themselves, as measures of the draws. */
gess__figures gess__figures_shown(const gess__figures *figures);

/* Worst first: by R-hat, then by bulk ESS; constant columns last. */
void gess__summary_sort(gess__summary *summary);

/* Sets the run's cost from its statistics, or from an earlier summary.json. */
int gess__summary_set_stats(gess__summary *summary, const gess_stats *stats, gess_error *err);
int gess__summary_load_stats(gess__summary *summary, const char *path, gess_error *err);

/* ---- summary_text.c ---- */

/* An aligned table for people, with as many figures as fit into `width` columns of text; 0: GESS__FIGURES_SHOWN
 * figures; SIZE_MAX: all. */
void gess__summary_print_table(const gess__summary *summary, size_t width, FILE *out);

/* A header and one row per parameter; NA for a figure that does not exist. */
void gess__summary_csv(const gess__summary *summary, FILE *out);

/* The JSON of `summary --json`: a new reference; null for a figure that does not exist. */
json_t *gess__summary_json(const gess__summary *summary);

/* Whether a name matches one of comma-separated patterns with * and ?. A comma within brackets belongs to the name. */
int gess__name_matches(const char *patterns, const char *name);

#endif
