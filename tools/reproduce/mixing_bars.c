/* Lists the densities and samplers of the mixing figure, averages the trials of a cell into a bar, and compares
 * bars. */
#include "reproduce/mixing.h"

#include <math.h>
#include <string.h>

enum { MAX_TRIALS = 1000 };

const gess__mixing_density gess__mixing_densities[DENSITIES] =
    {{"funnel", "funnel", 10, 10000, 100000, 10, 4e-7},
     {"mixture", "mixture", 8, 10000, 100000, 10, 4e-7},
     {"breast-cancer", "breast cancer", 31, 10000, 100000, 10, 2e-6},
     {"german-credit", "german credit", 25, 10000, 100000, 10, 2.5e-6},
     {"stochastic-volatility", "stoch. volatility", 51, 100000, 100000, 100, 7e-7},
     {"ionosphere", "ionosphere", 34, 10000, 10000, 100, 2.7e-5},
     {"snp", "SNP", 38, 2000, 10000, 10, 1e-6}};

const gess__mixing_sampler gess__mixing_samplers[SAMPLERS] =
    {{"gess", "GESS", "schedule=two-group,transform=none", 200, 4.0, "#c0392b", TWO_GROUP, 1},
     {"rdss", "RDSS", "kernel=rdss,schedule=independent,transform=none", 100, 7.0, "#e6a23c", INDEPENDENT, 1},
     {"cwss", "CWSS", "kernel=cwss,schedule=independent,transform=none", 100, 7.0, "#8fbf5a", INDEPENDENT, 1},
     {"mh", "MH", "kernel=mh,schedule=independent,transform=none", 100, 2.0, "#3aa6a0", INDEPENDENT, 1},
     {"amh", "AMH", "kernel=amh,schedule=independent,transform=none", 100, 3.0, "#4f94cd", INDEPENDENT, 1},
     {"nuts", "HMC (NUTS)", "kernel=nuts,schedule=independent", 100, 120.0, "#5b5ea6", NUTS, 1},
     {"pt", "PT", "kernel=mh,schedule=tempering,transform=none", 100, 2.5, "#9b6b9e", INDEPENDENT, 1},
     {"gess-50", "GESS, groups of 50", "schedule=two-group,transform=none", 100, 4.0, "#e79a91", TWO_GROUP, 0},
     {"auto", "gess, auto", "", 100, 3.0, "#7a1f16", DEFAULT, 0},
     {"emcee", "emcee", "", 100, 3.0, "#566173", PEER, 0},
     {"zeus", "zeus", "", 100, 8.0, "#aab2bd", PEER, 0}};

const char *const gess__mixing_metrics[METRICS] = {"the paper's metric per second", "the paper's metric per evaluation",
                                                   "bulk ESS per second", "bulk ESS per evaluation"};

void gess__mixing_gather(size_t count, const gess__cell *cells, const char *model, const char *name,
                         gess__mixing_bar *b)
{
    double values[METRICS][MAX_TRIALS];
    size_t n = 0;
    *b = (gess__mixing_bar){0};
    for (size_t i = 0; i < count && n < MAX_TRIALS; i++) {
        const json_t *r = cells[i].result;
        if (strcmp(gess__json_text(cells[i].settings, "model"), model) != 0 ||
            strcmp(gess__json_text(cells[i].settings, "sampler"), name) != 0)
            continue;
        b->trials++;
        if (json_object_get(r, "error") != NULL) {
            b->failed++;
            continue;
        }
        double seconds = gess__json_real(r, "seconds"), evals = gess__json_real(r, "evals_sampling");
        double log_size = gess__json_real(r, "ess_log"), bulk = gess__json_real(r, "ess_bulk");
        double rhat = gess__json_real(r, "r_hat"), z = fabs(gess__json_real(r, "geweke"));
        values[LOG_SECOND][n] = log_size / seconds;
        values[LOG_EVAL][n] = log_size / evals;
        values[BULK_SECOND][n] = bulk / seconds;
        values[BULK_EVAL][n] = bulk / evals;
        b->rejected += z <= 1.96 ? 0 : 1;
        b->rhat = fmax(b->rhat, isnan(rhat) ? INFINITY : rhat);
        b->evals += evals;
        b->geweke = fmax(b->geweke, isnan(z) ? INFINITY : z);
        b->stride = gess__json_count(r, "stride");
        n++;
    }
    for (int m = 0; m < METRICS; m++) gess__mean_and_error(n, values[m], &b->height[m], &b->error[m]);
    b->evals /= (double)n;
}

int gess__mixing_shown(const gess__mixing_bar *b, enum gess__mixing_metric m)
{
    size_t lost = b->failed + (m <= LOG_EVAL ? b->rejected : 0);
    if (b->trials == 0 || 2 * lost > b->trials || !(b->height[m] > 0.0)) return 0;
    return m <= LOG_EVAL || b->rhat <= 1.1;
}

int gess__mixing_compared(const gess__mixing_bars *b, size_t i, size_t first, size_t second)
{
    const gess__mixing_bar *x = &b->of[i][first], *y = &b->of[i][second];
    return x->trials > 0 && y->trials > 0 && x->failed + y->failed < x->trials + y->trials;
}

int gess__mixing_beats(const gess__mixing_bars *b, size_t i, size_t first, size_t second, enum gess__mixing_metric m)
{
    const gess__mixing_bar *x = &b->of[i][first], *y = &b->of[i][second];
    if (!gess__mixing_shown(x, m) || !gess__mixing_compared(b, i, first, second)) return 0;
    return !gess__mixing_shown(y, m) || x->height[m] > y->height[m];
}

int gess__mixing_judgeable(const gess__mixing_bars *b)
{
    for (size_t i = 0; i < DENSITIES; i++) {
        int complete = 1;
        for (size_t k = 0; k < SAMPLERS; k++) complete &= !gess__mixing_samplers[k].paper || b->of[i][k].trials > 0;
        if (complete) return 1;
    }
    return 0;
}
