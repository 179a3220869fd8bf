/* Opens messages, packs errors, decides how long a message loop sleeps between two polls, and counts the seconds in
 * which a process was awake, so that a rank that was suspended does not take the others for dead. */
#include "cluster/wire.h"

#include "base/clock.h"
#include "parallel/condition.h"

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

/* A poll costs some 20 µs of a core that a worker may need. So if no worker waits, poll about three times per task: a
 * worker has another task in reserve, and both ranks poll before that one is done. */
static double min_wait(const gess__backoff *b)
{
    double min = b->max_seconds > 0.0 ? 100e-6 : 300e-6, third = 0.3 * b->task_seconds;
    if (b->max_seconds > 0.0 || b->urgent || third <= min) return min;
    return third < 3e-3 ? third : 3e-3;
}

void gess__backoff_wait(gess__backoff *b, gess_comm *comm, pthread_cond_t *wake, pthread_mutex_t *lock)
{
    double min = min_wait(b), max = comm->pending(comm) > 0 ? min : b->max_seconds > 0.0 ? b->max_seconds : 5e-3;
    if (max < min) max = min;
    if (max > 5e-3) max = 5e-3;
    double seconds = (gess__seconds() - b->active) / 4.0;
    gess__condition_wait(wake, lock, seconds < min ? min : seconds > max ? max : seconds);
}

double gess__awake_clock_seconds(gess__awake_clock *c)
{
    double now = gess__seconds(), passed = c->last > 0.0 ? now - c->last : 0.0;
    c->last = now;
    c->seconds += passed < 0.5 ? passed : 0.5;
    return c->seconds;
}
