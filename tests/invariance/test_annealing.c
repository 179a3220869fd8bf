/* Exactness of annealing with powers, T and numbers of updates that are fixed beforehand: sequential Monte Carlo.
 *
 * With few particles and few powers a single estimate Z of the target's normalisation is poor, but it is unbiased, and
 * so is Z times the mean of any function over the particles at the end: E[Z] = Z0 and E[Z f] = Z0 E_target[f], whatever
 * T is. Every replicate is an annealing with a seed of its own. The functions are of u = F(x), where F is the
 * cumulative distribution function of a coordinate: under the target u is uniform. `test_annealing SEED` uses other
 * seeds; GESS_REPLICATES sets the number of replicates of the first stage. */
#include "base/mem.h"
#include "invariance/judge.h"
#include "schedule/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAINS = 8, ROWS = 3, PARTICLES = CHAINS * ROWS, MAX_DIM = 2, REPLICATES = 4000 };

static const double powers[] = {0.06, 0.25, 0.6, 1.0};
enum { POWERS = sizeof powers / sizeof *powers };

typedef struct annealed_target {
    const char *name;
    size_t dim;
    double (*logp)(const double *x);
    void (*uniforms)(const double *x, double *u); /* F of every coordinate */
    double z;                                     /* ∫ exp(logp) dx */
    const char *transform;
    const double *lower, *upper;   /* or NULL */
    const unsigned char *periodic; /* or NULL */
    /* reference and T, in the space y */
    double centre[MAX_DIM], spread[MAX_DIM];
    int mixture, moves; /* T has two components; every second update is an independence move */
} annealed_target;

/* ---- Gaussian off-centre: N((1.5, −1), diag(0.5², 1)), times 3 ---- */

static double normal_cdf(double z)
{
    return 0.5 * erfc(-z / sqrt(2.0));
}

static double gaussian_logp(const double *x)
{
    double a = (x[0] - 1.5) / 0.5, b = x[1] + 1.0;
    return -0.5 * (a * a + b * b) - log(M_PI) + log(3.0);
}

static void gaussian_uniforms(const double *x, double *u)
{
    u[0] = normal_cdf((x[0] - 1.5) / 0.5);
    u[1] = normal_cdf(x[1] + 1.0);
}

/* ---- two modes: 0.3 N((−2, 0), 0.6²) + 0.7 N((1.5, 0.5), 0.4²), times 0.2 ---- */

static double mode(const double *x, double a, double b, double sd)
{
    double square = (x[0] - a) * (x[0] - a) + (x[1] - b) * (x[1] - b);
    return exp(-0.5 * square / (sd * sd)) / (2.0 * M_PI * sd * sd);
}

static double modes_logp(const double *x)
{
    return log(0.2 * (0.3 * mode(x, -2.0, 0.0, 0.6) + 0.7 * mode(x, 1.5, 0.5, 0.4)));
}

static void modes_uniforms(const double *x, double *u)
{
    u[0] = 0.3 * normal_cdf((x[0] + 2.0) / 0.6) + 0.7 * normal_cdf((x[0] - 1.5) / 0.4);
    u[1] = 0.3 * normal_cdf(x[1] / 0.6) + 0.7 * normal_cdf((x[1] - 0.5) / 0.4);
}

/* ---- bounded: x1² on (0, 1), 1 + (x2 + 1) on (−1, 3) ---- */

static const double box_lower[] = {0.0, -1.0}, box_upper[] = {1.0, 3.0};

static double box_logp(const double *x)
{
    return 2.0 * log(x[0]) + log(2.0 + x[1]);
}

static void box_uniforms(const double *x, double *u)
{
    double t = x[1] + 1.0;
    u[0] = x[0] * x[0] * x[0];
    u[1] = (t + 0.5 * t * t) / 12.0;
}

/* ---- half-lines: x1 − 1 of the gamma distribution with shape 2, 3 − x2 exponential with mean 2 ---- */

static const double half_lower[] = {1.0, -INFINITY}, half_upper[] = {INFINITY, 3.0};

static double half_logp(const double *x)
{
    return log(x[0] - 1.0) - (x[0] - 1.0) - 0.5 * (3.0 - x[1]);
}

static void half_uniforms(const double *x, double *u)
{
    double t = x[0] - 1.0;
    u[0] = 1.0 - (1.0 + t) * exp(-t);
    u[1] = exp(-0.5 * (3.0 - x[1]));
}

/* ---- periodic on [0, 2π): 1 + 0.8 cos x ---- */

static const double circle_lower[] = {0.0}, circle_upper[] = {2.0 * M_PI};
static const unsigned char circle_periodic[] = {1};

static double circle_logp(const double *x)
{
    return log(1.0 + 0.8 * cos(x[0]));
}

static void circle_uniforms(const double *x, double *u)
{
    u[0] = (x[0] + 0.8 * sin(x[0])) / (2.0 * M_PI);
}

