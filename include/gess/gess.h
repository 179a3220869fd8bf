/* gess: draws samples from any probability density that can be evaluated. Models, options and runs.
 *
 * <gess/draws.h> reads what a run has written: draws, summary, verdict, exports, report.
 *
 * - Models, options and runs are opaque handles. Text is copied, so no text has to outlive a call.
 * - A function that can fail returns a status, GESS_OK or one of GESS_ERR_…, and writes a message into a gess_error of
 * the caller's. `err` may be NULL. A pointer that may be NULL says so in the declaration; any other pointer that is
 * NULL gives GESS_ERR_USAGE and a message with the argument's name.
 * - A struct that the caller fills carries its size; a struct that the library fills comes with the caller's size. So a
 *   program that was built with this header works with later libraries of the same major version.
 * - There is no global state. The library installs no signal
 *   handlers. Different runs may be used by different threads at once; one run by one thread at a time, but for
 *   gess_stop(). */
#ifndef GESS_GESS_H
#define GESS_GESS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GESS_API
#if defined(__GNUC__)
#define GESS_API __attribute__((visibility("default")))
#else
#define GESS_API
#endif
#endif

/* The version of this header; gess_version() is that of the library. */
#define GESS_VERSION_MAJOR 0
#define GESS_VERSION_MINOR 2
#define GESS_VERSION_PATCH 0
#define GESS_VERSION_NUMBER 200 /* 10000 major + 100 minor + patch */

/* ---- status and messages ---- */

/* The command `gess` ends with the same numbers. */
enum gess_status {
    GESS_OK = 0,
    GESS_ERR_USAGE = 1,        /* usage or input */
    GESS_ERR_MODEL = 2,        /* model or data */
    GESS_ERR_STOPPED = 3,      /* stopped early, with a good checkpoint */
    GESS_ERR_INTERNAL = 4,     /* a mistake in gess, or out of memory */
    GESS_ERR_FILE = 5,         /* files and disks */
    GESS_ERR_NOT_CONVERGED = 6 /* the verdict on a run is: do not trust it */
};

/* A message in the caller's memory: what was wrong, where, and what to do. If a density failed, also which chain asked
 * for which point, and the density's own words. */
typedef struct gess_error {
    int status;
    char text[1024];
    char density_text[256]; /* what the density said; empty: nothing */
    uint64_t chain;         /* from 1; 0: not known */
    size_t dim;             /* coordinates of the point; 0: there is no point */
    double point[64];       /* its first coordinates, in the user's scale */
} gess_error;

GESS_API const char *gess_version(void);
GESS_API int gess_version_number(void);
GESS_API const char *gess_status_text(int status);

/* How and where the library was built, and what it found on this machine. Draws depend on the version only. `blas` says
 * what makes fits. Texts are constant. */
typedef struct gess_build_info {
    const char *version, *blas, *cpu, *compiler;
} gess_build_info;
GESS_API int gess_build(gess_build_info *info, size_t size, gess_error *err);

/* ---- densities ---- */

/* Writes the log densities of n points of `dim` coordinates (x is n × dim, row-major) to logp[0..n-1]. −INFINITY is
 * outside the support; NaN counts as outside and is counted; +INFINITY ends the run. Several threads call it at once,
 * each with its own `worker`, a number below gess_options_workers(). Returns 0, or anything else to end the run. */
typedef int gess_logp_fn(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp);

/* The same with gradients (n × dim, row-major). */
typedef int gess_gradient_fn(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp,
                             double *gradient);

/* The same with blobs: further numbers for each point (n × blobs, row-major), such as log prior and log likelihood
 * apart. They stay with the point and are stored with its draws, without another evaluation. Those of a point whose
 * density is zero are not used. */
typedef int gess_blobs_fn(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp,
                          double *blobs);
typedef int gess_gradient_blobs_fn(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp,
                                   double *gradient, double *blobs);

/* The same on a GPU, for --device cuda: x and logp are in its memory. `stream` is the CUstream (cudaStream_t) in which
 * x is written and logp is read afterwards: enqueue the work there, or have it done on return. Called by one thread at
 * a time, whose current context is the GPU's primary one. Both arrays have room for the next power of two of n points,
 * so that a function that is compiled per number of points may round n up; what stands there is ignored. */
typedef int gess_device_logp_fn(void *user, void *stream, size_t n, size_t dim, const double *x, double *logp);

/* Writes a starting point made of `dim` independent standard normals; it must depend on nothing else. */
typedef void gess_start_fn(void *user, size_t dim, const double *normals, double *x);

/* Writes the derived quantities of one draw to out. Called once per stored draw. Returns 0, or anything else to end the
 * run. */
