/* Searches for the mode: Newton steps from second differences, evaluated on the team of threads, and the Laplace
 * approximation (a t with mean and covariance) from the curvature at the mode. schedule/pooled.c runs the search in
 * the first stage of warm-up; laplace_choice.c decides whether its result is used. */
#include "adapt/laplace.h"

#include "adapt/laplace_state.h"

#include "base/linalg.h"
#include "base/mem.h"
#include "base/tiles.h"
#include "base/vmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Newton steps; quick steps between two of them; attempts to find the lengths of directions; chains to start from. */
enum { MAX_STEPS = 7, MAX_QUICK = 12, MAX_SCALINGS = 14, MAX_STARTS = 3 };

/* A search takes at most one in SHARE evaluations of warm-up, or one in SMALL_SHARE if two steps need that. */
enum { SHARE = 5, SMALL_SHARE = 2 };

/* A mode is reached if another step would gain less than MAX_GAIN nats, and the curvatures that differences find along
 * the directions of the last step are within a factor of MAX_RATIO. */
#define MAX_GAIN 0.5
#define MAX_RATIO 20.0

/* A quick step is taken if it should gain at least MIN_QUICK_GAIN nats, and another after it if it gained at least
 * MIN_QUICK_PART of what it should. */
#define MIN_QUICK_GAIN 1.0
#define MIN_QUICK_PART 0.2

/* What a round of evaluations finds: values both ways along each direction; second differences of pairs of directions;
 * values along the step. */
enum round_kind { ALONG, ACROSS, STEP, KINDS };

/* Evaluations of a step. */
static uint64_t step_cost(size_t dim)
{
    return (uint64_t)dim * (dim + 1) + GESS__LAPLACE_LENGTHS;
}

/* Evaluations that a search may take. */
static uint64_t budget(const gess__learning *l)
{
    const gess__warmup *u = &l->adaptation->warmup;
    uint64_t evals = u->fixed != GESS_AUTO ? u->fixed * l->ensemble->chains.count : u->max_evals;
    return evals / (2 * step_cost(l->ensemble->target.dim) > evals / SHARE ? SMALL_SHARE : SHARE);
}

int gess__laplace_affordable(const gess__learning *l)
{
    return 2 * step_cost(l->ensemble->target.dim) <= budget(l);
}

static size_t max_items(size_t dim)
{
    return dim > GESS__LAPLACE_LENGTHS ? dim : GESS__LAPLACE_LENGTHS;
}

int gess__laplace_new(gess__laplace **laplace, size_t dim, gess_error *err)
{
    size_t eigen = gess__eigen_work(dim), triangle = gess__triangular_scratch(dim);
    GESS_ALLOC(laplace, 1, err);
    gess__laplace *s = *laplace;
    GESS_TRY(gess__approx_new(&s->t, dim, err));
    GESS_ALLOC(&s->finished, max_items(dim), err);
    GESS_ALLOC(&s->top, dim, err);
    GESS_ALLOC(&s->frame, dim * dim, err);
    GESS_ALLOC(&s->up, dim, err);
    GESS_ALLOC(&s->down, dim, err);
    GESS_ALLOC(&s->scaled, dim, err);
    GESS_ALLOC(&s->curvature, dim * dim, err);
    GESS_ALLOC(&s->step, dim, err);
    GESS_ALLOC(&s->eigen, dim, err);
    GESS_ALLOC(&s->square, dim * dim, err);
    GESS_ALLOC(&s->work, eigen > triangle ? eigen : triangle, err);
    GESS_ALLOC(&s->points, GESS__LAPLACE_CHUNK * dim, err);
    GESS_ALLOC(&s->z, GESS__LAPLACE_CHUNK * dim, err);
    GESS_ALLOC(&s->deltas, GESS__LAPLACE_COMPARED, err);
    GESS_ALLOC(&s->levels, GESS__LAPLACE_COMPARED, err);
    return GESS_OK;
}

void gess__laplace_free(gess__laplace *s)
{
    if (s == NULL) return;
    gess__approx_free(s->t);
    free(s->finished);
    free(s->top);
    free(s->frame);
    free(s->up);
    free(s->down);
    free(s->scaled);
    free(s->curvature);
    free(s->step);
    free(s->eigen);
    free(s->square);
    free(s->work);
    free(s->points);
    free(s->z);
    free(s->deltas);
    free(s->levels);
    free(s);
}

