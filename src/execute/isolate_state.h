/* What the two halves of --isolate share: isolate.c (the model, its functions, messages) and isolate_call.c (calls of
 * worker processes, and the rule of --on-crash). */
#ifndef GESS_EXECUTE_ISOLATE_STATE_H
#define GESS_EXECUTE_ISOLATE_STATE_H

#include "execute/isolate.h"
#include "parallel/processes.h"

enum { GESS__ISOLATE_TEXT = 256 };

enum gess__isolate_rule { GESS__RULE_STOP, GESS__RULE_OUTSIDE, GESS__RULE_RETRY, GESS__RULE_AUTO };

/* The functions of a model. */
enum gess__isolate_function {
    GESS__CALL_LOGP,
    GESS__CALL_GRADIENT,
    GESS__CALL_LOGP_BLOBS,
    GESS__CALL_GRADIENT_BLOBS,
    GESS__CALL_START_LOGP,
    GESS__CALL_LOG_PRIOR,
    GESS__CALL_DERIVE,
    GESS__CALL_POINTWISE,
    GESS__CALL_SIMULATE,
    GESS__CALL_START
};

/* In the memory that is shared with a worker: the request, followed by the points and then the parts of the answer. */
typedef struct gess__isolate_request {
    enum gess__isolate_function function;
    size_t n;
    uint64_t seed;
    int code;                      /* that the function returned */
    char text[GESS__ISOLATE_TEXT]; /* the density's own words, if that is not 0 */
    _Alignas(64) double x[];
} gess__isolate_request;

enum { GESS__ISOLATE_PARTS = 3 };

/* A call of one of the model's functions. A part is one sort of result: values, gradients, blobs, … */
typedef struct gess__isolate_call {
    enum gess__isolate_function function;
    size_t n;
    uint64_t seed;
    const double *x;                   /* n × dim */
    double *part[GESS__ISOLATE_PARTS]; /* n × width each */
    size_t width[GESS__ISOLATE_PARTS]; /* 0: there is no such part */
    int has_zero_density;              /* part 0 is a log density, so that a point can be outside */
} gess__isolate_call;

/* A thread that calls the model. */
typedef struct gess__isolate_seat {
    uint64_t chains[GESS_WATCHED_POINTS]; /* of the points of the call that is about to be made */
    size_t known;                         /* how many of them are known */
    double sec_per_point;                 /* average; 0: not known */
    char text[GESS__ISOLATE_TEXT];        /* the density's own words */
    /* why the last call failed */
    int status; /* GESS_OK: no process was lost; GESS_ERR_STOPPED: interrupted */
    char cause[GESS__EXEC_CAUSE];
    size_t bad; /* of a wrong answer of a program: the point */
    size_t suspects;
    uint64_t chain;
    double *point;                        /* dim */
    int has_point, told;                  /* told: the listener knows */
    enum gess__isolate_function function; /* that was called */
} gess__isolate_seat;

struct gess__isolate {
    gess_model wrapper;      /* what the caller evaluates; its `user` is this struct */
    const gess_model *model; /* borrowed: what the workers evaluate */
    gess__processes *processes;
    unsigned threads;
    gess__isolate_seat *seats;
    size_t room; /* points per request */
    enum gess__isolate_rule rule;
    double timeout;
    gess__loss_fn *on_loss;
    gess__isolate_interrupt_fn *interrupt;
    void *user;
    gess_watch_fn *watch; /* the caller's own; NULL: none */
    void *watch_user;
};

/* Does what a request asks for, in the worker process; `data` is the gess__isolate. */
void gess__isolate_work(void *data, unsigned worker, void *memory);

/* Makes a call, with as many attempts as the rule says. Returns the function's code; other than 0, too, if its process
 * was lost for good: the seat says why. */
int gess__isolate_make_call(gess__isolate *isolate, unsigned worker, const gess__isolate_call *call);

#endif
