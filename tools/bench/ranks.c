/* Several ranks, simulated: threads of this process that exchange messages with a delay (parallel/comm_loopback.c), and
 * a density that sleeps, so that many ranks need few cores. It reports the share of the ideal speed of sampling after
 * warm-up, and the prediction of docs/scaling.md: a helper rank has two tasks of τ seconds, so a round trip of 2 L
 * costs time only if it is longer than one of them; then the share is 2 τ / (τ + 2 L). */
#include "base/mem.h"
#include "bench/bench.h"
#include "cluster/coordinator.h"
#include "execute/scheduler.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = 10, CHAINS_PER_RANK = 4, MAX_RANKS = 128 };
#define NAP 0.002 /* seconds per evaluation */

static int sleep_logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user;
    (void)worker;
    double all = NAP * (double)n;
    struct timespec wait = {(time_t)all, (long)(1e9 * (all - floor(all)))};
    nanosleep(&wait, NULL);
    for (size_t i = 0; i < n; i++) {
        values[i] = 0.0;
        for (size_t k = 0; k < dim; k++) values[i] -= 0.5 * x[i * dim + k] * x[i * dim + k];
    }
    return 0;
}

typedef struct rank_run {
    gess_comm *comm;
    size_t ranks;
    uint64_t draws;
    int status;
    gess_error error;
    gess_stats stats;
} rank_run;

static void *run_rank(void *argument)
{
    rank_run *r = argument;
    gess_model model = {.name = "sleeping", .dim = DIM, .logp = sleep_logp};
    gess_options o;
    gess_run *run = NULL;
    gess__options_init(&o);
    o.schedule = "fixed";
    o.warmup = 0;
    o.chains = CHAINS_PER_RANK * r->ranks;
    o.draws = r->draws;
    o.threads = 1;
    o.speculate = "off";
    o.comm = r->comm;
    r->status = gess_run_new(&run, &model, &o, NULL, &r->error);
    if (r->status == GESS_OK) r->status = gess_run_go(run, &r->error);
    if (r->status == GESS_OK) gess_run_stats(run, &r->stats, sizeof r->stats, NULL);
    gess_run_free(run);
    return NULL;
}

/* Seconds of sampling with `ranks` ranks, and bytes per update to and from a helper rank. */
static int time_ranks(size_t ranks, double latency, uint64_t draws, double *seconds, double *to, double *from,
                      gess_error *err)
{
    gess__loopback *net = NULL;
    pthread_t thread[MAX_RANKS];
    rank_run *runs = NULL;
    size_t started = 0;
    int status = gess__loopback_new(&net, (int)ranks, latency, 0.0, err);
    if (status == GESS_OK) status = gess__alloc_bytes(&runs, ranks, sizeof *runs, "ranks", err);
    for (; status == GESS_OK && started < ranks; started++) {
        runs[started] = (rank_run){gess__loopback_rank(net, (int)started), ranks, draws, 0, {0}, {0}};
        if (pthread_create(&thread[started], NULL, run_rank, &runs[started]) != 0)
            status = gess__fail(err, GESS_ERR_INTERNAL, "bench ranks: cannot start a thread");
    }
    for (size_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
    if (status == GESS_OK && runs[0].status != GESS_OK) {
        *err = runs[0].error;
        status = runs[0].status;
    }
    if (status == GESS_OK) {
        double updates = (double)runs[0].stats.updates * (double)(ranks - 1) / (double)ranks;
        *seconds = runs[0].stats.seconds_sampling;
        *to = (double)gess__loopback_rank(net, 0)->traffic.bytes_out / updates;
        *from = (double)gess__loopback_rank(net, 0)->traffic.bytes_in / updates;
    }
    free(runs);
    gess__loopback_free(net);
    return status;
}

static int table(const gess__bench_options *o, json_t **json, gess_error *err)
{
    static const size_t sizes[] = {2, 8, 32, 128};
    static const double latencies[] = {0.0, 0.001, 0.004, 0.01};
    uint64_t draws = o->quick ? 20 : 200;
    size_t rows_and_columns = o->quick ? 2 : 4;
    const double turn = NAP * CHAINS_PER_RANK / 2; /* two blocks per rank, one evaluation per update */
    int status = GESS_OK;
    json_t *rows = json_array();
    gess__bench_say(o,
                    "Simulated ranks, evaluations of %g ms, %llu draws of %d chains per rank\n"
                    "  %6s %9s %9s %9s %9s %9s %9s\n",
                    1e3 * NAP, (unsigned long long)draws, CHAINS_PER_RANK, "ranks", "latency", "seconds", "of ideal",
                    "model", "bytes to", "from");
    for (size_t i = 0; i < rows_and_columns && status == GESS_OK; i++)
        for (size_t k = 0; k < rows_and_columns && status == GESS_OK; k++) {
            double n = (double)sizes[i], latency = latencies[k], seconds = 0.0, to = 0.0, from = 0.0;
            status = time_ranks(sizes[i], latency, draws, &seconds, &to, &from, err);
            if (status != GESS_OK) break;
            double ideal = NAP * CHAINS_PER_RANK * (double)draws / seconds;
            double task =
                turn * floor(fmax(GESS__REMOTE_TASK_SECONDS, GESS__REMOTE_TASK_SECONDS_PER_WORKER * n) / turn);
            double model = (1.0 + (n - 1.0) * fmin(1.0, 2.0 * task / (task + 2.0 * latency))) / n;
            gess__bench_say(o, "  %6zu %6g ms %9.3f %9.3f %9.3f %9.0f %9.0f\n", sizes[i], 1e3 * latency, seconds, ideal,
                            model, to, from);
            json_array_append_new(rows, json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "ranks", (json_int_t)sizes[i],
                                                  "latency", latency, "seconds", seconds, "of_ideal", ideal, "model",
                                                  model, "bytes_to", to, "bytes_from", from));
        }
    *json = rows;
    return status;
}

const gess__bench gess__bench_ranks = {
    .name = "ranks",
    .help = "several ranks, simulated, with delays (by name only)",
    .table = table,
};
