/* Estimates the effective draws per evaluation of independence moves and of ellipse updates, and chooses how many
 * independence moves there are per ellipse. It also caps ν so that the tails of T suit independence moves. */
#include "adapt/move_mix.h"

#include "adapt/laplace.h"
#include "base/assert.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/special.h"
#include "base/tiles.h"
#include "base/vmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points that the estimate rests on. */
enum { POINTS = 4000 };

/* One level in LOW_LEVELS is taken for an outlier. */
enum { LOW_LEVELS = 50 };

/* A tail is one draw in TAIL_PART. */
enum { TAIL_PART = 50 };

/* One iteration in TRY_PERIOD tries an independence move where none was chosen; one in two while the ensemble travels,
 * since such moves take chains that lag behind to where the others are. */
enum { TRY_PERIOD = 6 };

/* Independence moves until ellipses have freed a chain from a point where T is too small. */
#define MAX_WAIT 500.0

struct gess__move_value {
    double *points;         /* POINTS × dim */
    double *level;          /* POINTS: log π − log T */
    double *deltas, *terms; /* components × POINTS */
    double *scratch;
};

int gess__move_value_new(gess__move_value **value, size_t dim, gess_error *err)
{
    GESS_ALLOC(value, 1, err);
    gess__move_value *v = *value;
    GESS_ALLOC(&v->points, POINTS * dim, err);
    GESS_ALLOC(&v->level, POINTS, err);
    GESS_ALLOC(&v->deltas, (size_t)POINTS * gess__mixture_room(dim), err);
    GESS_ALLOC(&v->terms, (size_t)POINTS * gess__mixture_room(dim), err);
    GESS_ALLOC(&v->scratch, gess__triangular_scratch(dim), err);
    return GESS_OK;
}

void gess__move_value_free(gess__move_value *v)
{
    if (v == NULL) return;
    free(v->points);
    free(v->level);
    free(v->deltas);
    free(v->terms);
    free(v->scratch);
    free(v);
}

/* ---- what independence moves are worth ---- */

/* Effective draws per evaluation of independence moves, and the share that is accepted, from the levels
 * l = log π − log T of draws of the target. A chain leaves a point at level l with probability
 *   α(l) = E_T min(1, e^(l' − l)),
 * an average over T that draws of π give with weights e^−l'. A chain of such moves alone has an autocorrelation time of
 * about E_π (2/α − 1); a point with a small α costs at most what ellipses take to free the chain from it.
 *
 * A draw far below the others in level would have nearly all of the weight: it is a draw from before the ensemble
 * arrived, or one of a few in a corner where T is far too large. So the lowest levels count as the lowest but these. */
static double draws_per_eval(size_t n, double *level, double *accepted)
{
    gess__sort(n, level);
    size_t low = n / LOW_LEVELS;
    double min = level[low], all = 0.0, above = 0.0, time = 0.0;
    *accepted = 0.0;
    for (size_t i = 0; i < n; i++) all += level[i] = gess__exp(min - (i < low ? min : level[i]));
    for (size_t i = n; i-- > 0;) {
        above += level[i];
        double leave = (above + (double)i * level[i]) / all;
        *accepted += leave / (double)n;
        time += (2.0 / gess__max(leave, 1.0 / MAX_WAIT) - 1.0) / (double)n;
    }
    return 1.0 / time;
}

/* Squared distances of n points from every component. */
static void set_deltas(gess__move_value *v, const gess__mixture *t, size_t n)
{
    for (size_t j = 0; j < t->count; j++) {
        const gess__approx *c = t->component[j];
        gess__whitened_squares(c->dim, c->chol, c->inverse_diagonal, c->mu, n, v->points, v->deltas + j * n,
                               v->scratch);
    }
}

/* Their log T, with the ν that the components have now. */
static void set_log_ts(gess__move_value *v, const gess__mixture *t, size_t n)
{
    for (size_t j = 0; j < t->count; j++) {
        double *terms = v->terms + j * n, norm = t->log_weight[j] + gess__approx_log_norm(t->component[j]);
        gess__approx_log_ts(t->component[j], 0, n, v->deltas + j * n, terms);
        for (size_t i = 0; i < n; i++) terms[i] += norm;
    }
    gess__log_sums(t->count, n, n, v->terms, v->level);
}

/* Copies points of the window, evenly spread; returns how many. */
static size_t take_points(const gess__window *w, double *to)
{
    size_t points = gess__window_points(w), n = points < POINTS ? points : POINTS;
    for (size_t i = 0; i < n; i++) memcpy(to + i * w->dim, w->points + i * points / n * w->dim, w->dim * sizeof *to);
    return n;
}

