/* Exact invariance of what `auto` freezes: elliptical updates around a mixture of t, independence moves, learned maps.
 *
 * As in test_kernels.c: maps and T are learned from draws that are independent of the tested states, so that every
 * chain is a replicate. Started from an exact draw in the user's space, mapped into the sampling space and updated
 * three times, it must be an exact draw again. `test_frozen SEED` uses other draws. Every target is tested with
 * every row of `cases`. The quality of maps and T must not matter, so half of them are poor on purpose. */
#include "base/mem.h"
#include "invariance/judge.h"
#include "invariance/targets.h"
#include "schedule/schedule.h"
#include "transform/learned_map.h"
#include "transform/scale.h"
#include "transform/skew.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Iterations START .. START + UPDATES - 1: the second recomputes the whitened states, and every pattern of moves below
 * has both kinds of update in them. */
enum { START = 63, UPDATES = 3, BASELINE = 4, LEARN_POINTS = 2000, MAX_DIM = 16 };

enum quality { NONE, LEARNED, POOR };

static const struct test_case {
    const char *name;
    enum quality map, mixture;
    unsigned independence, period;
} cases[] = {
    {"t, 1 move of 2", NONE, NONE, 1, 2},
    {"mixture", NONE, LEARNED, 0, 1},
    {"map, t", LEARNED, NONE, 0, 1},
    {"mixture, 1 move of 2", NONE, LEARNED, 1, 2},
    {"poor mixture, 4 moves of 5", NONE, POOR, 4, 5},
    {"poor map, t, 4 moves of 5", POOR, NONE, 4, 5},
    {"map, mixture, 1 move of 2", LEARNED, LEARNED, 1, 2},
    {"poor map, poor mixture", POOR, POOR, 0, 1},
};
enum { CASES = sizeof cases / sizeof *cases };

struct setting {
    const exact_target *target;
    const struct test_case *test;
    gess__team *team;
    uint64_t seed;
};

static const char *const names[] = {"x1",       "x2",       "log density",       "delta",
                                    "x1, mean", "x2, mean", "log density, mean", "delta, mean"};

/* What the learning code of warm-up found, over all targets. */
static unsigned maps_learned, mixtures_learned;

static double *doubles(size_t count)
{
    gess_error err = {0};
    double *x = NULL;
    judge_must(gess__alloc_bytes(&x, count, sizeof *x, "a test", &err), &err);
    return x;
}

/* n exact draws in the unbounded space. */
static void draw_points(const exact_target *t, const gess__bounds *bounds, uint64_t seed, size_t n, double *y)
{
    for (size_t k = 0; k < n; k++) exact_state(t, bounds, seed, k, y + k * bounds->inner);
}

/* ---- maps ---- */

static void add_layer(gess__learned *map)
{
    gess__layer *layer = &map->layers[map->count];
    if (!gess__layer_finish(layer, map->dim)) exit(2);
    map->count++;
}

/* A scale and a skew layer that have nothing to do with the target. */
static void poor_map(gess__learned *map)
{
    size_t dim = map->dim;
    gess__layer *layer = &map->layers[0];
    gess__layer_begin(layer, gess__layer_type_row(GESS__LAYER_ROW_scale), dim);
    layer->count = 1;
    for (size_t i = 0; i < dim; i++) layer->centre[i] = 0.1;
    gess__scale_step step = {.at = 1, .means = 1, .scales = 1, .bends = 1, .spread = 1.4, .shift = 0.2};
    step.mean[0] = 0.5;
    step.scale[0] = 0.4;
    step.bend = 0.05;
    gess__scale_steps(layer)[0] = step;
    add_layer(map);
    layer = &map->layers[1];
    gess__layer_begin(layer, gess__layer_type_row(GESS__LAYER_ROW_skew), dim);
    layer->count = 2;
    for (size_t i = 0; i < dim; i++) layer->centre[i] = -0.2;
    double *rows = gess__skew_rows(layer), *columns = gess__skew_columns(layer);
    for (size_t j = 0; j < 2; j++) { /* (1, 1) and (1, -1) in the first two coordinates */
        memset(rows + j * dim, 0, dim * sizeof *rows);
        memset(columns + j * dim, 0, dim * sizeof *columns);
        for (size_t i = 0; i < 2; i++) {
            rows[j * dim + i] = i * j == 1 ? -1.0 : 1.0;
            columns[j * dim + i] = 0.5 * rows[j * dim + i];
        }
    }
    gess__skew_warps(layer)[0] = (gess__warp){.shift = 0.3, .spread = 1.5, .tilt = 0.4, .power = 0.8};
    gess__skew_warps(layer)[1] = (gess__warp){.shift = -0.2, .spread = 0.8, .tilt = -0.3, .power = 1.2};
    add_layer(map);
}

