/* Sizes the chunks in which exporters read draws, and formats times. */
#include "export/export.h"

#include "base/assert.h"

enum { CHUNK_VALUES = 1 << 19 /* doubles: 4 MiB */ };

uint64_t gess__export_chunk(const gess__reader *draws, size_t chains)
{
    GESS_ASSERT(chains > 0 && chains <= draws->chains && draws->columns > 0);
    uint64_t chunk = CHUNK_VALUES / (chains * draws->columns);
    if (chunk > draws->draws) chunk = draws->draws;
    return chunk < 1 ? 1 : chunk;
}

void gess__export_time(time_t t, char text[32])
{
    struct tm parts;
    gmtime_r(&t, &parts);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%S+00:00", &parts);
}

const gess__circle *gess__export_circle(const gess__export *run, size_t column)
{
    return column < run->circles && gess__is_circle(&run->circle[column]) ? &run->circle[column] : NULL;
}
