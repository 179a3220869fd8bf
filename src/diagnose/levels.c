/* Computes the levels of chains from the ordered values of lp__, and the distances by which they are compared. */
#include "diagnose/levels.h"

#include "base/assert.h"
#include "base/sort.h"
#include "base/vmath.h"

#include <math.h>

#define NEAR_NATS 10.0
#define NEAR_SPREADS 3.0
#define FAR_NATS 100.0
#define FAR_SPREADS 10.0

/* R's quantile of type 7 of sorted values. */
static double quantile(size_t n, const double *x, double p)
{
    double at = p * (double)(n - 1);
    size_t below = (size_t)at;
    return below + 1 < n ? x[below] + (at - (double)below) * (x[below + 1] - x[below]) : x[n - 1];
}

void gess__level_of(size_t n, double *x, gess__level *level)
{
    GESS_ASSERT(n > 0);
    *level = (gess__level){NAN, NAN};
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return;
    gess__sort(n, x);
    *level =
        (gess__level){.median = quantile(n, x, 0.5), .spread = (quantile(n, x, 0.75) - quantile(n, x, 0.25)) / 1.349};
}

bool gess__levels_compare(size_t count, const gess__level *level, double *scratch, gess__levels *levels)
{
    double *medians = scratch, *spreads = scratch + count, largest = 0.0;
    if (count < 2) return false;
    for (size_t c = 0; c < count; c++) {
        if (!isfinite(level[c].median) || !isfinite(level[c].spread)) return false;
        medians[c] = level[c].median;
        spreads[c] = level[c].spread;
    }
    gess__sort(count, medians);
    gess__sort(count, spreads);
    double lowest = medians[count - (count + 7) / 8]; /* of the highest eighth */
    for (size_t c = 0; c < count; c++)
        if (level[c].median >= lowest) largest = gess__max(largest, level[c].spread);
    double spread = gess__min(largest, quantile(count, spreads, 0.5));
    *levels = (gess__levels){.highest = medians[count - 1],
                             .near = gess__max(NEAR_NATS, NEAR_SPREADS * spread),
                             .far = gess__max(FAR_NATS, FAR_SPREADS * spread)};
    return true;
}

bool gess__level_is_high(const gess__levels *levels, const gess__level *level)
{
    return level->median >= levels->highest - levels->near;
}

bool gess__level_is_far(const gess__levels *levels, const gess__level *level)
{
    return level->median < levels->highest - levels->far;
}
