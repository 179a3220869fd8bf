/* What a checkpoint holds of an ensemble: everything that its future depends on. */
#include "base/archive.h"
#include "adapt/laplace.h"

#include <math.h>

/* Whether it can be a T: random numbers are drawn with ν, and distances divided by L. */
static bool approx_possible(const gess__approx *t)
{
    if (!(t->nu > 0.0)) return false;
    for (size_t i = 0; i < t->dim; i++)
        if (!isfinite(t->mu[i]) || !(t->chol[i + i * t->dim] > 0.0)) return false;
    for (size_t i = 0; i < t->dim * t->dim; i++)
        if (!isfinite(t->chol[i])) return false;
    return true;
}

static void archive_approx(gess__approx *t, gess__archive *a)
{
    GESS_ARCHIVE(a, &t->nu);
    gess__archive_bytes(a, t->mu, t->dim * sizeof *t->mu);
    gess__archive_bytes(a, t->chol, t->dim * t->dim * sizeof *t->chol);
    if (!a->reading || a->bad) return;
    if (approx_possible(t))
        gess__approx_ready(t);
    else
        a->bad = 1;
}

/* What `auto` has learned. */
static void archive_refinement(gess__ensemble *e, gess__archive *a)
{
    GESS_ARCHIVE(a, &e->globals);
    GESS_ARCHIVE(a, &e->period);
    if (e->globals > 0 && e->period < e->globals) a->bad = 1;
    if (e->mixture != NULL && e->period == 0) a->bad = 1;
    if (e->target.learned != NULL) gess__learned_archive(e->target.learned, a);
    if (e->mixture == NULL) return;
    GESS_ARCHIVE(a, &e->mixture->count);
    if (e->mixture->count < 1 || e->mixture->count > gess__mixture_room(e->target.dim)) a->bad = 1;
    GESS_ARCHIVE(a, &e->mixture->log_weight);
    for (size_t k = 0; k < e->mixture->count && !a->bad; k++)
        if (!isfinite(e->mixture->log_weight[k])) a->bad = 1;
    for (size_t k = 0; k < e->mixture->count && !a->bad; k++) archive_approx(e->mixture->component[k], a);
}

void gess__ensemble_archive_frozen(gess__ensemble *e, gess__archive *a)
{
    archive_approx(e->approx, a);
    archive_refinement(e, a);
}

/* Draws that the window holds of the chains that are furthest, or more than there is room for where its numbers cannot
 * be. In the middle of a stage there are more than when it began. */
static uint64_t held(const gess__ensemble *e)
{
    const gess__window *w = &e->window;
    const gess__warmup *u = &e->warmup;
    uint64_t least = gess__ensemble_done(e), done = e->done[0] > e->done[1] ? e->done[0] : e->done[1];
    uint64_t most = UINT64_MAX / 2, impossible = w->room + 1, end = w->stage + w->length;
    if (u->stages == 0 && !u->open && done == 0) return u->moved ? 0 : impossible;
    if (w->stride == 0 || w->length > most || w->stage > most || w->start > w->stage || w->stage > least || done > end)
        return impossible;
    if ((end - w->start) / w->stride > w->room || (!u->open && least != end)) return impossible;
    return w->draws == ((u->open ? w->stage : end) - w->start) / w->stride ? (done - w->start) / w->stride : impossible;
}

static void archive_window(gess__ensemble *e, gess__archive *a)
{
    gess__window *w = &e->window;
    GESS_ARCHIVE(a, &w->start);
    GESS_ARCHIVE(a, &w->stage);
    GESS_ARCHIVE(a, &w->length);
    GESS_ARCHIVE(a, &w->stride);
    GESS_ARCHIVE(a, &w->draws);
    gess__archive_expect(a, w->room);
    if (e->warmup.over || a->bad) return;
    uint64_t draws = held(e);
    if (w->room == 0 || draws > w->room) {
        a->bad = 1;
        return;
    }
    gess__archive_bytes(a, w->own, e->chains.count * sizeof *w->own);
    gess__archive_bytes(a, w->own_before, e->chains.count * sizeof *w->own_before);
    size_t points = (size_t)draws * e->chains.count;
    gess__archive_bytes(a, w->values, points * sizeof *w->values);
    if (w->points != NULL) gess__archive_bytes(a, w->points, points * e->target.dim * sizeof *w->points);
    const gess__warmup *u = &e->warmup;
    /* it may have been made for a run with fewer evaluations to come */
    if ((u->summit || u->climbing) && e->summit == NULL && gess__laplace_new(&e->summit, e, NULL) != GESS_OK) a->bad = 1;
    if (u->summit && !a->bad) archive_approx(gess__laplace_approx(e->summit), a);
    if (u->climbing && !a->bad) gess__laplace_archive(e->summit, a);
}

static void archive_ladder(gess__ensemble *e, gess__archive *a)
{
    gess__chains *c = &e->chains;
    gess__ladder *l = &e->ladder;
    int tuned = l->round > 0;
    gess__archive_bytes(a, c->powers, c->count * sizeof *c->powers);
    gess__archive_bytes(a, l->refused, c->count * sizeof *l->refused);
    GESS_ARCHIVE(a, &l->round);
    GESS_ARCHIVE(a, &l->from);
    if (tuned != (l->round > 0) || l->from > e->done[0]) a->bad = 1;
    for (size_t k = 0; k < c->count; k++)
        if (!(c->powers[k] > 0.0 && c->powers[k] <= 1.0) || !isfinite(l->refused[k])) a->bad = 1;
}

void gess__ensemble_archive(gess__ensemble *e, gess__archive *a)
{
    gess__chains *c = &e->chains;
    gess__archive_expect_text(a, e->kernel->name);
    gess__archive_expect_text(a, e->schedule->name);
    gess__archive_expect(a, e->seed);
    gess__archive_expect(a, c->first);
    gess__archive_expect(a, c->count);
    gess__archive_expect(a, c->dim);
    gess__archive_expect(a, c->state_size);
    gess__archive_bytes(a, c->x, c->count * c->dim * sizeof *c->x);
    gess__archive_bytes(a, c->value, c->count * sizeof *c->value);
    gess__archive_bytes(a, c->own, c->count * c->state_size * sizeof *c->own);
    gess__archive_bytes(a, c->deltas, c->count * sizeof *c->deltas);
    gess__archive_bytes(a, c->log_ts, c->count * sizeof *c->log_ts);
    GESS_ARCHIVE(a, &e->tally);
    GESS_ARCHIVE(a, &e->nans.count);
    if (e->nans.count > GESS__NANS_KEPT) a->bad = 1;
    GESS_ARCHIVE(a, &e->nans.keys);
    gess__archive_bytes(a, e->nans.points, GESS__NANS_KEPT * c->dim * sizeof *e->nans.points);
    GESS_ARCHIVE(a, &e->done);
    if (c->powers != NULL) archive_ladder(e, a);
    GESS_ARCHIVE(a, &e->turn);
    GESS_ARCHIVE(a, &e->fitted);
    GESS_ARCHIVE(a, &e->turn_end);
    GESS_ARCHIVE(a, &e->rebind);
    GESS_ARCHIVE(a, &e->fits);
    GESS_ARCHIVE(a, &e->fit);
    uint64_t fixed = e->warmup.fixed;
    GESS_ARCHIVE(a, &e->warmup);
    if (e->warmup.fixed != fixed) a->bad = 1;
    if (e->turn != 0 && e->turn != 1) a->bad = 1;
    gess__ensemble_archive_frozen(e, a);
    archive_window(e, a);
}
