/* gess/draws.h: what is done with the files of a run after it, or beside it: read draws, summarise them, judge the
 * run, compute its evidence, fit, export, and write the report.
 *
 * Handles are opaque. A function that makes one sets it to NULL if it fails; a function that releases one takes NULL.
 * Every function that can fail returns a status of <gess/gess.h>, 0 if all is well, and writes a message into *err
 * unless that is NULL. A pointer must not be NULL unless its declaration says so; if it is, the function returns
 * GESS_ERR_USAGE, and the message names the argument.
 *
 * Text is copied. A function that returns text allocates it into *text: UTF-8, with a newline at the end of every line,
 * released with gess_text_free(). Numbers in text have decimal points in every locale.
 *
 * A struct that a function fills comes with `size`, the caller's sizeof: later versions append fields, and at most
 * `size` bytes are written. A struct that a function reads comes with its size, too: what a shorter one lacks is 0,
 * which stands for the default everywhere.
 *
 * Several threads may use different handles at the same time, but not the same handle. Exports are an exception, since
 * the libraries behind some formats are not made for threads: call gess_export() in one thread at a time. */
#ifndef GESS_DRAWS_H
#define GESS_DRAWS_H

#include <gess/gess.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- text ---- */

enum gess_format {
    GESS_FORMAT_TEXT = 0, /* for people: tables and sentences */
    GESS_FORMAT_JSON = 1, /* every figure; null for one that does not exist */
    GESS_FORMAT_CSV = 2,  /* a header and one row per parameter; NA for a figure that does not exist */
    GESS_FORMAT_HTML = 3  /* a page; of gess_watch_text() only */
};

/* Releases text that a function of gess has returned. */
GESS_API void gess_text_free(char *text /* or NULL */);

/* The text as an argument of a shell command, in quotes if it needs them, without a newline at its end. */
GESS_API int gess_text_quote(const char *text, char **quoted, gess_error *err);

/* ---- draws ---- */

/* The draws of a run, in the user's scale. Those that only some chains have, because the run goes on, are not seen. */
typedef struct gess_draws gess_draws;

typedef struct gess_draws_shape {
    size_t chains;
    size_t columns;   /* numbers per draw: lp__, the parameters, the derived quantities; CSV files: theirs */
    uint64_t draws;   /* per chain */
    uint64_t thin;    /* one draw in `thin` was kept */
    size_t dim;       /* parameters; columns 1 … dim of a run; 0: not known */
    size_t ensembles; /* that the chains are split into; 1 if it is not known */
    uint64_t seed;    /* of the run; 0 if it is not known */
    int has_seed;     /* `seed` is known */
    int has_warmup;   /* the draws of warm-up are beside the file, in warmup.gess */
} gess_draws_shape;

/* Opens a run directory, a file draws.gess or warmup.gess, or one CSV file (gess_draws_open_csv()). A file of draws is
 * read once from end to end and its checksums are verified; memory does not grow with the number of draws. */
GESS_API int gess_draws_open(gess_draws **draws, const char *path, gess_error *err);

/* Opens CSV files with a header, one per chain, all with the same columns and number of rows, such as those of CmdStan
 * and of gess_export(). They are held in memory. Columns whose names end in __, except lp__, and rows that the comments
 * declare to be warm-up, are left out. */
GESS_API int gess_draws_open_csv(gess_draws **draws, size_t count, const char *const *paths, gess_error *err);

GESS_API void gess_draws_close(gess_draws *draws /* or NULL */);

GESS_API int gess_draws_info(const gess_draws *draws, gess_draws_shape *shape, size_t size, gess_error *err);

/* The name of a column, from 0. */
GESS_API int gess_draws_name(const gess_draws *draws, size_t column, char **text, gess_error *err);

/* The column of a name; GESS_ERR_USAGE if there is none. */
GESS_API int gess_draws_find(const gess_draws *draws, const char *name, size_t *column, gess_error *err);

/* The specification of the run's model, as gess_model_open() takes it, or its name; empty if it is not known. */
GESS_API int gess_draws_model(const gess_draws *draws, char **text, gess_error *err);

