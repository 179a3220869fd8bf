/* Hands calls of a model's functions to worker processes, and applies the rule of --on-crash to those that are lost. */
#include "base/assert.h"
#include "base/clock.h"
#include "base/format.h"
#include "execute/isolate_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Seconds to find the point to blame before the run ends. */
#define PROBE_SECONDS 5.0

/* A call of several points may take this many times what they take on average, beyond the limit of one. */
#define PATIENCE 4.0

/* ---- in the worker process ---- */

static int call_function(const gess_model *m, unsigned w, const gess__isolate_request *r, const double *x, double *out)
{
    size_t n = r->n, dim = m->dim;
    switch (r->function) {
    case GESS__CALL_LOGP: return m->logp(m->user, w, n, dim, x, out);
    case GESS__CALL_START_LOGP: return m->start_logp(m->user, w, n, dim, x, out);
    case GESS__CALL_LOG_PRIOR: return m->log_prior(m->user, w, n, dim, x, out);
    case GESS__CALL_GRADIENT: return m->gradient(m->user, w, n, dim, x, out, out + n);
    case GESS__CALL_LOGP_BLOBS: return m->logp_blobs(m->user, w, n, dim, x, out, out + n);
    case GESS__CALL_GRADIENT_BLOBS: return m->gradient_blobs(m->user, w, n, dim, x, out, out + n, out + n + n * dim);
    case GESS__CALL_DERIVE: return m->derive(m->user, w, dim, x, m->derived - m->pointwise_columns, out);
    case GESS__CALL_POINTWISE: return m->pointwise(m->user, w, dim, x, m->observations, out);
    case GESS__CALL_SIMULATE: return m->simulate(m->user, w, dim, x, r->seed, m->simulated, out);
    case GESS__CALL_START: m->start(m->user, dim, x, out); return 0;
    }
    return -1;
}

void gess__isolate_work(void *data, unsigned worker, void *memory)
{
    const gess__isolate *iso = data;
    const gess_model *m = iso->model;
    gess__isolate_request *r = memory;
    r->text[0] = '\0';
    r->code = call_function(m, worker, r, r->x, r->x + r->n * m->dim);
    if (r->code != 0 && m->message != NULL) m->message(m->user, worker, r->text, sizeof r->text);
    r->text[sizeof r->text - 1] = '\0';
}

/* ---- one attempt ---- */

static int interrupted(void *data)
{
    const gess__isolate *iso = data;
    return iso->interrupt != NULL && iso->interrupt(iso->user);
}

static void note_time(gess__isolate_seat *s, double each)
{
    s->sec_per_point = s->sec_per_point > 0.0 ? 0.9 * s->sec_per_point + 0.1 * each : each;
}

/* The same as attempt(), by a program. */
static enum gess__process_end ask_program(gess__isolate *iso, unsigned worker, const gess__isolate_call *c,
                                          size_t first, size_t n, double seconds)
{
    gess__isolate_seat *s = &iso->seats[worker];
    const gess_model *m = iso->model;
    gess__program_call call = {.seconds = seconds, .interrupt = interrupted, .user = iso};
    enum gess__process_end end = m->ask(m->user, worker, n, c->x + first * m->dim, c->part[0] + first, &call);
    if (end == GESS__PROCESS_DONE) note_time(s, call.took / (double)n);
    if (end == GESS__PROCESS_WRONG) s->bad = first + call.bad;
    if (end != GESS__PROCESS_DONE) memcpy(s->cause, call.cause, sizeof s->cause);
    return end;
}

/* Has points first .. first + n - 1 of a call evaluated in one call of the worker. If it is lost, the seat has the
 * cause. */
static enum gess__process_end attempt(gess__isolate *iso, unsigned worker, const gess__isolate_call *c, size_t first,
                                      size_t n, double seconds, int *code)
{
    if (iso->model->ask != NULL) return ask_program(iso, worker, c, first, n, seconds);
    gess__isolate_request *r = gess__processes_memory(iso->processes, worker);
    gess__isolate_seat *s = &iso->seats[worker];
    gess__process_death death;
    size_t dim = iso->model->dim;
    double before = gess__seconds();
    r->function = c->function;
    r->n = n;
    r->seed = c->seed;
    memcpy(r->x, c->x + first * dim, n * dim * sizeof *r->x);
    enum gess__process_end end = gess__processes_call(iso->processes, worker, seconds, interrupted, iso, &death);
    if (end == GESS__PROCESS_DIED) gess__process_describe(&death, s->cause, sizeof s->cause);
    if (end == GESS__PROCESS_LATE) gess__format(s->cause, sizeof s->cause, "did not return within %g s", seconds);
    if (end != GESS__PROCESS_DONE) return end;
    note_time(s, (gess__seconds() - before) / (double)n);
    const double *out = r->x + n * dim;
    for (size_t k = 0; k < GESS__ISOLATE_PARTS; k++) {
        if (c->width[k] > 0) memcpy(c->part[k] + first * c->width[k], out, n * c->width[k] * sizeof *out);
        out += n * c->width[k];
    }
    *code = r->code;
    memcpy(s->text, r->text, sizeof s->text);
    return end;
}

/* Seconds that a call of n points may take; 0: any. */
static double limit_of(const gess__isolate *iso, const gess__isolate_seat *s, size_t n)
{
    if (iso->timeout == 0.0 || n == 1) return iso->timeout;
    double all = (double)n * iso->timeout;
    double expected = iso->timeout + PATIENCE * (double)n * s->sec_per_point;
    return s->sec_per_point > 0.0 && expected < all ? expected : all;
}

/* ---- the rule ---- */

static int is_lost(enum gess__process_end end)
{
    return end == GESS__PROCESS_DIED || end == GESS__PROCESS_LATE;
}

