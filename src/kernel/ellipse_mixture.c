/* Draws the component, follows log T of the whole mixture along the ellipse, and shrinks the bracket. */
#include "kernel/ellipse_mixture.h"

#include "base/tiles.h"
#include "kernel/ellipse.h"

#include <string.h>

/* δ_k(θ) = cc cos² + ss sin² + sc sin cos + one + c cos + s sin. */
typedef struct distance {
    double cc, ss, sc, one, c, s;
} distance;

/* The state of a lane during one update. */
typedef struct lane {
    double height;
    gess__bracket bracket;
    double sine, cosine;
    size_t component;
    distance distances[GESS__MAX_COMPONENTS];
} lane;

enum { CHUNK = 64 }; /* lanes per pass of the vector loops */

typedef struct work {
    lane *lanes;            /* block */
    double *whitened;       /* count × block × dim: L_k⁻¹(x − μ_k) */
    double *steps;          /* block × dim: v */
    double *offsets;        /* block × dim: x − μ_j, j the lane's component */
    double *first, *second; /* block × dim */
    double *uniforms;       /* 2 × block */
    double *roots;          /* block: √s */
    double *log_ts;         /* block */
    double *norms;          /* GESS__MAX_COMPONENTS: log weight + log norm per component */
    double *zeros;          /* dim */
    double *tries;          /* one number: angles so far */
    double *triangle;
} work;

size_t gess__ellipse_mixture_scratch_size(size_t dim, size_t block)
{
    return (block * sizeof(lane) + sizeof(double) - 1) / sizeof(double) + (gess__mixture_room(dim) + 4) * block * dim +
           4 * block + GESS__MAX_COMPONENTS + dim + 1 + gess__triangular_scratch(dim);
}

static inline work carve(const gess__update *u)
{
    size_t dim = u->target->dim, n = u->count;
    work w = {.lanes = (lane *)(void *)u->scratch};
    w.whitened = u->scratch + (n * sizeof(lane) + sizeof(double) - 1) / sizeof(double);
    w.steps = w.whitened + gess__mixture_room(dim) * n * dim;
    w.offsets = w.steps + n * dim;
    w.first = w.offsets + n * dim;
    w.second = w.first + n * dim;
    w.uniforms = w.second + n * dim;
    w.roots = w.uniforms + 2 * n;
    w.log_ts = w.roots + n;
    w.norms = w.log_ts + n;
    w.zeros = w.norms + GESS__MAX_COMPONENTS;
    w.tries = w.zeros + dim;
    w.triangle = w.tries + 1;
    return w;
}

/* δ_k of up to CHUNK lanes at their angles. */
static GESS__VECTOR(deltas_at,
                    (const lane *lanes, const uint32_t *restrict numbers, size_t k, size_t n, double *restrict deltas),
                    (lanes, numbers, k, n, deltas))
{
    for (size_t i = 0; i < n; i++) {
        const lane *l = &lanes[numbers[i]];
        const distance *d = &l->distances[k];
        double cosine = l->cosine, sine = l->sine;
        double delta = gess__fma(d->cc * cosine, cosine, gess__fma(d->ss * sine, sine, d->sc * sine * cosine)) +
                       gess__fma(d->c, cosine, gess__fma(d->s, sine, d->one));
        deltas[i] = delta > 0.0 ? delta : 0.0;
    }
}

/* log T of n lanes at their angles. */
static void log_ts_at(const gess__update *u, const work *w, const uint32_t *lanes, size_t n, double *out)
{
    double terms[GESS__MAX_COMPONENTS * CHUNK], deltas[CHUNK];
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t some = n - done < CHUNK ? n - done : CHUNK;
        for (size_t k = 0; k < u->mixture->count; k++) {
            double *term = terms + k * CHUNK;
            deltas_at(w->lanes, lanes + done, k, some, deltas);
            gess__approx_log_ts(u->mixture->component[k], 0, some, deltas, term);
            for (size_t i = 0; i < some; i++) term[i] = w->norms[k] + term[i];
        }
        gess__log_sums(u->mixture->count, CHUNK, some, terms, out + done);
        for (size_t i = 0; i < some; i++) {
            if (GESS__MUTANT(COMPONENT_FOR_MIXTURE))
                out[done + i] = terms[w->lanes[lanes[done + i]].component * CHUNK + i];
            else if (GESS__MUTANT(NO_T_DENSITY))
                out[done + i] = 0.0;
        }
    }
}

