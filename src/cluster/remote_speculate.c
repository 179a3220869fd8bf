#include "cluster/remote_speculate.h"

#include "base/clock.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A value is due after so many times the seconds of an evaluation, and some for the way. */
#define DUE 1.5
#define WAY_SECONDS 0.003

/* Who has refused, or was late, is not asked for so long, and twice as long with every time more. */
#define PAUSE_SECONDS 0.002

enum { MAX_AWAY = 256, MAX_DOUBLINGS = 12 };

/* ---- rank 0 ---- */

static void end_loan(gess__rank_load *parties, int helper, gess__assignment *loan)
{
    *loan = (gess__assignment){.owner = parties[helper].lent - 1, .helper = helper};
    parties[loan->owner].has -= parties[helper].given;
    parties[helper].lent = 0;
    parties[helper].given = 0;
}

/* The owners that have fewest and most threads for each of their tasks; false where there is none that wants more. */
static int extremes(const gess__rank_load *parties, int size, size_t most, int *poor, int *rich)
{
    double least = (double)most, greatest = 0.0;
    *poor = *rich = -1;
    for (int i = 0; i < size; i++) {
        if (parties[i].tasks == 0) continue;
        double share = (double)parties[i].has / (double)parties[i].tasks;
        if (share < least) *poor = i;
        if (share < least) least = share;
        if (share > greatest) *rich = i;
        if (share > greatest) greatest = share;
    }
    return *poor >= 0;
}

int gess__assign_next(gess__rank_load *parties, int size, size_t most, gess__assignment *loan)
{
    int idle = -1, lent = 0, poor, rich;
    for (int i = 0; i < size; i++) {
        const gess__rank_load *p = &parties[i];
        if (p->lent > 0 && (p->idle == 0 || most == 0 || parties[p->lent - 1].tasks == 0)) {
            end_loan(parties, i, loan);
            return 1;
        }
        lent |= p->lent > 0;
        if (p->lent == 0 && p->idle > 0 && idle < 0) idle = i;
    }
    if ((idle < 0 && !lent) || !extremes(parties, size, most, &poor, &rich)) return 0;
    if (idle >= 0) {
        parties[idle].lent = poor + 1;
        parties[idle].given = parties[idle].idle;
        parties[poor].has += parties[idle].idle;
        *loan = (gess__assignment){.owner = poor, .helper = idle, .threads = parties[idle].idle};
        return 1;
    }
    /* from one that would still not have less: so nothing goes to and fro */
    for (int i = 0; rich >= 0 && i < size; i++) {
        if (parties[i].lent != rich + 1) continue;
        double less = (double)parties[rich].has - parties[i].given;
        double more = (double)parties[poor].has + parties[i].given;
        if (more * parties[rich].tasks > less * parties[poor].tasks) continue;
        end_loan(parties, i, loan);
        return 1;
    }
    return 0;
}

/* ---- the owner ---- */

/* A point that a helper has. */
typedef struct gess__remote_point {
    uint64_t id;
    int rank;
    double due;
    gess__predicted_point offer; /* queue NULL: it is not wanted any more */
} away;

enum { CAME, FAILED, REFUSED };

/* What comes back. */
typedef struct answer {
    uint64_t run, id, kind;
    double value;
} answer;

int gess__helpers_open(gess__helpers *h, gess_comm *comm, size_t dim, pthread_cond_t *wake, gess_error *err)
{
    gess__helpers_free(h);
    h->comm = comm;
    h->wake = wake;
    h->dim = dim;
    GESS_ALLOC(&h->of, (size_t)comm->size, err);
    GESS_ALLOC(&h->away, MAX_AWAY, err);
    h->room = MAX_AWAY;
    GESS_ALLOC(&h->point, dim, err);
    return GESS_OK;
}

void gess__helpers_free(gess__helpers *h)
{
    free(h->of);
    free(h->away);
    free(h->point);
    gess__archive_free(&h->out);
    *h = (gess__helpers){0};
}

