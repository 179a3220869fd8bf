#include "transform/learn.h"

#include "base/tiles.h"
#include "base/mem.h"
#include "base/vmath.h"

#include <stdlib.h>

static int allocate(gess__learner *l, gess_error *err)
{
    size_t dim = l->dim, all = l->most * dim, tile = dim * GESS__LANES;
    GESS_ALLOC(&l->mean, dim, err);
    GESS_ALLOC(&l->sd, dim, err);
    GESS_ALLOC(&l->z, all, err);
    GESS_ALLOC(&l->check, GESS__CHECKED * dim, err);
    GESS_ALLOC(&l->checks, 3 * (size_t)GESS__CHECKED, err);
    GESS_ALLOC(&l->residuals, all + tile, err);
    GESS_ALLOC(&l->pair, 2 * all + tile, err);
    GESS_ALLOC(&l->square, 4 * dim * dim, err);
    GESS_ALLOC(&l->a, dim * dim, err);
    GESS_ALLOC(&l->b, dim * dim, err);
    GESS_ALLOC(&l->small, GESS__SMALL * dim, err);
    GESS_ALLOC(&l->lanes, gess__block_count(l->most) * GESS__SKEW_STARTS * tile, err);
    GESS_ALLOC(&l->vectors, GESS__LEARN_VECTORS * l->most, err);
    GESS_ALLOC(&l->edges, GESS__MAX_EDGES * dim, err);
    GESS_ALLOC(&l->parent, GESS__MAX_EDGES * dim, err);
    GESS_ALLOC(&l->parents, dim, err);
    GESS_ALLOC(&l->order, dim, err);
    GESS_ALLOC(&l->marks, 2 * dim, err);
    GESS_ALLOC(&l->stack, dim, err);
    GESS_ALLOC(&l->shapes, dim, err);
    return GESS_OK;
}

/* As many as either step may look at; beyond 2^21 numbers (64 MiB of work), 4 a dimension. */
static size_t most_points(size_t dim, size_t points)
{
    size_t most = ((size_t)1 << 21) / (dim > 0 ? dim : 1);
    if (most < 4 * dim) most = 4 * dim;
    if (most > GESS__SKEW_POINTS) most = GESS__SKEW_POINTS;
    return points < most ? points : most;
}

int gess__learner_new(gess__learner **learner, size_t dim, size_t points, gess__team *team, gess_error *err)
{
    GESS_ALLOC(learner, 1, err);
    (*learner)->team = team;
    (*learner)->dim = dim;
    (*learner)->most = most_points(dim, points);
    int status = allocate(*learner, err);
    if (status != GESS_OK) {
        gess__learner_free(*learner);
        *learner = NULL;
    }
    return status;
}

void gess__learner_free(gess__learner *l)
{
    if (l == NULL) return;
    free(l->mean);
    free(l->sd);
    free(l->z);
    free(l->check);
    free(l->checks);
    free(l->residuals);
    free(l->pair);
    free(l->square);
    free(l->a);
    free(l->b);
    free(l->small);
    free(l->lanes);
    free(l->vectors);
    free(l->edges);
    free(l->parent);
    free(l->parents);
    free(l->order);
    free(l->marks);
    free(l->stack);
    free(l->shapes);
    free(l);
}

void gess__learner_check(gess__learner *l, size_t n, const double *points)
{
    l->others = n;
    l->other = points;
}

double gess__learn_effective(size_t n)
{
    return (double)n / 10.0;
}

/* Covariances cost dim² a point: 2^31 in all. Fewer than 4 points a dimension say little about directions. */
size_t gess__learn_points(const gess__learner *l, size_t n, size_t most)
{
    size_t m = n, affordable = ((size_t)1 << 31) / (l->dim > 0 ? l->dim * l->dim : 1);
    if (m > most) m = most;
    if (m > l->most) m = l->most;
    if (m > affordable) m = affordable;
    return m < 200 || m < 4 * l->dim ? 0 : m;
}

static bool moments(gess__learner *l, size_t n, const double *points, size_t m)
{
    size_t dim = l->dim;
    const double each = 1.0 / (double)m;
    for (size_t i = 0; i < dim; i++) l->mean[i] = l->sd[i] = 0.0;
    for (size_t j = 0; j < m; j++) {
        const double *x = points + j * n / m * dim;
        for (size_t i = 0; i < dim; i++) l->mean[i] += x[i] * each;
    }
    for (size_t j = 0; j < m; j++) {
        const double *x = points + j * n / m * dim;
        for (size_t i = 0; i < dim; i++) l->sd[i] += (x[i] - l->mean[i]) * (x[i] - l->mean[i]) * each;
    }
    for (size_t i = 0; i < dim; i++) {
        l->sd[i] = sqrt(l->sd[i]);
        if (!isfinite(l->mean[i]) || !isfinite(l->sd[i]) || !(l->sd[i] > 1e-12 * fabs(l->mean[i]) + 1e-280))
            return false;
    }
    return true;
}

bool gess__learn_standardise(gess__learner *l, size_t n, const double *points, size_t m, bool by_coordinate)
{
    if (!moments(l, n, points, m)) return false;
    size_t dim = l->dim;
    for (size_t i = 0; i < dim; i++) l->small[i] = 1.0 / l->sd[i];
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < dim; i++)
            l->z[by_coordinate ? i * m + j : j * dim + i] = (points[j * n / m * dim + i] - l->mean[i]) * l->small[i];
    size_t c = l->others < GESS__CHECKED ? l->others : GESS__CHECKED;
    for (size_t j = 0; j < c; j++)
        for (size_t i = 0; i < dim; i++)
            l->check[by_coordinate ? i * c + j : j * dim + i] =
                (l->other[j * l->others / c * dim + i] - l->mean[i]) * l->small[i];
    l->checked = c;
    return true;
}

/* Gaussian elimination without pivots, which a positive definite matrix does not need. */
void gess__learn_solve(size_t p, double *a, double *b)
{
    double trace = 0.0;
    for (size_t i = 0; i < p; i++) trace += a[i * p + i];
    for (size_t i = 0; i < p; i++) a[i * p + i] += 1e-10 * trace + 1e-300;
    for (size_t k = 0; k < p; k++)
        for (size_t i = k + 1; i < p; i++) {
            double factor = a[i * p + k] / a[k * p + k];
            for (size_t c = k; c < p; c++) a[i * p + c] -= factor * a[k * p + c];
            b[i] -= factor * b[k];
        }
    for (size_t k = p; k-- > 0;) {
        for (size_t c = k + 1; c < p; c++) b[k] -= a[k * p + c] * b[c];
        b[k] /= a[k * p + k];
    }
}
