/* The moves of the kernel `gess` for one chain: each begins with its random numbers, proposes points, and takes their
 * densities. The bits are those of kernel/ellipse.c, ellipse_mixture.c, independence.c and coordinate_slice.c. */
#ifndef GESS_LANE_MOVES_H
#define GESS_LANE_MOVES_H

#include "lane/state.h"

/* What a move says after a density: whether it ended. */
enum gess__lane_end { GESS__LANE_GOES_ON, GESS__LANE_MOVED, GESS__LANE_STAYED, GESS__LANE_FAILED };

/* ---- points on ellipses ---- */

GESS__INLINE void gess__lane_ellipse_point(const gess__lane_frozen *f, gess__lane *l, const double *centre, double sine)
{
    for (size_t i = 0; i < GESS__LANE_DIM_OF(f); i++)
        l->point[i] = gess__fma(l->steps[i], sine, gess__fma(l->x[i] - centre[i], l->cosine, centre[i]));
}

/* After a rejected angle: the next one, or the end. */
GESS__INLINE enum gess__lane_end gess__lane_next_angle(const gess__lane_frozen *f, gess__lane *l)
{
    if (l->round + 1 >= GESS__MAX_ANGLES) return GESS__LANE_FAILED;
    double uniform = gess__one_uniform(gess__lane_key(f, l, GESS__FOR_SLICE), l->round + 1);
    l->bracket = gess__bracket_shrink(l->bracket, uniform);
    return GESS__LANE_GOES_ON;
}

/* ---- an ellipse with one t ---- */

GESS__INLINE double gess__lane_root(const gess__lane_frozen *f, const gess__lane *l, const gess__lane_t *t,
                                    double delta)
{
    if (!(t->nu < HUGE_VAL)) return 1.0;
    double shape = 0.5 * ((double)GESS__LANE_DIM_OF(f) + t->nu);
    if (GESS__MUTANT(SCALE_SHAPE)) shape *= 1.05;
    return sqrt(0.5 * (t->nu + delta) / gess__lane_gamma(gess__lane_key(f, l, GESS__FOR_SCALE), shape));
}

GESS__LANE_CALL void gess__lane_ellipse_begin(const gess__lane_frozen *f, gess__lane *l, int rebind)
{
    const gess__lane_t *t = &f->single;
    size_t dim = GESS__LANE_DIM_OF(f);
    double uniform, angle;
    if (rebind || l->iteration % GESS__REBIND_EVERY == 0) gess__lane_solve(t, dim, t->mu, l->x, l->z);
    gess__lane_normals(gess__lane_key(f, l, GESS__FOR_NORMALS), dim, l->normals);
    gess__dots_of(dim, l->z, l->normals, &l->delta, &l->square, &l->cross);
    gess__lane_product(t, dim, l->normals, l->steps);
    l->root = gess__lane_root(f, l, t, l->delta);
    l->square *= l->root * l->root;
    l->cross *= l->root;
    gess__two_uniforms(gess__lane_key(f, l, GESS__FOR_SLICE), 0, &uniform, &angle);
    l->here = GESS__MUTANT(NO_T_DENSITY) ? 0.0 : gess__lane_log_t(t, dim, l->delta);
    l->height = l->value - l->here + gess__log(uniform);
    l->delta_sum += l->delta;
    l->log_t_sum += l->here;
    l->bracket = gess__bracket_open(angle);
}

GESS__INLINE void gess__lane_ellipse_propose(const gess__lane_frozen *f, gess__lane *l)
{
    gess__sincos_turns(l->bracket.angle, &l->sine, &l->cosine);
    gess__lane_ellipse_point(f, l, f->single.mu, l->sine * l->root);
}

