/* The communicator: messages between the processes ("ranks") of one run.
 *
 * A communicator is a table of functions over a transport: MPI (src/mpi, a separate library), or queues between threads
 * of one process (comm_loopback.c, for tests and simulations). No call waits: `send` copies the message, and `poll`
 * returns the next message that has arrived, or none. Messages from one rank arrive in the order in which they were
 * sent. One thread of a rank, always the same, makes all calls. */
#ifndef GESS_PARALLEL_COMM_H
#define GESS_PARALLEL_COMM_H

#include "base/status.h"

enum { GESS__COMM_ABI = 2 };

typedef struct gess__message {
    int from, tag;
    size_t count;      /* bytes */
    const void *bytes; /* valid until the next poll */
} gess__message;

/* Messages and bytes so far, without headers. */
typedef struct gess__traffic {
    uint64_t messages_out, bytes_out, messages_in, bytes_in;
} gess__traffic;

/* The public gess_comm. */
struct gess_comm {
    unsigned abi; /* GESS__COMM_ABI: the library that made it may be of another version */
    int rank, size;
    gess__traffic traffic;
    void *transport;                 /* state of the functions below */
    uint64_t runs;                   /* begun so far, the same on all ranks */
    int left, left_status;           /* on a helper rank: whether rank 0 has ended, and its status */
    void *ranks;                     /* on rank 0: the gess__coordinator, from the first run on */
    void (*free_ranks)(void *ranks); /* `close` calls it */
    int (*send)(gess_comm *comm, int to, int tag, const void *bytes, size_t count, gess_error *err);
    /* *got: whether there was a message */
    int (*poll)(gess_comm *comm, gess__message *message, int *got, gess_error *err);
    /* Messages in transit, in or out. If there are any, poll again soon. */
    size_t (*pending)(gess_comm *comm);
    /* Ends every rank at once, this one too. The text goes to standard error. */
    void (*abort)(gess_comm *comm, int status, const char *text);
    void (*close)(gess_comm *comm);
};

/* ---- comm_loopback.c: ranks that are threads of this process ---- */

typedef struct gess__loopback gess__loopback;

/* A message can be received after `latency` seconds plus `per_byte` seconds per byte; messages between the same two
 * ranks wait for each other. */
int gess__loopback_new(gess__loopback **net, int size, double latency, double per_byte, gess_error *err);
gess_comm *gess__loopback_rank(gess__loopback *net, int rank);
/* From now on no message from or to this rank arrives, as if it had been killed. */
void gess__loopback_cut(gess__loopback *net, int rank);
void gess__loopback_free(gess__loopback *net);

#endif
