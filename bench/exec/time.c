/* What a program (exec:) costs per point, beyond its density: batches of 64 points in 10 dimensions of a Gaussian.
 *   time SPECIFICATION
 * Prints the median time per point, and the smallest, over many batches. */
#include <gess/gess.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DIM = 10, POINTS = 64, BATCHES = 4000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double x[POINTS * DIM], values[POINTS], took[BATCHES];
    gess_model *model = NULL;
    gess_error err = {0};
    if (argc != 2 || gess_model_open(&model, argv[1], NULL, &err) != GESS_OK) {
        fprintf(stderr, "%s\n", argc == 2 ? err.text : "which model?");
        return 1;
    }
    srand(1);
    for (int i = 0; i < POINTS * DIM; i++) x[i] = (double)rand() / RAND_MAX - 0.5;
    for (int i = 0; i < BATCHES; i++) {
        double before = now();
        if (gess_model_evaluate(model, POINTS, x, values, NULL, &err) != GESS_OK) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        took[i] = now() - before;
    }
    for (int i = 0; i < POINTS; i++) {
        double sum = 0.0;
        for (int j = 0; j < DIM; j++) sum += x[i * DIM + j] * x[i * DIM + j];
        if (fabs(values[i] + 0.5 * sum) > 1e-12) {
            fprintf(stderr, "wrong value\n");
            return 1;
        }
    }
    qsort(took, BATCHES, sizeof *took, compare);
    printf("%.2f us per point (median), %.2f (smallest)\n", 1e6 * took[BATCHES / 2] / POINTS, 1e6 * took[0] / POINTS);
    gess_model_free(model);
    return 0;
}
