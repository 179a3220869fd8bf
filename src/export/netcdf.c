/* The exporter `netcdf`: ArviZ's InferenceData in NetCDF-4, with groups `posterior` (parameters, derived quantities,
 * blobs) and `sample_stats` (`lp`), a variable of (chain, draw) each, and two more groups for warm-up draws if they
 * were kept. Quantities log_lik, log_lik[1], … are one variable of (chain, draw, observation) in a group
 * `log_likelihood` instead. https://python.arviz.org/en/stable/schema/schema.html */
#include "base/mem.h"
#include "export/atomic_file.h"
#include "export/registry.h"

#include <errno.h>
#include <math.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file that is being written, and the pair of groups that is being filled, a chunk of draws at a time. */
typedef struct file {
    const gess__export *run;
    const char *path;
    int root;
    const gess__reader *draws;
    int posterior, stats;
    int lp, *variables;    /* [j - 1] for column j of a draw */
    uint64_t chunk;        /* draws per chain */
    double *rows, *column; /* a chunk: all of it, one column of it */
    size_t observations;   /* columns of log_lik */
    int likelihood, log_lik;
} file;

static int check(const file *f, int code, gess_error *err)
{
    if (code == NC_NOERR) return GESS_OK;
    /* for a failed write the library's text is just "HDF error" */
    int cause = errno;
    bool disk = cause == ENOSPC || cause == EDQUOT || cause == EFBIG || cause == EIO;
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", f->path, disk ? strerror(cause) : nc_strerror(code));
}

#define NC_TRY(f, call, err) GESS_TRY(check((f), (errno = 0, (call)), (err)))

/* Of the HDF5 library below netCDF, if there is one. After a failed write, HDF5 (1.10.8 at least) tries again when the
 * process exits, and crashes. */
extern int H5dont_atexit(void) __attribute__((weak));

/* ---- names ---- */

enum { MAX_NAME = NC_MAX_NAME - 20 /* leaves room for a suffix _NUMBER */ };

static bool is_taken(const file *f, const char *name)
{
    const gess__reader *d = f->draws;
    for (size_t j = 1; j < d->columns; j++)
        if (strcmp(d->names[j], name) == 0) return true;
    return false;
}

/* The name as netCDF allows it: begins with a letter, digit, _ or UTF-8; no slash and no control
 * characters; no blank at its end; not too long. Returns whether it differs from `name`. */
static bool allowed_name(const char *name, char out[NC_MAX_NAME + 1])
{
    const char *whole = name;
    size_t n = 0;
    unsigned char first = (unsigned char)name[0];
    if (!(first >= 0x80 || first == '_' || (first >= '0' && first <= '9') ||
          ((first | 0x20) >= 'a' && (first | 0x20) <= 'z')))
        out[n++] = '_';
    for (; *name != '\0' && n < MAX_NAME; name++)
        out[n++] = (unsigned char)*name < ' ' || *name == 0x7f || *name == '/' ? '_' : *name;
    while (((unsigned char)*name & 0xc0) == 0x80) name--, n--; /* no half characters */
    if (out[n - 1] == ' ') out[n - 1] = '_';
    out[n] = '\0';
    if (strcmp(out, "chain") == 0 || strcmp(out, "draw") == 0) strcat(out, "_");
    return strcmp(out, whole) != 0;
}

/* A variable of (chain, draw). If netCDF does not allow its name, it gets a similar one, and its own as long_name. */
static int define(const file *f, int group, const int dims[2], const char *name, int *variable, gess_error *err)
{
    char base[NC_MAX_NAME + 1], tried[NC_MAX_NAME + 1];
    bool renamed = allowed_name(name, base);
    int code = NC_ENAMEINUSE;
    for (unsigned k = 1; code == NC_ENAMEINUSE && k < 1000000; k++) {
        if (k == 1)
            strcpy(tried, base);
        else
            snprintf(tried, sizeof tried, "%.*s_%u", MAX_NAME, base, k);
        renamed |= k > 1;
        if (renamed && is_taken(f, tried)) continue;
        errno = 0;
        code = nc_def_var(group, tried, NC_DOUBLE, 2, dims, variable);
    }
    GESS_TRY(check(f, code, err));
    /* A chunk is written once and whole, so there is nothing to fill and nothing to cache. A cache of 0 bytes would
     * mean the default, which is megabytes per variable. */
    size_t chunks[2] = {f->draws->chains, (size_t)f->chunk};
    NC_TRY(f, nc_def_var_chunking(group, *variable, NC_CHUNKED, chunks), err);
    NC_TRY(f, nc_def_var_fill(group, *variable, NC_NOFILL, NULL), err);
    NC_TRY(f, nc_set_var_chunk_cache(group, *variable, 1, 1, 0.0F), err);
    if (renamed) NC_TRY(f, nc_put_att_text(group, *variable, "long_name", strlen(name), name), err);
    return GESS_OK;
}