/* The map that warm-up would find; each layer is learned from points mapped by the layers before it. */
static void learn_map(gess__learned *map, const double *y)
{
    gess_error err = {0};
    gess__learner *learner = NULL;
    double *w = doubles(LEARN_POINTS * map->dim), *jacobians = doubles(LEARN_POINTS);
    double *scratch = doubles(gess__learned_scratch(map, LEARN_POINTS));
    judge_must(gess__learner_new(&learner, map->dim, LEARN_POINTS, NULL, &err), &err);
    gess__learned_add(map, gess__layer_type_row(GESS__LAYER_ROW_scale), learner, LEARN_POINTS, y);
    gess__learned_in(map, LEARN_POINTS, y, w, jacobians, scratch);
    gess__learned_add(map, gess__layer_type_row(GESS__LAYER_ROW_skew), learner, LEARN_POINTS, w);
    gess__learner_free(learner);
    free(w);
    free(jacobians);
    free(scratch);
}

/* ---- T ---- */

/* Makes three components of one t: shifted, of different sizes and tails, one of them a Gaussian. */
static void poor_mixture(gess__mixture *m)
{
    static const double weights[] = {0.5, 0.3, 0.2}, shifts[] = {0.6, -0.8, 0.1}, sizes[] = {0.8, 0.6, 1.5};
    static const double nus[] = {2.5, INFINITY, 8.0};
    size_t dim = m->dim;
    const gess__approx *t = m->component[0];
    m->count = 3;
    for (size_t j = m->count; j-- > 0;) {
        gess__approx *c = m->component[j];
        double shift[MAX_DIM];
        gess__approx_copy(c, t);
        for (size_t i = 0; i < dim; i++) shift[i] = shifts[j] * (t->chol[i] + (dim > 1 ? t->chol[i + dim] : 0.0));
        for (size_t i = 0; i < dim; i++) c->mu[i] += shift[i];
        for (size_t i = 0; i < dim * dim; i++) c->chol[i] *= sizes[j];
        c->nu = nus[j];
        gess__approx_ready(c);
        m->log_weight[j] = log(weights[j]);
    }
}

/* T from points of the sampling space. */
static void learn_t(gess__ensemble *e, enum quality quality, const double *w)
{
    gess_error err = {0};
    gess__fitter *fitter = NULL;
    gess__mixture_fitter *mixer = NULL;
    gess__fit_report report;
    gess__mixture_report mixed = {0};
    gess__pool pool = {.half = LEARN_POINTS / 2, .rest = LEARN_POINTS / 2, .points = w};
    size_t dim = e->target.dim;
    judge_must(gess__fitter_new(&fitter, dim, LEARN_POINTS, &err), &err);
    gess__fit(fitter, LEARN_POINTS, w, GESS__FIT_QUICK, e->frozen.approx, &report);
    gess__fitter_free(fitter);
    if (isinf(e->frozen.approx->nu)) e->frozen.approx->nu = 8.0;
    e->frozen.mixture->count = 1;
    e->frozen.mixture->log_weight[0] = 0.0;
    gess__approx_copy(e->frozen.mixture->component[0], e->frozen.approx);
    if (quality == NONE) return;
    if (quality == LEARNED) {
        judge_must(gess__mixture_fitter_new(&mixer, dim, LEARN_POINTS, NULL, &err), &err);
        gess__fit_mixture(mixer, &pool, 0, e->frozen.mixture, &mixed);
        gess__mixture_fitter_free(mixer);
        mixtures_learned += e->frozen.mixture->count > 1;
    }
    if (e->frozen.mixture->count == 1) poor_mixture(e->frozen.mixture);
}

/* Learns the map and T from one set of draws, and makes the states from others, in the sampling space. */
static void prepare(gess__ensemble *e, const struct setting *s, uint64_t seed, double *x)
{
    gess_error err = {0};
    gess__learned *map = e->target.learned;
    size_t n = e->chains.count, dim = e->target.dim, points = n > LEARN_POINTS ? n : LEARN_POINTS;
    double *y = doubles(points * dim), *w = doubles(points * dim), *jacobians = doubles(points);
    double *scratch = doubles(gess__learned_scratch(map, points)),
           *mapped = doubles(gess__target_scratch(&e->target, n));
    draw_points(s->target, &e->target.bounds, s->seed + 77, LEARN_POINTS, y);
    if (s->test->map == LEARNED) {
        learn_map(map, y);
        maps_learned += gess__learned_layers(map) > 0;
    }
    if (s->test->map != NONE && gess__learned_layers(map) == 0) poor_map(map);
    gess__learned_in(map, LEARN_POINTS, y, w, jacobians, scratch);
    learn_t(e, s->test->mixture, w);
    draw_points(s->target, &e->target.bounds, seed, n, y);
    gess__learned_in(map, n, y, x, jacobians, scratch);
    judge_must(gess__target_evaluate(&e->target, 0, n, x, e->chains.value, NULL, NULL, mapped, &err), &err);
    free(y);
    free(w);
    free(jacobians);
    free(scratch);
    free(mapped);
}

