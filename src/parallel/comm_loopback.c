/* Connects ranks that are threads of one process, by queues with simulated latency: for tests and simulations. */
#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "parallel/comm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct letter {
    struct letter *next;
    double due; /* clock at which it can be received */
    int from, tag;
    size_t count;
    _Alignas(16) unsigned char bytes[];
} letter;

struct gess__loopback {
    int size;
    double latency, per_byte;
    pthread_mutex_t lock;
    letter **first, **last; /* per rank: the letters that it has not received, in the order of arrival */
    letter **read;          /* per rank: the letter that it received last */
    double *busy;           /* per pair of ranks: when the previous message is through */
    atomic_int *cut;        /* per rank */
    gess_comm *comm;
};

static int send_letter(gess_comm *comm, int to, int tag, const void *bytes, size_t count, gess_error *err)
{
    gess__loopback *net = comm->transport;
    GESS_ASSERT(to >= 0 && to < comm->size);
    letter *l = malloc(sizeof *l + count);
    if (l == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for a message of %zu bytes", count);
    *l = (letter){.from = comm->rank, .tag = tag, .count = count};
    if (count > 0) memcpy(l->bytes, bytes, count);
    comm->traffic.messages_out++;
    comm->traffic.bytes_out += count;
    pthread_mutex_lock(&net->lock);
    double *busy = &net->busy[comm->rank * net->size + to], now = gess__seconds();
    *busy = (*busy > now ? *busy : now) + net->per_byte * (double)count;
    l->due = *busy + net->latency;
    if (net->last[to] != NULL)
        net->last[to]->next = l;
    else
        net->first[to] = l;
    net->last[to] = l;
    pthread_mutex_unlock(&net->lock);
    return GESS_OK;
}

/* Removes and returns the first letter that is due; letters of one sender are due in their order. NULL: none. */
static letter *take_letter(gess__loopback *net, int rank)
{
    double now = gess__seconds();
    letter *before = NULL, *l = net->first[rank];
    while (l != NULL && (l->due > now || atomic_load(&net->cut[l->from]))) {
        before = l;
        l = l->next;
    }
    if (l == NULL) return NULL;
    if (before != NULL)
        before->next = l->next;
    else
        net->first[rank] = l->next;
    if (net->last[rank] == l) net->last[rank] = before;
    return l;
}

static int poll_letters(gess_comm *comm, gess__message *message, int *got, gess_error *err)
{
    gess__loopback *net = comm->transport;
    (void)err;
    free(net->read[comm->rank]);
    net->read[comm->rank] = NULL;
    *got = 0;
    if (atomic_load(&net->cut[comm->rank])) return GESS_OK;
    pthread_mutex_lock(&net->lock);
    letter *l = take_letter(net, comm->rank);
    pthread_mutex_unlock(&net->lock);
    if (l == NULL) return GESS_OK;
    net->read[comm->rank] = l;
    comm->traffic.messages_in++;
    comm->traffic.bytes_in += l->count;
    *message = (gess__message){.from = l->from, .tag = l->tag, .count = l->count, .bytes = l->bytes};
    *got = 1;
    return GESS_OK;
}

static size_t pending_letters(gess_comm *comm)
{
    (void)comm;
    return 0;
}

static void abort_all(gess_comm *comm, int status, const char *text)
{
    (void)comm;
    fprintf(stderr, "gess: %s\n", text);
    _Exit(status);
}

static void close_rank(gess_comm *comm)
{
    (void)comm; /* gess__loopback_free() frees all ranks */
}

int gess__loopback_new(gess__loopback **out, int size, double latency, double per_byte, gess_error *err)
{
    GESS_ASSERT(size > 0);
    GESS_ALLOC(out, 1, err);
    gess__loopback *net = *out;
    size_t ranks = (size_t)size;
    net->size = size;
    net->latency = latency;
    net->per_byte = per_byte;
    pthread_mutex_init(&net->lock, NULL);
    GESS_ALLOC(&net->first, ranks, err);
    GESS_ALLOC(&net->last, ranks, err);
    GESS_ALLOC(&net->read, ranks, err);
    GESS_ALLOC(&net->busy, ranks * ranks, err);
    GESS_ALLOC(&net->cut, ranks, err);
    GESS_ALLOC(&net->comm, ranks, err);
    for (int rank = 0; rank < size; rank++)
        net->comm[rank] = (gess_comm){.abi = GESS__COMM_ABI,
                                      .rank = rank,
                                      .size = size,
                                      .transport = net,
                                      .send = send_letter,
                                      .poll = poll_letters,
                                      .pending = pending_letters,
                                      .abort = abort_all,
                                      .close = close_rank};
    return GESS_OK;
}

gess_comm *gess__loopback_rank(gess__loopback *net, int rank)
{
    GESS_ASSERT(rank >= 0 && rank < net->size);
    return &net->comm[rank];
}

void gess__loopback_cut(gess__loopback *net, int rank)
{
    atomic_store(&net->cut[rank], 1);
}

void gess__loopback_free(gess__loopback *net)
{
    if (net == NULL) return;
    for (int rank = 0; net->comm != NULL && rank < net->size; rank++) {
        if (net->comm[rank].free_ranks != NULL) net->comm[rank].free_ranks(net->comm[rank].ranks);
        free(net->read[rank]);
        for (letter *l = net->first[rank]; l != NULL;) {
            letter *next = l->next;
            free(l);
            l = next;
        }
    }
    free(net->first);
    free(net->last);
    free(net->read);
    free(net->busy);
    free(net->cut);
    free(net->comm);
    pthread_mutex_destroy(&net->lock);
    free(net);
}
