/* Finds constant and narrow chains, the widest gap between medians of chains, and drifts between the halves of chains.
 * The rules of rules_draws.c judge the results. */
#include "diagnose/chain_checks.h"

#include "base/assert.h"
#include "base/sort.h"
#include "base/vmath.h"

#include <math.h>
#include <stdlib.h>

/* The median; sorts x. */
static double median_of(size_t n, double *x)
{
    gess__sort(n, x);
    return n % 2 == 1 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

/* The sd of a normal distribution with these quartiles. */
static double spread_of(const gess__posterior_chain *c)
{
    return (c->q75 - c->q25) / 1.349;
}

static void find_stuck(size_t count, const gess__posterior_chain *chain, double usual, gess__column_chains *out)
{
    out->min_spread = INFINITY;
    for (size_t c = 0; c < count; c++) {
        if (chain[c].lowest == chain[c].highest && out->constant++ == 0) out->first_constant = c;
        double share = spread_of(&chain[c]) / usual;
        if (share < 0.05 && out->narrow++ == 0) out->first_narrow = c;
        if (share < out->min_spread) out->min_spread = share;
    }
}

/* The widest gap between neighbouring medians of chains, and the chains on its sides. */
static void find_gap(size_t count, const gess__posterior_chain *chain, double usual, double *medians,
                     gess__column_chains *out)
{
    size_t at = 0;
    for (size_t c = 0; c < count; c++) medians[c] = chain[c].median;
    gess__sort(count, medians);
    for (size_t i = 1; i < count; i++)
        if (at == 0 || medians[i] - medians[i - 1] > medians[at] - medians[at - 1]) at = i;
    if (at == 0) return;
    out->gap = (medians[at] - medians[at - 1]) / usual;
    out->below = at;
    out->above = count - at;
    out->place_low = medians[at / 2];
    out->place_high = medians[at + (count - at) / 2];
    double border = medians[at];
    for (size_t c = count; c-- > 0;)
        if ((chain[c].median < border) == (out->below <= out->above)) out->in_smaller = c;
}

static void find_drift(size_t count, const gess__posterior_chain *chain, double *shifts, double *distances,
                       gess__column_chains *out)
{
    double sum = 0.0;
    for (size_t c = 0; c < count; c++) {
        distances[c] = chain[c].last - chain[c].first;
        sum += distances[c];
    }
    out->shift = sum / (double)count;
    for (size_t c = 0; c < count; c++) shifts[c] = distances[c];
    double centre = median_of(count, shifts);
    for (size_t c = 0; c < count; c++) {
        shifts[c] = fabs(distances[c] - centre);
        if (c > 0 && !(shifts[c] > fabs(out->chain_shift))) continue;
        out->chain_shift = distances[c] - centre;
        out->shifted = c;
    }
    out->chain_score = fabs(out->chain_shift) / (1.4826 * median_of(count, shifts));
}

/* The distance of the furthest chain from the median chain in figure[count], over 1.4826 times the median distance; its
 * index is in *which and its distance in *distance. `scratch` holds count doubles. */
static double find_furthest(size_t count, const double *figure, double *scratch, size_t *which, double *distance)
{
    for (size_t c = 0; c < count; c++) scratch[c] = figure[c];
    double centre = median_of(count, scratch);
    *which = 0;
    for (size_t c = 0; c < count; c++) {
        scratch[c] = fabs(figure[c] - centre);
        if (scratch[c] > fabs(figure[*which] - centre)) *which = c;
    }
    *distance = figure[*which] - centre;
    return fabs(*distance) / (1.4826 * median_of(count, scratch));
}

static void find_own_place(size_t count, const gess__posterior_chain *chain, double *figure, double *scratch,
                           gess__column_chains *out)
{
    for (size_t c = 0; c < count; c++) figure[c] = chain[c].mean;
    out->own_score = find_furthest(count, figure, scratch, &out->own_chain, &out->own_shift);
    for (size_t c = 0; c < count; c++) {
        if (!(chain[c].sd > 0.0)) return; /* a constant chain: find_stuck() has it */
        figure[c] = gess__log(chain[c].sd);
    }
    double distance;
    out->own_spread_score = find_furthest(count, figure, scratch, &out->own_narrow, &distance);
    out->own_spread = gess__exp(distance);
}

void gess__compare_chains(size_t count, size_t draws, const gess__posterior_chain *chain, double *scratch,
                          gess__column_chains *out)
{
    GESS_ASSERT(chain != NULL && scratch != NULL);
    *out = (gess__column_chains){.min_spread = NAN, .shift = NAN, .own_spread = NAN};
    for (size_t c = 0; c < count; c++)
        if (!isfinite(chain[c].lowest) || !isfinite(chain[c].highest) || !isfinite(chain[c].mean)) return;
    if (draws < 4) return;
    out->shift = chain[0].last - chain[0].first;
    if (count < 2) return;
    for (size_t c = 0; c < count; c++) scratch[c] = spread_of(&chain[c]);
    double usual = median_of(count, scratch);
    find_stuck(count, chain, usual, out);
    find_gap(count, chain, usual, scratch, out);
    find_drift(count, chain, scratch, scratch + count, out);
    find_own_place(count, chain, scratch, scratch + count, out);
}

int gess__chains_disagree(const gess__column_chains *c, double rhat)
{
    if (c->chain_score > GESS__CHAIN_SHIFT_Z && fabs(c->chain_shift) > 2.0 * GESS__CHAIN_SHIFT) return 1;
    return c->gap > GESS__GAP_FAILURE && rhat > GESS__RHAT_WARNING;
}
