/* The elliptical slice update in whitened space that the kernels ess and gess share: the ellipse, the bracket of angles
 * and how it shrinks, log T along the ellipse, and the prediction of later angles. */
#include "kernel/ellipse.h"

#include "base/tiles.h"

/* ---- scratch of a block, carved from u->scratch ----
 *
 * Rows (normals, steps) are indexed by lane. The short arrays hold one number per unfinished lane, in
 * the order of u->lane; finished lanes are removed, so that every loop over the arrays is a vector
 * loop. All unfinished lanes have tried the same number of angles. */
typedef struct work {
    double *normals;            /* block × dim: n */
    double *steps;              /* block × dim: L n */
    double *triangle;           /* for the triangular kernels */
    double *tries;              /* one number: angles so far */
    double *deltas;             /* |z|² */
    double *squares;            /* |ζ|² */
    double *crosses;            /* z·ζ */
    double *heights;            /* log of the slice's height */
    double *roots;              /* √s */
    double *low, *high, *angle; /* brackets, in turns */
    double *sines, *cosines;    /* of the angle */
    double *first, *second;     /* uniforms, then scratch */
    uint32_t *kept;             /* indices of the proposals whose lanes are unfinished */
} work;

enum { ARRAYS = 13 };

static inline work carve(const gess__update *u)
{
    size_t dim = u->target->dim, n = u->count;
    double *rows = u->scratch, *triangle = rows + 2 * n * dim, *tries = triangle + gess__triangular_scratch(dim);
    double *at = tries + 1;
    return (work){.normals = rows,
                  .steps = rows + n * dim,
                  .triangle = triangle,
                  .tries = tries,
                  .deltas = at,
                  .squares = at + n,
                  .crosses = at + 2 * n,
                  .heights = at + 3 * n,
                  .roots = at + 4 * n,
                  .low = at + 5 * n,
                  .high = at + 6 * n,
                  .angle = at + 7 * n,
                  .sines = at + 8 * n,
                  .cosines = at + 9 * n,
                  .first = at + 10 * n,
                  .second = at + 11 * n,
                  .kept = (uint32_t *)(void *)(at + 12 * n)};
}

size_t gess__ellipse_state_size(size_t dim)
{
    return dim; /* z */
}

size_t gess__ellipse_scratch_size(size_t dim, size_t block)
{
    return 2 * block * dim + gess__triangular_scratch(dim) + 1 + ARRAYS * block;
}

/* ---- vector loops over lanes ---- */

void gess__slice_uniforms(const gess__update *u, uint32_t index, size_t n, double *first, double *second)
{
    enum { CHUNK = 64 };
    uint32_t chains[CHUNK];
    gess__key key = gess__update_key(u, 0, GESS__FOR_SLICE);
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t count = n - done < CHUNK ? n - done : CHUNK;
        for (size_t i = 0; i < count; i++) chains[i] = key.chain + u->lane[done + i];
        gess__uniform_pairs(key, index, count, chains, first + done, second + done);
    }
}

gess__bracket gess__bracket_predict(const gess__update *u, size_t lane, gess__bracket b, uint32_t tries,
                                    size_t rejections)
{
    gess__key key = gess__update_key(u, lane, GESS__FOR_SLICE);
    for (uint32_t i = 1; i <= rejections; i++) {
        double uniform, unused;
        gess__uniform_pairs(key, tries + i, 1, &key.chain, &uniform, &unused);
        b = gess__bracket_shrink(b, uniform);
    }
    return b;
}

static GESS__VECTOR(open_slices,
                    (size_t n, const double *restrict values, const double *restrict log_ts,
                     const double *restrict uniforms, double *restrict heights),
                    (n, values, log_ts, uniforms, heights))
{
    for (size_t i = 0; i < n; i++) heights[i] = values[i] - log_ts[i] + gess__log(uniforms[i]);
}

