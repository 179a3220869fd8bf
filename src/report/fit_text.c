/* Prints the result of a fit as a table, and makes JSON of it. */
#include "report/fit_text.h"

#include "base/assert.h"

#include <math.h>

/* Σ[i,k] = Σ_j L[i,j] L[k,j]. */
double gess__approx_sigma(const gess__approx *t, size_t i, size_t k)
{
    double sum = 0.0;
    GESS_ASSERT(i < t->dim && k < t->dim);
    for (size_t j = 0; j <= (i < k ? i : k); j++) sum += t->chol[i + j * t->dim] * t->chol[k + j * t->dim];
    return sum;
}

json_t *gess__fit_json(const gess__approx *t, const gess__fit_report *r)
{
    json_t *root = json_object(), *mu = json_array(), *sigma = json_array();
    json_object_set_new(root, "nu", isinf(t->nu) ? json_null() : json_real(t->nu));
    for (size_t i = 0; i < t->dim; i++) {
        json_t *row = json_array();
        json_array_append_new(mu, json_real(t->mu[i]));
        for (size_t k = 0; k < t->dim; k++) json_array_append_new(row, json_real(gess__approx_sigma(t, i, k)));
        json_array_append_new(sigma, row);
    }
    json_object_set_new(root, "mu", mu);
    json_object_set_new(root, "sigma", sigma);
    json_object_set_new(root, "loglik", json_real(r->loglik));
    json_object_set_new(root, "iterations", json_integer(r->iterations));
    json_object_set_new(root, "converged", json_boolean(r->converged));
    json_object_set_new(root, "ridged", json_boolean(r->ridged));
    json_object_set_new(root, "rank", json_integer((json_int_t)r->rank));
    return root;
}

void gess__fit_print(const gess__approx *t, const gess__fit_report *r, size_t points, const char *const *names,
                     FILE *out)
{
    if (isinf(t->nu))
        fprintf(out, "nu      infinite (the points have the tails of a Gaussian)\n");
    else
        fprintf(out, "nu      %.6g\n", t->nu);
    fprintf(out, "loglik  %.10g\niterations %u%s\n", r->loglik, r->iterations, r->converged ? "" : " (not converged)");
    if (r->rank < t->dim)
        fprintf(out, "%zu points for %zu dimensions: fitted in the span of %zu principal axes\n", points, t->dim,
                r->rank);
    if (r->ridged) fprintf(out, "a ridge was added: the points do not spread in every direction\n");
    fprintf(out, "\n%-12s %12s %12s\n", "", "mu", "sqrt(sigma_ii)");
    for (size_t i = 0; i < t->dim; i++) {
        char number[32];
        snprintf(number, sizeof number, "x%zu", i + 1);
        fprintf(out, "%-12s %12.6g %12.6g\n", names != NULL ? names[i] : number, t->mu[i],
                sqrt(gess__approx_sigma(t, i, i)));
    }
    fprintf(out, "\n--json gives all of sigma.\n");
}