typedef int gess_derive_fn(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out);

/* Writes the log likelihood of every observation at one point to out. Called once per stored draw: they are its
 * quantities log_lik[1], log_lik[2], …, behind the derived ones. */
typedef int gess_pointwise_fn(void *user, unsigned worker, size_t dim, const double *x, size_t observations,
                              double *out);

/* Writes data simulated at one point to out; it must depend on the point and the seed alone. */
typedef int gess_simulate_fn(void *user, unsigned worker, size_t dim, const double *x, uint64_t seed, size_t simulated,
                             double *out);

/* Writes the message of the last call of this worker that failed. */
typedef void gess_message_fn(void *user, unsigned worker, char *text, size_t size);

/* A density. Set everything to zero first, then `size` to sizeof(gess_density): what is NULL or 0 is absent, and so are
 * the fields of later versions. gess_model_new() copies all of it but `user`. */
typedef struct gess_density {
    size_t size;      /* sizeof(gess_density) */
    const char *name; /* for files and messages */
    size_t dim;       /* number of parameters, at least 1 */
    void *user;       /* handed to every function */
    gess_logp_fn *logp;
    gess_gradient_fn *gradient;
    gess_start_fn *start;          /* absent: standard normals, mapped into the bounds */
    const char *const *names;      /* dim names; absent: x1, x2, … */
    const double *lower;           /* dim bounds, −INFINITY for none; equal bounds fix a parameter */
    const double *upper;           /* dim bounds, INFINITY for none */
    const unsigned char *periodic; /* dim flags: 1 if lower and upper are the same point of a circle */
    size_t derived;                /* number of derived quantities */
    const char *const *derived_names;
    gess_derive_fn *derive;
    size_t blobs;                  /* number of blobs */
    const char *const *blob_names; /* absent: blob1, blob2, … */
    gess_blobs_fn *logp_blobs;     /* called instead of logp, which may be absent then */
    gess_gradient_blobs_fn
        *gradient_blobs; /* beside gradient, and called instead; absent: gradient and logp_blobs are both called */
    gess_message_fn *message;
    gess_logp_fn *start_logp; /* log density of the starting distribution */
    gess_logp_fn *log_prior;  /* the prior's part of the log density */
    size_t observations;
    gess_pointwise_fn *pointwise;
    size_t simulated;
    gess_simulate_fn *simulate;
    gess_device_logp_fn *device_logp; /* beside logp, which may be absent if every run is on a GPU */
} gess_density;

/* ---- models ---- */

typedef struct gess_model gess_model;

/* Makes a model of a density. Free it after every run that uses it. */
GESS_API int gess_model_new(gess_model **model, const gess_density *density, gess_error *err);

/* Opens a model by its specification: a built-in name, with parameters as in `wishart:dim=50,seed=3`, or the path of a
 * shared object, with a slash in it: one with the symbols below, or a Stan model that BridgeStan has built; or the path
 * of a CUDA source file, NAME.cu (<gess/gess_cuda.h>); or `exec:COMMAND`, a program (docs/file-formats.md has its
 * protocol). */
GESS_API int gess_model_open(gess_model **model, const char *specification, const char *data /* file, or NULL */,
                             gess_error *err);
GESS_API void gess_model_free(gess_model *model /* or NULL */);

typedef struct gess_model_info {
    const char *name; /* valid as long as the model; NULL: it has none */
    size_t dim, derived, blobs;
    int has_gradient;
    const char *title; /* like `name`; of a shared object, its own name or that of its file, without path and .so */
} gess_model_info;
GESS_API int gess_model_describe(const gess_model *model, gess_model_info *info, size_t size, gess_error *err);

/* The name of a quantity of a draw (parameters, then derived quantities, then blobs, from 0) into name[size]. */
GESS_API int gess_model_name(const gess_model *model, size_t index, char *name, size_t size, gess_error *err);

/* Log densities, and gradients (n × dim), of n points x (n × dim), in the user's scale, by the calling thread. */
GESS_API int gess_model_evaluate(const gess_model *model, size_t n, const double *x, double *logp,
                                 double *gradient /* or NULL */, gess_error *err);

/* A shared object is a model if it exports these symbols, the last one if it needs it:
 *   const unsigned gess_plugin_abi = GESS_ABI;
 *   int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size);
 *   void gess_plugin_close(gess_density *density);
 * `data` is the path given with --data, or NULL. `open` fills in *density, in which only `size` is set, and returns 0;
 * or writes a message and returns anything else. `close` releases what `open` took; it is called once for each
 * successful `open`. */
