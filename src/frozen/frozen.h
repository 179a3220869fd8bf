/* Everything that sampling needs beside the chains, as one type: the learned map, the approximation T and the mix of
 * moves.
 *
 * Warm-up changes it, sampling does not. It is saved in checkpoints and sent to other ranks whole. */
#ifndef GESS_FROZEN_FROZEN_H
#define GESS_FROZEN_FROZEN_H

#include "kernel/kernel.h"

typedef struct gess__frozen {
    gess__learned *map;         /* the target's, borrowed: densities are evaluated through it; NULL: none is learned */
    gess__reference *reference; /* the target's, borrowed: densities are annealed with it; NULL: they never are */
    gess__approx *approx;       /* the one multivariate t: T itself, unless there is a mixture of several components */
    gess__mixture *mixture;     /* NULL: T never has more than one component */
    gess__move_mix moves;
} gess__frozen;

/* N(0, I) as T; the target's map and reference stay its own; `mixture`: with room for a mixture. */
int gess__frozen_new(gess__frozen *frozen, const gess__target *target, int mixture, gess_error *err);
void gess__frozen_free(gess__frozen *frozen);

/* T if it is a mixture of more than one component, otherwise NULL. */
const gess__mixture *gess__frozen_mixture(const gess__frozen *frozen);

/* The whole frozen state; the archive is bad if its values are impossible. */
void gess__frozen_archive(gess__frozen *frozen, gess__archive *archive);

/* Only one T; the archive is bad if no point could be drawn from it. */
void gess__frozen_archive_approx(gess__approx *approx, gess__archive *archive);

#endif
