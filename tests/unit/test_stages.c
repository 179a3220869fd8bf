/* Warm-up: stages, windows, thinning, and when it ends. */
#include "base/mem.h"
#include "schedule/schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DIM = 2, CHAINS = 10, MAX_ITERATIONS = 4000 };

/* A correlated Gaussian, far wider than the starts if `user` says so. */
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    double scale = user == NULL ? 1.0 : *(const double *)user;
    (void)worker;
    for (size_t i = 0; i < n; i++) {
        double a = x[i * dim] / scale, b = x[i * dim + 1] / scale;
        out[i] = -0.5 * (a * a + b * b - a * b);
    }
    return 0;
}

typedef struct history {
    gess__team *team;
    gess__sampler *s;
    const gess__ensemble *e; /* the sampler's */
    double *x;               /* (iteration · CHAINS + chain) · DIM */
} history;

static int remember(void *user, const gess__segment *s, gess_error *err)
{
    history *h = user;
    (void)err;
    for (size_t c = 0; c < s->count; c++)
        for (uint64_t i = 0; i < s->draws; i++)
            memcpy(h->x + ((s->first_draw + i) * CHAINS + s->first + c) * DIM,
                   s->rows + (c * s->draws + i) * (1 + DIM) + 1, DIM * sizeof *h->x);
    return GESS_OK;
}

static history make(const gess_options *o, const gess_model *model)
{
    gess_error err = {0};
    history h = {0};
    assert_int_equal(gess__team_new(&h.team, 2, &err), GESS_OK);
    if (gess__sampler_new(&h.s, model, o, 0, CHAINS, h.team, &err) != GESS_OK) fail_msg("%s", err.text);
    h.e = &h.s->ensemble;
    h.x = calloc(MAX_ITERATIONS * CHAINS * DIM, sizeof *h.x);
    return h;
}

static void release(history *h)
{
    gess__sampler_free(h->s);
    gess__team_free(h->team);
    free(h->x);
}

static gess_model make_model(double *scale)
{
    gess_model m = {0};
    m.dim = DIM;
    m.logp = logp;
    m.user = scale;
    return m;
}

/* Stages grow by a quarter, by a sixteenth after one that moved; the window holds every stride-th draw since it began,
 * and nothing else. */
static void windows(void **state)
{
    enum { STAGES = 22 };
    (void)state;
    gess_model m = make_model(NULL);
    gess_options o;
    gess_error err = {0};
    gess__options_init(&o);
    o.schedule = "pooled";
    history h = make(&o, &m);
    gess__record record = {.thin = 1, .sink = remember, .user = &h};
    uint64_t last = 0, largest_stride = 0;
    int slow = 0;
    for (int stage = 0; stage < STAGES; stage++) {
        uint64_t before = gess__ensemble_done(h.e), evals = h.e->tally.evals, updates = h.e->tally.updates;
        uint64_t part = h.s->adaptation.warmup.moved ? 16 : 4;
        slow += stage > 0 && part == 16;
        h.s->adaptation.warmup.over = 0; /* go on even if warm-up is over */
        assert_int_equal(gess__sampler_warm_up(h.s, &record, &err), GESS_OK);
        const gess__window *w = &h.s->adaptation.window;
        uint64_t done = gess__ensemble_done(h.e), length = done - before;
        assert_int_equal(h.s->adaptation.warmup.stages, stage + 1);
        assert_int_equal(w->stage, before);
        assert_int_equal(w->length, length);
        if (stage == 0) assert_int_equal(length, 5);
        if (stage > 0) assert_int_equal(length, last + (last + part - 1) / part);
        last = length;
        assert_int_equal(w->draws, (done - w->start) / w->stride);
        assert_true(w->draws <= w->room);
        for (size_t i = 0; i < w->draws; i++) {
            uint64_t iteration = w->start + (i + 1) * w->stride - 1;
            assert_memory_equal(w->points + i * CHAINS * DIM, h.x + iteration * CHAINS * DIM,
                                CHAINS * DIM * sizeof(double));
            for (size_t c = 0; c < CHAINS; c++) {
                double value;
                logp(NULL, 0, 1, DIM, w->points + (i * CHAINS + c) * DIM, &value);
                assert_true(value == w->values[i * CHAINS + c]);
            }
        }
        double evals_per_update = (double)(h.e->tally.evals - evals) / (double)(h.e->tally.updates - updates);
        assert_true(h.s->adaptation.warmup.evals_per_update == evals_per_update);
        if (w->stride > largest_stride) largest_stride = w->stride;
    }
    assert_true(largest_stride >= 2);           /* the window was thinned at least once */
    assert_true(slow > 0 && slow < STAGES - 1); /* both kinds of growth occurred */
    assert_int_equal(gess__sampler_learning(h.s)->state.fits, STAGES);
    /* the last fit is close to the truth: precision [[1, -1/2], [-1/2, 1]], covariance 4/3, 2/3 */
    const gess__approx *t = h.e->frozen.approx;
    double s11 = t->chol[0] * t->chol[0], s21 = t->chol[0] * t->chol[1];
    double inflate = isinf(t->nu) ? 1.0 : t->nu / (t->nu - 2.0);
    assert_true(fabs(s11 * inflate - 4.0 / 3.0) < 0.3 && fabs(s21 * inflate - 2.0 / 3.0) < 0.25);
    release(&h);
}

