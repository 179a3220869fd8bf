#include "bench/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define GESS_BENCH(name) extern const gess__bench gess__bench_##name;
#include "bench/benches.def"
#undef GESS_BENCH

static const gess__bench *const table[] = {
#define GESS_BENCH(name) &gess__bench_##name,
#include "bench/benches.def"
#undef GESS_BENCH
};

const gess__bench *gess__bench_row_of(size_t i)
{
    return i < sizeof table / sizeof *table ? table[i] : NULL;
}

void gess__bench_add(gess__bench_result *result, double seconds, double reference, double goal, int more_is_better,
                     const char *format, ...)
{
    if (result->count == GESS__BENCH_ROWS) return;
    gess__bench_row *row = &result->rows[result->count++];
    va_list args;
    va_start(args, format);
    vsnprintf(row->what, sizeof row->what, format, args);
    va_end(args);
    row->seconds = seconds;
    row->reference = reference;
    row->ratio = more_is_better ? reference / seconds : seconds / reference;
    row->goal = goal;
    row->more_is_better = more_is_better;
}

double gess__bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
