/* Runs the steps of annealing: draws the particles, chooses the next power, reweights and resamples, moves the
 * particles in waves, and learns T for the next step. weighing.c weighs the modes at the end. */
#include "explore/annealing.h"

#include "adapt/move_mix.h"
#include "base/assert.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/vmath.h"
#include "explore/evaluate.h"
#include "explore/levels.h"
#include "explore/particles.h"
#include "explore/resampling.h"
#include "explore/unexplained.h"
#include "explore/weighing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* At least one particle in MIN_INSIDE must be inside the support. */
enum { MIN_INSIDE = 20 };

/* Updates of a particle per step, and evaluations that more than MIN_LENGTH of them may take; the rounds of moves at
 * β = 1, of which the second is short and the last is left out if there is one mode. */
enum { FIRST_LENGTH = 4, MIN_LENGTH = 3, MAX_LENGTH = 6, MAX_STEP_EVALS = 12, ROUNDS = 3 };

/* Share of the particles that the conditional effective sample size of a step is. */
#define STEP_SHARE 0.6

int gess__annealing_new(gess__annealing **annealing, gess__learning *l, gess_error *err)
{
    GESS_ALLOC(annealing, 1, err);
    gess__annealing *a = *annealing;
    const gess__window *w = &l->adaptation->window;
    size_t room = w->room * w->chains;
    a->learning = l;
    if (l->adaptation->warmup.over) return GESS_OK;
    GESS_ALLOC(&a->raw, room, err);
    GESS_ALLOC(&a->log_reference, room, err);
    GESS_ALLOC(&a->weight, room, err);
    GESS_ALLOC(&a->scratch, gess__levels_scratch(w->dim), err);
    GESS_ALLOC(&a->centre, GESS__MAX_COMPONENTS * w->dim, err);
    GESS_TRY(gess__maxima_new(&a->maxima, w->dim, err));
    return gess__clusters_new(&a->clusters, room, w->dim, err);
}

void gess__annealing_free(gess__annealing *a)
{
    if (a == NULL) return;
    gess__clusters_free(a->clusters);
    gess__maxima_free(a->maxima);
    free(a->raw);
    free(a->log_reference);
    free(a->weight);
    free(a->scratch);
    free(a->centre);
    free(a);
}

static gess__reference *reference_of(const gess__annealing *a)
{
    return a->learning->ensemble->target.reference;
}

void gess__annealing_begin(gess__annealing *a, enum gess__annealing_wish wish)
{
    GESS_ASSERT(reference_of(a) != NULL && !a->state.under_way);
    gess__learning_state *s = &a->learning->state;
    gess__window *w = &a->learning->adaptation->window;
    a->state.under_way = 1;
    a->state.wish = wish;
    a->state.abandoned = a->state.drawn = 0;
    a->state.before = (gess__window_place){w->start, w->stage, w->length, w->stride, w->draws};
    a->state.laplace[0] = s->laplace_found;
    a->state.laplace[1] = s->by_laplace;
    a->state.evals = a->learning->ensemble->tally.evals;
    a->learning->adaptation->warmup.exploring = 1;
    s->laplace_found = s->by_laplace = 0; /* the curvature at one maximum says nothing of the others */
    w->start = w->stage = 0;
    w->stride = 1;
    w->length = w->draws = gess__particle_rows(a);
}

/* ---- weights ---- */

/* Draws the particles from the reference. */
static int draw_particles(gess__annealing *a, const gess__record *record, gess_error *err)
{
    gess__ensemble *e = a->learning->ensemble;
    gess__window *w = &a->learning->adaptation->window;
    gess__reference *r = reference_of(a);
    size_t n = gess__window_points(w), inside = 0;
    for (size_t i = 0; i < n; i++) {
        gess__key key = {.seed = e->seed,
                         .iteration = e->chains.first,
                         .chain = (uint32_t)i,
                         .purpose = GESS__FOR_REFERENCE};
        gess__reference_draw(r, key, w->points + i * w->dim);
    }
    r->power = 1.0;
    GESS_TRY(gess__evaluate_points(e, record, n, w->points, a->raw, err));
    memcpy(w->values, a->raw, n * sizeof *a->raw);
    for (size_t i = 0; i < n; i++) inside += a->raw[i] > -INFINITY;
    a->state.particles = n;
    a->state.drawn = 1;
    a->state.abandoned = inside < n / MIN_INSIDE;
    a->state.why = GESS__NO_SUPPORT;
    if (!a->state.abandoned || a->state.wish != GESS__ANNEAL) return GESS_OK;
    return gess__fail(err, GESS_ERR_MODEL,
                      "only %zu of %zu points drawn from the reference of annealing are inside the support; give "
                      "starts nearer to it (--init), bounds, or another --schedule",
                      inside, n);
}

