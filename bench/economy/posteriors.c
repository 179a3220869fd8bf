/* Posteriors of generated data, as models for `gess sample`: one per compilation, chosen with -DFAMILY_name, -DSIZE=n
 * (parameters) and -DSEED=s (of the data). Scales are in logarithms, with their Jacobians, so that nothing is bounded.
 *
 *   regression  linear: intercept, slopes, log standard deviation
 *   robust      the same with Student's t: log standard deviation, log degrees of freedom
 *   logistic    logistic regression: intercept and slopes, correlated inputs
 *   poisson     Poisson regression: intercept and slopes
 *   hierarchy   normal effects of groups: mean, log standard deviation, effects; centred if the seed is odd
 *   counts      Poisson counts with normal effects of groups: intercept, slope, log standard deviation, effects
 *   ode         4 parameters: logistic growth (rate, capacity, start, noise, all in logarithms);
 *               8: predators and prey (four rates, two starts, two noises); integrated by Runge and Kutta's method
 *   gp          regression by a Gaussian process: log length scales, log amplitude, log noise
 */
#include <gess/gess.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

const unsigned gess_plugin_abi = GESS_ABI;

enum { MAX_DATA = 1200 };
static double input[MAX_DATA][SIZE], output[MAX_DATA];
static int observations;

/* ---- data ---- */

static uint64_t state = SEED;

