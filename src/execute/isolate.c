/* The model whose functions run in worker processes: makes it, describes what was lost, and learns which chains ask. */
#include "execute/isolate.h"

#include "base/assert.h"
#include "base/format.h"
#include "base/mem.h"
#include "execute/isolate_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room per worker for the points of a call: more points go in several calls. SHOWN: coordinates in a message. */
enum { MIN_POINTS = 128, MAX_BYTES = 1 << 28, SHOWN = 12 };

static const char *const rules[] = {"stop", "outside", "retry", "auto"}; /* by enum gess__isolate_rule */

/* ---- the functions of the model ---- */

static int call_logp(gess__isolate *iso, enum gess__isolate_function function, unsigned worker, size_t n,
                     const double *x, double *logp, double *gradient, double *blobs)
{
    size_t dim = iso->model->dim, blob_count = iso->model->blobs;
    gess__isolate_call c = {.function = function, .n = n, .x = x, .part = {logp}, .width = {1}, .has_zero_density = 1};
    size_t k = 1;
    if (gradient != NULL) {
        c.part[k] = gradient;
        c.width[k++] = dim;
    }
    if (blobs != NULL) {
        c.part[k] = blobs;
        c.width[k] = blob_count;
    }
    return gess__isolate_make_call(iso, worker, &c);
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)dim;
    return call_logp(user, GESS__CALL_LOGP, worker, n, x, values, NULL, NULL);
}

static int start_logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)dim;
    return call_logp(user, GESS__CALL_START_LOGP, worker, n, x, values, NULL, NULL);
}

static int log_prior(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)dim;
    return call_logp(user, GESS__CALL_LOG_PRIOR, worker, n, x, values, NULL, NULL);
}

static int gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values,
                    double *gradients)
{
    (void)dim;
    return call_logp(user, GESS__CALL_GRADIENT, worker, n, x, values, gradients, NULL);
}

static int logp_blobs(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values, double *blobs)
{
    (void)dim;
    return call_logp(user, GESS__CALL_LOGP_BLOBS, worker, n, x, values, NULL, blobs);
}

static int gradient_blobs(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values,
                          double *gradients, double *blobs)
{
    (void)dim;
    return call_logp(user, GESS__CALL_GRADIENT_BLOBS, worker, n, x, values, gradients, blobs);
}

static int call_numbers(gess__isolate *iso, enum gess__isolate_function function, unsigned worker, const double *x,
                        uint64_t seed, size_t count, double *out)
{
    const gess__isolate_call c = {.function = function, .n = 1, .seed = seed, .x = x, .part = {out}, .width = {count}};
    return gess__isolate_make_call(iso, worker, &c);
}

static int derive(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out)
{
    (void)dim;
    return call_numbers(user, GESS__CALL_DERIVE, worker, x, 0, derived, out);
}

static int pointwise(void *user, unsigned worker, size_t dim, const double *x, size_t observations, double *out)
{
    (void)dim;
    return call_numbers(user, GESS__CALL_POINTWISE, worker, x, 0, observations, out);
}

static int simulate(void *user, unsigned worker, size_t dim, const double *x, uint64_t seed, size_t simulated,
                    double *out)
{
    (void)dim;
    return call_numbers(user, GESS__CALL_SIMULATE, worker, x, seed, simulated, out);
}

/* Starts are drawn by worker 0. */
static void start(void *user, size_t dim, const double *normals, double *x)
{
    if (call_numbers(user, GESS__CALL_START, 0, normals, 0, dim, x) == 0) return;
    for (size_t i = 0; i < dim; i++) x[i] = NAN;
}

static void message(void *user, unsigned worker, char *text, size_t size)
{
    const gess__isolate *iso = user;
    if (size > 0) snprintf(text, size, "%s", iso->seats[worker].text);
}

/* ---- the message about a loss ---- */

static void show_point(const double *x, size_t dim, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < dim && i < SHOWN && used < size; i++)
        used += (size_t)gess__format(text + used, size - used, "%s%.17g", i > 0 ? "," : "", x[i]);
    if (dim > SHOWN && used < size) snprintf(text + used, size - used, ",…");
}

