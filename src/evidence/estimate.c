/* Estimates from the stored and the fresh draws of all parts: importance sampling and the bridge, with errors that
 * count the autocorrelation of the stored draws. One is the estimate and the other, with fresh draws of its own, the
 * second.
 *
 * Importance sampling is the estimate if T is so close to the density that it loses little by leaving the stored draws
 * out. Then nothing is trusted but independent draws: chains that have seldom been in the tails bias a bridge and its
 * error, and say nothing of it.
 *
 * The parts share one bridge. For each of them Z E_π[T / (s1 π + s2 Z T)] = E_T[π / (s1 π + s2 Z T)], and so for the
 * means over the parts if each has the same share of the stored and of the fresh draws.
 *
 * The relative variance of the bridge is that of the mean of its terms over the stored draws plus that over the fresh
 * ones (S. Frühwirth-Schnatter, Econometrics Journal 7 (2004), 143-167). Of the stored draws it is computed twice: from
 * the spectral density at zero of the terms within each series, and from the differences between the means of the
 * series; the larger one counts. Of the fresh draws it is that of the means of pairs, which may be correlated. */
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

/* Importance sampling is the estimate if the square of its relative error, times the number of its draws, is at most
 * this. */
#define MAX_VARIANCE 1.5

#define SAME_LEVEL 0.01 /* weights that differ by less count as equal */

/* Levels in the user's scale of all parts; fresh draws in pairs. */
typedef struct levels {
    size_t series, n; /* stored draws: how many series, of how many draws each */
    double *stored;   /* series × n */
    size_t count[2];  /* fresh draws of the estimate, and of the second one */
    double *fresh[2];
    double *all;      /* fresh, of both */
    double *level;    /* scratch: stored and fresh levels of a bridge */
    double *terms;    /* scratch: its terms */
    double *spectrum; /* scratch: n */
} levels;

typedef struct estimate {
    double log_z, var_draws, var_fresh; /* relative variances */
    double effective;                   /* number of stored draws */
} estimate;

/* ---- levels ---- */

static int open_levels(levels *l, size_t parts, const gess__part *part, gess_error *err)
{
    size_t fresh = 0, stored = 0;
    *l = (levels){.n = part[0].stored->n};
    for (size_t m = 0; m < parts; m++) {
        GESS_ASSERT(part[m].stored->n == l->n && part[m].n1 == part[0].n1 && part[m].n2 == part[0].n2);
        stored += part[m].n1;
        fresh += part[m].n2;
        l->series += part[m].series;
    }
    GESS_ASSERT(fresh > 0 && part[0].n2 % GESS__UNIT == 0 && stored > 1);
    GESS_ALLOC(&l->stored, 3 * stored + 4 * fresh + l->n, err);
    l->level = l->stored + stored;
    l->terms = l->level + stored + fresh;
    l->all = l->terms + stored + fresh;
    l->fresh[0] = l->all + fresh;
    l->fresh[1] = l->fresh[0] + fresh - fresh / GESS__SECOND;
    l->spectrum = l->fresh[1] + fresh / GESS__SECOND;
    return GESS_OK;
}

static void fill_levels(levels *l, size_t parts, const gess__part *part)
{
    double *stored = l->stored, *all = l->all;
    for (size_t m = 0; m < parts; m++) {
        for (size_t i = 0; i < part[m].n1; i++) *stored++ = part[m].level1[i] - part[m].log_circles;
        for (size_t i = 0; i < part[m].n2; i++) {
            int second = i / 2 % GESS__SECOND == GESS__SECOND - 1;
            *all = part[m].level2[i] - part[m].log_circles;
            l->fresh[second][l->count[second]++] = *all++;
        }
    }
}

/* ---- variances ---- */

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

/* Relative variance of the mean of n numbers, whose pairs are independent. */
static double variance_of_pairs(size_t n, const double *x)
{
    double mean = 0.0, square = 0.0, pairs = (double)(n / 2);
    for (size_t i = 0; i < n; i++) mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i += 2) {
        double away = 0.5 * (x[i] + x[i + 1]) - mean;
        square += away * away;
    }
    return mean > 0.0 && pairs > 1.0 ? square / (pairs - 1.0) / pairs / (mean * mean) : INFINITY;
}

/* ---- the two ---- */

