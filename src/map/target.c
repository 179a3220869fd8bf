#include "map/target.h"

#include "base/mutant.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

int gess__target_init(gess__target *target, const gess_model *model, int transform, gess_error *err)
{
    target->model = model;
    target->learned = NULL;
    GESS_TRY(gess__bounds_init(&target->bounds, model, transform, err));
    target->dim = target->bounds.inner;
    target->columns = 1 + model->dim + model->derived;
    return GESS_OK;
}

void gess__target_free(gess__target *target)
{
    gess__bounds_free(&target->bounds);
    gess__learned_free(target->learned);
}

int gess__target_learn(gess__target *target, gess_error *err)
{
    return gess__learned_new(&target->learned, target->dim, err);
}

/* Whether w is not y. */
static int mapped(const gess__target *target)
{
    return target->learned != NULL && gess__learned_layers(target->learned) > 0;
}

size_t gess__target_scratch(const gess__target *target, size_t n)
{
    /* x, its gradient, log |dx/dy|, log density and place of each point that is inside */
    size_t bounds = target->bounds.trivial ? 0 : n * (2 * target->model->dim + 3);
    /* y and log |dy/dw| of each point; also of one alone where there is no map */
    size_t learned =
        target->learned == NULL ? target->dim : n * (target->dim + 1) + gess__learned_scratch(target->learned, n);
    return bounds + learned;
}

double gess__target_out(const gess__target *target, const double *w, double *y, double *scratch)
{
    double jacobian = 0.0;
    if (mapped(target))
        gess__learned_out(target->learned, 1, w, y, &jacobian, scratch);
    else
        memcpy(y, w, target->dim * sizeof *y);
    return jacobian;
}

/* A point of the user's space. */
static void describe(const gess__target *target, const double *x, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0, used = 0; i < target->model->dim && used < size; i++)
        used = gess__describe_parameter(target->model, i, x[i], text, used, size);
}

/* Calls the model with n points of the user's space. */
static int ask(const gess__target *target, unsigned worker, size_t n, const double *x, double *values,
               double *gradients, const double *first_x, gess_error *err)
{
    const gess_model *model = target->model;
    int code = gradients == NULL ? model->logp(model->user, worker, n, model->dim, x, values)
                                 : model->gradient(model->user, worker, n, model->dim, x, values, gradients);
    if (code == 0) return GESS_OK;
    char point[400];
    describe(target, first_x, point, sizeof point);
    return gess__fail(err, GESS_ERR_MODEL, "the model returned error %d for a batch of %zu points, the first at %s",
                      code, n, point);
}

/* The same behind the bounds. */
static int ask_inside(const gess__target *target, unsigned worker, size_t n, const double *y, double *values,
                      double *gradients, double *scratch, gess_error *err)
{
    if (target->bounds.trivial) return ask(target, worker, n, y, values, gradients, y, err);
    size_t outer = target->model->dim, inner = target->dim, inside = 0;
    double *x = scratch, *by_x = x + n * outer, *jacobians = by_x + n * outer, *logp = jacobians + n,
           *places = logp + n;
    for (size_t i = 0; i < n; i++) {
        jacobians[inside] = gess__bounds_out(&target->bounds, y + i * inner, x + inside * outer);
        places[inside] = (double)i;
        if (jacobians[inside] > -INFINITY)
            inside++;
        else
            values[i] = -INFINITY;
    }
    if (inside == 0) return GESS_OK;
    GESS_TRY(ask(target, worker, inside, x, logp, gradients != NULL ? by_x : NULL, x, err));
    for (size_t k = 0; k < inside; k++) {
        size_t i = (size_t)places[k];
        values[i] = GESS__MUTANT(NO_JACOBIAN) ? logp[k] : logp[k] + jacobians[k];
        if (gradients != NULL)
            gess__bounds_gradient(&target->bounds, y + i * inner, by_x + k * outer, gradients + i * inner);
    }
    return GESS_OK;
}

int gess__target_evaluate(const gess__target *target, unsigned worker, size_t n, const double *w, double *values,
                          double *gradients, double *scratch, gess_error *err)
{
    if (!mapped(target)) return ask_inside(target, worker, n, w, values, gradients, scratch, err);
    double *y = scratch, *jacobians = y + n * target->dim, *rest = jacobians + n;
    gess__learned_out(target->learned, n, w, y, jacobians, rest);
    /* the bounds' scratch lies behind what the map may use */
    GESS_TRY(
        ask_inside(target, worker, n, y, values, gradients, rest + gess__learned_scratch(target->learned, n), err));
    /* a point so far out that the map overflows is outside */
    for (size_t i = 0; i < n; i++)
        if (!GESS__MUTANT(NO_LEARNED_JACOBIAN))
            values[i] = jacobians[i] > -INFINITY ? values[i] + jacobians[i] : -INFINITY;
    return GESS_OK;
}

int gess__target_draw(const gess__target *target, unsigned worker, const double *w, double value, double *row,
                      double *scratch, gess_error *err)
{
    const gess_model *model = target->model;
    double *x = row + 1, *y = scratch;
    value -= gess__target_out(target, w, y, scratch + target->dim);
    if (target->bounds.trivial) {
        memcpy(x, y, model->dim * sizeof *x);
        row[0] = value;
    } else {
        row[0] = value - gess__bounds_out(&target->bounds, y, x);
    }
    if (model->derived == 0) return GESS_OK;
    int code = model->derive(model->user, worker, model->dim, x, model->derived, x + model->dim);
    if (code == 0) return GESS_OK;
    char point[400];
    describe(target, x, point, sizeof point);
    return gess__fail(err, GESS_ERR_MODEL, "the model's derived quantities returned error %d at %s", code, point);
}

void gess__target_describe(const gess__target *target, const double *w, char *text, size_t size, double *scratch)
{
    gess__target_out(target, w, scratch, scratch + target->dim);
    text[0] = '\0';
    for (size_t i = 0, used = 0; i < target->model->dim && used < size; i++)
        used =
            gess__describe_parameter(target->model, i, gess__bounds_one(&target->bounds, i, scratch), text, used, size);
}
