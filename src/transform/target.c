/* Evaluates the density in the sampling space: maps w to x, calls the model, and adds log |dx/dw| to its log density.
 * The Jacobian of the bounds comes from bounds.c, that of the learned map from learned_map.c. It also turns states into
 * draws. */
#include "transform/target.h"

#include "base/assert.h"
#include "base/mutant.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int gess__target_init(gess__target *target, const gess_model *model, int transform, gess_error *err)
{
    GESS_ASSERT(target != NULL && model != NULL && gess__model_on_processor(model, NULL) == GESS_OK);
    target->model = model;
    target->calls = (gess__calls){0};
    target->learned = NULL;
    target->reference = NULL;
    GESS_TRY(gess__bounds_init(&target->bounds, model, transform, err));
    target->dim = target->bounds.inner;
    target->columns = gess__model_columns(model);
    return GESS_OK;
}

void gess__target_free(gess__target *target)
{
    gess__bounds_free(&target->bounds);
    gess__learned_free(target->learned);
    gess__reference_free(target->reference);
    free(target->calls.asking);
}

int gess__target_anneal(gess__target *target, gess_error *err)
{
    GESS_ASSERT(target->dim > 0 && target->reference == NULL);
    return gess__reference_new(&target->reference, &target->bounds, err);
}

/* Whether the density is annealed at present. */
static int annealed(const gess__target *target)
{
    return target->reference != NULL && target->reference->power < 1.0;
}

double gess__target_unannealed(const gess__target *target, const double *y, double value)
{
    const gess__reference *r = target->reference;
    if (!annealed(target)) return value;
    return (value - (1.0 - r->power) * gess__reference_log(r, y)) / r->power;
}

int gess__target_learn(gess__target *target, gess_error *err)
{
    GESS_ASSERT(target->dim > 0 && target->learned == NULL);
    return gess__learned_new(&target->learned, target->dim, err);
}

/* Whether w differs from y. */
static int mapped(const gess__target *target)
{
    return target->learned != NULL && gess__learned_layers(target->learned) > 0;
}

size_t gess__target_scratch(const gess__target *target, size_t n)
{
    /* per point: x, its gradient, log |dx/dy|, and, if it is inside, its log density and place */
    size_t bounds = target->bounds.trivial ? 0 : n * (2 * target->model->dim + 3);
    /* without bounds: points that a user's density may spoil */
    if (target->bounds.trivial && !target->model->trusted) bounds = n * target->model->dim;
    /* per point y and log |dy/dw|; without a map gess__target_describe() needs y of one point */
    size_t learned =
        target->learned == NULL ? target->dim : n * (target->dim + 1) + gess__learned_scratch(target->learned, n);
    /* blobs that nobody wants, of a model that cannot leave them out */
    size_t blobs = gess__model_only_blobs(target->model) ? n * target->model->blobs : 0;
    return bounds + learned + blobs;
}

double gess__target_out(const gess__target *target, const double *w, double *y, double *scratch)
{
    GESS_ASSERT(w != NULL && y != NULL && scratch != NULL);
    double jacobian = 0.0;
    if (mapped(target))
        gess__learned_out(target->learned, 1, w, y, &jacobian, scratch);
    else
        memcpy(y, w, target->dim * sizeof *y);
    return jacobian;
}

/* Writes a point of the user's space as text. */
static void describe(const gess__target *target, const double *x, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0, used = 0; i < target->model->dim && used < size; i++)
        used = gess__describe_parameter(target->model, i, x[i], text, used, size);
}

/* Adds the point and the density's own words to a message. */
static int add_details(const gess_model *model, unsigned worker, const double *x, int status, gess_error *err)
{
    if (err == NULL) return status;
    size_t room = sizeof err->point / sizeof *err->point;
    err->dim = model->dim;
    memcpy(err->point, x, (model->dim < room ? model->dim : room) * sizeof *x);
    if (model->message != NULL) model->message(model->user, worker, err->density_text, sizeof err->density_text);
    err->density_text[sizeof err->density_text - 1] = '\0';
    return status;
}

/* Writes the message of a batch that failed: asks for its points one by one to find the one to blame, the first if each
 * succeeds by itself. err->chain becomes its number in the batch, from 1. */
static int blame_point(const gess__target *target, unsigned worker, size_t n, const double *x, double *values, int code,
                       gess_error *err)
{
    const gess_model *model = target->model;
    size_t dim = model->dim, bad = 0;
    char own[256] = "", point[400];
    while (n > 1 && bad < n && gess__model_logp(model, worker, 1, x + bad * dim, values) == 0) bad++;
    if (bad == n) bad = 0;
    if (model->message != NULL) model->message(model->user, worker, own, sizeof own);
    own[sizeof own - 1] = '\0';
    describe(target, x + bad * dim, point, sizeof point);
    int status = gess__fail(err, GESS_ERR_MODEL, "the model returned error %d at %s%s%s", code, point,
                            own[0] != '\0' ? "; it says: " : "", own);
    err->chain = bad + 1;
    return add_details(model, worker, x + bad * dim, status, err);
}

