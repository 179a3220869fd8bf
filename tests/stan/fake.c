/* A Stan model written in C: BridgeStan's interface over
 *
 *   data { vector[3] y; }
 *   parameters { real mu; real<lower=0> sigma; matrix[2, 2] z; }
 *   transformed parameters { real total = sum(z); }
 *   model { mu ~ std_normal(); sigma ~ lognormal(0, 1); to_vector(z) ~ std_normal(); }
 *   generated quantities { vector[3] log_lik; real y_rep = normal_rng(mu, sigma); }
 *
 * that prints what it reads and rejects mu > 1.5. THREADS is what it says of STAN_THREADS; without it, two calls at
 * once end the process. With GQ_FAILS its generated quantities fail where mu < -1. FAKE_STARTS=N in the environment
 * makes it print the extremes of its first N points. NO_PRINT leaves out bs_set_print_callback(), NO_RNG
 * bs_rng_construct(). With TAPE a thread that has not asked for a gradient yet gets nothing else. With GQ_NAN two
 * elements of log_lik are NaN: one always, one at half of the draws. */
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef THREADS
#define THREADS "true"
#endif

enum { DIM = 6, PARAMETERS = 6, TRANSFORMED = 7, ALL = 11 };
#define HALF_LOG_2PI 0.91893853320467274

typedef struct bs_model {
    double y[3];
} bs_model;
typedef struct bs_rng {
    unsigned long long state;
} bs_rng;

static void (*print)(const char *text, size_t size);
static atomic_int inside;
static _Thread_local int tape; /* whether the thread has asked for a gradient */
static atomic_long calls;
static double lowest = INFINITY, highest = -INFINITY;

int bs_major_version = 2, bs_minor_version = 6, bs_patch_version = 0;

static void say(const char *text)
{
    if (print != NULL)
        print(text, strlen(text));
    else
        fputs(text, stdout);
}

static void enter(void)
{
    if (atomic_fetch_add(&inside, 1) > 0 && strcmp(THREADS, "true") != 0) {
        fputs("two calls at once\n", stderr);
        abort();
    }
}

static void leave(void)
{
    atomic_fetch_sub(&inside, 1);
}

/* Whether a thread that needs its memory for derivatives lacks it. */
static int lacks_tape(char **error)
{
#ifdef TAPE
    if (!tape) *error = strdup("this thread has no memory for derivatives");
    return !tape;
#else
    (void)error;
    return 0;
#endif
}

static void watch_starts(const double *x)
{
    const char *wanted = getenv("FAKE_STARTS");
    if (wanted == NULL) return;
    long number = atomic_fetch_add(&calls, 1) + 1, count = strtol(wanted, NULL, 10);
    for (int i = 0; i < DIM && number <= count; i++) {
        lowest = fmin(lowest, x[i]);
        highest = fmax(highest, x[i]);
    }
    char text[100];
    snprintf(text, sizeof text, "starts from %.4f to %.4f\n", lowest, highest);
    if (number == count) say(text);
}

bs_model *bs_model_construct(const char *data, unsigned seed, char **error)
{
    const char *list = data != NULL ? strstr(data, "\"y\"") : NULL;
    bs_model *m = calloc(1, sizeof *m);
    (void)seed;
    if (list != NULL && (list = strchr(list, '[')) != NULL &&
        sscanf(list, "[%lf , %lf , %lf ]", &m->y[0], &m->y[1], &m->y[2]) == 3) {
        say("read 3 observations\nas data\n");
        return m;
    }
    free(m);
    *error = strdup("Exception: variable does not exist; processing stage=data initialization; variable name=y; base "
                    "type=double (in 'fake.stan', line 1, column 7 to column 19)");
    return NULL;
}

void bs_model_destruct(bs_model *m)
{
    free(m);
}

void bs_free_error_msg(char *text)
{
    free(text);
}

const char *bs_name(const bs_model *m)
{
    (void)m;
    return "fake_model";
}

