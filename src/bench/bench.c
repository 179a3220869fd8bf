#include "bench/bench.h"

#include "base/vmath.h"

#include <stdarg.h>
#include <stdio.h>

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

uint64_t gess__bench_checksum(const gess__segment *s, size_t columns)
{
    uint64_t sum = 0;
    for (size_t c = 0; c < s->count; c++)
        for (uint64_t i = 0; i < s->draws; i++)
            for (size_t j = 0; j < columns; j++) {
                uint64_t place = ((s->first_draw + i) * 1000003 + s->first + c) * 1009 + j;
                sum += gess__bits(s->rows[(c * s->draws + i) * columns + j]) * (2 * place + 1);
            }
    return sum;
}
