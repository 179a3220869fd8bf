#include "cluster/wire.h"

#include "base/clock.h"

gess__archive gess__wire_open(const gess__message *m)
{
    return (gess__archive){.reading = 1, .bytes = (unsigned char *)(uintptr_t)m->bytes, .size = m->count};
}

void gess__wire_error(gess__archive *a, int *status, gess_error *error)
{
    GESS_ARCHIVE(a, status);
    if (*status != GESS_OK) gess__archive_bytes(a, error, sizeof *error);
    if (*status != GESS_OK) error->text[sizeof error->text - 1] = '\0';
}

void gess__wire_states(gess__archive *a, const gess__chains *c, size_t first, size_t count)
{
    gess__archive_bytes(a, c->x + first * c->dim, count * c->dim * sizeof *c->x);
    gess__archive_bytes(a, c->value + first, count * sizeof *c->value);
    gess__archive_bytes(a, c->own + first * c->state_size, count * c->state_size * sizeof *c->own);
    gess__archive_bytes(a, c->deltas + first, count * sizeof *c->deltas);
    gess__archive_bytes(a, c->log_ts + first, count * sizeof *c->log_ts);
    if (c->powers != NULL) gess__archive_bytes(a, c->powers + first, count * sizeof *c->powers);
}

void gess__wake_init(pthread_cond_t *wake)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void gess__backoff_wait(gess__backoff *p, gess_comm *comm, pthread_cond_t *wake, pthread_mutex_t *lock)
{
    /* looking costs some 20 µs of a core that a worker may need, so where nobody waits it is done about three times a
     * task: a worker has another at hand, and both ranks look before that is done */
    double least = p->most > 0.0 ? 100e-6 : 300e-6;
    if (p->most <= 0.0 && !p->keen && 0.3 * p->task > least) least = 0.3 * p->task < 3e-3 ? 0.3 * p->task : 3e-3;
    double most = comm->pending(comm) > 0 ? least : p->most > 0.0 ? p->most : 5e-3;
    if (most < least) most = least;
    if (most > 5e-3) most = 5e-3;
    double seconds = (gess__seconds() - p->active) / 4.0;
    seconds = seconds < least ? least : seconds > most ? most : seconds;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(1e9 * seconds);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(wake, lock, &until);
}

double gess__awake_clock_seconds(gess__awake_clock *a)
{
    double now = gess__seconds(), passed = a->last > 0.0 ? now - a->last : 0.0;
    a->last = now;
    a->time += passed < 0.5 ? passed : 0.5;
    return a->time;
}
