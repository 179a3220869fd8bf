/* Runs gess within a budget of evaluations, holds as many draws as memory allows, and computes ESS, R-hat, means and
 * standard deviations. peers.c does the same for emcee and zeus. */
#include "bench/measure.h"

#include "base/mem.h"
#include "diagnose/posterior.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The first draws, per chain, measure the evaluations per draw; the budget is spent in rounds that measure again. */
enum { PILOT = 4, ROUNDS = 7 };

typedef struct taker {
    size_t dim, chains;
    uint64_t stride;   /* every stride-th draw is held */
    uint64_t capacity; /* draws per chain that there is room for */
    double *values;
    double *sums;         /* per chain: sums of the parameters, of their squares, of their distances from the centre */
    double *shift;        /* the first draw; subtracted from all draws before they are squared */
    const double *centre; /* NULL: no distances */
    int begun;
} taker;

static int take(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, size_t columns,
                const double *rows)
{
    taker *t = user;
    if (!t->begun) memcpy(t->shift, rows + 1, t->dim * sizeof *rows);
    t->begun = 1;
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws; i++) {
            const double *x = rows + (c * draws + i) * columns + 1;
            double *sum = t->sums + (first_chain + c) * 3 * t->dim;
            uint64_t draw = first_draw + i, place = draw / t->stride;
            for (size_t j = 0; j < t->dim; j++) {
                double away = x[j] - t->shift[j];
                sum[j] += away;
                sum[t->dim + j] += away * away;
                if (t->centre != NULL) sum[2 * t->dim + j] += fabs(x[j] - t->centre[j]);
            }
            if (draw % t->stride != 0 || place >= t->capacity) continue;
            for (size_t j = 0; j < t->dim; j++)
                t->values[(j * t->chains + first_chain + c) * t->capacity + place] = x[j];
        }
    return 0;
}

/* Makes room for `draws` draws per chain, of which at most max_held are held; the stride is a power of two. */
static int make_room(taker *t, uint64_t draws, uint64_t max_held, gess_error *err)
{
    uint64_t stride = t->stride;
    double *values = NULL;
    if (max_held == 0) return GESS_OK;
    while ((draws + stride - 1) / stride > max_held) stride *= 2;
    uint64_t capacity = (draws + stride - 1) / stride, skip = stride / t->stride;
    GESS_ALLOC(&values, t->dim * t->chains * capacity, err);
    for (size_t line = 0; t->values != NULL && line < t->dim * t->chains; line++)
        for (uint64_t i = 0; i * skip < t->capacity && i < capacity; i++)
            values[line * capacity + i] = t->values[line * t->capacity + i * skip];
    free(t->values);
    t->values = values;
    t->capacity = capacity;
    t->stride = stride;
    return GESS_OK;
}

/* Means and standard deviations over all draws, summed in the order of the chains. */
static int finish_sums(const taker *t, uint64_t draws, gess__sampled *out, gess_error *err)
{
    double n = (double)t->chains * (double)draws;
    GESS_ALLOC(&out->mean, t->dim, err);
    GESS_ALLOC(&out->sd, t->dim, err);
    GESS_ALLOC(&out->spread, t->dim, err);
    for (size_t j = 0; j < t->dim; j++) {
        double sum = 0.0, square = 0.0, distance = 0.0;
        for (size_t c = 0; c < t->chains; c++) {
            const double *sums = t->sums + c * 3 * t->dim + j;
            sum += sums[0];
            square += sums[t->dim];
            distance += sums[2 * t->dim];
        }
        out->spread[j] = distance / n;
        out->mean[j] = t->shift[j] + sum / n;
        out->sd[j] = sqrt((square - sum * sum / n) / (n - 1.0));
    }
    return GESS_OK;
}

/* `list` owns the texts of the settings. */
static int make_options(const gess__plan *plan, gess_options *o, gess__bench_list *list, gess_error *err)
{
    gess__options_init(o);
    o->seed = plan->seed;
    o->threads = 1;
    o->draws = PILOT;
    if (plan->chains > 0) o->chains = plan->chains;
    if (plan->max_warmup > 0) o->max_warmup_evals = plan->max_warmup;
    if (plan->halves) o->warmup = 0;
    GESS_TRY(gess__bench_split(plan->settings != NULL ? plan->settings : "", list, err));
    for (size_t i = 0; i < list->count; i++) {
        char *equals = strchr(list->item[i], '=');
        if (equals == NULL) return gess__fail(err, GESS_ERR_USAGE, "bench: `%s` is not NAME=VALUE", list->item[i]);
        *equals = '\0';
        GESS_TRY(gess_options_set(o, list->item[i], equals + 1, err));
    }
    return GESS_OK;
}