/* Who sends is woken where points are laid out, but not without anyone to send them to. */
static void call(gess__helpers *h)
{
    if (h->ahead == NULL) return;
    if (h->lock != NULL) pthread_mutex_lock(h->lock);
    gess__speculation_set_sender(h->ahead, h->lent > 0 ? h->wake : NULL);
    if (h->lock != NULL) pthread_mutex_unlock(h->lock);
}

void gess__helpers_attach(gess__helpers *h, gess__speculation *ahead, pthread_mutex_t *lock)
{
    h->ahead = ahead;
    h->lock = lock;
    call(h);
}

void gess__helpers_assign(gess__helpers *h, int rank, unsigned threads)
{
    gess__helper *one = &h->of[rank];
    h->lent = h->lent - one->room + threads;
    one->room = threads;
    one->refusals = 0;
    one->again = 0.0;
    call(h);
}

void gess__helpers_detach(gess__helpers *h)
{
    for (size_t i = 0; i < h->count; i++) h->away[i].offer.queue = NULL;
    h->ahead = NULL;
}

static int has_room(const gess__helper *one, double now)
{
    return one->out < one->room && now >= one->again;
}

/* One that has room, or -1. */
static int choose(gess__helpers *h, double now)
{
    if (h->lent == 0 || h->count == h->room) return -1;
    for (int k = 0; k < h->comm->size; k++) {
        int rank = (h->first + k) % h->comm->size;
        if (!has_room(&h->of[rank], now)) continue;
        h->first = rank;
        return rank;
    }
    return -1;
}

static int next_point(gess__helpers *h, double due, gess__predicted_point *offer)
{
    if (h->lock != NULL) pthread_mutex_lock(h->lock);
    int found = gess__speculation_take_remote(h->ahead, due, h->point, offer);
    if (h->lock != NULL) pthread_mutex_unlock(h->lock);
    return found;
}

static int send_point(gess__helpers *h, int rank, double due, gess__predicted_point *offer, gess_error *err)
{
    gess__archive *a = &h->out;
    a->size = 0;
    h->away[h->count++] = (away){.id = ++h->ids, .rank = rank, .due = due, .offer = *offer};
    h->of[rank].out++;
    GESS_ARCHIVE(a, &h->comm->runs);
    GESS_ARCHIVE(a, &h->ids);
    GESS_ARCHIVE(a, &offer->label);
    GESS_ARCHIVE(a, &h->each);
    gess__archive_bytes(a, h->point, h->dim * sizeof *h->point);
    if (a->bad) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for a point");
    return h->comm->send(h->comm, rank, GESS__WIRE_PREDICTED, a->bytes, a->size, err);
}

int gess__helpers_send(gess__helpers *h, int *sent, gess_error *err)
{
    if (h->ahead == NULL || h->lent == 0) return GESS_OK;
    double now = gess__seconds();
    for (int rank; (rank = choose(h, now)) >= 0;) {
        gess__predicted_point offer;
        double due = now + DUE * h->each + WAY_SECONDS;
        if (!next_point(h, due, &offer)) return GESS_OK;
        GESS_TRY(send_point(h, rank, due, &offer, err));
        *sent = 1;
    }
    return GESS_OK;
}

/* Brings what came to its desk. */
static void put_down(gess__helpers *h, const gess__predicted_point *offer, const answer *got)
{
    if (offer->queue == NULL || h->ahead == NULL) return;
    if (h->lock != NULL) pthread_mutex_lock(h->lock);
    if (got->kind == REFUSED)
        gess__speculation_return(h->ahead, offer);
    else
        gess__speculation_give_remote(h->ahead, offer, got->kind == CAME ? GESS_OK : GESS_ERR_MODEL, got->value);
    if (h->lock != NULL) pthread_mutex_unlock(h->lock);
}

