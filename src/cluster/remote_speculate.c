/* Does the three parts of remote speculation: rank 0 assigns idle ranks to busy ones, the owner of an update sends
 * predicted points and takes the values, and the helper evaluates or refuses. The message loops of rank 0 and of helper
 * ranks call it. */
#include "cluster/remote_speculate.h"

#include "base/clock.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A value is due after DUE times the seconds of an evaluation, and TRAVEL_SECONDS. */
#define DUE 1.5
#define TRAVEL_SECONDS 0.003

/* A rank that refused a point, or was late, gets none for PAUSE_SECONDS, and twice as long with every further time. */
#define PAUSE_SECONDS 0.002

enum { MAX_AWAY = 256, MAX_DOUBLINGS = 12 };

/* ---- rank 0 ---- */

static void end_assignment(gess__rank_load *loads, int helper, gess__assignment *assignment)
{
    *assignment = (gess__assignment){.owner = loads[helper].owner - 1, .helper = helper};
    loads[assignment->owner].assigned -= loads[helper].given;
    loads[helper].owner = 0;
    loads[helper].given = 0;
}

/* The ranks with the fewest and the most assigned threads per task; returns 0 if no rank wants more. */
static int extremes(const gess__rank_load *loads, int size, size_t depth, int *min_at, int *max_at)
{
    double min = (double)depth, max = 0.0;
    *min_at = *max_at = -1;
    for (int i = 0; i < size; i++) {
        if (loads[i].tasks == 0) continue;
        double share = (double)loads[i].assigned / (double)loads[i].tasks;
        if (share < min) *min_at = i;
        if (share < min) min = share;
        if (share > max) *max_at = i;
        if (share > max) max = share;
    }
    return *min_at >= 0;
}

int gess__assign_next(gess__rank_load *loads, int size, size_t depth, gess__assignment *assignment)
{
    int idle = -1, assigned = 0, min_at, max_at;
    for (int i = 0; i < size; i++) {
        const gess__rank_load *p = &loads[i];
        if (p->owner > 0 && (p->idle == 0 || depth == 0 || loads[p->owner - 1].tasks == 0)) {
            end_assignment(loads, i, assignment);
            return 1;
        }
        assigned |= p->owner > 0;
        if (p->owner == 0 && p->idle > 0 && idle < 0) idle = i;
    }
    if ((idle < 0 && !assigned) || !extremes(loads, size, depth, &min_at, &max_at)) return 0;
    if (idle >= 0) {
        loads[idle].owner = min_at + 1;
        loads[idle].given = loads[idle].idle;
        loads[min_at].assigned += loads[idle].idle;
        *assignment = (gess__assignment){.owner = min_at, .helper = idle, .threads = loads[idle].idle};
        return 1;
    }
    /* Take threads only from a rank that keeps at least as many per task, so that nothing moves back and forth. */
    for (int i = 0; max_at >= 0 && i < size; i++) {
        if (loads[i].owner != max_at + 1) continue;
        double less = (double)loads[max_at].assigned - loads[i].given;
        double more = (double)loads[min_at].assigned + loads[i].given;
        if (more * loads[max_at].tasks > less * loads[min_at].tasks) continue;
        end_assignment(loads, i, assignment);
        return 1;
    }
    return 0;
}

/* ---- the owner ---- */

/* A point that another rank has. */
typedef struct gess__remote_point {
    uint64_t id;
    int rank;
    double due;
    gess__predicted_point taken; /* queue NULL: its value is not wanted any more */
} away;

enum { CAME, FAILED, REFUSED };

/* The message that comes back; if the value CAME, its blobs follow. */
typedef struct answer {
    uint64_t run, id, kind;
    double value;
} answer;

int gess__helpers_open(gess__helpers *h, gess_comm *comm, size_t dim, size_t blobs, pthread_cond_t *wake,
                       gess_error *err)
{
    gess__helpers_free(h);
    h->comm = comm;
    h->wake = wake;
    h->dim = dim;
    h->blob_count = blobs;
    GESS_ALLOC(&h->of, (size_t)comm->size, err);
    GESS_ALLOC(&h->away, MAX_AWAY, err);
    h->room = MAX_AWAY;
    GESS_ALLOC(&h->point, dim, err);
    if (blobs > 0) GESS_ALLOC(&h->blobs, blobs, err);
    return GESS_OK;
}

void gess__helpers_free(gess__helpers *h)
{
    free(h->of);
    free(h->away);
    free(h->point);
    free(h->blobs);
    gess__archive_free(&h->out);
    *h = (gess__helpers){0};
}