/* Reads a rectangle: `count` draws of one chain, from first_draw on, and of each `columns` columns, from first_column
 * on: values[i · columns + j]. GESS_ERR_USAGE if the draws do not have all of it. */
GESS_API int gess_draws_read(gess_draws *draws, size_t chain, uint64_t first_draw, uint64_t count, size_t first_column,
                             size_t columns, double *values, gess_error *err);

/* ---- tables ---- */

/* Reads the numbers of a CSV file, with or without a header: (*values)[row · columns + column], released with
 * gess_values_free(). */
GESS_API int gess_csv_read(const char *path, size_t *rows, size_t *columns, double **values, gess_error *err);
GESS_API void gess_values_free(double *values /* or NULL */);

/* ---- summary ---- */

typedef struct gess_summary gess_summary;

typedef struct gess_summary_settings {
    const char *variables; /* patterns with * and ?, separated by commas; NULL: all */
    unsigned threads;      /* 0: one per core */
    int worst_first;       /* sort the rows: by r_hat, then by ess_bulk; 0: in the order of the model, lp__ last */
    size_t max_bytes;      /* of memory, roughly; 0: 1.5 GiB */
} gess_summary_settings;

/* What a run cost, and how it ended. Names are those of summary.json. Of CSV files, and of a run without summary.json,
 * only the first three fields are known, and has_stats is 0. */
typedef struct gess_summary_stats {
    size_t chains;
    uint64_t draws; /* per chain */
    size_t ensembles;
    int has_stats;              /* the fields below are known; counts are 0 and other numbers NaN otherwise */
    uint64_t evals;             /* density evaluations in total */
    uint64_t evals_sampling;    /* of these, after warm-up */
    uint64_t evals_speculative; /* beyond `evals`: evaluated in advance and not used */
    uint64_t updates;           /* of all chains, warm-up included */
    uint64_t failures;          /* updates that found no new point and kept their state */
    uint64_t nans;              /* evaluations that gave NaN */
    uint64_t warmup;            /* iterations */
    double seconds;
    double seconds_sampling;
    double seconds_learning; /* of warm-up: spent on fitting T and learning maps */
    int warmup_settled;      /* warm-up ended because the approximation had stopped improving */
    int targets_met;         /* the targets of effective sample size and R-hat were met */
    double stop_ess;         /* smallest bulk ESS and worst R-hat at the last check of the stop rule */
    double stop_rhat;
    char method[160]; /* what the schedule chose in warm-up, in words; empty if it chooses nothing */
} gess_summary_stats;

/* The figures of one parameter; NaN for one that does not exist. If tails are too heavy for a variance, that includes
 * sd, mcse_sd, mcse_mean and mcse_series; if they are too heavy for a mean, also mean. Of a periodic parameter, mean,
 * sd and their errors are circular, and all other figures are those of its draws on a circle that is cut open where
 * they are few: quantiles ascend, and may lie beyond a bound by less than a period. */
typedef struct gess_figures {
    double mean;
    double sd;
    double mcse_mean;
    double q5;
    double q50;
    double q95;
    double ess_bulk;
    double ess_tail;
    double r_hat; /* the larger of the last two figures */
    double ess_coda;
    double geweke;
    double tau; /* integrated autocorrelation time, as emcee has it */
    double mcse_sd;
    double mcse_q5;
    double mcse_q50;
    double mcse_q95;
    double mcse_series; /* of the mean, from the ensemble's mean series */
    double r_hat_chains;
    double r_hat_ensembles; /* NaN if there is one ensemble */
    double tail_index;      /* 1/2 or more: no variance exists; 1 or more: no mean does */
    double tail_index_se;
    double drift_z;      /* change of the mean over the run, as a standard normal score */
    double r_hat_nested; /* of groups of chains; NaN if there are too few chains, or several ensembles */
    int circular;        /* the parameter is periodic */
} gess_figures;

/* Summarises the run in a directory. `settings` is NULL, or a struct of `size` bytes. */
GESS_API int gess_summary_new(gess_summary **summary, const char *directory,
                              const gess_summary_settings *settings /* or NULL */, size_t size, gess_error *err);

