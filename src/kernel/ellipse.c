#include "kernel/ellipse.h"

#include "base/lanes.h"
#include "base/vmath.h"
#include "base/mutant.h"

/* ---- the bracket ---- */

gess__bracket gess__bracket_open(double uniform)
{
    return (gess__bracket){.low = uniform - 1.0, .high = uniform, .angle = uniform};
}

void gess__bracket_shrink(gess__bracket *bracket, double uniform)
{
    int below = bracket->angle < 0.0;
    if (GESS__MUTANT(BRACKET_SIDE) && bracket->angle != bracket->high) below = !below;
    if (below)
        bracket->low = bracket->angle;
    else
        bracket->high = bracket->angle;
    bracket->angle = gess__fma(uniform, bracket->high - bracket->low, bracket->low);
}

/* ---- scratch of a block, carved from u->scratch ---- */

typedef struct work {
    double *normals;   /* block × dim: ζ */
    double *steps;     /* block × dim: Lζ */
    double *triangle;  /* for the triangular kernels */
    double *deltas;    /* block: |z|² */
    double *squares;   /* block: |ζ|² */
    double *crosses;   /* block: z·ζ */
    double *heights;   /* block: log of the slice's height */
    double *roots;     /* block: √s */
    double *low, *high, *angle; /* block: brackets, in turns */
    double *sines, *cosines;    /* block: of the angle proposed last */
    double *tries;     /* block: angles so far */
    double *active;    /* block: 1 while the lane is at work */
} work;

enum { ARRAYS = 12 };

static work carve(const gess__update *u)
{
    size_t dim = u->target->dim, n = u->count;
    double *at = u->scratch;
    work w;
    w.normals = at;
    w.steps = w.normals + n * dim;
    w.triangle = w.steps + n * dim;
    double **arrays[ARRAYS] = {&w.deltas, &w.squares, &w.crosses, &w.heights, &w.roots,   &w.low,
                               &w.high,   &w.angle,   &w.sines,   &w.cosines, &w.tries, &w.active};
    at = w.triangle + gess__triangular_scratch(dim);
    for (size_t i = 0; i < ARRAYS; i++) *arrays[i] = at + i * n;
    return w;
}

size_t gess__ellipse_own_size(size_t dim)
{
    return dim; /* z */
}

size_t gess__ellipse_scratch_size(size_t dim, size_t block)
{
    return 2 * block * dim + gess__triangular_scratch(dim) + ARRAYS * block;
}

/* ---- log T ---- */

static double log_t(const gess__update *u, const gess__ellipse_family *family, double delta)
{
    if (GESS__MUTANT(NO_T_DENSITY)) return 0.0;
    return family->gaussian ? -0.5 * delta : gess__approx_log_t(u->approx, delta);
}

/* ---- the three steps ---- */

void gess__ellipse_begin(gess__update *u, const gess__ellipse_family *family)
{
    size_t dim = u->target->dim, n = u->count;
    const gess__approx *t = u->approx;
    work w = carve(u);
    double *z = u->chains->own + u->first * dim, *x = u->chains->x + u->first * dim;
    if (u->rebind || u->iteration % GESS__REBIND_EVERY == 0)
        gess__triangular_solves(dim, t->chol, t->inverse_diagonal, t->mu, n, x, z, w.triangle);
    for (size_t j = 0; j < n; j++) {
        w.deltas[j] = gess__dot(dim, z + j * dim, z + j * dim);
        gess__normals(gess__update_key(u, j, GESS__FOR_NORMALS), dim, w.normals + j * dim);
    }
    family->root_scales(u, w.deltas, w.roots);
    for (size_t j = 0; j < n; j++) {
        double *zeta = w.normals + j * dim;
        gess__scale(dim, w.roots[j], zeta);
        w.squares[j] = gess__dot(dim, zeta, zeta);
        w.crosses[j] = gess__dot(dim, z + j * dim, zeta);
        double height = gess__log(gess__uniform(gess__update_key(u, j, GESS__FOR_HEIGHT), 0));
        w.heights[j] = u->chains->value[u->first + j] - log_t(u, family, w.deltas[j]) + height;
        gess__bracket b = gess__bracket_open(gess__uniform(gess__update_key(u, j, GESS__FOR_ANGLE), 0));
        w.low[j] = b.low;
        w.high[j] = b.high;
        w.angle[j] = b.angle;
        w.tries[j] = 0.0;
        w.active[j] = 1.0;
    }
    gess__triangular_products(dim, t->chol, n, w.normals, w.steps, w.triangle);
}

void gess__ellipse_propose(gess__update *u)
{
    size_t dim = u->target->dim;
    work w = carve(u);
    u->proposals = 0;
    for (size_t j = 0; j < u->count; j++) {
        if (w.active[j] == 0.0) continue;
        gess__sincos_turns(w.angle[j], &w.sines[j], &w.cosines[j]);
        gess__ellipse_point(dim, u->approx->mu, u->chains->x + (u->first + j) * dim, w.steps + j * dim, w.cosines[j],
                            w.sines[j], u->points + u->proposals * dim);
        u->lane[u->proposals++] = (uint32_t)j;
    }
}

int gess__ellipse_consume(gess__update *u, const gess__ellipse_family *family, gess_error *err)
{
    size_t dim = u->target->dim;
    work w = carve(u);
    for (size_t p = 0; p < u->proposals; p++) {
        size_t j = u->lane[p], chain = u->first + j;
        double value, c = w.cosines[j], s = w.sines[j];
        GESS_TRY(gess__update_value(u, p, &value, err));
        double delta = w.deltas[j] * c * c + w.squares[j] * s * s + 2.0 * w.crosses[j] * s * c;
        double tilt = GESS__MUTANT(TILTED) ? 0.1 * u->points[p * dim] : 0.0;
        if (value + tilt - log_t(u, family, delta) > w.heights[j]) {
            double *z = u->chains->own + chain * dim;
            memcpy(u->chains->x + chain * dim, u->points + p * dim, dim * sizeof *u->points);
            gess__rotate(dim, z, w.normals + j * dim, c, s, z);
            u->chains->value[chain] = value;
            w.active[j] = 0.0;
        } else if (++w.tries[j] >= GESS__MOST_ANGLES) {
            u->tally.failures++;
            w.active[j] = 0.0;
        } else {
            gess__bracket b = {w.low[j], w.high[j], w.angle[j]};
            gess__key key = gess__update_key(u, j, GESS__FOR_ANGLE);
            gess__bracket_shrink(&b, gess__uniform(key, (uint32_t)w.tries[j]));
            w.low[j] = b.low;
            w.high[j] = b.high;
            w.angle[j] = b.angle;
        }
    }
    return GESS_OK;
}