GESS__INLINE enum gess__lane_end gess__lane_ellipse_take(const gess__lane_frozen *f, gess__lane *l, double value)
{
    double tilt = GESS__MUTANT(TILTED) ? 0.1 * l->point[0] : 0.0;
    if (!(value + tilt - l->there > l->height)) return gess__lane_next_angle(f, l);
    double sine = l->sine * l->root;
    for (size_t i = 0; i < GESS__LANE_DIM_OF(f); i++) l->z[i] = gess__fma(l->normals[i], sine, l->z[i] * l->cosine);
    return GESS__LANE_MOVED;
}

/* log T of the proposal. */
GESS__INLINE double gess__lane_ellipse_there(const gess__lane_frozen *f, const gess__lane *l)
{
    double delta = gess__ellipse_delta(l->delta, l->square, l->cross, l->sine, l->cosine);
    return GESS__MUTANT(NO_T_DENSITY) ? 0.0 : gess__lane_log_t(&f->single, GESS__LANE_DIM_OF(f), delta);
}

/* ---- an ellipse about a component of a mixture ---- */

/* The component by a uniform, given log w_k t_k and log T at the point. */
GESS__INLINE size_t gess__lane_choose(const gess__lane_frozen *f, const double *terms, double log_t, double uniform)
{
    size_t k = 0;
    double below = 0.0;
    for (; k + 1 < GESS__LANE_COMPONENTS_OF(f); k++) {
        below += gess__exp(GESS__MUTANT(COMPONENT_BY_WEIGHT) ? f->t[k].log_weight : terms[k] - log_t);
        if (uniform <= below) break;
    }
    return k;
}

/* The coefficients of δ_k along the ellipse; offset: x − μ of the lane's component. */
GESS__LANE_CALL void gess__lane_measure(const gess__lane_frozen *f, gess__lane *l, size_t k, const double *offset)
{
    const gess__lane_t *t = &f->t[k];
    double a[GESS__LANE_DIM], b[GESS__LANE_DIM], z[GESS__LANE_DIM], cc, ss, ab, one, ac, unused, bc;
    gess__lane_solve(t, GESS__LANE_DIM_OF(f), NULL, offset, a);
    gess__lane_solve(t, GESS__LANE_DIM_OF(f), NULL, l->steps, b);
    gess__lane_solve(t, GESS__LANE_DIM_OF(f), t->mu, l->x, z);
    gess__dots_of(GESS__LANE_DIM_OF(f), a, b, &cc, &ss, &ab);
    gess__dots_of(GESS__LANE_DIM_OF(f), a, z, &unused, &one, &ac);
    bc = gess__dot_of(GESS__LANE_DIM_OF(f), b, z) - ab;
    one = one - 2.0 * ac + cc;
    ac -= cc;
    gess__lane_distance *d = &l->distances[k];
    d->cc = cc;
    d->ss = ss;
    d->sc = 2.0 * ab;
    d->one = one > 0.0 ? one : 0.0;
    d->c = 2.0 * ac;
    d->s = 2.0 * bc;
}

/* log T at the present angle. */
GESS__LANE_CALL double gess__lane_mixture_there(const gess__lane_frozen *f, const gess__lane *l)
{
    double terms[GESS__LANE_COMPONENTS];
    for (size_t k = 0; k < GESS__LANE_COMPONENTS_OF(f); k++) {
        const gess__lane_distance *d = &l->distances[k];
        double cosine = l->cosine, sine = l->sine;
        double delta = gess__fma(d->cc * cosine, cosine, gess__fma(d->ss * sine, sine, d->sc * sine * cosine)) +
                       gess__fma(d->c, cosine, gess__fma(d->s, sine, d->one));
        terms[k] = f->t[k].log_norm + gess__lane_log_t(&f->t[k], GESS__LANE_DIM_OF(f), delta > 0.0 ? delta : 0.0);
    }
    if (GESS__MUTANT(COMPONENT_FOR_MIXTURE)) return terms[l->component];
    return GESS__MUTANT(NO_T_DENSITY) ? 0.0 : gess__lane_log_sum(GESS__LANE_COMPONENTS_OF(f), terms);
}