/* Summarises CSV files, one per chain (gess_draws_open_csv()). */
GESS_API int gess_summary_new_csv(gess_summary **summary, size_t count, const char *const *paths,
                                  const gess_summary_settings *settings /* or NULL */, size_t size, gess_error *err);

/* Summarises a run that gess_run_go() has returned from, with its present statistics. The run must have a directory. */
GESS_API int gess_summary_new_run(gess_summary **summary, const gess_run *run,
                                  const gess_summary_settings *settings /* or NULL */, size_t size, gess_error *err);

GESS_API void gess_summary_free(gess_summary *summary /* or NULL */);

/* Writes summary.json into a run directory: GESS_FORMAT_JSON, replaced at once. */
GESS_API int gess_summary_write(const gess_summary *summary, const char *directory, gess_error *err);

GESS_API int gess_summary_info(const gess_summary *summary, gess_summary_stats *stats, size_t size, gess_error *err);

/* The number of rows. */
GESS_API int gess_summary_rows(const gess_summary *summary, size_t *rows, gess_error *err);

/* The name and the figures of a row, from 0. */
GESS_API int gess_summary_name(const gess_summary *summary, size_t row, char **text, gess_error *err);
GESS_API int gess_summary_row(const gess_summary *summary, size_t row, gess_figures *figures, size_t size,
                              gess_error *err);

/* The summary in a format of enum gess_format. `width` is for GESS_FORMAT_TEXT, which has as many figures as fit into
 * `width` columns of text; 0: the usual ones; SIZE_MAX: all. */
GESS_API int gess_summary_text(const gess_summary *summary, int format, size_t width, char **text, gess_error *err);

/* The first points at which the density of a run was NaN, as `gess summary` shows them; empty if there was none. */
GESS_API int gess_nans_text(const char *directory, char **text, gess_error *err);

/* ---- verdict ---- */

/* Whether a run can be trusted. */
typedef struct gess_verdict gess_verdict;

typedef struct gess_verdict_result {
    int pass;        /* no finding is a failure */
    size_t findings; /* their number; the worst is the first */
    size_t chains;
    uint64_t draws;    /* per chain */
    double least_ess;  /* the smallest bulk ESS of all columns */
    double worst_rhat; /* NaN, like least_ess, if no column has one */
} gess_verdict_result;

enum gess_level { GESS_LEVEL_NOTE = 0, GESS_LEVEL_WARNING = 1, GESS_LEVEL_FAILURE = 2 };

typedef struct gess_finding {
    int level;         /* of enum gess_level */
    char code[32];     /* a word for programs, such as "r-hat" */
    char text[1024];   /* a sentence with numbers */
    char advice[1024]; /* what to do */
} gess_finding;

/* Judges the run in a directory. `summary` is a summary of this run with all its columns, if there is one already. */
GESS_API int gess_verdict_new(gess_verdict **verdict, const char *directory, const gess_summary *summary /* or NULL */,
                              gess_error *err);
GESS_API void gess_verdict_free(gess_verdict *verdict /* or NULL */);
GESS_API int gess_verdict_info(const gess_verdict *verdict, gess_verdict_result *result, size_t size, gess_error *err);

/* A finding, from 0. */
GESS_API int gess_verdict_finding(const gess_verdict *verdict, size_t index, gess_finding *finding, size_t size,
                                  gess_error *err);

/* GESS_FORMAT_TEXT or GESS_FORMAT_JSON. */
GESS_API int gess_verdict_text(const gess_verdict *verdict, int format, char **text, gess_error *err);

/* ---- a run that goes on ---- */

/* What a run is doing, as far as its directory tells. */
enum gess_watch_state {
    GESS_WATCH_WAITING = 0, /* no run has begun there yet */
    GESS_WATCH_RUNNING = 1,
    GESS_WATCH_SILENT = 2,  /* no sign of life for a minute: a slow density, or the run is gone */
    GESS_WATCH_GONE = 3,    /* its process ended without a word; only seen on the host of the run */
    GESS_WATCH_STOPPED = 4, /* to be resumed */
    GESS_WATCH_FINISHED = 5,
    GESS_WATCH_FAILED = 6
};

