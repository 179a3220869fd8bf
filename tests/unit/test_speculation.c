/* Speculation: kernels predict exactly the points that they propose later, and runs have the same bits as without
 * speculation, whatever the density returns at points that are not used. */
#include "execute/speculation.h"

#include "run/run.h"
#include "schedule/schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* ---- what kernels predict ---- */

enum { LANES = 5, WIDE = 7, DEPTH = 12 };

static int flat(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)user, (void)worker, (void)dim, (void)x;
    for (size_t i = 0; i < n; i++) logp[i] = 0.0;
    return 0;
}

/* An approximation that is neither round nor centred at 0. */
static void shape(gess__approx *t, double shift)
{
    t->nu = 5.0;
    for (size_t i = 0; i < t->dim; i++) {
        t->mu[i] = shift + 0.1 * (double)i;
        for (size_t k = 0; k <= i; k++) t->chol[i + k * t->dim] = i == k ? 1.0 + 0.2 * (double)i : 0.1;
    }
    gess__approx_ready(t);
}

/* Runs one update of every lane, accepting only at the rounds in `ends`, and compares the points of every round with
 * those predicted before it. Returns the number of points compared. */
static size_t predict_update(const gess__kernel *kernel, gess__update *u)
{
    static double predicted[DEPTH + 1][DEPTH + 1][LANES][WIDE]; /* indices: predicted in round, for round, lane */
    size_t compared = 0;
    gess_error err = {0};
    u->round = 0;
    for (kernel->begin(u); u->proposals > 0 && u->round <= DEPTH; u->round++) {
        kernel->propose(u);
        for (size_t p = 0; p < u->proposals; p++) {
            size_t lane = u->lane[p];
            assert_true(p == 0 || lane > u->lane[p - 1]);
            for (size_t made = 0; made < u->round; made++, compared++)
                assert_memory_equal(predicted[made][u->round][lane], u->points + p * WIDE, WIDE * sizeof(double));
            for (size_t rejections = 1; u->round + rejections <= DEPTH; rejections++)
                assert_true(kernel->predict(u, p, rejections, predicted[u->round][u->round + rejections][lane]));
            u->values[p] = u->round == 3 * lane + 1 ? 1e300 : -INFINITY;
        }
        assert_int_equal(kernel->consume(u, &err), GESS_OK);
    }
    return compared;
}

static void kernels_foresee(void **state)
{
    (void)state;
    gess_error err = {0};
    size_t able = 0;
    gess_model model = {0};
    model.dim = WIDE;
    model.logp = flat;
    gess__target target;
    gess__approx *t = NULL;
    gess__mixture *mixture = NULL;
    assert_int_equal(gess__target_init(&target, &model, 1, &err), GESS_OK);
    assert_int_equal(gess__approx_new(&t, WIDE, &err), GESS_OK);
    assert_int_equal(gess__mixture_new(&mixture, WIDE, &err), GESS_OK);
    shape(t, 0.5);
    shape(mixture->component[0], 0.5);
    shape(mixture->component[1], -1.0);
    mixture->count = 2;
    mixture->log_weight[0] = log(0.3);
    mixture->log_weight[1] = log(0.7);
    for (size_t i = 0; gess__kernel_row(i) != NULL; i++) {
        const gess__kernel *kernel = gess__kernel_row(i);
        if (kernel->predict == NULL) continue;
        able++;
        for (int mixed = 0; mixed < 2; mixed++) {
            gess__update u = {0};
            gess__chains chains = {.count = LANES + 2,
                                   .dim = WIDE,
                                   .state_size = kernel->state_size(WIDE),
                                   .first = 40};
            chains.x = calloc(chains.count * WIDE, sizeof(double));
            chains.value = calloc(chains.count, sizeof(double));
            chains.kernel_state = calloc(chains.count * chains.state_size + 1, sizeof(double));
            for (size_t k = 0; k < chains.count * WIDE; k++) chains.x[k] = sin(1.0 + (double)k);
            assert_int_equal(gess__update_init(&u, kernel, &target, LANES, &err), GESS_OK);
            u.approx = t;
            u.mixture = mixed ? mixture : NULL;
            u.moves.period = 1;
            u.chains = &chains;
            u.first = 2;
            u.count = LANES;
            u.seed = 11;
            u.rebind = 1;
            u.iteration = 6;
            /* lanes 0 to 3 end after 2, 5, 8 and 11 angles, the last one never */
            assert_int_equal(predict_update(kernel, &u), 1 + 10 + 28 + 55 + 78);
            if (!mixed) { /* nothing is predicted beyond the last angle of an update */
                double point[WIDE];
                kernel->begin(&u);
                kernel->propose(&u);
                assert_true(kernel->predict(&u, 0, 127, point));
                assert_false(kernel->predict(&u, 0, 128, point));
            }
            gess__update_free(&u);
            free(chains.x);
            free(chains.value);
            free(chains.kernel_state);
        }
    }
    assert_true(able >= 2);
    gess__mixture_free(mixture);
    gess__approx_free(t);
    gess__target_free(&target);
}