static GESS__VECTOR(scale_by_roots,
                    (size_t n, const double *restrict roots, double *restrict squares, double *restrict crosses),
                    (n, roots, squares, crosses))
{
    for (size_t i = 0; i < n; i++) {
        squares[i] *= roots[i] * roots[i];
        crosses[i] *= roots[i];
    }
}

/* δ along the ellipse. */
static GESS__VECTOR(turned_deltas,
                    (size_t n, const double *restrict deltas, const double *restrict squares,
                     const double *restrict crosses, const double *restrict sines, const double *restrict cosines,
                     double *restrict out),
                    (n, deltas, squares, crosses, sines, cosines, out))
{
    for (size_t i = 0; i < n; i++) {
        out[i] = gess__ellipse_delta(deltas[i], squares[i], crosses[i], sines[i], cosines[i]);
    }
}

static GESS__VECTOR(shrink,
                    (size_t n, const double *restrict uniforms, double *restrict low, double *restrict high,
                     double *restrict angle),
                    (n, uniforms, low, high, angle))
{
    for (size_t i = 0; i < n; i++) {
        gess__bracket b = gess__bracket_shrink((gess__bracket){low[i], high[i], angle[i]}, uniforms[i]);
        low[i] = b.low;
        high[i] = b.high;
        angle[i] = b.angle;
    }
}

static void log_t(const gess__update *u, const gess__ellipse_family *family, size_t n, const double *deltas,
                  double *out)
{
    gess__approx_log_ts(u->approx, family->gaussian, n, deltas, out);
    if (GESS__MUTANT(NO_T_DENSITY)) memset(out, 0, n * sizeof *out);
}

/* ---- the three steps ---- */

void gess__ellipse_begin(gess__update *u, const gess__ellipse_family *family)
{
    size_t dim = u->target->dim, n = u->count;
    const gess__approx *t = u->approx;
    work w = carve(u);
    double *z = u->chains->kernel_state + u->first * dim, *x = u->chains->x + u->first * dim;
    if (u->rebind || u->iteration % GESS__REBIND_EVERY == 0)
        gess__triangular_solves(dim, t->chol, t->inverse_diagonal, t->mu, n, x, z, w.triangle);
    for (size_t j = 0; j < n; j++) u->lane[j] = (uint32_t)j;
    gess__normal_rows(gess__update_key(u, 0, GESS__FOR_NORMALS), n, dim, w.normals);
    gess__dots_rows(n, dim, z, w.normals, w.deltas, w.squares, w.crosses);
    gess__triangular_products(dim, t->chol, n, w.normals, w.steps, w.triangle);
    family->root_scales(u, w.deltas, w.roots);
    scale_by_roots(n, w.roots, w.squares, w.crosses);
    /* one uniform for the height, one for the first angle */
    gess__slice_uniforms(u, 0, n, w.first, w.high);
    log_t(u, family, n, w.deltas, w.second);
    open_slices(n, u->chains->value + u->first, w.second, w.first, w.heights);
    for (size_t j = 0; u->chains->deltas != NULL && j < n; j++) {
        u->chains->deltas[u->first + j] += w.deltas[j];
        u->chains->log_ts[u->first + j] += w.second[j];
    }
    for (size_t j = 0; j < n; j++) {
        gess__bracket b = gess__bracket_open(w.high[j]);
        w.low[j] = b.low;
        w.high[j] = b.high;
        w.angle[j] = b.angle;
    }
    *w.tries = 0.0;
    u->proposals = n;
}

void gess__ellipse_propose(gess__update *u)
{
    size_t dim = u->target->dim;
    work w = carve(u);
    gess__turn(u->proposals, w.angle, w.sines, w.cosines);
    gess__ellipse_points(dim, u->approx->mu, u->chains->x + u->first * dim, w.steps, u->proposals, u->lane, w.cosines,
                         w.sines, w.roots, u->points);
}

