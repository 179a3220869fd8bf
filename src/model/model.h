/* A density inside the library: a gess_model with the memory behind it, loaders of models, and the table of built-ins.
 *
 * A built-in target is one file in model/builtin/ and one row in builtin/models.def. Its `open` reads its parameters,
 * fills in `m->model` and allocates from m->memory, which gess_model_free() frees. */
#ifndef GESS_MODEL_MODEL_H
#define GESS_MODEL_MODEL_H

#include "base/status.h"
#include "parallel/processes.h"

enum { GESS__EXEC_CAUSE = 400 };

/* What a call of a program may take, and what went wrong with it. */
typedef struct gess__program_call {
    double seconds; /* the limit; 0: none */
    gess__interrupt_fn *interrupt;
    void *user;
    /* filled in */
    double took;                  /* GESS__PROCESS_DONE: seconds, without starting the program */
    size_t bad;                   /* GESS__PROCESS_WRONG: the point whose answer is wrong */
    char cause[GESS__EXEC_CAUSE]; /* otherwise: words that follow "the program" */
} gess__program_call;

/* Takes a line for the log. Returns false if there is no log yet. Called by several threads, one at a time. */
typedef bool gess__model_line_fn(void *user, const char *line);

/* The density as a function of one point that other compilers take too: gess__lane_NAME() of model/lane/NAME.h, with
 * the bits of `logp`. `numbers` are the constants and data that it needs, which the header describes, at an address
 * that 16 divides. The model owns them. */
typedef struct gess__lane_density {
    const char *name;
    const double *numbers;
    size_t count;
    const char *file, *text;    /* of a model in a CUDA source file: its path and what is in it; NULL: built in */
    gess_device_logp_fn *batch; /* in place of such a function: of points on a device, called with the model's user */
} gess__lane_density;

/* The public handle: a density as gess_model_new() has copied it, or as a built-in model fills it in. What is NULL or 0
 * is absent. */
struct gess_model {
    const char *name;
    const char *title; /* for people: NULL: the name is */
    size_t dim;
    gess_logp_fn *logp;
    gess_gradient_fn *gradient;
    gess_start_fn *start;
    const char *const *names;
    void *user;
    const double *lower, *upper;
    const unsigned char *periodic;
    size_t derived;
    const char *const *derived_names;
    gess_derive_fn *derive;
    size_t blobs;
    const char *const *blob_names;
    gess_blobs_fn *logp_blobs;
    gess_gradient_blobs_fn *gradient_blobs;
    gess_message_fn *message;
    gess_logp_fn *start_logp, *log_prior;
    size_t observations;
    gess_pointwise_fn *pointwise;
    size_t simulated;
    gess_simulate_fn *simulate;
    size_t pointwise_columns; /* how many of the last derived quantities are those of `pointwise`, not of `derive` */
    size_t shown; /* if the parameters are coordinates of the sampler: the first `shown` derived quantities are what
                     the user calls parameters, and the parameters are not shown; 0: they are what is shown */
    double start_width; /* default starts are uniform on (-start_width, start_width); 0: see `start` */
    bool trusted;       /* built in: its functions leave their points alone */
    bool serial;        /* the functions work one at a time, under a lock: more threads do not help */
    /* What the model has had to say so far, for log.txt; empty: nothing. */
    void (*remarks)(void *user, char *text, size_t size);
    /* Of a model whose functions run in other processes (execute/isolate.h): whether the worker's last call lost its
     * process. Returns GESS_OK if not; otherwise a status, with a message and, in *point, where it was (NULL: at no
     * point), valid until the worker's next call. */
    int (*lost)(void *user, unsigned worker, const double **point, gess_error *err);
    /* Of a model that a program computes (exec.c): like logp, but one attempt, which ends by the limits of `call`. */
    enum gess__process_end (*ask)(void *user, unsigned worker, size_t n, const double *x, double *logp,
                                  gess__program_call *call);
    /* What the program says goes to fn(data, line) from now on; NULL: to standard error. */
    void (*listen)(void *user, gess__model_line_fn *fn, void *data);
    gess__lane_density lane; /* name NULL: there is none */
    /* In place of logp in a run whose device evaluates points of the processor's memory, too (run/device.c). */
    int (*elsewhere)(void *data, size_t n, const double *x, double *logp);
    void *elsewhere_data;
};

enum { GESS__MODEL_MEMORY = 32 };

typedef struct gess__model {
    gess_model model; /* first: gess_model_free() gets this address */
    void *memory[GESS__MODEL_MEMORY];
    size_t memory_count;
    void (*close)(struct gess__model *m); /* set by the loader; NULL: nothing to close */
    void *loaded;                         /* state of the loader */
} gess__model;

/* shared_object.c: opens a model in a shared object, by an explicit path. */
int gess__shared_object_open(gess__model *m, const char *path, const char *data, gess_error *err);

/* Opens the model that follows a prefix of loaders.def. `data`: the file of --data, or NULL. */
#define GESS_PREFIX_LOADER(identifier, prefix) \
    int gess__open_##identifier(gess__model *m, const char *what, const char *data, gess_error *err);