double gess__move_value_expected(gess__learning *l, double *acceptance)
{
    static const double caps[] = {INFINITY, 100.0, 50.0, 30.0, 20.0, 12.0, 8.0, 5.0, 3.0};
    enum { CAPS = sizeof caps / sizeof *caps };
    const double enough = 0.9; /* of the best: the heaviest tails that bring this much are chosen */
    gess__move_value *v = l->value;
    gess__mixture *t = l->ensemble->frozen.mixture;
    const gess__window *w = &l->adaptation->window;
    size_t points = gess__window_points(w), n = take_points(w, v->points), chosen = 0;
    GESS_ASSERT(n > 0);
    double fitted[GESS__MAX_COMPONENTS], draws[CAPS] = {0}, accepted[CAPS] = {0}, best = 0.0;
    set_deltas(v, t, n);
    for (size_t j = 0; j < t->count; j++) fitted[j] = l->state.fitted_nu[j];
    for (size_t k = 0; k < CAPS; k++) {
        for (size_t j = 0; j < t->count; j++) t->component[j]->nu = gess__min(fitted[j], caps[k]);
        set_log_ts(v, t, n);
        for (size_t i = 0; i < n; i++) v->level[i] = w->values[i * points / n] - v->level[i];
        draws[k] = draws_per_eval(n, v->level, &accepted[k]);
        if (draws[k] > best) best = draws[k];
        if (draws[k] < 0.5 * best) break;
    }
    for (size_t k = 0; k < CAPS; k++)
        if (draws[k] >= enough * best) chosen = k;
    for (size_t j = 0; j < t->count; j++) t->component[j]->nu = gess__min(fitted[j], caps[chosen]);
    *acceptance = accepted[chosen];
    return draws[chosen];
}

/* The excess of the tails of one coordinate, from the levels of n points and their mean. */
static double excess_along(gess__move_value *v, size_t dim, size_t n, double mean, size_t coordinate)
{
    size_t tail = n / TAIL_PART;
    double *place = v->deltas, sum[2] = {0.0, 0.0}, count[2] = {0.0, 0.0};
    for (size_t i = 0; i < n; i++) place[i] = v->points[i * dim + coordinate];
    gess__sort(n, place);
    double low = place[tail - 1], high = place[n - tail];
    for (size_t i = 0; i < n; i++) {
        double x = v->points[i * dim + coordinate];
        for (int side = 0; side < 2; side++) {
            if (side ? x < high : x > low) continue;
            sum[side] += v->level[i];
            count[side] += 1.0;
        }
    }
    return gess__max(sum[0] / count[0] - mean, sum[1] / count[1] - mean);
}

double gess__move_value_tail_excess(gess__learning *l, size_t count, const uint32_t *coordinates)
{
    gess__move_value *v = l->value;
    const gess__mixture *t = l->ensemble->frozen.mixture;
    const gess__window *w = &l->adaptation->window;
    size_t points = gess__window_points(w);
    double sum = 0.0, excess = 0.0;
    if (count == 0 || points < TAIL_PART) return 0.0;
    size_t n = take_points(w, v->points);
    set_deltas(v, t, n);
    set_log_ts(v, t, n);
    for (size_t i = 0; i < n; i++) sum += v->level[i] = w->values[i * points / n] - v->level[i];
    for (size_t k = 0; k < count; k++)
        excess = gess__max(excess, excess_along(v, t->dim, n, sum / (double)n, coordinates[k]));
    return excess;
}

/* ---- what updates around ellipses are worth ---- */

/* Draws per evaluation that they brought in the last stage. An update multiplies a coordinate's deviation from the
 * centre by the cosine of the accepted angle, so the mean cosine is the autocorrelation of an update. */
static double measure_ellipses(const gess__tally *before, const gess__tally *after)
{
    double moved = 0.0, sum = 0.0;
    for (size_t i = 0; i < GESS__BINS; i++) {
        double count = (double)(after->angles[i] - before->angles[i]);
        moved += count;
        double sine, cosine;
        gess__sincos_turns(((double)i + 0.5) / GESS__BINS - 0.5, &sine, &cosine);
        sum += count * cosine;
    }
    double moves = (double)(after->independence - before->independence),
           evals = (double)(after->evals - before->evals) - moves;
    double updates = (double)(after->updates - before->updates) - moves;
    updates -= (double)(after->coordinate - before->coordinate);
    evals -= (double)(after->coordinate_evals - before->coordinate_evals);
    if (!(updates > 0.0 && moved > 0.0)) return NAN;
    double correlation = (sum + updates - moved) / updates;
    return (1.0 - correlation) / (1.0 + correlation) * updates / evals;
}

/* Evaluations per update around an ellipse in the last stage. */
static double ellipse_cost(const gess__tally *before, const gess__tally *after)
{
    double moves = (double)(after->independence - before->independence);
    double along = (double)(after->coordinate - before->coordinate);
    double along_evals = (double)(after->coordinate_evals - before->coordinate_evals);
    return ((double)(after->evals - before->evals) - moves - along_evals) /
           ((double)(after->updates - before->updates) - moves - along);
}