static const annealed_target targets[] = {
    {"gaussian", 2, gaussian_logp, gaussian_uniforms, 3.0, "auto", NULL, NULL, NULL, {0.5, 0.0}, {1.0, 1.2}, 0, 1},
    {"two modes", 2, modes_logp, modes_uniforms, 0.2, "auto", NULL, NULL, NULL, {0.0, 0.0}, {2.0, 1.0}, 1, 1},
    {"bounded", 2, box_logp, box_uniforms, 4.0, "auto", box_lower, box_upper, NULL, {0.5, 0.5}, {1.5, 1.5}, 0, 0},
    {"hard bounds", 2, box_logp, box_uniforms, 4.0, "none", box_lower, box_upper, NULL, {0.7, 1.0}, {0.3, 1.2}, 0, 1},
    {"half-lines",
     2,
     half_logp,
     half_uniforms,
     2.0,
     "auto",
     half_lower,
     half_upper,
     NULL,
     {0.0, 1.0},
     {1.2, 1.2},
     0,
     0},
    {"periodic",
     1,
     circle_logp,
     circle_uniforms,
     2.0 * M_PI,
     "auto",
     circle_lower,
     circle_upper,
     circle_periodic,
     {0.0, 0.0},
     {1.0, 1.0},
     0,
     1},
};
enum { TARGETS = sizeof targets / sizeof *targets };

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    const annealed_target *t = user;
    (void)worker;
    for (size_t i = 0; i < n; i++) values[i] = t->logp(x + i * dim);
    return 0;
}

static void start(void *user, size_t dim, const double *normals, double *x)
{
    const annealed_target *t = user;
    for (size_t k = 0; k < dim; k++) {
        double share = normal_cdf(normals[k]);
        double low = t->lower == NULL || isinf(t->lower[k]) ? 0.0 : t->lower[k];
        double high = t->upper == NULL || isinf(t->upper[k]) ? low + 1.0 : t->upper[k];
        x[k] = low + (0.1 + 0.8 * share) * (high - low);
    }
}

/* ---- a replicate ---- */

struct setting {
    const annealed_target *target;
    gess__team *team;
    uint64_t seed;
};

static gess__annealing *annealing_of(gess__sampler *s)
{
    return ((gess__exploration *)s->state)->annealing;
}

static int advance(void *self, uint64_t until, const gess__record *record, gess_error *err)
{
    return gess__sampler_advance(self, until, record, err);
}

/* Sets the reference and T, neither of which fits the target. */
static void set_reference(gess__sampler *s, const annealed_target *t)
{
    gess__ensemble *e = &s->ensemble;
    gess__frozen *f = &e->frozen;
    size_t dim = e->target.dim;
    double points[2 * MAX_DIM];
    for (size_t k = 0; k < dim; k++) {
        points[k] = t->centre[k] - t->spread[k];
        points[dim + k] = t->centre[k] + t->spread[k];
        f->approx->mu[k] = t->centre[k] + 0.2 * t->spread[k];
        f->approx->chol[k + k * dim] = t->spread[k];
    }
    gess__reference_fit(e->target.reference, 2, points);
    f->approx->nu = 5.0;
    gess__approx_ready(f->approx);
    f->mixture->count = t->mixture ? 2 : 1;
    for (size_t j = 0; j < f->mixture->count; j++) {
        gess__approx *c = f->mixture->component[j];
        gess__approx_copy(c, f->approx);
        f->mixture->log_weight[j] = t->mixture ? log(j == 0 ? 0.4 : 0.6) : 0.0;
        for (size_t k = 0; t->mixture && k < dim; k++) {
            c->mu[k] += (j == 0 ? -1.0 : 0.8) * t->spread[k];
            c->chol[k + k * dim] *= j == 0 ? 0.5 : 0.4;
        }
        gess__approx_ready(c);
    }
    f->moves = (gess__move_mix){.independence = t->moves != 0, .period = t->moves ? 2 : 1};
}

/* Anneals once. The sampler is used again and again: only the seed and the reference matter to what happens. */
static void anneal(gess__sampler *s, uint64_t seed)
{
    gess_error err = {0};
    gess__record none = {0};
    gess__annealing *a = annealing_of(s);
    gess__window *w = &s->adaptation.window;
    s->ensemble.seed = seed;
    s->ensemble.tally = (gess__tally){0};
    s->ensemble.done[0] = s->ensemble.done[1] = 0;
    a->state = (gess__annealing_state){.fixed = 1};
    memcpy(a->state.power, powers, sizeof powers);
    gess__annealing_begin(a, GESS__ANNEAL, 0);
    w->length = w->draws = ROWS;
    unsigned steps = 0;
    for (; !a->state.done; steps++) judge_must(gess__annealing_step(a, advance, s, &none, &err), &err);
    if (steps != POWERS || s->ensemble.target.reference->power != 1.0 || gess__window_points(w) != PARTICLES) exit(2);
}

