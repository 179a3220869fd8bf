/* Bridges one part, with errors that count the autocorrelation of the stored draws; and takes the second estimate from
 * all parts together.
 *
 * The relative variance of the bridge is that of the mean of its terms over the stored draws plus that over the fresh
 * ones (S. Frühwirth-Schnatter, Econometrics Journal 7 (2004), 143-167). Of the stored draws it is computed twice: from
 * the spectral density at zero of the terms within each series, and from the differences between the means of the
 * series; the larger one counts. */
#include "approx/bridge.h"
#include "base/assert.h"
#include "base/mem.h"
#include "base/vmath.h"
#include "diagnose/coda.h"
#include "diagnose/pareto.h"
#include "evidence/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITERATIONS = 2000, MIN_SPECTRUM = 20 };

/* Relative variance of the mean of the terms of the stored draws, and how many independent draws that stands for. */
static double variance_of(size_t series, size_t n, const double *terms, double *scratch, double *effective)
{
    double mean = 0.0, plain = 0.0, within = 0.0, between = 0.0, all = (double)(series * n);
    for (size_t i = 0; i < series * n; i++) mean += terms[i] / all;
    for (size_t i = 0; i < series * n; i++) plain += (terms[i] - mean) * (terms[i] - mean) / (all - 1.0) / all;
    for (size_t k = 0; k < series; k++) {
        double own = 0.0;
        for (size_t i = 0; i < n; i++) own += terms[k * n + i] / (double)n;
        between += (own - mean) * (own - mean);
        if (n >= MIN_SPECTRUM) within += gess__coda_spectrum0(n, terms + k * n, scratch) / (double)n;
    }
    within /= (double)series * (double)series;
    between = series > 1 ? between / ((double)series - 1.0) / (double)series : 0.0;
    /* below `plain` if draws are negatively correlated, as those of ellipses through T's centre are */
    double variance = n >= MIN_SPECTRUM || series > 1 ? gess__max(within, between) : plain;
    *effective = variance > 0.0 ? all * plain / variance : all;
    return mean > 0.0 ? variance / (mean * mean) : INFINITY;
}

/* Bridges twice: the shares of the optimal bridge are by effective numbers, which only its terms tell. */
static void bridge(const gess__part *p, size_t n2, double *level, double *terms, double *scratch,
                   gess__part_estimate *out)
{
    double error = INFINITY, log_z = -INFINITY;
    out->effective = (double)p->n1;
    for (int pass = 0; pass < 3; pass++) {
        const gess__bridge b = {.n1 = p->n1,
                                .n2 = n2,
                                .level = level,
                                .share = out->effective / (out->effective + (double)n2),
                                .max_iterations = MAX_ITERATIONS};
        log_z = gess__bridge_solve(&b, &error);
        if (!(log_z > -INFINITY)) break;
        gess__bridge_terms(&b, log_z, terms);
        out->var_draws = variance_of(p->series, p->stored->n, terms, scratch, &out->effective);
    }
    out->log_z = log_z - p->log_circles;
    out->var_fresh = error * error;
}

int gess__parts_second(size_t parts, const gess__part *part, gess__smoothed *second, double *k, double *max_k,
                       gess_error *err)
{
    size_t all = 0, count = 0, own = 0;
    double *levels = NULL;
    for (size_t m = 0; m < parts; m++) all += part[m].n2;
    GESS_ALLOC(&levels, 2 * all, err);
    double *every = levels + all;
    for (size_t m = 0; m < parts; m++)
        for (size_t i = 0; i < part[m].n2; i++) {
            every[count++] = part[m].level2[i] - part[m].log_circles;
            if (i % GESS__SECOND == GESS__SECOND - 1) levels[own++] = every[count - 1];
        }
    *second = gess__pareto_smooth(own, levels);
    *k = gess__pareto_smooth(all, every).k;
    *max_k = gess__pareto_max_k(all);
    free(levels);
    return GESS_OK;
}

int gess__part_estimate_of(const gess__part *p, gess__part_estimate *out, gess_error *err)
{
    GESS_ASSERT(p->n2 >= GESS__SECOND && p->n1 > 1);
    size_t all = p->n1 + p->n2, n2 = 0, above = 0;
    double *level = NULL, max = -INFINITY;
    *out = (gess__part_estimate){.var_draws = INFINITY, .var_fresh = INFINITY};
    GESS_ALLOC(&level, 3 * all, err);
    double *terms = level + all, *scratch = terms + all;
    memcpy(level, p->level1, p->n1 * sizeof *level);
    for (size_t i = 0; i < p->n2; i++) {
        max = gess__max(max, p->level2[i]);
        if (i % GESS__SECOND != GESS__SECOND - 1) level[p->n1 + n2++] = p->level2[i];
    }
    for (size_t i = 0; i < p->n1; i++) above += p->level1[i] > max;
    out->uncovered = (double)above / (double)p->n1;
    out->outside = !(max > -INFINITY);
    bridge(p, n2, level, terms, scratch, out);
    free(level);
    return GESS_OK;
}
