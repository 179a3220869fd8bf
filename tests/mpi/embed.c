/* Several runs in sequence on one communicator: one that cannot begin on any rank, one that cannot begin on rank 1
 * only, and one whose density fails in the middle, on any rank. Every time all ranks return with the same status. */
#include <gess/gess_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bad_after, rank;

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    static int calls;
    (void)user, (void)worker;
    if (bad_after > 0 && rank == 1 && __sync_add_and_fetch(&calls, 1) > bad_after) return 3;
    for (size_t i = 0; i < n; i++) {
        values[i] = 0.0;
        for (int repeat = 0; repeat < 200; repeat++)
            for (size_t k = 0; k < dim; k++) values[i] -= 0.0025 * x[i * dim + k] * x[i * dim + k];
    }
    return 0;
}

/* Text for the options of a run. */
typedef struct settings {
    const char *chains, *draws, *thin;
} settings;

static const settings usual = {"40", "300", "1"}, one_chain = {"1", "300", "1"}, too_long = {"40", "1e12", "1e9"};

static int set_options(gess_options *options, const settings *s, gess_comm *comm, gess_error *err)
{
    const char *const pairs[][2] = {{"threads", "1"},
                                    {"chains", s->chains},
                                    {"max-warmup-evals", "20000"},
                                    {"draws", s->draws},
                                    {"thin", s->thin}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int status = gess_options_set(options, pairs[i][0], pairs[i][1], err);
        if (status != GESS_OK) return status;
    }
    return gess_options_set_comm(options, comm, err);
}

static int run_once(gess_comm *comm, const settings *s, gess_stats *stats, gess_error *err)
{
    gess_density density = {.size = sizeof density, .dim = 5, .logp = logp};
    gess_model *model = NULL;
    gess_options *options = NULL;
    gess_run *run = NULL;
    int status = gess_model_new(&model, &density, err);
    if (status == GESS_OK) status = gess_options_new(&options, err);
    if (status == GESS_OK) status = set_options(options, s, comm, err);
    if (status == GESS_OK) status = gess_run_new(&run, model, options, NULL, err);
    if (status == GESS_OK) status = gess_run_go(run, err);
    if (status == GESS_OK) status = gess_run_stats(run, stats, sizeof *stats, err);
    gess_run_free(run);
    gess_options_free(options);
    gess_model_free(model);
    return status;
}

static void expect(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 99);
}

/* Every rank must have the same. */
static void expect_equal(unsigned long long value, const char *what)
{
    unsigned long long first = value;
    MPI_Bcast(&first, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    expect(first == value, what);
}

int main(int argc, char **argv)
{
    int provided;
    gess_comm *comm;
    gess_error err = {0};
    gess_stats stats = {0};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect(gess_mpi_comm(&comm, MPI_COMM_WORLD, &err) == GESS_OK, err.text);
    for (int i = 0; i < 3; i++) {
        expect(run_once(comm, &usual, &stats, &err) == GESS_OK, err.text);
        expect_equal(stats.evals, "other evaluations than rank 0");
        expect_equal(stats.draws, "other draws than rank 0");
        /* cannot begin: no schedule has one chain, and nobody has the time for 10^21 iterations */
        expect(run_once(comm, &one_chain, &stats, &err) == GESS_ERR_USAGE, "one chain did not fail");
        expect(run_once(comm, &too_long, &stats, &err) == GESS_ERR_USAGE, "too many draws did not fail");
        expect(run_once(comm, rank == 1 ? &too_long : &usual, &stats, &err) != GESS_OK,
               "too many draws on rank 1 did not fail");
    }
    bad_after = 50;
    int status = run_once(comm, &usual, &stats, &err);
    expect(status == GESS_ERR_MODEL, "the density's error did not end the run");
    expect(strstr(err.text, "error 3") != NULL, err.text);
    gess_mpi_free(comm);
    MPI_Finalize();
    if (rank == 0) printf("all ranks agree: %s\n", err.text);
    return 0;
}
