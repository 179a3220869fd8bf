/* An equal mixture of unit Gaussians, (1/K) Σ_k N(x; m_k, I); the centres are the rows of
 * mixture_means.csv, which lie in [-2, 2]^8, times spread / 2. Points are evaluated in tiles. */
#include "model/builtin/builtin.h"

#include "model/lane/mixture.h"

#include <string.h>

enum { W = GESS__LANES, MAX_DIM = 16, MAX_COMPONENTS = GESS__MIXTURE_COMPONENTS };

typedef struct mixture {
    size_t dim, components;
    const double *numbers; /* of lane/mixture.h */
} mixture;

static GESS__VECTOR(logp_tile, (const mixture *g, const double *restrict tile, double *restrict density),
                    (g, tile, density))
{
    double parts[MAX_COMPONENTS * W], sum[W];
    gess__mixture_tile(W, g->dim, g->numbers, tile, parts, sum, density);
}

static GESS__VECTOR(gradient_tile,
                    (const mixture *g, const double *restrict tile, double *restrict density, double *restrict slopes),
                    (g, tile, density, slopes))
{
    const double *centres = g->numbers + GESS__MIXTURE_CENTRES;
    double parts[MAX_COMPONENTS * W], sum[W];
    gess__mixture_tile(W, g->dim, g->numbers, tile, parts, sum, density);
    for (size_t i = 0; i < g->dim; i++) {
        double mean[W] = {0};
        for (size_t k = 0; k < g->components; k++)
            GESS__FOR_LANES(l) mean[l] = gess__fma(parts[k * W + l], centres[k * g->dim + i], mean[l]);
        GESS__FOR_LANES(l) slopes[i * W + l] = mean[l] / sum[l] - tile[i * W + l];
    }
}

GESS__TILED(MAX_DIM)

static int fill(gess__model *m, mixture *g, const double *means, double spread, gess_error *err)
{
    double *numbers = NULL;
    size_t count = g->components * g->dim;
    GESS_TRY(gess__model_lane(m, "mixture", GESS__MIXTURE_CENTRES + count, &numbers, err));
    numbers[0] = (double)g->components;
    numbers[1] = gess__log((double)g->components) + 0.5 * (double)g->dim * GESS__LOG_2PI;
    for (size_t i = 0; i < count; i++) numbers[GESS__MIXTURE_CENTRES + i] = means[i] * (0.5 * spread);
    g->numbers = numbers;
    return GESS_OK;
}

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
    int status =
        fits ? fill(m, g, means.values, spread, err)
             : gess__fail(err, GESS_ERR_MODEL, "%s: %zu rows and %zu columns; at most %d centres of %d coordinates",
                          path, g->components, g->dim, MAX_COMPONENTS, MAX_DIM);
    gess__table_free(&means);
    m->model.dim = g->dim;
    m->model.logp = logp;
    m->model.gradient = gradient;
    m->model.user = g;
    return status;
}
