/* What a checkpoint holds of an ensemble: everything that its future depends on. */
#include "base/archive.h"
#include "ensemble/ensemble.h"

static void archive_approx(gess__approx *t, gess__archive *a)
{
    GESS_ARCHIVE(a, &t->nu);
    gess__archive_bytes(a, t->mu, t->dim * sizeof *t->mu);
    gess__archive_bytes(a, t->chol, t->dim * t->dim * sizeof *t->chol);
    if (a->reading && !a->bad) gess__approx_ready(t);
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
    if (e->warmup.over || w->room == 0 || w->stride == 0) return;
    /* in the middle of a stage there are more draws than when it began */
    uint64_t held = (gess__ensemble_done(e) - w->start) / w->stride;
    if (a->bad || held > w->room) {
        a->bad = 1;
        return;
    }
    size_t points = (size_t)held * e->chains.count;
    gess__archive_bytes(a, w->values, points * sizeof *w->values);
    if (w->points != NULL) gess__archive_bytes(a, w->points, points * e->target.dim * sizeof *w->points);
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
    gess__archive_expect(a, c->own_size);
    gess__archive_bytes(a, c->x, c->count * c->dim * sizeof *c->x);
    gess__archive_bytes(a, c->value, c->count * sizeof *c->value);
    gess__archive_bytes(a, c->own, c->count * c->own_size * sizeof *c->own);
    gess__archive_bytes(a, c->deltas, c->count * sizeof *c->deltas);
    gess__archive_bytes(a, c->log_ts, c->count * sizeof *c->log_ts);
    GESS_ARCHIVE(a, &e->tally);
    GESS_ARCHIVE(a, &e->nans.count);
    if (e->nans.count > GESS__NANS_KEPT) a->bad = 1;
    GESS_ARCHIVE(a, &e->nans.keys);
    gess__archive_bytes(a, e->nans.points, GESS__NANS_KEPT * c->dim * sizeof *e->nans.points);
    GESS_ARCHIVE(a, &e->done);
    GESS_ARCHIVE(a, &e->turn);
    GESS_ARCHIVE(a, &e->fitted);
    GESS_ARCHIVE(a, &e->turn_end);
    GESS_ARCHIVE(a, &e->rebind);
    GESS_ARCHIVE(a, &e->fits);
    GESS_ARCHIVE(a, &e->fit);
    GESS_ARCHIVE(a, &e->warmup);
    if (e->turn != 0 && e->turn != 1) a->bad = 1;
    archive_approx(e->approx, a);
    archive_window(e, a);
}