/* Log densities of target and reference at the particles, from the annealed log densities of the window. */
static void split_values(gess__annealing *a)
{
    const gess__target *target = &a->learning->ensemble->target;
    const gess__window *w = &a->learning->adaptation->window;
    for (size_t i = 0; i < gess__window_points(w); i++) {
        const double *y = w->points + i * w->dim;
        a->log_reference[i] = gess__reference_log(target->reference, y);
        a->raw[i] = gess__target_unannealed(target, y, w->values[i]);
    }
}

/* Weights of a step by `more` in the power, the largest 1; returns the conditional effective sample size as a share of
 * the particles, and the log of the mean weight in *log_mean. */
static double set_weights(gess__annealing *a, double more, double *log_mean)
{
    size_t n = gess__window_points(&a->learning->adaptation->window);
    double max = -INFINITY, sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) max = gess__max(max, a->raw[i] - a->log_reference[i]);
    for (size_t i = 0; i < n; i++) {
        double level = a->raw[i] - a->log_reference[i];
        a->weight[i] = level > -INFINITY ? gess__exp(more * (level - max)) : 0.0;
        sum += a->weight[i];
        squares += a->weight[i] * a->weight[i];
    }
    *log_mean = more * max + gess__log(sum / (double)n);
    return sum * sum / squares / (double)n;
}

/* How far the power is raised from `power`: to 1, or so far that the conditional effective sample size is STEP_SHARE of
 * the particles that are inside the support. */
static double choose_step(gess__annealing *a, double power)
{
    size_t n = gess__window_points(&a->learning->adaptation->window);
    double inside = 0.0, low = 0.0, high = 1.0 - power, unused;
    for (size_t i = 0; i < n; i++) inside += a->raw[i] > -INFINITY;
    double wanted = STEP_SHARE * inside / (double)n;
    if (set_weights(a, high, &unused) >= wanted) return high;
    for (int i = 0; i < 80; i++) {
        double middle = 0.5 * (low + high);
        if (set_weights(a, middle, &unused) >= wanted)
            low = middle;
        else
            high = middle;
    }
    return low > 0.0 ? low : high;
}

/* The annealed log densities of the window. */
static void join_values(gess__annealing *a)
{
    gess__window *w = &a->learning->adaptation->window;
    double power = reference_of(a)->power;
    for (size_t i = 0; i < gess__window_points(w); i++)
        w->values[i] = power < 1.0 ? power * a->raw[i] + (1.0 - power) * a->log_reference[i] : a->raw[i];
}

/* ---- a step ---- */

/* Whether T has one component, which all particles are in. */
static int has_one_mode(const gess__annealing *a)
{
    return a->learning->ensemble->frozen.mixture->count == 1;
}

/* Updates per particle: about as many as make an independent draw, by what updates brought in the last step. */
static uint64_t choose_length(const gess__annealing *a)
{
    const gess__learning_state *s = &a->learning->state;
    double per_update = gess__max(s->ellipse, s->independence) * a->learning->adaptation->warmup.evals_per_update;
    double max = gess__min(MAX_LENGTH, MAX_STEP_EVALS / a->learning->adaptation->warmup.evals_per_update);
    if (a->state.rounds > 1 && has_one_mode(a)) return 1; /* there are no weights to find */
    if (a->state.steps == 0 || !(per_update > 0.0)) return FIRST_LENGTH;
    return (uint64_t)gess__max(MIN_LENGTH, gess__min(max, ceil(1.0 / per_update)));
}

