/* Holds the draws of all columns, thins them when memory is full, computes R-hat and bulk ESS of every column on the
 * team, and compares them with their targets. */
#include "run/stop_rule.h"

#include "base/assert.h"
#include "base/mem.h"
#include "diagnose/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DOUBLES = 1 << 25 }; /* 256 MiB */

int gess__stop_rule_new(gess__stop_rule **rule, size_t chains, size_t ensembles, size_t columns, size_t blobs,
                        gess_error *err)
{
    GESS_ASSERT(columns > blobs && ensembles > 0 && ensembles <= chains);
    GESS_ALLOC(rule, 1, err);
    gess__stop_rule *r = *rule;
    r->chains = chains;
    r->ensembles = ensembles;
    r->columns = columns - blobs;
    r->row = columns;
    r->max_doubles = MAX_DOUBLES;
    r->stride = 1;
    GESS_ALLOC(&r->rhat, r->columns, err);
    GESS_ALLOC(&r->ess, r->columns, err);
    return GESS_OK;
}

static void free_workers(gess__stop_rule *r)
{
    for (unsigned i = 0; r->chain_work != NULL && i < r->workers; i++) gess__posterior_workspace_free(r->chain_work[i]);
    for (unsigned i = 0; r->ensemble_work != NULL && i < r->workers; i++)
        gess__posterior_workspace_free(r->ensemble_work[i]);
    free(r->chain_work);
    free(r->ensemble_work);
    free(r->packed);
    r->chain_work = r->ensemble_work = NULL;
    r->packed = NULL;
}

void gess__stop_rule_free(gess__stop_rule *r)
{
    if (r == NULL) return;
    free_workers(r);
    free(r->values);
    free(r->rhat);
    free(r->ess);
    free(r);
}

int gess__stop_rule_expect(gess__stop_rule *r, uint64_t draws, gess_error *err)
{
    size_t lines = r->chains * r->columns, max = r->max_doubles / lines > 16 ? r->max_doubles / lines : 16;
    while (draws / r->stride > max) {
        /* draw number i · 2 · stride stays and becomes number i */
        for (size_t line = 0; line < lines && r->values != NULL; line++)
            for (size_t i = 0; 2 * i + 1 < r->capacity; i++)
                r->values[line * r->capacity + i] = r->values[line * r->capacity + 2 * i + 1];
        r->stride *= 2;
    }
    size_t need = (size_t)(draws / r->stride);
    if (need <= r->capacity) return GESS_OK;
    double *bigger = NULL;
    GESS_ALLOC(&bigger, lines * need, err);
    for (size_t line = 0; line < lines && r->values != NULL; line++)
        memcpy(bigger + line * need, r->values + line * r->capacity, r->capacity * sizeof *bigger);
    free(r->values);
    r->values = bigger;
    r->capacity = need;
    return GESS_OK;
}

void gess__stop_rule_take(gess__stop_rule *r, size_t first_chain, const gess__segment *s)
{
    GESS_ASSERT(first_chain + s->first + s->count <= r->chains);
    for (uint64_t i = 0; i < s->draws; i++) {
        uint64_t number = s->first_draw + i + 1;
        if (number % r->stride != 0 || number / r->stride > r->capacity) continue;
        size_t at = (size_t)(number / r->stride) - 1;
        for (size_t c = 0; c < s->count; c++)
            for (size_t j = 0; j < r->columns; j++)
                r->values[(j * r->chains + first_chain + s->first + c) * r->capacity + at] =
                    s->rows[(c * s->draws + i) * r->row + j];
    }
}

static int compute_column(void *data, unsigned worker, size_t column, gess_error *err)
{
    gess__stop_rule *r = data;
    size_t n = (size_t)r->draws;
    double *packed = r->packed + worker * r->packed_size;
    (void)err;
    for (size_t c = 0; c < r->chains; c++)
        memcpy(packed + c * n, r->values + (column * r->chains + c) * r->capacity, n * sizeof *packed);
    gess__posterior_load(r->chain_work[worker], packed);
    r->rhat[column] = gess__posterior_rhat(r->chain_work[worker]);
    r->ess[column] = gess__posterior_ess_bulk(r->chain_work[worker]);
    if (r->ensemble_work == NULL) return GESS_OK;
    double rhat =
        gess__rhat_of_groups(r->ensemble_work[worker], r->chains, r->ensembles, n, packed, packed + r->chains * n);
    if (!(rhat <= r->rhat[column])) r->rhat[column] = rhat;
    return GESS_OK;
}

/* A fixed parameter, or a derived quantity that never changes: it has no figures and needs none. */
static int is_constant(const gess__stop_rule *r, size_t column)
{
    const double *x = r->values + column * r->chains * r->capacity;
    for (size_t c = 0; c < r->chains; c++)
        for (uint64_t i = 0; i < r->draws; i++)
            if (x[c * r->capacity + i] != x[0]) return 0;
    return 1;
}

static int fails(const gess__stop_rule *r, size_t column, double ess, double rhat)
{
    if (isnan(r->rhat[column]) && is_constant(r, column)) return 0;
    return !(r->rhat[column] <= rhat && r->ess[column] >= ess);
}

static int make_workers(gess__stop_rule *r, gess_error *err)
{
    size_t n = (size_t)r->draws;
    r->packed_size = r->chains * n * (r->ensembles > 1 ? 2 : 1);
    GESS_ALLOC(&r->packed, r->workers * r->packed_size, err);
    GESS_ALLOC(&r->chain_work, r->workers, err);
    for (unsigned i = 0; i < r->workers; i++)
        GESS_TRY(gess__posterior_workspace_new(&r->chain_work[i], r->chains, n, err));
    if (r->ensembles == 1) return GESS_OK;
    GESS_ALLOC(&r->ensemble_work, r->workers, err);
    for (unsigned i = 0; i < r->workers; i++)
        GESS_TRY(gess__posterior_workspace_new(&r->ensemble_work[i], r->ensembles,
                                               n * gess__group_common(r->chains, r->ensembles), err));
    return GESS_OK;
}

int gess__stop_rule_check(gess__stop_rule *r, uint64_t draws, gess__team *team, int all, double ess, double rhat,
                          int *targets_met, double *least_ess, double *worst_rhat, gess_error *err)
{
    r->draws = draws / r->stride;
    GESS_ASSERT(r->draws > 0 && r->draws <= r->capacity && r->failed_column < r->columns);
    free_workers(r);
    r->workers = gess__team_size(team);
    GESS_TRY(make_workers(r, err));
    GESS_TRY(compute_column(r, 0, r->failed_column, err));
    *least_ess = r->ess[r->failed_column];
    *worst_rhat = r->rhat[r->failed_column];
    *targets_met = !fails(r, r->failed_column, ess, rhat);
    r->all_computed = *targets_met || all;
    if (r->all_computed) {
        GESS_TRY(gess__team_run(team, r->columns, compute_column, r, err));
        for (size_t j = 0; j < r->columns; j++) {
            if (fails(r, j, ess, rhat) && (*targets_met || !(r->rhat[j] <= r->rhat[r->failed_column])))
                r->failed_column = j;
            if (fails(r, j, ess, rhat)) *targets_met = 0;
            *least_ess = gess__min(*least_ess, r->ess[j]);
            *worst_rhat = gess__max(*worst_rhat, r->rhat[j]);
        }
    }
    free_workers(r);
    return GESS_OK;
}