/* splitmix64 (G. Steele, D. Lea, C. Flood, 2014), on (0, 1). */
static double uniform(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double gaussian(void)
{
    double r = sqrt(-2.0 * log(uniform()));
    return r * cos(6.28318530717958648 * uniform());
}

static inline double poisson_draw(double mean)
{
    double product = uniform(), limit = exp(-mean);
    int k = 0;
    for (; product > limit && k < 10000; k++) product *= uniform();
    return k;
}

/* An intercept in column 0, then inputs of which neighbours have a correlation of 0.6; `columns` in all. */
static inline void make_inputs(int n, int columns)
{
    observations = n;
    for (int i = 0; i < n; i++) {
        input[i][0] = 1.0;
        for (int j = 1; j < columns; j++)
            input[i][j] = (j > 1 ? 0.6 * input[i][j - 1] : 0.0) + (j > 1 ? 0.8 : 1.0) * gaussian();
    }
}

static inline double predictor(const double *x, int i, int columns)
{
    double sum = 0.0;
    for (int j = 0; j < columns; j++) sum += input[i][j] * x[j];
    return sum;
}

/* log densities, up to constants */
static inline double normal(double x, double mean, double sd)
{
    double z = (x - mean) / sd;
    return -0.5 * z * z - log(sd);
}

static inline double half_normal_of_log(double log_sd, double scale)
{
    return normal(exp(log_sd), 0.0, scale) + log_sd;
}

/* ---- families ---- */

#if defined FAMILY_regression || defined FAMILY_robust
#ifdef FAMILY_robust
enum { SLOPES = SIZE - 2 };
#else
enum { SLOPES = SIZE - 1 };
#endif
static void make(void)
{
    double beta[SIZE];
    make_inputs(20 + 3 * SIZE, SLOPES);
    for (int j = 0; j < SLOPES; j++) beta[j] = gaussian();
    for (int i = 0; i < observations; i++) {
        double noise = gaussian();
#ifdef FAMILY_robust
        if (i % 8 == 0) noise *= 6.0;
#endif
        output[i] = predictor(beta, i, SLOPES) + 0.7 * noise;
    }
}
static double density(const double *x)
{
    double sum = half_normal_of_log(x[SLOPES], 2.0), sd = exp(x[SLOPES]);
    for (int j = 0; j < SLOPES; j++) sum += normal(x[j], 0.0, 10.0);
#ifdef FAMILY_robust
    double nu = exp(x[SIZE - 1]);
    sum += normal(x[SIZE - 1], 2.0, 1.0); /* of log ν */
    sum += observations * (lgamma(0.5 * (nu + 1.0)) - lgamma(0.5 * nu) - 0.5 * log(nu) - log(sd));
    for (int i = 0; i < observations; i++) {
        double z = (output[i] - predictor(x, i, SLOPES)) / sd;
        sum -= 0.5 * (nu + 1.0) * log1p(z * z / nu);
    }
#else
    for (int i = 0; i < observations; i++) sum += normal(output[i], predictor(x, i, SLOPES), sd);
#endif
    return sum;
}
#elif defined FAMILY_logistic
static void make(void)
{
    double beta[SIZE];
    make_inputs(60 + 10 * SIZE, SIZE);
    for (int j = 0; j < SIZE; j++) beta[j] = 0.7 * gaussian();
    for (int i = 0; i < observations; i++) output[i] = uniform() < 1.0 / (1.0 + exp(-predictor(beta, i, SIZE)));
}
static double density(const double *x)
{
    double sum = 0.0;
    for (int j = 0; j < SIZE; j++) sum += normal(x[j], 0.0, 2.5);
    for (int i = 0; i < observations; i++) {
        double eta = (output[i] > 0.5 ? 1.0 : -1.0) * predictor(x, i, SIZE);
        sum -= eta > 0.0 ? log1p(exp(-eta)) : log1p(exp(eta)) - eta;
    }
    return sum;
}
#elif defined FAMILY_poisson
static void make(void)
{
    double beta[SIZE];
    make_inputs(40 + 4 * SIZE, SIZE);
    for (int j = 0; j < SIZE; j++) beta[j] = j > 0 ? 0.6 / sqrt(SIZE) * gaussian() : 1.0;
    for (int i = 0; i < observations; i++) output[i] = poisson_draw(exp(predictor(beta, i, SIZE)));
}
static double density(const double *x)
{
    double sum = 0.0;
    for (int j = 0; j < SIZE; j++) sum += normal(x[j], 0.0, 2.5);
    for (int i = 0; i < observations; i++) {
        double eta = predictor(x, i, SIZE);
        sum += output[i] * eta - exp(eta);
    }
    return sum;
}
#elif defined FAMILY_hierarchy
enum { GROUPS = SIZE - 2, CENTRED = SEED % 2 };
static void make(void)
{
    observations = GROUPS;
    for (int j = 0; j < GROUPS; j++) {
        input[j][0] = 0.5 + 1.5 * uniform();
        output[j] = 1.0 + 0.8 * gaussian() + input[j][0] * gaussian();
    }
}
static double density(const double *x)
{
    double tau = exp(x[1]), sum = normal(x[0], 0.0, 5.0) + half_normal_of_log(x[1], 2.0);
    for (int j = 0; j < GROUPS; j++) {
        double effect = CENTRED ? x[2 + j] : x[0] + tau * x[2 + j];
        sum += CENTRED ? normal(effect, x[0], tau) : normal(x[2 + j], 0.0, 1.0);
        sum += normal(output[j], effect, input[j][0]);
    }
    return sum;
}
#elif defined FAMILY_counts
enum { GROUPS = SIZE - 3, EACH = 5 };
static void make(void)
{
    observations = EACH * GROUPS;
    for (int j = 0; j < GROUPS; j++) {
        double effect = 0.5 * gaussian();
        for (int k = 0; k < EACH; k++) {
            input[EACH * j + k][0] = gaussian();
            output[EACH * j + k] = poisson_draw(exp(0.5 + 0.3 * input[EACH * j + k][0] + effect));
        }
    }
}
static double density(const double *x)
{
    double sd = exp(x[2]), sum = normal(x[0], 0.0, 2.5) + normal(x[1], 0.0, 2.5) + half_normal_of_log(x[2], 1.0);
    for (int j = 0; j < GROUPS; j++) {
        sum += normal(x[3 + j], 0.0, sd);
        for (int k = 0; k < EACH; k++) {
            double eta = x[0] + x[1] * input[EACH * j + k][0] + x[3 + j];
            sum += output[EACH * j + k] * eta - exp(eta);
        }
    }
    return sum;
}
#elif defined FAMILY_ode
#if SIZE == 4
enum { SPECIES = 1, TIMES = 16 };
static const double truth[SIZE] = {0.0, 2.3, -0.7, -1.9};
static const double interval = 0.5;
#elif SIZE == 8
enum { SPECIES = 2, TIMES = 20 };
static const double truth[SIZE] = {-0.6, -3.6, -0.2, -3.7, 3.4, 1.8, -1.4, -1.4};
static const double interval = 1.0;
#else
#error "ode has 4 or 8 parameters"
#endif
static void rates(const double *p, const double *y, double *slope)
{
#if SIZE == 4
    slope[0] = p[0] * y[0] * (1.0 - y[0] / p[1]);
#else
    slope[0] = y[0] * (p[0] - p[1] * y[1]);
    slope[1] = y[1] * (p[3] * y[0] - p[2]);
#endif
}
/* The state after one interval, in 20 steps. */
static void integrate(const double *p, double *y)
{
    enum { STEPS = 20 };
    double h = interval / STEPS, k[4][SPECIES], z[SPECIES];
    for (int step = 0; step < STEPS; step++) {
        for (int stage = 0; stage < 4; stage++) {
            double part = stage == 0 ? 0.0 : stage == 3 ? h : 0.5 * h;
            for (int s = 0; s < SPECIES; s++) z[s] = y[s] + (stage > 0 ? part * k[stage - 1][s] : 0.0);
            rates(p, z, k[stage]);
        }
        for (int s = 0; s < SPECIES; s++) y[s] += h / 6.0 * (k[0][s] + 2.0 * k[1][s] + 2.0 * k[2][s] + k[3][s]);
    }
}
static void start(const double *x, double *p, double *y)
{
    for (int j = 0; j < SIZE; j++) p[j] = exp(x[j]);
    for (int s = 0; s < SPECIES; s++) y[s] = p[SIZE - 2 * SPECIES + s];
}
static void make(void)
{
    double p[SIZE], y[SPECIES];
    start(truth, p, y);
    for (int i = 0; i < TIMES; i++) {
        integrate(p, y);
        for (int s = 0; s < SPECIES; s++) output[i * SPECIES + s] = log(y[s]) + p[SIZE - SPECIES + s] * gaussian();
    }
}
static double density(const double *x)
{
    double p[SIZE], y[SPECIES], sum = 0.0;
    start(x, p, y);
    for (int j = 0; j < SIZE; j++) sum += normal(x[j], truth[j] + 0.3, 1.0);
    for (int i = 0; i < TIMES; i++) {
        integrate(p, y);
        for (int s = 0; s < SPECIES; s++) {
            if (!(y[s] > 0.0 && y[s] < 1e6)) return -INFINITY;
            sum += normal(output[i * SPECIES + s], log(y[s]), p[SIZE - SPECIES + s]);
        }
    }
    return sum;
}
#elif defined FAMILY_gp
enum { INPUTS = SIZE - 2, N = 40 };
static void make(void)
{
    observations = N;
    for (int i = 0; i < N; i++) {
        output[i] = 0.2 * gaussian();
        for (int j = 0; j < INPUTS; j++) {
            input[i][j] = 4.0 * uniform() - 2.0;
            output[i] += sin((j + 1.0) * input[i][j]) / (j + 1.0);
        }
    }
}
static double density(const double *x)
{
    static _Thread_local double k[N][N];
    double z[N], sum = 0.0, amplitude = exp(2.0 * x[SIZE - 2]), noise = exp(2.0 * x[SIZE - 1]) + 1e-8;
    for (int j = 0; j < INPUTS; j++) sum += normal(x[j], 0.0, 1.0);
    sum += normal(x[SIZE - 2], 0.0, 1.0) + normal(x[SIZE - 1], -1.0, 1.0);
    for (int i = 0; i < N; i++)
        for (int m = 0; m <= i; m++) {
            double square = 0.0;
            for (int j = 0; j < INPUTS; j++) {
                double d = (input[i][j] - input[m][j]) * exp(-x[j]);
                square += d * d;
            }
            k[i][m] = amplitude * exp(-0.5 * square) + (i == m ? noise : 0.0);
        }
    for (int i = 0; i < N; i++) {
        for (int m = 0; m <= i; m++) {
            double rest = k[i][m];
            for (int l = 0; l < m; l++) rest -= k[i][l] * k[m][l];
            if (i == m && !(rest > 0.0)) return -INFINITY;
            k[i][m] = i == m ? sqrt(rest) : rest / k[m][m];
        }
        z[i] = output[i];
        for (int m = 0; m < i; m++) z[i] -= k[i][m] * z[m];
        z[i] /= k[i][i];
        sum -= 0.5 * z[i] * z[i] + log(k[i][i]);
    }
    return sum;
}
#else
#error "which family?"
#endif

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)user;
    (void)worker;
    for (size_t i = 0; i < n; i++) out[i] = density(x + i * dim);
    return 0;
}

int gess_plugin_open(const char *data, gess_density *d, char *message, size_t size);
int gess_plugin_open(const char *data, gess_density *d, char *message, size_t size)
{
    (void)data;
    (void)message;
    (void)size;
    state = SEED;
    make();
    d->dim = SIZE;
    d->logp = logp;
    return 0;
}