/* ---- whole runs ---- */

enum { KEYS = 1 << 19 };

/* A density that first records every point it is asked for, and later returns nonsense, including errors, at any other
 * point. */
typedef struct recorder {
    gess_model model;
    gess_model *inner; /* NULL: the one below */
    int noting;
    int patient; /* pauses are longer until an unused point has been asked for */
    size_t recorded;
    uint64_t keys[KEYS];
    atomic_ullong points, foreign;
    unsigned long long foreign_before; /* at the beginning of the run */
    atomic_int mixed;                  /* one call had both used and unused points */
} recorder;

static uint64_t hash(size_t dim, const double *x)
{
    uint64_t h = 1;
    for (size_t i = 0; i < dim; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        h = (h ^ bits) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h | 1;
}

/* Whether a point is recorded; records it while `noting`. */
static int known(recorder *w, uint64_t key)
{
    size_t at = (size_t)(key >> 20) % KEYS;
    for (; w->keys[at] != 0; at = (at + 1) % KEYS)
        if (w->keys[at] == key) return 1;
    if (w->noting) {
        if (++w->recorded > KEYS / 2) abort(); /* the table is too small */
        w->keys[at] = key;
    }
    return w->noting;
}

/* A thin shell with parts cut out, one of them NaN. */
static double shell(const double *x)
{
    double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    if (x[0] > 0.3) return NAN;
    if (x[1] < -0.3) return -INFINITY;
    return -0.5 * (r - 1.0) * (r - 1.0) / 0.0025;
}

static int ask(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    recorder *w = user;
    atomic_fetch_add(&w->points, n);
    if (w->inner != NULL) w->inner->logp(w->inner->user, worker, n, dim, x, logp);
    for (size_t i = 0; i < n; i++) {
        uint64_t key = hash(dim, x + i * dim);
        if (w->inner == NULL) logp[i] = shell(x + i * dim);
        struct timespec pause = {.tv_nsec = (long)(key >> 30) % 200000};
        if (w->patient && atomic_load(&w->foreign) == w->foreign_before) pause.tv_nsec += 2000000;
        if (!w->noting && (w->inner == NULL || key % 32 == 1)) nanosleep(&pause, NULL);
        if (known(w, key)) continue;
        atomic_fetch_add(&w->foreign, 1);
        if (n > 1) atomic_store(&w->mixed, 1);
        switch (key >> 40 & 3) {
        case 0: return 7;
        case 1: logp[i] = NAN; break;
        case 2: logp[i] = INFINITY; break;
        default: logp[i] = 1e6;
        }
    }
    return 0;
}

static void begin_at(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    double r = 0.0;
    for (size_t i = 0; i < dim; i++) r += normals[i] * normals[i];
    for (size_t i = 0; i < dim; i++) x[i] = -fabs(normals[i]) / sqrt(r) * (i == 1 ? -1.0 : 1.0);
}

typedef struct result {
    uint64_t sum;
    gess_stats stats;
    gess__tally tally;
    gess__nans nans;
    double points[GESS__NANS_KEPT * 16];
    size_t components;
} result;

static int add_draws(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, size_t columns,
                     const double *rows)
{
    result *r = user;
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws; i++)
            for (size_t k = 0; k < columns; k++) {
                uint64_t bits, place = ((first_draw + i) * 1000 + first_chain + c) * 100 + k;
                memcpy(&bits, &rows[(c * draws + i) * columns + k], sizeof bits);
                r->sum += bits * (2 * place + 1);
            }
    return 0;
}

