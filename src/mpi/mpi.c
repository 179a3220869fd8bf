/* The communicator of parallel/comm.h over MPI. It needs only MPI 2: Isend, Iprobe, Irecv, Test.
 *
 * Only the calls that make and free a communicator wait for other ranks. A sent message is copied into a parcel, which
 * lives until MPI is done with it and is then used again. Messages are received in the order in which they were found,
 * several at a time, so that the messages behind a large one do not wait a round trip each. Bytes travel as 64-bit
 * words, so that MPI's int counts reach 16 GiB. */
#include "base/assert.h"
#include "parallel/comm.h"

#include <gess/gess_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parcel {
    struct parcel *next;
    MPI_Request request;
    int from, tag;
    size_t count, room; /* words */
    uint64_t *words;    /* the first is the number of bytes that follow */
} parcel;

typedef struct queue {
    parcel *first, *last;
    size_t length;
} queue;

enum { MAX_INCOMING = 16, MAX_TESTED = 16 };

#define CLOSE_SECONDS 2.0

typedef struct wire {
    MPI_Comm comm;
    int finalise;          /* whether close calls MPI_Finalize() */
    queue outgoing;        /* in transit, in no order */
    queue incoming;        /* in the order in which they were found */
    parcel *read, *unused; /* the message of the last poll; parcels to use again */
} wire;

static int failed(int code, const char *what, gess_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return gess__fail(err, GESS_ERR_INTERNAL, "MPI: %s: %s", what, text);
}

#define TRY_MPI(call, what, err)                                       \
    do {                                                               \
        int code_ = (call);                                            \
        if (code_ != MPI_SUCCESS) return failed(code_, (what), (err)); \
    } while (0)

/* ---- parcels ---- */

static void append(queue *q, parcel *p)
{
    p->next = NULL;
    if (q->last != NULL)
        q->last->next = p;
    else
        q->first = p;
    q->last = p;
    q->length++;
}

static parcel *take_first(queue *q)
{
    parcel *p = q->first;
    q->first = p->next;
    if (q->first == NULL) q->last = NULL;
    q->length--;
    return p;
}

static void put_away(wire *w, parcel *p)
{
    if (p == NULL) return;
    p->next = w->unused;
    w->unused = p;
}

static void free_parcels(parcel *p)
{
    while (p != NULL) {
        parcel *next = p->next;
        free(p->words);
        free(p);
        p = next;
    }
}

/* A parcel with room for `words` words. */
static int get_parcel(wire *w, size_t words, parcel **out, gess_error *err)
{
    parcel **at = &w->unused;
    while (*at != NULL && (*at)->room < words) at = &(*at)->next;
    if (*at == NULL) at = &w->unused; /* none is large enough: the first one grows */
    parcel *p = *at;
    if (p != NULL)
        *at = p->next;
    else
        p = calloc(1, sizeof *p);
    if (p != NULL && p->room < words) {
        size_t room = words + words / 2;
        free(p->words);
        p->words = malloc(room * sizeof *p->words);
        p->room = p->words != NULL ? room : 0;
    }
    if (p == NULL || p->room < words) {
        put_away(w, p);
        return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for a message of %zu bytes", 8 * words);
    }
    p->count = words;
    *out = p;
    return GESS_OK;
}

/* ---- the functions of a gess_comm ---- */

static int send_parcel(gess_comm *comm, int to, int tag, const void *bytes, size_t count, gess_error *err)
{
    wire *w = comm->transport;
    parcel *p = NULL;
    size_t words = 1 + (count + 7) / 8;
    GESS_ASSERT(to >= 0 && to < comm->size && (count == 0 || bytes != NULL));
    if (words > 2147483647) return gess__fail(err, GESS_ERR_INTERNAL, "a message of %zu bytes is too long", count);
    GESS_TRY(get_parcel(w, words, &p, err));
    p->words[0] = count;
    p->words[words - 1] = words > 1 ? 0 : count;
    if (count > 0) memcpy(p->words + 1, bytes, count);
    TRY_MPI(MPI_Isend(p->words, (int)words, MPI_UINT64_T, to, tag, w->comm, &p->request), "cannot send", err);
    append(&w->outgoing, p);
    comm->traffic.messages_out++;
    comm->traffic.bytes_out += count;
    return GESS_OK;
}

/* Takes back parcels that were sent. The others go to the end of the queue, so that a rank that does not receive does
 * not hold up the rest. Tests at most MAX_TESTED parcels, because every poll calls this. */
static int reap(wire *w, gess_error *err)
{
    queue *q = &w->outgoing;
    size_t count = q->length < MAX_TESTED ? q->length : MAX_TESTED;
    for (size_t i = 0; i < count; i++) {
        int through = 0;
        TRY_MPI(MPI_Test(&q->first->request, &through, MPI_STATUS_IGNORE), "cannot send", err);
        parcel *p = take_first(q);
        if (through)
            put_away(w, p);
        else
            append(q, p);
    }
    return GESS_OK;
}