#define GESS_ABI 2u
typedef int gess_plugin_open_fn(const char *data, gess_density *density, char *message, size_t size);
typedef void gess_plugin_close_fn(gess_density *density);

/* ---- options ---- */

typedef struct gess_options gess_options;

/* Several processes that make one run together; <gess/gess_mpi.h> makes it of an MPI communicator. */
typedef struct gess_comm gess_comm;

/* All options at their defaults; gess_list(GESS_LIST_OPTIONS, …) lists them. */
GESS_API int gess_options_new(gess_options **options, gess_error *err);
GESS_API int gess_options_copy(gess_options **copy, const gess_options *options, gess_error *err);
GESS_API void gess_options_free(gess_options *options /* or NULL */);

/* Sets an option by its name, with or without dashes in front, from text as on the command line: "2e6", "auto", "90s".
 * A flag is on without a value or with "1", and off with "0". A text option without a value, or with an empty one, gets
 * its default back. */
GESS_API int gess_options_set(gess_options *options, const char *name, const char *value /* or NULL */,
                              gess_error *err);

/* The value of an option as text that gess_options_set() takes, into value[size]; empty for a text that is not set. */
GESS_API int gess_options_get(const gess_options *options, const char *name, char *value, size_t size, gess_error *err);

/* The processes that take part; NULL: this process alone. They must outlive the run. */
GESS_API int gess_options_set_comm(gess_options *options, gess_comm *comm /* or NULL */, gess_error *err);

/* What a worker is about to do, for a program that wants to know it afterwards: a supervisor that names the point at
 * which a density crashed, say. */
enum gess_watch {
    GESS_WATCH_DENSITY = 0,  /* call the density */
    GESS_WATCH_DERIVED = 1,  /* call the function of derived quantities */
    GESS_WATCH_RETURNED = 2, /* the call has returned */
    GESS_WATCH_SAVING = 3,   /* write a checkpoint */
    GESS_WATCH_SAVED = 4     /* the checkpoint is written, or that failed */
};

enum { GESS_WATCHED_POINTS = 128 };

typedef struct gess_evaluation {
    int what; /* enum gess_watch; the rest is about calls */
    size_t n, dim;
    const double *x; /* n × dim, in the user's scale */
    const uint64_t
        *chains; /* of the first points, GESS_WATCHED_POINTS at most: from 1; 0: not a chain's, or not known */
} gess_evaluation;

/* Called by the worker itself, by several of them at once: it must be quick and must not fail. */
typedef void gess_watch_fn(void *user, unsigned worker, const gess_evaluation *evaluation);
GESS_API int gess_options_set_watch(gess_options *options, gess_watch_fn *fn /* or NULL */, void *user /* or NULL */,
                                    gess_error *err);

/* The number of threads that will call a density at once: `worker` is below it. */
GESS_API int gess_options_workers(const gess_options *options, unsigned *workers, gess_error *err);

/* Reads the model and the options of a run's config.json into model[size] and a new handle. */
GESS_API int gess_options_read(gess_options **options, const char *path, char *model, size_t size, gess_error *err);

/* Checks that a config.json is as the run wrote it. Writes to text[size] in which of version, build and machine the run
 * began elsewhere; empty if there is no difference. */
GESS_API int gess_config_check(const char *path, char *text, size_t size, gess_error *err);

/* ---- several processes ---- */

/* What the environment of mpirun, srun or another launcher says about this process: its rank from 0, and the number of
 * processes; 1 without a launcher, 0 if the launcher does not say. */
GESS_API int gess_comm_launched(int *rank, int *size, gess_error *err);

/* Joins the processes of the launcher: loads libgess_mpi.so and initialises MPI. *comm is NULL if this process is the
 * only one. All processes call it, and gess_comm_leave() later. */
GESS_API int gess_comm_join(gess_comm **comm, gess_error *err);

/* The rank of this process and the number of processes. */
GESS_API int gess_comm_info(const gess_comm *comm, int *rank, int *size, gess_error *err);

/* Calls body(data) and returns its status. On rank 0 it is called on another thread, while this one carries messages: a
 * process that is lost is noticed although no run goes on. */
typedef int gess_body_fn(void *data, gess_error *err);
GESS_API int gess_comm_call(gess_comm *comm /* or NULL */, gess_body_fn *body, void *data /* or NULL */,
                            gess_error *err);

/* Ends what gess_comm_join() began. Rank 0 lets the others go; they wait for that. `status` and `error` say how the
 * program ended on this rank. If a process is lost, rank 0 ends all of them here. */
GESS_API void gess_comm_leave(gess_comm *comm /* or NULL */, int status, const gess_error *error /* or NULL */);

