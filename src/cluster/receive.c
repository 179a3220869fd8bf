/* Unpacks what helper ranks send to rank 0: hellos, requests to stop, failures, values of predicted points, and results
 * of tasks. Results go to the scheduler (execute/scheduler.h), which decides whether they are still wanted and where
 * they go. */
#include "base/mem.h"
#include "cluster/coordinator_state.h"

#include <stdlib.h>
#include <string.h>

static int receive_hello(gess__coordinator *c, gess__peer *p, gess__archive *a, gess_error *err)
{
    uint64_t threads = 0;
    char version[32] = "";
    GESS_ARCHIVE(a, &version);
    GESS_ARCHIVE(a, &threads);
    GESS_ARCHIVE(a, &p->host);
    p->host[sizeof p->host - 1] = '\0';
    if (a->bad || strncmp(version, GESS_VERSION_TEXT, sizeof version) != 0 || threads < 1 || threads > 1 << 20)
        return gess__fail(err, GESS_ERR_USAGE, "rank %d on %s runs another version of gess than rank 0",
                          (int)(p - c->peers) + 1, p->host);
    p->threads = (unsigned)threads;
    p->room = p->threads + 1 + p->threads / 8;
    free(p->outstanding);
    p->outstanding = NULL;
    GESS_ALLOC(&p->outstanding, p->room, err);
    p->count = 0;
    p->present = 1;
    return GESS_OK;
}

/* ---- the result of a task ---- */

/* Reads the draws of a task, which are packed in the message; each chain's go to their place. */
static void read_rows(gess__archive *a, const gess__task *t, size_t columns)
{
    size_t kept = (size_t)gess__task_kept(t);
    for (size_t j = 0; j < t->keep && kept > 0; j++)
        gess__archive_bytes(a, t->rows + j * t->row_stride, kept * columns * sizeof *t->rows);
}

static void read_points(gess__archive *a, const gess__task *t)
{
    size_t dim = t->chains->dim, points = (size_t)gess__task_points(t);
    size_t first = points > 0 ? (size_t)((t->start - t->window_start) / t->window_stride) : 0;
    for (size_t i = first; i < first + points; i++) {
        gess__archive_bytes(a, t->values + i * t->point_stride, t->count * sizeof *t->values);
        if (t->points != NULL)
            gess__archive_bytes(a, t->points + i * t->point_stride * dim, t->count * dim * sizeof *t->points);
    }
}

static void read_nans(gess__archive *a, gess__scheduler *s, double *point, size_t dim)
{
    uint64_t count = 0, key[3];
    GESS_ARCHIVE(a, &count);
    for (uint64_t i = 0; i < count && !a->bad; i++) {
        GESS_ARCHIVE(a, &key);
        gess__archive_bytes(a, point, dim * sizeof *point);
        if (!a->bad) gess__scheduler_note_nan(s, key[0], key[1], key[2], point);
    }
}

static int incomplete(const gess__peer *p, gess_error *err)
{
    return gess__fail(err, GESS_ERR_INTERNAL, "an incomplete result came from %s", p->host);
}

/* Puts the result of a claim into its place. */
static int read_result(gess__scheduler *s, const gess__peer *p, const gess__task *t, gess__archive *a, gess_error *err)
{
    double *point = NULL;
    gess__chains_archive(t->chains, t->first, t->count, a);
    read_rows(a, t, gess__scheduler_ensemble(s)->target.columns);
    read_points(a, t);
    GESS_ALLOC(&point, t->chains->dim, err);
    read_nans(a, s, point, t->chains->dim);
    free(point);
    return a->bad || a->at != a->size ? incomplete(p, err) : GESS_OK;
}

void gess__coordinator_note_unused(gess__coordinator *c)
{
    gess__scheduler_note_unused(c->scheduler, c->unused);
    c->unused = 0;
}

static void forget_outstanding(gess__peer *p, uint64_t ensemble, uint64_t serial)
{
    for (size_t k = 0; k < p->count; k++)
        if (p->outstanding[k].serial == serial && p->outstanding[k].ensemble == ensemble) {
            p->outstanding[k] = p->outstanding[--p->count];
            return;
        }
}

static void note_times(gess__peer *p, const gess__order *order, const gess__outcome *o)
{
    p->sec_per_iteration = gess__smooth(p->sec_per_iteration, 0.3, o->seconds / (double)order->iterations);
    if (o->tally.evals > 0) p->sec_per_eval = gess__smooth(p->sec_per_eval, 0.3, o->seconds / (double)o->tally.evals);
    p->tasks++;
    p->iterations += order->iterations * order->count;
    atomic_store(&p->updates, p->iterations);
    p->busy += o->seconds;
}

