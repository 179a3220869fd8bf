/* Starts the threads of a team, wakes them for a round of items, and reports the failure of the first item that failed.
 * A worker may leave a round that then ends without it, and come back later. */
#include "parallel/team.h"

#include "base/assert.h"
#include "base/mem.h"
#include "parallel/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gess__team {
    unsigned size, started;
    pthread_t *threads; /* size - 1: workers 1 .. size - 1 */
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    /* under the lock */
    uint64_t round; /* counts the calls of gess__team_run() */
    unsigned busy;
    int running;     /* whether a round is in progress */
    unsigned absent; /* workers that are away */
    uint64_t *seen;  /* per worker: the last round that it took part in */
    int quit;
    /* one round */
    gess__work_fn *work;
    void *data;
    size_t items;
    atomic_size_t next;
    atomic_size_t failed; /* the smallest item that failed; `items` if none did */
    int status;           /* of that item, under the lock */
    gess_error error;
    unsigned char *away; /* per worker; only that worker writes it */
};

struct seat {
    gess__team *team;
    unsigned worker;
};

static void take_items(gess__team *team, unsigned worker)
{
    for (;;) {
        size_t item = atomic_fetch_add(&team->next, 1);
        if (item >= team->items || item > atomic_load(&team->failed)) return;
        gess_error error = {0};
        int status = team->work(team->data, worker, item, &error);
        if (team->away[worker]) return; /* the round went on without this worker */
        if (status == GESS_OK) continue;
        pthread_mutex_lock(&team->lock);
        if (item < atomic_load(&team->failed)) {
            atomic_store(&team->failed, item);
            team->status = status;
            team->error = error;
        }
        pthread_mutex_unlock(&team->lock);
    }
}

static void *serve(void *argument)
{
    struct seat seat = *(struct seat *)argument;
    gess__team *team = seat.team;
    free(argument);
    gess__thread_keep();
    uint64_t *seen = &team->seen[seat.worker];
    int late = 0;
    pthread_mutex_lock(&team->lock);
    for (;;) {
        while ((team->round == *seen || !team->running) && !team->quit) {
            late = 0;
            pthread_cond_wait(&team->wake, &team->lock);
        }
        if (team->quit) break;
        *seen = team->round;
        if (late) team->busy++; /* the round began while it was away, so it was not counted */
        pthread_mutex_unlock(&team->lock);
        take_items(team, seat.worker);
        pthread_mutex_lock(&team->lock);
        late = team->away[seat.worker];
        team->away[seat.worker] = 0;
        if ((late ? --team->absent : --team->busy) == 0) pthread_cond_signal(&team->idle);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

static unsigned usable_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return (unsigned)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* more cores than a cpu_set_t holds */
    return online > 0 ? (unsigned)online : 1;
}

unsigned gess__team_threads(unsigned threads)
{
    return threads > 0 ? threads : usable_cores();
}

int gess__team_new(gess__team **out, unsigned threads, gess_error *err)
{
    GESS_ALLOC(out, 1, err);
    gess__team *team = *out;
    team->size = gess__team_threads(threads);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->wake, NULL);
    pthread_cond_init(&team->idle, NULL);
    GESS_ALLOC(&team->threads, team->size, err);
    GESS_ALLOC(&team->seen, team->size, err);
    GESS_ALLOC(&team->away, team->size, err);
    for (unsigned worker = 1; worker < team->size; worker++) {
        struct seat *seat;
        GESS_ALLOC(&seat, 1, err);
        *seat = (struct seat){team, worker};
        int code = gess__thread_start(&team->threads[worker - 1], serve, seat);
        if (code != 0) {
            free(seat);
            return gess__fail(err, GESS_ERR_INTERNAL, "cannot start thread %u of %u: %s; use --threads", worker + 1,
                              team->size, strerror(code));
        }
        team->started++;
    }
    return GESS_OK;
}

void gess__team_free(gess__team *team)
{
    if (team == NULL) return;
    pthread_mutex_lock(&team->lock);
    team->quit = 1;
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
    for (unsigned i = 0; i < team->started; i++) pthread_join(team->threads[i], NULL);
    pthread_cond_destroy(&team->wake);
    pthread_cond_destroy(&team->idle);
    pthread_mutex_destroy(&team->lock);
    free(team->threads);
    free(team->seen);
    free(team->away);
    free(team);
}

unsigned gess__team_size(const gess__team *team)
{
    return team->size;
}

int gess__team_run(gess__team *team, size_t items, gess__work_fn *work, void *data, gess_error *err)
{
    GESS_ASSERT(team != NULL && work != NULL && !team->running);
    pthread_mutex_lock(&team->lock);
    team->work = work;
    team->data = data;
    team->items = items;
    team->status = GESS_OK;
    atomic_store(&team->next, 0);
    atomic_store(&team->failed, items);
    team->busy = items > 1 ? team->started - team->absent : 0;
    team->running = items > 1;
    if (team->running) {
        team->round++;
        pthread_cond_broadcast(&team->wake);
    }
    pthread_mutex_unlock(&team->lock);
    take_items(team, 0);
    pthread_mutex_lock(&team->lock);
    while (team->busy > 0) pthread_cond_wait(&team->idle, &team->lock);
    team->running = 0;
    int status = team->status;
    if (status != GESS_OK && err != NULL) *err = team->error;
    pthread_mutex_unlock(&team->lock);
    return status;
}

void gess__team_leave(gess__team *team, unsigned worker)
{
    GESS_ASSERT(worker > 0 && worker < team->size && !team->away[worker]);
    pthread_mutex_lock(&team->lock);
    team->away[worker] = 1;
    team->absent++;
    if (--team->busy == 0) pthread_cond_signal(&team->idle);
    pthread_mutex_unlock(&team->lock);
}

int gess__team_rejoin(gess__team *team, unsigned worker)
{
    GESS_ASSERT(worker > 0 && worker < team->size && team->away[worker]);
    pthread_mutex_lock(&team->lock);
    int same = team->running && team->round == team->seen[worker];
    if (same) {
        team->away[worker] = 0;
        team->absent--;
        team->busy++;
    }
    pthread_mutex_unlock(&team->lock);
    return same;
}

void gess__team_settle(gess__team *team)
{
    pthread_mutex_lock(&team->lock);
    while (team->absent > 0) pthread_cond_wait(&team->idle, &team->lock);
    pthread_mutex_unlock(&team->lock);
}