/* The path of libgess_mpi.so into path[size]; GESS_ERR_USAGE if it cannot be loaded. */
GESS_API int gess_comm_library(char *path, size_t size, gess_error *err);

/* ---- lists ---- */

enum gess_list_kind {
    GESS_LIST_OPTIONS = 0,
    GESS_LIST_MODELS = 1,
    GESS_LIST_KERNELS = 2,
    GESS_LIST_SCHEDULES = 3,
    GESS_LIST_EXPORTERS = 4,
    GESS_LIST_PLOTS = 5 /* of gess_plot() */
};

/* How the value of an option is written. */
enum gess_option_type {
    GESS_OPTION_COUNT = 0,         /* a whole number */
    GESS_OPTION_COUNT_OR_AUTO = 1, /* a whole number, or `auto` */
    GESS_OPTION_REAL = 2,          /* a number */
    GESS_OPTION_TIME = 3,          /* seconds, or 90s, 5m, 2h, 1d */
    GESS_OPTION_TEXT = 4,
    GESS_OPTION_FLAG = 5 /* on or off */
};

/* One row of a list. Texts are constant. */
typedef struct gess_entry {
    const char *name, *help;
    const char *dimension; /* of a model, as text: "10" or "dim (50)" */
    /* of an option */
    int type;          /* enum gess_option_type */
    const char *unit;  /* of its value, such as "N", "FILE" or the choices "auto|none"; NULL: a flag */
    const char *value; /* its default, as text; NULL: none */
    uint64_t min_count, max_count;
    double min, max;
    int choices; /* the list that its values come from; -1: none */
    /* of an exporter */
    int built;        /* it is in this build */
    const char *path; /* what it writes in the run directory */
} gess_entry;

/* Row `index` of a list; GESS_ERR_USAGE past its end. */
GESS_API int gess_list(int kind, size_t index, gess_entry *entry, size_t size, gess_error *err);
GESS_API size_t gess_list_count(int kind);

/* The name nearest to a word that is none of names[count], to ask "did you mean …?": its index, or `count` if the word
 * is not near any of them. */
GESS_API int gess_nearest_name(const char *word, size_t count, const char *const *names, size_t *index,
                               gess_error *err);

/* ---- runs ---- */

typedef struct gess_run gess_run;

/* What a run is doing. */
enum gess_phase { GESS_PHASE_LEARNING = 0, GESS_PHASE_SAMPLING = 1 };

typedef struct gess_stats {
    size_t dim, chains;         /* chains: those whose draws are kept */
    uint64_t draws;             /* stored per chain */
    uint64_t iterations;        /* updates that every chain has had, warm-up included */
    uint64_t evals;             /* density evaluations in all */
    uint64_t evals_sampling;    /* of these, after warm-up */
    uint64_t evals_speculative; /* beyond `evals`: speculative evaluations that were not used */
    uint64_t updates;           /* updates of all chains, warm-up included */
    uint64_t failures;          /* brackets that shrank to nothing: the state was kept */
    uint64_t nans;              /* evaluations that gave NaN, counted as outside */
    double seconds, seconds_sampling;
    double seconds_learning;      /* of warm-up: fitting T and learning maps */
    double nu;                    /* degrees of freedom of the newest fit; INFINITY: Gaussian; NaN: there is none */
    uint64_t warmup;              /* iterations of warm-up: the longest of the ensembles' */
    int warmup_settled;           /* warm-up ended because the approximation had stopped improving */
    int targets_met;              /* the targets of effective sample size and R-hat were met */
    double least_ess, worst_rhat; /* at the newest check; NaN before the first */
    char method[160];             /* what the schedule chose in warm-up, in words; empty if it chooses nothing */
    char slowest[48];             /* the parameter that was furthest from its targets then; cut to fit */
    int finished;                 /* the run has all its draws */
    int out_of_time;              /* the option max-time ended the last gess_run_go() */
    uint64_t checked_draws;       /* draws per chain at the newest check of the targets */
    int phase;                    /* of enum gess_phase; set while gess_progress_fn is called */
    uint64_t phase_done;          /* learning: evaluations; sampling: draws per chain */
    uint64_t phase_total;         /* learning: evaluations at most; sampling: draws per chain; 0: not known */
    double seconds_left; /* of the run, estimated; learning that ends itself: at most, of learning; NaN: not known */
    double worst_nested_rhat; /* nested R-hat of groups of chains then; NaN if the chains were not grouped */
    uint64_t evals_checked;   /* beyond `evals`: made to compare the density with itself (gess_run_warning()) */
    uint64_t crashes;         /* option isolate: evaluations that lost their worker process */
    uint64_t crashes_outside; /* of these, points that count as outside (on-crash outside) */
    double evals_forecast;    /* learning: evaluations that sampling would take as things stand; NaN: not known */
    int learning_late;        /* learning: at this pace, the option max-time ends the run before sampling begins */
} gess_stats;

