/* The exporter `emcee`: the layout of emcee's HDFBackend (emcee 3.1), a group `mcmc` with chain (step, walker, dim),
 * log_prob (step, walker), accepted (walker) and, if there are derived quantities or blobs, blobs (step, walker) with
 * both. emcee has no place for names; they are in parameter_names and derived_names beside the group. */
#include "base/mem.h"
#include "export/atomic_file.h"
#include "export/registry.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char layout[] = "3.1.6"; /* emcee's version, as its files say */

typedef struct file {
    const gess__export *run;
    const char *path;
    hid_t root, group, chain, log_prob, blobs; /* negative: not open */
    size_t dim, derived;
    uint64_t chunk;       /* draws per chain */
    double *rows, *piece; /* a chunk: as read, and columns of it in the order of a dataset */
    double *accepted;     /* per walker: accepted moves so far */
    double *last;         /* per walker: parameters of the draw before, dim each */
} file;

/* HDF5 returns a negative number if something failed, and leaves the cause in errno at best. */
static int check(const file *f, int64_t result, gess_error *err)
{
    if (result >= 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", f->path,
                      errno != 0 ? strerror(errno) : "HDF5 does not say why");
}

#define H5_TRY(f, call, err) GESS_TRY(check((f), (errno = 0, (int64_t)(call)), (err)))

/* ---- attributes and names ---- */

