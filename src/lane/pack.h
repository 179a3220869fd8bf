/* Fills in the frozen state for code of one chain from the sampler's own, and lists its arrays for those who copy them
 * to a device. */
#ifndef GESS_LANE_PACK_H
#define GESS_LANE_PACK_H

#include "execute/stretch.h"

struct gess__lane_frozen;

/* Memory that the frozen state points to: *at is where it lies, and becomes where a device has it. */
typedef struct gess__lane_array {
    const void **at;
    size_t bytes;
} gess__lane_array;

enum { GESS__LANE_MAX_ARRAYS = 128 };

/* Its pointers are those of the arguments, which stay the caller's. Returns false if code of one chain cannot run it:
 * an annealed target, or one without a density of one point. */
bool gess__lane_pack(struct gess__lane_frozen *frozen, const gess__target *target, const gess__stretch *with,
                     uint64_t seed);

/* Its arrays, at most GESS__LANE_MAX_ARRAYS; returns how many. */
size_t gess__lane_arrays(struct gess__lane_frozen *frozen, size_t numbers, gess__lane_array *arrays);

#endif
