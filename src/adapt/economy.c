/* Forecasts what sampling would cost, compares it with what learning has cost, and judges trials. stages.c calls it at
 * the end of every stage. */
#include "adapt/economy.h"

#include "base/assert.h"
#include "base/vmath.h"

#include <math.h>

/* A trial has at least this many iterations and rows of the window, and this many autocorrelation times; a thorough one
 * has THOROUGH_TIMES less the smallest number of iterations: a fast T passes in those, a slow one must show its time.
 */
enum { MIN_ITERATIONS = GESS__MIN_TRIAL, MIN_ROWS = 8, TIMES = 4, THOROUGH_TIMES = 8, MAX_ITERATIONS = 400 };

/* T is tried once a better one can save less than this part of the evaluations spent so far; the second where learning
 * has not been bringing much. It is kept if what the trial measured is below KEEP_FACTOR times that. */
#define TRY_SHARE 0.25
#define STAGNANT_SHARE 1.0
#define KEEP_FACTOR 2.0
/* Sampling may take this many times its forecast, or as much as learning took. */
#define OVERDUE 8.0
/* Stages that pay keep warm-up from ending itself until a LONG-th part of the forecast is spent, which counts as at
 * most MAX_LONG evaluations; not if it is above OPEN, as that of draws without end. */
#define LONG 20.0
#define MAX_LONG 1e6
#define OPEN 1e8
/* The rate rises if it grows by this factor while the evaluations grow by the second. */
#define RISE 1.3
#define TREND_GROWTH 1.5
/* A trial shows autocorrelation times of up to this part of its length; a thorough one of up to the second, or of up to
 * QUICK iterations. */
#define RESOLVED 0.34
#define THOROUGH_RESOLVED 0.2
#define QUICK 3.4
/* Chance that a trial of a stationary ensemble finds a drift in one of the coordinates. */
#define FALSE_ALARMS 0.01

void gess__economy_open(gess__economy *e, const gess_options *options)
{
    double share = 1.0 / (double)options->ensembles;
    *e = (gess__economy){0};
    e->final = options->draws != GESS_AUTO;
    if (options->draws == GESS_AUTO)
        e->goal = (double)options->target_ess * share;
    else
        e->updates = (double)options->draws * (double)options->thin * (double)options->chains * share;
}

static double cost(const gess__economy *e, double rate, double per_update)
{
    return e->updates > 0.0 ? e->updates * per_update : e->goal / rate;
}

/* What a better T can save at most: none brings more than one effective draw per evaluation, or nearly none. */
static double saving(double forecast, double rate)
{
    return forecast * gess__max(1.0 - rate, 0.0);
}

/* A T that disappointed was frozen too early: each time, the next one has to promise twice as much. */
static double worth(const gess__economy *e)
{
    double share = e->stagnant ? STAGNANT_SHARE : TRY_SHARE;
    return ldexp(share, -(int)(e->commitments < 8 ? e->commitments : 8));
}

/* Whether a trial has to notice what the run could not mend later. Where learning stagnates a slow T stays slow, so it
 * is not worth a long trial. */
static int is_thorough(const gess__economy *e)
{
    return e->final && !e->stagnant;
}

/* What a better T can save, and what trying this one costs. */
static double at_stake(const gess__economy *e)
{
    return saving(e->forecast, e->rate) + (is_thorough(e) ? e->trial_cost : 0.0);
}

static void note_trend(gess__economy *e, const gess__stage_cost *s)
{
    if (!(s->spent > TREND_GROWTH * e->mark)) return;
    int still = fabs(s->value - e->mark_value) < 2.0 * gess__hypot(s->error, e->mark_error);
    e->stagnant = e->mark > 0.0 && e->rate < RISE * e->mark_rate && still;
    e->mark = s->spent;
    e->mark_rate = e->rate;
    e->mark_value = s->value;
    e->mark_error = s->error;
}

/* Whether the last stage has brought the rate to a record that is worth the next stage, in a long run. */
static void note_record(gess__economy *e, double spent)
{
    double gained = LONG * spent * (e->rate / e->best_rate - 1.0);
    int is_long = e->forecast < OPEN && LONG * spent < gess__min(e->forecast, MAX_LONG);
    e->pays = is_long && e->best_rate > 0.0 && gained > e->next;
    e->best_rate = gess__max(e->best_rate, e->rate);
}

int gess__economy_forecast(gess__economy *e, const gess__stage_cost *s)
{
    double before = e->rate_before;
    e->rate_before = e->rate;
    e->next = s->next * s->per_update;
    e->trial_cost = s->trial * s->per_update;
    e->forecast = INFINITY;
    e->pays = 0;
    if (!(e->rate > 0.0) || e->goal + e->updates == 0.0) return 0;
    e->forecast = cost(e, e->rate, s->per_update);
    note_trend(e, s);
    note_record(e, s->spent);
    double saved = before > 0.0 ? e->forecast * (e->rate / before - 1.0) : 0.0;
    return !e->unsure && at_stake(e) < worth(e) * s->spent && saved < e->next;
}

double gess__economy_left(const gess__economy *e, double spent)
{
    if (!(e->rate > 0.0) || !(e->forecast < INFINITY)) return 0.0;
    return gess__max(at_stake(e) / worth(e) - spent, 0.0);
}