void gess__laplace_archive(gess__laplace *s, gess__archive *a)
{
    size_t dim = s->t->dim;
    GESS_ARCHIVE(a, &s->at);
    gess__archive_bytes(a, s->finished, max_items(dim) * sizeof *s->finished);
    gess__archive_bytes(a, s->top, dim * sizeof *s->top);
    gess__archive_bytes(a, s->frame, dim * dim * sizeof *s->frame);
    gess__archive_bytes(a, s->up, dim * sizeof *s->up);
    gess__archive_bytes(a, s->down, dim * sizeof *s->down);
    gess__archive_bytes(a, s->scaled, dim * sizeof *s->scaled);
    gess__archive_bytes(a, s->curvature, dim * dim * sizeof *s->curvature);
    gess__archive_bytes(a, s->step, dim * sizeof *s->step);
    if (s->at.kind >= KINDS) a->bad = 1;
}

/* ---- evaluations, on the team ---- */

/* Log densities of the n points of a worker; NaN and +inf become -inf. */
static int ask(gess__laplace *s, unsigned worker, size_t n, gess_error *err)
{
    gess__update *u = &s->ensemble->updates[worker];
    if (s->record->stop != NULL && atomic_load(s->record->stop)) return gess__fail(err, GESS_ERR_STOPPED, "stopped");
    int status =
        gess__target_evaluate(&s->ensemble->target, worker, n, u->points, u->values, NULL, NULL, u->mapped, err);
    if (status != GESS_OK && err != NULL) err->chain = 0; /* no chain has asked for these points */
    if (status != GESS_OK) return status;
    for (size_t i = 0; i < n; i++)
        if (!(u->values[i] < INFINITY)) u->values[i] = -INFINITY;
    return GESS_OK;
}

/* The point `along` lengths along direction i and `across` lengths along direction j from the top. */
static void put(const gess__laplace *s, double along, size_t i, double across, size_t j, double *point)
{
    size_t dim = s->ensemble->target.dim;
    const double *first = s->frame + i * dim, *second = s->frame + j * dim;
    for (size_t k = 0; k < dim; k++) point[k] = gess__fma(across, second[k], gess__fma(along, first[k], s->top[k]));
}

/* Values both ways along direction `item`, unless its length is known. */
static int evaluate_along(gess__laplace *s, unsigned worker, size_t item, gess_error *err)
{
    const gess__update *u = &s->ensemble->updates[worker];
    if (s->scaled[item]) return GESS_OK;
    put(s, 1.0, item, 0.0, item, u->points);
    GESS_TRY(ask(s, worker, 1, err));
    s->up[item] = u->values[0];
    put(s, -1.0, item, 0.0, item, u->points);
    GESS_TRY(ask(s, worker, 1, err));
    s->down[item] = u->values[0];
    return GESS_OK;
}

/* Minus the second differences of direction `item` with itself and with all later ones: both ways, so that third
 * derivatives cancel. */
static int evaluate_across(gess__laplace *s, unsigned worker, size_t item, gess_error *err)
{
    const gess__update *u = &s->ensemble->updates[worker];
    size_t dim = s->ensemble->target.dim, block = s->ensemble->block, count = 2 * (dim - item - 1);
    double both = s->up[item] + s->down[item] - 2.0 * s->at.value, *column = s->curvature + item * dim;
    column[item] = -both;
    for (size_t k = item + 1; k < dim; k++) column[k] = 0.5 * (both + s->up[k] + s->down[k]);
    for (size_t done = 0; done < count; done += block) {
        size_t some = count - done < block ? count - done : block;
        for (size_t q = 0; q < some; q++) {
            double side = (done + q) % 2 == 0 ? 1.0 : -1.0;
            put(s, side, item, side, item + 1 + (done + q) / 2, u->points + q * dim);
        }
        GESS_TRY(ask(s, worker, some, err));
        for (size_t q = 0; q < some; q++) column[item + 1 + (done + q) / 2] -= 0.5 * u->values[q];
    }
    return GESS_OK;
}

static double length_of(size_t number)
{
    return ldexp(2.0, -(int)number);
}

/* The value at 2^(1 - item) times the step. */
static int evaluate_step(gess__laplace *s, unsigned worker, size_t item, gess_error *err)
{
    const gess__update *u = &s->ensemble->updates[worker];
    for (size_t k = 0; k < s->ensemble->target.dim; k++)
        u->points[k] = gess__fma(length_of(item), s->step[k], s->top[k]);
    GESS_TRY(ask(s, worker, 1, err));
    s->at.step[item] = u->values[0];
    return GESS_OK;
}

