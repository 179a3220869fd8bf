/* Fits a generalised Pareto distribution to the outer tenth of the draws on each side, and another to the logarithms of
 * their distances from the median; takes the standard error from the differences between blocks of draws. */
#include "diagnose/tail_index.h"

#include "base/assert.h"
#include "base/vmath.h"
#include "diagnose/pareto.h"
#include "diagnose/posterior_workspace.h"

enum {
    SHARE = 10,                           /* one draw in SHARE is in a tail */
    MIN_TAIL = 50,                        /* draws in a tail */
    MAX_POINTS = GESS__PARETO_MAX_POINTS, /* order statistics that represent a longer tail in a fit */
    BLOCKS = 32                           /* of draws: whole chains, or parts of chains if there are fewer */
};

#define FAR_DRAWS 5.0         /* effective draws beyond the place of far_index */
#define MIN_DEPTH 2.302585093 /* of that place, in logarithms of the share of the tail beyond it: 1/10 */
#define MAX_DEPTH 4.605170186 /* 1/100 */
#define SLOW 20.0             /* inefficiency above which the far tail is not believed */

/* Index above which the mean is given up, since draws of a Cauchy may have it: MEAN_ERRORS standard errors below 1, but
 * from HEAVY_LEAST to HEAVY. Beside another parameter without mean it is HEAVY_TOO less HEAVY_TOO_ERRORS standard
 * errors: the draws of a Cauchy may have such an index where chains have seen little of its tails. */
#define MEAN_ERRORS 5.0
#define HEAVY 0.7
#define HEAVY_LEAST 0.65
#define HEAVY_TOO 0.6
#define HEAVY_TOO_ERRORS 3.0

/* In tails of more than this inefficiency draws of a Cauchy may have a smaller index: the mean is given up from
 * SLUGGISH_LEAST on, and beside another parameter without mean if the index may exceed 1/2. */
#define SLUGGISH 3.0
#define SLUGGISH_LEAST 0.55

/* Influence of a draw at y on the fitted shape: the inverse of the Fisher information times the scores. */
static double influence(const gess__pareto *p, double y)
{
    double k = gess__max(p->shape, -0.5); /* the information exists above -1/2 */
    if (fabs(k) < 1e-4) k = 1e-4;         /* the limit at 0, without its cancellation */
    double w = y / p->scale, rest = gess__max(1.0 + k * w, 1e-3);
    double score_shape = gess__log(rest) / (k * k) - (1.0 + 1.0 / k) * w / rest;
    double score_scale = (1.0 + k) * w / rest - 1.0;
    return (1.0 + k) * ((1.0 + k) * score_shape - score_scale);
}

/* ---- one side ---- */

typedef struct side {
    bool known;
    gess__pareto excess,
        logs;             /* of the draws' distances from the threshold; of log (distance from the median, relative) */
    double block[BLOCKS]; /* what each block of draws contributes to the error of the shape */
    double draws[BLOCKS]; /* of each block that are in the tail */
} side;

/* Every draw, or MAX_POINTS of them at evenly spaced ranks. */
static gess__pareto fit_tail(size_t count, const double *y, double *points)
{
    size_t n = count < MAX_POINTS ? count : MAX_POINTS;
    for (size_t i = 0; i < n; i++) points[i] = y[(size_t)(((double)i + 0.5) * ((double)count / (double)n))];
    if (!(points[(size_t)((double)n / 4.0 + 0.5) - 1] > 0.0)) return (gess__pareto){NAN, NAN};
    return gess__pareto_fit(n, points);
}

/* `sign` is 1 for the upper tail, -1 for the lower one. */
static side fit_side(gess__posterior_workspace *work, int sign, size_t count)
{
    size_t total = work->total;
    double *excess = work->series, *logs = excess + count, *points = logs + count;
    double median = gess__posterior_quantile(work, 0.5);
    size_t at = sign > 0 ? total - 1 - count : count;
    double threshold = gess__draw_of_key(work->keys[at]), reach = sign * (threshold - median);
    side s = {.known = false};
    if (!(reach > 0.0)) return s;
    for (size_t i = 0; i < count; i++) {
        double x = gess__draw_of_key(work->keys[sign > 0 ? at + 1 + i : at - 1 - i]);
        excess[i] = sign * (x - threshold);
        logs[i] = gess__log1p(excess[i] / reach);
    }
    s.excess = fit_tail(count, excess, points);
    s.logs = fit_tail(count, logs, points);
    s.known = isfinite(s.excess.shape) && isfinite(s.excess.scale) && isfinite(s.logs.shape) && s.logs.scale > 0.0;
    for (size_t i = 0; s.known && i < count; i++) {
        size_t place = work->order[sign > 0 ? at + 1 + i : at - 1 - i];
        size_t block = (size_t)((double)place / (double)total * BLOCKS);
        s.block[block] += influence(&s.excess, excess[i]) / (double)count;
        s.draws[block] += 1.0;
    }
    return s;
}