const char *bs_model_info(const bs_model *m)
{
    (void)m;
    return "BridgeStan version: 2.6.0\nStan C++ Defines:\n\tSTAN_THREADS=" THREADS "\n";
}

const char *bs_param_names(const bs_model *m, bool tp, bool gq)
{
    (void)m;
    if (gq) return "mu,sigma,z.1.1,z.2.1,z.1.2,z.2.2,total,log_lik.1,log_lik.2,log_lik.3,y_rep";
    return tp ? "mu,sigma,z.1.1,z.2.1,z.1.2,z.2.2,total" : "mu,sigma,z.1.1,z.2.1,z.1.2,z.2.2";
}

const char *bs_param_unc_names(const bs_model *m)
{
    return bs_param_names(m, false, false);
}

int bs_param_num(const bs_model *m, bool tp, bool gq)
{
    (void)m;
    return gq ? ALL : tp ? TRANSFORMED : PARAMETERS;
}

int bs_param_unc_num(const bs_model *m)
{
    (void)m;
    return DIM;
}

int bs_param_constrain(const bs_model *m, bool tp, bool gq, const double *x, double *out, bs_rng *rng, char **error)
{
    if (lacks_tape(error)) return -1;
    enter();
    memcpy(out, x, DIM * sizeof *out);
    out[1] = exp(x[1]);
    if (tp) out[6] = x[2] + x[3] + x[4] + x[5];
    for (int i = 0; gq && i < 3; i++) {
        double r = (m->y[i] - out[0]) / out[1];
        out[7 + i] = -0.5 * r * r - x[1] - HALF_LOG_2PI;
    }
#ifdef GQ_NAN
    if (gq) out[7] = NAN;
    if (gq && x[2] > 0.0) out[8] = NAN;
#endif
    int code = 0;
    if (gq) {
        double sum = -6.0; /* of twelve uniforms: nearly normal */
        for (int i = 0; i < 12; i++) {
            rng->state = rng->state * 6364136223846793005ULL + 1442695040888963407ULL;
            sum += (double)(rng->state >> 11) * 0x1p-53;
        }
        out[10] = out[0] + out[1] * sum;
#ifdef GQ_FAILS
        if (x[0] < -1.0) {
            *error = strdup("Exception: y_rep failed (in 'fake.stan', line 6)");
            code = -1;
        }
#endif
    }
    (void)error;
    leave();
    return code;
}

int bs_log_density_gradient(const bs_model *m, bool propto, bool jacobian, const double *x, double *logp,
                            double *gradient, char **error)
{
    (void)m;
    tape |= gradient != NULL;
    if (lacks_tape(error)) return -1;
    enter();
    if (gradient == NULL) watch_starts(x);
    int code = 0;
    double sum = 0.0;
    for (int i = 0; i < DIM; i++) {
        sum -= 0.5 * x[i] * x[i] + HALF_LOG_2PI;
        if (gradient != NULL) gradient[i] = -x[i];
    }
    *logp = sum;
    if (propto || !jacobian || x[0] > 1.5) {
        *error =
            strdup(propto || !jacobian ? "called with the wrong flags" : "Exception: mu is too large (in 'fake.stan')");
        code = -1;
    }
    leave();
    return code;
}

int bs_log_density(const bs_model *m, bool propto, bool jacobian, const double *x, double *logp, char **error)
{
    return bs_log_density_gradient(m, propto, jacobian, x, logp, NULL, error);
}

#ifndef NO_RNG
bs_rng *bs_rng_construct(unsigned seed, char **error)
{
    bs_rng *rng = malloc(sizeof *rng);
    (void)error;
    rng->state = seed * 2654435761ULL + 1;
    for (int i = 0; i < 4; i++) rng->state = rng->state * 6364136223846793005ULL + 1442695040888963407ULL;
    return rng;
}
#endif

void bs_rng_destruct(bs_rng *rng)
{
    free(rng);
}

#ifndef NO_PRINT
int bs_set_print_callback(void (*fn)(const char *text, size_t size), char **error)
{
    (void)error;
    print = fn;
    return 0;
}
#endif
