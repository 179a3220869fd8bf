/* Evaluates batches of points on rank 0: its threads take them in order, and so does the thread that carries messages,
 * for helper ranks. Who has no batch to take waits until those that are elsewhere are done. */
#include "cluster/batches.h"

#include "base/assert.h"
#include "base/mem.h"
#include "cluster/coordinator_state.h"
#include "parallel/condition.h"

#include <stdlib.h>
#include <string.h>

typedef struct gess__batch_round {
    const gess__batches *of;
    uint64_t number;    /* of the round, which old values are told by */
    size_t count, next; /* batches; the first that nobody has taken */
    size_t left;        /* that were taken and are not done */
    size_t failed;      /* the first that failed; SIZE_MAX: none */
    int status;
    gess_error error;
    gess__coordinator *ranks; /* NULL: none */
} gess__batch_round;

size_t gess__batches_scratch(const gess__ensemble *e, size_t batch)
{
    return gess__team_size(e->team) * gess__target_scratch(&e->target, batch);
}

static size_t size_of(const gess__batches *b, size_t item)
{
    size_t rest = b->n - item * b->batch;
    return rest < b->batch ? rest : b->batch;
}

static int evaluate(const gess__batches *b, unsigned worker, size_t item, gess_error *err)
{
    const gess__target *t = &b->ensemble->target;
    double *scratch = b->scratch + worker * gess__target_scratch(t, b->batch);
    size_t first = item * b->batch;
    if (b->stop != NULL && atomic_load(b->stop)) return gess__fail(err, GESS_ERR_STOPPED, "stopped");
    return gess__target_evaluate(t, worker, size_of(b, item), b->points + first * t->dim, b->values + first, NULL, NULL,
                                 scratch, err);
}

/* ---- without helper ranks ---- */

static int work_alone(void *data, unsigned worker, size_t item, gess_error *err)
{
    return evaluate(data, worker, item, err);
}

/* ---- with helper ranks; all of the following hold the coordinator's lock ---- */

/* The next batch that nobody has taken; SIZE_MAX: none. Batches behind a failed one are not wanted. */
static size_t take(gess__batch_round *r)
{
    if (r->next == r->count || r->status != GESS_OK) return SIZE_MAX;
    r->left++;
    return r->next++;
}

static void finish(gess__batch_round *r, size_t item, int status, const gess_error *error)
{
    r->left--;
    if (status == GESS_OK || item >= r->failed) return;
    r->failed = item;
    r->status = status;
    r->error = *error;
}

static void send_batch(gess__coordinator *c, int i, size_t item)
{
    gess__batch_round *r = c->batches;
    const gess__batches *b = r->of;
    size_t dim = b->ensemble->target.dim;
    gess__batch_order order = {.round = r->number,
                               .number = item,
                               .ensemble = b->ensemble->number,
                               .n = size_of(b, item)};
    gess__archive *a = &c->out;
    a->size = 0;
    GESS_ARCHIVE(a, &order);
    gess__archive_bytes(a, (void *)(uintptr_t)(b->points + item * b->batch * dim), order.n * dim * sizeof *b->points);
    if (a->bad) {
        gess_error error;
        gess__coordinator_fail(c, gess__fail(&error, GESS_ERR_INTERNAL, "out of memory for points"), &error);
        return;
    }
    gess__dispatch_frozen(c, i, b->ensemble->number);
    gess__coordinator_send(c, i, GESS__WIRE_BATCH, a->bytes, a->size);
    c->peers[i].batches++;
}

int gess__dispatch_batches(gess__coordinator *c)
{
    int sent = 0, more = 1;
    while (more && c->status == GESS_OK) {
        more = 0;
        for (int i = 0; i < gess__peer_count(c); i++) {
            const gess__peer *p = &c->peers[i];
            if (!p->present || p->batches >= p->room) continue;
            size_t item = take(c->batches);
            if (item == SIZE_MAX) return sent;
            send_batch(c, i, item);
            sent = more = 1;
        }
    }
    c->backoff.urgent = 1;
    return sent;
}

