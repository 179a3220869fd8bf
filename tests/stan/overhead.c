/* The cost of evaluating a Stan model through gess over calling bs_log_density() in a loop.
 *   overhead MODEL.so DATA.json
 * Prints the ratio of the smallest times of many interleaved trials. */
#include <gess/gess.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POINTS = 64, TRIALS = 60, MAX_DIM = 1000 };

typedef void *construct_fn(const char *data, unsigned seed, char **error);
typedef int density_fn(const void *model, bool propto, bool jacobian, const double *x, double *logp, char **error);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    static double x[POINTS * MAX_DIM], values[POINTS], again[POINTS];
    gess_model *model = NULL;
    gess_error err = {0};
    gess_model_info info;
    if (argc != 3) return 1;
    if (gess_model_open(&model, argv[1], argv[2], &err) != GESS_OK ||
        gess_model_describe(model, &info, sizeof info, &err) != GESS_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), *address;
    construct_fn *construct;
    density_fn *density;
    if (library == NULL || info.dim > MAX_DIM) return 1;
    address = dlsym(library, "bs_model_construct");
    memcpy(&construct, &address, sizeof construct);
    address = dlsym(library, "bs_log_density");
    memcpy(&density, &address, sizeof density);
    void *bare = construct(argv[2], 1, NULL);
    srand(1);
    for (size_t i = 0; i < POINTS * info.dim; i++) x[i] = (double)rand() / RAND_MAX - 0.5;

    int rounds = 1;
    double route = 1e9, loop = 1e9;
    for (int t = 0; t < TRIALS; t++) {
        double a = now();
        for (int r = 0; r < rounds; r++)
            if (gess_model_evaluate(model, POINTS, x, values, NULL, &err) != GESS_OK) return 1;
        double b = now();
        for (int r = 0; r < rounds; r++)
            for (size_t i = 0; i < POINTS; i++)
                if (density(bare, false, true, x + i * info.dim, &again[i], NULL) != 0) return 1;
        double c = now();
        if (t == 0) { /* a trial takes about 10 ms */
            rounds = (int)(0.01 / (b - a)) + 1;
            continue;
        }
        if (b - a < route) route = b - a;
        if (c - b < loop) loop = c - b;
    }
    if (memcmp(values, again, sizeof values) != 0) {
        fprintf(stderr, "the values differ\n");
        return 1;
    }
    printf("%.4f of the loop's %.3f us per point\n", route / loop, 1e6 * loop / rounds / POINTS);
    gess_model_free(model);
    return 0;
}
