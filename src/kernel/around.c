#include "kernel/around.h"

#include "base/lanes.h"
#include "kernel/ellipse.h"

#include <string.h>

/* δ_k(θ) = cc cos² + ss sin² + sc sin cos + one + c cos + s sin. */
typedef struct distance {
    double cc, ss, sc, one, c, s;
} distance;

/* What is kept of a lane. */
typedef struct lane {
    double height;
    gess__bracket bracket;
    double sine, cosine;
    size_t component;
    distance distances[GESS__MOST_COMPONENTS];
} lane;

typedef struct work {
    lane *lanes;          /* block */
    double *whitened;     /* count × block × dim: L_k⁻¹(x − μ_k) */
    double *steps;        /* block × dim: v */
    double *row, *second; /* dim */
    double *uniforms;     /* 2 × block */
    double *norms;        /* GESS__MOST_COMPONENTS: log weight and constants of each component */
    double *tries;        /* one number: angles so far */
    double *triangle;
} work;

size_t gess__around_scratch_size(size_t dim, size_t block)
{
    return (block * sizeof(lane) + sizeof(double) - 1) / sizeof(double) + (GESS__MOST_COMPONENTS + 1) * block * dim +
           3 * dim + 2 * block + GESS__MOST_COMPONENTS + 1 + gess__triangular_scratch(dim);
}

static inline work carve(const gess__update *u)
{
    size_t dim = u->target->dim, n = u->count;
    work w = {.lanes = (lane *)(void *)u->scratch};
    w.whitened = u->scratch + (n * sizeof(lane) + sizeof(double) - 1) / sizeof(double);
    w.steps = w.whitened + GESS__MOST_COMPONENTS * n * dim;
    w.row = w.steps + n * dim;
    w.second = w.row + dim;
    w.uniforms = w.second + 2 * dim;
    w.norms = w.uniforms + 2 * n;
    w.tries = w.norms + GESS__MOST_COMPONENTS;
    w.triangle = w.tries + 1;
    return w;
}

static double log_t_at(const gess__update *u, const work *w, const lane *l, double cosine, double sine)
{
    double terms[GESS__MOST_COMPONENTS];
    for (size_t k = 0; k < u->mixture->count; k++) {
        const distance *d = &l->distances[k];
        double delta = gess__fma(d->cc * cosine, cosine, gess__fma(d->ss * sine, sine, d->sc * sine * cosine)) +
                       gess__fma(d->c, cosine, gess__fma(d->s, sine, d->one));
        terms[k] = w->norms[k] + gess__approx_log_t(u->mixture->component[k], delta > 0.0 ? delta : 0.0);
    }
    if (GESS__MUTANT(COMPONENT_FOR_MIXTURE)) return terms[l->component];
    return GESS__MUTANT(NO_T_DENSITY) ? 0.0 : gess__log_sum(u->mixture->count, terms);
}

/* Draws lane j's component given its point; *log_t: of the point. */
static size_t choose(const gess__update *u, const work *w, size_t j, double *log_t, double *delta)
{
    size_t dim = u->target->dim, k = 0;
    double terms[GESS__MOST_COMPONENTS] = {0}, deltas[GESS__MOST_COMPONENTS] = {0};
    for (size_t c = 0; c < u->mixture->count; c++) {
        const double *z = w->whitened + (c * u->count + j) * dim;
        deltas[c] = gess__dot(dim, z, z);
        terms[c] = w->norms[c] + gess__approx_log_t(u->mixture->component[c], deltas[c]);
    }
    *log_t = gess__log_sum(u->mixture->count, terms);
    double uniform = gess__uniform(gess__update_key(u, j, GESS__FOR_COMPONENT), 0), below = 0.0;
    for (; k + 1 < u->mixture->count; k++) {
        below += gess__exp(GESS__MUTANT(COMPONENT_BY_WEIGHT) ? u->mixture->log_weight[k] : terms[k] - *log_t);
        if (uniform <= below) break;
    }
    *delta = deltas[k];
    return k;
}

/* Lane j's second axis, √s L n, s drawn given the point's distance. */
static void draw_step(const gess__update *u, const work *w, size_t j, double delta)
{
    size_t dim = u->target->dim;
    const gess__approx *t = u->mixture->component[w->lanes[j].component];
    double root = 1.0, shape = 0.5 * ((double)dim + t->nu);
    if (GESS__MUTANT(SCALE_SHAPE)) shape *= 1.05;
    if (isfinite(t->nu))
        root = sqrt(0.5 * (t->nu + delta) / gess__gamma(gess__update_key(u, j, GESS__FOR_SCALE), shape));
    gess__normals(gess__update_key(u, j, GESS__FOR_NORMALS), dim, w->row);
    for (size_t i = 0; i < dim; i++) w->row[i] *= root;
    gess__triangular_products(dim, t->chol, 1, w->row, w->steps + j * dim, w->triangle);
}

