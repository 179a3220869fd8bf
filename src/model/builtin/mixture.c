/* An equal mixture of unit Gaussians, (1/K) Σ_k N(x; m_k, I); the centres are the rows of
 * mixture_means.csv, which lie in [-2, 2]^8, times spread / 2. Points are evaluated in tiles. */
#include "model/builtin/builtin.h"

#include <string.h>

enum { W = GESS__LANES, MAX_DIM = 16, MAX_COMPONENTS = 16 };

typedef struct mixture {
    size_t dim, components;
    double centres[MAX_COMPONENTS][MAX_DIM];
    double constant; /* of the log density */
} mixture;

/* For a tile: the log density, and parts[k] = e^(L_k - max L) with their sum, where
 * L_k = -|x - m_k|² / 2. */
GESS__INLINE void weigh(const mixture *g, const double *restrict tile, double parts[MAX_COMPONENTS][W], double sum[W],
                        double density[W])
{
    double largest[W];
    GESS__FOR_LANES(l) largest[l] = -HUGE_VAL;
    for (size_t k = 0; k < g->components; k++) {
        double square[W] = {0};
        for (size_t i = 0; i < g->dim; i++) GESS__FOR_LANES(l)
            {
                double difference = tile[i * W + l] - g->centres[k][i];
                square[l] = gess__fma(difference, difference, square[l]);
            }
        GESS__FOR_LANES(l) parts[k][l] = -0.5 * square[l];
        GESS__FOR_LANES(l) largest[l] = gess__select(parts[k][l] > largest[l], parts[k][l], largest[l]);
    }
    GESS__FOR_LANES(l) sum[l] = 0.0;
    for (size_t k = 0; k < g->components; k++) {
        GESS__FOR_LANES(l) parts[k][l] = gess__exp(parts[k][l] - largest[l]); /* NaN if all are -inf */
        GESS__FOR_LANES(l) sum[l] += parts[k][l];
    }
    GESS__FOR_LANES(l) density[l] = largest[l] + gess__log(sum[l]) - g->constant;
}

static GESS__VECTOR(logp_tile, (const mixture *g, const double *restrict tile, double *restrict density),
                    (g, tile, density))
{
    double parts[MAX_COMPONENTS][W], sum[W];
    weigh(g, tile, parts, sum, density);
}

static GESS__VECTOR(gradient_tile,
                    (const mixture *g, const double *restrict tile, double *restrict density, double *restrict slopes),
                    (g, tile, density, slopes))
{
    double parts[MAX_COMPONENTS][W], sum[W];
    weigh(g, tile, parts, sum, density);
    for (size_t i = 0; i < g->dim; i++) {
        double mean[W] = {0};
        for (size_t k = 0; k < g->components; k++)
            GESS__FOR_LANES(l) mean[l] = gess__fma(parts[k][l], g->centres[k][i], mean[l]);
        GESS__FOR_LANES(l) slopes[i * W + l] = mean[l] / sum[l] - tile[i * W + l];
    }
}

GESS__TILED(MAX_DIM)

int gess__open_mixture(gess__model *m, gess__parameters *p, gess_error *err)
{
    mixture *g = NULL;
    gess__table means;
    char path[4096];
    double spread;
    GESS_TRY(gess__parameter_real(p, "spread", 2.0, 0.0, 1e6, &spread, err));
    GESS_MODEL_ALLOC(m, &g, 1, err);
    GESS_TRY(gess__data_table("mixture_means.csv", &means, path, err));
    g->dim = means.columns;
    g->components = means.rows;
    bool fits = g->dim <= MAX_DIM && g->components <= MAX_COMPONENTS;
    for (size_t i = 0; fits && i < g->components * g->dim; i++)
        g->centres[i / g->dim][i % g->dim] = means.values[i] * (0.5 * spread);
    gess__table_free(&means);
    if (!fits)
        return gess__fail(err, GESS_ERR_MODEL, "%s: %zu rows and %zu columns; at most %d centres of %d coordinates",
                          path, g->components, g->dim, MAX_COMPONENTS, MAX_DIM);
    g->constant = gess__log((double)g->components) + 0.5 * (double)g->dim * GESS__LOG_2PI;
    m->model.dim = g->dim;
    m->model.logp = logp;
    m->model.gradient = gradient;
    m->model.user = g;
    return GESS_OK;
}
