/* gess: draws samples from any probability density that can be evaluated.
 *
 * The whole public interface. Options go in as a plain struct, a run is an opaque handle,
 * statistics come out separately. Every function that can fail returns a status (0 is good) and
 * writes a message into a gess_error of the caller's. There is no global state, with one
 * exception: OpenBLAS's own thread count is set to one around fits and restored.
 * The library installs no signal handlers. */
#ifndef GESS_GESS_H
#define GESS_GESS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GESS_API __attribute__((visibility("default")))
#else
#define GESS_API
#endif

/* ---- status and messages ---- */

enum gess_status {
#define GESS_STATUS(name, value, text) GESS_STATUS_##name = (value),
#include <gess/status.def>
#undef GESS_STATUS
    GESS_STATUS_COUNT
};

#define GESS_OK GESS_STATUS_OK
#define GESS_ERR_USAGE GESS_STATUS_USAGE
#define GESS_ERR_MODEL GESS_STATUS_MODEL
#define GESS_ERR_STOPPED GESS_STATUS_STOPPED
#define GESS_ERR_INTERNAL GESS_STATUS_INTERNAL
#define GESS_ERR_FILE GESS_STATUS_FILE
#define GESS_ERR_NOT_CONVERGED GESS_STATUS_NOT_CONVERGED

/* A message in the caller's memory: what was wrong, where, and what to do. */
typedef struct gess_error {
    int status;
    char text[1024];
} gess_error;

GESS_API const char *gess_version(void);
GESS_API const char *gess_status_text(int status);

/* ---- a density ---- */

#define GESS_ABI 1u

/* Log densities of n points of `dim` coordinates (x is n × dim, row-major) into logp[0..n-1].
 * -INFINITY is outside the support; NaN counts as outside and is counted; +INFINITY ends the run.
 * `worker` numbers the calling thread, 0 .. threads-1. Returns 0, or anything else to end the run. */
typedef int gess_logp_fn(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp);

/* The same with gradients (n × dim, row-major). */
typedef int gess_gradient_fn(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp,
                             double *gradient);

/* A starting point from `dim` independent standard normals; must depend on nothing else. */
typedef void gess_start_fn(void *user, size_t dim, const double *normals, double *x);

/* Derived quantities of one draw: `derived` numbers into out. Returns 0, or anything else to end the
 * run. Called once for each stored draw. */
typedef int gess_derive_fn(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out);

/* As gess_logp_fn and gess_gradient_fn, with further numbers for each point (blobs, n × `blobs` of the model,
 * row-major): log prior and log likelihood apart, say, or whatever else the density computes on its way. They stay with
 * the point and are stored with its draws, without another evaluation. Those of a point whose density is zero are not
 * used. */
typedef int gess_blobs_fn(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp,
                          double *blobs);
typedef int gess_gradient_blobs_fn(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp,
                                   double *gradient, double *blobs);

/* A density. Whatever is NULL or 0 is absent. Start from GESS_MODEL_INIT, so that fields added later
 * are absent too. */
typedef struct gess_model {
    unsigned abi;     /* GESS_ABI */
    const char *name; /* for files and messages */
    size_t dim;       /* number of parameters, at least 1 */
    gess_logp_fn *logp;
    gess_gradient_fn *gradient;
    gess_start_fn *start;          /* absent: standard normals, reflected into one-sided bounds */
    const char *const *names;      /* dim names; absent: x1, x2, … */
    void *user;                    /* handed to the functions */
    const double *lower, *upper;   /* dim bounds, ±INFINITY for none; equal bounds fix a parameter */
    const unsigned char *periodic; /* dim flags: 1 where lower and upper are the same point of a circle */
    size_t derived;                /* number of derived quantities, stored with each draw */
    const char *const *derived_names;
    gess_derive_fn *derive;
    size_t blobs;                           /* number of blobs, stored with each draw */
    const char *const *blob_names;          /* absent: blob1, blob2, … */
    gess_blobs_fn *logp_blobs;              /* called in place of logp, which may then be absent */
    gess_gradient_blobs_fn *gradient_blobs; /* in place of gradient; absent: gradient and logp_blobs are both called */
} gess_model;

#define GESS_MODEL_INIT                                                                                       \
    {                                                                                                         \
        GESS_ABI, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL \
    }

/* ---- a density in a shared object ----
 *
 * A plug-in exports these symbols, the last one if it needs it; `gess sample ./mymodel.so --data FILE`
 * loads it.
 *   const unsigned gess_plugin_abi = GESS_ABI;
 *   int gess_plugin_open(const char *data, gess_model *model, char *message, size_t size);
 *   void gess_plugin_close(gess_model *model);
 * `data` is the path given with --data, or NULL. `open` fills in *model, which is GESS_MODEL_INIT
 * before, and returns 0; or writes a message and returns anything else. `close` releases what `open`
 * took; it is called once for each successful `open`. */
typedef int gess_plugin_open_fn(const char *data, gess_model *model, char *message, size_t size);
typedef void gess_plugin_close_fn(gess_model *model);

