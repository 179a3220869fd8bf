/* Checks of log densities: at starts, again, in batches, on several threads, on and beyond the bounds. */
#include "base/clock.h"
#include "base/rng.h"
#include "check/check.h"
#include "transform/bounds.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 100 };

#define THREAD_SECONDS 0.5
#define SLOW_SECONDS 10.0 /* of batches and threads, after which they leave out the rest */

/* ---- starts ---- */

/* Start `chain`, attempt `attempt`, as a run would make it. */
static void make_start(const struct check *c, const gess__bounds *bounds, size_t chain, uint64_t attempt,
                       double *normals, double *x)
{
    const gess_model *m = c->model;
    gess__key key = {.seed = 1, .iteration = attempt, .chain = (uint32_t)chain, .purpose = GESS__FOR_START};
    gess__normals(key, m->dim, normals);
    if (m->start != NULL)
        m->start(m->user, m->dim, normals, x);
    else
        for (size_t i = 0; i < m->dim; i++) x[i] = gess__bounds_start(bounds, i, normals[i], 1.0);
}

/* Whether a start of the model's own is finite, inside the bounds and a function of its normals. */
static bool is_good_start(struct check *c, const double *normals, const double *x, double *again)
{
    const gess_model *m = c->model;
    char name[32];
    if (m->start == NULL) return true;
    m->start(m->user, m->dim, normals, again);
    for (size_t i = 0; i < m->dim; i++) {
        double low = m->lower != NULL ? m->lower[i] : -INFINITY, high = m->upper != NULL ? m->upper[i] : INFINITY;
        const char *who = gess__parameter_name(m, i, name);
        if (compare_values(x[i], again[i]) != SAME) {
            report(c, FAULT,
                   "The model's function `start` gave %s = %.17g and then %.17g for the same normals; it must depend "
                   "on "
                   "nothing else.",
                   who, x[i], again[i]);
            return false;
        }
        if (!isfinite(x[i]) || x[i] < low || x[i] > high) {
            report(c, FAULT,
                   "The model's function `start` gave %s = %g, which is not inside its bounds from %g to %g. Make it "
                   "give points inside.",
                   who, x[i], low, high);
            return false;
        }
    }
    return true;
}

/* What the values of the starts were. */
struct tries {
    size_t nan, infinite, outside;
    double nan_point[NOTED], infinite_point[NOTED];
};

static void count_value(const struct check *c, struct tries *t, double value, const double *x)
{
    size_t bytes = (c->model->dim < NOTED ? c->model->dim : NOTED) * sizeof *x;
    if (isnan(value) && t->nan++ == 0) memcpy(t->nan_point, x, bytes);
    if (value == INFINITY && t->infinite++ == 0) memcpy(t->infinite_point, x, bytes);
    t->outside += value == -INFINITY;
}

static void report_starts(struct check *c, const struct tries *t, size_t tried)
{
    char text[1024];
    if (t->nan > 0)
        report(c, c->shared->starts == 0 ? FAULT : WARNING,
               "The log density is NaN at %zu of %zu points inside the bounds. Runs take NaN for -infinity and count "
               "it; return -INFINITY outside the support, and look for 0/0, log of a negative number or inf - inf. "
               "The first: %s",
               t->nan, tried, point_text(c, t->nan_point, text, sizeof text));
    if (t->infinite > 0)
        report(c, FAULT,
               "The log density is +infinity at %zu of %zu points inside the bounds, and that ends a run. The first: "
               "%s",
               t->infinite, tried, point_text(c, t->infinite_point, text, sizeof text));
    if (c->shared->starts == 0)
        report(c, FAULT,
               "None of %zu random points has a finite log density (%zu -infinity, %zu NaN), so no chain can start. "
               "Give the model bounds or a function `start`, or give starts with --init.",
               tried, t->outside, t->nan);
    else if (c->shared->starts < c->count)
        report(c, WARNING, "Only %zu of %zu starts have a finite log density after %d tries each.", c->shared->starts,
               c->count, TRIES);
}

void check_starts(struct check *c)
{
    size_t dim = c->model->dim, tried = 0;
    double *x = check_x(c), *values = check_values(c), *normals = calloc(2 * dim + 1, sizeof *normals);
    struct tries *t = calloc(1, sizeof *t);
    gess__bounds bounds;
    if (normals == NULL || t == NULL || gess__bounds_init(&bounds, c->model, 1, NULL) != GESS_OK) abort();
    double begun = gess__seconds();
    for (size_t chain = 0; chain < c->count; chain++) {
        size_t k = c->shared->starts;
        for (uint64_t attempt = 0; attempt < TRIES; attempt++) {
            /* a density that is nowhere finite need not be tried 10,000 times */
            if (k == 0 && chain > 0 && attempt > 2) break;
            make_start(c, &bounds, chain, attempt, normals, x + k * dim);
            if (attempt == 0 && chain < 10 && !is_good_start(c, normals, x + k * dim, normals + dim)) goto end;
            if (!evaluate(c, 0, 1, x + k * dim, values + k)) goto end;
            tried++;
            count_value(c, t, values[k], x + k * dim);
            if (!isfinite(values[k])) continue;
            c->shared->starts++;
            break;
        }
    }
    c->shared->seconds_per_eval = tried > 0 ? (gess__seconds() - begun) / (double)tried : 0.0;
    report_starts(c, t, tried);
end:
    gess__bounds_free(&bounds);
    free(normals);
    free(t);
}