int gess__economy_disappoints(const gess__economy *e, double learning, double sampling, double share)
{
    double forecast = e->rate > 0.0 && e->result == GESS__TRIAL_PASSED ? e->forecast : learning;
    double left = sampling * (1.0 / share - 1.0);
    if (sampling > OVERDUE * forecast && sampling > learning) return 1;
    return share < 0.5 && sampling > forecast && sampling * 0.5 > forecast * share && left > 0.25 * learning;
}

uint64_t gess__trial_length(const gess__economy *e, const gess__window *w, double per_update)
{
    double time = e->rate > 0.0 ? 1.0 / (e->rate * per_update) : 0.0;
    double wanted = is_thorough(e) ? ceil(THOROUGH_TIMES * time) - MIN_ITERATIONS : ceil(TIMES * time);
    uint64_t length = (uint64_t)gess__max(gess__min(wanted, MAX_ITERATIONS), 0.0), rows = MIN_ROWS * w->stride;
    if (length < MIN_ITERATIONS) length = MIN_ITERATIONS;
    return length > rows ? length : rows;
}

/* The largest |t| of a family of `tests` that FALSE_ALARMS allows, from `chains` chains: the normal quantile by its
 * upper bound, widened for Student's t. */
static double drift_limit(double tests, double chains)
{
    double z = sqrt(2.0 * gess__log(2.0 * tests / FALSE_ALARMS));
    return z * (1.0 + (z * z + 1.0) / (4.0 * (chains - 1.0)));
}

/* One coordinate of the trial's draws, x[row · step], or with `fold` its distance from `centre`: *drift, the mean over
 * chains of the shift from the first half to the second, in standard errors; *time, the autocorrelation time that the
 * spread of the chains' means shows. */
static void judge_column(const gess__window *w, const double *x, size_t step, int fold, double centre, double *drift,
                         double *time)
{
    size_t chains = w->chains, from = gess__window_older(w), rows = w->draws - from, half = rows / 2;
    double shift = 0.0, shift2 = 0.0, mean = 0.0, mean2 = 0.0, all2 = 0.0;
    for (size_t c = 0; c < chains; c++) {
        double first = 0.0, second = 0.0, middle = 0.0;
        for (size_t i = 0; i < rows; i++) {
            double value = x[((from + i) * chains + c) * step] - centre;
            if (fold) value = fabs(value);
            if (i < half)
                first += value;
            else if (i >= rows - half)
                second += value;
            else
                middle += value;
            all2 += value * value;
        }
        double d = (second - first) / (double)half, m = (first + second + middle) / (double)rows;
        shift += d;
        shift2 += d * d;
        mean += m;
        mean2 += m * m;
    }
    double n = (double)chains, r = (double)rows;
    double variance = (shift2 - shift * shift / n) / (n - 1.0), between = (mean2 - mean * mean / n) / (n - 1.0);
    double total = all2 / (n * r) - mean / n * (mean / n);
    *drift = variance > 0.0 ? fabs(shift / n) / sqrt(variance / n) : 0.0;
    *time = total > 0.0 ? r * (double)w->stride * between / total : 0.0;
}

static double mean_of(const gess__window *w, const double *x, size_t step)
{
    double sum = 0.0;
    size_t from = gess__window_older(w) * w->chains, to = gess__window_points(w);
    for (size_t i = from; i < to; i++) sum += x[i * step] - x[from * step];
    return x[from * step] + sum / (double)(to - from);
}

void gess__trial_judge(gess__economy *e, const gess__window *w, int moved, int last, double spent, double per_update)
{
    GESS_ASSERT(w->points != NULL && w->draws > gess__window_older(w) + 1 && w->chains > 1);
    double drift, time, chains = (double)w->chains;
    e->trials++;
    judge_column(w, w->values, 1, 0, mean_of(w, w->values, 1), &e->drift, &e->slowest);
    for (size_t j = 0; j < w->dim; j++) {
        double centre = mean_of(w, w->points + j, w->dim);
        for (int fold = 0; fold < 2; fold++) {
            judge_column(w, w->points + j, w->dim, fold, centre, &drift, &time);
            e->drift = gess__max(e->drift, drift);
            e->slowest = gess__max(e->slowest, time);
        }
    }
    e->max_drift = drift_limit(2.0 * (double)w->dim + 1.0, chains);
    /* the largest of many estimates, each with a relative error of √(2 / (chains − 1)), is too large */
    double length = (double)w->length, t = gess__max(e->slowest / (1.0 + 1.5 * sqrt(2.0 / (chains - 1.0))), 0.5);
    e->measured_rate = 1.0 / (t * per_update);
    double resolved = is_thorough(e) ? gess__max(THOROUGH_RESOLVED * length, QUICK) : RESOLVED * length;
    int slow = t > resolved ||
               !(saving(cost(e, e->measured_rate, per_update), e->measured_rate) < KEEP_FACTOR * worth(e) * spent);
    e->result = moved || !(e->drift < e->max_drift) ? GESS__TRIAL_DRIFT
                : slow && !last                     ? GESS__TRIAL_SLOW
                                                    : GESS__TRIAL_PASSED;
}
