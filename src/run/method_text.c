/* Describes, for gess_stats.method, the map, the mixture and the moves that were learned, or the acceptance rates of a
 * kernel without an approximation. */
#include "run/method_text.h"

#include "base/format.h"
#include "run/run.h"

#include <stdio.h>
#include <string.h>

/* Acceptance rates and divergences of a kernel that uses no approximation. */
static void describe_kernel(const gess__tally *t, size_t temperatures, char *text, size_t size)
{
    int used = 0;
    if (temperatures > 0)
        used = gess__format(text, size, "%zu temperatures, %.0f %% of swaps accepted; ", temperatures,
                            100.0 * (double)t->swapped / (double)(t->swaps > 0 ? t->swaps : 1));
    if (t->tried > 0)
        used += gess__format(text + used, size - (size_t)used, "%.1f %% of proposals accepted; ",
                             100.0 * (double)t->taken / (double)t->tried);
    if (t->divergent > 0)
        used += snprintf(text + used, size - (size_t)used, "%llu trajectories diverged; ",
                         (unsigned long long)t->divergent);
    if (used > 1) text[used - 2] = '\0'; /* the last "; " */
}

void gess__run_describe_method(gess_run *run)
{
    const gess__sampler *first = run->sampler[0];
    const gess__ensemble *e = &first->ensemble;
    const gess__frozen *f = &e->frozen;
    const gess__learning *l = gess__sampler_learning(first);
    int over = first->adaptation.warmup.over;
    gess_stats *s = &run->stats;
    char map[80] = "none";
    memset(s->method, 0, sizeof s->method); /* checkpoints save all of its bytes */
    if (over && first->schedule->no_approx)
        describe_kernel(&e->tally, e->chains.powers != NULL ? e->chains.count : 0, s->method, sizeof s->method);
    if (f->mixture == NULL || !over) return;
    if (f->map != NULL) gess__learned_describe(f->map, map, sizeof map);
    const gess__exploration *x = gess__sampler_exploration(first);
    size_t fitted = f->mixture->count - f->mixture->defensive;
    char tails[40] = "";
    if (f->mixture->defensive > 0) snprintf(tails, sizeof tails, " and %zu for tails", f->mixture->defensive);
    int used = snprintf(s->method, sizeof s->method, "%smap: %s; %zu component%s%s%s",
                        x->annealing->state.done ? "annealed; " : "", map, fitted, fitted == 1 ? "" : "s", tails,
                        l->state.by_laplace ? ", Laplace approximation" : "");
    if (used > 0 && (size_t)used < sizeof s->method && f->moves.independence > 0 && e->tally.independence > 0)
        gess__format(s->method + used, sizeof s->method - (size_t)used,
                     "; %u of %u updates independence moves (%.0f %% accepted)", f->moves.independence, f->moves.period,
                     100.0 * (double)e->tally.independence_accepted / (double)e->tally.independence);
}
