#include "map/target.h"

#include "model/model.h"

#include <stdio.h>
#include <string.h>

void gess__target_init(gess__target *target, const gess_model *model)
{
    target->model = model;
    target->dim = model->dim;
}

int gess__target_evaluate(const gess__target *target, unsigned worker, size_t n, const double *y, double *values,
                          double *gradients, gess_error *err)
{
    const gess_model *model = target->model;
    int code = gradients == NULL ? model->logp(model->user, worker, n, target->dim, y, values)
                                 : model->gradient(model->user, worker, n, target->dim, y, values, gradients);
    if (code == 0) return GESS_OK;
    char point[400];
    gess__target_describe(target, y, point, sizeof point);
    return gess__fail(err, GESS_ERR_MODEL, "the model returned error %d for a batch of %zu points, the first at %s", code,
                      n, point);
}

double gess__target_draw(const gess__target *target, const double *y, double value, double *x)
{
    memcpy(x, y, target->dim * sizeof *x);
    return value;
}

void gess__target_map(const gess__target *target, const double *x, double *y)
{
    memcpy(y, x, target->dim * sizeof *y);
}

void gess__target_describe(const gess__target *target, const double *y, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < target->dim; i++) {
        char buffer[32];
        int more = snprintf(text + used, size - used, "%s%s = %.17g", i > 0 ? ", " : "",
                            gess__parameter_name(target->model, i, buffer), y[i]);
        if (more < 0 || (size_t)more >= size - used) {
            snprintf(text + (used > size - 5 ? size - 5 : used), 5, "…");
            return;
        }
        used += (size_t)more;
    }
}
