/* A model that returns further numbers beside its log density: log prior and log likelihood, apart. They are stored
 * with every draw, without another evaluation. The draws come to a function, and no files are written.
 *
 *   cc blobs.c $(pkg-config --cflags --libs gess) -lm -o blobs && ./blobs */
#include <gess/gess.h>

#include <math.h>
#include <stdio.h>

/* Counts of events, with an exponential prior of mean 2 on their rate. */
static const int counts[] = {3, 1, 4, 1, 5, 9, 2, 6};
enum { COUNTS = sizeof counts / sizeof *counts };

enum { LOG_PRIOR, LOG_LIKELIHOOD, BLOBS };

static int logp_blobs(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp, double *blobs)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        double rate = x[i * dim], log_likelihood = 0.0;
        for (size_t k = 0; k < COUNTS; k++) log_likelihood += counts[k] * log(rate) - rate - lgamma(counts[k] + 1.0);
        blobs[i * BLOBS + LOG_PRIOR] = -log(2.0) - rate / 2.0;
        blobs[i * BLOBS + LOG_LIKELIHOOD] = log_likelihood;
        logp[i] = blobs[i * BLOBS + LOG_PRIOR] + log_likelihood;
    }
    return 0;
}

enum { COLUMNS = 4 }; /* of a draw: log density, rate, and the two blobs */
static const char *const column_names[COLUMNS] = {"lp__", "rate", "log_prior", "log_likelihood"};

typedef struct sums {
    double draws, columns[COLUMNS];
    double largest_gap; /* between the log density and the sum of its parts */
} sums;

static int add_draws(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, size_t columns,
                     const double *rows)
{
    (void)first_chain, (void)first_draw;
    sums *s = user;
    for (size_t i = 0; i < chains * draws; i++) {
        const double *row = rows + i * columns;
        for (size_t k = 0; k < COLUMNS; k++) s->columns[k] += row[k];
        s->largest_gap = fmax(s->largest_gap, fabs(row[0] - row[2] - row[3]));
    }
    s->draws += (double)(chains * draws);
    return 0;
}

int main(void)
{
    const double lower[] = {0.0};
    gess_density density = {.size = sizeof density, .name = "counts", .dim = 1, .lower = lower};
    density.names = column_names + 1;
    density.blobs = BLOBS;
    density.blob_names = column_names + 2;
    density.logp_blobs = logp_blobs;

    gess_model *model = NULL;
    gess_options *options = NULL;
    gess_run *run = NULL;
    gess_error err = {0};
    sums s = {0};
    int status = gess_model_new(&model, &density, &err);
    if (status == GESS_OK) status = gess_options_new(&options, &err);
    if (status == GESS_OK) status = gess_options_set(options, "draws", "500", &err);
    if (status == GESS_OK) status = gess_run_new(&run, model, options, NULL, &err); /* NULL: no files */
    if (status == GESS_OK) status = gess_run_on_draw(run, add_draws, &s, &err);
    if (status == GESS_OK) status = gess_run_go(run, &err);
    gess_run_free(run);
    gess_options_free(options);
    gess_model_free(model);
    if (status != GESS_OK) {
        fprintf(stderr, "blobs: %s\n", err.text);
        return status;
    }
    for (size_t k = 0; k < COLUMNS; k++) printf("%s: mean %.3f\n", column_names[k], s.columns[k] / s.draws);
    printf("largest difference between lp__ and the sum of its parts: %.1e\n", s.largest_gap);
    return s.largest_gap < 1e-9 ? 0 : 1;
}
