/* `gess fit`: fits a multivariate t to points. */
#include "approx/fit.h"
#include "base/csv.h"
#include "command.h"

#include <math.h>

struct arguments {
    const char *points;
    int json;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'j': a->json = 1; return 0;
    default: return take_one(key, argument, state, &a->points, "which points? give a CSV file with one row per point");
    }
}

/* Σ[i,k] = Σ_j L[i,j] L[k,j]. */
static double sigma_entry(const gess__approx *t, size_t i, size_t k)
{
    double sum = 0.0;
    for (size_t j = 0; j <= (i < k ? i : k); j++) sum += t->chol[i + j * t->dim] * t->chol[k + j * t->dim];
    return sum;
}

static int print_fit_json(const gess__approx *t, const gess__fit_report *r, gess_error *err)
{
    json_t *root = json_object(), *mu = json_array(), *sigma = json_array();
    json_object_set_new(root, "nu", isinf(t->nu) ? json_null() : json_real(t->nu));
    for (size_t i = 0; i < t->dim; i++) {
        json_t *row = json_array();
        json_array_append_new(mu, json_real(t->mu[i]));
        for (size_t k = 0; k < t->dim; k++) json_array_append_new(row, json_real(sigma_entry(t, i, k)));
        json_array_append_new(sigma, row);
    }
    json_object_set_new(root, "mu", mu);
    json_object_set_new(root, "sigma", sigma);
    json_object_set_new(root, "loglik", json_real(r->loglik));
    json_object_set_new(root, "iterations", json_integer(r->iterations));
    json_object_set_new(root, "converged", json_boolean(r->converged));
    json_object_set_new(root, "ridged", json_boolean(r->ridged));
    json_object_set_new(root, "rank", json_integer((json_int_t)r->rank));
    return print_json(root, err);
}

static int print_fit(const gess__approx *t, const gess__fit_report *r, const gess__table *table, gess_error *err)
{
    if (isinf(t->nu))
        printf("nu      infinite (the points have the tails of a Gaussian)\n");
    else
        printf("nu      %.6g\n", t->nu);
    printf("loglik  %.10g\niterations %u%s\n", r->loglik, r->iterations, r->converged ? "" : " (not converged)");
    if (r->rank < t->dim)
        printf("%zu points for %zu dimensions: fitted in the span of %zu principal axes\n", table->rows, t->dim,
               r->rank);
    if (r->ridged) printf("a ridge was added: the points do not spread in every direction\n");
    printf("\n%-12s %12s %12s\n", "", "mu", "sqrt(sigma_ii)");
    for (size_t i = 0; i < t->dim; i++) {
        char number[32];
        snprintf(number, sizeof number, "x%zu", i + 1);
        printf("%-12s %12.6g %12.6g\n", table->names != NULL ? table->names[i] : number, t->mu[i],
               sqrt(sigma_entry(t, i, i)));
    }
    printf("\n--json gives all of sigma.\n");
    return finish_output(err);
}

static int check_points(const gess__table *table, const char *path, gess_error *err)
{
    if (table->rows < 2) return gess__fail(err, GESS_ERR_USAGE, "%s: one point only; a fit needs at least two", path);
    for (size_t i = 0; i < table->rows * table->columns; i++)
        if (!isfinite(table->values[i]))
            return gess__fail(err, GESS_ERR_USAGE, "%s: point %zu, column %zu is not a finite number", path,
                              i / table->columns + 1, i % table->columns + 1);
    return GESS_OK;
}

int command_fit(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] = {{"json", 'j', NULL, 0, "as JSON, for programs and for --approx", 0},
                                                 {0}};
    static const struct argp argp =
        {.options = options,
         .parser = take,
         .args_doc = "POINTS.csv",
         .doc = "Fits a multivariate t to points by maximum likelihood (ECME); with fewer than two "
                "points per dimension, in the span of their principal axes."};
    struct arguments a = {0};
    GESS_TRY(parse_arguments(&argp, argc, argv, &a));
    gess__table table = {0};
    gess__approx *t = NULL;
    gess__fitter *fitter = NULL;
    int status = gess__table_read(&table, a.points, err);
    if (status == GESS_OK) status = check_points(&table, a.points, err);
    if (status == GESS_OK) status = gess__approx_new(&t, table.columns, err);
    if (status == GESS_OK) status = gess__fitter_new(&fitter, table.columns, table.rows, err);
    if (status == GESS_OK) status = gess__fitter_thorough(fitter, err);
    if (status == GESS_OK) {
        gess__fit_report report;
        gess__fit(fitter, table.rows, table.values, GESS__FIT_EXACT, t, &report);
        status = a.json ? print_fit_json(t, &report, err) : print_fit(t, &report, &table, err);
    }
    gess__fitter_free(fitter);
    gess__approx_free(t);
    gess__table_free(&table);
    return status;
}
