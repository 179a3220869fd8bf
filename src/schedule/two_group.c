/* The paper's two-group schedule (Nishihara, Murray & Adams, JMLR 15 (2014), Algorithm 3 and section 4.5).
 *
 * The chains are two groups. In turn, T is fitted to the present states of one group, and every chain of the other is
 * updated `reuse` times with it. Each half of a sweep leaves the product of the targets invariant, because T depends on
 * only on the other group's present states, and on nothing before them. Hence the fit starts cold, and hence draws
 * may be kept from the first sweep at which the chains have forgotten their starts. */
#include "schedule/two_group.h"

#include "base/mem.h"
#include "base/mutant.h"

#include <stdlib.h>

static int open(gess__sampler *s, const gess_options *options, gess_error *err)
{
    gess__ensemble *e = &s->ensemble;
    gess__two_group *g = NULL;
    GESS_ALLOC(&g, 1, err);
    s->state = g;
    e->group = e->chains.count / 2;
    e->rebind = 0;
    g->reuse = options->reuse;
    return gess__fitter_new(&g->fitter, e->target.dim,
                            GESS__MUTANT(FIT_INCLUDES_GROUP) ? e->chains.count : e->chains.count - e->group, err);
}

static void free_state(void *state)
{
    gess__two_group *g = state;
    gess__fitter_free(g->fitter);
    free(g);
}

static void archive(gess__sampler *s, gess__archive *a)
{
    gess__two_group *g = s->state;
    GESS_ARCHIVE(a, &g->fit);
    GESS_ARCHIVE(a, &g->fits);
    GESS_ARCHIVE(a, &g->turn);
    GESS_ARCHIVE(a, &g->fitted);
    GESS_ARCHIVE(a, &g->turn_end);
    if (g->turn != 0 && g->turn != 1) a->bad = 1;
}

static size_t first_of(const gess__ensemble *e, int group)
{
    return group == 0 ? 0 : e->group;
}

static size_t count_of(const gess__ensemble *e, int group)
{
    return group == 0 ? e->group : e->chains.count - e->group;
}

static void fit_to(gess__sampler *s, int group)
{
    gess__two_group *g = s->state;
    gess__ensemble *e = &s->ensemble;
    size_t first = first_of(e, group), count = count_of(e, group);
    if (GESS__MUTANT(FIT_INCLUDES_GROUP)) {
        first = 0;
        count = e->chains.count;
    }
    gess__fit(g->fitter, count, e->chains.x + first * e->chains.dim, GESS__FIT_QUICK, e->frozen.approx, &g->fit);
    g->fits++;
}

/* Iterations of the group whose turn it is before the other's turn: up to the other's count for the second group,
 * `reuse` beyond it for the first. */
static uint64_t end_of_turn(const gess__sampler *s, uint64_t until)
{
    const gess__two_group *g = s->state;
    const uint64_t *done = s->ensemble.done;
    if (g->turn == 1) return done[0];
    return until - done[1] < g->reuse ? until : done[1] + g->reuse;
}

static void next(gess__sampler *s, uint64_t until, gess__stretch *stretch)
{
    gess__two_group *g = s->state;
    const gess__ensemble *e = &s->ensemble;
    *stretch = (gess__stretch){.approx = e->frozen.approx};
    if (e->done[1] >= until) return;
    if (!g->fitted) {
        fit_to(s, 1 - g->turn);
        g->turn_end = end_of_turn(s, until);
    }
    stretch->first = first_of(e, g->turn);
    stretch->count = count_of(e, g->turn);
    stretch->start = e->done[g->turn];
    stretch->iterations = g->turn_end - stretch->start;
    stretch->rebind = !g->fitted;
    g->fitted = 1;
}

static void ran(gess__sampler *s, const gess__stretch *stretch)
{
    gess__two_group *g = s->state;
    uint64_t *done = s->ensemble.done;
    done[g->turn] += stretch->iterations;
    if (done[g->turn] < g->turn_end) return;
    g->turn = 1 - g->turn;
    g->fitted = 0;
}

/* Nothing is fitted to a window: only the mean log density decides when warm-up ends. */
static int assess(gess__sampler *s)
{
    (void)s;
    return 0;
}

const gess__schedule gess__schedule_two_group = {
    .name = "two-group",
    .help = "the paper's: fit to one half, update the other, swap",
    .min_chains = 4,
    .open = open,
    .free = free_state,
    .archive = archive,
    .next = next,
    .ran = ran,
    .assess = assess,
};
