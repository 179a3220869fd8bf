/* Levels of points, chunk by chunk, and which of them stand out. */
#include "explore/levels.h"

#include "base/assert.h"
#include "base/sort.h"
#include "base/vmath.h"

#include <math.h>

enum { CHUNK = 64 };

/* A point stands out if its level exceeds the median by more than SPREADS times what the highest tenth does, and by
 * more than NOISE; by MAX_EXCESS it does in any case. */
#define SPREADS 4.0
#define NOISE 0.01
#define MAX_EXCESS 1.0

size_t gess__levels_scratch(size_t dim)
{
    return gess__mixture_scratch(dim, CHUNK) + CHUNK;
}

void gess__set_levels(const gess__mixture *t, size_t n, const double *points, const double *values, double *levels,
                      double *scratch)
{
    double *log_t = scratch;
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t some = n - done < CHUNK ? n - done : CHUNK;
        gess__mixture_log_ts(t, some, points + done * t->dim, log_t, scratch + CHUNK);
        for (size_t i = 0; i < some; i++) levels[done + i] = values[done + i] - log_t[i];
    }
}

gess__level_limit gess__level_limits(size_t n, double *levels)
{
    GESS_ASSERT(n > 0);
    gess__sort(n, levels);
    double typical = levels[n / 2], spread = levels[n - 1 - n / 10] - typical;
    return (gess__level_limit){typical, typical + gess__min(SPREADS * spread + NOISE, MAX_EXCESS)};
}
