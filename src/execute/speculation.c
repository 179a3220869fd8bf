/* Keeps the queues of predicted points: the worker that runs an update adds points and collects values, idle workers
 * and other ranks take points and bring values back. speculation_depth.c decides how many points are predicted; the
 * kernel computes them. */
#include "execute/speculation.h"

#include "base/mem.h"
#include "parallel/condition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Slots of a queue, unless the depth asks for more. */
enum { FEW_SLOTS = 64 };

enum state { READY, TAKEN, CAME, FAILED, GONE };

typedef struct slot {
    uint64_t ticket; /* of the worker that has it; 0: its value is not wanted any more */
    uint64_t round;  /* of the update */
    uint32_t lane;
    enum state state;
    double due; /* if it went to another rank: the time until which the owner waits for it */
    double value;
} slot;

/* Slots head .. tail - 1 (modulo room) are in use, in the order of (round, lane). The owner writes slots from
 * `tail` on without the lock, and the others with it. */
struct gess__speculation_queue {
    gess__speculation *speculation;
    size_t room, dim, blob_count;
    slot *slots;
    double *points; /* room × dim */
    double *blobs;  /* room × blob_count: of the values that came; NULL if there are none */
    size_t *from;   /* per proposal: the slot that has its value, or SELF */
    uint64_t head, tail;
    uint64_t begun;   /* every slot before it has been taken */
    uint64_t round;   /* of the owner's update */
    uint64_t next;    /* the next round to queue; 0: none is queued */
    uint64_t tickets; /* handed out so far */
    gess__frozen_label label;
    pthread_cond_t came;
};

struct gess__speculation {
    unsigned workers;
    gess__speculation_queue *queues;
    pthread_mutex_t *lock;
    pthread_cond_t *offered, *sender;
    uint64_t made, used; /* evaluations of idle workers */
};

#define SELF SIZE_MAX

/* The queue has its room, dim and blob_count. */
static int open_queue(gess__speculation_queue *q, gess__speculation *speculation, size_t block, gess_error *err)
{
    q->speculation = speculation;
    gess__condition_init(&q->came);
    GESS_ALLOC(&q->slots, q->room, err);
    GESS_ALLOC(&q->points, q->room * q->dim, err);
    if (q->blob_count > 0) GESS_ALLOC(&q->blobs, q->room * q->blob_count, err);
    GESS_ALLOC(&q->from, block, err);
    return GESS_OK;
}

int gess__speculation_new(gess__speculation **speculation, unsigned workers, size_t depth, size_t block, size_t dim,
                          size_t blobs, pthread_mutex_t *lock, pthread_cond_t *offered, gess_error *err)
{
    GESS_ALLOC(speculation, 1, err);
    gess__speculation *a = *speculation;
    size_t max = depth > FEW_SLOTS ? depth : FEW_SLOTS, min = block > depth ? block : depth;
    size_t room = depth * block < max ? depth * block : max;
    if (room < min) room = min; /* for one angle of every lane, or all angles of one lane */
    a->lock = lock;
    a->offered = offered;
    GESS_ALLOC(&a->queues, workers, err);
    for (; a->workers < workers; a->workers++) {
        gess__speculation_queue *q = &a->queues[a->workers];
        q->room = room;
        q->dim = dim;
        q->blob_count = blobs;
        GESS_TRY(open_queue(q, a, block, err));
    }
    return GESS_OK;
}

void gess__speculation_free(gess__speculation *a)
{
    if (a == NULL) return;
    for (unsigned i = 0; i < a->workers; i++) {
        free(a->queues[i].slots);
        free(a->queues[i].points);
        free(a->queues[i].blobs);
        free(a->queues[i].from);
        pthread_cond_destroy(&a->queues[i].came);
    }
    free(a->queues);
    free(a);
}

void gess__speculation_label(gess__speculation *a, unsigned worker, gess__frozen_label label)
{
    a->queues[worker].label = label;
}

void gess__speculation_set_sender(gess__speculation *a, pthread_cond_t *sender)
{
    a->sender = sender;
}

uint64_t gess__speculation_unused(const gess__speculation *a)
{
    return a->made - a->used;
}

/* ---- idle workers ---- */

