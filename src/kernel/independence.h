/* The independence move (W. K. Hastings, Biometrika 57 (1970), section 2.5): a point drawn from T itself, taken
 * with probability min(1, π(x')T(x) / π(x)T(x')).
 *
 * Where T is close to the target it makes a fresh draw with one evaluation, whatever the present point is, and so it
 * passes between modes that T knows of. Where T is far, it is refused. Updates around ellipses between such moves free
 * a chain from a point where T is too small. Which iterations are such moves depends on their number alone. */
#ifndef GESS_KERNEL_INDEPENDENCE_H
#define GESS_KERNEL_INDEPENDENCE_H

#include "kernel/kernel.h"

/* Whether the present iteration is an independence move. */
static inline int gess__independence_turn(const gess__update *u)
{
    return u->moves.independence > 0 && u->iteration % u->moves.period < u->moves.independence;
}

size_t gess__independence_scratch_size(size_t dim, size_t block);
void gess__independence_begin(gess__update *u);
int gess__independence_consume(gess__update *u, gess_error *err);

#endif