static int evaluate_item(void *data, unsigned worker, size_t item, gess_error *err)
{
    static int (*const evaluate[KINDS])(gess__laplace *, unsigned, size_t, gess_error *) =
        {[ALONG] = evaluate_along, [ACROSS] = evaluate_across, [STEP] = evaluate_step};
    gess__laplace *s = data;
    if (s->finished[item]) return GESS_OK;
    GESS_TRY(evaluate[s->at.kind](s, worker, item, err));
    s->finished[item] = 1;
    return GESS_OK;
}

/* Evaluations of the present round. */
static uint64_t round_cost(const gess__laplace *s)
{
    uint64_t dim = s->ensemble->target.dim, left = 0;
    for (size_t k = 0; k < dim; k++) left += !s->scaled[k];
    return s->at.kind == ALONG ? 2 * left : s->at.kind == ACROSS ? dim * (dim - 1) : GESS__LAPLACE_LENGTHS;
}

static void begin_round(gess__laplace *s, enum round_kind kind)
{
    s->at.kind = kind;
    memset(s->finished, 0, max_items(s->ensemble->target.dim) * sizeof *s->finished);
}

/* Runs the round, or what is left of it, on the team, and counts its evaluations. */
static int run_round(gess__laplace *s, gess_error *err)
{
    gess__ensemble *e = s->ensemble;
    GESS_TRY(
        gess__team_run(e->team, s->at.kind == STEP ? GESS__LAPLACE_LENGTHS : e->target.dim, evaluate_item, s, err));
    s->at.evals += round_cost(s);
    return GESS_OK;
}

/* Tells the sink of the evaluations so far. */
static int report_progress(const gess__laplace *s, gess_error *err)
{
    const gess__ensemble *e = s->ensemble;
    gess__segment segment = {.count = e->kept, .iterations = gess__ensemble_done(e), .evals = s->at.evals};
    return s->record->sink != NULL ? s->record->sink(s->record->user, &segment, err) : GESS_OK;
}

/* ---- a search ---- */

/* Starts at a point, with directions along the coordinates (`scale`), or with those of `frame`. */
static void begin_at(gess__laplace *s, const double *point, double value, const double *scale, const double *frame)
{
    size_t dim = s->ensemble->target.dim;
    s->at = (gess__laplace_progress){.value = value, .steps = frame != NULL}; /* a frame allows a quick step first */
    memcpy(s->top, point, dim * sizeof *s->top);
    memset(s->scaled, 0, dim * sizeof *s->scaled);
    if (frame != NULL)
        memcpy(s->frame, frame, dim * dim * sizeof *s->frame);
    else
        memset(s->frame, 0, dim * dim * sizeof *s->frame);
    for (size_t k = 0; frame == NULL && k < dim; k++) s->frame[k + k * dim] = scale[k];
    begin_round(s, ALONG);
}

/* Starts at the highest chain, or at the highest that no search has started from, with directions that are as long as
 * chains differ in each coordinate. */
static void begin(gess__laplace *s, uint32_t start)
{
    const gess__chains *c = &s->ensemble->chains;
    uint64_t evals = start > 0 ? s->at.evals : 0;
    size_t dim = c->dim, best = gess__chain_of_rank(c, start);
    double count = (double)c->count;
    for (size_t k = 0; k < dim; k++) {
        double mean = 0.0, square = 0.0;
        for (size_t i = 0; i < c->count; i++) mean += c->x[i * dim + k] / count;
        for (size_t i = 0; i < c->count; i++) square += (c->x[i * dim + k] - mean) * (c->x[i * dim + k] - mean);
        double sd = sqrt(square / count);
        s->step[k] = sd > 0.0 ? 0.3 * sd : 1e-3 * gess__max(1.0, fabs(mean));
    }
    begin_at(s, c->x + best * dim, c->value[best], s->step, NULL);
    s->at.start = start;
    s->at.evals = evals;
}

/* Gives directions the length at which the log density falls by about a half, on average of both ways; returns how many
 * have none yet. */
static size_t scale_directions(gess__laplace *s)
{
    size_t dim = s->ensemble->target.dim, left = 0;
    int last = s->at.scalings + 1 == MAX_SCALINGS; /* then any length will do: the next directions will be others */
    for (size_t k = 0; k < dim; k++) {
        double fall = 2.0 * s->at.value - s->up[k] - s->down[k], factor = 5.0; /* if it rises, or is flat */
        if (!s->scaled[k]) s->scaled[k] = (fall > 0.25 && fall < 4.0) || (last && isfinite(fall));
        if (s->scaled[k]) continue;
        if (fall > 0.0) factor = fall < INFINITY ? gess__min(gess__max(1.0 / sqrt(fall), 0.03), 10.0) : 0.1;
        for (size_t j = 0; j < dim; j++) s->frame[j + k * dim] *= factor;
        left++;
    }
    return left;
}