static int put_attribute(const file *f, const char *name, hid_t type, const void *value, gess_error *err)
{
    hid_t space = H5Screate(H5S_SCALAR), attribute = H5Acreate2(f->group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    errno = 0;
    herr_t code = attribute < 0 ? -1 : H5Awrite(attribute, type, value);
    if (attribute >= 0) H5Aclose(attribute);
    H5Sclose(space);
    return check(f, code, err);
}

/* Text of any length in UTF-8, as h5py writes it. */
static hid_t text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

/* h5py's bool. */
static hid_t bool_type(void)
{
    hid_t type = H5Tenum_create(H5T_STD_I8LE);
    H5Tenum_insert(type, "FALSE", &(signed char){0});
    H5Tenum_insert(type, "TRUE", &(signed char){1});
    return type;
}

static int put_attributes(const file *f, gess_error *err)
{
    int64_t iteration = (int64_t)f->run->draws->draws, walkers = (int64_t)f->run->draws->chains, dim = (int64_t)f->dim;
    const char *version = layout;
    signed char has_blobs = f->derived > 0;
    hid_t text = text_type(), boolean = bool_type();
    int status = put_attribute(f, "version", text, &version, err);
    if (status == GESS_OK) status = put_attribute(f, "nwalkers", H5T_NATIVE_INT64, &walkers, err);
    if (status == GESS_OK) status = put_attribute(f, "ndim", H5T_NATIVE_INT64, &dim, err);
    if (status == GESS_OK) status = put_attribute(f, "iteration", H5T_NATIVE_INT64, &iteration, err);
    if (status == GESS_OK) status = put_attribute(f, "has_blobs", boolean, &has_blobs, err);
    H5Tclose(boolean);
    H5Tclose(text);
    return status;
}

/* Names of columns first … first + count − 1. */
static int put_names(const file *f, const char *name, size_t first, size_t count, gess_error *err)
{
    if (count == 0) return GESS_OK;
    hsize_t length = count;
    hid_t text = text_type(), space = H5Screate_simple(1, &length, NULL);
    errno = 0;
    hid_t set = H5Dcreate2(f->root, name, text, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    herr_t code = set < 0 ? -1 : H5Dwrite(set, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, f->run->draws->names + first);
    if (set >= 0 && H5Dclose(set) < 0) code = -1;
    H5Sclose(space);
    H5Tclose(text);
    return check(f, code, err);
}

/* A small dataset of doubles, rows × columns, or `rows` of them if columns is 0. */
static int put_doubles(const file *f, hid_t where, const char *name, size_t rows, size_t columns, const double *values,
                       gess_error *err)
{
    hsize_t size[2] = {rows, columns};
    hid_t space = H5Screate_simple(columns > 0 ? 2 : 1, size, NULL);
    errno = 0;
    hid_t set = H5Dcreate2(where, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    herr_t code = set < 0 ? -1 : H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    if (set >= 0 && H5Dclose(set) < 0) code = -1;
    H5Sclose(space);
    return check(f, code, err);
}

/* The bounds of periodic parameters, NaN for others; nothing if there are none. */
static int put_periodic(const file *f, gess_error *err)
{
    double *bounds = NULL;
    size_t found = 0;
    GESS_ALLOC(&bounds, 2 * f->dim, err);
    for (size_t i = 0; i < f->dim; i++) {
        const gess__circle *circle = gess__export_circle(f->run, i + 1);
        found += circle != NULL;
        bounds[2 * i] = circle != NULL ? circle->lower : NAN;
        bounds[2 * i + 1] = circle != NULL ? circle->upper : NAN;
    }
    int status = found > 0 ? put_doubles(f, f->root, "parameter_periodic", f->dim, 2, bounds, err) : GESS_OK;
    free(bounds);
    return status;
}

/* Counts accepted moves: the draws of each walker whose parameters differ from those of its draw before. f->rows has n
 * draws; f->last has the parameters of the draws before them, unless these are the first. */
static void count_moves(const file *f, bool first, uint64_t n)
{
    const gess__reader *d = f->run->draws;
    size_t bytes = f->dim * sizeof(double);
    for (size_t c = 0; c < d->chains; c++)
        for (uint64_t i = 0; i < n; i++) {
            const double *now = f->rows + (c * n + i) * d->columns + 1;
            if (!(first && i == 0)) f->accepted[c] += memcmp(f->last + c * f->dim, now, bytes) != 0;
            memcpy(f->last + c * f->dim, now, bytes);
        }
}

/* ---- datasets ---- */

/* A dataset of (step, walker) or, if last > 0, (step, walker, last), which can grow along its steps. */
static int make_set(const file *f, const char *name, hid_t type, size_t last, hid_t *set, gess_error *err)
{
    enum { MAX_CHUNK = 1 << 26 }; /* doubles; HDF5 takes at most 4 GiB */
    const gess__reader *d = f->run->draws;
    int rank = last > 0 ? 3 : 2;
    hsize_t size[3] = {d->draws, d->chains, last}, limit[3] = {H5S_UNLIMITED, d->chains, last};
    hsize_t chunk[3] = {f->chunk, d->chains, last};
    size_t doubles_per_element = H5Tget_size(type) / sizeof(double);
    while (chunk[1] > 1 && chunk[0] * chunk[1] * (last > 0 ? last : 1) * doubles_per_element > MAX_CHUNK)
        chunk[1] = (chunk[1] + 1) / 2;
    hid_t space = H5Screate_simple(rank, size, limit), creation = H5Pcreate(H5P_DATASET_CREATE);
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk(creation, rank, chunk);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    H5Pset_chunk_cache(access, 1, 0, 0.0); /* a chunk is written once and whole */
    errno = 0;
    *set = H5Dcreate2(f->group, name, type, space, H5P_DEFAULT, creation, access);
    H5Pclose(access);
    H5Pclose(creation);
    H5Sclose(space);
    return check(f, *set, err);
}

/* Several derived quantities are one element of array type, as emcee has them. */
static hid_t blob_type(size_t derived)
{
    hsize_t length = derived;
    return derived == 1 ? H5Tcopy(H5T_NATIVE_DOUBLE) : H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &length);
}

static int make_sets(file *f, gess_error *err)
{
    errno = 0;
    f->group = H5Gcreate2(f->root, "mcmc", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    GESS_TRY(check(f, f->group, err));
    GESS_TRY(put_attributes(f, err));
    GESS_TRY(make_set(f, "chain", H5T_NATIVE_DOUBLE, f->dim, &f->chain, err));
    GESS_TRY(make_set(f, "log_prob", H5T_NATIVE_DOUBLE, 0, &f->log_prob, err));
    if (f->derived > 0) {
        hid_t type = blob_type(f->derived);
        int status = make_set(f, "blobs", type, 0, &f->blobs, err);
        H5Tclose(type);
        GESS_TRY(status);
    }
    GESS_TRY(put_names(f, "parameter_names", 1, f->dim, err));
    GESS_TRY(put_periodic(f, err));
    return put_names(f, "derived_names", 1 + f->dim, f->derived, err);
}

/* Columns first … first + count − 1 of n draws from `start` on: (chain, draw) becomes (step, walker). */
static int put_columns(const file *f, hid_t set, uint64_t start, uint64_t n, size_t first, size_t count,
                       gess_error *err)
{
    const gess__reader *d = f->run->draws;
    for (size_t c = 0; c < d->chains; c++)
        for (uint64_t i = 0; i < n; i++)
            memcpy(f->piece + (i * d->chains + c) * count, f->rows + (c * n + i) * d->columns + first,
                   count * sizeof *f->piece);
    hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    int rank = H5Sget_simple_extent_ndims(space);
    hsize_t at[3] = {start, 0, 0}, size[3] = {n, d->chains, count};
    hid_t memory = H5Screate_simple(rank, size, NULL);
    errno = 0;
    herr_t code = H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, size, NULL);
    if (code >= 0) code = H5Dwrite(set, type, memory, space, H5P_DEFAULT, f->piece);
    int status = check(f, code, err);
    H5Sclose(memory);
    H5Tclose(type);
    H5Sclose(space);
    return status;
}

static int put_draws(const file *f, gess_error *err)
{
    const gess__reader *d = f->run->draws;
    for (uint64_t first = 0; first < d->draws; first += f->chunk) {
        uint64_t n = d->draws - first < f->chunk ? d->draws - first : f->chunk;
        GESS_TRY(gess__reader_rows(d, 0, d->chains, first, n, f->rows, err));
        count_moves(f, first == 0, n);
        GESS_TRY(put_columns(f, f->chain, first, n, 1, f->dim, err));
        GESS_TRY(put_columns(f, f->log_prob, first, n, 0, 1, err));
        if (f->derived > 0) GESS_TRY(put_columns(f, f->blobs, first, n, 1 + f->dim, f->derived, err));
    }
    return GESS_OK;
}

static int write_file(file *f, gess_error *err)
{
    const gess__reader *d = f->run->draws;
    GESS_ALLOC(&f->rows, d->chains * (size_t)f->chunk * d->columns, err);
    GESS_ALLOC(&f->piece, d->chains * (size_t)f->chunk * d->columns, err);
    GESS_ALLOC(&f->accepted, d->chains, err);
    GESS_ALLOC(&f->last, d->chains * f->dim, err);
    GESS_TRY(make_sets(f, err));
    GESS_TRY(put_draws(f, err));
    return put_doubles(f, f->group, "accepted", d->chains, 0, f->accepted, err);
}

static int close_file(const file *f, int status, gess_error *err)
{
    herr_t code = 0;
    errno = 0;
    if (f->blobs >= 0 && H5Dclose(f->blobs) < 0) code = -1;
    if (f->log_prob >= 0 && H5Dclose(f->log_prob) < 0) code = -1;
    if (f->chain >= 0 && H5Dclose(f->chain) < 0) code = -1;
    if (f->group >= 0 && H5Gclose(f->group) < 0) code = -1;
    if (H5Fclose(f->root) < 0) code = -1;
    return status != GESS_OK ? status : check(f, code, err);
}

int gess__export_emcee(const gess__export *run, const char *path, gess_error *err)
{
    gess__partial partial = {0};
    const gess__reader *d = run->draws;
    file f = {.run = run,
              .path = path,
              .root = -1,
              .group = -1,
              .chain = -1,
              .log_prob = -1,
              .blobs = -1,
              .dim = run->dim,
              .derived = d->columns - 1 - run->dim,
              .chunk = gess__export_chunk(d, d->chains)};
    int status = gess__partial_begin(&partial, path, run->overwrite, err);
    if (status == GESS_OK) {
        /* after a failed write, HDF5 (1.10.8 at least) tries again when the process exits, and crashes */
        H5dont_atexit();
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* the messages are our own */
        errno = 0;
        f.root = H5Fcreate(partial.temporary, H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT);
        status = check(&f, f.root, err);
        if (status == GESS_OK) status = close_file(&f, write_file(&f, err), err);
    }
    if (status == GESS_OK) status = gess__partial_commit(&partial, err);
    gess__partial_end(&partial);
    free(f.rows);
    free(f.piece);
    free(f.accepted);
    free(f.last);
    return status;
}
