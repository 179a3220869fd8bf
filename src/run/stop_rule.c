#include "run/stop_rule.h"

#include "base/mem.h"
#include "diagnose/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DOUBLES = 1 << 25 }; /* 256 MiB */

int gess__stop_rule_new(gess__stop_rule **watch, size_t chains, size_t ensembles, size_t columns, gess_error *err)
{
    GESS_ALLOC(watch, 1, err);
    gess__stop_rule *w = *watch;
    w->chains = chains;
    w->ensembles = ensembles;
    w->columns = columns;
    w->most = MAX_DOUBLES;
    w->stride = 1;
    GESS_ALLOC(&w->rhat, columns, err);
    GESS_ALLOC(&w->ess, columns, err);
    return GESS_OK;
}

static void free_workers(gess__stop_rule *w)
{
    for (unsigned i = 0; w->work != NULL && i < w->workers; i++) gess__posterior_workspace_free(w->work[i]);
    for (unsigned i = 0; w->together != NULL && i < w->workers; i++) gess__posterior_workspace_free(w->together[i]);
    free(w->work);
    free(w->together);
    free(w->packed);
    w->work = w->together = NULL;
    w->packed = NULL;
}

void gess__stop_rule_free(gess__stop_rule *w)
{
    if (w == NULL) return;
    free_workers(w);
    free(w->values);
    free(w->rhat);
    free(w->ess);
    free(w);
}

int gess__stop_rule_expect(gess__stop_rule *w, uint64_t draws, gess_error *err)
{
    size_t lines = w->chains * w->columns, most = w->most / lines > 16 ? w->most / lines : 16;
    while (draws / w->stride > most) {
        /* draw i · 2 · stride stays, as number i */
        for (size_t line = 0; line < lines && w->values != NULL; line++)
            for (size_t i = 0; 2 * i + 1 < w->capacity; i++)
                w->values[line * w->capacity + i] = w->values[line * w->capacity + 2 * i + 1];
        w->stride *= 2;
    }
    size_t need = (size_t)(draws / w->stride);
    if (need <= w->capacity) return GESS_OK;
    double *bigger = NULL;
    GESS_ALLOC(&bigger, lines * need, err);
    for (size_t line = 0; line < lines && w->values != NULL; line++)
        memcpy(bigger + line * need, w->values + line * w->capacity, w->capacity * sizeof *bigger);
    free(w->values);
    w->values = bigger;
    w->capacity = need;
    return GESS_OK;
}

void gess__stop_rule_take(gess__stop_rule *w, size_t first_chain, const gess__segment *s)
{
    for (uint64_t i = 0; i < s->draws; i++) {
        uint64_t number = s->first_draw + i + 1;
        if (number % w->stride != 0 || number / w->stride > w->capacity) continue;
        size_t at = (size_t)(number / w->stride) - 1;
        for (size_t c = 0; c < s->count; c++)
            for (size_t j = 0; j < w->columns; j++)
                w->values[(j * w->chains + first_chain + s->first + c) * w->capacity + at] =
                    s->rows[(c * s->draws + i) * w->columns + j];
    }
}

static int look(void *data, unsigned worker, size_t column, gess_error *err)
{
    gess__stop_rule *w = data;
    size_t n = (size_t)w->draws;
    double *packed = w->packed + worker * w->packed_size;
    (void)err;
    for (size_t c = 0; c < w->chains; c++)
        memcpy(packed + c * n, w->values + (column * w->chains + c) * w->capacity, n * sizeof *packed);
    gess__posterior_load(w->work[worker], packed);
    w->rhat[column] = gess__posterior_rhat(w->work[worker]);
    w->ess[column] = gess__posterior_ess_bulk(w->work[worker]);
    if (w->together == NULL) return GESS_OK;
    double rhat = gess__rhat_of_groups(w->together[worker], w->chains, w->ensembles, n, packed, packed + w->chains * n);
    if (!(rhat <= w->rhat[column])) w->rhat[column] = rhat;
    return GESS_OK;
}

/* A fixed parameter and a derived quantity that never changes have no figures, and need none. */
static int constant(const gess__stop_rule *w, size_t column)
{
    const double *x = w->values + column * w->chains * w->capacity;
    for (size_t c = 0; c < w->chains; c++)
        for (uint64_t i = 0; i < w->draws; i++)
            if (x[c * w->capacity + i] != x[0]) return 0;
    return 1;
}

static int fails(const gess__stop_rule *w, size_t column, double ess, double rhat)
{
    if (isnan(w->rhat[column]) && constant(w, column)) return 0;
    return !(w->rhat[column] <= rhat && w->ess[column] >= ess);
}

static int make_workers(gess__stop_rule *w, gess_error *err)
{
    size_t n = (size_t)w->draws;
    w->packed_size = w->chains * n * (w->ensembles > 1 ? 2 : 1);
    GESS_ALLOC(&w->packed, w->workers * w->packed_size, err);
    GESS_ALLOC(&w->work, w->workers, err);
    for (unsigned i = 0; i < w->workers; i++) GESS_TRY(gess__posterior_workspace_new(&w->work[i], w->chains, n, err));
    if (w->ensembles == 1) return GESS_OK;
    GESS_ALLOC(&w->together, w->workers, err);
    for (unsigned i = 0; i < w->workers; i++)
        GESS_TRY(gess__posterior_workspace_new(&w->together[i], w->ensembles,
                                               n * gess__group_common(w->chains, w->ensembles), err));
    return GESS_OK;
}

int gess__stop_rule_check(gess__stop_rule *w, uint64_t draws, gess__team *team, int all, double ess, double rhat,
                          int *met, double *least, double *worst, gess_error *err)
{
    w->draws = draws / w->stride;
    free_workers(w);
    w->workers = gess__team_size(team);
    GESS_TRY(make_workers(w, err));
    GESS_TRY(look(w, 0, w->worst, err));
    *least = w->ess[w->worst];
    *worst = w->rhat[w->worst];
    *met = !fails(w, w->worst, ess, rhat);
    if (*met || all) {
        GESS_TRY(gess__team_run(team, w->columns, look, w, err));
        for (size_t j = 0; j < w->columns; j++) {
            if (fails(w, j, ess, rhat) && (*met || !(w->rhat[j] <= w->rhat[w->worst]))) w->worst = j;
            if (fails(w, j, ess, rhat)) *met = 0;
            *least = fmin(*least, w->ess[j]);
            *worst = fmax(*worst, w->rhat[j]);
        }
    }
    free_workers(w);
    return GESS_OK;
}
