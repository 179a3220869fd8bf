/* Allocates the workspace for learning layers, chooses how many points a layer is learned from, and standardises and
 * whitens them. scale.c, skew.c and warp.c learn with it. */
#include "transform/layer_learner.h"

#include "base/assert.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "base/tiles.h"
#include "transform/learned_map.h"

#include <stdlib.h>

/* The largest that any kind of layer asks for. */
static size_t scratch_bytes(size_t dim, size_t points)
{
    size_t largest = 0;
    for (size_t i = 0; i < GESS__LAYER_ROWS; i++) {
        const gess__layer_type *type = gess__layer_type_row(i);
        size_t needed = type->learn_bytes == NULL ? 0 : type->learn_bytes(dim, points);
        if (needed > largest) largest = needed;
    }
    return largest;
}

static int allocate(gess__learner *l, gess_error *err)
{
    size_t dim = l->dim, all = l->max_points * dim, tile = dim * GESS__LANES;
    GESS_ALLOC(&l->mean, dim, err);
    GESS_ALLOC(&l->sd, dim, err);
    GESS_ALLOC(&l->inverse_sd, dim, err);
    GESS_ALLOC(&l->z, all, err);
    GESS_ALLOC(&l->check, GESS__VALIDATION_POINTS * dim, err);
    GESS_ALLOC(&l->check_vectors, 3 * (size_t)GESS__VALIDATION_POINTS, err);
    GESS_ALLOC(&l->residuals, all + tile, err);
    GESS_ALLOC(&l->pair, 2 * all + tile, err);
    GESS_ALLOC(&l->square, 4 * dim * dim, err);
    GESS_ALLOC(&l->a, dim * dim, err);
    GESS_ALLOC(&l->b, dim * dim, err);
    GESS_ALLOC(&l->vectors, GESS__LEARN_VECTORS * l->max_points, err);
    return gess__alloc_bytes(&l->scratch, scratch_bytes(dim, l->max_points), 1, "scratch of a learner", err);
}

/* At most 2^21 numbers (64 MiB of workspace), unless that is fewer than 4 points per dimension. */
static size_t max_points(size_t dim, size_t points)
{
    size_t max = ((size_t)1 << 21) / dim;
    if (max < 4 * dim) max = 4 * dim;
    if (max > GESS__MAX_LEARN_POINTS) max = GESS__MAX_LEARN_POINTS;
    return points < max ? points : max;
}

int gess__learner_new(gess__learner **learner, size_t dim, size_t points, gess__team *team, gess_error *err)
{
    GESS_ASSERT(dim > 0);
    GESS_ALLOC(learner, 1, err);
    (*learner)->team = team;
    (*learner)->dim = dim;
    (*learner)->max_points = max_points(dim, points);
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
    free(l->inverse_sd);
    free(l->z);
    free(l->check);
    free(l->check_vectors);
    free(l->residuals);
    free(l->pair);
    free(l->square);
    free(l->a);
    free(l->b);
    free(l->vectors);
    free(l->scratch);
    free(l);
}

void gess__learner_check(gess__learner *l, size_t n, const double *points)
{
    GESS_ASSERT(n == 0 || points != NULL);
    l->other_count = n;
    l->other = points;
}

double gess__learn_effective(size_t n)
{
    return (double)n / 10.0;
}

/* Covariances cost dim² operations per point: at most 2^31 in all. Fewer than 4 points per dimension say little about
 * directions. */
size_t gess__learn_points(const gess__learner *l, size_t n, size_t max)
{
    size_t m = n, affordable = ((size_t)1 << 31) / (l->dim * l->dim);
    if (m > max) m = max;
    if (m > l->max_points) m = l->max_points;
    if (m > affordable) m = affordable;
    return m < 200 || m < 4 * l->dim ? 0 : m;
}

static bool moments(gess__learner *l, size_t n, const double *points, size_t m)
{
    size_t dim = l->dim;
    const double weight = 1.0 / (double)m;
    for (size_t i = 0; i < dim; i++) l->mean[i] = l->sd[i] = 0.0;
    for (size_t j = 0; j < m; j++) {
        const double *x = points + j * n / m * dim;
        for (size_t i = 0; i < dim; i++) l->mean[i] += x[i] * weight;
    }
    for (size_t j = 0; j < m; j++) {
        const double *x = points + j * n / m * dim;
        for (size_t i = 0; i < dim; i++) l->sd[i] += (x[i] - l->mean[i]) * (x[i] - l->mean[i]) * weight;
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
    GESS_ASSERT(m > 0 && m <= n && m <= l->max_points);
    if (!moments(l, n, points, m)) return false;
    size_t dim = l->dim;
    for (size_t i = 0; i < dim; i++) l->inverse_sd[i] = 1.0 / l->sd[i];
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < dim; i++)
            l->z[by_coordinate ? i * m + j : j * dim + i] =
                (points[j * n / m * dim + i] - l->mean[i]) * l->inverse_sd[i];
    size_t c = l->other_count < GESS__VALIDATION_POINTS ? l->other_count : GESS__VALIDATION_POINTS;
    for (size_t j = 0; j < c; j++)
        for (size_t i = 0; i < dim; i++)
            l->check[by_coordinate ? i * c + j : j * dim + i] =
                (l->other[j * l->other_count / c * dim + i] - l->mean[i]) * l->inverse_sd[i];
    l->check_count = c;
    return true;
}

bool gess__learn_whiten(gess__learner *l, size_t m, double *z)
{
    size_t dim = l->dim;
    gess__self_product(dim, m, 1.0 / (double)m, z, l->a);
    for (size_t i = 0; i < dim; i++) l->a[i * dim + i] += 1e-9;
    if (!gess__cholesky(dim, l->a)) return false;
    for (size_t i = 0; i < dim * dim; i++) l->b[i] = i % (dim + 1) == 0 ? 1.0 : 0.0;
    gess__solve_lower(dim, l->a, dim, l->b);
    gess__solve_lower(dim, l->a, m, z);
    return true;
}