/* ---- the test ---- */

enum { FUNCTIONS = 7 }; /* of one u, with their means over uniform u */
static const double means[FUNCTIONS] = {1.0 / 2.0, 1.0 / 3.0, 0.05, 0.25, 0.5, 0.75, 0.95};

static void functions(double u, double *f)
{
    f[0] = u;
    f[1] = u * u;
    for (size_t k = 2; k < FUNCTIONS; k++) f[k] = u < means[k];
}

static const char *const names[1 + MAX_DIM * FUNCTIONS] = {"Z",         "u1",        "u1^2",      "u1 < 0.05",
                                                           "u1 < 0.25", "u1 < 0.5",  "u1 < 0.75", "u1 < 0.95",
                                                           "u2",        "u2^2",      "u2 < 0.05", "u2 < 0.25",
                                                           "u2 < 0.5",  "u2 < 0.75", "u2 < 0.95"};

/* What must have mean zero, of one replicate: Z / Z0 − 1, and Z / Z0 times the mean of f − E[f] over the particles. */
static void deviations(const gess__sampler *s, const annealed_target *t, double *out)
{
    const gess__annealing *a = annealing_of((gess__sampler *)(uintptr_t)s);
    const gess__window *w = &s->adaptation.window;
    double ratio = exp(a->state.log_z) / t->z, x[MAX_DIM], u[MAX_DIM], f[FUNCTIONS];
    out[0] = ratio - 1.0;
    memset(out + 1, 0, t->dim * FUNCTIONS * sizeof *out);
    for (size_t i = 0; i < PARTICLES; i++) {
        if (!(gess__bounds_out(&s->ensemble.target.bounds, w->points + i * w->dim, x) > -INFINITY)) exit(2);
        t->uniforms(x, u);
        for (size_t k = 0; k < t->dim; k++) {
            functions(u[k], f);
            for (size_t j = 0; j < FUNCTIONS; j++) out[1 + k * FUNCTIONS + j] += ratio * (f[j] - means[j]) / PARTICLES;
        }
    }
}

static size_t family(size_t replicates, unsigned stage, void *data, size_t max, double *p, const char **p_names)
{
    const struct setting *set = data;
    const annealed_target *t = set->target;
    gess_error err = {0};
    gess_model model = {.name = t->name,
                        .dim = t->dim,
                        .logp = logp,
                        .user = (void *)(uintptr_t)t,
                        .start = start,
                        .lower = t->lower,
                        .upper = t->upper,
                        .periodic = t->periodic};
    gess_options options;
    gess__sampler *s = NULL;
    size_t count = 1 + t->dim * FUNCTIONS;
    double out[1 + MAX_DIM * FUNCTIONS], sum[1 + MAX_DIM * FUNCTIONS] = {0}, square[1 + MAX_DIM * FUNCTIONS] = {0};
    (void)max;
    gess__options_init(&options);
    options.chains = CHAINS;
    options.kernel = "gess";
    options.schedule = "annealed";
    options.transform = t->transform;
    options.speculate = "off";
    judge_must(gess__sampler_new(&s, &model, &options, 0, CHAINS, set->team, &err), &err);
    set_reference(s, t);
    for (size_t r = 0; r < replicates; r++) {
        anneal(s, set->seed + 1000000 * (stage + 1) + r);
        deviations(s, t, out);
        for (size_t k = 0; k < count; k++) {
            sum[k] += out[k];
            square[k] += out[k] * out[k];
        }
    }
    gess__sampler_free(s);
    for (size_t k = 0; k < count; k++) {
        double n = (double)replicates, mean = sum[k] / n, error = sqrt((square[k] / n - mean * mean) / (n - 1.0));
        p[k] = erfc(fabs(mean) / error / sqrt(2.0));
        p_names[k] = names[k];
    }
    printf("%s: Z / Z0 = %.4f, error %.4f\n", t->name, 1.0 + sum[0] / (double)replicates,
           sqrt(square[0]) / (double)replicates);
    return count;
}

int main(int count, char **words)
{
    gess_error err = {0};
    const char *wanted = getenv("GESS_REPLICATES");
    size_t replicates = wanted != NULL ? strtoull(wanted, NULL, 10) : REPLICATES;
    struct setting s = {.seed = count > 1 ? 100000000 * strtoull(words[1], NULL, 10) : 0};
    int good = 1;
    judge_must(gess__team_new(&s.team, 1, &err), &err);
    for (size_t i = 0; i < TARGETS; i++) {
        char title[100];
        s.target = &targets[i];
        snprintf(title, sizeof title, "annealing to %s", targets[i].name);
        good &= judge_sequentially(title, family, &s, replicates, 1e-5 / TARGETS);
    }
    gess__team_free(s.team);
    return !good;
}