/* Spends the evaluations that the pilot left: in every round half of the rest, in the last round all of it. A round
 * uses the evaluations per draw of the round before, because they change while chains still move into place. */
static int spend(const gess__plan *plan, double evals, gess_run *run, taker *t, gess_stats *s, gess_error *err)
{
    uint64_t draws = 0, spent = 0;
    for (int round = 1; round <= ROUNDS; round++) {
        double evals_per_draw = (double)(s->evals_sampling - spent) / (double)(s->draws - draws);
        double more = (evals - (double)s->evals_sampling) * (round < ROUNDS ? 0.5 : 1.0) / evals_per_draw;
        draws = s->draws;
        spent = s->evals_sampling;
        if (!(more >= 1.0)) break;
        uint64_t goal = draws + (uint64_t)more;
        GESS_TRY(make_room(t, goal, plan->max_held, err));
        GESS_TRY(gess_run_extend(run, goal, err));
        GESS_TRY(gess_run_go(run, err));
        gess_run_stats(run, s, sizeof *s, NULL);
    }
    return GESS_OK;
}

/* Spends the evaluations that the plan allows, or makes its draws. */
static int go_on(const gess__plan *plan, double evals, uint64_t draws, gess_run *run, taker *t, gess_stats *s,
                 gess_error *err)
{
    if (plan->draws == 0) return spend(plan, evals, run, t, s, err);
    GESS_TRY(make_room(t, draws, plan->max_held, err));
    GESS_TRY(gess_run_extend(run, draws, err));
    GESS_TRY(gess_run_go(run, err));
    gess_run_stats(run, s, sizeof *s, NULL);
    return GESS_OK;
}

/* Spends the first half of the evaluations, or of the draws, and discards its draws. */
static int discard_half(const gess__plan *plan, gess_run *run, taker *t, gess_stats *s, gess_error *err)
{
    GESS_TRY(go_on(plan, 0.5 * (double)plan->total, plan->draws / 2, run, t, s, err));
    memset(t->sums, 0, t->chains * 3 * t->dim * sizeof *t->sums);
    return GESS_OK;
}

/* Tells warm-up what it works for: a run that is made for a pilot would learn for a pilot. Whatever its goal, a run of
 * draws that are counted out does not learn again. */
static void declare_goal(gess_run *run, gess_options goal)
{
    goal.chains = run->options.chains; /* a number, where the options may say `auto` */
    for (size_t i = 0; i < run->ensembles; i++) {
        gess__economy *economy = &run->sampler[i]->adaptation.warmup.economy;
        gess__economy_open(economy, &goal);
        economy->final = 1;
    }
}

/* Evaluations per draw of each chain after a warm-up for the default goal. */
static int price_draws(const gess_model *model, const gess_options *o, double *price, gess_error *err)
{
    gess_stats s;
    gess_run *run = NULL;
    gess_options usual = *o;
    usual.draws = GESS_AUTO;
    int status = gess_run_new(&run, model, o, NULL, err);
    if (status == GESS_OK) declare_goal(run, usual);
    if (status == GESS_OK) status = gess_run_go(run, err);
    if (status == GESS_OK) {
        gess_run_stats(run, &s, sizeof s, NULL);
        *price = (double)s.evals_sampling / (double)s.draws;
    }
    gess_run_free(run);
    return status;
}

/* The options of a run that is made for what the plan will ask of it. */
static int find_goal(const gess__plan *plan, const gess_model *model, const gess_options *o, gess_options *goal,
                     gess_error *err)
{
    double price = 1.0;
    *goal = *o;
    if (o->warmup != GESS_AUTO || plan->halves) return GESS_OK;
    if (plan->target_ess > 0) {
        goal->draws = GESS_AUTO;
        goal->target_ess = plan->target_ess;
        return GESS_OK;
    }
    GESS_TRY(price_draws(model, o, &price, err));
    goal->draws = PILOT + (uint64_t)((double)plan->sampling / price);
    return GESS_OK;
}