/* Whether a column is the log likelihood of an observation. */
static bool is_log_lik(const char *name)
{
    return strncmp(name, "log_lik", 7) == 0 && (name[7] == '\0' || name[7] == '[');
}

/* ---- groups ---- */

static int put_text(const file *f, int group, const char *name, const char *text, gess_error *err)
{
    NC_TRY(f, nc_put_att_text(group, NC_GLOBAL, name, strlen(text), text), err);
    return GESS_OK;
}

static int put_attributes(const file *f, int group, gess_error *err)
{
    const gess__export *run = f->run;
    char now[32], started[32];
    gess__export_time(time(NULL), now);
    GESS_TRY(put_text(f, group, "created_at", now, err));
    GESS_TRY(put_text(f, group, "creation_library", "gess", err));
    GESS_TRY(put_text(f, group, "creation_library_version", GESS_VERSION_TEXT, err));
    GESS_TRY(put_text(f, group, "creation_library_language", "C", err));
    GESS_TRY(put_text(f, group, "inference_library", "gess", err));
    GESS_TRY(put_text(f, group, "inference_library_version", GESS_VERSION_TEXT, err));
    if (run->model != NULL) GESS_TRY(put_text(f, group, "model", run->model, err));
    if (run->seed != NULL) GESS_TRY(put_text(f, group, "seed", run->seed, err));
    if (run->started != 0) {
        gess__export_time(run->started, started);
        GESS_TRY(put_text(f, group, "started_at", started, err));
    }
    long long warmup = (long long)run->warmup, thin = (long long)f->draws->thin;
    NC_TRY(f, nc_put_att_longlong(group, NC_GLOBAL, "tuning_steps", NC_INT64, 1, &warmup), err);
    NC_TRY(f, nc_put_att_longlong(group, NC_GLOBAL, "thin", NC_INT64, 1, &thin), err);
    if (isfinite(run->seconds_sampling))
        NC_TRY(f, nc_put_att_double(group, NC_GLOBAL, "sampling_time", NC_DOUBLE, 1, &run->seconds_sampling), err);
    return GESS_OK;
}

/* Numbers 0, 1, … as the values of a coordinate. */
static int put_coordinate(const file *f, int group, int variable, uint64_t length, gess_error *err)
{
    enum { PIECE = 4096 };
    long long values[PIECE];
    for (uint64_t first = 0; first < length; first += PIECE) {
        size_t start = (size_t)first, count = length - first < PIECE ? (size_t)(length - first) : PIECE;
        for (size_t i = 0; i < count; i++) values[i] = (long long)first + (long long)i;
        NC_TRY(f, nc_put_vara_longlong(group, variable, &start, &count, values), err);
    }
    return GESS_OK;
}

/* A group with its dimensions and coordinates. */
static int make_group(const file *f, const char *name, int *group, int dims[2], gess_error *err)
{
    const gess__reader *d = f->draws;
    int chain, draw;
    NC_TRY(f, nc_def_grp(f->root, name, group), err);
    NC_TRY(f, nc_def_dim(*group, "chain", d->chains, &dims[0]), err);
    NC_TRY(f, nc_def_dim(*group, "draw", (size_t)d->draws, &dims[1]), err);
    NC_TRY(f, nc_def_var(*group, "chain", NC_INT64, 1, &dims[0], &chain), err);
    NC_TRY(f, nc_def_var(*group, "draw", NC_INT64, 1, &dims[1], &draw), err);
    GESS_TRY(put_attributes(f, *group, err));
    GESS_TRY(put_coordinate(f, *group, chain, d->chains, err));
    return put_coordinate(f, *group, draw, d->draws, err);
}

/* The group of the log likelihoods, with one variable of (chain, draw, observation). */
static int make_likelihood(file *f, const char *name, gess_error *err)
{
    int dims[3], numbers;
    size_t chunks[3] = {f->draws->chains, (size_t)f->chunk, f->observations};
    GESS_TRY(make_group(f, name, &f->likelihood, dims, err));
    NC_TRY(f, nc_def_dim(f->likelihood, "log_lik_dim_0", f->observations, &dims[2]), err);
    NC_TRY(f, nc_def_var(f->likelihood, "log_lik_dim_0", NC_INT64, 1, &dims[2], &numbers), err);
    NC_TRY(f, nc_def_var(f->likelihood, "log_lik", NC_DOUBLE, 3, dims, &f->log_lik), err);
    NC_TRY(f, nc_def_var_chunking(f->likelihood, f->log_lik, NC_CHUNKED, chunks), err);
    NC_TRY(f, nc_def_var_fill(f->likelihood, f->log_lik, NC_NOFILL, NULL), err);
    NC_TRY(f, nc_set_var_chunk_cache(f->likelihood, f->log_lik, 1, 1, 0.0F), err);
    return put_coordinate(f, f->likelihood, numbers, f->observations, err);
}

