/* Begins and ends a run on rank 0: waits for all helper ranks, sizes blocks for the threads of all ranks, and dismisses
 * the ranks at the end. At the beginning of a stretch it packs the frozen state for them. comm_thread.c carries the
 * messages in between. */
#include "cluster/coordinator.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/mem.h"
#include "cluster/coordinator_state.h"
#include "parallel/condition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GATHER_SECONDS 600.0 /* models may take long to load, on some nodes longer than on others */

/* ---- making and freeing ---- */

static void forget_run(gess__coordinator *c)
{
    for (size_t i = 0; i < c->ensembles; i++) gess__archive_free(&c->frozen[i].packed);
    free(c->frozen);
    c->frozen = NULL;
    c->ensembles = 0;
    for (int i = 0; i < gess__peer_count(c); i++) {
        free(c->peers[i].generation);
        c->peers[i].generation = NULL;
    }
}

static void free_coordinator(void *coordinator)
{
    gess__coordinator *c = coordinator;
    if (c == NULL) return;
    if (c->peers != NULL) {
        forget_run(c);
        for (int i = 0; i < gess__peer_count(c); i++) free(c->peers[i].outstanding);
    }
    free(c->peers);
    free(c->loads);
    gess__helpers_free(&c->helpers);
    gess__archive_free(&c->out);
    pthread_cond_destroy(&c->wake);
    pthread_cond_destroy(&c->news);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static int begin_stretch(gess__remote *remote, gess__scheduler *scheduler, gess_error *err);
static void end_stretch(gess__remote *remote);

int gess__coordinator_of(gess_comm *comm, gess__coordinator **out, gess_error *err)
{
    *out = comm != NULL ? comm->ranks : NULL;
    if (comm == NULL || comm->size < 2 || comm->ranks != NULL) return GESS_OK;
    GESS_ALLOC(out, 1, err);
    gess__coordinator *c = *out;
    comm->ranks = c;
    comm->free_ranks = free_coordinator;
    c->remote = (gess__remote){.begin = begin_stretch, .end = end_stretch};
    c->comm = comm;
    pthread_mutex_init(&c->lock, NULL);
    gess__condition_init(&c->wake);
    gess__condition_init(&c->news);
    c->backoff.active = gess__seconds();
    GESS_ALLOC(&c->peers, (size_t)gess__peer_count(c), err);
    GESS_ALLOC(&c->loads, (size_t)comm->size, err);
    return GESS_OK;
}

void gess__coordinator_next_run(gess__coordinator *c)
{
    pthread_mutex_lock(&c->lock);
    uint64_t run = ++c->comm->runs;
    if (!c->broken && run > 1) c->status = GESS_OK; /* the first: a helper rank may have failed before it */
    if (c->early.run == run && c->status == GESS_OK) {
        c->status = c->early.status;
        c->error = c->early.error;
        c->failed = gess__awake_clock_seconds(&c->awake);
    }
    if (c->early.run <= run) c->early.run = 0;
    c->setup.block = 0;
    c->unused = 0;
    pthread_mutex_unlock(&c->lock);
}

int gess__coordinator_broken(const gess__coordinator *c)
{
    return c != NULL && c->broken;
}

/* ---- a run begins ---- */

static void wait_for_news(gess__coordinator *c)
{
    gess__condition_wait(&c->news, &c->lock, 1.0);
}

static int prepare(gess__coordinator *c, size_t count, gess_error *err)
{
    forget_run(c);
    GESS_ALLOC(&c->frozen, count, err);
    c->ensembles = count;
    for (int i = 0; i < gess__peer_count(c); i++) GESS_ALLOC(&c->peers[i].generation, count, err);
    return GESS_OK;
}

static int all_present(const gess__coordinator *c, int *missing)
{
    for (*missing = 0; *missing < gess__peer_count(c); ++*missing)
        if (!c->peers[*missing].present || c->peers[*missing].run != c->comm->runs) return 0;
    return 1;
}

static int await_all(gess__coordinator *c, gess_error *err)
{
    double start = gess__seconds();
    int missing;
    while (c->status == GESS_OK && !all_present(c, &missing)) {
        const gess__peer *p = &c->peers[missing];
        if (p->latest >= c->comm->runs)
            return gess__fail(err, GESS_ERR_USAGE, "rank %d could not begin the run", missing + 1);
        if (gess__seconds() - start > GATHER_SECONDS) {
            c->broken = 1;
            return gess__fail(err, GESS_ERR_INTERNAL, "rank %d did not begin within %g s", missing + 1, GATHER_SECONDS);
        }
        wait_for_news(c);
    }
    if (c->status == GESS_OK) return GESS_OK;
    *err = c->error;
    return c->status;
}

/* Sizes blocks for the threads of all ranks. */
static int share(gess__coordinator *c, size_t count, gess__ensemble **ensemble, const gess_options *options,
                 gess_error *err)
{
    const gess__ensemble *first = ensemble[0];
    unsigned workers = gess__team_size(first->team);
    for (int i = 0; i < gess__peer_count(c); i++) workers += c->peers[i].threads;
    c->remote.workers = workers;
    c->setup = (gess__setup){.block = 1,
                             .learns_map = first->frozen.map != NULL,
                             .mixture = first->frozen.mixture != NULL,
                             .anneals = first->frozen.reference != NULL,
                             .tempered = first->chains.powers != NULL};
    for (size_t i = 0; i < count; i++) {
        ensemble[i]->remote = &c->remote;
        ensemble[i]->number = i;
        GESS_TRY(gess__ensemble_share(ensemble[i], options, workers, err));
        if (ensemble[i]->block > c->setup.block) c->setup.block = ensemble[i]->block;
    }
    c->announced = c->farewell_sent = 0;
    memset(c->loads, 0, (size_t)c->comm->size * sizeof *c->loads);
    c->assigned = 0;
    return gess__helpers_open(&c->helpers, c->comm, first->target.dim, first->chains.blob_count, &c->wake, err);
}

int gess__coordinator_gather(gess__coordinator *c, size_t count, gess__ensemble **ensemble, const gess_options *options,
                             void (*stop)(void *user), void *user, gess_error *err)
{
    if (c == NULL) return GESS_OK;
    GESS_ASSERT(count > 0 && err != NULL);
    pthread_mutex_lock(&c->lock);
    c->stop = stop;
    c->stop_user = user;
    for (int i = 0; i < gess__peer_count(c); i++)
        if (c->peers[i].stopped == c->comm->runs) stop(user); /* it asked before the run began */
    int status = prepare(c, count, err);
    if (status == GESS_OK) status = await_all(c, err);
    if (status == GESS_OK) status = share(c, count, ensemble, options, err);
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* ---- a stretch begins and ends ---- */

/* Packs the frozen state again, and counts it as a new generation if it has changed. */
int gess__coordinator_pack(gess__coordinator *c, gess__ensemble *e, gess_error *err)
{
    gess__packed_frozen *f = &c->frozen[e->number];
    gess__archive packed = {0};
    uint64_t number = e->number;
    GESS_ARCHIVE(&packed, &f->generation);
    GESS_ARCHIVE(&packed, &number);
    gess__frozen_archive(&e->frozen, &packed);
    if (packed.bad) {
        gess__archive_free(&packed);
        return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for the approximation");
    }
    if (f->packed.size == packed.size && memcmp(f->packed.bytes, packed.bytes, packed.size) == 0) {
        gess__archive_free(&packed);
        return GESS_OK;
    }
    gess__archive_free(&f->packed);
    f->packed = packed;
    f->generation++;
    memcpy(packed.bytes, &f->generation, sizeof f->generation);
    return GESS_OK;
}

static int begin_stretch(gess__remote *remote, gess__scheduler *scheduler, gess_error *err)
{
    gess__coordinator *c = (gess__coordinator *)remote;
    gess__ensemble *e = gess__scheduler_ensemble(scheduler);
    pthread_mutex_lock(&c->lock);
    int status = c->status;
    if (status != GESS_OK) *err = c->error;
    if (status == GESS_OK) status = gess__coordinator_pack(c, e, err);
    if (status == GESS_OK) {
        const gess__frozen_label label = {e->number, c->frozen[e->number].generation};
        pthread_mutex_t *lock;
        c->scheduler = scheduler;
        gess__coordinator_note_unused(c);
        gess__speculation *speculation = gess__scheduler_label(scheduler, label, &lock);
        gess__helpers_attach(&c->helpers, speculation, lock);
        c->takeovers = UINT64_MAX; /* helper ranks have not been told of the last ones of the stretch before */
        pthread_cond_signal(&c->wake);
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}

static void end_stretch(gess__remote *remote)
{
    gess__coordinator *c = (gess__coordinator *)remote;
    pthread_mutex_lock(&c->lock);
    gess__helpers_detach(&c->helpers);
    c->scheduler = NULL;
    pthread_mutex_unlock(&c->lock);
}

/* ---- a run ends ---- */

void gess__coordinator_dismiss(gess__coordinator *c, int status, const gess_error *error, const void *stats,
                               size_t size)
{
    if (c == NULL) return;
    gess__archive a = {0};
    gess_error copy = status != GESS_OK && error != NULL ? *error : (gess_error){0};
    GESS_ARCHIVE(&a, &c->comm->runs);
    gess__wire_error(&a, &status, &copy);
    gess__archive_bytes(&a, (void *)(uintptr_t)stats, size);
    pthread_mutex_lock(&c->lock);
    c->farewell = &a;
    c->farewell_sent = 0;
    pthread_cond_signal(&c->wake);
    while (c->farewell != NULL) wait_for_news(c);
    c->stop = NULL;
    pthread_mutex_unlock(&c->lock);
    gess__archive_free(&a);
}

void gess__coordinator_leave(gess__coordinator *c, int status)
{
    if (c == NULL) return;
    for (int i = 0; i < gess__peer_count(c); i++)
        gess__coordinator_send(c, i, GESS__WIRE_LEAVE, &status, sizeof status);
}

int gess__coordinator_describe(const gess__coordinator *c, size_t index, char *text, size_t size)
{
    if (c == NULL || index >= (size_t)gess__peer_count(c)) return 0;
    const gess__peer *p = &c->peers[index];
    double updates = p->iterations > 0 ? (double)p->iterations : 1.0;
    gess__format(text, size,
                 "rank %zu on %s: threads %u, tasks %llu (%llu of them taken over by others), updates %llu, busy %.3f "
                 "s; assigned to speculate %llu times; points evaluated %llu; bytes per update: %.1f to it, %.1f from "
                 "it",
                 index + 1, p->host, p->threads, (unsigned long long)p->tasks, (unsigned long long)p->wasted,
                 (unsigned long long)p->iterations, p->busy, (unsigned long long)p->assignments,
                 (unsigned long long)p->evaluated, (double)p->bytes_out / updates, (double)p->bytes_in / updates);
    return 1;
}

int gess__coordinator_share(gess__coordinator *c, size_t index, gess__rank_share *share)
{
    if (c == NULL || index >= (size_t)gess__peer_count(c)) return 0;
    gess__peer *p = &c->peers[index];
    *share = (gess__rank_share){.host = p->host, .threads = p->threads, .updates = atomic_load(&p->updates)};
    return 1;
}
