#include "approx/hands.h"

#include "base/lanes.h"
#include "base/linalg.h"
#include "base/mem.h"

#include <stdlib.h>

int gess__hands_open(gess__hands *h, gess__team *team, size_t dim, size_t points, gess_error *err)
{
    size_t blocks = gess__block_count(points);
    h->team = team;
    h->dim = dim;
    GESS_ALLOC(&h->tiles, gess__block_workers(team) * dim * GESS__WIDE_LANES, err);
    if (blocks > 1) GESS_ALLOC(&h->parts, blocks * dim * dim, err);
    return GESS_OK;
}

void gess__hands_close(gess__hands *h)
{
    free(h->tiles);
    free(h->parts);
}

struct squares {
    gess__hands *hands;
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
                           s->out + first, gess__hands_tile(s->hands, worker, GESS__WIDE_LANES));
}

void gess__hands_squares(gess__hands *h, const gess__approx *t, size_t n, const double *points, double *out)
{
    struct squares s = {h, t, points, out};
    gess__blocks(h->team, (double)n * (double)t->dim * (double)t->dim, n, squares_of_block, &s);
}

struct product {
    gess__hands *hands;
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

void gess__hands_self_product(gess__hands *h, size_t dim, size_t n, double scale, const double *rows, double *square)
{
    struct product p = {h, dim, scale, rows};
    size_t blocks = gess__block_count(n);
    if (blocks < 2) {
        gess__self_product(dim, n, scale, rows, square);
        return;
    }
    gess__blocks(h->team, (double)n * (double)dim * (double)dim, n, product_of_block, &p);
    for (size_t k = 0; k < dim; k++)
        for (size_t i = k; i < dim; i++) {
            double sum = h->parts[i + k * dim];
            for (size_t b = 1; b < blocks; b++) sum += h->parts[b * dim * dim + i + k * dim];
            square[i + k * dim] = sum;
        }
}
