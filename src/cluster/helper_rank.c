/* Serves rank 0 on a helper rank, from hello to farewell: the calling thread carries messages, and the team's threads
 * run the tasks (helper_tasks.c). A frozen state is replaced only while no task of its ensemble runs; until then
 * nothing more is received. The rank also gives up if rank 0 is silent for too long. */
#include "cluster/helper_rank.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cluster/helper_state.h"
#include "parallel/condition.h"
#include "parallel/thread.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- messages; all of the following hold the lock ---- */

int gess__helper_send(gess__helper_rank *r, int tag, const void *bytes, size_t count, gess_error *err)
{
    r->spoken = gess__awake_clock_seconds(&r->awake);
    return r->comm->send(r->comm, 0, tag, bytes, count, err);
}

int gess__helper_bad_message(gess_error *err)
{
    return gess__fail(err, GESS_ERR_INTERNAL, "an incomplete message came from rank 0");
}

static int say_hello(gess__helper_rank *r, gess_error *err)
{
    gess__archive a = {0};
    char version[32] = GESS_VERSION_TEXT, host[64] = "";
    uint64_t threads = gess__team_size(r->team);
    gethostname(host, sizeof host - 1);
    GESS_ARCHIVE(&a, &r->comm->runs);
    GESS_ARCHIVE(&a, &version);
    GESS_ARCHIVE(&a, &threads);
    GESS_ARCHIVE(&a, &host);
    int status = gess__helper_send(r, GESS__WIRE_HELLO, a.bytes, a.size, err);
    gess__archive_free(&a);
    return status;
}

static int make_ensemble(gess__helper_rank *r, size_t number, gess_error *err)
{
    gess__ensemble_settings settings = {.kernel = gess__kernel_find(r->options->kernel),
                                        .chains = (size_t)r->setup.block,
                                        .learns_map = r->setup.learns_map,
                                        .mixture = r->setup.mixture,
                                        .anneals = r->setup.anneals,
                                        .tempered = r->setup.tempered};
    if (settings.kernel == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "--kernel %s: no such kernel; `gess sample --help` lists them",
                          r->options->kernel);
    GESS_ALLOC(&r->ensemble[number], 1, err);
    return gess__ensemble_init_helper(r->ensemble[number], r->model, r->options, &settings, r->team, err);
}

static int receive_frozen(gess__helper_rank *r, gess__archive *a, gess_error *err)
{
    uint64_t number = 0, generation = 0;
    GESS_ARCHIVE(a, &generation);
    GESS_ARCHIVE(a, &number);
    if (a->bad || number >= r->ensembles || r->setup.block == 0) return gess__helper_bad_message(err);
    if (r->ensemble[number] == NULL) GESS_TRY(make_ensemble(r, (size_t)number, err));
    gess__ensemble *e = r->ensemble[number];
    if (r->slot == NULL) GESS_TRY(gess__helper_make_slots(r, e, err));
    gess__frozen_archive(&e->frozen, a);
    if (a->bad || a->at != a->size)
        return gess__fail(err, GESS_ERR_INTERNAL,
                          "the approximation that rank 0 sent does not fit the model on this rank: the model must be "
                          "the same on all ranks");
    r->generation[number] = generation;
    return GESS_OK;
}

static int receive_revocation(gess__helper_rank *r, gess__archive *a, gess_error *err)
{
    uint64_t key[2] = {0, 0};
    GESS_ARCHIVE(a, &key);
    for (size_t i = 0; i < r->slots; i++) {
        gess__slot *s = &r->slot[i];
        if (s->state == GESS__SLOT_FREE || s->order.ensemble != key[0] || s->order.serial != key[1]) continue;
        atomic_store(&s->revoked, 1);
        if (s->state == GESS__SLOT_WAITING) return gess__helper_send_result(r, s, err);
    }
    return GESS_OK;
}

/* Makes way for a new frozen state of an ensemble: *in_use says whether a task still runs with the old one. Rank 0
 * would not have sent a new one if the tasks that are left were still wanted. */
