/* Finding one step of a scale layer, once its drivers are known.
 *
 * Log variance h (the gamma regression of regression.h) and mean a (weighted least squares, its drivers by forward
 * selection) are fitted in turns, with drivers of the spread, with a bend, and with both; then a spread that saturates
 * is tried. A step is kept if the Gaussian log-likelihood of either half of the points under the fit to the other half
 * is higher than with a linear mean and one variance. */
#include "transform/scale_search.h"

#include "base/tiles.h"
#include "transform/regression.h"

#include <float.h>

/* In nats per point, held out. */
#define MIN_GAIN 0.02
#define MAX_SATURATION_LOSS 0.01 /* saturation may lose this much: it is likelier to be right far out */
#define MAX_INTEGER_LOSS 0.01    /* integer factors may lose this much, for the same reason */
#define MAX_SIBLING_LOSS 0.003   /* the hub as driver may lose this much */

/* A sibling must show its hub: the largest cap or floor. */
#define MAX_CAP 8.0

/* The learner's vectors. */
enum { ONES, RESIDUALS, LOG_VARIANCES, WEIGHTS, SQUARES, WORK, BEND };

typedef struct step_fit {
    gess__terms mean, scale;
} step_fit;

/* Correlation of r, which has weighted mean 0, with the column x under the weights. Leaves out the last m % LANES
 * points. */
static GESS__VECTOR_VALUE(double, weighted_correlation,
                          (size_t m, const double *restrict weights, const double *restrict r,
                           const double *restrict x),
                          (m, weights, r, x))
{
    double s[5][GESS__LANES] = {{0}}, total[5] = {0};
    for (size_t j = 0; j + GESS__LANES <= m; j += GESS__LANES)
        for (size_t l = 0; l < GESS__LANES; l++) {
            double w = weights[j + l], a = r[j + l], b = x[j + l];
            s[0][l] += w;
            s[1][l] += w * b;
            s[2][l] += w * b * b;
            s[3][l] += w * a * b;
            s[4][l] += w * a * a;
        }
    for (size_t u = 0; u < 5; u++)
        for (size_t l = 0; l < GESS__LANES; l++) total[u] += s[u][l];
    double spread = total[2] - total[1] * total[1] / total[0];
    if (!(spread > 1e-10 * total[2]) || !(total[4] > 0.0)) return 0.0;
    return total[3] / sqrt(spread * total[4]);
}

/* Adds drivers of the mean from the coordinates before position p, the most correlated with the residuals first. */
static void select_means(gess__scale_search *s, size_t p, step_fit *fit, gess__scale_step *step)
{
    const gess__learner *l = s->learner;
    size_t m = s->m;
    const double *y = l->z + s->order[p] * m;
    double *r = l->vectors + RESIDUALS * m, *weights = l->vectors + WEIGHTS * m, *work = l->vectors + WORK * m;
    gess__fit_mean(&fit->mean, weights, y, 0, m, work, r);
    for (step->means = 0; step->means < GESS__MAX_DRIVERS; step->means++) {
        double max = s->min_mean_correlation;
        size_t best = l->dim;
        for (size_t q = 0; q < p; q++) {
            double size = fabs(weighted_correlation(m, weights, r, l->z + s->order[q] * m));
            if (!(size > max)) continue;
            max = size;
            best = s->order[q];
        }
        if (best == l->dim) return;
        step->mean_from[step->means] = (uint32_t)best;
        fit->mean.columns[fit->mean.count++] = l->z + best * m;
        gess__fit_mean(&fit->mean, weights, y, 0, m, work, r);
    }
}

/* Fits mean and spread in turns to points begin .. end - 1. v: the learner's vectors, of m points. */
static void fit_both(step_fit *fit, const double *y, size_t begin, size_t end, double *v, size_t m)
{
    double *r = v + RESIDUALS * m, *weights = v + WEIGHTS * m, *work = v + WORK * m, loss;
    gess__spread_work spread = {v + LOG_VARIANCES * m, weights, v + SQUARES * m, work};
    for (size_t j = begin; j < end; j++) weights[j] = 1.0;
    for (int pass = 0; pass < 3; pass++) {
        gess__fit_mean(&fit->mean, weights, y, begin, end, work, r);
        if (pass == 0)
            loss = gess__spread_start(&fit->scale, r, begin, end, &spread);
        else
            loss = gess__spread_level(&fit->scale, r, begin, end, &spread);
        (void)gess__spread_fit(&fit->scale, r, begin, end, &spread, loss);
    }
    gess__fit_mean(&fit->mean, weights, y, begin, end, work, r);
    (void)gess__spread_level(&fit->scale, r, begin, end, &spread);
}