/* Evaluations that are left for steps: the rest is for ordinary warm-up. */
static int out_of_evals(const gess__annealing *a)
{
    const gess__warmup *u = &a->learning->adaptation->warmup;
    return u->fixed == GESS_AUTO && a->learning->ensemble->tally.evals > u->max_evals / 4 * 3;
}

/* Raises the power and resamples. */
static void raise_power(gess__annealing *a)
{
    gess__annealing_state *s = &a->state;
    gess__reference *r = reference_of(a);
    double before = s->steps > 0 ? r->power : 0.0, log_mean;
    double step = s->fixed ? s->power[s->powers] - before : choose_step(a, before);
    if (!s->fixed && out_of_evals(a) && step < 1.0 - before) {
        step = 1.0 - before;
        s->rushed = 1;
    }
    set_weights(a, step, &log_mean);
    if (!GESS__MUTANT(ANNEALED_WEIGHT) || s->powers > 0) s->log_z += log_mean;
    r->power = step < 1.0 - before ? before + step : 1.0;
    if (!s->fixed || s->powers < GESS__MAX_POWERS) s->power[s->powers] = r->power;
    if (s->powers + 1 < GESS__MAX_POWERS) s->powers++;
    gess__annealing_resample(a, gess__window_points(&a->learning->adaptation->window));
}

void gess__annealing_abandon(gess__annealing *a, enum gess__abandoned why)
{
    GESS_ASSERT(a->state.under_way && a->state.steps == 0 && !a->state.open);
    gess__warmup *u = &a->learning->adaptation->warmup;
    gess__window *w = &a->learning->adaptation->window;
    w->start = a->state.before.start;
    w->stage = a->state.before.stage;
    w->length = a->state.before.length;
    w->stride = a->state.before.stride;
    w->draws = (size_t)a->state.before.draws;
    a->learning->state.laplace_found = a->state.laplace[0];
    a->learning->state.by_laplace = a->state.laplace[1];
    u->moved = 1; /* the next stage begins a new window */
    u->exploring = 0;
    a->state.under_way = 0;
    a->state.abandoned = 1;
    a->state.why = (int)why;
    a->state.evals = a->learning->ensemble->tally.evals - a->state.evals;
}

/* The particles as drawn from the reference, and the maxima that they lead to. */
static int first_particles(gess__annealing *a, const gess__record *record, gess_error *err)
{
    gess__annealing_state *s = &a->state;
    const gess__window *w = &a->learning->adaptation->window;
    if (!s->drawn) GESS_TRY(draw_particles(a, record, err));
    for (size_t i = 0; i < gess__window_points(w); i++) {
        a->raw[i] = w->values[i];
        a->log_reference[i] = gess__reference_log(reference_of(a), w->points + i * w->dim);
    }
    return s->fixed || s->abandoned ? GESS_OK : gess__unexplained_search(a, record, err);
}

static int open_step(gess__annealing *a, const gess__record *record, gess_error *err)
{
    gess__annealing_state *s = &a->state;
    gess__learning *l = a->learning;
    gess__warmup *u = &l->adaptation->warmup;
    gess__pool_report report;
    if (s->steps == 0)
        GESS_TRY(first_particles(a, record, err));
    else
        split_values(a);
    if (s->abandoned) return GESS_OK;
    if (s->rounds == 0) raise_power(a);
    join_values(a);
    if (s->steps == 0 && !s->fixed) {
        gess__pool pool = gess__window_pack(&l->adaptation->window);
        gess__learning_fit(l, &pool, &report);
    }
    if (reference_of(a)->power == 1.0) s->rounds++;
    s->begun = gess__ensemble_done(l->ensemble);
    s->length = s->fixed ? FIRST_LENGTH : choose_length(a);
    s->open = 1;
    s->failures = 0;
    u->before = l->ensemble->tally;
    u->value_before = u->mean_value;
    u->error_before = u->mean_error;
    return GESS_OK;
}

