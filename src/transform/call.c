/* Calls the density, tells the watcher before and after, and answers from the journal what it holds. */
#include "transform/call.h"

#include "base/arithmetic.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* The density's functions. If the gradient cannot bring blobs, logp_blobs is called for them first, and the log
 * densities are those that come with the gradient. */
static int call_density(const gess_model *model, unsigned worker, size_t n, const double *x, double *values,
                        double *gradients, double *blobs)
{
    if (blobs == NULL)
        return gradients == NULL ? gess__model_logp(model, worker, n, x, values)
                                 : model->gradient(model->user, worker, n, model->dim, x, values, gradients);
    if (gradients != NULL && model->gradient_blobs != NULL)
        return model->gradient_blobs(model->user, worker, n, model->dim, x, values, gradients, blobs);
    int code = model->logp_blobs(model->user, worker, n, model->dim, x, values, blobs);
    if (code != 0 || gradients == NULL) return code;
    return model->gradient(model->user, worker, n, model->dim, x, values, gradients);
}

/* The same. The thread's arithmetic is afterwards what it was before. */
static int call_functions(const gess_model *model, unsigned worker, size_t n, const double *x, double *values,
                          double *gradients, double *blobs)
{
    unsigned arithmetic = gess__arithmetic();
    int code = call_density(model, worker, n, x, values, gradients, blobs);
    gess__arithmetic_restore(arithmetic);
    return code;
}

static int call_watched(const gess__calls *calls, const gess_model *model, unsigned worker, size_t n, const double *x,
                        const double *places, double *values, double *gradients, double *blobs)
{
    if (calls->watch == NULL) return call_functions(model, worker, n, x, values, gradients, blobs);
    uint64_t chains[GESS_WATCHED_POINTS];
    const gess__asking *asking = calls->asking != NULL ? &calls->asking[worker] : NULL;
    gess_evaluation e = {.what = GESS_WATCH_DENSITY, .n = n, .dim = model->dim, .x = x, .chains = chains};
    for (size_t i = 0; i < n && i < GESS_WATCHED_POINTS; i++) {
        size_t place = places != NULL ? (size_t)places[i] : i;
        chains[i] = 0;
        if (asking != NULL && asking->first > 0)
            chains[i] = asking->first + (asking->lane != NULL ? asking->lane[place] : place);
    }
    calls->watch(calls->watch_user, worker, &e);
    int code = call_functions(model, worker, n, x, values, gradients, blobs);
    e = (gess_evaluation){.what = GESS_WATCH_RETURNED};
    calls->watch(calls->watch_user, worker, &e);
    return code;
}

/* ---- the journal: a point's numbers are its log density, then its gradient, then its blobs ---- */

/* Numbers of one point to or from their places. */
static void pack(size_t i, size_t dim, size_t blob_count, double *values, double *gradients, double *blobs,
                 double *numbers, int unpack)
{
    double *const parts[] = {values + i, gradients != NULL ? gradients + i * dim : NULL,
                             blobs != NULL ? blobs + i * blob_count : NULL};
    const size_t sizes[] = {1, dim, blob_count};
    for (size_t k = 0; k < 3; k++) {
        if (parts[k] == NULL) continue;
        memcpy(unpack ? parts[k] : numbers, unpack ? numbers : parts[k], sizes[k] * sizeof *numbers);
        numbers += sizes[k];
    }
}

/* Moves the results of the last point before `to` places that were found back to their own; see below. */
static void move_result(size_t from, size_t to, size_t dim, size_t blob_count, double *values, double *gradients,
                        double *blobs)
{
    values[to] = values[from];
    if (gradients != NULL) memmove(gradients + to * dim, gradients + from * dim, dim * sizeof *gradients);
    if (blobs != NULL) memmove(blobs + to * blob_count, blobs + from * blob_count, blob_count * sizeof *blobs);
}

/* Times a call and writes it down if it was slow. */
static int call_noted(const gess__calls *calls, const gess_model *model, unsigned worker, size_t n, const double *x,
                      const double *places, double *values, double *gradients, double *blobs)
{
    double before = gess__seconds();
    int code = call_watched(calls, model, worker, n, x, places, values, gradients, blobs);
    if (code != 0 || gess__seconds() - before < GESS__JOURNAL_SECONDS * (double)n) return code;
    size_t width = 1 + (gradients != NULL ? model->dim : 0) + (blobs != NULL ? model->blobs : 0);
    double *numbers = malloc(n * width * sizeof *numbers);
    if (numbers == NULL) return code;
    for (size_t i = 0; i < n; i++) pack(i, model->dim, model->blobs, values, gradients, blobs, numbers + i * width, 0);
    gess__journal_add(calls->journal, n, model->dim, x, width, numbers);
    free(numbers);
    return code;
}

/* Answers from the journal; the points that are not in it are evaluated in one call. */
static int call_answered(const gess__calls *calls, const gess_model *model, unsigned worker, size_t n, const double *x,
                         const double *places, double *values, double *gradients, double *blobs)
{
    size_t dim = model->dim, width = 1 + (gradients != NULL ? dim : 0) + (blobs != NULL ? model->blobs : 0),
           missing = 0;
    /* per point: its numbers, itself, its place among those that are missing, and its place for the watcher */
    double *memory = malloc(n * (width + dim + 2) * sizeof *memory);
    unsigned char *found = calloc(n, 1);
    int code = -1;
    if (memory != NULL && found != NULL) {
        double *numbers = memory, *points = numbers + n * width, *back = points + n * dim, *asked = back + n;
        for (size_t i = 0; i < n; i++) {
            found[i] = (unsigned char)gess__journal_find(calls->journal, dim, x + i * dim, width, numbers + i * width);
            if (found[i]) continue;
            memcpy(points + missing * dim, x + i * dim, dim * sizeof *x);
            asked[missing] = places != NULL ? places[i] : (double)i;
            back[missing++] = (double)i;
        }
        code = missing == 0 ? 0 : call_noted(calls, model, worker, missing, points, asked, values, gradients, blobs);
        for (size_t k = missing; code == 0 && k-- > 0;) /* backwards: back[k] ≥ k */
            move_result(k, (size_t)back[k], dim, model->blobs, values, gradients, blobs);
        for (size_t i = 0; code == 0 && i < n; i++)
            if (found[i]) pack(i, dim, model->blobs, values, gradients, blobs, numbers + i * width, 1);
    }
    free(memory);
    free(found);
    return code;
}

int gess__call(const gess__calls *calls, const gess_model *model, unsigned worker, size_t n, const double *x,
               const double *places, double *values, double *gradients, double *blobs)
{
    if (calls->journal == NULL) return call_watched(calls, model, worker, n, x, places, values, gradients, blobs);
    if (!gess__journal_answers(calls->journal))
        return call_noted(calls, model, worker, n, x, places, values, gradients, blobs);
    return call_answered(calls, model, worker, n, x, places, values, gradients, blobs);
}

int gess__call_derive(const gess__calls *calls, const gess_model *model, unsigned worker, const double *x, double *out)
{
    const uint64_t chain = 0;
    gess_evaluation e = {.what = GESS_WATCH_DERIVED, .n = 1, .dim = model->dim, .x = x, .chains = &chain};
    if (calls->watch != NULL) calls->watch(calls->watch_user, worker, &e);
    unsigned arithmetic = gess__arithmetic();
    int code = gess__model_derive(model, worker, x, out);
    gess__arithmetic_restore(arithmetic);
    e = (gess_evaluation){.what = GESS_WATCH_RETURNED};
    if (calls->watch != NULL) calls->watch(calls->watch_user, worker, &e);
    return code;
}
