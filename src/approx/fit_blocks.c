/* Whitened distances and weighted products of many points, block by block, so that a team of threads shares them and
 * the bits do not depend on the number of threads. */
#include "approx/fit_blocks.h"

#include "base/assert.h"
#include "base/linalg.h"
#include "base/mem.h"

#include <stdlib.h>

/* Blocks whose products are kept at a time, so that memory does not grow with the number of points. */
enum { GROUP = 32 };

int gess__fit_blocks_open(gess__fit_blocks *fb, gess__team *team, size_t dim, size_t points, gess_error *err)
{
    GESS_ASSERT(dim > 0);
    size_t blocks = gess__block_count(points);
    fb->team = team;
    fb->dim = dim;
    GESS_ALLOC(&fb->tiles, gess__block_workers(team) * dim * GESS__WIDE_LANES, err);
    if (blocks > 1) GESS_ALLOC(&fb->parts, (blocks < GROUP ? blocks : GROUP) * dim * dim, err);
    return GESS_OK;
}

void gess__fit_blocks_close(gess__fit_blocks *fb)
{
    free(fb->tiles);
    free(fb->parts);
}

struct squares {
    gess__fit_blocks *in;
    const gess__approx *t;
    const double *points;
    double *out;
};

static void squares_of_block(void *data, unsigned worker, size_t block, size_t first, size_t count)
{
    (void)block;
    const struct squares *s = data;
    const gess__approx *t = s->t;
    gess__whitened_squares(t->dim, t->chol, t->inverse_diagonal, t->mu, count, s->points + first * t->dim,
                           s->out + first, gess__fit_blocks_tile(s->in, worker));
}

void gess__fit_blocks_squares(gess__fit_blocks *fb, const gess__approx *t, size_t n, const double *points, double *out)
{
    GESS_ASSERT(t->dim <= fb->dim);
    struct squares s = {fb, t, points, out};
    gess__blocks(fb->team, (double)n * (double)t->dim * (double)t->dim, n, squares_of_block, &s);
}

struct product {
    gess__fit_blocks *in;
    size_t dim;
    double scale;
    const double *rows;
};

static void product_of_block(void *data, unsigned worker, size_t block, size_t first, size_t count)
{
    (void)worker;
    const struct product *p = data;
    gess__self_product(p->dim, count, p->scale, p->rows + first * p->dim, p->in->parts + block * p->dim * p->dim);
}

void gess__fit_blocks_self_product(gess__fit_blocks *fb, size_t dim, size_t n, double scale, const double *rows,
                                   double *square)
{
    GESS_ASSERT(dim <= fb->dim);
    const size_t group = (size_t)GROUP * GESS__BLOCK; /* points */
    if (gess__block_count(n) < 2 || fb->parts == NULL) {
        gess__self_product(dim, n, scale, rows, square);
        return;
    }
    for (size_t first = 0; first < n; first += group) {
        struct product p = {fb, dim, scale, rows + first * dim};
        size_t some = n - first < group ? n - first : group, blocks = gess__block_count(some);
        gess__blocks(fb->team, (double)some * (double)dim * (double)dim, some, product_of_block, &p);
        for (size_t k = 0; k < dim; k++)
            for (size_t i = k; i < dim; i++) {
                double sum = first > 0 ? square[i + k * dim] : 0.0;
                for (size_t b = 0; b < blocks; b++) sum += fb->parts[b * dim * dim + i + k * dim];
                square[i + k * dim] = sum;
            }
    }
}