static double error_of(const double block[BLOCKS])
{
    double mean = 0.0, squares = 0.0;
    for (size_t b = 0; b < BLOCKS; b++) mean += block[b] / BLOCKS;
    for (size_t b = 0; b < BLOCKS; b++) squares += (block[b] - mean) * (block[b] - mean);
    return sqrt(squares * BLOCKS / (BLOCKS - 1.0));
}

/* ---- both sides ---- */

/* The sides that count: both if their indices agree within two standard errors, otherwise the heavier one. */
static size_t choose_sides(side *low, side *high, const side *chosen[2])
{
    size_t n = 0;
    bool both = low->known && high->known;
    double apart = both ? low->excess.shape - high->excess.shape : 0.0;
    if (both && fabs(apart) <= 2.0 * gess__hypot(error_of(low->block), error_of(high->block))) apart = 0.0;
    if (low->known && apart >= 0.0) chosen[n++] = low;
    if (high->known && apart <= 0.0) chosen[n++] = high;
    return n;
}

static void combine(size_t sides, const side *const chosen[2], double draws, gess__tail_index *out)
{
    double block[BLOCKS] = {0}, shape = 0.0, log_scale = 0.0, steepening = 0.0, clumping = 1.0, n = (double)sides;
    for (size_t i = 0; i < sides; i++) {
        shape += chosen[i]->excess.shape / n;
        log_scale += gess__log(chosen[i]->logs.scale) / n;
        steepening += chosen[i]->logs.shape / n;
        for (size_t b = 0; b < BLOCKS; b++) block[b] += chosen[i]->block[b] / n;
        double spread = error_of(chosen[i]->draws); /* a variance above the mean, as of no Poisson count: clumps */
        clumping = gess__max(clumping, spread * spread * n / draws);
    }
    out->index = shape;
    out->se = error_of(block);
    double independent = (1.0 + gess__max(shape, -0.5)) / sqrt(draws), ratio = out->se / independent;
    out->inefficiency = gess__max(ratio * ratio, clumping);
    double effective = draws / out->inefficiency;
    double depth = gess__min(gess__max(gess__log(effective / FAR_DRAWS), MIN_DEPTH), MAX_DEPTH);
    out->far_index = gess__exp(log_scale + depth * steepening);
    out->far_se = out->far_index * sqrt((2.0 - 2.0 * depth + depth * depth) / effective);
}

void gess__tail_index_of(gess__posterior_workspace *work, gess__tail_index *out)
{
    GESS_ASSERT(out != NULL && work->x != NULL);
    *out = (gess__tail_index){NAN, NAN, NAN, NAN, NAN, false};
    size_t count = work->total / SHARE;
    if (count < MIN_TAIL || work->numbers < work->total) return;
    if (!isfinite(gess__draw_of_key(work->keys[0])) || !isfinite(gess__draw_of_key(work->keys[work->total - 1])))
        return;
    side low = fit_side(work, -1, count), high = fit_side(work, 1, count);
    const side *chosen[2] = {NULL, NULL};
    size_t sides = choose_sides(&low, &high, chosen);
    if (sides > 0) combine(sides, chosen, (double)(sides * count), out);
}

/* ---- moments ---- */

bool gess__tails_slow(const gess__tail_index *t)
{
    return t->inefficiency > SLOW;
}

/* The index above which the mean is given up whatever the further index is. */
static double limit_of_means(const gess__tail_index *t)
{
    bool sluggish = t->inefficiency > SLUGGISH;
    double limit = gess__max(1.0 - MEAN_ERRORS * t->se, sluggish ? SLUGGISH_LEAST : HEAVY_LEAST);
    limit = gess__min(limit, HEAVY);
    if (!t->beside_heavy) return limit;
    return gess__min(limit, sluggish ? 0.5 - 2.0 * t->se : HEAVY_TOO - HEAVY_TOO_ERRORS * t->se);
}

gess__moments_known gess__moments_of(const gess__tail_index *t)
{
    bool slow = gess__tails_slow(t);
    double errors = slow ? 1.0 : 2.0; /* a slow tail has larger errors, and may be heavier than its draws */
    if (t->index > limit_of_means(t)) return GESS__NO_MEAN;
    if (t->index - errors * t->se > 0.5 && (slow || t->far_index - 2.0 * t->far_se > 0.5))
        return slow || t->index + 3.0 * t->se >= 1.0 || t->far_index + 3.0 * t->far_se >= 1.0 ? GESS__NO_MEAN
                                                                                              : GESS__NO_SD;
    bool heavy = t->index + t->se > 0.5 && (slow || t->far_index + t->far_se > 0.5);
    return heavy ? GESS__SD_DOUBTFUL : GESS__MOMENTS_EXIST;
}