static void measure(const gess__update *u, const work *w, size_t j, size_t k, const double *zeros)
{
    size_t dim = u->target->dim;
    const gess__approx *t = u->mixture->component[k];
    const double *z = w->whitened + (k * u->count + j) * dim, *x = u->chains->x + (u->first + j) * dim;
    double *a = w->row, *b = w->second, cc, ss, ab, one, ac, unused, bc;
    const double *centre = u->mixture->component[w->lanes[j].component]->mu;
    gess__triangular_solves(dim, t->chol, t->inverse_diagonal, centre, 1, x, a, w->triangle);
    gess__triangular_solves(dim, t->chol, t->inverse_diagonal, zeros, 1, w->steps + j * dim, b, w->triangle);
    gess__dots(dim, a, b, &cc, &ss, &ab);
    /* z = A + C */
    gess__dots(dim, a, z, &unused, &one, &ac);
    bc = gess__dot(dim, b, z) - ab;
    one = one - 2.0 * ac + cc;
    ac -= cc;
    w->lanes[j].distances[k] =
        (distance){.cc = cc, .ss = ss, .sc = 2.0 * ab, .one = one > 0.0 ? one : 0.0, .c = 2.0 * ac, .s = 2.0 * bc};
}

void gess__around_begin(gess__update *u)
{
    size_t dim = u->target->dim, n = u->count;
    work w = carve(u);
    double *zeros = w.second + dim;
    memset(zeros, 0, dim * sizeof *zeros);
    for (size_t k = 0; k < u->mixture->count; k++) {
        const gess__approx *t = u->mixture->component[k];
        w.norms[k] = u->mixture->log_weight[k] + gess__approx_log_norm(t);
        gess__triangular_solves(dim, t->chol, t->inverse_diagonal, t->mu, n, u->chains->x + u->first * dim,
                                w.whitened + k * n * dim, w.triangle);
    }
    for (size_t j = 0; j < n; j++) u->lane[j] = (uint32_t)j;
    gess__slice_uniforms(u, 0, n, w.uniforms, w.uniforms + n);
    for (size_t j = 0; j < n; j++) {
        lane *l = &w.lanes[j];
        double log_t, delta;
        l->component = choose(u, &w, j, &log_t, &delta);
        draw_step(u, &w, j, delta);
        for (size_t k = 0; k < u->mixture->count; k++) measure(u, &w, j, k, zeros);
        l->height = u->chains->value[u->first + j] - log_t_at(u, &w, l, 1.0, 0.0) + gess__log(w.uniforms[j]);
        l->bracket = gess__bracket_open(w.uniforms[n + j]);
        if (u->chains->log_ts != NULL) u->chains->log_ts[u->first + j] += log_t;
    }
    *w.tries = 0.0;
    u->proposals = n;
}

void gess__around_propose(gess__update *u)
{
    size_t dim = u->target->dim;
    work w = carve(u);
    for (size_t p = 0; p < u->proposals; p++) {
        size_t j = u->lane[p];
        lane *l = &w.lanes[j];
        gess__sincos_turns(l->bracket.angle, &l->sine, &l->cosine);
        gess__ellipse_point(dim, u->mixture->component[l->component]->mu, u->chains->x + (u->first + j) * dim,
                            w.steps + j * dim, l->cosine, l->sine, u->points + p * dim);
    }
}

int gess__around_foresee(const gess__update *u, size_t p, size_t ahead, double *point)
{
    size_t dim = u->target->dim, j = u->lane[p];
    work w = carve(u);
    const lane *l = &w.lanes[j];
    double sine, cosine;
    if (*w.tries + (double)ahead >= GESS__MOST_ANGLES) return 0;
    gess__bracket b = gess__bracket_ahead(u, j, l->bracket, (uint32_t)*w.tries, ahead);
    gess__sincos_turns(b.angle, &sine, &cosine);
    gess__ellipse_point(dim, u->mixture->component[l->component]->mu, u->chains->x + (u->first + j) * dim,
                        w.steps + j * dim, cosine, sine, point);
    return 1;
}

int gess__around_consume(gess__update *u, gess_error *err)
{
    size_t left = 0, dim = u->target->dim;
    work w = carve(u);
    for (size_t p = 0; p < u->proposals; p++) {
        size_t j = u->lane[p], chain = u->first + j;
        const lane *l = &w.lanes[j];
        double value;
        GESS_TRY(gess__update_value(u, p, &value, err));
        if (!(value - log_t_at(u, &w, l, l->cosine, l->sine) > l->height)) {
            u->lane[left++] = (uint32_t)j;
            continue;
        }
        u->tally.angles[gess__angle_bin(l->bracket.angle)]++;
        memcpy(u->chains->x + chain * dim, u->points + p * dim, dim * sizeof *u->points);
        u->chains->value[chain] = value;
    }
    gess__count_ended(u, u->proposals - left);
    u->proposals = left;
    if (left == 0) return GESS_OK;
    *w.tries += 1.0;
    if (*w.tries >= GESS__MOST_ANGLES) {
        u->tally.failures += left;
        gess__count_ended(u, left);
        u->proposals = 0;
        return GESS_OK;
    }
    gess__slice_uniforms(u, (uint32_t)*w.tries, left, w.uniforms, w.uniforms + u->count);
    for (size_t p = 0; p < left; p++) {
        lane *l = &w.lanes[u->lane[p]];
        l->bracket = gess__bracket_shrink(l->bracket, w.uniforms[p]);
    }
    return GESS_OK;
}
