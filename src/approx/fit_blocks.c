#include "approx/fit_blocks.h"

#include "base/linalg.h"
#include "base/mem.h"

#include <stdlib.h>

/* Blocks whose products are kept at a time, so that memory does not grow with the points. */
enum { GROUP = 32 };

int gess__fit_blocks_open(gess__fit_blocks *h, gess__team *team, size_t dim, size_t points, gess_error *err)
{
    size_t blocks = gess__block_count(points);
    h->team = team;
    h->dim = dim;
    GESS_ALLOC(&h->tiles, gess__block_workers(team) * dim * GESS__WIDE_LANES, err);
    if (blocks > 1) GESS_ALLOC(&h->parts, (blocks < GROUP ? blocks : GROUP) * dim * dim, err);
    return GESS_OK;
}

void gess__fit_blocks_close(gess__fit_blocks *h)
{
    free(h->tiles);
    free(h->parts);
}

struct squares {
    gess__fit_blocks *hands;
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
                           s->out + first, gess__fit_blocks_tile(s->hands, worker));
}

void gess__fit_blocks_squares(gess__fit_blocks *h, const gess__approx *t, size_t n, const double *points, double *out)
{
    struct squares s = {h, t, points, out};
    gess__blocks(h->team, (double)n * (double)t->dim * (double)t->dim, n, squares_of_block, &s);
}

struct product {
    gess__fit_blocks *hands;
    size_t dim;
    double scale;
    const double *rows;
};

static void product_of_block(void *data, unsigned worker, size_t block, size_t first, size_t count)
{
    (void)worker;
    const struct product *p = data;
    gess__self_product(p->dim, count, p->scale, p->rows + first * p->dim, p->hands->parts + block * p->dim * p->dim);
}

void gess__fit_blocks_self_product(gess__fit_blocks *h, size_t dim, size_t n, double scale, const double *rows, double *square)
{
    const size_t most = (size_t)GROUP * GESS__BLOCK;
    if (gess__block_count(n) < 2 || h->parts == NULL) {
        gess__self_product(dim, n, scale, rows, square);
        return;
    }
    for (size_t first = 0; first < n; first += most) {
        struct product p = {h, dim, scale, rows + first * dim};
        size_t some = n - first < most ? n - first : most, blocks = gess__block_count(some);
        gess__blocks(h->team, (double)some * (double)dim * (double)dim, some, product_of_block, &p);
        for (size_t k = 0; k < dim; k++)
            for (size_t i = k; i < dim; i++) {
                double sum = first > 0 ? square[i + k * dim] : 0.0;
                for (size_t b = 0; b < blocks; b++) sum += h->parts[b * dim * dim + i + k * dim];
                square[i + k * dim] = sum;
            }
    }
}
