/* Proposes a point drawn from T, and accepts it by the Metropolis-Hastings ratio. */
#include "kernel/independence.h"

#include "base/tiles.h"
#include "kernel/ellipse.h"

#include <string.h>

typedef struct work {
    double *normals;        /* block × dim: n, then z of the proposal */
    double *chosen, *drawn; /* block × dim: normals and points of one component's lanes */
    double *here, *there;   /* log T of the present points and of the proposals */
    double *first, *second; /* uniforms */
    double *shared;         /* for the triangular kernels and the mixture */
} work;

static size_t shared_size(size_t dim, size_t block)
{
    size_t triangle = gess__triangular_scratch(dim), mixture = gess__mixture_scratch(dim, block);
    return triangle > mixture ? triangle : mixture;
}

size_t gess__independence_scratch_size(size_t dim, size_t block)
{
    return 3 * block * dim + 4 * block + shared_size(dim, block);
}

static inline work carve(const gess__update *u)
{
    size_t dim = u->target->dim, n = u->count;
    double *at = u->scratch + 3 * n * dim;
    return (work){.normals = u->scratch,
                  .chosen = u->scratch + n * dim,
                  .drawn = u->scratch + 2 * n * dim,
                  .here = at,
                  .there = at + n,
                  .first = at + 2 * n,
                  .second = at + 3 * n,
                  .shared = at + 4 * n};
}

static GESS__VECTOR_VALUE(size_t, choose, (const gess__mixture *mixture, double uniform), (mixture, uniform))
{
    size_t k = 0;
    for (double below = gess__exp(mixture->log_weight[0]); k + 1 < mixture->count && uniform > below;)
        below += gess__exp(mixture->log_weight[++k]);
    return k;
}

/* Draws from the component t for the m lanes in u->lane. Rows 0 .. m - 1 of `normals` hold their normals before and z
 * after; rows 0 .. m - 1 of `points` receive the draws. */
static void draw_from(gess__update *u, const work *w, const gess__approx *t, size_t m, double *normals, double *points)
{
    enum { CHUNK = 64 };
    size_t dim = u->target->dim;
    double gammas[CHUNK];
    uint32_t chains[CHUNK];
    gess__key key = gess__update_key(u, 0, GESS__FOR_SCALE);
    for (size_t done = 0; done < m && isfinite(t->nu); done += CHUNK) {
        size_t some = m - done < CHUNK ? m - done : CHUNK;
        for (size_t i = 0; i < some; i++) chains[i] = key.chain + u->lane[done + i];
        gess__gammas(key, 0.5 * t->nu, some, chains, gammas);
        for (size_t i = 0; i < some; i++) {
            double root = sqrt(0.5 * t->nu / gammas[i]), *n = normals + (done + i) * dim;
            for (size_t k = 0; k < dim; k++) n[k] *= root;
        }
    }
    gess__triangular_products(dim, t->chol, m, normals, points, w->shared);
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < dim; i++) points[j * dim + i] += t->mu[i];
}

/* Draws every lane's proposal from T. If T has one component, w->normals holds z of the proposals afterwards. */
static void draw(gess__update *u, const work *w)
{
    size_t dim = u->target->dim, n = u->count;
    gess__normal_rows(gess__update_key(u, 0, GESS__FOR_NORMALS), n, dim, w->normals);
    if (u->mixture == NULL) {
        for (size_t j = 0; j < n; j++) u->lane[j] = (uint32_t)j;
        draw_from(u, w, u->approx, n, w->normals, u->points);
        return;
    }
    gess__key key = gess__update_key(u, 0, GESS__FOR_COMPONENT);
    for (size_t j = 0; j < n; j++, key.chain++)
        w->here[j] = (double)choose(u->mixture, gess__uniform(key, 0)); /* holds the component for now */
    for (size_t k = 0; k < u->mixture->count; k++) {
        size_t m = 0;
        for (size_t j = 0; j < n; j++)
            if (w->here[j] == (double)k) u->lane[m++] = (uint32_t)j;
        for (size_t p = 0; p < m; p++)
            memcpy(w->chosen + p * dim, w->normals + u->lane[p] * dim, dim * sizeof *w->chosen);
        draw_from(u, w, u->mixture->component[k], m, w->chosen, w->drawn);
        for (size_t p = 0; p < m; p++) memcpy(u->points + u->lane[p] * dim, w->drawn + p * dim, dim * sizeof *w->drawn);
    }
    for (size_t j = 0; j < n; j++) u->lane[j] = (uint32_t)j;
}

/* Sets log T of the present points and of the proposals, for a T of one component. */
static void weigh_one(gess__update *u, const work *w)
{
    size_t dim = u->target->dim, n = u->count;
    const gess__approx *t = u->approx;
    double *z = u->chains->kernel_state + u->first * dim;
    if (u->rebind || u->iteration % GESS__REBIND_EVERY == 0)
        gess__triangular_solves(dim, t->chol, t->inverse_diagonal, t->mu, n, u->chains->x + u->first * dim, z,
                                w->shared);
    for (size_t j = 0; j < n; j++) {
        w->first[j] = gess__dot(dim, z + j * dim, z + j * dim);
        w->second[j] = gess__dot(dim, w->normals + j * dim, w->normals + j * dim);
        if (u->chains->deltas != NULL) u->chains->deltas[u->first + j] += w->first[j];
    }
    gess__approx_log_ts(t, 0, n, w->first, w->here);
    gess__approx_log_ts(t, 0, n, w->second, w->there);
}

void gess__independence_begin(gess__update *u)
{
    size_t n = u->count, dim = u->target->dim;
    work w = carve(u);
    draw(u, &w);
    if (u->mixture == NULL) {
        weigh_one(u, &w);
    } else {
        gess__mixture_log_ts(u->mixture, n, u->chains->x + u->first * dim, w.here, w.shared);
        gess__mixture_log_ts(u->mixture, n, u->points, w.there, w.shared);
    }
    for (size_t j = 0; u->chains->log_ts != NULL && j < n; j++) u->chains->log_ts[u->first + j] += w.here[j];
    gess__slice_uniforms(u, 0, n, w.first, w.second);
    u->proposals = n;
}

int gess__independence_consume(gess__update *u, gess_error *err)
{
    size_t n = u->count, dim = u->target->dim;
    work w = carve(u);
    gess__note_levels(u, w.there);
    for (size_t j = 0; j < n; j++) {
        size_t chain = u->first + j;
        double value, here = u->chains->value[chain] - w.here[j];
        GESS_TRY(gess__update_value(u, j, &value, err));
        double there = value - w.there[j];
        if (GESS__MUTANT(INDEPENDENCE_INVERTED))
            there = value - u->chains->value[chain] - w.here[j] + w.there[j] + here;
        if (!(there - here > gess__log(w.first[j]))) continue;
        memcpy(u->chains->x + chain * dim, u->points + j * dim, dim * sizeof *u->points);
        if (u->mixture == NULL)
            memcpy(u->chains->kernel_state + chain * dim, w.normals + j * dim, dim * sizeof *w.normals);
        u->chains->value[chain] = value;
        gess__update_move_blobs(u, j, j);
        u->tally.independence_accepted++;
    }
    u->tally.independence += n;
    gess__count_ended(u, n);
    u->proposals = 0;
    return GESS_OK;
}
