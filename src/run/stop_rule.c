/* Holds the draws of all columns, thins them when memory is full, computes R-hat and bulk ESS of every column on the
 * team, and compares them with their targets. */
#include "run/stop_rule.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/vmath.h"
#include "diagnose/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DOUBLES = 1 << 25 }; /* 256 MiB */

/* Effective draws in the tails that are waited for: this share of the target of the bulk, up to this target; 400, which
 * the verdict wants (report/rules.h), by default. */
#define TAIL_SHARE 0.4
#define MAX_TAIL_TARGET 1000.0

int gess__stop_rule_new(gess__stop_rule **rule, size_t chains, size_t ensembles, size_t columns, size_t blobs,
                        int nested, gess_error *err)
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
    GESS_ALLOC(&r->nested, r->columns, err);
    GESS_ALLOC(&r->bad, r->columns, err);
    GESS_ALLOC(&r->circle, r->columns, err);
    r->groups = ensembles > 1 || nested ? gess__compared_groups(chains, ensembles) : 0;
    return GESS_OK;
}

void gess__stop_rule_periodic(gess__stop_rule *r, const gess_model *model)
{
    GESS_ASSERT(model->shown > 0 || model->dim < r->columns);
    for (size_t i = 0; model->periodic != NULL && model->shown == 0 && i < model->dim; i++)
        if (model->periodic[i]) r->circle[i + 1] = (gess__circle){.lower = model->lower[i], .upper = model->upper[i]};
}

static void free_workers(gess__stop_rule *r)
{
    for (unsigned i = 0; r->chain_work != NULL && i < r->workers; i++) gess__posterior_workspace_free(r->chain_work[i]);
    for (unsigned i = 0; r->group_work != NULL && i < r->workers; i++) gess__posterior_workspace_free(r->group_work[i]);
    free(r->chain_work);
    free(r->group_work);
    free(r->packed);
    free(r->chain);
    free(r->chain_scratch);
    r->chain = NULL;
    r->chain_scratch = NULL;
    r->chain_work = r->group_work = NULL;
    r->packed = NULL;
}

void gess__stop_rule_free(gess__stop_rule *r)
{
    if (r == NULL) return;
    free_workers(r);
    free(r->values);
    free(r->rhat);
    free(r->ess);
    free(r->nested);
    free(r->bad);
    free(r->circle);
    free(r);
}