/* A call failed for good because of a loss. */
static void tell_once(const gess__isolate *iso, gess__isolate_seat *s)
{
    const gess__loss loss = {.outcome = GESS__LOSS_STOPPED,
                             .cause = s->cause,
                             .chain = s->chain,
                             .dim = s->has_point ? iso->model->dim : 0,
                             .x = s->point,
                             .suspects = s->suspects};
    if (!s->told && iso->on_loss != NULL) iso->on_loss(iso->user, &loss);
    s->told = 1;
}

static int lost(void *user, unsigned worker, const double **point, gess_error *err)
{
    const gess__isolate *iso = user;
    gess__isolate_seat *s = &iso->seats[worker];
    char where[400], chain[48] = "", several[96] = "";
    size_t dim = iso->model->dim, room = sizeof err->point / sizeof *err->point;
    *point = s->has_point ? s->point : NULL;
    if (s->status == GESS_OK) return GESS_OK;
    if (s->status == GESS_ERR_STOPPED)
        return gess__fail(err, GESS_ERR_MODEL, "stopped without waiting for the density, which had not returned");
    if (s->status == GESS_ERR_INTERNAL)
        return gess__fail(err, GESS_ERR_INTERNAL,
                          "no worker process can be started for the density: the process that starts them was killed, "
                          "or the system allows no more processes; resume the run from its last checkpoint");
    if (err != NULL) tell_once(iso, s);
    if (!s->has_point) return gess__fail(err, GESS_ERR_MODEL, "the model's function `start` %s", s->cause);
    show_point(s->point, dim, where, sizeof where);
    if (s->chain > 0) snprintf(chain, sizeof chain, " of chain %llu", (unsigned long long)s->chain);
    if (s->suspects > 1)
        snprintf(several, sizeof several, ", the first of %zu points of a call; each alone does no harm, or takes long",
                 s->suspects);
    int status =
        iso->model->ask != NULL
            ? gess__fail(err, GESS_ERR_MODEL, "the program %s, at the point (%s)%s%s", s->cause, where, chain, several)
            : gess__fail(err, GESS_ERR_MODEL, "the density %s while its worker process was evaluating %s(%s)%s%s",
                         s->cause, s->function == GESS__CALL_DERIVE ? "derived quantities at the point " : "the point ",
                         where, chain, several);
    if (err == NULL) return status;
    err->chain = s->chain;
    err->dim = dim;
    memcpy(err->point, s->point, (dim < room ? dim : room) * sizeof *s->point);
    return status;
}

/* ---- chains ---- */

static void watch(void *user, unsigned worker, const gess_evaluation *e)
{
    gess__isolate *iso = user;
    if (worker < iso->threads && (e->what == GESS_WATCH_DENSITY || e->what == GESS_WATCH_DERIVED)) {
        gess__isolate_seat *s = &iso->seats[worker];
        s->known = e->n < GESS_WATCHED_POINTS ? e->n : GESS_WATCHED_POINTS;
        memcpy(s->chains, e->chains, s->known * sizeof *s->chains);
    }
    if (worker < iso->threads && e->what == GESS_WATCH_RETURNED) iso->seats[worker].known = 0;
    if (iso->watch != NULL) iso->watch(iso->watch_user, worker, e);
}

void gess__isolate_watch(gess__isolate *iso, gess_options *options)
{
    iso->watch = options->watch;
    iso->watch_user = options->watch_user;
    options->watch = watch;
    options->watch_user = iso;
}

/* ---- making and freeing ---- */

int gess__isolate_wanted(const gess_model *model, const gess_options *options)
{
    return options->isolate || model->ask != NULL;
}

int gess__isolate_check(const gess_model *model, const gess_options *o, gess_error *err)
{
    size_t i = 0;
    if (o->on_crash == NULL) return GESS_OK; /* gess__options_check() says so */
    while (i < sizeof rules / sizeof *rules && strcmp(o->on_crash, rules[i]) != 0) i++;
    if (i == sizeof rules / sizeof *rules)
        return gess__fail(err, GESS_ERR_USAGE, "--on-crash %s: it must be stop, outside, retry or auto", o->on_crash);
    int plain = i == GESS__RULE_STOP || i == GESS__RULE_AUTO;
    const char *alone = !plain ? "on-crash" : o->eval_timeout > 0.0 ? "eval-timeout" : "worker-memory";
    if (model->ask != NULL && o->worker_memory > 0)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--worker-memory is for processes of gess, not for programs (exec:); leave it out");
    if (gess__isolate_wanted(model, o) || (plain && o->eval_timeout == 0.0 && o->worker_memory == 0)) return GESS_OK;
    return gess__fail(err, GESS_ERR_USAGE, "--%s needs worker processes to apply to: add --isolate", alone);
}