/* Puts the particles of a row into the chains. */
static void load_row(gess__annealing *a, size_t row)
{
    gess__ensemble *e = a->learning->ensemble;
    const gess__window *w = &a->learning->adaptation->window;
    memcpy(e->chains.x, w->points + row * w->chains * w->dim, w->chains * w->dim * sizeof *w->points);
    memcpy(e->chains.value, w->values + row * w->chains, w->chains * sizeof *w->values);
    e->rebind = 1;
}

static void store_row(gess__annealing *a, size_t row)
{
    const gess__ensemble *e = a->learning->ensemble;
    gess__window *w = &a->learning->adaptation->window;
    memcpy(w->points + row * w->chains * w->dim, e->chains.x, w->chains * w->dim * sizeof *w->points);
    memcpy(w->values + row * w->chains, e->chains.value, w->chains * sizeof *w->values);
}

/* Log densities of the target at the particles. */
static void set_raw(gess__annealing *a)
{
    const gess__window *w = &a->learning->adaptation->window;
    for (size_t i = 0; i < gess__window_points(w); i++)
        a->raw[i] = gess__target_unannealed(&a->learning->ensemble->target, w->points + i * w->dim, w->values[i]);
}

/* Notes the particles whose levels are highest, and the highest particle of every cluster. */
static void note_maxima(gess__annealing *a)
{
    enum { PER_STEP = 4 };
    const gess__window *w = &a->learning->adaptation->window;
    size_t n = gess__window_points(w), best[GESS__MAX_COMPONENTS];
    set_raw(a);
    gess__set_levels(a->learning->ensemble->frozen.mixture, n, w->points, a->raw, a->weight, a->scratch);
    for (size_t k = 0; k < a->clusters->count; k++) best[k] = n;
    for (size_t i = 0; i < n; i++) {
        size_t k = a->clusters->label[i];
        if (best[k] == n || a->raw[i] > a->raw[best[k]]) best[k] = i;
    }
    for (size_t k = 0; k < a->clusters->count; k++)
        gess__maxima_note(a->maxima, w->points + best[k] * w->dim, a->raw[best[k]]);
    for (int j = 0; j < PER_STEP; j++) {
        size_t top = 0;
        for (size_t i = 1; i < n; i++)
            if (a->weight[i] > a->weight[top]) top = i;
        gess__maxima_note(a->maxima, w->points + top * w->dim, a->raw[top]);
        a->weight[top] = -INFINITY;
    }
}

/* Every second update of a step is an independence move, if such moves are worth more than those around ellipses. */
static void set_moves(gess__annealing *a)
{
    const gess__learning_state *s = &a->learning->state;
    gess__move_mix *moves = &a->learning->ensemble->frozen.moves;
    moves->independence = s->independence > s->ellipse;
    moves->period = moves->independence + 1;
}

static void fit_step(gess__annealing *a)
{
    gess__learning *l = a->learning;
    gess__pool_report report;
    gess__pool pool = gess__window_pack(&l->adaptation->window);
    if (l->state.fitted_nu[0] > 0.0 && l->ensemble->frozen.mixture->count == 1)
        l->ensemble->frozen.approx->nu = l->state.fitted_nu[0];
    gess__learning_fit(l, &pool, &report);
    l->state.score = report.score;
    l->state.gap = report.gap;
    gess__weighing_fit(a);
    note_maxima(a);
    gess__move_mix_choose(l);
    set_moves(a);
}

int gess__annealing_renew_blobs(gess__ensemble *e, gess_error *err)
{
    gess__chains *c = &e->chains;
    gess__update *u = &e->updates[0];
    double value;
    for (size_t i = 0; c->blobs != NULL && i < c->count; i++) {
        memcpy(u->points, c->x + i * c->dim, c->dim * sizeof *c->x);
        GESS_TRY(gess__target_evaluate(&e->target, 0, 1, u->points, &value, NULL, c->blobs + i * c->blob_count,
                                       u->mapped, err));
        e->tally.evals++;
    }
    return GESS_OK;
}