static int release_frozen(gess__helper_rank *r, int *in_use, gess_error *err)
{
    uint64_t number = 0, generation = 0;
    gess__archive a = gess__wire_open(&r->message);
    GESS_ARCHIVE(&a, &generation);
    GESS_ARCHIVE(&a, &number);
    int sent;
    GESS_TRY(gess__requests_send(&r->requests, r->comm, 1, &sent, err));
    *in_use = r->speculating > 0 || gess__helper_batches_begun(r) > 0;
    for (size_t i = 0; i < r->slots; i++) {
        gess__slot *s = &r->slot[i];
        if (s->order.ensemble != number || (s->state != GESS__SLOT_RUNNING && s->state != GESS__SLOT_WAITING)) continue;
        atomic_store(&s->revoked, 1);
        if (s->state == GESS__SLOT_RUNNING) *in_use = 1;
        if (s->state == GESS__SLOT_WAITING) GESS_TRY(gess__helper_send_result(r, s, err));
    }
    return GESS_OK;
}

/* Says bye once no task runs any more, and is done. Rank 0 does not wait for it for ever. */
static int leave_if_idle(gess__helper_rank *r, gess_error *err)
{
    if (r->speculating > 0 || gess__helper_batches_begun(r) > 0) return GESS_OK;
    for (size_t i = 0; i < r->slots; i++)
        if (r->slot[i].state == GESS__SLOT_RUNNING) return GESS_OK;
    r->over = 1;
    return gess__helper_send(r, GESS__WIRE_BYE, &r->comm->runs, sizeof r->comm->runs, err);
}

static int receive_end(gess__helper_rank *r, gess__archive *a, gess_error *err)
{
    uint64_t run = 0;
    GESS_ARCHIVE(a, &run);
    if (run < r->comm->runs) return GESS_OK; /* of a run that this rank could not begin */
    gess__wire_error(a, &r->status, &r->error);
    gess__archive_bytes(a, r->stats, r->stats_size);
    if (a->bad) return gess__helper_bad_message(err);
    r->ending = r->quit = 1;
    for (size_t i = 0; i < r->slots; i++) atomic_store(&r->slot[i].revoked, 1);
    return leave_if_idle(r, err);
}

/* Rank 0 leaves. It says so once; within a run only if that run never began there. */
static void receive_leave(gess_comm *comm, gess__archive *a)
{
    GESS_ARCHIVE(a, &comm->left_status);
    comm->left = 1;
}

static int receive_assignment(gess__helper_rank *r, gess__archive *a, gess_error *err)
{
    gess__assignment assignment;
    GESS_ARCHIVE(a, &assignment);
    if (a->bad || assignment.helper < 1 || assignment.helper >= r->comm->size || r->helpers.of == NULL)
        return gess__helper_bad_message(err);
    gess__helpers_assign(&r->helpers, assignment.helper, assignment.threads);
    r->backoff.max_seconds = r->helpers.threads > 0 ? gess__remote_poll_seconds(r->helpers.sec_per_eval) : 0.0;
    return GESS_OK;
}

static int receive_predicted(gess__helper_rank *r, gess_error *err)
{
    int able = 1, asked = 0;
    for (size_t i = 0; i < r->slots; i++)
        able &= r->slot[i].state != GESS__SLOT_WAITING && r->slot[i].state != GESS__SLOT_RUNNING;
    GESS_TRY(gess__requests_take(&r->requests, r->comm, &r->message, able, r->generation, r->ensembles, &asked, err));
    if (asked) pthread_cond_signal(&r->work);
    r->backoff.max_seconds = gess__remote_poll_seconds(r->requests.sec_per_eval);
    return GESS_OK;
}

static int receive(gess__helper_rank *r, gess_error *err)
{
    gess__archive a = gess__wire_open(&r->message);
    switch (r->message.tag) {
    case GESS__WIRE_PING: GESS_ARCHIVE(&a, &r->rank0_runs); return GESS_OK;
    case GESS__WIRE_SETUP: GESS_ARCHIVE(&a, &r->setup); return a.bad ? gess__helper_bad_message(err) : GESS_OK;
    case GESS__WIRE_FROZEN:
        GESS_TRY(release_frozen(r, &r->held, err));
        return r->held ? GESS_OK : receive_frozen(r, &a, err);
    case GESS__WIRE_TASK: return gess__helper_take_task(r, &a, err);
    case GESS__WIRE_BATCH: return gess__helper_take_batch(r, &a, err);
    case GESS__WIRE_REVOKE: return receive_revocation(r, &a, err);
    case GESS__WIRE_ASSIGN: return receive_assignment(r, &a, err);
    case GESS__WIRE_PREDICTED: return receive_predicted(r, err);
    case GESS__WIRE_VALUE: return gess__helpers_take(&r->helpers, &r->message, err);
    case GESS__WIRE_END: return receive_end(r, &a, err);
    case GESS__WIRE_LEAVE:
        receive_leave(r->comm, &a);
        r->status = r->comm->left_status;
        r->over = 1;
        return GESS_OK;
    default: return gess__fail(err, GESS_ERR_INTERNAL, "a message of unknown kind %d came", r->message.tag);
    }
}