/* Bridges three times: the shares of the optimal bridge are by effective numbers, which only its terms tell. */
static estimate bridge(const levels *l, size_t n2, const double *fresh)
{
    size_t n1 = l->series * l->n;
    estimate out = {.log_z = -INFINITY, .var_draws = INFINITY, .var_fresh = INFINITY, .effective = (double)n1};
    memcpy(l->level, l->stored, n1 * sizeof *l->level);
    memcpy(l->level + n1, fresh, n2 * sizeof *l->level);
    for (int pass = 0; pass < 3; pass++) {
        const gess__bridge b = {.n1 = n1,
                                .n2 = n2,
                                .level = l->level,
                                .share = out.effective / (out.effective + (double)n2),
                                .max_iterations = MAX_ITERATIONS};
        double unused;
        out.log_z = gess__bridge_solve(&b, &unused);
        if (!(out.log_z > -INFINITY)) break;
        gess__bridge_terms(&b, out.log_z, l->terms);
        out.var_draws = variance_of(l->series, l->n, l->terms, l->spectrum, &out.effective);
        out.var_fresh = variance_of_pairs(n2, l->terms + n1);
    }
    return out;
}

/* The plain mean of weights: it has no bias. `unseen`: the share of the density that they may have missed. */
static estimate importance(const levels *l, size_t n, const double *fresh, double unseen)
{
    double max = -INFINITY, mean = 0.0;
    estimate out = {.log_z = -INFINITY, .var_fresh = INFINITY};
    for (size_t i = 0; i < n; i++) max = gess__max(max, fresh[i]);
    if (!(max > -INFINITY)) return out;
    for (size_t i = 0; i < n; i++) mean += (l->terms[i] = gess__exp(fresh[i] - max)) / (double)n;
    out.log_z = max + gess__log(mean);
    out.var_fresh = variance_of_pairs(n, l->terms) + unseen * unseen;
    return out;
}

/* The same from Pareto-smoothed weights, which may have heavy tails. */
static estimate smoothed(const levels *l, size_t n, const double *fresh, double unseen)
{
    estimate out = importance(l, n, fresh, unseen);
    memcpy(l->terms, fresh, n * sizeof *fresh);
    gess__smoothed s = gess__pareto_smooth(n, l->terms);
    if (!(s.log_mean > -INFINITY)) return out;
    out.log_z = s.log_mean;
    out.var_fresh = gess__max(out.var_fresh, s.error * s.error);
    return out;
}

/* ---- all numbers ---- */

/* The largest share of a source's stored draws that have larger weights than all fresh draws of its T. */
static double uncovered(size_t parts, const gess__part *part, int *outside)
{
    double largest = 0.0;
    for (size_t from = 0, to; from < parts; from = to) {
        double max = -INFINITY, above = 0.0, all = 0.0;
        for (to = from; to < parts && part[to].stored == part[from].stored; to++)
            for (size_t i = 0; i < part[to].n2; i++) max = gess__max(max, part[to].level2[i]);
        for (size_t m = from; m < to; m++) {
            for (size_t i = 0; i < part[m].n1; i++) above += part[m].level1[i] > max + SAME_LEVEL;
            all += (double)part[m].n1;
        }
        largest = gess__max(largest, above / all);
        *outside |= !(max > -INFINITY);
    }
    return largest;
}

static void set_first(gess__evidence_result *r, const estimate *e)
{
    r->log_z = e->log_z;
    r->se_draws = sqrt(e->var_draws);
    r->se_fresh = sqrt(e->var_fresh);
}

static void set_second(gess__evidence_result *r, const estimate *e)
{
    r->second = e->log_z;
    r->second_se = sqrt(e->var_draws + e->var_fresh);
}

static void estimate_all(const levels *l, gess__evidence_result *r)
{
    estimate first = importance(l, l->count[0], l->fresh[0], r->uncovered), second;
    r->importance = first.var_fresh * (double)l->count[0] <= MAX_VARIANCE;
    if (r->importance) {
        second = bridge(l, l->count[1], l->fresh[1]);
        r->effective = second.effective;
    } else {
        first = bridge(l, l->count[0], l->fresh[0]);
        r->effective = first.effective;
        second = smoothed(l, l->count[1], l->fresh[1], r->uncovered);
    }
    set_first(r, &first);
    set_second(r, &second);
    size_t all = l->count[0] + l->count[1];
    r->k = gess__pareto_smooth(all, l->all).k;
    r->max_k = gess__pareto_max_k(all);
}

int gess__parts_estimate(size_t parts, const gess__part *part, gess__evidence_result *r, gess_error *err)
{
    levels l;
    r->outside = 0;
    r->uncovered = uncovered(parts, part, &r->outside);
    GESS_TRY(open_levels(&l, parts, part, err));
    fill_levels(&l, parts, part);
    estimate_all(&l, r);
    free(l.stored);
    return GESS_OK;
}