/* Hands the particles over to ordinary warm-up: they are its window, and the last row of them its chains. */
static void hand_over(gess__annealing *a)
{
    gess__adaptation *ad = a->learning->adaptation;
    gess__window *w = &ad->window;
    w->start = w->stage = gess__ensemble_done(a->learning->ensemble) - w->draws;
    w->length = ad->warmup.length = w->draws;
    for (size_t i = 0; i < gess__window_points(w) * w->dim; i++)
        ad->warmup.reach = gess__max(ad->warmup.reach, fabs(w->points[i]));
    ad->warmup.exploring = 0;
    ad->warmup.moved = 0;
    if (ad->warmup.fixed != GESS_AUTO) ad->warmup.fixed += gess__ensemble_done(a->learning->ensemble);
    a->state.under_way = 0;
    a->state.done = 1;
    a->state.last_stage = ad->warmup.stages;
    a->state.evals = a->learning->ensemble->tally.evals - a->state.evals;
    a->learning->state.laplace_evals += a->state.evals; /* the search for maps counts from here */
}

int gess__annealing_step(gess__annealing *a,
                         int (*advance)(void *self, uint64_t until, const gess__record *record, gess_error *err),
                         void *self, const gess__record *record, gess_error *err)
{
    gess__annealing_state *s = &a->state;
    gess__ensemble *e = a->learning->ensemble;
    gess__adaptation *ad = a->learning->adaptation;
    GESS_ASSERT(s->under_way);
    if (!s->open) GESS_TRY(open_step(a, record, err));
    if (s->abandoned) {
        gess__annealing_abandon(a, (enum gess__abandoned)s->why);
        return GESS_OK;
    }
    while (gess__ensemble_done(e) < s->begun + ad->window.draws * s->length) {
        uint64_t past = gess__ensemble_done(e) - s->begun, row = past / s->length;
        if (past % s->length == 0) load_row(a, row);
        GESS_TRY(advance(self, s->begun + (row + 1) * s->length, record, err));
        store_row(a, row);
    }
    if (!s->fixed && s->rounds == 0) {
        set_raw(a);
        GESS_TRY(gess__unexplained_search(a, record, err));
    }
    if (s->rounds == ROUNDS - 1 && !s->fixed) GESS_TRY(gess__weighing_run(a, record, err));
    gess__warmup_measure_moves(ad);
    gess__warmup_measure(ad);
    ad->warmup.iterations = gess__ensemble_done(e);
    ad->warmup.stages++;
    int early = s->rounds == ROUNDS - 1 && has_one_mode(a);
    if (!s->fixed && (s->rounds != ROUNDS - 1 || early)) fit_step(a);
    e->rebind = 1;
    s->open = 0;
    s->steps++;
    if (s->rounds == ROUNDS || (s->fixed && s->rounds == 1) || (early && has_one_mode(a))) hand_over(a);
    return GESS_OK;
}

/* Whether a step could be in this state. */
static int possible(const gess__annealing *a)
{
    const gess__annealing_state *s = &a->state;
    uint64_t done = gess__ensemble_done(a->learning->ensemble);
    if (s->powers >= GESS__MAX_POWERS || s->rounds > ROUNDS || s->weighed > GESS__MAX_COMPONENTS) return 0;
    if ((s->under_way || s->weighed > 0) && a->maxima == NULL) return 0;
    if (s->failures > GESS__MAX_FAILURES) return 0;
    if (s->under_way != a->learning->adaptation->warmup.exploring) return 0;
    if (!s->under_way || !s->open) return 1;
    return s->length > 0 && s->length <= MAX_LENGTH && s->begun <= done &&
           done - s->begun <= a->learning->adaptation->window.draws * s->length;
}

void gess__annealing_archive(gess__annealing *a, gess__archive *archive)
{
    gess__annealing_state *s = &a->state;
    GESS_ARCHIVE(archive, s);
    if (!possible(a)) archive->bad = 1;
    if (!archive->bad && s->weighed > 0)
        gess__archive_bytes(archive, a->centre, s->weighed * a->maxima->dim * sizeof *a->centre);
    if (!s->under_way || archive->bad) return;
    gess__maxima_archive(a->maxima, archive);
    gess__archive_bytes(archive, a->clusters->metric, a->clusters->dim * sizeof *a->clusters->metric);
}