/* Warm-up and the pilot, then as many draws as the evaluations allow. */
static int run_plan(const gess__plan *plan, gess_run *run, taker *t, gess__sampled *out, gess_error *err)
{
    gess_stats s;
    GESS_TRY(make_room(t, PILOT, plan->max_held > 0 ? PILOT : 0, err));
    gess_run_on_draw(run, take, t, NULL);
    GESS_TRY(gess_run_go(run, err));
    gess_run_stats(run, &s, sizeof s, NULL);
    out->evals_warmup = s.evals - s.evals_sampling;
    double evals = plan->sampling > 0 ? (double)plan->sampling : (double)plan->total - (double)out->evals_warmup;
    uint64_t discarded = 0;
    if (plan->halves) {
        GESS_TRY(discard_half(plan, run, t, &s, err));
        discarded = s.draws;
        out->evals_warmup = s.evals_sampling;
    }
    GESS_TRY(go_on(plan, evals, plan->draws, run, t, &s, err));
    out->dim = t->dim;
    out->chains = t->chains;
    out->draws = s.draws - discarded;
    out->evals_sampling = s.evals_sampling - (plan->halves ? out->evals_warmup : 0);
    out->seconds = s.seconds;
    out->seconds_sampling = s.seconds_sampling;
    out->seconds_learning = s.seconds_learning;
    out->values = out->owned = t->values;
    out->held = t->capacity;
    t->values = NULL;
    return finish_sums(t, out->draws, out, err);
}

int gess__sample_gess(const gess__plan *plan, gess__sampled *out, gess_error *err)
{
    gess_model *inner = NULL;
    gess__bench_list list;
    gess__timed timed;
    gess_options o, goal;
    gess_run *run = NULL;
    taker t = {.stride = 1};
    *out = (gess__sampled){0};
    GESS_TRY(make_options(plan, &o, &list, err));
    int status = gess_model_open(&inner, plan->model, NULL, err);
    if (status == GESS_OK) {
        gess__timed_init(&timed, inner, 1);
        if (plan->start_scale > 0.0) gess__timed_start_at(&timed, plan->start_scale);
        t.dim = inner->dim;
        t.chains = (size_t)o.chains;
        t.centre = plan->centre;
        status = gess__alloc_bytes(&t.sums, t.chains * 3 * t.dim, sizeof *t.sums, "sums", err);
    }
    if (status == GESS_OK) status = gess__alloc_bytes(&t.shift, t.dim, sizeof *t.shift, "sums", err);
    if (status == GESS_OK) status = find_goal(plan, &timed.model, &o, &goal, err);
    timed.seconds = 0.0;
    if (status == GESS_OK) status = gess_run_new(&run, &timed.model, &o, NULL, err);
    if (status == GESS_OK) declare_goal(run, goal);
    if (status == GESS_OK) status = run_plan(plan, run, &t, out, err);
    if (status == GESS_OK) out->seconds_outside = o.threads == 1 ? out->seconds - timed.seconds : NAN;
    gess_run_free(run);
    gess_model_free(inner);
    free(t.values);
    free(t.sums);
    free(t.shift);
    return status;
}

void gess__sampled_free(gess__sampled *s)
{
    free(s->owned);
    free(s->mean);
    free(s->sd);
    free(s->spread);
    if (s->mapped != NULL) munmap(s->mapped, s->mapped_size);
    *s = (gess__sampled){0};
}

int gess__sampled_figures(const gess__sampled *s, double *ess, double *rhat, gess_error *err)
{
    gess__posterior_workspace *work = NULL;
    *ess = 0.0;
    *rhat = INFINITY;
    if (s->held < 4) return GESS_OK;
    GESS_TRY(gess__posterior_workspace_new(&work, s->chains, (size_t)s->held, err));
    *ess = INFINITY;
    *rhat = 0.0;
    for (size_t j = 0; j < s->dim; j++) {
        gess__posterior_load(work, s->values + j * s->chains * s->held);
        double e = gess__posterior_ess_bulk(work), r = gess__posterior_rhat(work);
        *ess = fmin(*ess, isnan(e) ? 0.0 : e);
        *rhat = fmax(*rhat, isnan(r) ? INFINITY : r);
    }
    gess__posterior_workspace_free(work);
    return GESS_OK;
}