static int make_groups(file *f, const char *posterior, const char *stats, gess_error *err)
{
    const gess__reader *d = f->draws;
    int dims[2];
    GESS_TRY(make_group(f, posterior, &f->posterior, dims, err));
    for (size_t j = 1; j < d->columns; j++) {
        const gess__circle *circle = gess__export_circle(f->run, j);
        if (is_log_lik(d->names[j])) continue;
        GESS_TRY(define(f, f->posterior, dims, d->names[j], &f->variables[j - 1], err));
        if (circle == NULL) continue;
        const double bounds[2] = {circle->lower, circle->upper};
        NC_TRY(f, nc_put_att_double(f->posterior, f->variables[j - 1], "periodic", NC_DOUBLE, 2, bounds), err);
    }
    GESS_TRY(make_group(f, stats, &f->stats, dims, err));
    return define(f, f->stats, dims, "lp", &f->lp, err);
}

/* ---- draws ---- */

/* Moves the log likelihoods of a chunk to the front of its rows, and writes them. */
static int put_likelihood(const file *f, uint64_t first, uint64_t n, gess_error *err)
{
    const gess__reader *d = f->draws;
    size_t start[3] = {0, (size_t)first, 0}, count[3] = {d->chains, (size_t)n, f->observations}, at = 0;
    for (size_t i = 0; i < d->chains * (size_t)n; i++)
        for (size_t j = 1; j < d->columns; j++)
            if (is_log_lik(d->names[j])) f->rows[at++] = f->rows[i * d->columns + j];
    NC_TRY(f, nc_put_vara_double(f->likelihood, f->log_lik, start, count, f->rows), err);
    return GESS_OK;
}

static int put_chunk(const file *f, uint64_t first, uint64_t n, gess_error *err)
{
    const gess__reader *d = f->draws;
    size_t start[2] = {0, (size_t)first}, count[2] = {d->chains, (size_t)n}, values = d->chains * (size_t)n;
    GESS_TRY(gess__reader_rows(d, 0, d->chains, first, n, f->rows, err));
    for (size_t j = 0; j < d->columns; j++) {
        if (is_log_lik(d->names[j])) continue;
        for (size_t i = 0; i < values; i++) f->column[i] = f->rows[i * d->columns + j];
        int group = j == 0 ? f->stats : f->posterior, variable = j == 0 ? f->lp : f->variables[j - 1];
        NC_TRY(f, nc_put_vara_double(group, variable, start, count, f->column), err);
    }
    return f->observations > 0 ? put_likelihood(f, first, n, err) : GESS_OK;
}

static int put_draws(file *f, const char *posterior, const char *stats, gess_error *err)
{
    const gess__reader *d = f->draws;
    size_t values = d->chains * (size_t)f->chunk;
    GESS_ALLOC(&f->variables, d->columns, err);
    GESS_ALLOC(&f->rows, values * d->columns, err);
    GESS_ALLOC(&f->column, values, err);
    f->observations = 0;
    for (size_t j = 1; j < d->columns; j++) f->observations += is_log_lik(d->names[j]);
    GESS_TRY(make_groups(f, posterior, stats, err));
    if (f->observations > 0)
        GESS_TRY(make_likelihood(f, d == f->run->draws ? "log_likelihood" : "warmup_log_likelihood", err));
    for (uint64_t first = 0; first < d->draws; first += f->chunk)
        GESS_TRY(put_chunk(f, first, d->draws - first < f->chunk ? d->draws - first : f->chunk, err));
    return GESS_OK;
}

static int write_groups(file *f, const gess__reader *draws, const char *posterior, const char *stats, gess_error *err)
{
    f->draws = draws;
    f->chunk = gess__export_chunk(draws, draws->chains);
    int status = put_draws(f, posterior, stats, err);
    free(f->variables);
    free(f->rows);
    free(f->column);
    f->variables = NULL;
    f->rows = f->column = NULL;
    return status;
}

static int write_file(file *f, gess_error *err)
{
    GESS_TRY(write_groups(f, f->run->draws, "posterior", "sample_stats", err));
    if (f->run->warmup_draws == NULL) return GESS_OK;
    return write_groups(f, f->run->warmup_draws, "warmup_posterior", "warmup_sample_stats", err);
}

int gess__export_netcdf(const gess__export *run, const char *path, gess_error *err)
{
    gess__partial partial = {0};
    file f = {.run = run, .path = path};
    int status = gess__partial_begin(&partial, path, run->overwrite, err);
    if (status == GESS_OK) {
        if (H5dont_atexit != NULL) H5dont_atexit();
        errno = 0;
        int code = nc_create(partial.temporary, NC_NETCDF4 | NC_NOCLOBBER, &f.root);
        if (code > 0) /* an errno */
            status = gess__fail(err, GESS_ERR_FILE, "cannot create %s: %s", path, strerror(code));
        else
            status = check(&f, code, err);
        if (status == GESS_OK) {
            status = write_file(&f, err);
            errno = 0;
            code = nc_close(f.root);
            if (status == GESS_OK) status = check(&f, code, err);
        }
    }
    if (status == GESS_OK) status = gess__partial_commit(&partial, err);
    gess__partial_end(&partial);
    return status;
}
