/* The mix of moves: how many iterations should be independence moves, from what each kind of move is worth. */
#ifndef GESS_ADAPT_MOVE_MIX_H
#define GESS_ADAPT_MOVE_MIX_H

#include "adapt/learning.h"

/* Workspace of the estimate. */
int gess__move_value_new(gess__move_value **value, size_t dim, gess_error *err);
void gess__move_value_free(gess__move_value *value);

/* Draws per evaluation expected of independence moves with the present T, from how log π − log T varies over the
 * window; *acceptance: the share that should be accepted. Caps ν of the components: T's tails become as heavy as costs
 * little, since chains would wait longest where the window has not seen the target's tails. */
double gess__move_value_expected(gess__learning *l, double *acceptance);

/* Makes the one t the mixture's only component, if it has one. */
void gess__move_mix_set_single(gess__learning *l);

/* Chooses the mix of moves of the frozen state, and forecasts the draws per evaluation that it brings. A kind of move
 * that is never made cannot be judged: while warm-up goes on, independence moves are tried now and then even if they
 * were not chosen. */
void gess__move_mix_choose(gess__learning *l);

/* Leaves only the moves that were chosen, for sampling. */
void gess__move_mix_freeze(gess__learning *l);

/* How far the mean level, log π − log T, of the window's draws in a tail of one of these coordinates exceeds that of
 * all; of the tail where that is most, and 0 if it is nowhere more. */
double gess__move_value_tail_excess(gess__learning *learning, size_t count, const uint32_t *coordinates);

#endif