/* Whether the worker's last call lost its process; err->chain becomes the number of the point among the n points x,
 * from 1. */
static int check_lost(const gess_model *model, unsigned worker, size_t n, const double *x, gess_error *err)
{
    const double *point = NULL;
    if (model->lost == NULL) return GESS_OK;
    int status = model->lost(model->user, worker, &point, err);
    if (status == GESS_OK || err == NULL || point == NULL) return status;
    for (size_t i = n; i-- > 0;)
        if (memcmp(x + i * model->dim, point, model->dim * sizeof *x) == 0) err->chain = i + 1;
    return status;
}

int gess__target_lost(const gess__target *target, unsigned worker, gess_error *err)
{
    return check_lost(target->model, worker, 0, NULL, err);
}

/* Calls the model with n points of the user's space; `places` as for gess__call(). */
static int call_model(const gess__target *target, unsigned worker, size_t n, const double *x, double *values,
                      double *gradients, double *blobs, const double *places, gess_error *err)
{
    int code = gess__call(&target->calls, target->model, worker, n, x, places, values, gradients, blobs);
    if (code == 0) return GESS_OK;
    GESS_TRY(check_lost(target->model, worker, n, x, err));
    return err != NULL ? blame_point(target, worker, n, x, values, code, err) : GESS_ERR_MODEL;
}

/* Moves the blobs of points inside the bounds, which come first, to the rows of their points. */
static void spread_blobs(size_t count, size_t inside, const double *places, double *blobs)
{
    for (size_t k = inside; k-- > 0;) { /* backwards: places[k] ≥ k */
        size_t i = (size_t)places[k];
        if (i > k) memcpy(blobs + i * count, blobs + k * count, count * sizeof *blobs);
    }
}

/* Log densities, gradients and blobs in the space y, not annealed. */
static int evaluate_model(const gess__target *target, unsigned worker, size_t n, const double *y, double *values,
                          double *gradients, double *blobs, double *scratch, gess_error *err)
{
    if (target->bounds.trivial && target->model->trusted)
        return call_model(target, worker, n, y, values, gradients, blobs, NULL, err);
    if (target->bounds.trivial) {
        memcpy(scratch, y, n * target->dim * sizeof *y);
        return call_model(target, worker, n, scratch, values, gradients, blobs, NULL, err);
    }
    size_t outer = target->model->dim, inner = target->dim, inside = 0;
    double *x = scratch, *by_x = x + n * outer, *jacobians = by_x + n * outer, *logp = jacobians + n,
           *places = logp + n;
    gess__bounds_out_rows(&target->bounds, n, y, x, jacobians);
    for (size_t i = 0; i < n; i++) {
        if (!(jacobians[i] > -INFINITY)) {
            values[i] = -INFINITY;
            continue;
        }
        if (inside < i) memcpy(x + inside * outer, x + i * outer, outer * sizeof *x);
        jacobians[inside] = jacobians[i];
        places[inside++] = (double)i;
    }
    if (inside == 0) return GESS_OK;
    int status = call_model(target, worker, inside, x, logp, gradients != NULL ? by_x : NULL, blobs, places, err);
    if (status != GESS_OK && err != NULL && err->chain > 0) err->chain = (uint64_t)places[err->chain - 1] + 1;
    GESS_TRY(status);
    if (blobs != NULL && inside < n) spread_blobs(target->model->blobs, inside, places, blobs);
    for (size_t k = 0; k < inside; k++) {
        size_t i = (size_t)places[k];
        values[i] = GESS__MUTANT(NO_JACOBIAN) ? logp[k] : logp[k] + jacobians[k];
        if (gradients != NULL)
            gess__bounds_gradient(&target->bounds, y + i * inner, by_x + k * outer, gradients + i * inner);
    }
    return GESS_OK;
}

/* Log densities, gradients and blobs in the space y. */
static int evaluate_unbounded(const gess__target *target, unsigned worker, size_t n, const double *y, double *values,
                              double *gradients, double *blobs, double *scratch, gess_error *err)
{
    const gess__reference *r = target->reference;
    GESS_TRY(evaluate_model(target, worker, n, y, values, gradients, blobs, scratch, err));
    if (!annealed(target)) return GESS_OK;
    double power = GESS__MUTANT(ANNEALED_POWER) ? 0.9 * r->power : r->power;
    for (size_t i = 0; i < n; i++)
        values[i] = power * values[i] + (1.0 - r->power) * gess__reference_log(r, y + i * target->dim);
    return GESS_OK;
}