/* How far the run in a directory is, from its progress.json: GESS_FORMAT_TEXT of `width` columns (0: 100),
 * GESS_FORMAT_JSON, or GESS_FORMAT_HTML, a page that reloads itself every `seconds`. It only reads. */
GESS_API int gess_watch_text(const char *directory, int format, size_t width, double seconds, char **text,
                             int *state /* or NULL */, gess_error *err);

/* ---- evidence ---- */

/* The log of the integral of a model's density over its parameters, in the user's scale: the log evidence, if the
 * density is a likelihood times a prior that integrates to 1. It is computed by importance sampling from the run's
 * approximation T if that is close to the density, otherwise by bridge sampling between the stored draws of the run and
 * fresh draws of T. The other of the two gives the second estimate, with fresh draws of its own. */
typedef struct gess_evidence gess_evidence;

typedef struct gess_evidence_settings {
    double target_error; /* standard error to reach; 0: the run's option target-evidence-error, or 0.02 */
    uint64_t max_evals;  /* evaluations, at most; 0: 5000, or the run's option max-evals if an error is to be reached */
    unsigned threads;    /* of gess_evidence_open(); 0: as many as the run's options say */
    gess_comm *comm;     /* of gess_evidence_open(): the processes that evaluate together; NULL: this one only */
} gess_evidence_settings;

/* What is not known is NaN. So are the numbers of an evidence that is refused, except those that explain it. */
typedef struct gess_evidence_result {
    double log_evidence;
    double se;      /* its standard error */
    uint64_t evals; /* evaluations that it took, beyond those of the run */
    double second_log_evidence;
    double second_se;
    double k_hat;    /* of the weights of fresh draws; the evidence is refused above 0.7, or less for few evaluations */
    int refused;     /* it cannot be trusted */
    size_t reasons;  /* how many there are for that */
    double se_draws; /* what the stored draws and the fresh draws contribute to se: its square is the sum of theirs */
    double se_fresh;
    double effective_draws;       /* how many independent ones the stored draws are worth */
    double annealed_log_evidence; /* by the annealing of warm-up, without an error; NaN if there was none */
    double mean_log_prior;        /* over the draws, if the model gives its prior apart */
    double mean_log_likelihood;
    double information; /* Kullback-Leibler divergence of the posterior from the prior, in nats */
    double information_se;
    int importance; /* log_evidence is by importance sampling, the second by bridge sampling; 0: the other way round */
} gess_evidence_result;

/* Computes the evidence of a run that gess_run_go() has returned from, or that gess_run_resume() has opened. The run
 * must have a directory: evidence.json is written there, and evidence.values keeps what was evaluated, so that a later
 * call does not evaluate it again. gess_stop() ends it with GESS_ERR_STOPPED.
 *
 * If the run has a communicator, all ranks must call it, with the same run, and all of them evaluate. Rank 0 has the
 * result; on the others *evidence is NULL. */
GESS_API int gess_evidence_new(gess_evidence **evidence, gess_run *run,
                               const gess_evidence_settings *settings /* or NULL */, size_t size, gess_error *err);

/* The same for the run in a directory, with the model that its config.json names. */
GESS_API int gess_evidence_open(gess_evidence **evidence, const char *directory,
                                const gess_evidence_settings *settings /* or NULL */, size_t size, gess_error *err);
GESS_API void gess_evidence_free(gess_evidence *evidence /* or NULL */);
GESS_API int gess_evidence_info(const gess_evidence *evidence, gess_evidence_result *result, size_t size,
                                gess_error *err);

/* A reason why it is refused, from 0. */
GESS_API int gess_evidence_reason(const gess_evidence *evidence, size_t index, gess_finding *finding, size_t size,
                                  gess_error *err);

/* GESS_FORMAT_TEXT or GESS_FORMAT_JSON. */
GESS_API int gess_evidence_text(const gess_evidence *evidence, int format, char **text, gess_error *err);

/* The log Bayes factors of `count` evidences, two or more, against the best of them, with warnings where data or priors
 * differ: GESS_FORMAT_TEXT or GESS_FORMAT_JSON. */
GESS_API int gess_compare_text(size_t count, const gess_evidence *const *evidence, int format, char **text,
                               gess_error *err);