/* The mean log density that the next stage is compared with: that of the newest one, or of its second half if it was
 * the second and the ensemble moved in it. */
static double value_to_compare(const gess__adaptation *a)
{
    const gess__window *w = &a->window;
    size_t from = gess__window_older(w);
    double sum = 0.0;
    if (a->warmup.moved && a->warmup.stages == 2) from += (w->draws - from) / 2;
    for (size_t i = from * CHAINS; i < w->draws * CHAINS; i++) sum += w->values[i];
    return sum / (double)((w->draws - from) * CHAINS);
}

/* An ensemble that is still moving drops its old draws; one that has converged keeps them. What a stage is compared
 * with is as it should be. */
static void moving(void **state)
{
    (void)state;
    double scale = 1e4;
    gess_model m = make_model(&scale);
    gess_options o;
    gess_error err = {0};
    gess__options_init(&o);
    o.schedule = "pooled";
    history h = make(&o, &m);
    gess__record none = {0};
    unsigned moved = 0;
    for (int stage = 0; stage < 60 && !h.s->adaptation.warmup.over; stage++) {
        if (stage == 2) h.s->adaptation.warmup.moved = 1; /* by itself it may not have */
        int fresh = h.s->adaptation.warmup.moved;
        uint64_t start = h.s->adaptation.window.start, before = gess__ensemble_done(h.e);
        double compared = stage > 0 ? value_to_compare(&h.s->adaptation) : 0.0;
        assert_int_equal(gess__sampler_warm_up(h.s, &none, &err), GESS_OK);
        assert_int_equal(h.s->adaptation.window.start, fresh ? before : start);
        if (stage > 0) assert_true(fabs(h.s->adaptation.warmup.value_before - compared) < 1e-9 * fabs(compared));
        moved += h.s->adaptation.warmup.moved != 0;
    }
    assert_true(moved >= 5);
    assert_true(h.s->adaptation.warmup.over && h.s->adaptation.warmup.settled);
    assert_int_equal(h.s->adaptation.warmup.calm, 2);
    assert_int_equal(h.s->adaptation.warmup.iterations, gess__ensemble_done(h.e));
    /* the scale is right */
    assert_true(gess__approx_trace(h.e->frozen.approx) > 0.3 * scale * scale);
    release(&h);
}