/* A Newton step: new directions, along which second differences do not mix, each as long as its curvature says, and the
 * step to where the slope vanishes if the log density is quadratic. A direction of positive curvature counts as one of
 * negative curvature. *gain: nats that the step gains if the log density is quadratic; *ratio: the largest curvature
 * over the smallest, infinite if one is positive. Returns 0 if the differences are of no use. */
static int newton(gess__laplace *s, double *gain, double *ratio)
{
    size_t dim = s->ensemble->target.dim;
    double max = 0.0, min = INFINITY;
    int bent = 1;
    for (size_t i = 0; i < dim * dim; i++)
        if (!isfinite(s->curvature[i])) s->curvature[i] = 0.0;
    if (!gess__symmetric_eigen(dim, s->curvature, s->eigen, s->work)) return 0;
    for (size_t i = 0; i < dim; i++) {
        bent = bent && s->eigen[i] > 0.0;
        s->eigen[i] = fabs(s->eigen[i]);
        max = gess__max(max, s->eigen[i]);
    }
    if (!(max > 0.0)) return 0;
    gess__product(false, dim, dim, dim, s->frame, s->curvature, s->square);
    memset(s->step, 0, dim * sizeof *s->step);
    *gain = 0.0;
    for (size_t i = 0; i < dim; i++) {
        const double *axis = s->curvature + i * dim;
        double curvature = gess__max(s->eigen[i], 1e-9 * max), length = 1.0 / sqrt(curvature), slope = 0.0;
        min = gess__min(min, curvature);
        for (size_t k = 0; k < dim; k++) slope += 0.5 * axis[k] * (s->up[k] - s->down[k]);
        slope *= length;
        *gain += 0.5 * slope * slope;
        for (size_t k = 0; k < dim; k++) {
            s->frame[k + i * dim] = s->square[k + i * dim] * length;
            s->step[k] += s->frame[k + i * dim] * slope;
        }
    }
    *ratio = bent ? max / min : INFINITY;
    return 1;
}

/* A quick step, only from the slopes and curvatures along the directions; returns its expected gain. It costs 1/D of a
 * Newton step, and goes most of the way if the directions come from an earlier one. */
static double quick_step(gess__laplace *s)
{
    size_t dim = s->ensemble->target.dim;
    double gain = 0.0;
    memset(s->step, 0, dim * sizeof *s->step);
    for (size_t i = 0; i < dim; i++) {
        double slope = 0.5 * (s->up[i] - s->down[i]), fall = 2.0 * s->at.value - s->up[i] - s->down[i];
        double length = slope / gess__max(fabs(fall), 0.25);
        gain += 0.5 * slope * length;
        for (size_t k = 0; k < dim; k++) s->step[k] += s->frame[k + i * dim] * length;
    }
    return gain;
}

/* Goes to the highest point along the step, if one is higher than the top; returns the gain. */
static double take_step(gess__laplace *s)
{
    size_t best = GESS__LAPLACE_LENGTHS;
    double before = s->at.value;
    for (size_t i = 0; i < GESS__LAPLACE_LENGTHS; i++) {
        if (!(s->at.step[i] > s->at.value)) continue;
        best = i;
        s->at.value = s->at.step[i];
    }
    for (size_t k = 0; best < GESS__LAPLACE_LENGTHS && k < s->ensemble->target.dim; k++)
        s->top[k] = gess__fma(length_of(best), s->step[k], s->top[k]);
    return s->at.value - before;
}

/* The Laplace approximation: μ is where the last step would lead, Σ comes from the directions. */
static void set_approx(gess__laplace *s)
{
    size_t dim = s->ensemble->target.dim;
    for (size_t k = 0; k < dim; k++) s->t->mu[k] = s->top[k] + s->step[k];
    gess__self_product(dim, dim, 1.0, s->frame, s->square);
    gess__ridged_cholesky(dim, s->square, s->eigen, s->t->mu, s->t);
}