int gess__target_evaluate(const gess__target *target, unsigned worker, size_t n, const double *w, double *values,
                          double *gradients, double *blobs, double *scratch, gess_error *err)
{
    GESS_ASSERT(n == 0 || (w != NULL && values != NULL && scratch != NULL));
    GESS_ASSERT(gradients == NULL || (target->model->gradient != NULL && !mapped(target) && !annealed(target)));
    GESS_ASSERT(blobs == NULL || target->model->blobs > 0);
    if (blobs == NULL && gradients == NULL && gess__model_only_blobs(target->model)) {
        blobs = scratch;
        scratch += n * target->model->blobs;
    }
    if (!mapped(target)) return evaluate_unbounded(target, worker, n, w, values, gradients, blobs, scratch, err);
    double *y = scratch, *jacobians = y + n * target->dim, *rest = jacobians + n;
    gess__learned_out(target->learned, n, w, y, jacobians, rest);
    double *behind_map = rest + gess__learned_scratch(target->learned, n);
    GESS_TRY(evaluate_unbounded(target, worker, n, y, values, NULL, blobs, behind_map, err));
    /* a point far out where the map overflows is outside */
    for (size_t i = 0; i < n; i++)
        if (!GESS__MUTANT(NO_LEARNED_JACOBIAN))
            values[i] = jacobians[i] > -INFINITY ? values[i] + jacobians[i] : -INFINITY;
    return GESS_OK;
}

int gess__target_derive(const gess__target *target, unsigned worker, double *x, gess_error *err)
{
    const gess_model *model = target->model;
    int code = gess__call_derive(&target->calls, model, worker, x, x + model->dim);
    if (code == 0) return GESS_OK;
    GESS_TRY(gess__target_lost(target, worker, err));
    char point[400];
    describe(target, x, point, sizeof point);
    int status = gess__fail(err, GESS_ERR_MODEL, "the model's derived quantities returned error %d at %s", code, point);
    return add_details(model, worker, x, status, err);
}

int gess__target_draws(const gess__target *target, unsigned worker, size_t n, const double *w, const double *values,
                       const double *blobs, double *rows, size_t stride, double *scratch, gess_error *err)
{
    GESS_ASSERT((blobs != NULL) == (target->model->blobs > 0));
    GESS_ASSERT(stride >= target->columns && (n == 0 || (w != NULL && values != NULL && rows != NULL)));
    const gess_model *model = target->model;
    const double *y = w, *x;
    size_t dim = model->dim;
    double *mapped_y = scratch, *learned = mapped_y + n * target->dim, *next = scratch;
    for (size_t i = 0; i < n; i++) rows[i * stride] = values[i];
    if (mapped(target)) {
        next = learned + n + gess__learned_scratch(target->learned, n);
        gess__learned_out(target->learned, n, w, mapped_y, learned, learned + n);
        for (size_t i = 0; i < n; i++) rows[i * stride] -= learned[i];
        y = mapped_y;
    }
    for (size_t i = 0; annealed(target) && i < n; i++)
        rows[i * stride] = gess__target_unannealed(target, y + i * target->dim, rows[i * stride]);
    x = y;
    if (!target->bounds.trivial) {
        double *inside = next, *jacobians = inside + n * dim;
        gess__bounds_out_rows(&target->bounds, n, y, inside, jacobians);
        for (size_t i = 0; i < n; i++) rows[i * stride] -= jacobians[i];
        x = inside;
    }
    for (size_t i = 0; i < n; i++) {
        double *row = rows + i * stride + 1;
        memcpy(row, x + i * dim, dim * sizeof *row);
        if (model->derived > 0) GESS_TRY(gess__target_derive(target, worker, row, err));
        if (model->derived > 0 && !model->trusted) memcpy(row, x + i * dim, dim * sizeof *row); /* if it wrote there */
        if (blobs != NULL) memcpy(row + dim + model->derived, blobs + i * model->blobs, model->blobs * sizeof *row);
    }
    return GESS_OK;
}

void gess__target_describe(const gess__target *target, const double *w, char *text, size_t size, double *scratch)
{
    GESS_ASSERT(w != NULL && text != NULL && size > 0 && scratch != NULL);
    gess__target_out(target, w, scratch, scratch + target->dim);
    text[0] = '\0';
    for (size_t i = 0, used = 0; i < target->model->dim && used < size; i++)
        used =
            gess__describe_parameter(target->model, i, gess__bounds_one(&target->bounds, i, scratch), text, used, size);
}

void gess__target_add_point(const gess__target *target, const double *w, uint64_t chain, double *scratch,
                            gess_error *err)
{
    GESS_ASSERT(w != NULL && scratch != NULL);
    if (err == NULL) return;
    gess__target_out(target, w, scratch, scratch + target->dim);
    err->chain = chain;
    err->dim = target->model->dim;
    for (size_t i = 0; i < err->dim && i < sizeof err->point / sizeof *err->point; i++)
        err->point[i] = gess__bounds_one(&target->bounds, i, scratch);
}