GESS__LANE_CALL void gess__lane_mixture_begin(const gess__lane_frozen *f, gess__lane *l)
{
    double terms[GESS__LANE_COMPONENTS], deltas[GESS__LANE_COMPONENTS], offset[GESS__LANE_DIM], uniform, angle;
    size_t dim = GESS__LANE_DIM_OF(f);
    double log_t = gess__lane_mixture_log_t(f, l->x, terms, deltas);
    uniform = gess__one_uniform(gess__lane_key(f, l, GESS__FOR_COMPONENT), 0);
    l->component = gess__lane_choose(f, terms, log_t, uniform);
    l->log_t_sum += log_t;
    const gess__lane_t *t = &f->t[l->component];
    double root = gess__lane_root(f, l, t, deltas[l->component]);
    gess__lane_normals(gess__lane_key(f, l, GESS__FOR_NORMALS), dim, l->normals);
    for (size_t i = 0; i < dim; i++) l->normals[i] *= root;
    gess__lane_product(t, dim, l->normals, l->steps);
    for (size_t i = 0; i < dim; i++) offset[i] = l->x[i] - t->mu[i];
    for (size_t k = 0; k < GESS__LANE_COMPONENTS_OF(f); k++) gess__lane_measure(f, l, k, offset);
    l->cosine = 1.0;
    l->sine = 0.0;
    gess__two_uniforms(gess__lane_key(f, l, GESS__FOR_SLICE), 0, &uniform, &angle);
    l->height = l->value - gess__lane_mixture_there(f, l) + gess__log(uniform);
    l->bracket = gess__bracket_open(angle);
}

GESS__INLINE void gess__lane_mixture_propose(const gess__lane_frozen *f, gess__lane *l)
{
    gess__sincos_turns(l->bracket.angle, &l->sine, &l->cosine);
    gess__lane_ellipse_point(f, l, f->t[l->component].mu, l->sine);
}

/* ---- an independence move ---- */

GESS__LANE_CALL void gess__lane_independence_begin(const gess__lane_frozen *f, gess__lane *l, int rebind)
{
    size_t dim = GESS__LANE_DIM_OF(f), k = 0;
    gess__lane_normals(gess__lane_key(f, l, GESS__FOR_NORMALS), dim, l->normals);
    if (GESS__LANE_COMPONENTS_OF(f) > 1) {
        double uniform = gess__one_uniform(gess__lane_key(f, l, GESS__FOR_COMPONENT), 0);
        for (double below = gess__exp(f->t[0].log_weight); k + 1 < GESS__LANE_COMPONENTS_OF(f) && uniform > below;)
            below += gess__exp(f->t[++k].log_weight);
    }
    const gess__lane_t *t = GESS__LANE_COMPONENTS_OF(f) > 1 ? &f->t[k] : &f->single;
    if (t->nu < HUGE_VAL) {
        double root = sqrt(0.5 * t->nu / gess__lane_gamma(gess__lane_key(f, l, GESS__FOR_SCALE), 0.5 * t->nu));
        for (size_t i = 0; i < dim; i++) l->normals[i] *= root;
    }
    gess__lane_product(t, dim, l->normals, l->point);
    for (size_t i = 0; i < dim; i++) l->point[i] += t->mu[i];
    if (GESS__LANE_COMPONENTS_OF(f) > 1) {
        l->here = gess__lane_mixture_log_t(f, l->x, NULL, NULL);
        l->there = gess__lane_mixture_log_t(f, l->point, NULL, NULL);
    } else {
        if (rebind || l->iteration % GESS__REBIND_EVERY == 0) gess__lane_solve(t, dim, t->mu, l->x, l->z);
        double delta = gess__dot_of(dim, l->z, l->z);
        l->delta_sum += delta;
        l->here = gess__lane_log_t(t, dim, delta);
        l->there = gess__lane_log_t(t, dim, gess__dot_of(dim, l->normals, l->normals));
    }
    l->log_t_sum += l->here;
}

