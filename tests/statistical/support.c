#include "statistical/support.h"
#include "model/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Stores rows as they come, with room for all draws of the run. */
static int keep(void *user, size_t first_chain, size_t chains, uint64_t first, uint64_t draws, size_t columns,
                const double *rows)
{
    kept *k = user;
    size_t dim = columns - 1;
    if (first + draws > k->room) {
        uint64_t room = 2 * (first + draws);
        double *bigger = calloc(k->chains * room * dim, sizeof *bigger);
        for (size_t c = 0; c < k->chains && k->rows != NULL; c++)
            memcpy(bigger + c * room * dim, k->rows + c * k->room * dim, k->room * dim * sizeof *bigger);
        free(k->rows);
        k->rows = bigger;
        k->room = room;
    }
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws; i++)
            memcpy(k->rows + ((first_chain + c) * k->room + first + i) * dim, rows + (c * draws + i) * columns + 1,
                   dim * sizeof *rows);
    return 0;
}

void sample(kept *k, const char *model_name, const gess_options *options)
{
    gess_error err = {0};
    gess_model *model = NULL;
    gess_run *run = NULL;
    if (gess_model_open(&model, model_name, NULL, &err) != GESS_OK) fail_msg("%s", err.text);
    if (gess_run_new(&run, model, options, NULL, &err) != GESS_OK) fail_msg("%s", err.text);
    gess_run_stats(run, &k->stats, sizeof k->stats, NULL);
    *k = (kept){.chains = k->stats.chains, .dim = model->dim};
    gess_run_on_draw(run, keep, k, NULL);
    if (gess_run_go(run, &err) != GESS_OK) fail_msg("%s", err.text);
    gess_run_stats(run, &k->stats, sizeof k->stats, NULL);
    gess_run_free(run);
    gess_model_free(model);
    k->draws = k->stats.draws;
    k->values = malloc(k->chains * k->dim * k->draws * sizeof *k->values);
    for (size_t c = 0; c < k->chains; c++)
        for (uint64_t i = 0; i < k->draws; i++)
            for (size_t j = 0; j < k->dim; j++)
                k->values[(j * k->chains + c) * k->draws + i] = k->rows[(c * k->room + i) * k->dim + j];
    free(k->rows);
    k->rows = NULL;
}

void kept_free(kept *k)
{
    free(k->values);
}

void judge(const kept *k, gess__posterior_figures *figures, double *worst_rhat, double *least_ess)
{
    gess_error err = {0};
    gess__posterior_workspace *work = NULL;
    assert_int_equal(gess__posterior_workspace_new(&work, k->chains, (size_t)k->draws, &err), GESS_OK);
    *worst_rhat = 0.0;
    *least_ess = INFINITY;
    for (size_t j = 0; j < k->dim; j++) {
        gess__posterior_all(work, k->values + j * k->chains * k->draws, &figures[j]);
        *worst_rhat = fmax(*worst_rhat, figures[j].rhat);
        *least_ess = fmin(*least_ess, figures[j].ess_bulk);
    }
    gess__posterior_workspace_free(work);
}

/* Inverts the precision matrix by Gauss-Jordan elimination; the gradients at unit vectors are its columns. */
void wishart_truth(const char *name, double *sd)
{
    gess_error err = {0};
    gess_model *model = NULL;
    if (gess_model_open(&model, name, NULL, &err) != GESS_OK) fail_msg("%s", err.text);
    size_t n = model->dim;
    double *x = calloc(n * n, sizeof *x), *logp = calloc(n, sizeof *logp), *a = calloc(n * n, sizeof *a);
    double *inverse = calloc(n * n, sizeof *inverse);
    for (size_t i = 0; i < n; i++) x[i * n + i] = inverse[i * n + i] = 1.0;
    model->gradient(model->user, 0, n, n, x, logp, a);
    for (size_t i = 0; i < n * n; i++) a[i] = -a[i];
    for (size_t p = 0; p < n; p++) {
        double pivot = a[p * n + p];
        for (size_t j = 0; j < n; j++) {
            a[p * n + j] /= pivot;
            inverse[p * n + j] /= pivot;
        }
        for (size_t i = 0; i < n; i++) {
            double factor = a[i * n + p];
            if (i == p) continue;
            for (size_t j = 0; j < n; j++) {
                a[i * n + j] -= factor * a[p * n + j];
                inverse[i * n + j] -= factor * inverse[p * n + j];
            }
        }
    }
    for (size_t i = 0; i < n; i++) sd[i] = sqrt(inverse[i * n + i]);
    free(x);
    free(logp);
    free(a);
    free(inverse);
    gess_model_free(model);
}
