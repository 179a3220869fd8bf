/* The mixing figure's densities, samplers and bars: the parts that its files share.
 *
 *   figure_mixing.c  the cells, and the page
 *   mixing_bars.c    the tables of densities and samplers; bars from cells; which bars are shown, and which is higher
 *   mixing_claims.c  verdicts on claims
 *   mixing_plots.c   plots and tables of the page */
#ifndef GESS_REPRODUCE_MIXING_H
#define GESS_REPRODUCE_MIXING_H

#include "reproduce/reproduce.h"

typedef struct gess__mixing_density {
    const char *name, *label;
    size_t dim;
    uint64_t burn, draws; /* iterations in the paper */
    uint64_t cut;         /* factor by which NUTS has fewer */
    double cost;          /* seconds per evaluation, roughly, overhead included */
} gess__mixing_density;

enum { DENSITIES = 7, SNP = DENSITIES - 1 };
extern const gess__mixing_density gess__mixing_densities[DENSITIES];

enum gess__mixing_kind { INDEPENDENT, TWO_GROUP, NUTS, DEFAULT, PEER };

typedef struct gess__mixing_sampler {
    const char *name, *label;
    const char *settings;
    uint64_t chains;
    double evals; /* per update, roughly */
    const char *colour;
    enum gess__mixing_kind kind;
    int paper; /* whether it is one of the paper's seven */
} gess__mixing_sampler;

enum { SAMPLERS = 11, GESS = 0, CWSS = 2, HMC = 5, TEMPERING = 6, GROUPS_OF_50 = 7, AUTO = 8 };
extern const gess__mixing_sampler gess__mixing_samplers[SAMPLERS];

/* The paper's metric and the stricter one, per second and per evaluation. */
enum gess__mixing_metric { LOG_SECOND, LOG_EVAL, BULK_SECOND, BULK_EVAL, METRICS };

typedef struct gess__mixing_bar {
    size_t trials, failed; /* failed: trials in which the sampler gave up */
    size_t rejected;       /* trials that Geweke's diagnostic rejects */
    double height[METRICS], error[METRICS];
    double rhat; /* worst */
    double evals, geweke;
    uint64_t stride;
} gess__mixing_bar;

typedef struct gess__mixing_bars {
    gess__mixing_bar of[DENSITIES][SAMPLERS];
} gess__mixing_bars;

extern const char *const gess__mixing_metrics[METRICS];

/* The bar of one sampler on one density, from the cells of its trials. */
void gess__mixing_gather(size_t count, const gess__cell *cells, const char *model, const char *name,
                         gess__mixing_bar *b);

/* Whether a bar is shown. By the paper's metric: if Geweke's diagnostic accepts at least half of the trials. By the
 * stricter one: if the worst R-hat is at most 1.1. A trial in which the sampler gave up is not accepted. */
int gess__mixing_shown(const gess__mixing_bar *b, enum gess__mixing_metric m);

/* Whether two samplers can be compared on a density: both were run, and some trial of them did not give up. */
int gess__mixing_compared(const gess__mixing_bars *b, size_t i, size_t first, size_t second);

/* Whether the first sampler is better than the second on density i. A sampler that was run and is not shown is worse
 * than every sampler that is shown. */
int gess__mixing_beats(const gess__mixing_bars *b, size_t i, size_t first, size_t second, enum gess__mixing_metric m);

/* Whether all of the paper's samplers were run on some density. */
int gess__mixing_judgeable(const gess__mixing_bars *b);

/* ---- claims ---- */

void gess__mixing_judge_first(json_t *page, const gess__mixing_bars *b, enum gess__mixing_metric m);
void gess__mixing_judge_tempering(json_t *page, const gess__mixing_bars *b);
void gess__mixing_judge_hmc(json_t *page, const gess__mixing_bars *b);

/* Claims of this project, not of the paper. */
void gess__mixing_judge_beyond(json_t *page, const gess__mixing_bars *b);

/* ---- plots and tables ---- */

/* A plot of two metrics, `first` and the one after it; of the paper's samplers, or of GESS and those beyond the paper.
 */
int gess__mixing_draw(const gess__reproduction *r, const gess__mixing_bars *b, enum gess__mixing_metric first,
                      int paper, json_t *page, const char *file, const char *caption, gess_error *err);
void gess__mixing_table(json_t *page, const gess__mixing_bars *b, enum gess__mixing_metric m);
void gess__mixing_convergence(json_t *page, const gess__mixing_bars *b);

#endif
