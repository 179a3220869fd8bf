/* A whole run: warm-up, sampling, sinks, stop rules and statistics. */
#ifndef GESS_RUN_RUN_H
#define GESS_RUN_RUN_H

#include "draws/store.h"
#include "ensemble/ensemble.h"
#include "run/watch.h"

#include <jansson.h>
#include <stdatomic.h>

struct gess_run {
    const gess_model *model; /* the caller's */
    gess_options options;    /* texts are the caller's */
    gess__team *team;
    size_t ensembles;
    gess__ensemble **ensemble;
    size_t present;  /* ensemble that is being run */
    char *directory; /* NULL: no files */
    gess__writer *writer;
    gess__watch *watch; /* NULL where the number of draws is given */
    gess_draw_fn *on_draw;
    void *on_draw_user;
    gess_progress_fn *on_progress;
    void *on_progress_user;
    atomic_int stop;
    int out_of_time;
    uint64_t planned;      /* iterations in all, 0: not known */
    uint64_t evals_before; /* of the ensembles that are not being run */
    uint64_t evals_warmup;
    double started, sampling_started; /* seconds, monotonic */
    gess_stats stats;
};

/* directory.c: makes the run directory, or refuses one that exists; config.json in it. */
int gess__directory_make(const char *directory, int overwrite, gess_error *err);
int gess__directory_path(const char *directory, const char *file, char *path, size_t size, gess_error *err);
int gess__directory_json(const char *directory, const char *file, json_t *root, gess_error *err); /* takes root */
int gess__config_write(const gess_run *run, gess_error *err);

/* nans.csv: the first points at which the density was NaN, where there are any. */
int gess__nans_write(const gess_run *run, gess_error *err);

/* log.txt of the run directory: one line, with the seconds since the run began. */
void gess__run_log(const gess_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
