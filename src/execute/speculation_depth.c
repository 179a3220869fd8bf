/* Decides how much to speculate: whether predicting points pays, by the measured seconds per evaluation, and how many
 * angles per task. */
#include "execute/scheduler_state.h"

#include <math.h>

/* An evaluation must take at least this long, in seconds, for another worker to evaluate it; for points to be predicted
 * even if nobody is idle at the moment; and for another rank to evaluate it. */
#define MIN_SECONDS 50e-6
#define MIN_SECONDS_ALWAYS 1e-3
#define MIN_SECONDS_REMOTE 1e-3

enum { MAX_DEPTH = 32 };

int gess__scheduler_make_speculation(gess__speculation **speculation, const gess__ensemble *e, unsigned workers,
                                     pthread_mutex_t *lock, pthread_cond_t *offered, gess_error *err)
{
    if (e->speculate == 0 || e->kernel->predict == NULL) return GESS_OK;
    size_t depth = e->speculate != GESS_AUTO  ? (size_t)e->speculate
                   : workers <= MAX_DEPTH / 2 ? 2 * ((size_t)workers - 1)
                                              : MAX_DEPTH;
    return gess__speculation_new(speculation, gess__team_size(e->team), depth, e->block, e->target.dim,
                                 e->target.model->blobs, lock, offered, err);
}

int gess__speculates(const gess__scheduler *s)
{
    return s->speculation != NULL && (s->ensemble->speculate != GESS_AUTO || s->sec_per_eval >= MIN_SECONDS);
}

/* `auto`: as many angles as one update in twenty would reach, if every angle were as likely to be the last as all are
 * on average. */
size_t gess__predict_depth(const gess__scheduler *s)
{
    const gess__ensemble *e = s->ensemble;
    const gess__tally *t = &e->tally;
    unsigned here = gess__team_size(e->team), all = e->remote != NULL ? e->remote->workers : 0;
    int someone = s->idle > 0 || s->blocks < (all > here ? all : here) || s->sec_per_eval >= MIN_SECONDS_ALWAYS;
    if (!gess__speculates(s) || !someone) return 0;
    if (e->speculate != GESS_AUTO) return (size_t)e->speculate;
    double evals = (double)(t->evals + s->evals), updates = (double)(t->updates + s->updates);
    if (s->updates > 100) {
        evals = (double)s->evals;
        updates = (double)s->updates;
    }
    if (!(evals > updates)) return 0;
    double depth = ceil(gess__log(0.05) / gess__log(1.0 - updates / evals));
    return (size_t)(depth < MAX_DEPTH ? depth : MAX_DEPTH);
}

size_t gess__scheduler_speculation_depth(gess__scheduler *s, double *sec_per_eval, int *remote)
{
    pthread_mutex_lock(&s->lock);
    size_t depth = gess__predict_depth(s);
    *sec_per_eval = s->sec_per_eval;
    *remote = depth > 0 && (s->ensemble->speculate != GESS_AUTO || s->sec_per_eval >= MIN_SECONDS_REMOTE);
    pthread_mutex_unlock(&s->lock);
    return depth;
}

gess__speculation *gess__scheduler_label(gess__scheduler *s, gess__frozen_label label, pthread_mutex_t **lock)
{
    *lock = &s->lock;
    if (s->speculation == NULL) return NULL;
    pthread_mutex_lock(&s->lock);
    for (unsigned i = 0; i < gess__team_size(s->ensemble->team); i++) gess__speculation_label(s->speculation, i, label);
    pthread_mutex_unlock(&s->lock);
    return s->speculation;
}

void gess__scheduler_note_unused(gess__scheduler *s, uint64_t count)
{
    pthread_mutex_lock(&s->lock);
    s->remote_unused += count;
    pthread_mutex_unlock(&s->lock);
}

uint64_t gess__ensemble_unused(const gess__ensemble *e)
{
    gess__scheduler *s = e->scheduler;
    pthread_mutex_lock(&s->lock);
    uint64_t unused = s->remote_unused + (s->speculation != NULL ? gess__speculation_unused(s->speculation) : 0);
    pthread_mutex_unlock(&s->lock);
    return unused;
}
