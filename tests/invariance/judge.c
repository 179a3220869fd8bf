#include "invariance/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Chance of a Kolmogorov statistic above t, asymptotically. */
static double kolmogorov_tail(double t)
{
    double sum = 0.0;
    if (t < 0.2) return 1.0;
    for (int k = 1; k <= 100; k++) sum += (k % 2 == 1 ? 2.0 : -2.0) * exp(-2.0 * k * k * t * t);
    return sum < 0.0 ? 0.0 : sum > 1.0 ? 1.0 : sum;
}

double judge_ks(size_t n, double *x, size_t m, double *y)
{
    double largest = 0.0;
    qsort(x, n, sizeof *x, by_size);
    qsort(y, m, sizeof *y, by_size);
    for (size_t i = 0, j = 0; i < n && j < m;) {
        double at = x[i] < y[j] ? x[i] : y[j];
        while (i < n && x[i] <= at) i++;
        while (j < m && y[j] <= at) j++;
        largest = fmax(largest, fabs((double)i / (double)n - (double)j / (double)m));
    }
    return kolmogorov_tail(largest * sqrt((double)n * (double)m / (double)(n + m)));
}

static void moments(size_t n, const double *x, double *mean, double *error2)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    *mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) squares += (x[i] - *mean) * (x[i] - *mean);
    *error2 = squares / (double)(n - 1) / (double)n;
}

double judge_means(size_t n, const double *x, size_t m, const double *y)
{
    double a, b, va, vb;
    moments(n, x, &a, &va);
    moments(m, y, &b, &vb);
    return erfc(fabs(a - b) / sqrt(va + vb) / sqrt(2.0));
}

/* Upper regularised incomplete gamma function: series below s + 1, continued fraction above. */
double judge_chi2(double value, double freedom)
{
    double s = 0.5 * freedom, x = 0.5 * value, front = exp(s * log(x) - x - lgamma(s));
    if (x <= 0.0) return 1.0;
    if (x < s + 1.0) {
        double term = 1.0 / s, sum = term;
        for (int k = 1; k < 10000 && term > 1e-17 * sum; k++) sum += term *= x / (s + k);
        return 1.0 - front * sum;
    }
    double b = x + 1.0 - s, c = 1e300, d = 1.0 / b, h = d;
    for (int k = 1; k < 10000; k++) {
        double a = -k * (k - s);
        b += 2.0;
        d = 1.0 / (a * d + b);
        c = b + a / c;
        h *= c * d;
        if (fabs(c * d - 1.0) < 1e-15) break;
    }
    return front * h;
}

int judge_sequentially(const char *title, judge_family *family, void *data, size_t replicates, double false_alarms)
{
    enum { STAGES = 5, MAX_TESTS = 4096 };
    static double p[MAX_TESTS];
    static const char *names[MAX_TESTS];
    double beta = false_alarms / STAGES, gamma = pow(beta, 1.0 / STAGES);
    for (unsigned stage = 0; stage < STAGES; stage++) {
        size_t count = family(replicates, stage, data, MAX_TESTS, p, names), worst = 0;
        for (size_t i = 1; i < count; i++)
            if (!(p[i] >= p[worst])) worst = i;
        double smallest = p[worst] * (double)count;
        printf("%s: %zu replicates, %zu tests, smallest p %.3g (%s), after Bonferroni %.3g\n", title, replicates, count,
               p[worst], names[worst], smallest < 1.0 ? smallest : 1.0);
        fflush(stdout);
        if (!(smallest > beta)) {
            printf("%s: NOT INVARIANT\n", title);
            if (getenv("GESS_FIRST_FAILURE") != NULL) exit(1);
            return 0;
        }
        if (smallest > gamma + beta) return 1;
        beta /= gamma;
        if (stage == 0) replicates *= 4;
    }
    return 1;
}

void judge_must(int status, const gess_error *err)
{
    if (status == GESS_OK) return;
    printf("%s\n", err->text);
    exit(2);
}
