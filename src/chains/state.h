/* The state of every chain: its point in the sampling space (transform/target.h), the log density there and the blobs
 * that came with it, the numbers that the kernel keeps for it, sums of δ and log T since warm-up, the points
 * evaluated for it that stand out, the last ones (its trail), and its power under tempering. */
#ifndef GESS_CHAINS_STATE_H
#define GESS_CHAINS_STATE_H

#include "base/archive.h"
#include "base/status.h"

#include <stdint.h>

/* Points of a chain that are kept as its trail, in up to GESS__TRAIL_MAX_DIM dimensions; otherwise none are. */
enum { GESS__TRAIL_POINTS = 128, GESS__TRAIL_MAX_DIM = 4 };

typedef struct gess__chains {
    size_t count, dim;
    size_t state_size;     /* doubles per chain that the kernel keeps */
    size_t blob_count;     /* blobs per chain; 0: none */
    double *x;             /* count × dim: the points */
    double *value;         /* count: log density in the sampling space */
    double *blobs;         /* count × blob_count, or NULL: the model's further numbers for the points */
    double *kernel_state;  /* count × state_size: what the kernel keeps between updates, zero at first */
    double *deltas;        /* count, or NULL: δ under T, summed over updates since warm-up */
    double *log_ts;        /* count, or NULL: log T without its constants, likewise */
    double *peak;          /* count: the highest log density evaluated since it was last taken, accepted or not */
    double *peak_at;       /* count × dim: the point there */
    double *level;         /* count: the highest log π − log T evaluated since then */
    double *level_value;   /* count: the log density there */
    double *level_at;      /* count × dim: the point there */
    size_t trail_points;   /* per chain that are kept as its trail */
    uint64_t *trail_count; /* count: points that were evaluated for a chain since its trail was taken */
    double *trail;         /* count × trail_points × (dim + 1): the last of them and the log densities there */
    double *powers;        /* count, or NULL: a chain samples the density raised to its power (kernel/tempered.h) */
    uint32_t first;        /* number of chain 0, for random keys */
} gess__chains;

/* Allocates the arrays for chains->count chains of chains->dim, ->state_size and ->blob_count; powers if `tempered`. */
int gess__chains_new(gess__chains *chains, int tempered, gess_error *err);
void gess__chains_free(gess__chains *chains);

/* Adds an evaluated point of a chain to its trail, where one is kept. */
void gess__chains_note_trail(gess__chains *chains, size_t chain, const double *point, double value);

/* The chain whose log density is higher than those of all but `rank` others, a few: of equal ones, the first. */
size_t gess__chain_of_rank(const gess__chains *chains, size_t rank);

/* Forgets the highest points and trails: they were taken, or densities have changed. */
void gess__chains_forget_peaks(gess__chains *chains);

/* Writes the states of chains first .. first + count - 1 to an archive, or reads them. */
void gess__chains_archive(gess__chains *chains, size_t first, size_t count, gess__archive *archive);

#endif