/* Minus the log-likelihood per point, but for a constant, of points begin .. end - 1. */
static double loss_of(const step_fit *fit, const double *y, size_t begin, size_t end, double *v, size_t m)
{
    double *r = v + RESIDUALS * m, *h = v + LOG_VARIANCES * m;
    gess__regression_predict(&fit->mean, begin, end, r);
    for (size_t j = begin; j < end; j++) r[j] = y[j] - r[j];
    gess__regression_predict(&fit->scale, begin, end, h);
    return gess__spread_loss(r, begin, end, h, v + WEIGHTS * m, v + SQUARES * m);
}

/* The mean loss of either half of the points under the fit to the other half. */
static double held_out_loss(step_fit fit, const double *y, size_t m, double *v)
{
    double loss = 0.0;
    size_t half = m / 2;
    for (int side = 0; side < 2; side++) {
        size_t begin = side ? half : 0, end = side ? m : half, from = side ? 0 : half, to = side ? half : m;
        fit_both(&fit, y, begin, end, v, m);
        loss += 0.5 * loss_of(&fit, y, from, to, v, m);
    }
    return loss;
}

/* Adds the drivers that the kept edges give to the step's coordinate: of its spread if `scales`, a bend if `bends`. */
static void add_drivers(const gess__scale_search *s, bool scales, bool bends, step_fit *fit, gess__scale_step *step)
{
    const gess__learner *l = s->learner;
    size_t m = s->m;
    double *square = l->vectors + BEND * m;
    for (size_t e = 0; e < s->edge_count; e++) {
        const gess__edge *edge = &s->edges[e];
        if (!edge->kept || edge->to != step->at) continue;
        if (!edge->bend && scales && step->scales < GESS__MAX_DRIVERS) {
            step->scale_from[step->scales++] = edge->from;
            fit->scale.columns[fit->scale.count++] = l->z + edge->from * m;
        } else if (edge->bend && bends && !step->bends) {
            step->bends = 1;
            step->bend_from = edge->from;
            gess__multiply(m, l->z + edge->from * m, l->z + edge->from * m, square);
            fit->mean.columns[fit->mean.count++] = square;
        }
    }
}

/* The factors of the fit, from standardised coordinates to those of the points. */
static void write_step(const gess__learner *l, const step_fit *fit, gess__scale_step *s)
{
    double sd = l->sd[s->at];
    size_t first = 1 + s->bends;
    s->shift = l->mean[s->at] + sd * fit->mean.factors[0];
    s->spread = sd * gess__exp(0.5 * fit->scale.factors[0]);
    if (s->bends) s->bend = sd * fit->mean.factors[1] / (l->sd[s->bend_from] * l->sd[s->bend_from]);
    for (size_t j = 0; j < s->means; j++) s->mean[j] = sd * fit->mean.factors[first + j] / l->sd[s->mean_from[j]];
    for (size_t j = 0; j < s->scales; j++) s->scale[j] = fit->scale.factors[1 + j] / l->sd[s->scale_from[j]];
}

/* A fit with constants only. */
static step_fit constant_fit(const double *ones)
{
    return (step_fit){{1, {ones}, {0}}, {1, {ones}, {0}}};
}

/* Fits the step for position p with these drivers. Returns its held-out gain over the plain step, which has a linear
 * mean and one variance, or 0 if that is too little. *plain_loss: the loss of the plain step, if there are drivers. */
static double try_step(gess__scale_search *s, size_t p, bool scales, bool bends, gess__scale_step *step,
                       double *plain_loss)
{
    const gess__learner *l = s->learner;
    uint32_t i = s->order[p];
    size_t m = s->m;
    double *v = l->vectors;
    const double *y = l->z + i * m;
    step_fit fit = constant_fit(v), plain = fit;
    *step = (gess__scale_step){.at = i};
    add_drivers(s, scales, bends, &fit, step);
    if (step->scales + step->bends == 0) return 0.0;
    fit_both(&fit, y, 0, m, v, m);
    select_means(s, p, &fit, step);
    for (size_t j = 0; j < step->means; j++)
        plain.mean.columns[plain.mean.count++] = l->z + (size_t)step->mean_from[j] * m;
    *plain_loss = held_out_loss(plain, y, m, v);
    double gain = *plain_loss - held_out_loss(fit, y, m, v);
    fit_both(&fit, y, 0, m, v, m);
    write_step(l, &fit, step);
    return gain > MIN_GAIN ? gain : 0.0;
}

/* The best of three steps: with spread and bend, with the spread only, with the bend only. *spread_only becomes the
 * second, or the first if it has no bend. */
static double best_linear(gess__scale_search *s, size_t p, gess__scale_step *step, gess__scale_step *spread_only,
                          double *plain_loss)
{
    double best = 0.0, unused;
    for (int choice = 0; choice < 3; choice++) {
        gess__scale_step other;
        double gain = try_step(s, p, choice != 2, choice != 1, &other, choice == 2 ? &unused : plain_loss);
        if (choice < 2) *spread_only = other;
        if (gain > best) {
            best = gain;
            *step = other;
        }
        if (choice == 0 && other.scales * other.bends == 0) return best;
    }
    return best;
}