/* Takes the nearest point that nobody has begun. `due`: time limit for its value; 0: this process evaluates it. */
static int take(gess__speculation *a, unsigned first, double due, double *point, gess__predicted_point *taken)
{
    gess__speculation_queue *best = NULL;
    uint64_t nearest = UINT64_MAX;
    for (unsigned i = 0; i < a->workers; i++) {
        gess__speculation_queue *q = &a->queues[(first + i) % a->workers];
        while (q->begun < q->tail && q->slots[q->begun % q->room].state != READY) q->begun++;
        if (q->begun == q->tail) continue;
        uint64_t lead = q->slots[q->begun % q->room].round - q->round;
        if (lead >= nearest) continue;
        nearest = lead;
        best = q;
    }
    if (best == NULL) return 0;
    size_t at = best->begun++ % best->room;
    best->slots[at].state = TAKEN;
    best->slots[at].ticket = ++best->tickets;
    best->slots[at].due = due;
    *taken = (gess__predicted_point){.queue = best, .slot = at, .ticket = best->tickets, .label = best->label};
    memcpy(point, best->points + at * best->dim, best->dim * sizeof *point);
    return 1;
}

static void give(const gess__predicted_point *taken, int status, double value, const double *blobs)
{
    const gess__speculation_queue *q = taken->queue;
    slot *s = &q->slots[taken->slot];
    if (s->ticket != taken->ticket) return;
    s->value = value;
    if (status == GESS_OK && blobs != NULL)
        memcpy(q->blobs + taken->slot * q->blob_count, blobs, q->blob_count * sizeof *blobs);
    s->state = status == GESS_OK ? CAME : FAILED;
    pthread_cond_signal(&taken->queue->came);
}

int gess__speculation_take(gess__speculation *a, unsigned first, double *point, gess__predicted_point *taken)
{
    return take(a, first, 0.0, point, taken);
}

void gess__speculation_give(gess__speculation *a, const gess__predicted_point *taken, int status, double value,
                            const double *blobs)
{
    a->made++;
    give(taken, status, value, blobs);
}

int gess__speculation_take_remote(gess__speculation *a, double due, double *point, gess__predicted_point *taken)
{
    int found = take(a, 0, due, point, taken);
    a->made += (uint64_t)found;
    return found;
}

void gess__speculation_give_remote(gess__speculation *a, const gess__predicted_point *taken, int status, double value,
                                   const double *blobs)
{
    (void)a;
    give(taken, status, value, blobs);
}

void gess__speculation_return(gess__speculation *a, const gess__predicted_point *taken)
{
    a->made--;
    give(taken, GESS_ERR_INTERNAL, 0.0, NULL);
}

/* ---- the worker that runs the update ---- */

static void drop(slot *s)
{
    s->state = GONE;
    s->ticket = 0;
}

/* Notes which values of the present round are there or on their way, and drops the points of lanes that have ended.
 * Returns whether all values are there. */
static int claim(gess__speculation_queue *q, const gess__update *u)
{
    size_t p = 0, there = 0;
    uint64_t round = UINT64_MAX;
    for (size_t i = 0; i < u->proposals; i++) q->from[i] = SELF;
    if (q->head == q->tail) return 0;
    pthread_mutex_lock(q->speculation->lock);
    q->round = u->round;
    for (uint64_t i = q->head; i < q->tail; i++) {
        slot *s = &q->slots[i % q->room];
        if (s->round != round) p = 0;
        round = s->round;
        while (p < u->proposals && u->lane[p] < s->lane) p++;
        int at_work = p < u->proposals && u->lane[p] == s->lane;
        if (at_work && round > u->round) continue;
        const double *point = q->points + i % q->room * q->dim;
        if (at_work && (s->state == TAKEN || s->state == CAME) &&
            memcmp(point, u->points + p * q->dim, q->dim * sizeof *point) == 0) {
            q->from[p] = i % q->room;
            there += s->state == CAME;
        } else {
            drop(s);
        }
    }
    pthread_mutex_unlock(q->speculation->lock);
    return there == u->proposals;
}

/* Predicts the points of one more round into the slots from `tail` on; returns 0 if they cannot be predicted. */
static int write_round(const gess__kernel *kernel, gess__speculation_queue *q, const gess__update *u, uint64_t tail,
                       uint64_t round)
{
    for (size_t p = 0; p < u->proposals; p++) {
        double *point = q->points + (tail + p) % q->room * q->dim;
        if (!kernel->predict(u, p, (size_t)(round - u->round), point)) return 0;
    }
    return 1;
}

