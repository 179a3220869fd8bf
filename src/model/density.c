/* Makes models of densities (gess_model_new), and answers what the public interface asks of a model: its names, its
 * dimensions, its log density at given points. */
#include "base/mem.h"
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- copying ---- */

static int copy_bytes(gess__model *m, const void *from, size_t bytes, void *to, gess_error *err)
{
    void *copy = NULL;
    if (from == NULL || bytes == 0) return GESS_OK;
    GESS_TRY(gess__model_alloc(m, &copy, bytes, 1, err));
    memcpy(copy, from, bytes);
    memcpy(to, &copy, sizeof copy);
    return GESS_OK;
}

static int copy_texts(gess__model *m, const char *const *texts, size_t count, const char *const **to, gess_error *err)
{
    const char **copies = NULL;
    char *all = NULL;
    size_t bytes = 0, used = 0;
    if (texts == NULL || count == 0) return GESS_OK;
    for (size_t i = 0; i < count; i++) bytes += texts[i] != NULL ? strlen(texts[i]) + 1 : 0;
    GESS_MODEL_ALLOC(m, &copies, count, err);
    GESS_TRY(gess__model_alloc(m, &all, bytes + 1, 1, err));
    for (size_t i = 0; i < count; i++) { /* a text that is missing stays so: gess__model_check() says which */
        if (texts[i] == NULL) continue;
        copies[i] = strcpy(all + used, texts[i]);
        used += strlen(texts[i]) + 1;
    }
    *to = copies;
    return GESS_OK;
}

int gess__model_copy_density(gess__model *m, const gess_density *given, gess_error *err)
{
    gess_density d = {0};
    if (given->size < offsetof(gess_density, logp) + sizeof d.logp || given->size > 1 << 16)
        return gess__fail(err, GESS_ERR_MODEL,
                          "the density's `size` is %zu; set everything to zero, then `size` to sizeof(gess_density)",
                          given->size);
    memcpy(&d, given, given->size < sizeof d ? given->size : sizeof d);
    GESS_TRY(gess__model_check_counts(d.dim, d.derived, d.blobs, err));
    m->model = (gess_model){.dim = d.dim,
                            .logp = d.logp,
                            .gradient = d.gradient,
                            .start = d.start,
                            .user = d.user,
                            .derived = d.derived,
                            .derive = d.derive,
                            .blobs = d.blobs,
                            .logp_blobs = d.logp_blobs,
                            .gradient_blobs = d.gradient_blobs,
                            .message = d.message,
                            .start_logp = d.start_logp,
                            .log_prior = d.log_prior,
                            .observations = d.observations,
                            .pointwise = d.pointwise,
                            .simulated = d.simulated,
                            .simulate = d.simulate};
    if (d.device_logp != NULL) m->model.lane = (gess__lane_density){.name = "batch", .batch = d.device_logp};
    GESS_TRY(copy_bytes(m, d.name, d.name != NULL ? strlen(d.name) + 1 : 0, &m->model.name, err));
    GESS_TRY(copy_texts(m, d.names, d.dim, &m->model.names, err));
    GESS_TRY(copy_bytes(m, d.lower, d.dim * sizeof *d.lower, &m->model.lower, err));
    GESS_TRY(copy_bytes(m, d.upper, d.dim * sizeof *d.upper, &m->model.upper, err));
    GESS_TRY(copy_bytes(m, d.periodic, d.dim * sizeof *d.periodic, &m->model.periodic, err));
    GESS_TRY(copy_texts(m, d.blob_names, d.blobs, &m->model.blob_names, err));
    GESS_TRY(copy_texts(m, d.derived_names, d.derived, &m->model.derived_names, err));
    return gess__model_add_pointwise(m, err);
}

/* ---- the public interface ---- */

int gess_model_new(gess_model **model, const gess_density *density, gess_error *err)
{
    GESS_REQUIRE(model, err);
    *model = NULL;
    GESS_REQUIRE(density, err);
    gess__model *m = NULL;
    GESS_ALLOC(&m, 1, err);
    int status = gess__model_copy_density(m, density, err);
    if (status == GESS_OK) status = gess__model_check(&m->model, err);
    if (status == GESS_OK)
        *model = &m->model;
    else
        gess_model_free(&m->model);
    return status;
}

int gess_model_describe(const gess_model *model, gess_model_info *info, size_t size, gess_error *err)
{
    GESS_REQUIRE(model, err);
    GESS_REQUIRE(info, err);
    const gess_model_info all = {.name = model->name,
                                 .dim = model->dim,
                                 .derived = model->derived,
                                 .blobs = model->blobs,
                                 .has_gradient = model->gradient != NULL,
                                 .title = model->title != NULL ? model->title : model->name};
    gess__fill_struct(info, size, &all, sizeof all);
    return GESS_OK;
}

int gess_model_name(const gess_model *model, size_t index, char *name, size_t size, gess_error *err)
{
    char numbered[32];
    GESS_REQUIRE(model, err);
    GESS_REQUIRE(name, err);
    size_t count = gess__model_columns(model) - 1;
    if (index >= count)
        return gess__fail(err, GESS_ERR_USAGE, "gess_model_name: there is no quantity %zu; the model has %zu", index,
                          count);
    const char *text = gess__column_name(model, 1 + index, numbered);
    if (strlen(text) >= size)
        return gess__fail(err, GESS_ERR_USAGE, "gess_model_name: the name needs %zu bytes, and there are %zu",
                          strlen(text) + 1, size);
    strcpy(name, text);
    return GESS_OK;
}

int gess_model_evaluate(const gess_model *model, size_t n, const double *x, double *logp, double *gradient,
                        gess_error *err)
{
    GESS_REQUIRE(model, err);
    GESS_REQUIRE(x, err);
    GESS_REQUIRE(logp, err);
    if (gradient != NULL && model->gradient == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "the model has no gradient");
    GESS_TRY(gess__model_on_processor(model, err));
    int code = gradient != NULL ? model->gradient(model->user, 0, n, model->dim, x, logp, gradient)
                                : gess__model_logp(model, 0, n, x, logp);
    if (code == 0) return GESS_OK;
    const double *point;
    if (model->lost != NULL) GESS_TRY(model->lost(model->user, 0, &point, err));
    int status = gess__fail(err, GESS_ERR_MODEL, "the model returned error %d", code);
    if (err != NULL && model->message != NULL)
        model->message(model->user, 0, err->density_text, sizeof err->density_text);
    return status;
}
