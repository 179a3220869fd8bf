/* The independence move (W. K. Hastings, Biometrika 57 (1970), section 2.5): a point drawn from T itself, taken
 * with probability min(1, π(x')T(x) / π(x)T(x')).
 *
 * If T is close to the target, one evaluation gives a fresh draw whatever the present point is, so that chains pass
 * between the modes that T covers. If T is far from the target, proposals are rejected. A point where T is far too
 * small holds a chain for long; the elliptical updates between independence moves free it. Whether an iteration is an
 * independence move depends only on its number. */
#ifndef GESS_KERNEL_INDEPENDENCE_H
#define GESS_KERNEL_INDEPENDENCE_H

#include "kernel/kernel.h"

/* Whether the present iteration is an independence move. */
static inline int gess__independence_turn(const gess__update *u)
{
    return gess__mix_independence(u->moves, u->iteration);
}

size_t gess__independence_scratch_size(size_t dim, size_t block);
void gess__independence_begin(gess__update *u);
int gess__independence_consume(gess__update *u, gess_error *err);

#endif
