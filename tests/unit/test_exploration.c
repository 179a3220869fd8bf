/* The way that warm-up takes, by the public interface: `auto` anneals if there are several modes or a box, not if there
 * is one mode; it says so, and the modes get their weights. */
#include "unit/api.h"
#include "unit/two_modes.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counts draws by the sign of their first parameter, and hashes them. */
typedef struct witness {
    uint64_t rows, left, hash;
    uint64_t stop_at, calls; /* progress calls after which the run is stopped; 0: never */
} witness;

static int on_draw(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, size_t columns,
                   const double *rows)
{
    witness *w = user;
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws; i++) {
            const double *row = rows + (c * draws + i) * columns;
            uint64_t bits, place = (first_draw + i) * 1009 + first_chain + c;
            memcpy(&bits, &row[1], sizeof bits);
            w->hash += bits * (2 * place + 1);
            w->left += row[1] < 0.0;
            w->rows++;
        }
    return 0;
}

static int on_progress(void *user, const gess_stats *stats, uint64_t planned)
{
    witness *w = user;
    (void)stats, (void)planned;
    return ++w->calls == w->stop_at;
}

static gess_stats sample_with(const gess_density *density, const char *schedule, const char *warmup, witness *w)
{
    gess_error err = {0};
    gess_model *model = new_model(density);
    gess_options *options = new_options();
    gess_run *run = NULL;
    gess_stats stats;
    set(options, "schedule", schedule), set(options, "chains", "40"), set(options, "draws", "300");
    set(options, "threads", "2"), set(options, "seed", "5"), set(options, "warmup", warmup);
    succeed(gess_run_new(&run, model, options, NULL, &err), &err);
    gess_options_free(options);
    succeed(gess_run_on_draw(run, on_draw, w, &err), &err);
    succeed(gess_run_on_progress(run, on_progress, w, &err), &err);
    int status = gess_run_go(run, &err), stops = 0;
    for (; status == GESS_ERR_STOPPED; stops++) status = gess_run_go(run, &err);
    succeed(status, &err);
    assert_int_equal(stops, w->stop_at > 0);
    succeed(gess_run_stats(run, &stats, sizeof stats, &err), &err);
    gess_run_free(run);
    gess_model_free(model);
    return stats;
}

static gess_stats sample(const gess_density *density, const char *schedule, witness *w)
{
    return sample_with(density, schedule, "60", w);
}

static void assert_annealed(const gess_stats *stats, int annealed)
{
    int says = strncmp(stats->method, "annealed; ", strlen("annealed; ")) == 0;
    if (says != annealed) fail_msg("method: %s", stats->method);
}

static void assert_weight(const witness *w)
{
    double share = (double)w->left / (double)w->rows;
    if (!(fabs(share - WEIGHT) < 0.03)) fail_msg("the weight is %g", share);
}

static const gess_density two = {.size = sizeof two, .dim = 2, .logp = pair, .start = start_widely};
static const gess_density one = {.size = sizeof one, .dim = 2, .logp = half_square, .start = start_widely};

static void two_modes(void **state)
{
    (void)state;
    static const char *const schedules[] = {"auto", "annealed"};
    for (size_t i = 0; i < 2; i++) {
        witness w = {0};
        gess_stats stats = sample(&two, schedules[i], &w);
        assert_annealed(&stats, 1);
        assert_non_null(strstr(stats.method, "2 components"));
        assert_weight(&w);
    }
}

static void one_mode(void **state)
{
    (void)state;
    witness direct = {0}, annealed = {0};
    gess_stats stats = sample(&one, "auto", &direct);
    assert_annealed(&stats, 0);
    gess_stats other = sample(&one, "annealed", &annealed);
    assert_annealed(&other, 1);
    assert_true(other.evals > 2 * stats.evals);
    assert_true(fabs((double)annealed.left / (double)annealed.rows - 0.5) < 0.03);
}

/* A box says where modes may be, so it is annealed from the start. */
static void box(void **state)
{
    (void)state;
    static const double lower[] = {-20.0, -20.0}, upper[] = {20.0, 20.0};
    gess_density density = {.size = sizeof density, .dim = 2, .logp = pair, .lower = lower, .upper = upper};
    witness w = {0};
    gess_stats stats = sample_with(&density, "auto", "auto", &w);
    assert_annealed(&stats, 1);
    assert_weight(&w);
    density.logp = half_square;
    stats = sample_with(&density, "auto", "auto", &w);
    assert_annealed(&stats, 1);
    stats = sample(&density, "auto", &w); /* a warm-up of a given length is not made longer for one mode */
    assert_annealed(&stats, 0);
}

/* Stopped at various moments, most of them in annealing, a run ends with the same draws. */
static void stopped(void **state)
{
    (void)state;
    witness whole = {0};
    gess_stats expected = sample(&two, "auto", &whole);
    assert_true(whole.calls > 10);
    for (uint64_t at = 1; at < whole.calls; at += 1 + whole.calls / 3) {
        witness w = {.stop_at = at};
        gess_stats stats = sample(&two, "auto", &w);
        assert_int_equal(stats.evals, expected.evals);
        assert_true(w.hash == whole.hash);
        assert_string_equal(stats.method, expected.method);
    }
}

/* An error of the density ends the run with a message, in annealing too; at points that no chain has asked for it only
 * means that they are of no use. */
static int failing(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    for (size_t i = 0; i < n; i++)
        if (x[i * dim] > SIDE) return 9;
    return pair(user, worker, n, dim, x, logp);
}

static void start_left(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    for (size_t k = 0; k < dim; k++) x[k] = fmin(10.0 * normals[k], SIDE);
}

static void errors(void **state)
{
    (void)state;
    gess_error err = {0};
    gess_density density = two;
    density.logp = failing;
    density.start = start_left;
    gess_model *model = new_model(&density);
    gess_options *options = new_options();
    gess_run *run = NULL;
    set(options, "schedule", "annealed"), set(options, "chains", "40");
    succeed(gess_run_new(&run, model, options, NULL, &err), &err);
    assert_failed(gess_run_go(run, &err), GESS_ERR_MODEL, &err, "9");
    assert_true(err.chain > 0);
    gess_run_free(run);
    gess_options_free(options);
    gess_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_modes), cmocka_unit_test(one_mode), cmocka_unit_test(box),
        cmocka_unit_test(stopped),   cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