GESS__INLINE enum gess__lane_end gess__lane_independence_take(const gess__lane_frozen *f, gess__lane *l, double value)
{
    double uniform = gess__one_uniform(gess__lane_key(f, l, GESS__FOR_SLICE), 0);
    double here = l->value - l->here, there = value - l->there;
    if (GESS__MUTANT(INDEPENDENCE_INVERTED)) there = value - l->value - l->here + l->there + here;
    l->tally.independence++;
    if (!(there - here > gess__log(uniform))) return GESS__LANE_STAYED;
    if (GESS__LANE_COMPONENTS_OF(f) == 1)
        for (size_t i = 0; i < GESS__LANE_DIM_OF(f); i++) l->z[i] = l->normals[i];
    l->tally.accepted++;
    return GESS__LANE_MOVED;
}

/* ---- a slice along a coordinate ---- */

#define GESS__LANE_SLICE_REACH 2.5 /* kernel/coordinate_slice.c has the meanings of both */
#define GESS__LANE_DRIVER_SHARE 0.5

/* gess__scale_driver(). */
GESS__INLINE size_t gess__lane_driver(const gess__lane_frozen *f, double uniform)
{
    size_t at = 0, count = 0;
    while (at < f->layers && f->layer[at].kind != GESS__LANE_SCALE) at++;
    if (at == f->layers) return GESS__LANE_DIM_OF(f);
    const gess__scale_step *steps = (const gess__scale_step *)f->layer[at].part[0];
    for (size_t p = 0; p < f->layer[at].count; p++) count += steps[p].scales > 0;
    size_t left = (size_t)(uniform * (double)count);
    for (size_t p = 0; count > 0; p++)
        if (steps[p].scales > 0 && left-- == 0) return steps[p].scale_from[0];
    return GESS__LANE_DIM_OF(f);
}

GESS__LANE_CALL void gess__lane_slice_begin(const gess__lane_frozen *f, gess__lane *l)
{
    const gess__lane_t *t = &f->single;
    gess__key key = gess__lane_key(f, l, GESS__FOR_COMPONENT);
    size_t dim = GESS__LANE_DIM_OF(f), at = dim;
    double which = gess__one_uniform(key, 0), square = 0.0, *w = l->steps;
    if (which < GESS__LANE_DRIVER_SHARE) at = gess__lane_driver(f, which / GESS__LANE_DRIVER_SHARE);
    if (at == dim) at = (size_t)(gess__one_uniform(key, 1) * (double)dim);
    for (size_t i = at; i < dim; i++) w[i] = i == at ? 1.0 : 0.0;
    for (size_t k = at; k < dim; k++) {
        w[k] *= t->inverse_diagonal[k];
        square += w[k] * w[k];
        for (size_t i = k + 1; i < dim; i++) w[i] -= t->chol[i + k * dim] * w[k];
    }
    l->along = at;
    l->length = GESS__LANE_SLICE_REACH / sqrt(square);
    gess__interval_open(&l->interval, gess__lane_key(f, l, GESS__FOR_SLICE), l->value);
    l->tally.coordinate++;
}

GESS__INLINE void gess__lane_slice_propose(const gess__lane_frozen *f, gess__lane *l)
{
    for (size_t i = 0; i < GESS__LANE_DIM_OF(f); i++)
        l->point[i] = gess__fma(l->interval.at, i == l->along ? l->length : 0.0, l->x[i]);
    l->tally.coordinate_evals++;
}

GESS__INLINE enum gess__lane_end gess__lane_slice_take(const gess__lane_frozen *f, gess__lane *l, double value)
{
    if (gess__interval_take(&l->interval, value)) return GESS__LANE_MOVED;
    if (l->interval.shrinks >= GESS__MAX_SHRINKS) return GESS__LANE_FAILED;
    gess__interval_aim(&l->interval, gess__lane_key(f, l, GESS__FOR_SLICE));
    return GESS__LANE_GOES_ON;
}

#endif