static int receive_result(gess__coordinator *c, gess__peer *p, gess__archive *a, gess_error *err)
{
    gess__order order;
    gess__outcome o = {0};
    gess__claim claim;
    int dropped = 0;
    uint64_t unused = 0;
    GESS_ARCHIVE(a, &order);
    GESS_ARCHIVE(a, &dropped);
    GESS_ARCHIVE(a, &unused);
    if (!a->bad) forget_outstanding(p, order.ensemble, order.serial);
    if (!a->bad) c->unused += unused; /* between stretches, too; single counts may wrap around, their sum does not */
    if (c->scheduler != NULL) gess__coordinator_note_unused(c);
    if (dropped) return GESS_OK;
    gess__wire_error(a, &o.status, &o.error);
    GESS_ARCHIVE(a, &o.seconds);
    GESS_ARCHIVE(a, &o.sec_per_eval);
    if (o.status == GESS_OK) GESS_ARCHIVE(a, &o.tally);
    if (a->bad) return incomplete(p, err);
    note_times(p, &order, &o);
    c->backoff.task_seconds = o.seconds;
    gess__scheduler *s = c->scheduler;
    if (s == NULL || gess__scheduler_ensemble(s)->number != order.ensemble ||
        !gess__scheduler_wants(s, &claim, order.serial, (size_t)order.block))
        return GESS_OK; /* someone else was faster */
    if (o.status == GESS_OK) {
        GESS_TRY(read_result(s, p, &claim.task, a, err));
    } else {
        gess__blame(&o.error, o.status, "rank %d on %s", (int)(p - c->peers) + 1, p->host);
        gess__coordinator_fail(c, o.status, &o.error);
    }
    gess__scheduler_finish(s, &claim, &o);
    return GESS_OK;
}

/* ---- everything else ---- */

/* A helper rank cannot take part; in a run that has not begun here this is kept for later. */
static int receive_failure(gess__coordinator *c, int rank, uint64_t run, gess__archive *a, gess_error *err)
{
    int status = GESS_OK;
    gess_error error = {0};
    gess__wire_error(a, &status, &error);
    if (status == GESS_OK || a->bad) return gess__fail(err, GESS_ERR_INTERNAL, "rank %d failed", rank);
    gess__blame(&error, status, "rank %d", rank);
    if (run > c->comm->runs && c->early.run == 0) {
        c->early.run = run;
        c->early.status = status;
        c->early.error = error;
    }
    if (run > c->comm->runs) return GESS_OK;
    if (err != NULL) *err = error;
    return status;
}

int gess__coordinator_receive(gess__coordinator *c, const gess__message *m, gess_error *err)
{
    gess__archive a = gess__wire_open(m);
    gess__peer *p = &c->peers[m->from - 1];
    uint64_t run = 0;
    p->heard = gess__awake_clock_seconds(&c->awake);
    p->bytes_in += m->count;
    if (m->tag == GESS__WIRE_HELLO || m->tag == GESS__WIRE_FAILED || m->tag == GESS__WIRE_BYE) {
        GESS_ARCHIVE(&a, &run);
        if (run > p->latest) p->latest = run;
        if (run < c->comm->runs && run != 0) return GESS_OK; /* of a run that failed before it began */
    }
    switch (m->tag) {
    case GESS__WIRE_HELLO:
        GESS_TRY(receive_hello(c, p, &a, err));
        p->run = run;
        pthread_cond_broadcast(&c->news);
        return GESS_OK;
    case GESS__WIRE_RESULT: return receive_result(c, p, &a, err);
    case GESS__WIRE_BATCH_VALUES: return gess__receive_batch(c, m->from - 1, &a, err);
    case GESS__WIRE_PING: return GESS_OK;
    case GESS__WIRE_VALUE: return gess__helpers_take(&c->helpers, m, err);
    case GESS__WIRE_STOP:
        p->stopped = p->run;
        if (c->stop != NULL && p->run == c->comm->runs) c->stop(c->stop_user);
        return GESS_OK;
    case GESS__WIRE_FAILED: return receive_failure(c, m->from, run, &a, err);
    case GESS__WIRE_BYE:
        if (p->run == run) p->present = 0;
        p->bye = 1; /* it may say hello again at once */
        pthread_cond_broadcast(&c->news);
        return GESS_OK;
    default:
        return gess__fail(err, GESS_ERR_INTERNAL, "a message of unknown kind %d came from rank %d", m->tag, m->from);
    }
}