/* ---- report ---- */

/* Writes the page with the verdict, the summary and plots of a run: one HTML file that needs no network. `path`: NULL
 * for report.html in the directory. `written` gets the path, to be released with gess_text_free(). */
GESS_API int gess_report(const char *directory, const char *path /* or NULL */, char **written /* or NULL */,
                         gess_error *err);

typedef struct gess_report_settings {
    const char *truth; /* as in gess_plot_settings */
    int moments;       /* begin with mean ± sd; the page can change it */
    int prior;
} gess_report_settings;

/* The same for one run or several, which are compared: sections for one run show the first, and true values and priors
 * are its own. `path`: NULL for report.html in the first directory. */
GESS_API int gess_report_runs(size_t count, const char *const *directories, const char *path /* or NULL */,
                              const gess_report_settings *settings /* or NULL */, size_t size,
                              char **written /* or NULL */, gess_error *err);

/* ---- plots ---- */

typedef struct gess_plot_settings {
    const char *variables; /* patterns with * and ?, separated by commas; NULL: the plot's own choice */
    const char *truth;     /* file of true values: a JSON object, or a line per parameter; NULL: none */
    int moments;           /* show mean ± sd in place of the median with its 68 % interval */
    int prior;             /* draw priors: opens the model of the run, which must give its log prior apart */
} gess_plot_settings;

/* Draws a figure of the run in a directory into a file: `kind` is a row of gess_list(GESS_LIST_PLOTS, …), and the end
 * of `path`, .pdf, .svg or .png, says what the file is. `notes` gets what a reader should know, such as which
 * parameters were chosen: lines of text, or none. */
GESS_API int gess_plot(const char *directory, const char *kind, const char *path,
                       const gess_plot_settings *settings /* or NULL */, size_t size, char **notes /* or NULL */,
                       gess_error *err);

/* ---- export ---- */

typedef struct gess_export_result {
    size_t chains;
    uint64_t draws;  /* per chain */
    char path[4096]; /* of the file or folder that was written */
} gess_export_result;

/* Writes the draws of a run for other programs, in one of the formats that `gess export --help` lists. `path`: NULL for
 * the format's own name in the directory. A file that exists is replaced only with `overwrite`. A format may need a
 * library that is loaded now; GESS_ERR_USAGE with what to install if it is missing. */
GESS_API int gess_export(const char *directory, const char *format, const char *path /* or NULL */, int overwrite,
                         gess_export_result *result /* or NULL */, size_t size, gess_error *err);

/* ---- fit ---- */

/* A multivariate t that was fitted to points by maximum likelihood; with fewer than two points per dimension, in the
 * span of their principal axes. */
typedef struct gess_fit gess_fit;

typedef struct gess_fit_result {
    size_t dim;
    size_t points;
    double nu;     /* degrees of freedom; INFINITY: a Gaussian */
    double loglik; /* of all points */
    unsigned iterations;
    int converged;
    int ridged;  /* a ridge was added to sigma: the points do not spread in every direction */
    size_t rank; /* dim, or the number of principal axes */
} gess_fit_result;

/* Fits to points[count × dim], row by row, all finite, at least two. */
GESS_API int gess_fit_new(gess_fit **fit, size_t count, size_t dim, const double *points, gess_error *err);

/* Fits to the rows of a CSV file, with or without a header. */
GESS_API int gess_fit_new_csv(gess_fit **fit, const char *path, gess_error *err);

GESS_API void gess_fit_free(gess_fit *fit /* or NULL */);
GESS_API int gess_fit_info(const gess_fit *fit, gess_fit_result *result, size_t size, gess_error *err);

/* The centre, mu[dim], and the scale matrix, sigma[dim × dim]. */
GESS_API int gess_fit_mu(const gess_fit *fit, double *mu, gess_error *err);
GESS_API int gess_fit_sigma(const gess_fit *fit, double *sigma, gess_error *err);

/* GESS_FORMAT_TEXT or GESS_FORMAT_JSON; the JSON is what the option `approx` reads. */
GESS_API int gess_fit_text(const gess_fit *fit, int format, char **text, gess_error *err);

#ifdef __cplusplus
}
#endif

#endif