/* A step with drivers of the mean only; returns its held-out loss. */
static double plain_step(gess__scale_search *s, size_t p, gess__scale_step *step)
{
    const gess__learner *l = s->learner;
    size_t m = s->m;
    double *v = l->vectors, *weights = v + WEIGHTS * m;
    uint32_t i = s->order[p];
    step_fit fit = constant_fit(v);
    *step = (gess__scale_step){.at = i};
    for (size_t j = 0; j < m; j++) weights[j] = 1.0;
    select_means(s, p, &fit, step);
    return held_out_loss(fit, l->z + i * m, m, v);
}

double gess__scale_fit_step(gess__scale_search *s, size_t p, gess__scale_step *step)
{
    s->kappa = 0;
    s->floor_only = false;
    s->max_loss = MAX_INTEGER_LOSS;
    double plain_loss = 0.0, best, gain;
    size_t hub = s->hub, dim = s->learner->dim;
    gess__scale_step spread_only = {0}, other;
    best = best_linear(s, p, step, &spread_only, &plain_loss);
    if (spread_only.scales > 0) {
        gain = plain_loss - gess__scale_fit_saturated(s, &spread_only, &other);
        if (gain > MIN_GAIN && gain > best - MAX_SATURATION_LOSS) {
            best = gain;
            *step = other;
        }
    }
    bool tried = spread_only.scales > 0 && spread_only.scale_from[0] == hub;
    if (hub == dim || !gess__scale_is_parent(s, s->order[p], hub) || tried) return best;
    if (spread_only.scales == 0) plain_loss = plain_step(s, p, &spread_only);
    spread_only.scales = 1;
    spread_only.scale_from[0] = (uint32_t)hub;
    spread_only.scale[0] = s->hub_slope;
    gain = plain_loss - gess__scale_fit_saturated(s, &spread_only, &other);
    if (!(gain > best - MAX_SIBLING_LOSS) || (other.scale[0] > 0.0 && !(gess__max(other.cap, other.floor) < MAX_CAP)))
        return best;
    *step = other;
    return gess__max(gain, DBL_MIN);
}

/* ---- agreement ---- */

/* What the mean follows, of a step with integer factors: 1 + a coordinate, 0 for none, -1 for several. */
static int64_t leader(const gess__scale_step *step)
{
    int64_t found = 0;
    for (size_t j = 0; j < step->means; j++)
        if (step->mean[j] != 0.0) found = found == 0 ? 1 + (int64_t)step->mean_from[j] : -1;
    return found;
}

static bool is_integer(const gess__scale_step *step)
{
    bool integer = step->saturated;
    for (size_t j = 0; j < step->means; j++) integer = integer && step->mean[j] == rint(step->mean[j]);
    return integer;
}

static bool is_driven(const gess__scale_search *s, const gess__scale_step *step)
{
    return step->scales > 0 && step->scale_from[0] == s->hub;
}

/* The leader of more than half of the driven steps, among those that look like siblings already; -1: there is none. */
static int64_t common_leader(const gess__scale_search *s, size_t count, const gess__scale_step *steps)
{
    size_t driven = 0;
    for (size_t k = 0; k < count; k++) driven += is_driven(s, &steps[k]);
    for (size_t k = 0; k < count; k++) {
        size_t same = 0;
        for (size_t i = 0; i < count; i++)
            same += is_driven(s, &steps[i]) && is_integer(&steps[i]) && !(steps[i].floor > 0.0) &&
                    steps[i].cap < MAX_CAP && leader(&steps[i]) == leader(&steps[k]);
        if (2 * same > driven) return leader(&steps[k]);
    }
    return -1;
}

void gess__scale_agree(gess__scale_search *s, size_t count, gess__scale_step *steps)
{
    int64_t common = s->hub < s->learner->dim ? common_leader(s, count, steps) : -1;
    if (common < 0) return;
    s->kappa = s->votes > 0.0 ? 2 : 1;
    for (size_t k = 0; k < count; k++) {
        gess__scale_step *step = &steps[k], other;
        if (!is_driven(s, step)) continue;
        s->floor_only = false;
        s->max_loss = INFINITY;
        (void)gess__scale_fit_saturated(s, step, &other);
        if (leader(&other) == common && !(other.floor > 0.0)) {
            *step = other;
        } else if (!step->saturated || !(step->floor > 0.0)) {
            s->floor_only = true;
            s->max_loss = -INFINITY;
            (void)gess__scale_fit_saturated(s, step, &other);
            *step = other;
        }
    }
}