/* Decides what follows from a round; returns 0 if no round does. *found: a mode is reached. */
static int conclude(gess__laplace *s, int *found)
{
    size_t dim = s->ensemble->target.dim;
    double gain = 0.0, ratio = INFINITY;
    int stepped;
    switch (s->at.kind) {
    case ALONG:
        if (scale_directions(s) > 0) {
            begin_round(s, ALONG);
            return ++s->at.scalings < MAX_SCALINGS;
        }
        s->at.expected = s->at.steps > 0 && s->at.quick < MAX_QUICK ? quick_step(s) : 0.0;
        if (!(s->at.expected > MIN_QUICK_GAIN)) s->at.expected = 0.0;
        begin_round(s, s->at.expected > 0.0 ? STEP : ACROSS);
        return 1;
    case ACROSS:
        stepped = newton(s, &gain, &ratio);
        *found = stepped && gain < MAX_GAIN && ratio < MAX_RATIO;
        /* between a typical point and the mode there are D / 2 nats: this search is further from any than it began */
        s->at.lost = s->at.steps > 0 && ratio == INFINITY && gain > 0.5 * (double)dim;
        if (*found) set_approx(s);
        begin_round(s, STEP);
        return stepped && !*found;
    default:
        gain = take_step(s);
        int quick = s->at.expected > 0.0;
        s->at.quick = !quick                                                              ? 0
                      : gain > gess__max(MIN_QUICK_PART * s->at.expected, MIN_QUICK_GAIN) ? s->at.quick + 1
                                                                                          : MAX_QUICK;
        s->at.expected = 0.0;
        s->at.scalings = 0;
        memset(s->scaled, 0, dim * sizeof *s->scaled);
        begin_round(s, ALONG);
        return quick || ++s->at.steps < MAX_STEPS;
    }
}

static int search(gess__laplace *s, uint64_t max_evals, int *found, gess_error *err)
{
    int more;
    do {
        if (s->at.evals + round_cost(s) > max_evals) return GESS_OK;
        GESS_TRY(run_round(s, err));
        GESS_TRY(report_progress(s, err));
        more = conclude(s, found);
        if (!more || !s->at.lost) continue;
        more = s->at.start + 1 < MAX_STARTS && s->at.start + 1 < s->ensemble->chains.count;
        if (more) begin(s, s->at.start + 1); /* the last one went up a ridge, or into the neck of a funnel */
    } while (more);
    return GESS_OK;
}

int gess__laplace_ascend(gess__laplace *s, gess__ensemble *e, const gess__record *record, const gess__ascent *ascent,
                         enum gess__ascent_end *end, gess_error *err)
{
    gess_error error = {0};
    int found = 0, more = 1, status = GESS_OK;
    gess__record patient = *record; /* a checkpoint waits for the end of the ascent */
    patient.stop = gess__record_quit(record);
    s->ensemble = e;
    s->record = &patient;
    begin_at(s, ascent->point, ascent->value, ascent->scale, ascent->frame);
    *end = GESS__ASCENT_LOST;
    while (more && status == GESS_OK && *end == GESS__ASCENT_LOST) {
        int stepped = s->at.kind == STEP;
        if (s->at.evals + round_cost(s) > ascent->max_evals) {
            *end = GESS__ASCENT_TOO_LONG;
            break;
        }
        status = run_round(s, &error);
        if (status == GESS_OK) status = report_progress(s, &error);
        if (status == GESS_OK) more = conclude(s, &found);
        if (status != GESS_OK || !stepped || ascent->arrived == NULL) continue;
        if (ascent->arrived(ascent->user, s->top, s->at.value)) *end = GESS__ASCENT_ARRIVED;
    }
    s->record = NULL;
    if (status != GESS_OK && status != GESS_ERR_MODEL) {
        if (err != NULL) *err = error;
        return status;
    }
    if (found) *end = GESS__ASCENT_FOUND;
    e->tally.evals += s->at.evals;
    return GESS_OK;
}

const double *gess__laplace_top(const gess__laplace *s, double *value)
{
    *value = s->at.value;
    return s->top;
}

int gess__laplace_search(gess__learning *l, const gess__record *record, gess_error *err)
{
    gess__laplace *s = l->laplace;
    gess__learning_state *state = &l->state;
    gess_error error = {0};
    /* A run that was stopped later in this stage searches again, since checkpoints do not hold a search that is over.
     * Its evaluations have been counted. */
    int found = 0, again = !state->laplace_stopped && state->laplace_evals > 0;
    if (s == NULL || l->adaptation->warmup.stages > 0 || !gess__laplace_affordable(l)) return GESS_OK;
    s->ensemble = l->ensemble;
    s->record = record;
    if (!state->laplace_stopped) begin(s, 0);
    state->laplace_stopped = !again;
    int status = search(s, budget(l), &found, &error);
    if (status != GESS_OK && status != GESS_ERR_MODEL) {
        if (err != NULL) *err = error;
        return status;
    }
    if (again) return GESS_OK;
    state->laplace_stopped = 0;
    state->laplace_found = found;
    state->laplace_evals = s->at.evals;
    l->ensemble->tally.evals += s->at.evals;
    l->adaptation->warmup.before.evals += s->at.evals; /* they belong to no update of the stage */
    return GESS_OK;
}