static void go(recorder *w, const gess_options *o, result *r)
{
    gess_run *run = NULL;
    gess_error err = {0};
    *r = (result){0};
    if (gess_run_new(&run, &w->model, o, NULL, &err) != GESS_OK) fail_msg("%s", err.text);
    gess_run_on_draw(run, add_draws, r, NULL);
    if (gess_run_go(run, &err) != GESS_OK) fail_msg("%s", err.text);
    const gess__ensemble *e = run->ensemble[0];
    gess_run_stats(run, &r->stats, sizeof r->stats, NULL);
    r->tally = e->tally;
    r->nans = e->nans;
    memcpy(r->points, e->nans.points, GESS__NANS_KEPT * e->target.dim * sizeof *r->points);
    r->components = e->frozen.mixture != NULL ? e->frozen.mixture->count : 1;
    gess_run_free(run);
}

static void assert_same(const result *a, const result *b)
{
    assert_true(a->sum == b->sum);
    assert_memory_equal(&a->tally, &b->tally, sizeof a->tally);
    assert_int_equal(a->stats.evals, b->stats.evals);
    assert_int_equal(a->stats.evals_sampling, b->stats.evals_sampling);
    assert_int_equal(a->nans.count, b->nans.count);
    assert_memory_equal(a->nans.keys, b->nans.keys, a->nans.count * sizeof *a->nans.keys);
    assert_memory_equal(a->points, b->points, sizeof a->points);
}

static recorder *new_recorder(gess_model *inner)
{
    recorder *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->inner = inner;
    if (inner != NULL) {
        w->model = *inner;
        w->model.gradient = NULL;
    } else {
        w->model = (gess_model){0};
        w->model.dim = 3;
        w->model.start = begin_at;
    }
    w->model.logp = ask;
    w->model.user = w;
    return w;
}

/* `certain`: there are always idle workers and points for them, so speculation takes place whatever the timing. Else a
 * busy machine may leave no worker idle at the right moment. */
static const struct how {
    unsigned threads, block;
    const char *speculate;
    int certain;
} hows[] = {{1, 0, "16", 0}, {2, 1, "1", 0},  {2, 0, "16", 0},   {2, 0, "auto", 0}, {8, 0, "off", 0}, {8, 0, "1", 0},
            {8, 3, "16", 0}, {8, 1, "16", 0}, {8, 0, "auto", 0}, {8, 2, "auto", 0}, {8, 6, "16", 1}};

/* Every way of running, from row `first` on, gives the draws of one thread without speculation. */
static uint64_t compare(gess_model *inner, size_t first, const char *kernel, const char *schedule, uint64_t chains,
                        uint64_t warmup, size_t components)
{
    recorder *w = new_recorder(inner);
    result plain, other;
    gess_options o;
    uint64_t unused = 0;
    gess__options_init(&o);
    o.kernel = kernel;
    o.schedule = schedule;
    o.chains = chains;
    o.warmup = warmup;
    o.draws = 12;
    o.threads = 1;
    o.speculate = "off";
    w->noting = 1;
    go(w, &o, &plain);
    assert_true(plain.components >= components);
    assert_int_equal(plain.stats.evals_speculative, 0);
    if (inner == NULL) assert_true(plain.stats.nans > 0);
    w->noting = 0;
    for (size_t i = first; i < sizeof hows / sizeof *hows; i++) {
        o.threads = hows[i].threads;
        o.block = hows[i].block;
        o.speculate = hows[i].speculate;
        uint64_t before = atomic_load(&w->points);
        w->foreign_before = atomic_load(&w->foreign);
        w->patient = hows[i].certain;
        go(w, &o, &other);
        assert_same(&plain, &other);
        if (hows[i].certain) assert_true(other.stats.evals_speculative > 0);
        assert_int_equal(atomic_load(&w->points) - before,
                         other.stats.evals + other.stats.evals_speculative + other.stats.evals_checked);
        if (hows[i].threads == 1 || strcmp(hows[i].speculate, "off") == 0)
            assert_int_equal(other.stats.evals_speculative, 0);
        unused += other.stats.evals_speculative;
    }
    assert_false(atomic_load(&w->mixed));
    assert_int_equal(atomic_load(&w->foreign), unused);
    free(w);
    return unused;
}

