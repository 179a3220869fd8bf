/* Records the stages of warm-up and the checks of the stop rule, computes the moments of the warm-up window, and makes
 * history.json of it all. */
#include "run/history.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/tiles.h"
#include "base/vmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows allocated at the start; few runs need more. */
enum { FIRST_ROOM = 64 };

int gess__history_open(gess__history *h, size_t columns, gess_error *err)
{
    h->columns = columns;
    GESS_ALLOC(&h->stage, FIRST_ROOM, err);
    GESS_ALLOC(&h->check, FIRST_ROOM, err);
    GESS_ALLOC(&h->draws, columns, err);
    GESS_ALLOC(&h->chains, columns, err);
    GESS_ALLOC(&h->peak_at, columns, err);
    h->peak = -INFINITY;
    h->peak_mass = NAN;
    return GESS_OK;
}

void gess__history_free(gess__history *h)
{
    free(h->stage);
    free(h->check);
    free(h->draws);
    free(h->chains);
    free(h->peak_at);
    *h = (gess__history){0};
}

/* Makes room for one row more than `count`, by doubling. */
static int grow(void *rows, uint64_t count, size_t size, gess_error *err)
{
    void *bigger = NULL;
    if (count < FIRST_ROOM || (count & (count - 1)) != 0) return GESS_OK;
    GESS_TRY(gess__alloc_bytes(&bigger, 2 * (size_t)count, size, "history", err));
    void *old;
    memcpy(&old, rows, sizeof old);
    memcpy(bigger, old, (size_t)count * size);
    free(old);
    memcpy(rows, &bigger, sizeof bigger);
    return GESS_OK;
}

/* ---- the window ---- */

static void add(gess__moments *m, double x)
{
    m->count += 1.0;
    double step = x - m->mean;
    m->mean += step / m->count;
    m->squares += step * (x - m->mean);
}

/* Sets the row of the window's point: the log density without Jacobians, and the parameters. */
static void set_row(const gess__ensemble *e, const gess__window *w, size_t point, double *row)
{
    double *y = e->updates[0].mapped, *rest = y + e->target.dim;
    row[0] = w->values[point] - gess__target_out(&e->target, w->points + point * e->target.dim, y, rest);
    row[0] -= gess__bounds_out(&e->target.bounds, y, row + 1);
}

/* Adds the moments of other numbers: T. F. Chan, G. H. Golub and R. J. LeVeque, The American Statistician 37 (1983),
 * 242-247. */
static void merge(gess__moments *m, const gess__moments *other)
{
    double count = m->count + other->count, step = other->mean - m->mean;
    if (!(other->count > 0.0)) return;
    m->squares += other->squares + step * step * (m->count * other->count / count);
    m->mean += step * (other->count / count);
    m->count = count;
}

/* Adds one chain's draws, from row `from` of the window on. row[2 × columns]. Within the chain, distances from its
 * first draw are added up: a log density near 1e13 has no digits left for the steps of a running mean. */
static void add_draws(gess__history *h, const gess__ensemble *e, const gess__window *w, size_t from, size_t chain,
                      double *row, gess__moments *chain_moments)
{
    size_t columns = 1 + e->target.model->dim;
    double *first = row + columns;
    memset(chain_moments, 0, columns * sizeof *chain_moments);
    for (size_t i = from; i < w->draws; i++) {
        set_row(e, w, i * e->chains.count + chain, i == from ? first : row);
        for (size_t j = 0; j < columns; j++) add(&chain_moments[j], i == from ? 0.0 : row[j] - first[j]);
    }
    for (size_t j = 0; j < columns && w->draws > from; j++) {
        chain_moments[j].mean += first[j];
        add(&h->chains[j], chain_moments[j].mean);
        merge(&h->draws[j], &chain_moments[j]);
    }
}

/* Whether T is a mixture of several t: then there is no one distance δ. */
static int is_mixture(const gess__ensemble *e)
{
    return gess__frozen_mixture(&e->frozen) != NULL;
}

static void add_distances(gess__history *h, const gess__ensemble *e, const gess__window *w, size_t from, size_t chain,
                          double *z, double *scratch)
{
    const gess__approx *t = e->frozen.approx;
    size_t dim = e->target.dim;
    gess__moments delta = {0}, log_t = {0};
    for (size_t i = from; i < w->draws; i++) {
        const double *y = w->points + (i * e->chains.count + chain) * dim;
        if (is_mixture(e)) {
            double value;
            gess__mixture_log_ts(e->frozen.mixture, 1, y, &value, scratch);
            add(&log_t, value);
            continue;
        }
        gess__triangular_solves(dim, t->chol, t->inverse_diagonal, t->mu, 1, y, z, scratch);
        double square = gess__dot(dim, z, z);
        add(&delta, square);
        add(&log_t, gess__approx_log_t(t, square));
    }
    if (!is_mixture(e)) add(&h->deltas, delta.mean);
    add(&h->log_ts, log_t.mean);
}