/* The chain that asked for point i of the call. */
static uint64_t chain_of(const gess__isolate_seat *s, size_t i)
{
    return i < s->known ? s->chains[i] : 0;
}

static void tell(gess__isolate *iso, unsigned worker, const gess__isolate_call *c, size_t i, size_t suspects,
                 enum gess__loss_outcome outcome)
{
    const gess__isolate_seat *s = &iso->seats[worker];
    size_t dim = c->function != GESS__CALL_START ? iso->model->dim : 0;
    gess__loss loss = {.outcome = outcome,
                       .cause = s->cause,
                       .chain = chain_of(s, i),
                       .dim = dim,
                       .x = c->x + i * dim,
                       .suspects = suspects};
    if (iso->on_loss != NULL) iso->on_loss(iso->user, &loss);
}

/* The call fails because of point i. Returns a code other than 0. */
static int blame(gess__isolate *iso, unsigned worker, const gess__isolate_call *c, size_t i, size_t suspects)
{
    gess__isolate_seat *s = &iso->seats[worker];
    s->status = GESS_ERR_MODEL;
    s->suspects = suspects;
    s->function = c->function;
    s->chain = chain_of(s, i);
    s->has_point = c->function != GESS__CALL_START;
    memcpy(s->point, c->x + i * iso->model->dim, iso->model->dim * sizeof *s->point);
    s->told = 0;
    return -1;
}

/* The call fails because of a wrong answer of a program; or not because of the density. */
static int give_up(gess__isolate *iso, unsigned worker, const gess__isolate_call *c, enum gess__process_end end)
{
    gess__isolate_seat *s = &iso->seats[worker];
    if (end == GESS__PROCESS_WRONG) return blame(iso, worker, c, s->bad, 1);
    s->has_point = 0;
    s->status = end == GESS__PROCESS_INTERRUPTED ? GESS_ERR_STOPPED : GESS_ERR_INTERNAL;
    return -1;
}

/* Gives point i zero density. */
static void put_outside(const gess__isolate_call *c, size_t i)
{
    c->part[0][i] = -INFINITY;
    for (size_t k = 1; k < GESS__ISOLATE_PARTS; k++)
        for (size_t j = 0; j < c->width[k]; j++) c->part[k][i * c->width[k] + j] = 0.0;
}

/* After a loss: evaluates the points of the call one by one, and gives those that are lost zero density. */
static int sort_out(gess__isolate *iso, unsigned worker, const gess__isolate_call *c, size_t first, size_t n)
{
    size_t outside = 0;
    for (size_t i = first; i < first + n; i++) {
        int code = 0;
        enum gess__process_end end = attempt(iso, worker, c, i, 1, iso->timeout, &code);
        if (end != GESS__PROCESS_DONE && !is_lost(end)) return give_up(iso, worker, c, end);
        if (code != 0) return code;
        if (!is_lost(end)) continue;
        outside++;
        put_outside(c, i);
        tell(iso, worker, c, i, 1, GESS__LOSS_OUTSIDE);
    }
    if (outside == 0) tell(iso, worker, c, first, n, GESS__LOSS_RETRIED);
    return 0;
}

/* After a loss: finds the point to blame, if that does not take too long, and fails. */
static int find_culprit(gess__isolate *iso, unsigned worker, const gess__isolate_call *c, size_t first, size_t n)
{
    char cause[sizeof iso->seats->cause];
    gess__isolate_seat *s = &iso->seats[worker];
    double deadline = gess__seconds() + PROBE_SECONDS;
    memcpy(cause, s->cause, sizeof cause);
    for (size_t i = first; n > 1 && i < first + n; i++) {
        int code = 0;
        double left = deadline - gess__seconds();
        if (left <= 0.0) break;
        int short_of_time = iso->timeout == 0.0 || left < iso->timeout;
        enum gess__process_end end = attempt(iso, worker, c, i, 1, short_of_time ? left : iso->timeout, &code);
        if (end != GESS__PROCESS_DONE && !is_lost(end)) return give_up(iso, worker, c, end);
        if (end == GESS__PROCESS_LATE && short_of_time) break;
        if (is_lost(end)) return blame(iso, worker, c, i, 1);
    }
    memcpy(s->cause, cause, sizeof cause);
    return blame(iso, worker, c, first, n);
}

static int call_some(gess__isolate *iso, unsigned worker, const gess__isolate_call *c, size_t first, size_t n)
{
    int code = 0;
    gess__isolate_seat *s = &iso->seats[worker];
    enum gess__process_end end = attempt(iso, worker, c, first, n, limit_of(iso, s, n), &code);
    if (is_lost(end) && iso->rule == GESS__RULE_RETRY) {
        end = attempt(iso, worker, c, first, n, limit_of(iso, s, n), &code);
        if (end == GESS__PROCESS_DONE) tell(iso, worker, c, first, n, GESS__LOSS_RETRIED);
    }
    if (end == GESS__PROCESS_DONE) return code;
    if (!is_lost(end)) return give_up(iso, worker, c, end);
    return iso->rule == GESS__RULE_OUTSIDE && c->has_zero_density ? sort_out(iso, worker, c, first, n)
                                                                  : find_culprit(iso, worker, c, first, n);
}

int gess__isolate_make_call(gess__isolate *iso, unsigned worker, const gess__isolate_call *c)
{
    GESS_ASSERT(worker < iso->threads && c->n > 0);
    iso->seats[worker].status = GESS_OK;
    int code = 0;
    for (size_t first = 0; code == 0 && first < c->n; first += iso->room)
        code = call_some(iso, worker, c, first, c->n - first < iso->room ? c->n - first : iso->room);
    return code;
}
