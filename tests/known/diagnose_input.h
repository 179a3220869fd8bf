/* Inputs of the tests of diagnostics, made by a formula that make_diagnose.R computes too, to the
 * last bit: an integer generator whose products stay below 2^53, and plain double arithmetic. */
#ifndef GESS_TESTS_DIAGNOSE_INPUT_H
#define GESS_TESTS_DIAGNOSE_INPUT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct input_case {
    char kind[24];
    size_t chains, n;
    double strength; /* of the autoregression */
    uint64_t seed;
} input_case;

static double input_uniform(uint64_t *state)
{
    *state = *state * 16807 % 2147483647;
    return (double)*state / 2147483647.0;
}

/* chains × n, one chain after the other. */
static void input_fill(const input_case *in, double *x)
{
    uint64_t state = in->seed;
    size_t total = in->chains * in->n;
    const char *kind = in->kind;
    double phi = in->strength;
    for (size_t c = 0; c < in->chains; c++) {
        double value = 0.0;
        for (size_t i = 0; i < in->n; i++) {
            double noise = input_uniform(&state);
            noise = noise + input_uniform(&state);
            noise = noise + input_uniform(&state);
            noise = noise + input_uniform(&state) - 2.0;
            value = phi * value + noise;
            double out = value, draw = (double)(i + 1), chain = (double)(c + 1);
            if (strcmp(kind, "ties") == 0) out = floor(value * 2.0);
            if (strcmp(kind, "binary") == 0) out = value > 0.3 ? 1.0 : 0.0;
            if (strcmp(kind, "constant") == 0) out = 3.25;
            if (strcmp(kind, "levels") == 0) out = chain * chain;
            if (strcmp(kind, "line") == 0) out = 0.5 * draw + chain;
            if (strcmp(kind, "trend") == 0) out = value + 0.01 * draw;
            if (strcmp(kind, "offset") == 0) out = value + 0.5 * chain;
            if (strcmp(kind, "scaled") == 0) out = value * chain;
            if (strcmp(kind, "heavy") == 0) out = value / (0.01 + noise * noise);
            if (strcmp(kind, "far") == 0) out = value + 1e9;
            if (strcmp(kind, "large") == 0) out = value * 1e60;
            if (strcmp(kind, "small") == 0) out = value * 1e-9;
            if (strcmp(kind, "tiny") == 0) out = value * 1e-20;
            if (strcmp(kind, "stuck") == 0 && c == 0) out = 0.125;
            x[c * in->n + i] = out;
        }
    }
    if (strcmp(kind, "nan") == 0) x[total / 3] = NAN;
    if (strcmp(kind, "inf") == 0) x[total / 3] = INFINITY;
    if (strcmp(kind, "minus") == 0) x[0] = -INFINITY;
    if (strcmp(kind, "infs") == 0)
        for (size_t i = 0; i < total; i++)
            if (x[i] > -0.5) x[i] = INFINITY;
}

/* Compares with R's answer; NA means NaN. Remembers the worst relative deviation. Returns whether
 * it is within 1e-8. */
static int answer_agrees(const char *answer, double got, double *worst)
{
    if (strcmp(answer, "NA") == 0 || strcmp(answer, "NaN") == 0) return isnan(got);
    double want = strtod(answer, NULL);
    if (isinf(want) || want == 0.0) return got == want;
    double off = fabs(got / want - 1.0);
    if (off > *worst) *worst = off;
    return off <= 1e-8;
}

/* Splits a line at commas, in place. Returns the number of fields. */
static size_t split_line(char *line, char **fields, size_t max)
{
    size_t count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at != NULL && count < max; count++) {
        fields[count] = at;
        at = strchr(at, ',');
        if (at != NULL) *at++ = '\0';
    }
    return count;
}

static void read_case(char **fields, input_case *in)
{
    memset(in->kind, 0, sizeof in->kind);
    memcpy(in->kind, fields[0], strnlen(fields[0], sizeof in->kind - 1));
    in->chains = strtoul(fields[1], NULL, 10);
    in->n = strtoul(fields[2], NULL, 10);
    in->strength = strtod(fields[3], NULL);
    in->seed = strtoull(fields[4], NULL, 10);
}

#endif
