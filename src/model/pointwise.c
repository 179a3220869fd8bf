/* The log likelihood of every observation, stored with each draw: the derived quantities log_lik[1], log_lik[2], and so
 * on, behind those that `derive` computes. Exporters put them where other programs look for them. */
#include "model/model.h"

#include <stdio.h>
#include <string.h>

int gess__model_add_pointwise(gess__model *m, gess_error *err)
{
    gess_model *model = &m->model;
    size_t own = model->derived, added = model->observations;
    const char **names = NULL;
    char(*text)[32] = NULL;
    if (model->pointwise == NULL || added == 0) return GESS_OK;
    GESS_TRY(gess__model_check_counts(model->dim, added, 0, err));
    GESS_TRY(gess__model_check_counts(model->dim, own + added, 0, err));
    if (own > 0 && model->derived_names == NULL) return GESS_OK; /* gess__model_check() says that they are missing */
    GESS_MODEL_ALLOC(m, &names, own + added, err);
    GESS_MODEL_ALLOC(m, &text, added, err);
    if (own > 0) memcpy(names, model->derived_names, own * sizeof *names);
    for (size_t i = 0; i < added; i++) {
        snprintf(text[i], sizeof text[i], "log_lik[%zu]", i + 1);
        names[own + i] = text[i];
    }
    model->derived_names = names;
    model->derived = own + added;
    model->pointwise_columns = added;
    return GESS_OK;
}

int gess__model_derive(const gess_model *model, unsigned worker, const double *x, double *out)
{
    size_t own = model->derived - model->pointwise_columns;
    int code = own > 0 ? model->derive(model->user, worker, model->dim, x, own, out) : 0;
    if (code != 0 || model->pointwise_columns == 0) return code;
    return model->pointwise(model->user, worker, model->dim, x, model->observations, out + own);
}
