/* The truth that errors are measured against: posterior means, standard deviations and mean distances from the mean. */
#include "base/csv.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "bench/measure.h"
#include "model/builtin/builtin.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* E |x| for x ~ N(0, 1). */
#define DISTANCE 0.79788456080286535588

/* v ~ N(0, 9), x_i | v ~ N(0, e^v): var x_i = E e^v = e^(9/2), E |x_i| = E |z| E e^(v/2). */
static int funnel(const gess_model *model, gess__truth *t, gess_error *err)
{
    (void)err;
    for (size_t i = 0; i < model->dim; i++) {
        t->sd[i] = i == 0 ? 3.0 : exp(2.25);
        t->spread[i] = DISTANCE * (i == 0 ? 3.0 : exp(1.125));
    }
    return GESS_OK;
}

static int gaussian(const gess_model *model, gess__truth *t, gess_error *err)
{
    (void)err;
    for (size_t i = 0; i < model->dim; i++) {
        t->sd[i] = 1.0;
        t->spread[i] = DISTANCE;
    }
    return GESS_OK;
}

/* Unit Gaussians of equal weight: the variance is 1 plus the variance of the centres; E |m + z| is
 * DISTANCE e^(-m²/2) + m erf(m / √2). */
static int mixture(const gess_model *model, gess__truth *t, gess_error *err)
{
    gess__table centres;
    char path[4096];
    GESS_TRY(gess__data_table("mixture_means.csv", &centres, path, err));
    double n = (double)centres.rows;
    for (size_t i = 0; i < model->dim && i < centres.columns; i++) {
        double square = 0.0;
        for (size_t k = 0; k < centres.rows; k++) t->mean[i] += centres.values[k * centres.columns + i] / n;
        for (size_t k = 0; k < centres.rows; k++) {
            double away = centres.values[k * centres.columns + i] - t->mean[i];
            square += away * away / n;
            t->spread[i] += (DISTANCE * exp(-0.5 * away * away) + away * erf(away * 0.70710678118654752440)) / n;
        }
        t->sd[i] = sqrt(1.0 + square);
    }
    gess__table_free(&centres);
    return GESS_OK;
}

/* A zero-mean Gaussian with precision A: the gradient at the unit vector e_i is -A e_i. With A = L L', the
 * variances are the squared lengths of the columns of L⁻¹. */
static int wishart(const gess_model *model, gess__truth *t, gess_error *err)
{
    size_t n = model->dim;
    double *chol = NULL, *inverse = NULL, value;
    int status = gess__alloc_bytes(&chol, n * n, sizeof *chol, "precision", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&inverse, n * n, sizeof *inverse, "precision", err);
    for (size_t i = 0; status == GESS_OK && i < n; i++) {
        inverse[i * n + i] = 1.0; /* e_i, and later L⁻¹ e_i */
        if (model->gradient(model->user, 0, 1, n, inverse + i * n, &value, chol + i * n) != 0)
            status = gess__fail(err, GESS_ERR_MODEL, "bench: the gradient of %s fails", model->name);
        for (size_t k = 0; k < n; k++) chol[i * n + k] = -chol[i * n + k];
    }
    if (status == GESS_OK) {
        if (!gess__cholesky(n, chol))
            status = gess__fail(err, GESS_ERR_MODEL, "bench: the precision of %s is not positive", model->name);
        else
            gess__solve_lower(n, chol, n, inverse);
    }
    for (size_t i = 0; status == GESS_OK && i < n; i++) {
        double square = 0.0;
        for (size_t k = 0; k < n; k++) square += inverse[i * n + k] * inverse[i * n + k];
        t->sd[i] = sqrt(square);
        t->spread[i] = DISTANCE * t->sd[i];
    }
    free(chol);
    free(inverse);
    return status;
}

static const struct {
    const char *name;
    int parameters; /* whether `make` is right for any parameters of the specification */
    int (*make)(const gess_model *model, gess__truth *t, gess_error *err);
} exact[] = {{"funnel", 1, funnel}, {"gaussian", 1, gaussian}, {"mixture", 0, mixture}, {"wishart", 1, wishart}};

void gess__reference_name(const char *specification, char name[GESS__BENCH_ITEM + 8])
{
    size_t i = 0;
    for (; i < GESS__BENCH_ITEM && specification[i] != '\0'; i++)
        name[i] = isalnum((unsigned char)specification[i]) ? specification[i] : '-';
    memcpy(name + i, ".csv", 5);
}

static int read_reference(const gess_model *model, const char *specification, gess__truth *t, gess_error *err)
{
    char name[GESS__BENCH_ITEM + 8], file[GESS__BENCH_ITEM + 32], path[1024];
    gess__table table;
    gess__reference_name(specification, name);
    snprintf(file, sizeof file, "reference/%s", name);
    if (gess__bench_file(file, path, sizeof path, err) != GESS_OK)
        return gess__fail(err, GESS_ERR_FILE,
                          "bench: the means of %s are not known, and there is no bench/%s; "
                          "`gess bench reference --models %s` makes it",
                          specification, file, specification);
    GESS_TRY(gess__table_read(&table, path, err));
    int fits = table.rows == model->dim && table.columns == 4;
    for (size_t i = 0; fits && i < model->dim; i++) {
        t->mean[i] = table.values[4 * i];
        t->sd[i] = table.values[4 * i + 1];
        t->spread[i] = table.values[4 * i + 2];
    }
    gess__table_free(&table);
    if (!fits) return gess__fail(err, GESS_ERR_FILE, "%s: not the %zu parameters of the model", path, model->dim);
    return GESS_OK;
}

int gess__truth_find(gess__truth *t, const gess_model *model, const char *specification, gess_error *err)
{
    GESS_ALLOC(&t->mean, model->dim, err);
    GESS_ALLOC(&t->sd, model->dim, err);
    GESS_ALLOC(&t->spread, model->dim, err);
    t->known = 1;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        size_t length = strlen(exact[i].name);
        if (strncmp(specification, exact[i].name, length) != 0) continue;
        if (specification[length] == '\0' || (specification[length] == ':' && exact[i].parameters))
            return exact[i].make(model, t, err);
    }
    t->known = 0;
    return read_reference(model, specification, t, err);
}

void gess__truth_free(gess__truth *t)
{
    free(t->mean);
    free(t->sd);
    free(t->spread);
    *t = (gess__truth){0};
}