#include "model/loaders.def"
#undef GESS_PREFIX_LOADER

/* Opens the model in a file whose name ends in a suffix of loaders.def. */
#define GESS_SUFFIX_LOADER(identifier, suffix) \
    int gess__open_##identifier(gess__model *m, const char *path, const char *data, gess_error *err);
#include "model/loaders.def"
#undef GESS_SUFFIX_LOADER

/* density.c: copies a density, with its texts and arrays, into a model. */
int gess__model_copy_density(gess__model *m, const gess_density *density, gess_error *err);

/* check.c: checks the description of a model: dimension, functions, names, bounds. Calls none of its
 * functions. */
int gess__model_check(const gess_model *model, gess_error *err);
/* The same for the counts alone, before anything is copied. */
int gess__model_check_counts(size_t dim, size_t derived, size_t blobs, gess_error *err);

/* Zeroed memory that lives as long as the model: GESS_MODEL_ALLOC(m, &pointer, count, err). */
int gess__model_alloc(gess__model *m, void *out, size_t count, size_t size, gess_error *err);
#define GESS_MODEL_ALLOC(m, pointer, count, err) \
    GESS_TRY(gess__model_alloc((m), (pointer), (count), sizeof **(pointer), (err)))

/* Numbered names for m->model.names: prefix followed by first, first + 1, …, dim of them. */
int gess__model_number_names(gess__model *m, const char *prefix, size_t first, size_t dim, gess_error *err);

/* Gives the first `count` parameters the lower bound 0. Call it once m->model.dim is set. */
int gess__model_positive(gess__model *m, size_t count, gess_error *err);
/* The same for `count` parameters from `first` on. */
int gess__model_positive_range(gess__model *m, size_t first, size_t count, gess_error *err);

/* ---- parameters `key=value,…` of a specification ---- */

typedef struct gess__parameters gess__parameters;

/* Every look-up marks its key as known; after `open`, a key that was never looked up is an error that lists the known
 * ones. An absent key gives the fallback. */
int gess__parameter_count(gess__parameters *p, const char *key, size_t fallback, size_t low, size_t high, size_t *out,
                          gess_error *err);
int gess__parameter_real(gess__parameters *p, const char *key, double fallback, double low, double high, double *out,
                         gess_error *err);
/* *out is NULL if the key is absent; otherwise it is valid until `open` returns. */
int gess__parameter_text(gess__parameters *p, const char *key, const char **out, gess_error *err);

/* ---- tables ---- */

typedef struct gess__builtin {
    const char *name;
    const char *dimension; /* as text, for `gess models`: "10" or "dim (50)" */
    const char *help;      /* one line */
    int (*open)(gess__model *m, gess__parameters *p, gess_error *err);
} gess__builtin;

/* Row i of the table; NULL past the end. */
const gess__builtin *gess__builtin_row(size_t i);

/* Path of a data file that ships with gess: the first that exists in $GESS_DATA, share/gess/data beside the folder of
 * the running command (so an installation may be moved), the installed data folder and the source tree. */
int gess__data_path(const char *name, char *path, size_t size, gess_error *err);

/* Appends "name = value" of parameter i to a message of which `used` bytes are used. Returns the bytes used then, or
 * `size` if it did not fit and "…" was appended instead: stop there. */
size_t gess__describe_parameter(const gess_model *model, size_t i, double value, char *text, size_t used, size_t size);

/* The name of parameter i: from the model, or x<i+1> written into buffer. */
const char *gess__parameter_name(const gess_model *model, size_t i, char buffer[32]);

/* Log densities of n points without their blobs, for callers outside sampling. Returns the model's code, or -1 if there
 * is no memory. */
int gess__model_logp(const gess_model *model, unsigned worker, size_t n, const double *x, double *logp);

/* Makes the log likelihoods of observations, if the model has `pointwise`, derived quantities: log_lik[1], log_lik[2],
 * and so on, behind the others. (pointwise.c) */
int gess__model_add_pointwise(gess__model *m, gess_error *err);

/* Fails if the model has a log density on devices only, and none is in use. */
int gess__model_on_processor(const gess_model *model, gess_error *err);

/* Whether the log density comes with blobs only. */
static inline bool gess__model_only_blobs(const gess_model *model)
{
    return model->logp == NULL && model->logp_blobs != NULL;
}

/* Calls `derive` and `pointwise` for all derived quantities of one point; the code of the one that fails. */
int gess__model_derive(const gess_model *model, unsigned worker, const double *x, double *out);

/* The columns of a draw: log density, parameters, derived quantities, blobs. */
size_t gess__model_columns(const gess_model *model);

/* The name of a column: `lp__`, that of a parameter or derived quantity, or that of a blob: from the model, or
 * blob<i+1>. Written into buffer if the model gives none. */
const char *gess__column_name(const gess_model *model, size_t column, char buffer[32]);

#endif
