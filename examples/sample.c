/* Samples a density of its own through libgess and prints means and standard deviations.
 *
 *   cc sample.c $(pkg-config --cflags --libs gess) -lm -o sample && ./sample */
#include <gess/gess.h>

#include <math.h>
#include <stdio.h>

enum { DIM = 2 };

/* A banana: x ~ N(0, 1), y given x ~ N(x², 0.5²). So y has mean 1 and sd 1.5. */
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *points, double *values)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        double x = points[i * dim], y = points[i * dim + 1], r = (y - x * x) / 0.5;
        values[i] = -0.5 * (x * x + r * r);
    }
    return 0;
}

/* Sums over all draws; `rows` has a row of log density, x, y for each draw of each chain. */
typedef struct sums {
    double count, first[DIM], second[DIM];
} sums;

static int take_draws(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                      size_t columns, const double *rows)
{
    (void)first_chain, (void)first_draw;
    sums *s = user;
    for (size_t row = 0; row < chains * draws; row++)
        for (size_t i = 0; i < DIM; i++) {
            double value = rows[row * columns + 1 + i];
            s->first[i] += value;
            s->second[i] += value * value;
        }
    s->count += (double)(chains * draws);
    return 0;
}

int main(void)
{
    static const char *const names[DIM] = {"x", "y"};
    gess_model model = GESS_MODEL_INIT;
    model.name = "banana";
    model.dim = DIM;
    model.names = names;
    model.logp = logp;

    gess_options options;
    gess_options_init(&options);
    options.seed = 1;

    sums s = {0};
    gess_error err;
    gess_run *run = NULL;
    int status = gess_run_new(&run, &model, &options, NULL, &err); /* NULL: no files */
    if (status == GESS_OK) gess_run_on_draw(run, take_draws, &s, NULL);
    if (status == GESS_OK) status = gess_run_go(run, &err);
    gess_run_free(run);
    if (status != GESS_OK) {
        fprintf(stderr, "sample: %s\n", err.text);
        return status;
    }
    for (size_t i = 0; i < DIM; i++) {
        double mean = s.first[i] / s.count;
        printf("%s: mean %.3f, sd %.3f\n", names[i], mean, sqrt(s.second[i] / s.count - mean * mean));
    }
    return 0;
}