static int add_window(gess__history *h, const gess__sampler *s, gess_error *err)
{
    const gess__ensemble *e = &s->ensemble;
    const gess__window *w = &s->adaptation.window;
    if (w->points == NULL || w->draws == 0) return GESS_OK;
    /* a trial was made with the T that sampling is done with; older draws may be from before the ensemble arrived */
    size_t from = s->adaptation.warmup.economy.result == GESS__TRIAL_PASSED ? gess__window_older(w) : 0;
    size_t dim = e->target.dim, columns = 1 + e->target.model->dim;
    double *row = NULL, *z = NULL;
    gess__moments *chain_moments = NULL;
    int status = gess__alloc_bytes(&row, 2 * columns, sizeof *row, "row", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&chain_moments, columns, sizeof *chain_moments, "moments", err);
    if (status == GESS_OK)
        status = gess__alloc_bytes(&z, dim + gess__triangular_scratch(dim) + gess__mixture_scratch(dim, 1), sizeof *z,
                                   "scratch", err);
    for (size_t c = 0; status == GESS_OK && c < e->chains.count; c++) {
        add_draws(h, e, w, from, c, row, chain_moments);
        add_distances(h, e, w, from, c, z, z + dim);
    }
    free(row);
    free(chain_moments);
    free(z);
    return status;
}

/* Notes the highest log density of the window if it exceeds all before. */
static int note_peak(gess__history *h, const gess__sampler *s, gess_error *err)
{
    const gess__window *w = &s->adaptation.window;
    double *row = NULL;
    if (w->points == NULL || s->adaptation.warmup.exploring) return GESS_OK;
    GESS_ALLOC(&row, h->columns, err);
    for (size_t i = 0; i < gess__window_points(w); i++) {
        set_row(&s->ensemble, w, i, row);
        if (!(row[0] > h->peak)) continue;
        h->peak = row[0];
        memcpy(h->peak_at, row, (1 + s->ensemble.target.model->dim) * sizeof *row);
    }
    free(row);
    const gess__exploration *x = gess__sampler_exploration(s);
    if (x == NULL || !(x->peak > h->peak)) return GESS_OK;
    h->peak = h->peak_at[0] = x->peak;
    gess__bounds_out(&s->ensemble.target.bounds, x->peak_at, h->peak_at + 1);
    return GESS_OK;
}

/* ---- events ---- */

/* Counts the chains in every basin that is known. */
static void set_spread(gess__history_stage_row *row, const gess__sampler *s)
{
    const gess__exploration *x = gess__sampler_exploration(s);
    if (x == NULL || x->basins->count == 0 || s->adaptation.warmup.exploring) return;
    row->basins = (uint32_t)x->basins->count;
    gess__basins_count_chains(x->basins, &s->ensemble, row->spread);
}

int gess__history_stage(gess__history *h, size_t which, const gess__sampler *s, gess_error *err)
{
    static const gess__learning_state nothing;
    const gess__ensemble *e = &s->ensemble;
    const gess__learning *learning = gess__sampler_learning(s);
    const gess__learning_state *l = learning != NULL ? &learning->state : &nothing;
    const gess__warmup *u = &s->adaptation.warmup;
    GESS_ASSERT(h->columns == e->target.columns);
    GESS_TRY(grow(&h->stage, h->stages, sizeof *h->stage, err));
    h->stage[h->stages++] = (gess__history_stage_row){.ensemble = which + 1,
                                                      .stage = u->stages,
                                                      .iterations = gess__ensemble_done(e),
                                                      .evals = e->tally.evals,
                                                      .moving = u->moved != 0,
                                                      .evals_per_update = u->evals_per_update,
                                                      .nu = e->frozen.approx->nu,
                                                      .trace = gess__approx_trace(e->frozen.approx),
                                                      .score = l->score,
                                                      .gain = l->gain,
                                                      .gap = l->gap,
                                                      .mean_value = u->mean_value};
    set_spread(&h->stage[h->stages - 1], s);
    GESS_TRY(note_peak(h, s, err));
    return u->over ? add_window(h, s, err) : GESS_OK;
}

