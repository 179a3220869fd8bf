/* Leads warm-up to annealing if chains are in several basins, and otherwise lets it learn as it is. */
#include "explore/exploration.h"

#include "adapt/defence.h"
#include "adapt/laplace.h"
#include "adapt/map_search.h"
#include "adapt/move_mix.h"
#include "base/assert.h"
#include "base/mem.h"
#include "explore/particles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A box of at most this many dimensions is annealed in any case. */
enum { MAX_BOX = 50 };

int gess__exploration_new(gess__exploration **exploration, gess__adaptation *adaptation, gess_error *err)
{
    GESS_ALLOC(exploration, 1, err);
    gess__exploration *x = *exploration;
    size_t dim = adaptation->ensemble->target.dim, chains = adaptation->ensemble->chains.count;
    GESS_ALLOC(&x->starts, chains * dim, err);
    GESS_ALLOC(&x->start_values, chains, err);
    GESS_ALLOC(&x->peak_at, dim, err);
    x->peak = -INFINITY;
    GESS_TRY(gess__learning_new(&x->learning, adaptation, 1, err));
    GESS_TRY(gess__basins_new(&x->basins, dim, err));
    if (x->learning->laplace != NULL)
        GESS_TRY(gess__scout_new(&x->scout, dim, chains, x->starts, x->start_values, err));
    if (gess__mixture_room(dim) > 1) GESS_TRY(gess__peaks_new(&x->peaks, dim, chains, err));
    return gess__annealing_new(&x->annealing, x->learning, err);
}

void gess__exploration_free(gess__exploration *x)
{
    if (x == NULL) return;
    gess__annealing_free(x->annealing);
    gess__scout_free(x->scout);
    gess__basins_free(x->basins);
    gess__peaks_free(x->peaks);
    gess__learning_free(x->learning);
    free(x->starts);
    free(x->start_values);
    free(x->peak_at);
    free(x);
}

void gess__exploration_started(gess__exploration *x, int annealed)
{
    const gess__chains *c = &x->learning->ensemble->chains;
    memcpy(x->starts, c->x, c->count * x->learning->ensemble->target.dim * sizeof *x->starts);
    memcpy(x->start_values, c->value, c->count * sizeof *x->start_values);
    gess__reference_fit(x->learning->ensemble->target.reference, c->count, c->x);
    /* a box says where modes may be; narrow ones are not seen from the starts of some chains, but from many points */
    const gess__reference *r = x->learning->ensemble->target.reference;
    const gess__warmup *u = &x->learning->adaptation->warmup;
    int box = gess__reference_is_box(r) && r->dim <= MAX_BOX && u->fixed == GESS_AUTO &&
              gess__annealing_is_affordable(x->annealing);
    if ((annealed || box) && !u->over)
        gess__annealing_begin(x->annealing, annealed ? GESS__ANNEAL : GESS__ANNEAL_IF_POSSIBLE);
}

/* Puts chains that begin in one basin side by side, so that groups of chains (diagnose/groups.h) do not mix basins. */
static void order_by_basin(gess__exploration *x)
{
    gess__ensemble *e = x->learning->ensemble;
    gess__chains *c = &e->chains;
    const gess__window *w = &x->learning->adaptation->window;
    const double *from = w->points + (gess__window_points(w) - c->count) * c->dim,
                 *values = w->values + gess__window_points(w) - c->count;
    double *y = e->updates[0].mapped, *rest = y + c->dim;
    size_t next = 0;
    for (size_t k = 0; k < x->basins->count; k++)
        for (size_t i = 0; i < c->count; i++) {
            gess__target_out(&e->target, from + i * c->dim, y, rest);
            if (gess__basins_find(x->basins, y) != k) continue;
            memcpy(c->x + next * c->dim, from + i * c->dim, c->dim * sizeof *c->x);
            c->value[next++] = values[i];
        }
    GESS_ASSERT(x->basins->count == 0 || next == c->count);
    e->rebind = 1;
}

int gess__exploration_step(gess__exploration *x,
                           int (*advance)(void *self, uint64_t until, const gess__record *record, gess_error *err),
                           void *self, const gess__record *record, int *busy, gess_error *err)
{
    *busy = x->annealing->state.under_way;
    if (!*busy) return GESS_OK;
    GESS_TRY(gess__annealing_step(x->annealing, advance, self, record, err));
    if (x->annealing->state.abandoned) *busy = 0;
    if (!x->annealing->state.under_way) gess__chains_forget_peaks(&x->learning->ensemble->chains); /* annealed values */
    if (x->annealing->state.done) {
        gess__basins_take(x->basins, x->annealing);
        order_by_basin(x);
        GESS_TRY(gess__annealing_renew_blobs(x->learning->ensemble, err));
    }
    return GESS_OK;
}

