#include "kernel/ahead.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Slots of a desk where the depth does not ask for more. */
enum { FEW_SLOTS = 64 };

enum state { READY, TAKEN, CAME, FAILED, GONE };

typedef struct slot {
    uint64_t ticket; /* 0: whoever has it is late */
    uint64_t round;  /* of the update */
    uint32_t lane;
    enum state state;
    double due; /* where it went elsewhere: when it is not waited for any more */
    double value;
} slot;

/* Slots head .. tail - 1 (modulo room) are in use, in the order of (round, lane). Those from `tail` on are the owner's
 * alone; of the others it changes nothing without the lock. */
struct gess__desk {
    gess__ahead *ahead;
    size_t room, dim;
    slot *slots;
    double *points; /* room × dim */
    size_t *from;   /* of each proposal: the slot that has its value, or SELF */
    uint64_t head, tail;
    uint64_t begun;   /* every slot before it is begun */
    uint64_t round;   /* that the owner is at */
    uint64_t next;    /* round to lay out next; 0: none is */
    uint64_t tickets; /* given out */
    gess__label label;
    pthread_cond_t came;
};

struct gess__ahead {
    unsigned workers;
    gess__desk *desks;
    pthread_mutex_t *lock;
    pthread_cond_t *offered, *sender;
    uint64_t made, used; /* evaluations of idle workers */
};

#define SELF SIZE_MAX

static int open_desk(gess__desk *d, gess__ahead *ahead, size_t room, size_t block, size_t dim, gess_error *err)
{
    d->ahead = ahead;
    d->room = room;
    d->dim = dim;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&d->came, &monotonic);
    pthread_condattr_destroy(&monotonic);
    GESS_ALLOC(&d->slots, room, err);
    GESS_ALLOC(&d->points, room * dim, err);
    GESS_ALLOC(&d->from, block, err);
    return GESS_OK;
}

int gess__ahead_new(gess__ahead **ahead, unsigned workers, size_t depth, size_t block, size_t dim,
                    pthread_mutex_t *lock, pthread_cond_t *offered, gess_error *err)
{
    GESS_ALLOC(ahead, 1, err);
    gess__ahead *a = *ahead;
    size_t most = depth > FEW_SLOTS ? depth : FEW_SLOTS, least = block > depth ? block : depth;
    size_t room = depth * block < most ? depth * block : most;
    if (room < least) room = least; /* one angle of every lane, or all of one */
    a->lock = lock;
    a->offered = offered;
    GESS_ALLOC(&a->desks, workers, err);
    for (; a->workers < workers; a->workers++) GESS_TRY(open_desk(&a->desks[a->workers], a, room, block, dim, err));
    return GESS_OK;
}

void gess__ahead_free(gess__ahead *a)
{
    if (a == NULL) return;
    for (unsigned i = 0; i < a->workers; i++) {
        free(a->desks[i].slots);
        free(a->desks[i].points);
        free(a->desks[i].from);
        pthread_cond_destroy(&a->desks[i].came);
    }
    free(a->desks);
    free(a);
}

gess__desk *gess__ahead_desk(gess__ahead *a, unsigned worker)
{
    return &a->desks[worker];
}

void gess__ahead_label(gess__ahead *a, unsigned worker, gess__label label)
{
    a->desks[worker].label = label;
}

void gess__ahead_call(gess__ahead *a, pthread_cond_t *sender)
{
    a->sender = sender;
}

uint64_t gess__ahead_unused(const gess__ahead *a)
{
    return a->made - a->used;
}

/* ---- idle workers ---- */

/* `due` 0: it stays in this process. */
static int take(gess__ahead *a, unsigned first, double due, double *point, gess__offer *offer)
{
    gess__desk *best = NULL;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < a->workers; i++) {
        gess__desk *d = &a->desks[(first + i) % a->workers];
        while (d->begun < d->tail && d->slots[d->begun % d->room].state != READY) d->begun++;
        if (d->begun == d->tail) continue;
        uint64_t lead = d->slots[d->begun % d->room].round - d->round;
        if (lead >= least) continue;
        least = lead;
        best = d;
    }
    if (best == NULL) return 0;
    size_t at = best->begun++ % best->room;
    best->slots[at].state = TAKEN;
    best->slots[at].ticket = ++best->tickets;
    best->slots[at].due = due;
    *offer = (gess__offer){.desk = best, .slot = at, .ticket = best->tickets, .label = best->label};
    memcpy(point, best->points + at * best->dim, best->dim * sizeof *point);
    return 1;
}

static void give(const gess__offer *offer, int status, double value)
{
    slot *s = &offer->desk->slots[offer->slot];
    if (s->ticket != offer->ticket) return;
    s->value = value;
    s->state = status == GESS_OK ? CAME : FAILED;
    pthread_cond_signal(&offer->desk->came);
}

int gess__ahead_take(gess__ahead *a, unsigned first, double *point, gess__offer *offer)
{
    return take(a, first, 0.0, point, offer);
}

void gess__ahead_give(gess__ahead *a, const gess__offer *offer, int status, double value)
{
    a->made++;
    give(offer, status, value);
}

int gess__ahead_send(gess__ahead *a, double due, double *point, gess__offer *offer)
{
    int taken = take(a, 0, due, point, offer);
    a->made += (uint64_t)taken;
    return taken;
}

void gess__ahead_came(gess__ahead *a, const gess__offer *offer, int status, double value)
{
    (void)a;
    give(offer, status, value);
}

void gess__ahead_refused(gess__ahead *a, const gess__offer *offer)
{
    a->made--;
    give(offer, GESS_ERR_INTERNAL, 0.0);
}

/* ---- the owner of a desk ---- */