void gess__history_restart(gess__history *h)
{
    h->checks = 0;
    memset(h->draws, 0, h->columns * sizeof *h->draws);
    memset(h->chains, 0, h->columns * sizeof *h->chains);
    h->deltas = h->log_ts = (gess__moments){0};
    h->peak_mass = NAN;
}

void gess__history_missed(gess__history *h, size_t dim, double lp, const double *point, double mass)
{
    h->peak = h->peak_at[0] = lp;
    memcpy(h->peak_at + 1, point, dim * sizeof *point);
    h->peak_mass = mass;
}

int gess__history_check(gess__history *h, uint64_t draws, const gess_stats *stats, gess_error *err)
{
    GESS_ASSERT(h->checks == 0 || h->check[h->checks - 1].draws <= draws);
    if (h->checks == 0 || h->check[h->checks - 1].draws != draws) {
        GESS_TRY(grow(&h->check, h->checks, sizeof *h->check, err));
        h->checks++;
    }
    h->check[h->checks - 1] = (gess__history_check_row){.draws = draws,
                                                        .evals = stats->evals,
                                                        .ess = stats->least_ess,
                                                        .rhat = stats->worst_rhat};
    return GESS_OK;
}

/* ---- checkpoints ---- */

/* Reads one row at a time, so that a wrong count cannot ask for more memory than the file has bytes. */
static void archive_rows(gess__archive *a, uint64_t *count, void *rows, size_t size)
{
    uint64_t total = *count;
    GESS_ARCHIVE(a, &total);
    if (!a->reading) {
        void *all;
        memcpy(&all, rows, sizeof all);
        gess__archive_bytes(a, all, (size_t)total * size);
        return;
    }
    *count = 0;
    while (*count < total && !a->bad) {
        if (grow(rows, *count, size, NULL) != GESS_OK) a->bad = 1;
        char *all;
        memcpy(&all, rows, sizeof all);
        if (!a->bad) gess__archive_bytes(a, all + *count * size, size);
        if (!a->bad) ++*count;
    }
}

void gess__history_archive(gess__history *h, gess__archive *a)
{
    archive_rows(a, &h->stages, &h->stage, sizeof *h->stage);
    archive_rows(a, &h->checks, &h->check, sizeof *h->check);
    gess__archive_expect(a, h->columns);
    gess__archive_bytes(a, h->draws, h->columns * sizeof *h->draws);
    gess__archive_bytes(a, h->chains, h->columns * sizeof *h->chains);
    GESS_ARCHIVE(a, &h->deltas);
    GESS_ARCHIVE(a, &h->log_ts);
    GESS_ARCHIVE(a, &h->peak);
    gess__archive_bytes(a, h->peak_at, h->columns * sizeof *h->peak_at);
    GESS_ARCHIVE(a, &h->peak_mass);
    for (size_t i = 0; i < h->stages && !a->bad; i++)
        if (h->stage[i].basins > GESS__MAX_BASINS) a->bad = 1;
}

/* ---- history.json ---- */

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *mean_json(const gess__moments *m)
{
    return number(m->count > 0.0 ? m->mean : NAN);
}

static json_t *sd_json(const gess__moments *m)
{
    return number(m->count > 1.0 ? sqrt(m->squares / (m->count - 1.0)) : NAN);
}

/* Standard error of the mean over chains. */
static json_t *error_json(const gess__moments *m)
{
    return number(m->count > 1.0 ? sqrt(m->squares / (m->count - 1.0) / m->count) : NAN);
}

static json_t *spread_json(const gess__history_stage_row *s)
{
    json_t *counts = json_array();
    for (size_t k = 0; k < s->basins; k++) json_array_append_new(counts, json_integer((json_int_t)s->spread[k]));
    return counts;
}

static json_t *warmup_json(const gess__history *h)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < h->stages; i++) {
        const gess__history_stage_row *s = &h->stage[i];
        json_array_append_new(rows, json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}",
                                              "ensemble", (json_int_t)s->ensemble, "stage", (json_int_t)s->stage,
                                              "iterations", (json_int_t)s->iterations, "evals", (json_int_t)s->evals,
                                              "evals_per_update", number(s->evals_per_update), "nu", number(s->nu),
                                              "trace", number(s->trace), "score", number(s->score), "gain",
                                              number(s->gain), "gap", number(s->gap), "mean_lp", number(s->mean_value),
                                              "moving", s->moving != 0, "spread", spread_json(s)));
    }
    return rows;
}

static json_t *checks_json(const gess__history *h)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < h->checks; i++) {
        const gess__history_check_row *c = &h->check[i];
        json_array_append_new(rows, json_pack("{s:I, s:I, s:o, s:o}", "draws", (json_int_t)c->draws, "evals",
                                              (json_int_t)c->evals, "ess", number(c->ess), "rhat", number(c->rhat)));
    }
    return rows;
}

