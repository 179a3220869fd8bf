/* Benchmarks: everything as ratios of times measured in one run, raw times beside them, and each
 * verified before it is timed. A benchmark is one file and one row of benches.def. */
#ifndef GESS_BENCH_BENCH_H
#define GESS_BENCH_BENCH_H

#include "base/clock.h"
#include "ensemble/ensemble.h"

/* One line of a benchmark's table. */
typedef struct gess__bench_row {
    char what[96];
    double seconds;   /* of what is measured */
    double reference; /* seconds of what it is compared with */
    double ratio;
    double goal; /* the ratio to reach; NaN: none */
    int more_is_better;
} gess__bench_row;

enum { GESS__BENCH_ROWS = 64 };

typedef struct gess__bench_result {
    size_t count;
    gess__bench_row rows[GESS__BENCH_ROWS];
} gess__bench_result;

typedef struct gess__bench {
    const char *name, *help;
    int (*run)(gess__bench_result *result, gess_error *err);
} gess__bench;

/* Row i of the table, NULL past the end. */
const gess__bench *gess__bench_row_of(size_t i);

/* Adds a line; ratio = seconds / reference where less is better, the inverse otherwise. */
void gess__bench_add(gess__bench_result *result, double seconds, double reference, double goal, int more_is_better,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));

/* A number made of every bit of a segment's draws, their chains and places: sums of these are equal for
 * equal draws, in whatever portions they come. */
uint64_t gess__bench_checksum(const gess__segment *segment, size_t columns);

/* ---- densities for benchmarks (densities.c) ---- */

/* A model that counts its calls and points, and the seconds inside it, on top of another. */
typedef struct gess__timed {
    gess_model model;
    const gess_model *inner;
    uint64_t repeats; /* evaluations of the inner model for one of this */
    uint64_t points;
    double seconds; /* one worker only */
} gess__timed;

void gess__timed_init(gess__timed *timed, const gess_model *inner, uint64_t repeats);

/* How many repeats of the inner model take about `seconds` a point, in batches of `batch`. */
int gess__timed_calibrate(gess__timed *timed, double seconds, size_t batch, gess_error *err);

#endif
