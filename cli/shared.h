/* The memory that a supervised command shares with its parent: what each worker is evaluating, and how far it is. */
#ifndef GESS_CLI_SHARED_H
#define GESS_CLI_SHARED_H

#include <gess/gess.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { SHARED_BYTES = 1 << 24 };

enum phase {
    STARTING,  /* arguments are read */
    RUNNING,   /* the model is open or being opened */
    REPORTING, /* the run is over or stopped */
    ENDED
};

struct shared {
    atomic_int phase, opened, saving, thread_ended, out_of_time;
    int makes_run;       /* `sample` and `resume`: what they have done is kept, and goes on */
    int status;          /* of a command that ended by itself */
    double began, limit; /* monotonic seconds; limit 0: none */
    unsigned workers;    /* 0: not known yet */
    char rank[300];      /* which of several processes this is, for messages; empty: the only one */
    char model[4096], data[4096], directory[4096];
    _Alignas(64) unsigned char slots[]; /* one per worker, all of the same size */
};

/* What a worker is evaluating. */
struct slot {
    atomic_int active;
    int derived;     /* it evaluates derived quantities */
    uint64_t n, dim; /* of the call */
    uint64_t noted;  /* points that are noted here: as many as there is room for */
    uint64_t chain[GESS_WATCHED_POINTS];
    double x[]; /* noted × dim */
};

static inline size_t slot_bytes(const struct shared *s)
{
    size_t bytes = (SHARED_BYTES - sizeof *s) / (s->workers > 0 ? s->workers : 1);
    return (bytes > 1u << 20 ? 1u << 20 : bytes) & ~(size_t)63;
}

/* NULL: there is no room for it. */
static inline struct slot *slot_of(struct shared *s, unsigned worker)
{
    size_t bytes = slot_bytes(s);
    if (worker >= s->workers || bytes < sizeof(struct slot)) return NULL;
    return (struct slot *)(void *)(s->slots + worker * bytes);
}

/* How many of n points a slot has room for. */
static inline size_t slot_room(const struct shared *s, uint64_t n, uint64_t dim)
{
    size_t room = dim > 0 ? (slot_bytes(s) - sizeof(struct slot)) / sizeof(double) / dim : 0;
    if (room > GESS_WATCHED_POINTS) room = GESS_WATCHED_POINTS;
    return n < room ? n : room;
}

static inline void slot_note(const struct shared *s, struct slot *slot, const gess_evaluation *e)
{
    size_t noted = slot_room(s, e->n, e->dim);
    slot->derived = e->what == GESS_WATCH_DERIVED;
    slot->n = e->n;
    slot->dim = e->dim;
    slot->noted = noted;
    memset(slot->chain, 0, sizeof *slot->chain);
    if (e->chains != NULL) memcpy(slot->chain, e->chains, noted * sizeof *e->chains);
    memcpy(slot->x, e->x, noted * e->dim * sizeof *e->x);
}

#endif