/* Called with draws as they are stored, by one thread at a time, not always the same: a rectangle of consecutive chains
 * and draws. A row has `columns` numbers, the log density, the parameters, the derived quantities and the blobs:
 * rows[(chain · draws + draw) · columns]. A result other than 0 ends the run as gess_stop() does: soon, so a short run
 * may be finished before. */
typedef int gess_draw_fn(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                         size_t columns, const double *rows);

/* Called now and then, by one thread at a time, with the statistics so far and the iterations planned in all (0: not
 * known). A result other than 0 ends the run as gess_stop() does. */
typedef int gess_progress_fn(void *user, const gess_stats *stats, uint64_t planned);

/* Called with every line of the log, by one thread at a time. */
typedef void gess_log_fn(void *user, const char *line);

/* Makes a run, which copies the options. The model must outlive it. On a failure *run is NULL. */
GESS_API int gess_run_new(gess_run **run, const gess_model *model, const gess_options *options,
                          const char *directory /* for its files, or NULL: none */, gess_error *err);

/* Continues the run in a directory from its last checkpoint; a run that was killed before its first one begins again.
 * Model and options must be those of the run, except for the number of threads and of draws, and the time limit. The
 * number of draws is stored in config.json. */
GESS_API int gess_run_resume(gess_run **run, const gess_model *model, const gess_options *options,
                             const char *directory, gess_error *err);
GESS_API void gess_run_free(gess_run *run /* or NULL */);

GESS_API int gess_run_on_draw(gess_run *run, gess_draw_fn *fn /* or NULL */, void *user /* or NULL */, gess_error *err);

/* The same for the draws of warm-up, of every ensemble in turn: states of chains that still adapt. Steps of annealing
 * are left out, so draws may be missing between two calls. */
GESS_API int gess_run_on_warmup(gess_run *run, gess_draw_fn *fn /* or NULL */, void *user /* or NULL */,
                                gess_error *err);
GESS_API int gess_run_on_progress(gess_run *run, gess_progress_fn *fn /* or NULL */, void *user /* or NULL */,
                                  gess_error *err);
GESS_API int gess_run_on_log(gess_run *run, gess_log_fn *fn /* or NULL */, void *user /* or NULL */, gess_error *err);

/* Runs to the end, or until it is stopped (GESS_ERR_STOPPED). After a stop, another call continues the run; of a
 * finished run it changes nothing and returns GESS_OK; after any other error it is refused. */
GESS_API int gess_run_go(gess_run *run, gess_error *err);

/* Asks a run to stop soon; the draws so far are kept. It ends the present call of gess_run_go(), or the next one. May
 * be called from any thread or signal handler. It waits for the density; with the option `isolate` for a second at
 * most, after which the run can only be resumed from its directory. */
GESS_API void gess_stop(gess_run *run /* or NULL */);

/* Ends warm-up early: with the next gess_run_go(), after the iterations that the chains have had, what was learned from
 * them is fixed and sampling begins. At least one stage of warm-up is run, and annealing that has begun is finished.
 * Call it while gess_run_go() is not running. The request is not saved: repeat it after gess_run_resume(). It has no
 * effect after warm-up. */
GESS_API int gess_run_end_warmup(gess_run *run, gess_error *err);

/* Raises the number of draws per chain of a run that was given one; the next gess_run_go() continues it, with the draws
 * that a longer run would have had. */
GESS_API int gess_run_extend(gess_run *run, uint64_t draws, gess_error *err);

/* Sets the time limit of this run, in seconds; 0: none. It is the option max-time, but it is not stored in config.json.
 */
GESS_API int gess_run_max_time(gess_run *run, double seconds, gess_error *err);

/* What was found about the density when the run was made or resumed, into text[size]; empty: nothing. A new run
 * evaluates its starts again, a resumed one its saved states, as far as that takes no more than a few seconds. Values
 * that differ by more than 1e-8, relative to the larger of the value and 1, or by more than 0.01 and a relative 1e-12,
 * are an error (GESS_ERR_MODEL) and nothing is written; other bits are a warning. These evaluations are not counted. */
GESS_API int gess_run_warning(const gess_run *run, char *text, size_t size, gess_error *err);

GESS_API int gess_run_stats(const gess_run *run, gess_stats *stats, size_t size, gess_error *err);

#ifdef __cplusplus
}
#endif

#endif