/* Chooses a component by a uniform; terms[k CHUNK] is log w_k t_k at the lane's point. */
static GESS__VECTOR_VALUE(size_t, choose,
                          (const gess__mixture *mixture, const double *terms, double log_t, double uniform),
                          (mixture, terms, log_t, uniform))
{
    size_t k = 0;
    double below = 0.0;
    for (; k + 1 < mixture->count; k++) {
        below += gess__exp(GESS__MUTANT(COMPONENT_BY_WEIGHT) ? mixture->log_weight[k] : terms[k * CHUNK] - log_t);
        if (uniform <= below) break;
    }
    return k;
}

/* Draws every lane's component given its point. Sets w->log_ts to log T of the points and w->roots to δ in the
 * components drawn. */
static void choose_components(gess__update *u, const work *w)
{
    double terms[GESS__MAX_COMPONENTS * CHUNK], deltas[GESS__MAX_COMPONENTS * CHUNK], uniforms[CHUNK], unused[CHUNK];
    size_t dim = u->target->dim, n = u->count;
    uint32_t chains[CHUNK];
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t some = n - done < CHUNK ? n - done : CHUNK;
        for (size_t c = 0; c < u->mixture->count; c++) {
            const double *z = w->whitened + (c * n + done) * dim;
            double *term = terms + c * CHUNK;
            for (size_t i = 0; i < some; i++) deltas[c * CHUNK + i] = gess__dot(dim, z + i * dim, z + i * dim);
            gess__approx_log_ts(u->mixture->component[c], 0, some, deltas + c * CHUNK, term);
            for (size_t i = 0; i < some; i++) term[i] = w->norms[c] + term[i];
        }
        gess__log_sums(u->mixture->count, CHUNK, some, terms, w->log_ts + done);
        gess__key key = gess__update_key(u, done, GESS__FOR_COMPONENT);
        for (size_t i = 0; i < some; i++) chains[i] = key.chain + (uint32_t)i;
        gess__uniform_pairs(key, 0, some, chains, uniforms, unused);
        for (size_t i = 0; i < some; i++) {
            size_t k = choose(u->mixture, terms + i, w->log_ts[done + i], uniforms[i]);
            w->lanes[done + i].component = k;
            /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): k < count */
            w->roots[done + i] = deltas[k * CHUNK + i];
        }
    }
}

/* Draws √s of the m lanes in `lanes`, all of one component; w->roots holds δ before and √s after. */
static void draw_roots(const gess__update *u, const work *w, const gess__approx *t, size_t m, const uint32_t *lanes)
{
    double shape = 0.5 * ((double)u->target->dim + t->nu), gammas[CHUNK] = {0};
    gess__key key = gess__update_key(u, 0, GESS__FOR_SCALE);
    uint32_t chains[CHUNK];
    if (GESS__MUTANT(SCALE_SHAPE)) shape *= 1.05;
    for (size_t done = 0; done < m; done += CHUNK) {
        size_t some = m - done < CHUNK ? m - done : CHUNK;
        for (size_t i = 0; i < some; i++) chains[i] = key.chain + lanes[done + i];
        if (isfinite(t->nu)) gess__gammas(key, shape, some, chains, gammas);
        for (size_t i = 0; i < some; i++) {
            double *root = &w->roots[lanes[done + i]];
            *root = isfinite(t->nu) ? sqrt(0.5 * (t->nu + *root) / gammas[i]) : 1.0;
        }
    }
}

/* Draws every lane's second axis, √s L n, component by component. Overwrites u->lane. */
static void draw_steps(gess__update *u, const work *w)
{
    size_t dim = u->target->dim, n = u->count;
    gess__normal_rows(gess__update_key(u, 0, GESS__FOR_NORMALS), n, dim, w->offsets);
    for (size_t c = 0; c < u->mixture->count; c++) {
        const gess__approx *t = u->mixture->component[c];
        size_t m = 0;
        for (size_t j = 0; j < n; j++)
            if (w->lanes[j].component == c) u->lane[m++] = (uint32_t)j;
        if (m == 0) continue;
        draw_roots(u, w, t, m, u->lane);
        for (size_t p = 0; p < m; p++) {
            double root = w->roots[u->lane[p]];
            const double *normals = w->offsets + u->lane[p] * dim;
            for (size_t i = 0; i < dim; i++) w->first[p * dim + i] = normals[i] * root;
        }
        gess__triangular_products(dim, t->chol, m, w->first, w->second, w->triangle);
        for (size_t p = 0; p < m; p++) memcpy(w->steps + u->lane[p] * dim, w->second + p * dim, dim * sizeof *w->steps);
    }
}