static void drop(slot *s)
{
    s->state = GONE;
    s->ticket = 0;
}

/* Takes what there is of the present round, and takes back what lanes that have ended had laid out. True where all
 * values are there. */
static int claim(gess__desk *d, const gess__update *u)
{
    size_t p = 0, there = 0;
    uint64_t round = UINT64_MAX;
    for (size_t i = 0; i < u->proposals; i++) d->from[i] = SELF;
    if (d->head == d->tail) return 0;
    pthread_mutex_lock(d->ahead->lock);
    d->round = u->round;
    for (uint64_t i = d->head; i < d->tail; i++) {
        slot *s = &d->slots[i % d->room];
        if (s->round != round) p = 0;
        round = s->round;
        while (p < u->proposals && u->lane[p] < s->lane) p++;
        int at_work = p < u->proposals && u->lane[p] == s->lane;
        if (at_work && round > u->round) continue;
        const double *point = d->points + i % d->room * d->dim;
        if (at_work && (s->state == TAKEN || s->state == CAME) &&
            memcmp(point, u->points + p * d->dim, d->dim * sizeof *point) == 0) {
            d->from[p] = i % d->room;
            there += s->state == CAME;
        } else {
            drop(s);
        }
    }
    pthread_mutex_unlock(d->ahead->lock);
    return there == u->proposals;
}

/* Writes the points of one round more from slot `tail` on; false where they cannot be foreseen. */
static int write_round(const gess__kernel *kernel, gess__desk *d, const gess__update *u, uint64_t tail, uint64_t round)
{
    for (size_t p = 0; p < u->proposals; p++) {
        double *point = d->points + (tail + p) % d->room * d->dim;
        if (!kernel->foresee(u, p, (size_t)(round - u->round), point)) return 0;
    }
    return 1;
}

/* Lays out further angles, as far as there is room. */
static void lay_out(const gess__kernel *kernel, gess__desk *d, const gess__update *u)
{
    uint64_t tail = d->tail, first = d->next > u->round ? d->next : u->round + 1, round = first;
    while (round - u->round <= u->ahead && tail - d->head + u->proposals <= d->room &&
           write_round(kernel, d, u, tail, round)) {
        tail += u->proposals;
        round++;
    }
    if (round == first) return;
    pthread_mutex_lock(d->ahead->lock);
    for (uint64_t i = d->tail; i < tail; i++)
        d->slots[i % d->room] = (slot){.round = first + (i - d->tail) / u->proposals,
                                       .lane = u->lane[(i - d->tail) % u->proposals],
                                       .state = READY};
    uint64_t count = tail - d->tail;
    d->next = round;
    d->round = u->round;
    d->tail = tail;
    for (uint64_t i = 0; i < count && i < d->ahead->workers; i++) pthread_cond_signal(d->ahead->offered);
    if (d->ahead->sender != NULL) pthread_cond_signal(d->ahead->sender);
    pthread_mutex_unlock(d->ahead->lock);
}

/* Evaluates the proposals that nobody else does. */
static int evaluate_own(const gess__desk *d, gess__update *u, gess_error *err)
{
    for (size_t p = 0; p < u->proposals;) {
        size_t first = p;
        while (p < u->proposals && d->from[p] == SELF) p++;
        if (p > first) GESS_TRY(gess__update_ask(u, first, p - first, err));
        while (p < u->proposals && d->from[p] != SELF) p++;
    }
    return GESS_OK;
}

/* Waits for a value; where it went elsewhere, until it is due. */
static void wait_for(gess__desk *d, slot *s)
{
    while (s->state == TAKEN && s->due == 0.0) pthread_cond_wait(&d->came, d->ahead->lock);
    struct timespec until = {(time_t)s->due,
                             (long)(1e9 * (s->due - floor(s->due)))}; /* gess__seconds() is this clock */
    while (s->state == TAKEN)
        if (pthread_cond_timedwait(&d->came, d->ahead->lock, &until) != 0 && s->state == TAKEN) drop(s);
}

/* Waits for the others, and clears the round from the desk. Where one had an error, or is late, its point is asked for
 * again: so the message is the one of a run without help. */
static int collect(gess__desk *d, gess__update *u, gess_error *err)
{
    if (d->head == d->tail) return GESS_OK;
    pthread_mutex_lock(d->ahead->lock);
    for (size_t p = 0; p < u->proposals; p++) {
        if (d->from[p] == SELF) continue;
        slot *s = &d->slots[d->from[p]];
        wait_for(d, s);
        u->values[p] = s->value;
        if (s->state == CAME) {
            d->ahead->used++;
            d->from[p] = SELF;
        }
    }
    while (d->head < d->tail && d->slots[d->head % d->room].round <= u->round) d->head++;
    if (d->begun < d->head) d->begun = d->head;
    pthread_mutex_unlock(d->ahead->lock);
    for (size_t p = 0; p < u->proposals; p++)
        if (d->from[p] != SELF) GESS_TRY(gess__update_ask(u, p, 1, err));
    return GESS_OK;
}

int gess__ahead_evaluate(const gess__kernel *kernel, gess__update *u, gess_error *err)
{
    gess__desk *d = u->desk;
    if (!claim(d, u)) lay_out(kernel, d, u);
    GESS_TRY(evaluate_own(d, u, err));
    return collect(d, u, err);
}

void gess__ahead_withdraw(gess__desk *d)
{
    if (d->next == 0) return;
    pthread_mutex_lock(d->ahead->lock);
    for (; d->head < d->tail; d->head++) drop(&d->slots[d->head % d->room]);
    d->begun = d->head;
    d->next = 0;
    pthread_mutex_unlock(d->ahead->lock);
}
