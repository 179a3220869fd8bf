/* Annealing that is stopped at many moments, each time archived and brought back into a new sampler, ends with the bits
 * of one that is never stopped; impossible archives are refused. */
#include "explore/annealing.h"

#include "schedule/schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CHAINS = 24 };

/* Counts the evaluations of a model, and stops the run at one of them. */
typedef struct counted {
    gess_model model;
    gess_model *inner;
    atomic_ullong asked;
    unsigned long long stop_at; /* 0: never */
    atomic_int stop;
} counted;

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    counted *c = user;
    unsigned long long asked = atomic_fetch_add(&c->asked, n) + n;
    if (c->stop_at > 0 && asked >= c->stop_at) atomic_store(&c->stop, 1);
    return c->inner->logp(c->inner->user, worker, n, dim, x, out);
}

typedef struct trial {
    counted c;
    gess_options options;
    gess__team *team;
    gess__sampler *s;
} trial;

static void open_trial(trial *t, const char *model, unsigned threads)
{
    gess_error err = {0};
    *t = (trial){0};
    if (gess_model_open(&t->c.inner, model, NULL, &err) != GESS_OK) fail_msg("%s", err.text);
    t->c.model = *t->c.inner;
    t->c.model.logp = logp;
    t->c.model.gradient = NULL;
    t->c.model.user = &t->c;
    gess__options_init(&t->options);
    t->options.schedule = "annealed";
    t->options.chains = CHAINS;
    t->options.max_warmup_evals = 20000;
    assert_int_equal(gess__team_new(&t->team, threads, &err), GESS_OK);
    if (gess__sampler_new(&t->s, &t->c.model, &t->options, 0, CHAINS, t->team, &err) != GESS_OK)
        fail_msg("%s", err.text);
}

static void close_trial(trial *t)
{
    gess__sampler_free(t->s);
    gess__team_free(t->team);
    gess_model_free(t->c.inner);
}

static const gess__annealing *annealing_of(const trial *t)
{
    return gess__sampler_exploration(t->s)->annealing;
}

static gess__archive archive_of(trial *t)
{
    gess__archive a = {0};
    gess__sampler_archive(t->s, &a);
    assert_false(a.bad);
    a.reading = 1;
    return a;
}

/* Puts a new sampler in the place of the present one, as `gess resume` does. */
static void renew(trial *t)
{
    gess_error err = {0};
    gess__archive a = archive_of(t);
    gess__sampler_free(t->s);
    t->s = NULL;
    if (gess__sampler_make(&t->s, &t->c.model, &t->options, 0, CHAINS, t->team, &err) != GESS_OK)
        fail_msg("%s", err.text);
    gess__sampler_archive(t->s, &a);
    assert_false(a.bad);
    assert_int_equal(a.at, a.size);
    gess__archive_free(&a);
}

/* Runs until annealing is done and one stage more, stopped every `every` evaluations; returns the number of stops. The
 * evaluation of many points at once begins again if it is stopped, so it is not stopped twice. */
static unsigned run(trial *t, unsigned long long every)
{
    gess__record record = {.stop = &t->c.stop};
    unsigned stops = 0, stages = 0;
    uint64_t evals = 0;
    while (stages == 0 || !annealing_of(t)->state.done || t->s->adaptation.warmup.stages == stages) {
        gess_error err = {0};
        int again = stops > 0 && t->s->ensemble.tally.evals == evals;
        t->c.stop_at = every > 0 && !again ? atomic_load(&t->c.asked) + every : 0;
        evals = t->s->ensemble.tally.evals;
        if (annealing_of(t)->state.done && stages == 0) stages = t->s->adaptation.warmup.stages;
        int status = gess__sampler_warm_up(t->s, &record, &err);
        if (status == GESS_OK) continue;
        if (status != GESS_ERR_STOPPED) fail_msg("%s", err.text);
        atomic_store(&t->c.stop, 0);
        renew(t);
        stops++;
    }
    return stops;
}

/* Narrow modes are found by ascents from points that were noted on the way. */
static void stopped_and_brought_back(void **state)
{
    (void)state;
    trial whole, pieces;
    open_trial(&whole, "mixture:spread=20", 1);
    open_trial(&pieces, "mixture:spread=20", 2);
    assert_int_equal(run(&whole, 0), 0);
    assert_true(annealing_of(&whole)->maxima->state.ascents > 0);
    assert_true(run(&pieces, atomic_load(&whole.c.asked) / 40) > 20);
    assert_int_equal(whole.s->ensemble.tally.evals, pieces.s->ensemble.tally.evals);
    gess__archive a = archive_of(&whole), b = archive_of(&pieces);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.bytes, b.bytes, a.size);
    gess__archive_free(&a);
    gess__archive_free(&b);
    close_trial(&whole);
    close_trial(&pieces);
}

/* Reads an archive of a sampler in the middle of annealing with a changed state of it; returns whether it is refused.
 */
static int refused(const gess__archive *good, const gess__annealing_state *real, const gess__annealing_state *wrong)
{
    gess_error err = {0};
    trial t;
    open_trial(&t, "mixture", 1);
    gess__archive a = {.reading = 1, .size = good->size, .bytes = malloc(good->size)};
    assert_non_null(a.bytes);
    memcpy(a.bytes, good->bytes, good->size);
    size_t at = 0;
    while (at + sizeof *real <= a.size && memcmp(a.bytes + at, real, sizeof *real) != 0) at++;
    assert_true(at + sizeof *real <= a.size);
    memcpy(a.bytes + at, wrong, sizeof *wrong);
    gess__sampler_free(t.s);
    t.s = NULL;
    assert_int_equal(gess__sampler_make(&t.s, &t.c.model, &t.options, 0, CHAINS, t.team, &err), GESS_OK);
    gess__sampler_archive(t.s, &a);
    int bad = a.bad;
    gess__archive_free(&a);
    close_trial(&t);
    return bad;
}

static void impossible_steps(void **state)
{
    (void)state;
    gess_error err = {0};
    trial t;
    open_trial(&t, "mixture", 1);
    gess__record record = {.stop = &t.c.stop};
    t.c.stop_at = 12000;
    while (gess__sampler_warm_up(t.s, &record, &err) == GESS_OK) continue;
    const gess__annealing_state real = annealing_of(&t)->state;
    assert_true(real.under_way && real.open && real.length > 0);
    gess__archive a = archive_of(&t);
    gess__annealing_state wrong = real;
    assert_false(refused(&a, &real, &wrong));
    wrong.powers = GESS__MAX_POWERS + 1;
    assert_true(refused(&a, &real, &wrong));
    wrong = real, wrong.length = 0;
    assert_true(refused(&a, &real, &wrong));
    wrong = real, wrong.length = UINT64_MAX / 2;
    assert_true(refused(&a, &real, &wrong));
    wrong = real, wrong.begun = 1000000000;
    assert_true(refused(&a, &real, &wrong));
    wrong = real, wrong.rounds = 100;
    assert_true(refused(&a, &real, &wrong));
    gess__archive_free(&a);
    close_trial(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_and_brought_back),
        cmocka_unit_test(impossible_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