/* ---- one turn ---- */

/* Ends the run, since rank 0 is gone. One of the ranks says why. */
static void give_up(gess_comm *comm)
{
    if (comm->rank > 1) usleep(500000);
    comm->abort(comm, GESS_ERR_INTERNAL,
                comm->rank > 1 ? NULL
                               : "rank 0 is silent: it was killed, or its node or the network is down; the run can be "
                                 "resumed from its last checkpoint");
}

static int keep_in_touch(gess__helper_rank *r, const atomic_int *stop, gess_error *err)
{
    double now = gess__awake_clock_seconds(&r->awake);
    if (stop != NULL && !r->asked_to_stop && atomic_load(stop)) {
        r->asked_to_stop = 1;
        GESS_TRY(gess__helper_send(r, GESS__WIRE_STOP, NULL, 0, err));
    }
    if (r->held || r->ending) r->heard = now; /* nothing is received, so rank 0 cannot be heard */
    if (r->rank0_runs && now - r->heard > GESS__LOST_SECONDS) give_up(r->comm);
    return now - r->spoken > GESS__PING_SECONDS ? gess__helper_send(r, GESS__WIRE_PING, NULL, 0, err) : GESS_OK;
}

static int take_turn(gess__helper_rank *r, const atomic_int *stop, int *happened, gess_error *err)
{
    int got = 1;
    size_t tasks = 0;
    *happened = 0;
    GESS_TRY(gess__requests_send(&r->requests, r->comm, 0, happened, err));
    GESS_TRY(gess__helper_send_batches(r, happened, err));
    for (size_t i = 0; i < r->slots; i++)
        if (r->slot[i].state == GESS__SLOT_DONE) {
            GESS_TRY(gess__helper_send_result(r, &r->slot[i], err));
            *happened = 1;
        }
    if (r->held) {
        r->held = 0;
        GESS_TRY(receive(r, err));
    }
    if (r->ending) GESS_TRY(leave_if_idle(r, err));
    while (got && !r->held && !r->ending && !r->over) {
        GESS_TRY(r->comm->poll(r->comm, &r->message, &got, err));
        if (!got) break;
        *happened = 1;
        if (r->message.from == 0) r->heard = gess__awake_clock_seconds(&r->awake);
        GESS_TRY(receive(r, err));
    }
    if (!r->held && !r->ending && !r->over) GESS_TRY(gess__helpers_send(&r->helpers, happened, err));
    for (size_t i = 0; i < r->slots; i++) tasks += r->slot[i].state != GESS__SLOT_FREE;
    r->backoff.urgent = tasks < gess__team_size(r->team);
    return keep_in_touch(r, stop, err);
}

static int carry_messages(gess__helper_rank *r, const atomic_int *stop, gess_error *err)
{
    int status = say_hello(r, err);
    while (status == GESS_OK && !r->over) {
        int happened = 0;
        status = take_turn(r, stop, &happened, err);
        if (happened)
            r->backoff.active = gess__seconds();
        else if (status == GESS_OK)
            gess__backoff_wait(&r->backoff, r->comm, &r->wake, &r->lock);
    }
    return status;
}

/* ---- from outside ---- */

/* Tells rank 0 of the failure, which ends the run, and waits for the end. */
static int fail_and_wait(gess__helper_rank *r, int status, gess_error *err)
{
    gess_error ignored;
    gess__helper_rank_failed(r->comm, status, err);
    double start = gess__seconds();
    while (!r->over && gess__seconds() - start < GESS__LOST_SECONDS) {
        int got = 0;
        if (r->ending && leave_if_idle(r, &ignored) != GESS_OK) break;
        if (!r->ending && r->comm->poll(r->comm, &r->message, &got, &ignored) != GESS_OK) break;
        if (got && (r->message.tag == GESS__WIRE_END || r->message.tag == GESS__WIRE_LEAVE)) receive(r, &ignored);
        if (!got && !r->over) gess__backoff_wait(&r->backoff, r->comm, &r->wake, &r->lock);
    }
    return status;
}

