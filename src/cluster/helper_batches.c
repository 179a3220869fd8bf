/* Evaluates batches of points on a helper rank, for batches.c on rank 0: unpacks them into places of their own, a few
 * more than there are threads, and sends the values back. All functions hold the lock, but for the evaluation itself.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/helper_state.h"

#include <stdlib.h>

int gess__helper_take_batch(gess__helper_rank *r, gess__archive *a, gess_error *err)
{
    gess__batch *b = NULL;
    gess__batch_order order;
    if (r->batch == NULL) {
        size_t count = gess__team_size(r->team) + 1 + gess__team_size(r->team) / 8;
        GESS_ALLOC(&r->batch, count, err);
        r->batches = count;
    }
    for (size_t i = 0; i < r->batches && b == NULL; i++)
        if (r->batch[i].state == GESS__SLOT_FREE) b = &r->batch[i];
    GESS_ARCHIVE(a, &order);
    if (a->bad || b == NULL || order.ensemble >= r->ensembles || r->ensemble[order.ensemble] == NULL || order.n < 1 ||
        order.n > a->size)
        return gess__helper_bad_message(err);
    const gess__target *t = &r->ensemble[order.ensemble]->target;
    size_t n = (size_t)order.n;
    free(b->points);
    b->points = NULL;
    GESS_ALLOC(&b->points, n * t->dim + n + gess__target_scratch(t, n), err);
    b->values = b->points + n * t->dim;
    b->scratch = b->values + n;
    gess__archive_bytes(a, b->points, n * t->dim * sizeof *b->points);
    if (a->bad || a->at != a->size) return gess__helper_bad_message(err);
    b->order = order;
    b->state = GESS__SLOT_WAITING;
    pthread_cond_signal(&r->work);
    return GESS_OK;
}

int gess__helper_run_batch(gess__helper_rank *r, unsigned worker)
{
    gess__batch *b = NULL;
    for (size_t i = 0; i < r->batches; i++)
        if (r->batch[i].state == GESS__SLOT_WAITING && (b == NULL || r->batch[i].order.number < b->order.number))
            b = &r->batch[i];
    if (b == NULL) return 0;
    const gess__target *t = &r->ensemble[b->order.ensemble]->target;
    b->state = GESS__SLOT_RUNNING;
    pthread_mutex_unlock(&r->lock);
    double before = gess__seconds();
    b->error = (gess_error){0};
    b->status =
        gess__target_evaluate(t, worker, (size_t)b->order.n, b->points, b->values, NULL, NULL, b->scratch, &b->error);
    b->seconds = gess__seconds() - before;
    pthread_mutex_lock(&r->lock);
    b->state = GESS__SLOT_DONE;
    pthread_cond_signal(&r->wake);
    return 1;
}

int gess__helper_send_batches(gess__helper_rank *r, int *sent, gess_error *err)
{
    gess__archive *a = &r->out;
    for (size_t i = 0; i < r->batches; i++) {
        gess__batch *b = &r->batch[i];
        if (b->state != GESS__SLOT_DONE) continue;
        a->size = 0;
        GESS_ARCHIVE(a, &b->order);
        GESS_ARCHIVE(a, &b->seconds);
        gess__wire_error(a, &b->status, &b->error);
        if (b->status == GESS_OK) gess__archive_bytes(a, b->values, (size_t)b->order.n * sizeof *b->values);
        b->state = GESS__SLOT_FREE;
        *sent = 1;
        if (a->bad) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for values");
        GESS_TRY(gess__helper_send(r, GESS__WIRE_BATCH_VALUES, a->bytes, a->size, err));
    }
    return GESS_OK;
}

size_t gess__helper_batches_begun(const gess__helper_rank *r)
{
    size_t running = 0;
    for (size_t i = 0; i < r->batches; i++) running += r->batch[i].state == GESS__SLOT_RUNNING;
    return running;
}

void gess__helper_free_batches(gess__helper_rank *r)
{
    for (size_t i = 0; i < r->batches; i++) free(r->batch[i].points);
    free(r->batch);
}