int gess__helpers_take(gess__helpers *h, const gess__message *m, gess_error *err)
{
    answer got;
    size_t i = 0;
    if (m->count != sizeof got)
        return gess__fail(err, GESS_ERR_INTERNAL, "a value that is not whole came from rank %d", m->from);
    memcpy(&got, m->bytes, sizeof got);
    if (h->of == NULL || got.run != h->comm->runs) return GESS_OK; /* of a run that is over */
    while (i < h->count && h->away[i].id != got.id) i++;
    if (i == h->count) return GESS_OK;
    gess__helper *one = &h->of[m->from];
    double now = gess__seconds(), pause = h->each > PAUSE_SECONDS ? h->each : PAUSE_SECONDS;
    if (one->out > 0) one->out--;
    if (got.kind != REFUSED && now < h->away[i].due) {
        one->refusals = 0;
    } else {
        one->again = now + ldexp(pause, (int)one->refusals);
        if (one->refusals < MAX_DOUBLINGS) one->refusals++;
    }
    put_down(h, &h->away[i].offer, &got);
    h->away[i] = h->away[--h->count];
    return GESS_OK;
}

/* ---- the helper ---- */

double gess__remote_poll_seconds(double each)
{
    return each / 16.0;
}

int gess__requests_open(gess__requests *f, size_t threads, size_t dim, gess_error *err)
{
    GESS_ALLOC(&f->of, threads, err);
    GESS_ALLOC(&f->points, threads * dim, err);
    f->count = threads;
    f->dim = dim;
    for (size_t i = 0; i < threads; i++) f->of[i].point = f->points + i * dim;
    return GESS_OK;
}

void gess__requests_free(gess__requests *f)
{
    free(f->of);
    free(f->points);
    *f = (gess__requests){0};
}

static int send_answer(gess_comm *comm, int to, uint64_t id, uint64_t kind, double value, gess_error *err)
{
    const answer back = {.run = comm->runs, .id = id, .kind = kind, .value = value};
    return comm->send(comm, to, GESS__WIRE_VALUE, &back, sizeof back, err);
}

int gess__requests_take(gess__requests *f, gess_comm *comm, const gess__message *m, int able, const uint64_t *generations,
                       size_t ensembles, int *asked, gess_error *err)
{
    gess__archive a = gess__wire_open(m);
    gess__request *one = NULL;
    uint64_t run = 0, id = 0;
    gess__frozen_label label = {0};
    GESS_ARCHIVE(&a, &run);
    GESS_ARCHIVE(&a, &id);
    GESS_ARCHIVE(&a, &label);
    GESS_ARCHIVE(&a, &f->each);
    *asked = 0;
    if (a.bad) return gess__fail(err, GESS_ERR_INTERNAL, "a point that is not whole came from rank %d", m->from);
    if (run != comm->runs) return GESS_OK; /* of a run that is over there or here */
    for (size_t i = 0; i < f->count && one == NULL; i++)
        if (f->of[i].state == GESS__REQUEST_NONE) one = &f->of[i];
    if (!able || one == NULL || label.ensemble >= ensembles || generations[label.ensemble] != label.generation)
        return send_answer(comm, m->from, id, REFUSED, 0.0, err);
    gess__archive_bytes(&a, one->point, f->dim * sizeof *one->point);
    if (a.bad || a.at != a.size)
        return gess__fail(err, GESS_ERR_INTERNAL, "a point that is not whole came from rank %d", m->from);
    one->state = GESS__REQUEST_ASKED;
    one->from = m->from;
    one->id = id;
    one->label = label;
    *asked = 1;
    return GESS_OK;
}

gess__request *gess__requests_next(gess__requests *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->of[i].state == GESS__REQUEST_ASKED) return &f->of[i];
    return NULL;
}

int gess__requests_send(gess__requests *f, gess_comm *comm, int refuse, int *sent, gess_error *err)
{
    for (size_t i = 0; i < f->count; i++) {
        gess__request *one = &f->of[i];
        int refused = refuse && one->state == GESS__REQUEST_ASKED;
        if (one->state != GESS__REQUEST_DONE && !refused) continue;
        one->state = GESS__REQUEST_NONE;
        *sent = 1;
        uint64_t kind = refused ? REFUSED : one->status == GESS_OK ? CAME : FAILED;
        GESS_TRY(send_answer(comm, one->from, one->id, kind, one->value, err));
    }
    return GESS_OK;
}