/* Queued points wake the thread that sends only if there is a rank to send them to. */
static void set_sender(gess__helpers *h)
{
    if (h->speculation == NULL) return;
    if (h->lock != NULL) pthread_mutex_lock(h->lock);
    gess__speculation_set_sender(h->speculation, h->threads > 0 ? h->wake : NULL);
    if (h->lock != NULL) pthread_mutex_unlock(h->lock);
}

void gess__helpers_attach(gess__helpers *h, gess__speculation *speculation, pthread_mutex_t *lock)
{
    h->speculation = speculation;
    h->lock = lock;
    set_sender(h);
}

void gess__helpers_assign(gess__helpers *h, int rank, unsigned threads)
{
    gess__helper *one = &h->of[rank];
    h->threads = h->threads - one->room + threads;
    one->room = threads;
    one->refusals = 0;
    one->again = 0.0;
    set_sender(h);
}

void gess__helpers_detach(gess__helpers *h)
{
    for (size_t i = 0; i < h->count; i++) h->away[i].taken.queue = NULL;
    h->speculation = NULL;
}

static int has_room(const gess__helper *one, double now)
{
    return one->out < one->room && now >= one->again;
}

/* A rank that has room, or -1. */
static int choose(gess__helpers *h, double now)
{
    if (h->threads == 0 || h->count == h->room) return -1;
    for (int k = 0; k < h->comm->size; k++) {
        int rank = (h->first + k) % h->comm->size;
        if (!has_room(&h->of[rank], now)) continue;
        h->first = rank;
        return rank;
    }
    return -1;
}

static int next_point(gess__helpers *h, double due, gess__predicted_point *taken)
{
    if (h->lock != NULL) pthread_mutex_lock(h->lock);
    int found = gess__speculation_take_remote(h->speculation, due, h->point, taken);
    if (h->lock != NULL) pthread_mutex_unlock(h->lock);
    return found;
}

static int send_point(gess__helpers *h, int rank, double due, gess__predicted_point *taken, gess_error *err)
{
    gess__archive *a = &h->out;
    a->size = 0;
    h->away[h->count++] = (away){.id = ++h->ids, .rank = rank, .due = due, .taken = *taken};
    h->of[rank].out++;
    GESS_ARCHIVE(a, &h->comm->runs);
    GESS_ARCHIVE(a, &h->ids);
    GESS_ARCHIVE(a, &taken->label);
    GESS_ARCHIVE(a, &h->sec_per_eval);
    gess__archive_bytes(a, h->point, h->dim * sizeof *h->point);
    if (a->bad) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for a point");
    return h->comm->send(h->comm, rank, GESS__WIRE_PREDICTED, a->bytes, a->size, err);
}

int gess__helpers_send(gess__helpers *h, int *sent, gess_error *err)
{
    if (h->speculation == NULL || h->threads == 0) return GESS_OK;
    double now = gess__seconds();
    for (int rank; (rank = choose(h, now)) >= 0;) {
        gess__predicted_point taken;
        double due = now + DUE * h->sec_per_eval + TRAVEL_SECONDS;
        if (!next_point(h, due, &taken)) return GESS_OK;
        GESS_TRY(send_point(h, rank, due, &taken, err));
        *sent = 1;
    }
    return GESS_OK;
}

/* Puts a value that has come into its queue. */
static void put_down(gess__helpers *h, const gess__predicted_point *taken, const answer *got)
{
    if (taken->queue == NULL || h->speculation == NULL) return;
    if (h->lock != NULL) pthread_mutex_lock(h->lock);
    if (got->kind == REFUSED)
        gess__speculation_return(h->speculation, taken);
    else
        gess__speculation_give_remote(h->speculation, taken, got->kind == CAME ? GESS_OK : GESS_ERR_MODEL, got->value,
                                      h->blobs);
    if (h->lock != NULL) pthread_mutex_unlock(h->lock);
}

int gess__helpers_take(gess__helpers *h, const gess__message *m, gess_error *err)
{
    answer got = {0};
    size_t i = 0;
    gess__archive a = gess__wire_open(m);
    GESS_ARCHIVE(&a, &got);
    if (!a.bad && (h->of == NULL || got.run != h->comm->runs)) return GESS_OK; /* of a run that is over */
    if (got.kind == CAME && h->blobs != NULL) gess__archive_bytes(&a, h->blobs, h->blob_count * sizeof *h->blobs);
    if (a.bad || a.at != a.size)
        return gess__fail(err, GESS_ERR_INTERNAL, "an incomplete value came from rank %d", m->from);
    while (i < h->count && h->away[i].id != got.id) i++;
    if (i == h->count) return GESS_OK;
    gess__helper *one = &h->of[m->from];
    double now = gess__seconds(), pause = h->sec_per_eval > PAUSE_SECONDS ? h->sec_per_eval : PAUSE_SECONDS;
    if (one->out > 0) one->out--;
    if (got.kind != REFUSED && now < h->away[i].due) {
        one->refusals = 0;
    } else {
        one->again = now + ldexp(pause, (int)one->refusals);
        if (one->refusals < MAX_DOUBLINGS) one->refusals++;
    }
    put_down(h, &h->away[i].taken, &got);
    h->away[i] = h->away[--h->count];
    return GESS_OK;
}

