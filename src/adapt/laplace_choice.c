/* Decides whether T is the fit to the window or the Laplace approximation of laplace.c: the one with which
 * log π − log T varies less over the window. move_mix.c calls it after every stage of warm-up. */
#include "adapt/laplace_state.h"
#include "base/sort.h"
#include "base/tiles.h"

#include <math.h>
#include <string.h>

/* Of the levels that are compared, one in OUTLIERS at either end is left out. */
enum { OUTLIERS = 10 };

gess__approx *gess__laplace_approx(gess__laplace *s)
{
    return s->t;
}

gess__approx *gess__laplace_t(const gess__learning *l)
{
    /* a map has moved everything else */
    return l->laplace != NULL && l->state.laplace_found && l->state.layers == 0 ? l->laplace->t : NULL;
}

/* Which point of the window is number i of n. */
static size_t point_index(const gess__window *w, size_t i, size_t n)
{
    return i * gess__window_points(w) / n;
}

/* Squared distances of n points of the window. */
static void set_deltas(gess__laplace *s, const gess__window *w, const gess__approx *t, size_t n)
{
    size_t dim = w->dim;
    for (size_t done = 0; done < n; done += GESS__LAPLACE_CHUNK) {
        size_t some = n - done < GESS__LAPLACE_CHUNK ? n - done : GESS__LAPLACE_CHUNK;
        for (size_t i = 0; i < some; i++)
            memcpy(s->points + i * dim, w->points + point_index(w, done + i, n) * dim, dim * sizeof *s->points);
        gess__triangular_solves(dim, t->chol, t->inverse_diagonal, t->mu, some, s->points, s->z, s->work);
        for (size_t i = 0; i < some; i++) s->deltas[done + i] = gess__dot(dim, s->z + i * dim, s->z + i * dim);
    }
}

/* The width of the range of log π − log T over these points, outliers left out. */
static double level_range(gess__laplace *s, const gess__window *w, const gess__approx *t, double nu, size_t n)
{
    gess__approx with = *t;
    with.nu = nu;
    for (size_t i = 0; i < n; i++)
        s->levels[i] = w->values[point_index(w, i, n)] - gess__approx_log_t(&with, s->deltas[i]);
    gess__sort(n, s->levels);
    return s->levels[n - 1 - n / OUTLIERS] - s->levels[n / OUTLIERS];
}

/* If chains are far out, the window is made of their points, and these want heavy tails. */
int gess__laplace_prefer(gess__learning *l)
{
    static const double tails[] = {INFINITY, 100.0, 30.0, 10.0, 5.0, 3.0};
    gess__laplace *s = l->laplace;
    const gess__window *w = &l->adaptation->window;
    gess__frozen *f = &l->ensemble->frozen;
    gess__approx *t = gess__laplace_t(l);
    size_t points = gess__window_points(w), n = points < GESS__LAPLACE_COMPARED ? points : GESS__LAPLACE_COMPARED;
    int gaussian = (l->ensemble->kernel->needs & GESS__IGNORES_TAILS) != 0;
    if (t == NULL || f->mixture->count > 1) return 0;
    set_deltas(s, w, f->approx, n);
    double fitted = level_range(s, w, f->approx, gaussian ? INFINITY : f->approx->nu, n), best = INFINITY;
    set_deltas(s, w, t, n);
    for (size_t i = 0; i < (gaussian ? 1 : sizeof tails / sizeof *tails); i++) {
        double now = level_range(s, w, t, tails[i], n);
        if (!(now < best)) continue;
        best = now;
        t->nu = tails[i];
    }
    if (!(best < fitted)) return 0;
    gess__approx_copy(f->approx, t);
    return 1;
}
