/* A whole run: sweeps, sinks and statistics. */
#ifndef GESS_RUN_RUN_H
#define GESS_RUN_RUN_H

#include "draws/store.h"
#include "ensemble/ensemble.h"

#include <stdatomic.h>

struct gess_run {
    const gess_model *model;  /* the caller's */
    gess_options options;     /* texts are the caller's */
    gess__team *team;
    gess__ensemble *ensemble;
    char *directory;          /* NULL: no files */
    gess__writer *writer;
    double *rows;             /* draws of one stretch */
    size_t capacity;          /* doubles in rows */
    gess_draw_fn *on_draw;
    void *on_draw_user;
    gess_progress_fn *on_progress;
    void *on_progress_user;
    atomic_int stop;
    uint64_t evals_warmup;
    double started, sampling_started; /* seconds, monotonic */
    gess_stats stats;
};

/* directory.c: makes the run directory, or refuses one that exists; config.json in it. */
int gess__directory_make(const char *directory, int overwrite, gess_error *err);
int gess__directory_path(const char *directory, const char *file, char *path, size_t size, gess_error *err);
int gess__config_write(const gess_run *run, gess_error *err);

#endif