/* ---- the helper ---- */

double gess__remote_poll_seconds(double sec_per_eval)
{
    return sec_per_eval / 16.0;
}

int gess__requests_open(gess__requests *r, size_t threads, size_t dim, size_t blobs, gess_error *err)
{
    GESS_ALLOC(&r->of, threads, err);
    GESS_ALLOC(&r->points, threads * dim, err);
    if (blobs > 0) GESS_ALLOC(&r->blobs, threads * blobs, err);
    r->count = threads;
    r->dim = dim;
    r->blob_count = blobs;
    for (size_t i = 0; i < threads; i++) {
        r->of[i].point = r->points + i * dim;
        if (blobs > 0) r->of[i].blobs = r->blobs + i * blobs;
    }
    return GESS_OK;
}

void gess__requests_free(gess__requests *r)
{
    free(r->of);
    free(r->points);
    free(r->blobs);
    gess__archive_free(&r->out);
    *r = (gess__requests){0};
}

static int refuse_point(gess_comm *comm, int to, uint64_t id, gess_error *err)
{
    const answer back = {.run = comm->runs, .id = id, .kind = REFUSED};
    return comm->send(comm, to, GESS__WIRE_VALUE, &back, sizeof back, err);
}

static int send_value(gess__requests *r, gess_comm *comm, const gess__request *one, gess_error *err)
{
    answer back = {.run = comm->runs, .id = one->id, .kind = one->status == GESS_OK ? CAME : FAILED};
    back.value = one->value;
    if (back.kind != CAME || one->blobs == NULL)
        return comm->send(comm, one->from, GESS__WIRE_VALUE, &back, sizeof back, err);
    gess__archive *a = &r->out;
    a->size = 0;
    GESS_ARCHIVE(a, &back);
    gess__archive_bytes(a, one->blobs, r->blob_count * sizeof *one->blobs);
    if (a->bad) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for a value");
    return comm->send(comm, one->from, GESS__WIRE_VALUE, a->bytes, a->size, err);
}

int gess__requests_take(gess__requests *r, gess_comm *comm, const gess__message *m, int able,
                        const uint64_t *generations, size_t ensembles, int *asked, gess_error *err)
{
    gess__archive a = gess__wire_open(m);
    gess__request *one = NULL;
    uint64_t run = 0, id = 0;
    gess__frozen_label label = {0};
    GESS_ARCHIVE(&a, &run);
    GESS_ARCHIVE(&a, &id);
    GESS_ARCHIVE(&a, &label);
    GESS_ARCHIVE(&a, &r->sec_per_eval);
    *asked = 0;
    if (a.bad) return gess__fail(err, GESS_ERR_INTERNAL, "an incomplete point came from rank %d", m->from);
    if (run != comm->runs) return GESS_OK; /* of a run that is over there or here */
    for (size_t i = 0; i < r->count && one == NULL; i++)
        if (r->of[i].state == GESS__REQUEST_NONE) one = &r->of[i];
    if (!able || one == NULL || label.ensemble >= ensembles || generations[label.ensemble] != label.generation)
        return refuse_point(comm, m->from, id, err);
    gess__archive_bytes(&a, one->point, r->dim * sizeof *one->point);
    if (a.bad || a.at != a.size)
        return gess__fail(err, GESS_ERR_INTERNAL, "an incomplete point came from rank %d", m->from);
    one->state = GESS__REQUEST_ASKED;
    one->from = m->from;
    one->id = id;
    one->label = label;
    *asked = 1;
    return GESS_OK;
}

gess__request *gess__requests_next(gess__requests *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->of[i].state == GESS__REQUEST_ASKED) return &r->of[i];
    return NULL;
}

int gess__requests_send(gess__requests *r, gess_comm *comm, int refuse, int *sent, gess_error *err)
{
    for (size_t i = 0; i < r->count; i++) {
        gess__request *one = &r->of[i];
        int refused = refuse && one->state == GESS__REQUEST_ASKED;
        if (one->state != GESS__REQUEST_DONE && !refused) continue;
        one->state = GESS__REQUEST_NONE;
        *sent = 1;
        GESS_TRY(refused ? refuse_point(comm, one->from, one->id, err) : send_value(r, comm, one, err));
    }
    return GESS_OK;
}