/* Opens a model by its specification: a built-in name, with parameters as `wishart:dim=50,seed=3`, or
 * the path of a plug-in, with a slash in it. `data` is a data file for the model, or NULL. Close it
 * with gess_model_close(), after every run that uses it. */
GESS_API int gess_model_open(const gess_model **model, const char *specification, const char *data, gess_error *err);
GESS_API void gess_model_close(const gess_model *model);

/* ---- options ---- */

/* The value of an option that is left to gess. */
#define GESS_AUTO UINT64_MAX

/* Several processes that make one run together; <gess/gess_mpi.h> makes it of an MPI communicator. */
typedef struct gess_comm gess_comm;

/* One field for each row of <gess/options.def>. Text fields are borrowed. */
typedef struct gess_options {
#define GESS_COUNT(name, flag, value, low, high, unit, help) uint64_t name;
#define GESS_COUNT_OR_AUTO(name, flag, low, high, unit, help) uint64_t name;
#define GESS_REAL(name, flag, value, low, high, unit, help) double name;
#define GESS_TIME(name, flag, unit, help) double name;
#define GESS_TEXT(name, flag, value, unit, help) const char *name;
#define GESS_FLAG(name, flag, help) int name;
#include <gess/options.def>
#undef GESS_COUNT
#undef GESS_COUNT_OR_AUTO
#undef GESS_REAL
#undef GESS_TIME
#undef GESS_TEXT
#undef GESS_FLAG
    gess_comm *comm; /* borrowed; NULL: this process alone */
} gess_options;

GESS_API void gess_options_init(gess_options *options);

/* Sets one option from text, by its name with or without dashes (`max-evals`). Text values are
 * borrowed, so `value` must live as long as the options. */
GESS_API int gess_options_set(gess_options *options, const char *name, const char *value, gess_error *err);

/* ---- a run ---- */

typedef struct gess_run gess_run;

typedef struct gess_stats {
    size_t dim, chains;         /* chains: those whose draws are kept */
    uint64_t draws;             /* stored, for each chain */
    uint64_t iterations;        /* updates that every chain has had, warm-up included */
    uint64_t evals;             /* density evaluations in all */
    uint64_t evals_sampling;    /* of these, after warm-up */
    uint64_t evals_speculative; /* beyond `evals`: evaluated in advance and not used */
    uint64_t updates;           /* slice updates of all chains, warm-up included */
    uint64_t failures;          /* brackets that shrank to nothing: the state was kept */
    uint64_t nans;              /* evaluations that gave NaN, counted as outside */
    double seconds, seconds_sampling;
    double seconds_learning;      /* of warm-up: spent on fitting T and learning maps */
    double nu;                    /* degrees of freedom of the newest fit; INFINITY: Gaussian; NaN: there is none */
    uint64_t warmup;              /* iterations of warm-up: the longest of the ensembles' */
    int warmup_settled;           /* warm-up ended because the approximation had stopped improving */
    int targets_met;              /* the targets of effective sample size and R-hat were met */
    double least_ess, worst_rhat; /* at the newest check; NaN before the first */
    char method[160];             /* what the schedule chose in warm-up, in words; empty where it chooses nothing */
    char slowest[48];             /* name, cut to fit, of the parameter that was furthest from its targets then */
} gess_stats;

/* Called with draws as they are stored, by one thread at a time, not always the same: a rectangle of
 * consecutive chains and draws. A row has `columns` numbers, the log density, the parameters, the
 * derived quantities and the blobs: rows[(chain · draws + draw) · columns]. */
typedef void gess_draw_fn(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                          size_t columns, const double *rows);

/* Called now and then, by one thread at a time, with what has been done so far and the iterations
 * planned in all; 0 where that is not known. */
typedef void gess_progress_fn(void *user, const gess_stats *stats, uint64_t planned);

/* Makes a run of `model`, which stays the caller's. `directory` is where its files go; NULL writes
 * none. gess_run_free() releases it, also after a failure. */
GESS_API int gess_run_new(gess_run **run, const gess_model *model, const gess_options *options, const char *directory,
                          gess_error *err);

/* Goes on with the run in a directory from its last checkpoint. `model` and `options` must be those of
 * the run, but for the number of threads and of draws, which may be other. gess_run_go() of a run that
 * is complete changes nothing. */
GESS_API int gess_run_resume(gess_run **run, const gess_model *model, const gess_options *options,
                             const char *directory, gess_error *err);
GESS_API void gess_run_on_draw(gess_run *run, gess_draw_fn *fn, void *user);
GESS_API void gess_run_on_progress(gess_run *run, gess_progress_fn *fn, void *user);
GESS_API int gess_run_go(gess_run *run, gess_error *err);
GESS_API void gess_run_stats(const gess_run *run, gess_stats *stats);
GESS_API void gess_run_free(gess_run *run);

/* Asks a run to end after the sweep it is in. May be called from any thread or signal handler. */
GESS_API void gess_stop(gess_run *run);

#ifdef __cplusplus
}
#endif

#endif