/* Queues the points of further rounds, as far as there is room. */
static void queue_rounds(const gess__kernel *kernel, gess__speculation_queue *q, const gess__update *u)
{
    uint64_t tail = q->tail, first = q->next > u->round ? q->next : u->round + 1, round = first;
    while (round - u->round <= u->depth && tail - q->head + u->proposals <= q->room &&
           write_round(kernel, q, u, tail, round)) {
        tail += u->proposals;
        round++;
    }
    if (round == first) return;
    pthread_mutex_lock(q->speculation->lock);
    for (uint64_t i = q->tail; i < tail; i++)
        q->slots[i % q->room] = (slot){.round = first + (i - q->tail) / u->proposals,
                                       .lane = u->lane[(i - q->tail) % u->proposals],
                                       .state = READY};
    uint64_t count = tail - q->tail;
    q->next = round;
    q->round = u->round;
    q->tail = tail;
    for (uint64_t i = 0; i < count && i < q->speculation->workers; i++) pthread_cond_signal(q->speculation->offered);
    if (q->speculation->sender != NULL) pthread_cond_signal(q->speculation->sender);
    pthread_mutex_unlock(q->speculation->lock);
}

/* Evaluates the proposals that nobody else evaluates. */
static int evaluate_rest(const gess__speculation_queue *q, gess__update *u, gess_error *err)
{
    for (size_t p = 0; p < u->proposals;) {
        size_t first = p;
        while (p < u->proposals && q->from[p] == SELF) p++;
        if (p > first) GESS_TRY(gess__update_ask(u, first, p - first, err));
        while (p < u->proposals && q->from[p] != SELF) p++;
    }
    return GESS_OK;
}

/* Waits for a value; if it went to another rank, until it is due. */
static void wait_for(gess__speculation_queue *q, slot *s)
{
    while (s->state == TAKEN && s->due == 0.0) pthread_cond_wait(&q->came, q->speculation->lock);
    struct timespec until = {(time_t)s->due,
                             (long)(1e9 * (s->due - floor(s->due)))}; /* gess__seconds() is this clock */
    while (s->state == TAKEN)
        if (pthread_cond_timedwait(&q->came, q->speculation->lock, &until) != 0 && s->state == TAKEN) drop(s);
}

/* Waits for the values of other workers, and clears the round from the queue. If one had an error, or is late, the
 * owner evaluates the point again, so that the message is that of a run without speculation. */
static int collect(gess__speculation_queue *q, gess__update *u, gess_error *err)
{
    if (q->head == q->tail) return GESS_OK;
    pthread_mutex_lock(q->speculation->lock);
    for (size_t p = 0; p < u->proposals; p++) {
        if (q->from[p] == SELF) continue;
        slot *s = &q->slots[q->from[p]];
        wait_for(q, s);
        u->values[p] = s->value;
        if (s->state == CAME) {
            if (q->blobs != NULL)
                memcpy(u->blobs + p * q->blob_count, q->blobs + q->from[p] * q->blob_count,
                       q->blob_count * sizeof *u->blobs);
            q->speculation->used++;
            q->from[p] = SELF;
        }
    }
    while (q->head < q->tail && q->slots[q->head % q->room].round <= u->round) q->head++;
    if (q->begun < q->head) q->begun = q->head;
    pthread_mutex_unlock(q->speculation->lock);
    for (size_t p = 0; p < u->proposals; p++)
        if (q->from[p] != SELF) GESS_TRY(gess__update_ask(u, p, 1, err));
    return GESS_OK;
}

static int evaluate(const gess__kernel *kernel, gess__update *u, gess_error *err)
{
    gess__speculation_queue *q = u->queue;
    if (!claim(q, u)) queue_rounds(kernel, q, u);
    GESS_TRY(evaluate_rest(q, u, err));
    return collect(q, u, err);
}

static void withdraw(gess__update *u)
{
    gess__speculation_queue *q = u->queue;
    if (q->next == 0) return;
    pthread_mutex_lock(q->speculation->lock);
    for (; q->head < q->tail; q->head++) drop(&q->slots[q->head % q->room]);
    q->begun = q->head;
    q->next = 0;
    pthread_mutex_unlock(q->speculation->lock);
}

static const gess__evaluator speculative = {.evaluate = evaluate, .finish = withdraw};

void gess__speculation_begin(gess__speculation *speculation, gess__update *u, unsigned worker, size_t depth)
{
    int used = speculation != NULL && depth > 0;
    u->depth = depth;
    u->queue = used ? &speculation->queues[worker] : NULL;
    u->evaluator = used ? &speculative : NULL;
}

void gess__speculation_end(gess__update *u)
{
    if (u->evaluator != NULL) withdraw(u);
}
