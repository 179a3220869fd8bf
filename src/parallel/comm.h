/* Messages between the processes ("ranks") of one run.
 *
 * A communicator is a few functions over something that carries bytes: MPI (src/mpi, a library of its own), or
 * queues between threads of one process (loopback.c, for tests and simulations). Nothing here waits: a message is
 * copied and on its way when `send` returns, and `poll` gives the next that has come, or says that there is none.
 * Messages from one rank arrive in the order in which they were sent. One thread of a rank, always the same, makes
 * all calls. */
#ifndef GESS_PARALLEL_COMM_H
#define GESS_PARALLEL_COMM_H

#include "base/status.h"

enum { GESS__COMM_ABI = 2 };

typedef struct gess__message {
    int from, tag;
    size_t count;      /* bytes */
    const void *bytes; /* until the next poll */
} gess__message;

/* What has gone through, headers not counted. */
typedef struct gess__traffic {
    uint64_t messages_out, bytes_out, messages_in, bytes_in;
} gess__traffic;

/* The public gess_comm. */
struct gess_comm {
    unsigned abi; /* GESS__COMM_ABI: the library that made it may be another */
    int rank, size;
    gess__traffic traffic;
    void *own;
    uint64_t runs;                   /* begun so far, the same on all ranks */
    int left, left_status;           /* of a guest: rank 0 has left, and with what */
    void *ranks;                     /* of rank 0: gess__coordinator, once there was a run */
    void (*free_ranks)(void *ranks); /* `close` calls it */
    int (*send)(gess_comm *comm, int to, int tag, const void *bytes, size_t count, gess_error *err);
    /* *got: there was one */
    int (*poll)(gess_comm *comm, gess__message *message, int *got, gess_error *err);
    /* Messages that were begun and are not through, in or out: worth polling for at once. */
    size_t (*pending)(gess_comm *comm);
    /* Ends every rank at once, this one too. The text goes to standard error. */
    void (*abort)(gess_comm *comm, int status, const char *text);
    void (*close)(gess_comm *comm);
};

/* ---- loopback.c: ranks that are threads of this process ---- */

typedef struct gess__loopback gess__loopback;

/* `latency` seconds pass before a message can be received, and `per_byte` more for each of its bytes, one message
 * of a pair of ranks after the other. */
int gess__loopback_new(gess__loopback **net, int size, double latency, double per_byte, gess_error *err);
gess_comm *gess__loopback_rank(gess__loopback *net, int rank);
/* Nothing that is sent from or to this rank arrives any more, as if it had been killed. */
void gess__loopback_cut(gess__loopback *net, int rank);
void gess__loopback_free(gess__loopback *net);

#endif
