/* `gess check`: tries a density. Each check runs in a process of its own, so that a crash is a finding. */
#ifndef GESS_CHECK_CHECK_H
#define GESS_CHECK_CHECK_H

#include "base/status.h"
#include "model/model.h"

#include <stdatomic.h>

enum { MAX_FINDINGS = 48, NOTED = 4096, CHECK_THREADS = 8 };

enum severity { FAULT, WARNING, NOTE };

struct finding {
    int severity;
    char check[24], text[1500];
};

/* Memory that the command and the processes of its checks share. */
struct shared_check {
    atomic_int findings;
    struct finding finding[MAX_FINDINGS];
    atomic_int calling, crossing; /* a call is under way; with a point outside the bounds */
    size_t n, dim;                /* of the call, and its first point */
    double point[NOTED];
    atomic_ullong evals;
    double seconds_per_eval;
    size_t starts;    /* that have a finite log density: rows of x, with their values */
    double numbers[]; /* x: count × dim; values: count */
};

struct check {
    struct shared_check *shared;
    const char *specification, *data;
    size_t count; /* of starts that are asked for */
    gess_model *model;
    const char *stage;
};

static inline double *check_x(const struct check *c)
{
    return c->shared->numbers;
}

static inline double *check_values(const struct check *c)
{
    return c->shared->numbers + c->count * c->model->dim;
}

/* probe.c: adds a finding. */
void report(struct check *c, int severity, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A point as text for a message, with the command that evaluates it. */
const char *point_text(const struct check *c, const double *x, char *text, size_t size);

/* Notes the first point of a call, for the message if the call does not come back. */
void note_call(struct check *c, size_t n, const double *x);
void note_return(struct check *c);

/* Evaluates n points; a call that returns an error is a finding, and false. */
bool evaluate(struct check *c, unsigned worker, size_t n, const double *x, double *logp);

/* How two values of one point compare. */
enum likeness { SAME, OTHER_BITS, DIFFERENT };
enum likeness compare_values(double a, double b);

/* The checks. Each is called in a process of its own, with the model open. */
void check_starts(struct check *c);
void check_repeated(struct check *c);
void check_batches(struct check *c);
void check_threads(struct check *c);
void check_bounds(struct check *c);
void check_memory_above(struct check *c);
void check_memory_below(struct check *c);
void check_gradient(struct check *c);
void check_derived(struct check *c);
void check_blobs(struct check *c);

/* tools.c: evaluates the starts under valgrind, or with a build of the model with sanitizers. */
void check_with_tools(struct check *c);

#endif