/* ---- the choice ---- */

/* Effective draws per evaluation of a pattern of k independence moves and one ellipse. Autocorrelations of the two
 * kinds of update multiply. */
static double pattern_value(double independence, double ellipse, double cost, unsigned k)
{
    double one = gess__min(ellipse * cost, 0.98), other = gess__min(independence, 0.98), moves = (double)k;
    double logs = gess__log((1.0 - one) / (1.0 + one)) + moves * gess__log((1.0 - other) / (1.0 + other));
    double correlation = gess__exp(logs / (moves + 1.0));
    return (1.0 - correlation) / (1.0 + correlation) * (moves + 1.0) / (moves + cost);
}

/* Independence moves per ellipse. Ellipses are worth less than the mean cosine says if their angles differ between
 * states, and if the scale s of a heavy-tailed T is slow: it moves by a factor of about 1 ± √(2/(D + ν)) per update.
 * Around a mixture they stay near one component. A chain at a point where T is too small waits for an ellipse, and for
 * more than one, so if such points are common there are few moves between two ellipses. There is always one move if
 * moves succeed at all: each kind frees chains that the other is slow with. The numbers were set by measurements
 * (docs/specification.md). */
static unsigned choose_independence(const gess__learning *l, double cost, double *rate)
{
    static const unsigned choices[] = {0, 1, 2, 4, 8};
    const gess__learning_state *s = &l->state;
    const gess__frozen *f = &l->ensemble->frozen;
    double dim = (double)l->ensemble->target.dim, nu = f->approx->nu, best = 0.0;
    double ellipse = s->ellipse * gess__min(1.0, s->ellipse / 0.2);
    unsigned max = s->independence > 0.5 ? 8 : s->independence > 0.1 ? 4 : 2;
    unsigned min = s->independence > 0.3 ? 2 : s->independence > 0.03, chosen = 0;
    if (f->mixture->count > 1) ellipse *= 0.25;
    *rate = 0.0;
    if (!(cost >= 1.0 && ellipse > 0.0 && s->independence > 0.0)) return 0;
    if (isfinite(nu)) {
        double slow = 1.0 - gess__min(2.0 / (dim + nu) / gess__trigamma(0.5 * nu), 1.0);
        ellipse = gess__min(ellipse, sqrt(ellipse * (1.0 - slow) / (1.0 + slow) / cost));
    }
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        double value = pattern_value(s->independence, ellipse, cost, choices[i]);
        if (choices[i] < min || choices[i] > max || !(value > best)) continue;
        chosen = choices[i];
        best = value;
    }
    *rate = best;
    return chosen;
}

static void set_moves(gess__learning *l, unsigned independence, unsigned ellipses)
{
    gess__move_mix *m = &l->ensemble->frozen.moves;
    double cost = l->state.evals_per_ellipse;
    m->independence = independence;
    m->period = independence + ellipses;
    l->adaptation->warmup.expected_evals_per_update =
        cost > 0.0 ? (independence + ellipses * cost) / (independence + ellipses) : 0.0;
}

void gess__move_mix_freeze(gess__learning *l)
{
    set_moves(l, l->state.chosen, 1);
}

void gess__move_mix_set_single(gess__learning *l)
{
    gess__frozen *f = &l->ensemble->frozen;
    if (f->mixture->count > 1) return;
    f->mixture->log_weight[0] = 0.0;
    gess__approx_copy(f->mixture->component[0], f->approx);
    l->state.fitted_nu[0] = f->approx->nu;
}

void gess__move_mix_choose(gess__learning *l)
{
    gess__learning_state *s = &l->state;
    gess__warmup *u = &l->adaptation->warmup;
    gess__frozen *f = &l->ensemble->frozen;
    const gess__tally *before = &u->before, *now = &l->ensemble->tally;
    /* the acceptance of the last stage's moves, against what was expected */
    double trust = 1.0, expected = s->acceptance;
    if (now->independence > before->independence && expected > 0.0) trust = gess__min(1.0, u->accepted / expected);
    double ellipse = measure_ellipses(before, now), cost = ellipse_cost(before, now);
    if (!isnan(ellipse)) s->ellipse = ellipse; /* a short stage may have had no such update */
    if (isfinite(cost)) s->evals_per_ellipse = cost;
    s->by_laplace = gess__laplace_prefer(l);
    gess__move_mix_set_single(l);
    s->independence = gess__move_value_expected(l, &s->acceptance) * trust;
    if (f->mixture->count == 1) f->approx->nu = f->mixture->component[0]->nu;
    s->chosen = choose_independence(l, s->evals_per_ellipse, &s->rate);
    if (s->chosen == 0 && s->covers)
        set_moves(l, 1, u->moved ? 1 : TRY_PERIOD - 1);
    else
        gess__move_mix_freeze(l);
}
