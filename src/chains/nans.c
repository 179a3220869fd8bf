/* Inserts points with a NaN density in the order of (iteration, chain, angle), keeps the first few, and merges the
 * records of several workers. */
#include "chains/nans.h"

#include "base/assert.h"

#include <string.h>

void gess__nans_note(gess__nans *nans, size_t dim, uint64_t iteration, uint64_t chain, uint64_t angle,
                     const double *point)
{
    GESS_ASSERT(nans->points != NULL && nans->count <= GESS__NANS_KEPT);
    size_t at = nans->count;
    while (at > 0) {
        uint64_t i = nans->keys[at - 1].iteration, c = nans->keys[at - 1].chain, a = nans->keys[at - 1].angle;
        if (i < iteration || (i == iteration && (c < chain || (c == chain && a <= angle)))) break;
        at--;
    }
    if (at == GESS__NANS_KEPT) return;
    size_t last = nans->count < GESS__NANS_KEPT ? nans->count++ : GESS__NANS_KEPT - 1;
    memmove(&nans->keys[at + 1], &nans->keys[at], (last - at) * sizeof *nans->keys);
    memmove(nans->points + (at + 1) * dim, nans->points + at * dim, (last - at) * dim * sizeof *nans->points);
    nans->keys[at].iteration = iteration;
    nans->keys[at].chain = chain;
    nans->keys[at].angle = angle;
    memcpy(nans->points + at * dim, point, dim * sizeof *point);
}

void gess__nans_merge(gess__nans *to, size_t dim, const gess__nans *from)
{
    for (size_t i = 0; i < from->count; i++)
        gess__nans_note(to, dim, from->keys[i].iteration, from->keys[i].chain, from->keys[i].angle,
                        from->points + i * dim);
}

void gess__nans_archive(gess__nans *nans, size_t dim, gess__archive *a)
{
    GESS_ARCHIVE(a, &nans->count);
    if (nans->count > GESS__NANS_KEPT) a->bad = 1;
    GESS_ARCHIVE(a, &nans->keys);
    gess__archive_bytes(a, nans->points, GESS__NANS_KEPT * dim * sizeof *nans->points);
}
