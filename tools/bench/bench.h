/* The benchmarks of `gess bench`: one file and one row of benches.def per benchmark.
 *
 * Benchmarks of speed report ratios of times that were measured in one run, with the raw times, and verify results
 * before they time. Benchmarks of the method (efficiency, cost, scaling, reference) count evaluations; they take long,
 * so they run only by name. */
#ifndef GESS_BENCH_BENCH_H
#define GESS_BENCH_BENCH_H

#include "base/clock.h"
#include "schedule/schedule.h"

#include <jansson.h>
#include <stdio.h>

/* The options of `gess bench`; 0 and NULL: the default of the benchmark. */
typedef struct gess__bench_options {
    const char *models;   /* specifications, separated by commas */
    const char *samplers; /* gess, emcee, zeus, separated by commas; NULL: all that are installed */
    const char *settings; /* options of gess runs, NAME=VALUE, separated by commas */
    const char *output;   /* folder for the files that a benchmark writes */
    uint64_t seeds, evals;
    int quick;  /* a small setting, to check that it works */
    FILE *text; /* gets the table, line by line; NULL: none */
} gess__bench_options;

/* One line of a benchmark's table. */
typedef struct gess__bench_row {
    char what[96];
    double seconds;   /* measured; NaN: the line is a figure, not a ratio of times */
    double reference; /* seconds of the reference */
    double ratio;
    double goal; /* the ratio to reach; NaN: none */
    int more_is_better;
} gess__bench_row;

enum { GESS__BENCH_ROWS = 128 };

typedef struct gess__bench_result {
    size_t count;
    gess__bench_row rows[GESS__BENCH_ROWS];
} gess__bench_result;

typedef struct gess__bench {
    const char *name, *help;
    /* a benchmark of speed has `run`, one of the method `table`; the other one is NULL */
    int (*run)(const gess__bench_options *options, gess__bench_result *result, gess_error *err);
    int (*table)(const gess__bench_options *options, json_t **json, gess_error *err);
} gess__bench;

/* Row i of the table; NULL past the end. */
const gess__bench *gess__bench_row_of(size_t i);

/* Adds a line; the ratio is seconds / reference, or its inverse if more is better. */
void gess__bench_add(gess__bench_result *result, double seconds, double reference, double goal, int more_is_better,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Adds a line with a figure that is not a ratio of times. */
void gess__bench_figure(gess__bench_result *result, double value, double goal, int more_is_better, const char *format,
                        ...) __attribute__((format(printf, 5, 6)));

/* The median of n values; sorts them. */
double gess__bench_median(size_t n, double *values);

/* A checksum of a segment's draws with their chains and places. The sum over segments is the same for equal draws,
 * however they are divided into segments. */
uint64_t gess__bench_checksum(const gess__segment *segment, size_t columns);

/* A list of items separated by commas, as in gess__bench_options. The items are copies. A piece `key=value` without a
 * colon belongs to the item before it, so `wishart:dim=5,seed=2,funnel` has two items. */
enum { GESS__BENCH_ITEMS = 32, GESS__BENCH_ITEM = 128 };
typedef struct gess__bench_list {
    size_t count;
    char item[GESS__BENCH_ITEMS][GESS__BENCH_ITEM];
} gess__bench_list;
int gess__bench_split(const char *text, gess__bench_list *list, gess_error *err);
int gess__bench_has(const gess__bench_list *list, const char *item);

/* Prints to the table, if there is one. */
void gess__bench_say(const gess__bench_options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The path of a file of bench/, in the source tree or where gess is installed. */
int gess__bench_file(const char *name, char *path, size_t size, gess_error *err);

/* The machine and the build, for reports: version, commit of the source tree (null: unknown), processor, cores,
 * instruction set, linear algebra, compiler. */
json_t *gess__bench_machine(void);

/* A number for JSON; null if it is NaN or infinite. */
json_t *gess__bench_number(double value);

/* ---- densities for benchmarks (densities.c) ---- */

/* Wraps a model and counts its calls, points and seconds. */
typedef struct gess__timed {
    gess_model model;
    gess_model *inner;
    uint64_t repeats;   /* evaluations of the inner model per evaluation; point by point if there are several */
    double start_scale; /* chains start at standard normals times this; 0: where the inner model says */
    uint32_t *batches;  /* sizes of the first `room` calls; or NULL */
    size_t room;
    char apart[128]; /* the fields below change at every call of worker 0, so they have separate cache lines */
    uint64_t points;
    double seconds;
    size_t calls;
    char end[128];
} gess__timed;

void gess__timed_init(gess__timed *timed, gess_model *inner, uint64_t repeats);

/* Chains start at standard normals times `scale`. */
void gess__timed_start_at(gess__timed *timed, double scale);

/* Sets `repeats` so that a point takes about `seconds`. */
int gess__timed_calibrate(gess__timed *timed, double seconds, gess_error *err);

#endif