/* ---- the test ---- */

static void update(gess__sampler *sampler, const struct test_case *test)
{
    gess__ensemble *e = &sampler->ensemble;
    gess_error err = {0};
    gess__stretch stretch;
    gess__record none = {0};
    uint64_t moves = 0;
    e->frozen.moves.independence = test->independence;
    e->frozen.moves.period = test->period;
    e->done[0] = e->done[1] = START;
    for (uint64_t i = START; i < START + UPDATES; i++) moves += i % test->period < test->independence;
    gess__sampler_next(sampler, START + UPDATES, &stretch);
    if ((stretch.mixture != NULL) != (test->mixture != NONE)) exit(2);
    judge_must(gess__sampler_run(sampler, &stretch, &none, &err), &err);
    /* both kinds of update must occur if both are asked for */
    if (e->tally.independence != moves * e->chains.count || moves == UPDATES || (test->independence > 0 && moves == 0))
        exit(2);
}

static size_t family(size_t replicates, unsigned stage, void *data, size_t max, double *p, const char **p_names)
{
    const struct setting *s = data;
    const exact_target *t = s->target;
    gess_error err = {0};
    gess_model model = exact_model(t);
    gess_options options;
    gess__sampler *sampler = NULL;
    size_t baseline = BASELINE * replicates, count = 0;
    double *before = doubles(EXACT_STATISTICS * baseline), *after = doubles(EXACT_STATISTICS * replicates);
    double x[MAX_DIM], y[MAX_DIM], scratch[MAX_DIM + 1];
    (void)max;
    for (size_t i = 0; i < baseline; i++) {
        exact_draw(t, s->seed + 1000 + stage, i, x, scratch);
        exact_statistics(t, x, baseline, before + i);
    }
    gess__options_init(&options);
    options.chains = replicates;
    options.kernel = "gess";
    options.schedule = "auto";
    options.warmup = 0;
    options.seed = s->seed + 31 * (stage + 1);
    options.block = 16;
    judge_must(gess__sampler_new(&sampler, &model, &options, 0, replicates, s->team, &err), &err);
    gess__ensemble *e = &sampler->ensemble;
    prepare(e, s, s->seed + 2000 + stage, e->chains.x);
    update(sampler, s->test);
    double *mapped = doubles(gess__target_scratch(&e->target, 1));
    for (size_t i = 0; i < replicates; i++) {
        gess__target_out(&e->target, e->chains.x + i * e->target.dim, y, mapped);
        gess__bounds_out(&e->target.bounds, y, x);
        exact_statistics(t, x, replicates, after + i);
    }
    free(mapped);
    gess__sampler_free(sampler);
    for (size_t k = 0; k < EXACT_STATISTICS; k++, count++) {
        p[count] = judge_means(replicates, after + k * replicates, baseline, before + k * baseline);
        p_names[count] = names[EXACT_STATISTICS + k];
    }
    for (size_t k = 0; k < EXACT_STATISTICS; k++, count++) {
        p[count] = judge_ks(replicates, after + k * replicates, baseline, before + k * baseline);
        p_names[count] = names[k];
    }
    free(before);
    free(after);
    return count;
}

int main(int count, char **words)
{
    gess_error err = {0};
    struct setting s = {0};
    int good = 1;
    s.seed = count > 1 ? 10000 * strtoull(words[1], NULL, 10) : 0;
    judge_must(gess__team_new(&s.team, 0, &err), &err);
    for (size_t k = 0; k < CASES; k++)
        for (size_t i = 0; i < exact_target_count; i++) {
            char title[100];
            s.target = &exact_targets[i];
            s.test = &cases[k];
            snprintf(title, sizeof title, "%s on %s", s.test->name, s.target->name);
            good &= judge_sequentially(title, family, &s, 20000, 1e-5 / (double)(CASES * exact_target_count));
        }
    gess__team_free(s.team);
    /* some maps and mixtures must be good ones */
    printf("learned: %u maps, %u mixtures\n", maps_learned, mixtures_learned);
    if (good && (maps_learned < 4 || mixtures_learned < 4)) return 2;
    return !good;
}
