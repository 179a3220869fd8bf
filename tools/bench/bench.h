/* Benchmarks: a file and a row of benches.def each.
 *
 * Those of speed give ratios of times measured in one run, raw times beside them, and verify before they
 * time. Those of the method (efficiency, cost, scaling, reference) count evaluations; they take long, so
 * they run only when they are named. */
#ifndef GESS_BENCH_BENCH_H
#define GESS_BENCH_BENCH_H

#include "base/clock.h"
#include "schedule/schedule.h"

#include <jansson.h>
#include <stdio.h>

/* What the benchmarks of the method can be told; 0 and NULL: the benchmark's own choice. */
typedef struct gess__bench_options {
    const char *models;   /* specifications, separated by commas */
    const char *samplers; /* gess, emcee, zeus, separated by commas; NULL: those that can be run */
    const char *settings; /* options of gess runs, NAME=VALUE, separated by commas */
    const char *output;   /* folder for files that a benchmark makes */
    uint64_t seeds, evals;
    int quick;  /* the smallest setting that shows that it works */
    FILE *text; /* where the table goes, line by line; NULL: nowhere */
} gess__bench_options;

/* One line of a benchmark's table. */
typedef struct gess__bench_row {
    char what[96];
    double seconds;   /* of what is measured; NaN where the line is a figure by itself */
    double reference; /* seconds of what it is compared with */
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
    /* of speed; or NULL, and instead `table` */
    int (*run)(const gess__bench_options *options, gess__bench_result *result, gess_error *err);
    int (*table)(const gess__bench_options *options, json_t **json, gess_error *err);
} gess__bench;

/* Row i of the table, NULL past the end. */
const gess__bench *gess__bench_row_of(size_t i);

/* Adds a line; ratio = seconds / reference where less is better, the inverse otherwise. */
void gess__bench_add(gess__bench_result *result, double seconds, double reference, double goal, int more_is_better,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Adds a line that is a figure by itself, not a ratio of times. */
void gess__bench_figure(gess__bench_result *result, double value, double goal, int more_is_better, const char *format,
                        ...) __attribute__((format(printf, 5, 6)));

/* The median of n values, which are sorted for it. */
double gess__bench_median(size_t n, double *values);

/* A number made of every bit of a segment's draws, their chains and places: sums of these are equal for
 * equal draws, in whatever portions they come. */
uint64_t gess__bench_checksum(const gess__segment *segment, size_t columns);

/* Lists as in gess__bench_options (bench.c). The items are copies; a piece `key=value` without a colon
 * belongs to the item before it, so that `wishart:dim=5,seed=2,funnel` is two. */
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

/* What figures were measured on: version, commit of the source tree (null where there is none), processor, cores,
 * instruction set, BLAS, compiler. */
json_t *gess__bench_machine(void);

/* A number for JSON, which has no NaN and no infinity: null. */
json_t *gess__bench_number(double value);

/* ---- densities for benchmarks (densities.c) ---- */

/* A model that counts its calls and points, and the seconds inside it, on top of another. */
typedef struct gess__timed {
    gess_model model;
    const gess_model *inner;
    uint64_t repeats;   /* evaluations of the inner model for one of this; point by point where there are several */
    double start_scale; /* chains start at standard normals times this; 0: as the inner model says */
    uint32_t *batches;  /* the sizes of the calls, as long as there is room; or NULL */
    size_t room;
    char apart[128]; /* what follows is written at every call, by one worker: on cache lines of its own */
    uint64_t points;
    double seconds;
    size_t calls;
    char end[128];
} gess__timed;

void gess__timed_init(gess__timed *timed, const gess_model *inner, uint64_t repeats);

/* Chains start at standard normals times `scale`. */
void gess__timed_scatter(gess__timed *timed, double scale);

/* How many repeats of the inner model take about `seconds` a point. */
int gess__timed_calibrate(gess__timed *timed, double seconds, gess_error *err);

#endif