/* ---- again ---- */

void check_repeated(struct check *c)
{
    size_t dim = c->model->dim, other = 0;
    const double *x = check_x(c), *values = check_values(c);
    char text[1024];
    for (size_t k = 0; k < c->shared->starts; k++) {
        double first, second;
        if (!evaluate(c, 0, 1, x + k * dim, &first) || !evaluate(c, 0, 1, x + k * dim, &second)) return;
        enum likeness again = compare_values(first, second), process = compare_values(values[k], first);
        if (again == DIFFERENT || process == DIFFERENT) {
            report(c, FAULT,
                   "The density is not a function of its point: it gave %.17g, and %s %.17g. Look for random numbers, "
                   "memory that is not initialised, and values that are kept from call to call. The point: %s",
                   again == DIFFERENT ? first : values[k], again == DIFFERENT ? "then" : "in another process",
                   again == DIFFERENT ? second : first, point_text(c, x + k * dim, text, sizeof text));
            return;
        }
        other += again != SAME || process != SAME;
    }
    if (other > 0)
        report(c, WARNING,
               "The last bits of %zu of %zu log densities differ when a point is evaluated again. Runs cannot be "
               "repeated bit for bit.",
               other, c->shared->starts);
}

/* ---- batches ---- */

/* Evaluates points first, first + step, … (modulo the starts) in one call. */
static bool try_batch(struct check *c, size_t n, size_t first, size_t step, double *x, double *got, size_t *other)
{
    size_t dim = c->model->dim, starts = c->shared->starts;
    char text[1024];
    for (size_t i = 0; i < n; i++) memcpy(x + i * dim, check_x(c) + (first + i * step) % starts * dim, dim * sizeof *x);
    if (!evaluate(c, 0, n, x, got)) return false;
    for (size_t i = 0; i < n; i++) {
        double alone = check_values(c)[(first + i * step) % starts];
        enum likeness how = compare_values(alone, got[i]);
        *other += how == OTHER_BITS;
        if (how != DIFFERENT) continue;
        report(c, FAULT,
               "A point's log density depends on the other points of the call: it is %.17g alone and %.17g as point "
               "%zu of %zu. Point i is x + i * dim, and its value goes to logp[i]. The point: %s",
               alone, got[i], i + 1, n, point_text(c, x + i * dim, text, sizeof text));
        return false;
    }
    return true;
}

void check_batches(struct check *c)
{
    static const size_t sizes[] = {1, 2, 7, 64, 128};
    size_t dim = c->model->dim, other = 0;
    double *x = calloc(128 * dim, sizeof *x), got[128], begun = gess__seconds();
    if (x == NULL) abort();
    bool good = true;
    for (size_t s = 0; good && s < sizeof sizes / sizeof *sizes; s++)
        for (size_t first = 0; good && first < c->shared->starts && gess__seconds() - begun < SLOW_SECONDS;
             first += sizes[s])
            good = try_batch(c, sizes[s], first, s % 2 == 0 ? 1 : c->shared->starts - 1, x, got, &other);
    if (good && other > 0)
        report(c, WARNING,
               "The last bits of a log density depend on the batch that its point is in (%zu differences). Draws then "
               "depend on --block and --speculate; evaluate each point on its own to avoid that.",
               other);
    free(x);
}

/* ---- threads ---- */

struct thread {
    struct check *check;
    pthread_t id;
    unsigned number;
    double begun;
    atomic_int *stop;
    size_t other;
    int failed;
    size_t where; /* of the first difference */
    double got;
    int different;
};

static void *evaluate_on_thread(void *data)
{
    struct thread *t = data;
    struct check *c = t->check;
    size_t dim = c->model->dim, starts = c->shared->starts, n = starts < 7 ? 1 : 7;
    double got[7];
    for (size_t k = t->number * 13; !atomic_load(t->stop) && gess__seconds() - t->begun < THREAD_SECONDS; k += n) {
        size_t first = k % (starts - n + 1);
        if (gess__model_logp(c->model, t->number, n, check_x(c) + first * dim, got) != 0) {
            t->failed = 1;
            atomic_store(t->stop, 1);
            break;
        }
        atomic_fetch_add(&c->shared->evals, n);
        for (size_t i = 0; i < n && !t->different; i++) {
            enum likeness how = compare_values(check_values(c)[first + i], got[i]);
            t->other += how == OTHER_BITS;
            if (how != DIFFERENT) continue;
            t->different = 1;
            t->where = first + i;
            t->got = got[i];
            atomic_store(t->stop, 1);
        }
    }
    return NULL;
}

