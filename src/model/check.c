/* Checks the description of a model before any of its functions is called: dimension, names, bounds. */
#include "base/mem.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIM = 1000000 };

/* ---- names ---- */

/* Length of the UTF-8 sequence at s; 0 if it is not one (overlong forms, surrogates and code points past U+10FFFF are
 * not). */
static size_t sequence_length(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4) return 0;
    size_t length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if (s[0] == 0xe0 && s[1] < 0xa0) return 0;
    if (s[0] == 0xed && s[1] > 0x9f) return 0;
    if (s[0] == 0xf0 && s[1] < 0x90) return 0;
    if (s[0] == 0xf4 && s[1] > 0x8f) return 0;
    return length;
}

static bool is_utf8(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    while (*s != '\0') {
        size_t length = sequence_length(s);
        if (length == 0) return false;
        s += length;
    }
    return true;
}

/* Quotes, commas, newlines and the like are allowed; the writers of files escape them. A dot means an index in
 * CmdStan's files, and names that end in "__" are columns of the sampler. */
static int check_name(const char *name, const char *what, size_t i, gess_error *err)
{
    if (name == NULL || *name == '\0')
        return gess__fail(err, GESS_ERR_MODEL, "%s %zu of the model has no name; give each a name, or none of them",
                          what, i + 1);
    if (!is_utf8(name)) return gess__fail(err, GESS_ERR_MODEL, "the name of %s %zu is not valid UTF-8", what, i + 1);
    if (strchr(name, '.') != NULL)
        return gess__fail(err, GESS_ERR_MODEL,
                          "%s '%.100s': a name may not have a dot in it, which means an index in files of draws; "
                          "write _ or [ ]",
                          what, name);
    size_t length = strlen(name);
    if (length >= 2 && strcmp(name + length - 2, "__") == 0)
        return gess__fail(err, GESS_ERR_MODEL,
                          "%s '%.100s': names that end in __, such as lp__, are reserved for the sampler; choose "
                          "another",
                          what, name);
    return GESS_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names in place. */
static int check_unique(const char **names, size_t count, gess_error *err)
{
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 1; i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            return gess__fail(err, GESS_ERR_MODEL, "the model has two quantities with the name '%.100s'; rename one",
                              names[i]);
    return GESS_OK;
}

static int check_names(const gess_model *model, gess_error *err)
{
    size_t dim = model->dim, count = dim + model->derived + model->blobs;
    for (size_t i = 0; i < dim && model->names != NULL; i++) GESS_TRY(check_name(model->names[i], "parameter", i, err));
    for (size_t i = 0; i < model->derived; i++)
        GESS_TRY(check_name(model->derived_names[i], "derived quantity", i, err));
    for (size_t i = 0; i < model->blobs && model->blob_names != NULL; i++)
        GESS_TRY(check_name(model->blob_names[i], "blob", i, err));
    if (model->names == NULL && model->derived == 0 && model->blobs == 0) return GESS_OK;

    const char **all = NULL;
    char(*numbered)[32] = NULL; /* names x1, x2, … and blob1, blob2, … if the model has none */
    int status = gess__alloc_bytes(&all, count, sizeof *all, "names", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&numbered, count, sizeof *numbered, "names", err);
    if (status == GESS_OK) {
        for (size_t i = 0; i < count; i++) all[i] = gess__column_name(model, 1 + i, numbered[i]);
        status = check_unique(all, count, err);
    }
    free(numbered);
    free(all);
    return status;
}

/* ---- bounds ---- */

static int check_bounds(const gess_model *model, size_t i, bool *free_to_move, gess_error *err)
{
    char buffer[32];
    const char *name = gess__parameter_name(model, i, buffer);
    double lower = model->lower != NULL ? model->lower[i] : -INFINITY;
    double upper = model->upper != NULL ? model->upper[i] : INFINITY;
    if (isnan(lower) || isnan(upper))
        return gess__fail(err, GESS_ERR_MODEL,
                          "parameter '%.100s': its %s bound is NaN; for no bound write -INFINITY or INFINITY", name,
                          isnan(lower) ? "lower" : "upper");
    if (lower > upper)
        return gess__fail(err, GESS_ERR_MODEL, "parameter '%.100s': its lower bound %g is above its upper bound %g",
                          name, lower, upper);
    if (lower == INFINITY || upper == -INFINITY)
        return gess__fail(err, GESS_ERR_MODEL, "parameter '%.100s': bounds from %g to %g leave it no value", name,
                          lower, upper);
    if (model->periodic != NULL && model->periodic[i] && !(isfinite(lower) && isfinite(upper) && lower < upper))
        return gess__fail(err, GESS_ERR_MODEL,
                          "parameter '%.100s' is periodic, so it needs finite bounds, the lower below the upper; they "
                          "are %g and %g",
                          name, lower, upper);
    *free_to_move |= lower < upper;
    return GESS_OK;
}

static int check_all_bounds(const gess_model *model, gess_error *err)
{
    bool free_to_move = false;
    for (size_t i = 0; i < model->dim; i++) GESS_TRY(check_bounds(model, i, &free_to_move, err));
    if (free_to_move) return GESS_OK;
    return gess__fail(err, GESS_ERR_MODEL, "equal bounds fix every parameter of the model: nothing is left to sample");
}

/* ---- the whole ---- */

static int check_derived(const gess_model *model, gess_error *err)
{
    size_t own = model->derived - model->pointwise_columns;
    if (own == 0) return GESS_OK;
    if (model->derived_names == NULL || model->derive == NULL)
        return gess__fail(err, GESS_ERR_MODEL, "the model has %zu derived quantities but no %s", own,
                          model->derive == NULL ? "function `derive`" : "derived_names");
    return GESS_OK;
}

static int check_blobs(const gess_model *model, gess_error *err)
{
    if (model->blobs > 0 && model->logp_blobs == NULL)
        return gess__fail(err, GESS_ERR_MODEL, "the model has %zu blobs but no function `logp_blobs`", model->blobs);
    if (model->blobs == 0 && (model->logp_blobs != NULL || model->gradient_blobs != NULL))
        return gess__fail(err, GESS_ERR_MODEL,
                          "the model has a function `%s` but no blobs: set `blobs` to how many numbers it gives per "
                          "point",
                          model->logp_blobs != NULL ? "logp_blobs" : "gradient_blobs");
    if (model->gradient_blobs != NULL && model->gradient == NULL)
        return gess__fail(err, GESS_ERR_MODEL, "the model has a function `gradient_blobs` but no `gradient`");
    return GESS_OK;
}

int gess__model_check_counts(size_t dim, size_t derived, size_t blobs, gess_error *err)
{
    if (dim < 1) return gess__fail(err, GESS_ERR_MODEL, "the model has no parameters: dim is 0");
    if (dim > MAX_DIM)
        return gess__fail(err, GESS_ERR_MODEL, "the model has %zu parameters; gess takes at most %d", dim, MAX_DIM);
    if (derived > MAX_DIM)
        return gess__fail(err, GESS_ERR_MODEL, "the model has %zu derived quantities; gess takes at most %d", derived,
                          MAX_DIM);
    if (blobs > MAX_DIM)
        return gess__fail(err, GESS_ERR_MODEL, "the model has %zu blobs; gess takes at most %d", blobs, MAX_DIM);
    return GESS_OK;
}

int gess__model_check(const gess_model *model, gess_error *err)
{
    GESS_TRY(gess__model_check_counts(model->dim, model->derived, model->blobs, err));
    if (model->logp == NULL && model->logp_blobs == NULL && model->lane.name == NULL)
        return gess__fail(err, GESS_ERR_MODEL, "the model has no log density: logp is NULL");
    if (model->name != NULL && !is_utf8(model->name))
        return gess__fail(err, GESS_ERR_MODEL, "the name of the model is not valid UTF-8");
    GESS_TRY(check_derived(model, err));
    GESS_TRY(check_blobs(model, err));
    GESS_TRY(check_names(model, err));
    return check_all_bounds(model, err);
}