int gess__receive_batch(gess__coordinator *c, int i, gess__archive *a, gess_error *err)
{
    gess__peer *p = &c->peers[i];
    gess__batch_round *r = c->batches;
    gess__batch_order order;
    int status = GESS_OK;
    double seconds = 0.0;
    gess_error error = {0};
    GESS_ARCHIVE(a, &order);
    GESS_ARCHIVE(a, &seconds);
    gess__wire_error(a, &status, &error);
    if (a->bad) return gess__fail(err, GESS_ERR_INTERNAL, "an incomplete batch came from %s", p->host);
    p->busy += seconds;
    p->sec_per_iteration = gess__smooth(p->sec_per_iteration, 0.3, seconds); /* it may take that long to end */
    if (r == NULL || r->number != order.round) return GESS_OK;               /* of a call that was stopped */
    p->batches--;
    p->evaluated += order.n;
    if (order.number >= r->count || order.n != size_of(r->of, order.number))
        return gess__fail(err, GESS_ERR_INTERNAL, "an impossible batch came from %s", p->host);
    if (status == GESS_OK)
        gess__archive_bytes(a, r->of->values + order.number * r->of->batch, order.n * sizeof *r->of->values);
    else
        gess__blame(&error, status, "rank %d on %s", i + 1, p->host);
    if (a->bad) return gess__fail(err, GESS_ERR_INTERNAL, "an incomplete batch came from %s", p->host);
    finish(r, order.number, status, &error);
    pthread_cond_broadcast(&c->news);
    return GESS_OK;
}

/* ---- the team, which takes the lock itself ---- */

static int work_beside_ranks(void *data, unsigned worker, size_t unused, gess_error *err)
{
    gess__batch_round *r = data;
    gess__coordinator *c = r->ranks;
    (void)unused;
    (void)err;
    pthread_mutex_lock(&c->lock);
    for (size_t item; c->status == GESS_OK && (item = take(r)) != SIZE_MAX;) {
        gess_error error = {0};
        pthread_mutex_unlock(&c->lock);
        int status = evaluate(r->of, worker, item, &error);
        pthread_mutex_lock(&c->lock);
        finish(r, item, status, &error);
    }
    pthread_mutex_unlock(&c->lock);
    return GESS_OK;
}

/* Waits for the helper ranks' batches; not after a stop. */
static void await_batches(gess__batch_round *r)
{
    gess__coordinator *c = r->ranks;
    const gess__batches *b = r->of;
    while (r->left > 0 && c->status == GESS_OK && r->status != GESS_ERR_STOPPED) {
        if (b->stop != NULL && atomic_load(b->stop))
            r->status = gess__fail(&r->error, GESS_ERR_STOPPED, "stopped");
        else
            gess__condition_wait(&c->news, &c->lock, 0.2);
    }
}

static int run_with_ranks(gess__batch_round *r, gess_error *err)
{
    gess__coordinator *c = r->ranks;
    gess__team *team = r->of->ensemble->team;
    pthread_mutex_lock(&c->lock);
    int status = c->status;
    if (status != GESS_OK) *err = c->error;
    if (status == GESS_OK) status = gess__coordinator_pack(c, r->of->ensemble, err);
    if (status == GESS_OK) {
        r->number = ++c->rounds;
        c->batches = r;
        for (int i = 0; i < gess__peer_count(c); i++) c->peers[i].batches = 0;
        pthread_cond_signal(&c->wake);
    }
    pthread_mutex_unlock(&c->lock);
    if (status != GESS_OK) return status;
    gess__team_run(team, gess__team_size(team), work_beside_ranks, r, NULL);
    pthread_mutex_lock(&c->lock);
    await_batches(r);
    c->batches = NULL;
    status = c->status != GESS_OK ? c->status : r->status;
    if (status != GESS_OK) *err = c->status != GESS_OK ? c->error : r->error;
    pthread_mutex_unlock(&c->lock);
    return status;
}

int gess__batches_run(gess__coordinator *c, gess__batches *b, gess_error *err)
{
    GESS_ASSERT(b->batch > 0 && err != NULL);
    size_t count = (b->n + b->batch - 1) / b->batch;
    if (c == NULL) return gess__team_run(b->ensemble->team, count, work_alone, b, err);
    gess__batch_round r = {.of = b, .count = count, .failed = SIZE_MAX, .ranks = c};
    return run_with_ranks(&r, err);
}