static int set_up(gess__helper_rank *r, pthread_t *thread, gess_error *err)
{
    r->ensembles = (size_t)r->options->ensembles;
    GESS_ALLOC(&r->ensemble, r->ensembles, err);
    GESS_ALLOC(&r->generation, r->ensembles, err);
    GESS_TRY(gess__team_new(&r->team, (unsigned)r->options->threads, err));
    int code = gess__thread_start(thread, gess__helper_run_team, r);
    if (code != 0) return gess__fail(err, GESS_ERR_INTERNAL, "cannot start a thread: %s", strerror(code));
    return GESS_OK;
}

static int serve(gess__helper_rank *r, atomic_int *stop, gess_error *err)
{
    pthread_t thread;
    int status = set_up(r, &thread, err);
    if (status != GESS_OK) {
        gess__helper_rank_failed(r->comm, status, err);
        return status;
    }
    pthread_mutex_lock(&r->lock);
    r->heard = gess__awake_clock_seconds(&r->awake);
    status = carry_messages(r, stop, err);
    if (status != GESS_OK) status = fail_and_wait(r, status, err);
    r->quit = 1;
    pthread_cond_broadcast(&r->work);
    pthread_mutex_unlock(&r->lock);
    pthread_join(thread, NULL);
    return status;
}

int gess__helper_rank_serve(gess_comm *comm, const gess_model *model, const gess_options *options, atomic_int *stop,
                            void *stats, size_t size, gess_error *err)
{
    gess__helper_rank r = {.comm = comm, .model = model, .options = options, .stats = stats, .stats_size = size};
    pthread_mutex_init(&r.lock, NULL);
    gess__condition_init(&r.wake);
    pthread_cond_init(&r.work, NULL);
    r.backoff.active = gess__seconds();
    int status = serve(&r, stop, err);
    gess__helper_free_slots(&r);
    gess__helper_free_batches(&r);
    gess__helpers_free(&r.helpers);
    gess__requests_free(&r.requests);
    gess__speculation_free(r.speculation);
    free(r.points);
    free(r.generation);
    for (size_t i = 0; r.ensemble != NULL && i < r.ensembles; i++)
        if (r.ensemble[i] != NULL) gess__ensemble_free(r.ensemble[i]);
    for (size_t i = 0; r.ensemble != NULL && i < r.ensembles; i++) free(r.ensemble[i]);
    free(r.ensemble);
    gess__team_free(r.team);
    gess__archive_free(&r.out);
    pthread_cond_destroy(&r.wake);
    pthread_cond_destroy(&r.work);
    pthread_mutex_destroy(&r.lock);
    if (status != GESS_OK) return status;
    if (r.status != GESS_OK && err != NULL) *err = r.error;
    return r.status;
}

void gess__helper_rank_failed(gess_comm *comm, int status, const gess_error *error)
{
    gess__archive a = {0};
    gess_error copy = error != NULL ? *error : (gess_error){0};
    GESS_ARCHIVE(&a, &comm->runs);
    gess__wire_error(&a, &status, &copy);
    comm->send(comm, 0, GESS__WIRE_FAILED, a.bytes, a.size, NULL);
    gess__archive_free(&a);
}

int gess__helper_rank_wait(gess_comm *comm)
{
    gess__backoff backoff = {.active = gess__seconds()};
    gess__awake_clock awake = {0};
    pthread_mutex_t lock;
    pthread_cond_t wake;
    double heard = gess__awake_clock_seconds(&awake), spoken = heard;
    int rank0_runs = 0;
    pthread_mutex_init(&lock, NULL);
    gess__condition_init(&wake);
    pthread_mutex_lock(&lock);
    while (!comm->left) {
        gess__message m;
        int got = 0;
        if (comm->poll(comm, &m, &got, NULL) != GESS_OK) give_up(comm);
        double now = gess__awake_clock_seconds(&awake);
        if (got) {
            gess__archive a = gess__wire_open(&m);
            if (m.from == 0) heard = now;
            if (m.tag == GESS__WIRE_PING) GESS_ARCHIVE(&a, &rank0_runs);
            if (m.tag == GESS__WIRE_LEAVE) receive_leave(comm, &a);
            continue;
        }
        if (rank0_runs && now - heard > GESS__LOST_SECONDS) give_up(comm);
        if (now - spoken > GESS__PING_SECONDS) {
            comm->send(comm, 0, GESS__WIRE_PING, NULL, 0, NULL);
            spoken = now;
        }
        gess__backoff_wait(&backoff, comm, &wake, &lock);
    }
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&wake);
    pthread_mutex_destroy(&lock);
    return comm->left_status;
}