static json_t *counts_json(const uint64_t counts[GESS__BINS])
{
    json_t *row = json_array();
    for (size_t i = 0; i < GESS__BINS; i++) json_array_append_new(row, json_integer((json_int_t)counts[i]));
    return row;
}

static json_t *window_json(const gess__history *h)
{
    json_t *mean = json_array(), *sd = json_array(), *error = json_array();
    for (size_t j = 0; j < h->columns; j++) {
        json_array_append_new(mean, mean_json(&h->draws[j]));
        json_array_append_new(sd, sd_json(&h->draws[j]));
        json_array_append_new(error, error_json(&h->chains[j]));
    }
    return json_pack("{s:o, s:o, s:o, s:I}", "mean", mean, "sd", sd, "error", error, "draws",
                     (json_int_t)h->draws[0].count);
}

/* Means of δ and log T over the window's draws and over the sampled ones. */
static json_t *delta_json(const gess__history *h, size_t ensembles, gess__sampler *const *sampler)
{
    gess__moments deltas = {0}, log_ts = {0};
    double excess = 0.0;
    for (size_t m = 0; m < ensembles; m++) {
        const gess__ensemble *e = &sampler[m]->ensemble;
        const gess__learning *l = gess__sampler_learning(sampler[m]);
        if (l != NULL) excess = gess__max(excess, l->state.tail_excess);
        const gess__warmup *u = &sampler[m]->adaptation.warmup;
        double updates = (double)(gess__ensemble_done(e) - u->iterations);
        for (size_t c = 0; u->over && updates > 0.0 && c < e->chains.count; c++) {
            if (!is_mixture(e)) add(&deltas, e->chains.deltas[c] / updates);
            add(&log_ts, e->chains.log_ts[c] / updates);
        }
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "window", mean_json(&h->deltas),
                     "sampling", mean_json(&deltas), "window_error", error_json(&h->deltas), "sampling_error",
                     error_json(&deltas), "log_t_window", mean_json(&h->log_ts), "log_t_sampling", mean_json(&log_ts),
                     "log_t_window_error", error_json(&h->log_ts), "log_t_sampling_error", error_json(&log_ts),
                     "tail_excess", number(excess), "nu", number(sampler[0]->ensemble.frozen.approx->nu), "dim",
                     (json_int_t)sampler[0]->ensemble.target.dim);
}

/* The highest point of warm-up, if it was sought. */
static json_t *peak_json(const gess__history *h, size_t dim)
{
    if (!isfinite(h->peak)) return json_null();
    json_t *point = json_array();
    for (size_t i = 0; i < dim; i++) json_array_append_new(point, number(h->peak_at[1 + i]));
    return json_pack("{s:f, s:o, s:o}", "lp", h->peak, "point", point, "mass", number(h->peak_mass));
}

json_t *gess__history_json(const gess__history *h, size_t ensembles, gess__sampler *const *sampler, const gess_stats *s)
{
    gess__tally tally = {0};
    int over = 1;
    for (size_t m = 0; m < ensembles; m++) {
        gess__tally_add(&tally, &sampler[m]->ensemble.tally);
        over &= sampler[m]->adaptation.warmup.over;
    }
    if (!over) { /* these counts are of sampling only */
        memset(tally.angles, 0, sizeof tally.angles);
        memset(tally.by_evals, 0, sizeof tally.by_evals);
    }
    int approximation = sampler[0]->ensemble.kernel->needs & GESS__NEEDS_APPROX;
    return json_pack("{s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:I, s:I, s:o}",
                     "approximation", approximation != 0, "divergent", (json_int_t)tally.divergent, "warmup",
                     warmup_json(h), "checks", checks_json(h), "angles", counts_json(tally.angles), "updates_by_evals",
                     counts_json(tally.by_evals), "window", window_json(h), "delta", delta_json(h, ensembles, sampler),
                     "failures", (json_int_t)s->failures, "nans", (json_int_t)s->nans, "crashes",
                     (json_int_t)s->crashes, "crashes_outside", (json_int_t)s->crashes_outside, "seconds_warmup",
                     s->seconds - s->seconds_sampling, "seconds_learning", s->seconds_learning, "seconds_sampling",
                     s->seconds_sampling, "evals_warmup", (json_int_t)(s->evals - s->evals_sampling), "evals_sampling",
                     (json_int_t)s->evals_sampling, "peak", peak_json(h, sampler[0]->ensemble.target.model->dim));
}