static void fixed_lengths(void **state)
{
    (void)state;
    gess_model m = make_model(NULL);
    static const char *const schedules[] = {"pooled", "auto", "two-group", "fixed"};
    static const uint64_t lengths[] = {0, 1, 4, 7, 100};
    for (size_t s = 0; s < 4; s++)
        for (size_t k = 0; k < 5; k++) {
            gess_options o;
            gess_error err = {0};
            gess__record none = {0};
            gess__options_init(&o);
            o.schedule = schedules[s];
            o.warmup = lengths[k];
            history h = make(&o, &m);
            while (!h.s->adaptation.warmup.over) assert_int_equal(gess__sampler_warm_up(h.s, &none, &err), GESS_OK);
            assert_int_equal(gess__ensemble_done(h.e), lengths[k]);
            release(&h);
        }
}

/* The limit on evaluations ends a warm-up that would go on, with little excess. */
static void most_evaluations(void **state)
{
    (void)state;
    double scale = 1e12;
    gess_model m = make_model(&scale);
    static const char *const schedules[] = {"pooled", "two-group"};
    for (size_t s = 0; s < 2; s++) {
        gess_options o;
        gess_error err = {0};
        gess__record none = {0};
        gess__options_init(&o);
        o.schedule = schedules[s];
        o.max_warmup_evals = 3000;
        history h = make(&o, &m);
        while (!h.s->adaptation.warmup.over) assert_int_equal(gess__sampler_warm_up(h.s, &none, &err), GESS_OK);
        assert_false(h.s->adaptation.warmup.settled);
        assert_true(h.e->tally.evals > 2700 && h.e->tally.evals < 3600);
        release(&h);
    }
}

/* With a fixed T there is nothing to fit: warm-up ends as soon as the mean log density is steady. */
static void others_end_themselves(void **state)
{
    (void)state;
    gess_model m = make_model(NULL);
    static const char *const schedules[] = {"fixed", "two-group"};
    for (size_t s = 0; s < 2; s++) {
        gess_options o;
        gess_error err = {0};
        gess__record none = {0};
        gess__options_init(&o);
        o.schedule = schedules[s];
        history h = make(&o, &m);
        while (!h.s->adaptation.warmup.over) assert_int_equal(gess__sampler_warm_up(h.s, &none, &err), GESS_OK);
        assert_true(h.s->adaptation.warmup.settled);
        assert_null(h.s->adaptation.window.points);
        assert_null(gess__sampler_learning(h.s));
        release(&h);
    }
}

/* A flat density on an unbounded space is refused; on a bounded one it is sampled. */
static int flat(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)user, (void)worker, (void)dim, (void)x;
    for (size_t i = 0; i < n; i++) out[i] = -1.0;
    return 0;
}

static void flat_densities(void **state)
{
    (void)state;
    static const double lower[DIM] = {-1.0, -1.0}, upper[DIM] = {1.0, 2.0};
    static const char *const schedules[] = {"pooled", "two-group"};
    for (int bounded = 0; bounded < 2; bounded++)
        for (size_t s = 0; s < 2; s++) {
            gess_model m = make_model(NULL);
            gess_options o;
            gess_error err = {0};
            gess__record none = {0};
            int status = GESS_OK;
            m.logp = flat;
            if (bounded) m.lower = lower, m.upper = upper;
            gess__options_init(&o);
            o.schedule = schedules[s];
            o.transform = "none";
            o.max_warmup_evals = 500000;
            history h = make(&o, &m);
            while (status == GESS_OK && !h.s->adaptation.warmup.over) status = gess__sampler_warm_up(h.s, &none, &err);
            assert_int_equal(status, bounded ? GESS_OK : GESS_ERR_MODEL);
            if (!bounded) assert_non_null(strstr(err.text, "improper"));
            release(&h);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows),
        cmocka_unit_test(moving),
        cmocka_unit_test(fixed_lengths),
        cmocka_unit_test(most_evaluations),
        cmocka_unit_test(others_end_themselves),
        cmocka_unit_test(flat_densities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