void gess__stop_rule_restart(gess__stop_rule *r)
{
    r->stride = 1;
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

/* R-hat and bulk ESS against their targets. */
static int misses_targets(const gess__stop_rule *r, size_t column)
{
    double limit = r->target_rhat;
    if (!(r->ess[column] >= r->target_ess)) return 1;
    if (isnan(r->nested[column])) return !(r->rhat[column] <= limit);
    return !(r->nested[column] <= limit && r->rhat[column] <= 1.0 + GESS__CHAINS_EXCESS * (limit - 1.0));
}

/* A fixed parameter, or a derived quantity that never changes: it has no figures and needs none. One with a draw that
 * is not finite has none either, however long it is waited for; parameters and lp__ are finite. */
static int has_no_figures(const gess__stop_rule *r, size_t column)
{
    const double *x = r->values + column * r->chains * r->capacity;
    int constant = 1;
    for (size_t c = 0; c < r->chains; c++)
        for (uint64_t i = 0; i < r->draws; i++) {
            if (!isfinite(x[c * r->capacity + i])) return 1;
            constant &= x[c * r->capacity + i] == x[0];
        }
    return constant;
}

/* What the verdict would fail: too few effective draws in the tails, single chains that differ. The column's draws are
 * loaded. */
static int fails_verdict(gess__stop_rule *r, unsigned worker, size_t column)
{
    gess__posterior_figures figures;
    gess__posterior_chain *chain = r->chain + worker * r->chains;
    gess__column_chains checks;
    size_t n = (size_t)r->draws;
    gess__posterior_all_chains(r->chain_work[worker], r->packed + worker * r->packed_size, &figures, chain);
    gess__compare_chains(r->chains, n, chain, r->chain_scratch + worker * 2 * r->chains, &checks);
    return figures.ess_tail < gess__min(r->target_ess, TAIL_SHARE * gess__min(r->target_ess, MAX_TAIL_TARGET)) ||
           gess__chains_disagree(&checks, r->rhat[column]);
}

/* Cuts a circle open where its draws are few, as the summary does. */
static void cut_open(const gess__stop_rule *r, size_t column, double *x)
{
    const gess__circle *circle = &r->circle[column];
    size_t count = r->chains * (size_t)r->draws;
    gess__circular_figures c;
    if (!gess__is_circle(circle)) return;
    gess__circular_of(circle, count, x, &c);
    if (isfinite(c.cut)) gess__circular_unwrap(circle, c.cut, count, x, x);
}

static int compute_column(void *data, unsigned worker, size_t column, gess_error *err)
{
    gess__stop_rule *r = data;
    size_t n = (size_t)r->draws;
    double *packed = r->packed + worker * r->packed_size;
    (void)err;
    for (size_t c = 0; c < r->chains; c++)
        memcpy(packed + c * n, r->values + (column * r->chains + c) * r->capacity, n * sizeof *packed);
    cut_open(r, column, packed);
    r->nested[column] = NAN;
    double rhat = NAN;
    if (r->group_work != NULL)
        rhat = gess__rhat_of_groups(r->group_work[worker], r->chains, r->groups, n, packed, packed + r->chains * n);
    gess__posterior_load(r->chain_work[worker], packed);
    r->rhat[column] = gess__posterior_rhat(r->chain_work[worker]);
    r->ess[column] = gess__posterior_ess_bulk(r->chain_work[worker]);
    if (r->ensembles == 1)
        r->nested[column] = rhat;
    else if (!(rhat <= r->rhat[column]))
        r->rhat[column] = rhat;
    if (isnan(r->rhat[column]) && has_no_figures(r, column))
        r->bad[column] = 0;
    else
        r->bad[column] = (unsigned char)(misses_targets(r, column) || fails_verdict(r, worker, column));
    return GESS_OK;
}

static int make_workers(gess__stop_rule *r, gess_error *err)
{
    size_t n = (size_t)r->draws;
    r->packed_size = r->chains * n * (r->groups > 0 ? 2 : 1);
    GESS_ALLOC(&r->packed, r->workers * r->packed_size, err);
    GESS_ALLOC(&r->chain, r->workers * r->chains, err);
    GESS_ALLOC(&r->chain_scratch, 2 * r->workers * r->chains, err);
    GESS_ALLOC(&r->chain_work, r->workers, err);
    for (unsigned i = 0; i < r->workers; i++)
        GESS_TRY(gess__posterior_workspace_new(&r->chain_work[i], r->chains, n, err));
    if (r->groups == 0) return GESS_OK;
    GESS_ALLOC(&r->group_work, r->workers, err);
    for (unsigned i = 0; i < r->workers; i++)
        GESS_TRY(gess__posterior_workspace_new(&r->group_work[i], r->groups,
                                               n * gess__group_common(r->chains, r->groups), err));
    return GESS_OK;
}

int gess__stop_rule_check(gess__stop_rule *r, uint64_t draws, gess__team *team, int all, double ess, double rhat,
                          gess__stop_figures *f, gess_error *err)
{
    r->draws = draws / r->stride;
    r->target_ess = ess;
    r->target_rhat = rhat;
    GESS_ASSERT(r->draws > 0 && r->draws <= r->capacity && r->failed_column < r->columns);
    free_workers(r);
    r->workers = gess__team_size(team);
    GESS_TRY(make_workers(r, err));
    GESS_TRY(compute_column(r, 0, r->failed_column, err));
    *f = (gess__stop_figures){.targets_met = !r->bad[r->failed_column],
                              .least_ess = r->ess[r->failed_column],
                              .worst_rhat = r->rhat[r->failed_column],
                              .worst_nested = r->nested[r->failed_column]};
    r->all_computed = f->targets_met || all;
    if (r->all_computed) {
        GESS_TRY(gess__team_run(team, r->columns, compute_column, r, err));
        for (size_t j = 0; j < r->columns; j++) {
            if (r->bad[j] && (f->targets_met || !(r->rhat[j] <= r->rhat[r->failed_column]))) r->failed_column = j;
            if (r->bad[j]) f->targets_met = 0;
            f->least_ess = gess__min(f->least_ess, r->ess[j]);
            f->worst_rhat = gess__max(f->worst_rhat, r->rhat[j]);
            f->worst_nested = gess__max(f->worst_nested, r->nested[j]);
        }
    }
    free_workers(r);
    return GESS_OK;
}