static void same_bits(void **state)
{
    (void)state;
    static const char *const kernels[] = {"gess", "ess"}, *const schedules[] = {"pooled", "two-group", "fixed"};
    for (size_t i = 0; i < 6; i++) {
        const char *schedule = schedules[i % 3];
        uint64_t unused = compare(NULL, 0, kernels[i / 3], schedule, 4 + i / 3, i % 3 == 2 ? 0 : 15, 1);
        assert_true(unused > 100); /* speculation took place */
    }
}

static void same_bits_of_mixtures(void **state)
{
    (void)state;
    gess_model *inner = NULL;
    gess_error err = {0};
    assert_int_equal(gess_model_open(&inner, "mixture", NULL, &err), GESS_OK);
    compare(inner, 6, "gess", "auto", 24, 400, 2);
    gess_model_free(inner);
}

/* Two modes, which annealing finds; its waves of particles speculate as any stretch does. */
static int two_modes(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        double left = 0.0, right = 0.0;
        for (size_t k = 0; k < dim; k++) {
            left += (x[i * dim + k] + 4.0) * (x[i * dim + k] + 4.0);
            right += (x[i * dim + k] - 4.0) * (x[i * dim + k] - 4.0);
        }
        double top = -0.5 * fmin(left, right);
        logp[i] = top + log1p(exp(-0.5 * fmax(left, right) - top));
    }
    return 0;
}

static void start_widely(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    for (size_t k = 0; k < dim; k++) x[k] = 5.0 * normals[k];
}

static void same_bits_of_annealing(void **state)
{
    (void)state;
    gess_model inner = {.dim = 2, .logp = two_modes, .start = start_widely};
    compare(&inner, 9, "gess", "annealed", 24, 50, 2);
}

/* An error at a used point ends the run with the same message as without speculation. */
static int failing(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)user, (void)worker, (void)dim;
    struct timespec pause = {.tv_nsec = 100000};
    nanosleep(&pause, NULL);
    for (size_t i = 0; i < n; i++) {
        if (x[0] > 0.25 && x[0] < 0.27) return 5;
        logp[i] = shell(x + i * dim);
    }
    return 0;
}

static void errors_that_count(void **state)
{
    (void)state;
    static const char *const speculate[] = {"off", "4", "auto"};
    gess_error errors[3] = {{0}};
    for (size_t i = 0; i < 3; i++) {
        gess_model model = {0};
        gess_options o;
        gess_run *run = NULL;
        model.dim = 3;
        model.logp = failing;
        model.start = begin_at;
        gess__options_init(&o);
        o.schedule = "fixed";
        o.chains = 1;
        o.warmup = 0;
        o.draws = 100000;
        o.threads = 4;
        o.speculate = speculate[i];
        assert_int_equal(gess_run_new(&run, &model, &o, NULL, &errors[i]), GESS_OK);
        assert_int_equal(gess_run_go(run, &errors[i]), GESS_ERR_MODEL);
        gess_run_free(run);
        assert_string_equal(errors[i].text, errors[0].text);
    }
}

static void bad_values(void **state)
{
    (void)state;
    static const char *const bad[] = {"0", "128", "-1", "on", "2x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        recorder *w = new_recorder(NULL);
        gess_options o;
        gess_run *run = NULL;
        gess_error err = {0};
        gess__options_init(&o);
        assert_string_equal(o.speculate, "auto");
        o.speculate = bad[i];
        assert_int_equal(gess_run_new(&run, &w->model, &o, NULL, &err), GESS_ERR_USAGE);
        assert_non_null(strstr(err.text, "auto, off or a number from 1 to 127"));
        gess_run_free(run);
        free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_foresee),       cmocka_unit_test(same_bits),
        cmocka_unit_test(same_bits_of_mixtures), cmocka_unit_test(same_bits_of_annealing),
        cmocka_unit_test(errors_that_count),     cmocka_unit_test(bad_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
