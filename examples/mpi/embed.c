/* gess inside an MPI program: every rank lends its threads to one run, whose draws rank 0 gets.
 *
 *   mpicc -O2 embed.c $(pkg-config --cflags --libs gess) -lgess_mpi -lm -o embed && mpirun -n 4 ./embed */
#include <gess/gess_mpi.h>
#include <math.h>
#include <stdio.h>

enum { DIM = 3 };

/* Independent normals with standard deviations 1, 2 and 3 around 0, 1 and 2. */
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *points, double *values)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        values[i] = 0.0;
        for (size_t k = 0; k < dim; k++) {
            double z = (points[i * dim + k] - (double)k) / (double)(k + 1);
            values[i] -= 0.5 * z * z;
        }
    }
    return 0;
}

/* The sum of all draws; rank 0 alone gets any. */
typedef struct sums {
    double count, first[DIM];
} sums;

static int take_draws(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                      size_t columns, const double *rows)
{
    (void)first_chain, (void)first_draw;
    sums *s = user;
    for (size_t row = 0; row < chains * draws; row++)
        for (size_t k = 0; k < DIM; k++) s->first[k] += rows[row * columns + 1 + k];
    s->count += (double)(chains * draws);
    return 0;
}

static int set_options(gess_options *options, gess_comm *comm, gess_error *err)
{
    int status = gess_options_set(options, "threads", "1", err); /* of each rank */
    if (status == GESS_OK) status = gess_options_set(options, "draws", "500", err);
    if (status == GESS_OK) status = gess_options_set_comm(options, comm, err);
    return status;
}

static int sample(gess_comm *comm, sums *s, gess_stats *stats, gess_error *err)
{
    gess_density density = {.size = sizeof density, .name = "normals", .dim = DIM, .logp = logp};
    gess_model *model = NULL;
    gess_options *options = NULL;
    gess_run *run = NULL;
    int status = gess_model_new(&model, &density, err);
    if (status == GESS_OK) status = gess_options_new(&options, err);
    if (status == GESS_OK) status = set_options(options, comm, err);
    if (status == GESS_OK) status = gess_run_new(&run, model, options, NULL, err);
    if (status == GESS_OK) status = gess_run_on_draw(run, take_draws, s, err);
    if (status == GESS_OK) status = gess_run_go(run, err); /* returns on all ranks, with one status */
    if (status == GESS_OK) status = gess_run_stats(run, stats, sizeof *stats, err); /* and the same statistics */
    gess_run_free(run);
    gess_options_free(options);
    gess_model_free(model);
    return status;
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    gess_comm *comm = NULL;
    gess_error err = {0};
    gess_stats stats = {0};
    sums s = {0};
    int status = gess_mpi_comm(&comm, MPI_COMM_WORLD, &err);
    if (status == GESS_OK) status = sample(comm, &s, &stats, &err);
    if (status != GESS_OK && rank == 0) fprintf(stderr, "embed: %s\n", err.text);
    if (status == GESS_OK && rank == 0) {
        printf("evaluations %llu, means", (unsigned long long)stats.evals);
        for (size_t k = 0; k < DIM; k++) printf(" %.6f", s.first[k] / s.count);
        printf("\n");
    }
    gess_mpi_free(comm);
    MPI_Finalize();
    return status;
}
