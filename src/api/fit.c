/* gess_fit of <gess/draws.h>: a multivariate t fitted to points. */
#include "approx/fit.h"

#include "api/argument.h"
#include "api/text.h"
#include "base/csv.h"
#include "base/mem.h"
#include "report/fit_text.h"

#include <gess/draws.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gess_fit {
    gess__approx *approx;
    gess__fit_report report;
    size_t points;
    char **names; /* of the coordinates; NULL: x1, x2, … */
};

/* `where`: the file or the function, for messages. */
static int check_points(const char *where, size_t count, size_t dim, const double *points, gess_error *err)
{
    if (count < 2) return gess__fail(err, GESS_ERR_USAGE, "%s: one point only; a fit needs at least two", where);
    for (size_t i = 0; i < count * dim; i++)
        if (!isfinite(points[i]))
            return gess__fail(err, GESS_ERR_USAGE, "%s: point %zu, column %zu is not a finite number", where,
                              i / dim + 1, i % dim + 1);
    return GESS_OK;
}

static int fit_points(gess_fit *fit, size_t count, size_t dim, const double *points, gess_error *err)
{
    gess__fitter *fitter = NULL;
    fit->points = count;
    GESS_TRY(gess__approx_new(&fit->approx, dim, err));
    int status = gess__fitter_new(&fitter, dim, count, err);
    if (status == GESS_OK) status = gess__fitter_thorough(fitter, err);
    if (status == GESS_OK) gess__fit(fitter, count, points, GESS__FIT_EXACT, fit->approx, &fit->report);
    gess__fitter_free(fitter);
    return status;
}

static int finish(gess_fit **fit, int status)
{
    if (status == GESS_OK) return GESS_OK;
    gess_fit_free(*fit);
    *fit = NULL;
    return status;
}

int gess_fit_new(gess_fit **fit, size_t count, size_t dim, const double *points, gess_error *err)
{
    GESS_REQUIRE(fit, err);
    *fit = NULL;
    GESS_REQUIRE(points, err);
    if (dim == 0) return gess__fail(err, GESS_ERR_USAGE, "gess_fit_new: `dim` is 0");
    if (count > SIZE_MAX / sizeof *points / dim)
        return gess__fail(err, GESS_ERR_USAGE, "gess_fit_new: `count` × `dim` is larger than memory can be");
    GESS_TRY(check_points(__func__, count, dim, points, err));
    int status = gess__alloc_bytes(fit, 1, sizeof **fit, "fit", err);
    if (status == GESS_OK) status = fit_points(*fit, count, dim, points, err);
    return finish(fit, status);
}

int gess_fit_new_csv(gess_fit **fit, const char *path, gess_error *err)
{
    gess__table table = {0};
    GESS_REQUIRE(fit, err);
    *fit = NULL;
    GESS_REQUIRE(path, err);
    int status = gess__table_read(&table, path, err);
    if (status == GESS_OK) status = check_points(path, table.rows, table.columns, table.values, err);
    if (status == GESS_OK) status = gess__alloc_bytes(fit, 1, sizeof **fit, "fit", err);
    if (status == GESS_OK) status = fit_points(*fit, table.rows, table.columns, table.values, err);
    if (status == GESS_OK) {
        (*fit)->names = table.names; /* handed over */
        table.names = NULL;
    }
    gess__table_free(&table);
    return finish(fit, status);
}

void gess_fit_free(gess_fit *fit)
{
    if (fit == NULL) return;
    for (size_t i = 0; fit->names != NULL && i < fit->approx->dim; i++) free(fit->names[i]);
    free(fit->names);
    gess__approx_free(fit->approx);
    free(fit);
}

int gess_fit_info(const gess_fit *fit, gess_fit_result *result, size_t size, gess_error *err)
{
    GESS_REQUIRE(fit, err);
    GESS_REQUIRE(result, err);
    const gess_fit_result all = {.dim = fit->approx->dim,
                                 .points = fit->points,
                                 .nu = fit->approx->nu,
                                 .loglik = fit->report.loglik,
                                 .iterations = fit->report.iterations,
                                 .converged = fit->report.converged,
                                 .ridged = fit->report.ridged,
                                 .rank = fit->report.rank};
    gess__fill_struct(result, size, &all, sizeof all);
    return GESS_OK;
}

int gess_fit_mu(const gess_fit *fit, double *mu, gess_error *err)
{
    GESS_REQUIRE(fit, err);
    GESS_REQUIRE(mu, err);
    memcpy(mu, fit->approx->mu, fit->approx->dim * sizeof *mu);
    return GESS_OK;
}

int gess_fit_sigma(const gess_fit *fit, double *sigma, gess_error *err)
{
    GESS_REQUIRE(fit, err);
    GESS_REQUIRE(sigma, err);
    size_t dim = fit->approx->dim;
    for (size_t i = 0; i < dim; i++)
        for (size_t k = 0; k < dim; k++) sigma[i * dim + k] = gess__approx_sigma(fit->approx, i, k);
    return GESS_OK;
}

int gess_fit_text(const gess_fit *fit, int format, char **text, gess_error *err)
{
    gess__text out;
    GESS_REQUIRE(text, err);
    *text = NULL;
    GESS_REQUIRE(fit, err);
    if (format == GESS_FORMAT_JSON) return gess__text_of_json(gess__fit_json(fit->approx, &fit->report), text, err);
    if (format != GESS_FORMAT_TEXT) return gess__no_format(__func__, format, err);
    GESS_TRY(gess__text_begin(&out, err));
    gess__fit_print(fit->approx, &fit->report, fit->points, (const char *const *)fit->names, out.out);
    return gess__text_end(&out, text, err);
}
