/* Reads a run that `gess sample` made: the largest log density of each chain, the verdict, and the mean of every
 * parameter with its error.
 *
 *   cc read_run.c $(pkg-config --cflags --libs gess) -o read_run && ./read_run gess-runs/german-credit-1 */
#include <gess/draws.h>
#include <inttypes.h>
#include <stdio.h>

/* A message, and the status as the exit status of the program. */
static int fail(const gess_error *err)
{
    fprintf(stderr, "%s\n", err->text);
    return err->status;
}

/* Reads lp__, column 0, a piece of a chain at a time: the draws may be larger than memory. */
static int print_peaks(gess_draws *draws, gess_error *err)
{
    enum { PIECE = 1000 };
    double lp[PIECE];
    gess_draws_shape shape;
    int status = gess_draws_info(draws, &shape, sizeof shape, err);
    for (size_t chain = 0; chain < shape.chains && status == GESS_OK; chain++) {
        double peak = 0.0;
        for (uint64_t first = 0; first < shape.draws && status == GESS_OK; first += PIECE) {
            uint64_t count = shape.draws - first < PIECE ? shape.draws - first : PIECE;
            status = gess_draws_read(draws, chain, first, count, 0, 1, lp, err);
            for (uint64_t i = 0; i < count && status == GESS_OK; i++)
                if (first + i == 0 || lp[i] > peak) peak = lp[i];
        }
        if (status == GESS_OK) printf("chain %zu: %" PRIu64 " draws, lp__ up to %g\n", chain, shape.draws, peak);
    }
    return status;
}

static int print_means(const gess_summary *summary, gess_error *err)
{
    size_t rows = 0;
    int status = gess_summary_rows(summary, &rows, err);
    for (size_t i = 0; i < rows && status == GESS_OK; i++) {
        gess_figures figures;
        char *name = NULL;
        status = gess_summary_row(summary, i, &figures, sizeof figures, err);
        if (status == GESS_OK) status = gess_summary_name(summary, i, &name, err);
        if (status == GESS_OK) printf("%s: %g ± %g\n", name, figures.mean, figures.mcse_mean);
        gess_text_free(name);
    }
    return status;
}

int main(int argc, char **argv)
{
    gess_error err = {0};
    gess_draws *draws = NULL;
    gess_summary *summary = NULL;
    gess_verdict *verdict = NULL;
    gess_verdict_result result = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: read_run DIR\n");
        return GESS_ERR_USAGE;
    }
    int status = gess_draws_open(&draws, argv[1], &err);
    if (status == GESS_OK) status = print_peaks(draws, &err);
    if (status == GESS_OK) status = gess_summary_new(&summary, argv[1], NULL, 0, &err);
    if (status == GESS_OK) status = gess_verdict_new(&verdict, argv[1], summary, &err);
    if (status == GESS_OK) status = gess_verdict_info(verdict, &result, sizeof result, &err);
    if (status == GESS_OK) printf("%s, %zu findings\n", result.pass ? "PASS" : "FAIL", result.findings);
    if (status == GESS_OK) status = print_means(summary, &err);
    gess_verdict_free(verdict);
    gess_summary_free(summary);
    gess_draws_close(draws);
    return status == GESS_OK ? 0 : fail(&err);
}