/* Takes the points that stand out in this stage, while its map is still in use. */
static int take_peaks(gess__exploration *x, gess_error *err)
{
    gess__ensemble *e = x->learning->ensemble;
    gess__chains *c = &e->chains;
    double *y = e->updates[0].mapped, *rest = y + c->dim;
    for (size_t i = 0; i < c->count; i++) {
        if (!(c->peak[i] > -INFINITY)) continue;
        double lp = c->peak[i] - gess__target_out(&e->target, c->peak_at + i * c->dim, y, rest);
        lp -= gess__bounds_out(&e->target.bounds, y, rest);
        if (!(lp > x->peak)) continue;
        x->peak = lp;
        memcpy(x->peak_at, y, c->dim * sizeof *y);
    }
    if (x->peaks != NULL) return gess__peaks_collect(x->peaks, x->learning, err);
    gess__chains_forget_peaks(c);
    return GESS_OK;
}

int gess__exploration_probe(gess__exploration *x, const gess__record *record, gess_error *err)
{
    const gess__warmup *u = &x->learning->adaptation->warmup;
    size_t found = 0;
    GESS_TRY(take_peaks(x, err));
    if (x->annealing->maxima != NULL && (u->calm > 0 || x->rare.under_way))
        GESS_TRY(
            gess__rare_search(&x->rare, x->annealing->maxima, x->peaks, x->basins, x->learning, record, &found, err));
    x->found = found > 0;
    if (x->annealing->state.done) return GESS_OK;
    GESS_TRY(gess__laplace_search(x->learning, record, err));
    return x->scout != NULL ? gess__scout_run(x->scout, x->learning, record, err) : GESS_OK;
}

int gess__exploration_assess(gess__exploration *x)
{
    const gess__annealing_state *s = &x->annealing->state;
    gess__defence_remove(x->learning);
    if (x->scout != NULL && x->scout->state.several && !s->done && !s->abandoned &&
        gess__annealing_is_affordable(x->annealing)) {
        gess__annealing_begin(x->annealing, GESS__ANNEAL_IF_POSSIBLE);
        return 1;
    }
    x->learning->state.covers = s->done || (x->scout != NULL && x->scout->state.tested && !x->scout->state.several);
    int more = gess__learning_assess(x->learning);
    return gess__basins_cover(x->basins, x->learning) > 0 || x->found || more;
}

void gess__exploration_freeze(gess__exploration *x)
{
    gess__move_mix_freeze(x->learning);
    gess__defence_add(x->learning);
}

int gess__exploration_objects(gess__exploration *x)
{
    gess__defence_remove(x->learning);
    return gess__basins_cover(x->basins, x->learning) > 0 || x->found;
}

void gess__exploration_ended(gess__exploration *x)
{
    if (x->annealing->state.under_way) gess__annealing_abandon(x->annealing, GESS__TOO_SHORT);
    const gess__annealing_state *s = &x->annealing->state;
    x->learning->state.tail_excess = gess__map_search_tail_excess(x->learning);
    int looked = s->done ? gess__mixture_room(x->learning->ensemble->target.dim) > 1
                         : x->scout != NULL && x->scout->state.tested && !x->scout->state.several;
    if (looked && x->basins->count == 0 && gess__window_points(&x->learning->adaptation->window) > 0)
        gess__basins_add_window(x->basins, x->learning);
    gess__basins_judge(x->basins, x->learning, x->learning->ensemble->chains.count, x->starts);
}

int gess__exploration_look(gess__exploration *x, const gess__record *record, size_t *found, gess_error *err)
{
    *found = 0;
    if (x->peaks == NULL || x->learning->ensemble->frozen.mixture == NULL) return GESS_OK;
    GESS_TRY(take_peaks(x, err));
    return gess__rare_look(&x->rare, x->peaks, x->basins, x->learning, record, found, err);
}

void gess__exploration_archive(gess__exploration *x, gess__archive *archive)
{
    const gess__ensemble *e = x->learning->ensemble;
    gess__archive_bytes(archive, x->starts, e->chains.count * e->target.dim * sizeof *x->starts);
    gess__archive_bytes(archive, x->start_values, e->chains.count * sizeof *x->start_values);
    GESS_ARCHIVE(archive, &x->peak);
    gess__archive_bytes(archive, x->peak_at, e->target.dim * sizeof *x->peak_at);
    gess__learning_archive(x->learning, archive);
    gess__annealing_archive(x->annealing, archive);
    gess__basins_archive(x->basins, archive);
    if (x->peaks != NULL) gess__peaks_archive(x->peaks, archive);
    GESS_ARCHIVE(archive, &x->rare);
    if (x->rare.under_way && !archive->bad) {
        if (x->annealing->maxima != NULL)
            gess__maxima_archive(x->annealing->maxima, archive);
        else
            archive->bad = 1;
    }
    gess__scout_state none = {0};
    GESS_ARCHIVE(archive, x->scout != NULL ? &x->scout->state : &none);
}