int gess__ellipse_predict(const gess__update *u, size_t p, size_t rejections, double *point)
{
    size_t dim = u->target->dim, j = u->lane[p];
    work w = carve(u);
    double sine, cosine;
    if (*w.tries + (double)rejections >= GESS__MAX_ANGLES) return 0;
    gess__bracket b = {w.low[p], w.high[p], w.angle[p]};
    b = gess__bracket_predict(u, j, b, (uint32_t)*w.tries, rejections);
    gess__turn(1, &b.angle, &sine, &cosine);
    gess__ellipse_point(dim, u->approx->mu, u->chains->x + (u->first + j) * dim, w.steps + j * dim, cosine,
                        sine * w.roots[p], point);
    return 1;
}

/* Moves the lane of proposal p there: both x and z. */
GESS__INLINE void move(gess__update *u, const work *w, size_t p, double value)
{
    size_t dim = u->target->dim, j = u->lane[p], chain = u->first + j;
    const double *restrict point = u->points + p * dim, *restrict normals = w->normals + j * dim;
    double *restrict x = u->chains->x + chain * dim, *restrict z = u->chains->kernel_state + chain * dim;
    double cosine = w->cosines[p], sine = w->sines[p] * w->roots[p];
    for (size_t i = 0; i < dim; i++) {
        x[i] = point[i];
        z[i] = gess__fma(normals[i], sine, z[i] * cosine);
    }
    u->tally.angles[gess__angle_bin(w->angle[p])]++;
    u->chains->value[chain] = value;
    gess__update_move_blobs(u, j, p);
}

/* Moves the entries listed in `kept` (ascending) to the front. */
GESS__INLINE void compact(size_t left, const uint32_t *kept, double *values)
{
    for (size_t q = 0; q < left; q++) values[q] = values[kept[q]];
}

/* Moves the lanes whose proposals lie in their slices and removes them; w->second holds log T of the proposals.
 * *left: the number of rejected proposals. Acceptance is unpredictable, so proposals are partitioned without branching.
 */
static GESS__VECTOR_VALUE(int, settle, (gess__update * u, const work *w, size_t *left, gess_error *err),
                          (u, w, left, err))
{
    enum { CHUNK = 64 };
    size_t n = u->proposals, rest = 0;
    uint32_t *restrict kept = w->kept;
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t count = n - done < CHUNK ? n - done : CHUNK, taken = 0;
        uint32_t moved[CHUNK] = {0};
        for (size_t p = done; p < done + count; p++)
            if (!(u->values[p] < INFINITY)) GESS_TRY(gess__update_value(u, p, &u->values[p], err));
        for (size_t p = done; p < done + count; p++) {
            double tilt = GESS__MUTANT(TILTED) ? 0.1 * u->points[p * u->target->dim] : 0.0;
            int inside = u->values[p] + tilt - w->second[p] > w->heights[p];
            moved[taken] = (uint32_t)p;
            kept[rest] = (uint32_t)p;
            taken += (size_t)inside;
            rest += (size_t)!inside;
        }
        for (size_t i = 0; i < taken; i++) move(u, w, moved[i], u->values[moved[i]]);
    }
    for (size_t q = 0; q < rest; q++) u->lane[q] = u->lane[kept[q]];
    compact(rest, kept, w->deltas);
    compact(rest, kept, w->squares);
    compact(rest, kept, w->crosses);
    compact(rest, kept, w->heights);
    compact(rest, kept, w->roots);
    compact(rest, kept, w->low);
    compact(rest, kept, w->high);
    compact(rest, kept, w->angle);
    *left = rest;
    return GESS_OK;
}

int gess__ellipse_consume(gess__update *u, const gess__ellipse_family *family, gess_error *err)
{
    size_t left = 0;
    work w = carve(u);
    turned_deltas(u->proposals, w.deltas, w.squares, w.crosses, w.sines, w.cosines, w.first);
    log_t(u, family, u->proposals, w.first, w.second);
    gess__note_levels(u, w.second);
    GESS_TRY(settle(u, &w, &left, err));
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
    gess__slice_uniforms(u, (uint32_t)*w.tries, left, w.first, w.second);
    shrink(left, w.first, w.low, w.high, w.angle);
    return GESS_OK;
}