static void make_wrapper(gess__isolate *iso)
{
    const gess_model *m = iso->model;
    gess_model *w = &iso->wrapper;
    *w = *m;
    w->user = iso;
    w->lost = lost;
    w->serial = false; /* every process has its own lock */
    w->remarks = NULL; /* a process says them itself */
    w->ask = NULL;
    w->listen = NULL;
    if (m->logp != NULL) w->logp = logp;
    if (m->gradient != NULL) w->gradient = gradient;
    if (m->logp_blobs != NULL) w->logp_blobs = logp_blobs;
    if (m->gradient_blobs != NULL) w->gradient_blobs = gradient_blobs;
    if (m->start_logp != NULL) w->start_logp = start_logp;
    if (m->log_prior != NULL) w->log_prior = log_prior;
    if (m->derive != NULL) w->derive = derive;
    if (m->pointwise != NULL) w->pointwise = pointwise;
    if (m->simulate != NULL) w->simulate = simulate;
    if (m->start != NULL) w->start = start;
    if (m->message != NULL) w->message = message;
}

/* Bytes of a request with room for the points of a block. */
static size_t choose_room(gess__isolate *iso, const gess_options *options)
{
    const gess_model *m = iso->model;
    size_t results = 1 + m->dim + m->blobs, once[] = {m->derived, m->observations, m->simulated};
    size_t each = (m->dim + results) * sizeof(double), least = sizeof(gess__isolate_request) + m->dim * sizeof(double),
           single = 0;
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) single = once[i] > single ? once[i] : single;
    uint64_t points = options->block < options->chains ? options->block : options->chains;
    if (points < MIN_POINTS) points = MIN_POINTS;
    if (points > MAX_BYTES / each) points = MAX_BYTES / each > 0 ? MAX_BYTES / each : 1;
    iso->room = (size_t)points;
    size_t many = sizeof(gess__isolate_request) + iso->room * each;
    return many > least + single * sizeof(double) ? many : least + single * sizeof(double);
}

int gess__isolate_new(gess__isolate **out, const gess_model *model, const gess_options *options, unsigned threads,
                      gess_error *err)
{
    GESS_ASSERT(model != NULL && threads > 0 && gess__isolate_wanted(model, options));
    GESS_ALLOC(out, 1, err);
    gess__isolate *iso = *out;
    iso->model = model;
    iso->threads = threads;
    iso->timeout = options->eval_timeout;
    while (strcmp(options->on_crash, rules[iso->rule]) != 0) iso->rule++;
    if (iso->rule == GESS__RULE_AUTO) iso->rule = model->ask != NULL ? GESS__RULE_RETRY : GESS__RULE_STOP;
    make_wrapper(iso);
    GESS_ALLOC(&iso->seats, threads, err);
    for (unsigned i = 0; i < threads; i++) GESS_ALLOC(&iso->seats[i].point, model->dim, err);
    size_t bytes = choose_room(iso, options);
    if (model->ask != NULL) return GESS_OK; /* its programs are the processes */
    const gess__processes_settings settings = {.workers = threads,
                                               .bytes = bytes,
                                               .work = gess__isolate_work,
                                               .data = iso,
                                               .keep_cores = iso->rule == GESS__RULE_STOP,
                                               .max_grow = (size_t)options->worker_memory << 20};
    return gess__processes_new(&iso->processes, &settings, err);
}

void gess__isolate_free(gess__isolate *iso)
{
    if (iso == NULL) return;
    if (iso->model->listen != NULL) iso->model->listen(iso->model->user, NULL, NULL);
    gess__processes_free(iso->processes);
    for (unsigned i = 0; iso->seats != NULL && i < iso->threads; i++) free(iso->seats[i].point);
    free(iso->seats);
    free(iso);
}

void gess__isolate_listen(gess__isolate *iso, gess__loss_fn *on_loss, gess__isolate_interrupt_fn *interrupt, void *user)
{
    iso->on_loss = on_loss;
    iso->interrupt = interrupt;
    iso->user = user;
}

const gess_model *gess__isolate_model(const gess__isolate *iso)
{
    return &iso->wrapper;
}
