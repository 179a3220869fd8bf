/* Carries messages on rank 0 while the run goes on on a second thread: polls, calls receive.c and dispatch.c, and says
 * farewell at the end. It notices helper ranks that are silent: it pings them, and ends the run if one says nothing for
 * too long. */
#include "base/clock.h"
#include "cluster/coordinator_state.h"
#include "parallel/thread.h"

#include <string.h>

#define GRACE_SECONDS 3.0 /* for what runs here to end after a helper rank has failed */
#define FAREWELL_SECONDS 2.0

void gess__coordinator_fail(gess__coordinator *c, int status, const gess_error *error)
{
    if (c->status == GESS_OK) {
        c->status = status;
        c->error = *error;
        c->failed = gess__awake_clock_seconds(&c->awake);
    }
    if (c->scheduler != NULL) gess__scheduler_fail(c->scheduler, c->status, &c->error);
    pthread_cond_broadcast(&c->news);
}

void gess__coordinator_send(gess__coordinator *c, int i, int tag, const void *bytes, size_t count)
{
    gess_error error = {0};
    gess__peer *p = &c->peers[i];
    p->spoken = gess__awake_clock_seconds(&c->awake);
    p->bytes_out += count;
    int status = c->comm->send(c->comm, i + 1, tag, bytes, count, &error);
    if (status == GESS_OK) return;
    p->present = 0;
    c->broken = 1;
    gess__coordinator_fail(c, status, &error);
}

/* ---- one turn; all of the following hold the lock ---- */

/* Pings helper ranks that have heard nothing for long, and gives up those that have said nothing for long. */
static void keep_in_touch(gess__coordinator *c)
{
    double now = gess__awake_clock_seconds(&c->awake);
    for (int i = 0; i < gess__peer_count(c); i++) {
        gess__peer *p = &c->peers[i];
        int running = 1;
        if (now - p->spoken > GESS__PING_SECONDS)
            gess__coordinator_send(c, i, GESS__WIRE_PING, &running, sizeof running);
        if (!p->present || now - p->heard < GESS__LOST_SECONDS) continue;
        gess_error error;
        p->present = 0;
        c->broken = 1;
        int status = gess__fail(&error, GESS_ERR_INTERNAL,
                                "rank %d on %s has been silent for %g s: it was killed, or its node or the network is "
                                "down",
                                i + 1, p->host, GESS__LOST_SECONDS);
        gess__coordinator_fail(c, status, &error);
    }
    if (c->farewell == NULL && !c->farewell_sent && c->status != GESS_OK && now - c->failed > GRACE_SECONDS)
        c->comm->abort(c->comm, c->status, c->error.text); /* a density does not return */
}

/* Tells helper ranks that the run is over, and waits for their answers. */
static void say_farewell(gess__coordinator *c)
{
    double now = gess__awake_clock_seconds(&c->awake);
    if (!c->farewell_sent) {
        for (int i = 0; i < gess__peer_count(c); i++) c->peers[i].bye = 0;
        for (int i = 0; i < gess__peer_count(c); i++)
            gess__coordinator_send(c, i, GESS__WIRE_END, c->farewell->bytes, c->farewell->size);
        c->farewell_sent = 1;
        c->farewell_time = now;
    }
    int present = 0;
    double seconds = c->helpers.sec_per_eval; /* they end the evaluation or the iteration that they are at */
    for (int i = 0; i < gess__peer_count(c); i++) {
        const gess__peer *p = &c->peers[i];
        if (!p->present || p->bye || p->run > c->comm->runs) continue;
        present++;
        if (p->sec_per_iteration > seconds) seconds = p->sec_per_iteration;
    }
    if (present > 0 && now - c->farewell_time < FAREWELL_SECONDS + 3.0 * seconds) return;
    if (present > 0) c->broken = 1;
    c->farewell = NULL;
    pthread_cond_broadcast(&c->news);
}

static void announce(gess__coordinator *c)
{
    for (int i = 0; i < gess__peer_count(c); i++)
        gess__coordinator_send(c, i, GESS__WIRE_SETUP, &c->setup, sizeof c->setup);
    c->announced = 1;
}

/* Returns whether anything was sent or received. */
static int take_turn(gess__coordinator *c)
{
    int happened = 0, got = 1;
    if (!c->announced && c->setup.block > 0) announce(c);
    for (int count = 0; got && count < 256; count++) {
        gess__message m = {0};
        gess_error error = {0};
        int status = c->comm->poll(c->comm, &m, &got, &error);
        if (status == GESS_OK && got) status = gess__coordinator_receive(c, &m, &error);
        if (status != GESS_OK) gess__coordinator_fail(c, status, &error);
        happened |= got;
        /* idle ranks need not wait until all messages are read */
        if (c->scheduler != NULL && got && count % 16 == 15) gess__dispatch_tasks(c);
    }
    c->backoff.urgent = 0;
    if (c->scheduler != NULL) happened |= gess__dispatch(c);
    if (c->batches != NULL) happened |= gess__dispatch_batches(c);
    if (c->farewell != NULL) say_farewell(c);
    keep_in_touch(c);
    return happened;
}

/* ---- the second thread ---- */

static void *run_body(void *argument)
{
    gess__coordinator *c = argument;
    gess__thread_keep();
    int status = c->body(c->data, &c->body_error);
    pthread_mutex_lock(&c->lock);
    c->body_status = status;
    c->finished = 1;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Helper ranks time out rank 0 only while its comm thread runs. */
static void tell_running(gess__coordinator *c, int running)
{
    for (int i = 0; i < gess__peer_count(c); i++)
        gess__coordinator_send(c, i, GESS__WIRE_PING, &running, sizeof running);
}

int gess__with_comm_thread(gess__coordinator *c, int (*body)(void *data, gess_error *err), void *data, gess_error *err)
{
    pthread_t thread;
    if (c == NULL || c->has_comm_thread) return body(data, err);
    c->body = body;
    c->data = data;
    c->finished = 0;
    c->body_error = (gess_error){0};
    c->has_comm_thread = 1; /* before the thread begins: `body` may get here, too */
    int code = gess__thread_start(&thread, run_body, c);
    if (code != 0) c->has_comm_thread = 0;
    if (code != 0) return gess__fail(err, GESS_ERR_INTERNAL, "cannot start a thread: %s", strerror(code));
    pthread_mutex_lock(&c->lock);
    double now = gess__awake_clock_seconds(&c->awake);
    for (int i = 0; i < gess__peer_count(c); i++) c->peers[i].heard = now;
    tell_running(c, 1);
    while (!c->finished) {
        if (take_turn(c))
            c->backoff.active = gess__seconds();
        else
            gess__backoff_wait(&c->backoff, c->comm, &c->wake, &c->lock);
    }
    tell_running(c, 0);
    pthread_mutex_unlock(&c->lock);
    pthread_join(thread, NULL);
    c->has_comm_thread = 0;
    if (err != NULL && c->body_status != GESS_OK) *err = c->body_error;
    return c->body_status;
}
