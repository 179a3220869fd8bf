/* A model whose functions run in worker processes (--isolate): a density that crashes, exits, leaks or does not return
 * costs one process.
 *
 * gess__isolate_new() forks the spawner of parallel/processes.h and makes a gess_model like the given one, each of
 * whose functions hands its points to the worker process of the calling thread and waits for the answer. Everything
 * that evaluates a density takes this model and knows nothing of processes. Points go in the calls in which they came,
 * so values, and draws, have the bits that they have without isolation.
 *
 * If a worker process is lost, the rule decides:
 *
 *   stop      the points of the call are evaluated one by one in new processes, for a few seconds, to find the one to
 *             blame, and the call fails: model->lost() has the message
 *   retry     the call is made once more, in a new process; if that fails, too, as above
 *   outside   the points are evaluated one by one. A point that is lost alone, too, has log density −infinity. So a
 *             process that was killed from outside changes no draw, and draws are a function of the seed if the density
 *             crashes wherever it did before. Derived quantities and starts have no such value: as stop
 *
 * A model that a program computes (exec:) has processes already: nothing is forked, and what is said here of worker
 * processes holds for its programs. What a program writes that is no answer ends the run, under every rule.
 *
 * A call of n points may take `timeout` seconds, plus what n points take by experience; a point alone may take
 * `timeout` seconds. */
#ifndef GESS_EXECUTE_ISOLATE_H
#define GESS_EXECUTE_ISOLATE_H

#include "base/options.h"
#include "model/model.h"

typedef struct gess__isolate gess__isolate;

/* What became of a call that lost its process. */
enum gess__loss_outcome { GESS__LOSS_STOPPED, GESS__LOSS_RETRIED, GESS__LOSS_OUTSIDE };

typedef struct gess__loss {
    enum gess__loss_outcome outcome;
    const char *cause; /* "crashed with signal 11 (Segmentation fault)" */
    uint64_t chain;    /* from 1; 0: no chain's, or not known */
    size_t dim;        /* 0: there is no point */
    const double *x;   /* in the user's scale; if the call had several points and none is to blame alone, the first */
    size_t suspects;   /* points of the call, of which it is not known which is to blame; 1: it is this one */
} gess__loss;

/* Called by the thread that lost a process, by several at once. A loss that makes a call fail is told when its message
 * is asked for, since nobody may need the value: speculative evaluations fail silently. */
typedef void gess__loss_fn(void *user, const gess__loss *loss);

/* Polled while a call is under way; other than 0: its process is killed, and the call fails. */
typedef int gess__isolate_interrupt_fn(void *user);

/* Call it before threads are started. `threads`: that will call the model. The options give rule and limits. */
int gess__isolate_new(gess__isolate **isolate, const gess_model *model, const gess_options *options, unsigned threads,
                      gess_error *err);
void gess__isolate_free(gess__isolate *isolate /* or NULL */);

/* Who hears of losses, and who may interrupt. */
void gess__isolate_listen(gess__isolate *isolate, gess__loss_fn *on_loss, gess__isolate_interrupt_fn *interrupt,
                          void *user);

/* The model that is evaluated in worker processes. */
const gess_model *gess__isolate_model(const gess__isolate *isolate);

/* Makes the options' watch function learn of the chains through this one, which passes everything on. */
void gess__isolate_watch(gess__isolate *isolate, gess_options *options);

/* Whether the model is to be evaluated in worker processes: the options ask for it, or a program computes it. */
int gess__isolate_wanted(const gess_model *model, const gess_options *options);

/* Checks the options: --on-crash, and that nothing is set that needs --isolate without it. */
int gess__isolate_check(const gess_model *model, const gess_options *options, gess_error *err);

#endif