/* Sets every lane's coefficients of δ_k along its ellipse; w->first holds A, w->second B. */
static void measure(const gess__update *u, const work *w, size_t k)
{
    size_t dim = u->target->dim, n = u->count;
    const gess__approx *t = u->mixture->component[k];
    gess__triangular_solves(dim, t->chol, t->inverse_diagonal, w->zeros, n, w->offsets, w->first, w->triangle);
    gess__triangular_solves(dim, t->chol, t->inverse_diagonal, w->zeros, n, w->steps, w->second, w->triangle);
    for (size_t j = 0; j < n; j++) {
        const double *a = w->first + j * dim, *b = w->second + j * dim, *z = w->whitened + (k * n + j) * dim;
        double cc, ss, ab, one, ac, unused, bc;
        gess__dots(dim, a, b, &cc, &ss, &ab);
        /* z = A + C */
        gess__dots(dim, a, z, &unused, &one, &ac);
        bc = gess__dot(dim, b, z) - ab;
        one = one - 2.0 * ac + cc;
        ac -= cc;
        w->lanes[j].distances[k] =
            (distance){.cc = cc, .ss = ss, .sc = 2.0 * ab, .one = one > 0.0 ? one : 0.0, .c = 2.0 * ac, .s = 2.0 * bc};
    }
}

void gess__ellipse_mixture_begin(gess__update *u)
{
    size_t dim = u->target->dim, n = u->count;
    work w = carve(u);
    const double *x = u->chains->x + u->first * dim;
    memset(w.zeros, 0, dim * sizeof *w.zeros);
    for (size_t k = 0; k < u->mixture->count; k++) {
        const gess__approx *t = u->mixture->component[k];
        w.norms[k] = u->mixture->log_weight[k] + gess__approx_log_norm(t);
        gess__triangular_solves(dim, t->chol, t->inverse_diagonal, t->mu, n, x, w.whitened + k * n * dim, w.triangle);
    }
    choose_components(u, &w);
    if (u->chains->log_ts != NULL)
        for (size_t j = 0; j < n; j++) u->chains->log_ts[u->first + j] += w.log_ts[j];
    draw_steps(u, &w);
    for (size_t j = 0; j < n; j++) {
        const double *centre = u->mixture->component[w.lanes[j].component]->mu;
        for (size_t i = 0; i < dim; i++) w.offsets[j * dim + i] = x[j * dim + i] - centre[i];
    }
    for (size_t k = 0; k < u->mixture->count; k++) measure(u, &w, k);
    for (size_t j = 0; j < n; j++) {
        u->lane[j] = (uint32_t)j;
        w.lanes[j].cosine = 1.0;
        w.lanes[j].sine = 0.0;
    }
    gess__slice_uniforms(u, 0, n, w.uniforms, w.uniforms + n);
    log_ts_at(u, &w, u->lane, n, w.log_ts);
    for (size_t j = 0; j < n; j++) {
        w.lanes[j].height = u->chains->value[u->first + j] - w.log_ts[j] + gess__log(w.uniforms[j]);
        w.lanes[j].bracket = gess__bracket_open(w.uniforms[n + j]);
    }
    *w.tries = 0.0;
    u->proposals = n;
}

void gess__ellipse_mixture_propose(gess__update *u)
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

int gess__ellipse_mixture_predict(const gess__update *u, size_t p, size_t rejections, double *point)
{
    size_t dim = u->target->dim, j = u->lane[p];
    work w = carve(u);
    const lane *l = &w.lanes[j];
    double sine, cosine;
    if (*w.tries + (double)rejections >= GESS__MAX_ANGLES) return 0;
    gess__bracket b = gess__bracket_predict(u, j, l->bracket, (uint32_t)*w.tries, rejections);
    gess__sincos_turns(b.angle, &sine, &cosine);
    gess__ellipse_point(dim, u->mixture->component[l->component]->mu, u->chains->x + (u->first + j) * dim,
                        w.steps + j * dim, cosine, sine, point);
    return 1;
}

int gess__ellipse_mixture_consume(gess__update *u, gess_error *err)
{
    size_t left = 0, dim = u->target->dim;
    work w = carve(u);
    log_ts_at(u, &w, u->lane, u->proposals, w.log_ts);
    gess__note_levels(u, w.log_ts);
    for (size_t p = 0; p < u->proposals; p++) {
        size_t j = u->lane[p], chain = u->first + j;
        const lane *l = &w.lanes[j];
        double value;
        GESS_TRY(gess__update_value(u, p, &value, err));
        if (!(value - w.log_ts[p] > l->height)) {
            u->lane[left++] = (uint32_t)j;
            continue;
        }
        u->tally.angles[gess__angle_bin(l->bracket.angle)]++;
        memcpy(u->chains->x + chain * dim, u->points + p * dim, dim * sizeof *u->points);
        u->chains->value[chain] = value;
        gess__update_move_blobs(u, j, p);
    }
    gess__count_ended(u, u->proposals - left);
    u->proposals = left;
    if (left == 0) return GESS_OK;
    *w.tries += 1.0;
    if (*w.tries >= GESS__MAX_ANGLES) {
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