void check_threads(struct check *c)
{
    struct thread thread[CHECK_THREADS] = {0};
    atomic_int stop = 0;
    char text[1024];
    size_t other = 0, made = 0;
    if (c->shared->starts == 0) return;
    for (; made < CHECK_THREADS; made++) {
        thread[made] = (struct thread){.check = c, .number = (unsigned)made, .begun = gess__seconds(), .stop = &stop};
        if (pthread_create(&thread[made].id, NULL, evaluate_on_thread, &thread[made]) != 0) break;
    }
    for (size_t i = 0; i < made; i++) pthread_join(thread[i].id, NULL);
    for (size_t i = 0; i < made; i++) {
        const struct thread *t = &thread[i];
        other += t->other;
        if (!t->different && !t->failed) continue;
        if (t->failed)
            report(c, FAULT, "The density returned an error when %zu threads called it at once.", made);
        else
            report(c, FAULT,
                   "The density is not safe for threads: %zu threads that call it at once get %.17g where one thread "
                   "gets %.17g. Look for static and global variables and for writes to `user`; keep such memory per "
                   "`worker`, or run with --threads 1. The point: %s",
                   made, t->got, check_values(c)[t->where],
                   point_text(c, check_x(c) + t->where * c->model->dim, text, sizeof text));
        return;
    }
    if (other > 0)
        report(c, WARNING, "The last bits of log densities differ when several threads call the density at once.");
}

/* ---- bounds ---- */

/* The value with parameter i of start 0 set to `to`; false: the call failed. */
static bool set_and_evaluate(struct check *c, size_t i, double to, double *x, double *value)
{
    memcpy(x, check_x(c), c->model->dim * sizeof *x);
    x[i] = to;
    return evaluate(c, 0, 1, x, value);
}

static bool check_bound(struct check *c, size_t i, double bound, double outwards, double *x)
{
    char name[32], text[1024];
    double value, step = fmax(1.0, fabs(bound)) * outwards;
    const char *who = gess__parameter_name(c->model, i, name);
    if (!set_and_evaluate(c, i, bound, x, &value)) return false;
    if (value == INFINITY || isnan(value))
        report(c, value == INFINITY ? WARNING : NOTE,
               "With %s on its bound %g the log density is %s; -INFINITY or a finite value is better there. The point: "
               "%s",
               who, bound, isnan(value) ? "NaN" : "+infinity", point_text(c, x, text, sizeof text));
    atomic_store(&c->shared->crossing, 1);
    bool good =
        set_and_evaluate(c, i, bound + 1e-9 * step, x, &value) && set_and_evaluate(c, i, bound + step, x, &value);
    atomic_store(&c->shared->crossing, 0);
    return good;
}

/* Both ends of a circle are one point. */
static bool check_circle(struct check *c, size_t i, double *x)
{
    char name[32];
    double low = c->model->lower[i], high = c->model->upper[i], at_low, at_high;
    if (!set_and_evaluate(c, i, low, x, &at_low) || !set_and_evaluate(c, i, high, x, &at_high)) return false;
    if (compare_values(at_low, at_high) == DIFFERENT && fabs(at_low - at_high) > 1e-6 * fmax(1.0, fabs(at_low)))
        report(c, FAULT,
               "%s is periodic, but the log density is %.17g at its lower bound %g and %.17g at its upper bound %g, "
               "which are the same point of a circle.",
               gess__parameter_name(c->model, i, name), at_low, low, at_high, high);
    return true;
}

void check_bounds(struct check *c)
{
    const gess_model *m = c->model;
    double *x = calloc(m->dim, sizeof *x), begun = gess__seconds();
    if (x == NULL) abort();
    if (c->shared->starts == 0) goto end;
    for (size_t i = 0; i < m->dim && gess__seconds() - begun < SLOW_SECONDS; i++) {
        double low = m->lower != NULL ? m->lower[i] : -INFINITY, high = m->upper != NULL ? m->upper[i] : INFINITY;
        if (low == high) continue;
        if (m->periodic != NULL && m->periodic[i]) {
            if (!check_circle(c, i, x)) break;
            continue;
        }
        if (isfinite(low) && !check_bound(c, i, low, -1.0, x)) break;
        if (isfinite(high) && !check_bound(c, i, high, 1.0, x)) break;
    }
end:
    free(x);
}