/* Starts to receive every message that MPI has announced. */
static int find_incoming(wire *w, gess_error *err)
{
    while (w->incoming.length < MAX_INCOMING) {
        int found = 0, words = 0;
        MPI_Status status;
        parcel *p = NULL;
        TRY_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, w->comm, &found, &status), "cannot probe for messages", err);
        if (!found) break;
        TRY_MPI(MPI_Get_count(&status, MPI_UINT64_T, &words), "cannot receive", err);
        if (words < 1) return gess__fail(err, GESS_ERR_INTERNAL, "MPI: a message that gess did not send");
        GESS_TRY(get_parcel(w, (size_t)words, &p, err));
        p->from = status.MPI_SOURCE;
        p->tag = status.MPI_TAG;
        TRY_MPI(MPI_Irecv(p->words, words, MPI_UINT64_T, p->from, p->tag, w->comm, &p->request), "cannot receive", err);
        append(&w->incoming, p);
    }
    return GESS_OK;
}

static int poll_parcels(gess_comm *comm, gess__message *message, int *got, gess_error *err)
{
    wire *w = comm->transport;
    queue *q = &w->incoming;
    put_away(w, w->read);
    w->read = NULL;
    *got = 0;
    GESS_TRY(reap(w, err));
    GESS_TRY(find_incoming(w, err));
    if (q->first == NULL) return GESS_OK;
    int through = 0;
    TRY_MPI(MPI_Test(&q->first->request, &through, MPI_STATUS_IGNORE), "cannot receive", err);
    if (!through) return GESS_OK;
    parcel *p = w->read = take_first(q);
    if (p->words[0] > 8 * (p->count - 1)) return gess__fail(err, GESS_ERR_INTERNAL, "MPI: an incomplete message");
    comm->traffic.messages_in++;
    comm->traffic.bytes_in += p->words[0];
    *message = (gess__message){.from = p->from, .tag = p->tag, .count = (size_t)p->words[0], .bytes = p->words + 1};
    *got = 1;
    return GESS_OK;
}

static size_t count_pending(gess_comm *comm)
{
    const wire *w = comm->transport;
    return w->outgoing.length + w->incoming.length;
}

static void abort_all(gess_comm *comm, int status, const char *text)
{
    const wire *w = comm->transport;
    if (text != NULL) fprintf(stderr, "gess: %s\n", text);
    fflush(NULL);
    MPI_Abort(w->comm, status);
    _Exit(status);
}

static void close_wire(gess_comm *comm)
{
    if (comm == NULL) return;
    wire *w = comm->transport;
    int finalise = w->finalise;
    if (comm->free_ranks != NULL) comm->free_ranks(comm->ranks);
    /* a message that no rank receives any more is left to MPI, with its memory */
    for (double start = MPI_Wtime(); w->outgoing.first != NULL && MPI_Wtime() - start < CLOSE_SECONDS;) {
        gess__message unread; /* its sender is closing too, and waits for us to receive it */
        int got;
        if (poll_parcels(comm, &unread, &got, NULL) != GESS_OK) break;
    }
    free_parcels(w->unused);
    if (w->read != NULL) free(w->read->words);
    free(w->read);
    MPI_Comm_free(&w->comm);
    free(w);
    free(comm);
    if (finalise) MPI_Finalize();
}

/* ---- making a communicator ---- */

int gess_mpi_comm(gess_comm **out, MPI_Comm of, gess_error *err)
{
    int initialised = 0, provided = MPI_THREAD_SINGLE;
    MPI_Initialized(&initialised);
    if (!initialised) return gess__fail(err, GESS_ERR_USAGE, "gess_mpi_comm: MPI has not been initialised");
    MPI_Query_thread(&provided);
    if (provided < MPI_THREAD_FUNNELED)
        return gess__fail(err, GESS_ERR_USAGE, "gess_mpi_comm: initialise MPI with MPI_THREAD_FUNNELED at least");
    gess_comm *comm = calloc(1, sizeof *comm);
    wire *w = calloc(1, sizeof *w);
    if (comm == NULL || w == NULL) {
        free(comm);
        free(w);
        return gess__fail(err, GESS_ERR_INTERNAL, "out of memory");
    }
    *comm = (gess_comm){.abi = GESS__COMM_ABI,
                        .transport = w,
                        .send = send_parcel,
                        .poll = poll_parcels,
                        .pending = count_pending,
                        .abort = abort_all,
                        .close = close_wire};
    int code = MPI_Comm_dup(of, &w->comm);
    if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(w->comm, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS) code = MPI_Comm_rank(w->comm, &comm->rank);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(w->comm, &comm->size);
    if (code != MPI_SUCCESS) {
        free(comm);
        free(w);
        return failed(code, "cannot make a communicator", err);
    }
    *out = comm;
    return GESS_OK;
}

void gess_mpi_free(gess_comm *comm)
{
    close_wire(comm);
}

int gess_mpi_world(gess_comm **comm, gess_error *err)
{
    int initialised = 0, provided;
    MPI_Initialized(&initialised);
    if (!initialised) TRY_MPI(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided), "cannot initialise", err);
    GESS_TRY(gess_mpi_comm(comm, MPI_COMM_WORLD, err));
    wire *w = (*comm)->transport;
    w->finalise = !initialised;
    return GESS_OK;
}
