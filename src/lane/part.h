/* A device with its memory, and its part of a stretch: some of the chains, which device.c has it run in launches. */
#ifndef GESS_LANE_PART_H
#define GESS_LANE_PART_H

#include "execute/ensemble.h"
#include "lane/device.h"

/* What the memory of a device holds. */
enum gess__unit_slot {
    GESS__UNIT_FROZEN,
    GESS__UNIT_X,
    GESS__UNIT_VALUE,
    GESS__UNIT_Z,
    GESS__UNIT_DELTAS,
    GESS__UNIT_LOG_TS,
    GESS__UNIT_PEAK,
    GESS__UNIT_PEAK_AT,
    GESS__UNIT_LEVEL,
    GESS__UNIT_LEVEL_VALUE,
    GESS__UNIT_LEVEL_AT,
    GESS__UNIT_TRAIL_COUNT,
    GESS__UNIT_TRAIL,
    GESS__UNIT_ROWS,
    GESS__UNIT_POINTS,
    GESS__UNIT_VALUES,
    GESS__UNIT_EVENTS,
    GESS__UNIT_EVENT_POINTS,
    GESS__UNIT_COUNTS,
    GESS__UNIT_NUMBERS,
    GESS__UNIT_SLOTS
};

typedef struct gess__memory {
    void *at;
    size_t bytes;
} gess__memory;

typedef struct gess__unit {
    gess__backend *backend;
    gess__memory slots[GESS__UNIT_SLOTS];
    gess__memory host; /* staging */
} gess__unit;

/* The part of a stretch that is under way on a unit. */
typedef struct gess__part {
    gess__unit *unit;
    gess__ensemble *e;
    gess__stretch *stretch;
    const gess__record *record;
    gess__lane_job job;
    gess__lane_shape shape;
    size_t first, count, dim; /* its chains; of the sampling space */
    size_t keep;              /* of its chains, the first whose draws are kept */
    uint64_t evals, updates;  /* of the last launch */
    int status;               /* of a launch on a thread of its own */
    gess_error error;
} gess__part;

/* At least `bytes` of the device's memory in a slot; what it held is lost if it grows. */
int gess__unit_room(gess__unit *unit, enum gess__unit_slot slot, size_t bytes, void **at, gess_error *err);
void gess__unit_free(gess__unit *unit);

/* The same of the processor's memory. */
int gess__memory_room(gess__memory *memory, size_t bytes, void **at, gess_error *err);

/* Copies the frozen state and the chains to the device, and the chains back. */
int gess__part_begin(gess__part *part, gess_error *err);
int gess__part_end(gess__part *part, gess_error *err);

/* Room on the device for what a launch gives back. */
int gess__part_prepare(gess__part *part, uint64_t draws, uint64_t points, gess_error *err);

/* What a launch has brought: counts into the ensemble's tally, NaN (or the error of +inf), points for warm-up. */
int gess__part_take(gess__part *part, uint64_t points, gess_error *err);

/* Draws of the chains whose draws are kept. */
int gess__part_rows(gess__part *part, uint64_t draws, double *rows, gess_error *err);

#endif
