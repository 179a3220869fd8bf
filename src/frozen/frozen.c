/* Allocates a frozen state, and archives it for checkpoints and for messages between ranks; refuses a T, a mixture or a
 * mix of moves that cannot be sampled with. */
#include "frozen/frozen.h"

#include "base/assert.h"

#include <math.h>

int gess__frozen_new(gess__frozen *f, const gess__target *target, int mixture, gess_error *err)
{
    size_t dim = target->dim;
    GESS_ASSERT(dim > 0);
    f->map = target->learned;
    f->reference = target->reference;
    if (mixture) {
        f->moves.period = 1;
        GESS_TRY(gess__mixture_new(&f->mixture, dim, err));
    }
    return gess__approx_new(&f->approx, dim, err);
}

void gess__frozen_free(gess__frozen *f)
{
    gess__approx_free(f->approx);
    gess__mixture_free(f->mixture);
}

const gess__mixture *gess__frozen_mixture(const gess__frozen *f)
{
    return f->mixture != NULL && f->mixture->count > 1 ? f->mixture : NULL;
}

/* Whether it can be a T: random numbers are drawn with ν, and distances are divided by L. */
static bool approx_possible(const gess__approx *t)
{
    if (!(t->nu > 0.0)) return false;
    for (size_t i = 0; i < t->dim; i++)
        if (!isfinite(t->mu[i]) || !(t->chol[i + i * t->dim] > 0.0)) return false;
    for (size_t i = 0; i < t->dim * t->dim; i++)
        if (!isfinite(t->chol[i])) return false;
    return true;
}

void gess__frozen_archive_approx(gess__approx *t, gess__archive *a)
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

static void archive_mixture(gess__mixture *m, size_t dim, gess__archive *a)
{
    GESS_ARCHIVE(a, &m->count);
    GESS_ARCHIVE(a, &m->defensive);
    if (m->count < 1 || m->count > gess__mixture_room(dim) || m->defensive >= m->count) a->bad = 1;
    GESS_ARCHIVE(a, &m->log_weight);
    for (size_t k = 0; k < m->count && !a->bad; k++)
        if (!isfinite(m->log_weight[k])) a->bad = 1;
    for (size_t k = 0; k < m->count && !a->bad; k++) gess__frozen_archive_approx(m->component[k], a);
}

void gess__frozen_archive(gess__frozen *f, gess__archive *a)
{
    GESS_ASSERT(f->approx != NULL);
    gess__archive_expect(a, f->map != NULL);
    gess__archive_expect(a, f->mixture != NULL);
    gess__archive_expect(a, f->reference != NULL);
    if (f->reference != NULL && !a->bad) gess__reference_archive(f->reference, a);
    gess__frozen_archive_approx(f->approx, a);
    GESS_ARCHIVE(a, &f->moves);
    if (f->moves.independence > 0 && f->moves.period < f->moves.independence) a->bad = 1;
    if (f->mixture != NULL && f->moves.period == 0) a->bad = 1;
    if (a->bad) return;
    if (f->map != NULL) gess__learned_archive(f->map, a);
    if (f->mixture != NULL) archive_mixture(f->mixture, f->approx->dim, a);
}
