/* Counts the stored draws by basin, and writes basins and modes as JSON. */
#include "run/modes.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/vmath.h"
#include "draws/draws.h"
#include "run/directory.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.141592653589793

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* ---- exploration ---- */

static const char *fate_text(int fate)
{
    static const char *const texts[] = {"open", "kept", "merged", "given up", "lost"};
    GESS_ASSERT(fate >= 0 && (size_t)fate < sizeof texts / sizeof *texts);
    return texts[fate];
}

/* The highest log density in the user's scale among the points of basin k; x is scratch. */
static double highest(const gess__basins *b, const gess__bounds *bounds, size_t k, double *x)
{
    double max = -INFINITY;
    for (size_t i = 0; i < b->basin[k].held; i++) {
        size_t at = k * GESS__BASIN_POINTS + i;
        max = gess__max(max, b->raw[at] - gess__bounds_out(bounds, b->points + at * b->dim, x));
    }
    return max;
}

static json_t *basin_json(const gess__basins *b, const gess__bounds *bounds, size_t k, size_t ensemble, double *x)
{
    const gess__basin *basin = &b->basin[k];
    double lp = highest(b, bounds, k, x);
    json_t *centre = json_array();
    gess__bounds_out(bounds, b->centre + k * b->dim, x);
    for (size_t i = 0; i < bounds->outer; i++) json_array_append_new(centre, number(x[i]));
    return json_pack("{s:I, s:o, s:o, s:I, s:I, s:o, s:o, s:s}", "ensemble", (json_int_t)ensemble, "centre", centre,
                     "lp", number(lp), "starts", (json_int_t)basin->starts, "particles", (json_int_t)basin->particles,
                     "weight", number(basin->weight), "error", number(basin->error), "fate", fate_text(basin->fate));
}

static json_t *annealing_json(const gess__annealing *a, const gess__bounds *bounds)
{
    json_t *powers = json_array();
    double log_z = a->state.log_z;
    for (size_t i = 0; i < bounds->outer; i++) /* the integral over a circle is that of x times 2π / (b − a) */
        if (bounds->coordinates[i].kind == GESS__CIRCLE)
            log_z += gess__log((bounds->coordinates[i].b - bounds->coordinates[i].a) / (2.0 * PI));
    for (size_t i = 0; i < a->state.powers; i++) json_array_append_new(powers, json_real(a->state.power[i]));
    return json_pack("{s:I, s:o, s:o}", "particles", (json_int_t)a->state.particles, "powers", powers, "log_z",
                     number(log_z));
}

json_t *gess__exploration_json(const gess_run *run)
{
    json_t *basins = json_array(), *annealing = NULL;
    uint64_t evals = 0;
    double *x = NULL;
    int explores = 0, unweighed = 0;
    if (gess__alloc_bytes(&x, run->model->dim, sizeof *x, "point", NULL) != GESS_OK) return NULL;
    for (size_t m = 0; m < run->ensembles; m++) {
        const gess__exploration *e = gess__sampler_exploration(run->sampler[m]);
        if (e == NULL) continue;
        explores = 1;
        const gess__annealing_state *a = &e->annealing->state;
        unweighed |= a->done ? a->rushed || a->unplaced : e->scout != NULL && e->scout->state.several;
        evals += e->annealing->state.evals + e->rare.evals + (e->scout != NULL ? e->scout->state.evals : 0);
        for (size_t k = 0; k < e->basins->count; k++)
            json_array_append_new(basins, basin_json(e->basins, &run->ensemble[m]->target.bounds, k, m + 1, x));
        if (e->annealing->state.done && annealing == NULL)
            annealing = annealing_json(e->annealing, &run->ensemble[m]->target.bounds);
    }
    free(x);
    if (!explores) {
        json_decref(basins);
        return NULL;
    }
    json_t *all = json_pack("{s:s, s:I, s:b, s:o}", "route", annealing != NULL ? "annealed" : "direct", "evals",
                            (json_int_t)evals, "unweighed", unweighed, "basins", basins);
    if (annealing != NULL) json_object_set_new(all, "annealing", annealing);
    return all;
}

/* ---- modes ---- */

/* Basin `index` of an ensemble, and the first basin that is the same mode. */
typedef struct place {
    const gess__basins *basins;
    size_t index, mode;
} place;

typedef struct census {
    const gess__bounds *bounds;
    size_t chains, columns, dim; /* dim: of the user's parameters */
    size_t places;
    place *place;
    double *visits;         /* place × chain: draws */
    double *count;          /* per place: draws */
    double *mean, *squares; /* place × dim */
    double *draws;          /* per chain */
    double *y;
} census;

static void free_census(census *c)
{
    free(c->place);
    free(c->visits);
    free(c->count);
    free(c->mean);
    free(c->squares);
    free(c->y);
    free(c->draws);
}

/* Lists the basins of all ensembles, and which of them are one mode. */
static int open_census(census *c, const gess_run *run, gess_error *err)
{
    const gess__target *target = &run->ensemble[0]->target;
    *c = (census){.bounds = &target->bounds,
                  .chains = (size_t)run->stats.chains,
                  .columns = target->columns,
                  .dim = run->model->dim};
    GESS_ALLOC(&c->place, run->ensembles * GESS__MAX_BASINS, err);
    for (size_t m = 0; m < run->ensembles; m++) {
        const gess__exploration *e = gess__sampler_exploration(run->sampler[m]);
        for (size_t k = 0; e != NULL && k < e->basins->count; k++) {
            if (e->basins->basin[k].held == 0) continue;
            place *new = &c->place[c->places];
            *new = (place){.basins = e->basins, .index = k, .mode = c->places};
            for (size_t i = 0; i < c->places && new->mode == c->places; i++)
                if (gess__basins_same(c->place[i].basins, c->place[i].index, e->basins, k))
                    new->mode = c->place[i].mode;
            c->places++;
        }
    }
    GESS_ALLOC(&c->visits, c->places * c->chains, err);
    GESS_ALLOC(&c->count, c->places, err);
    GESS_ALLOC(&c->mean, c->places * c->dim, err);
    GESS_ALLOC(&c->squares, c->places * c->dim, err);
    GESS_ALLOC(&c->draws, c->chains, err);
    GESS_ALLOC(&c->y, target->dim, err);
    return GESS_OK;
}

/* The mode of a draw x; c->places if it is outside the bounds. */
static size_t mode_of(const census *c, const double *x)
{
    size_t best = c->places;
    double min = INFINITY;
    if (!gess__bounds_in(c->bounds, x, c->y)) return best;
    for (size_t i = 0; i < c->places; i++) {
        double distance = gess__basins_distance(c->place[i].basins, c->place[i].index, c->y);
        if (!(distance < min)) continue;
        min = distance;
        best = c->place[i].mode;
    }
    return best;
}

static void take_draws(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                       const double *rows)
{
    census *c = user;
    (void)first_draw;
    GESS_ASSERT(first_chain + chains <= c->chains);
    for (size_t i = 0; i < chains * draws; i++) {
        const double *x = rows + i * c->columns + 1;
        size_t chain = first_chain + i / (size_t)draws, mode = mode_of(c, x);
        if (mode == c->places) continue;
        c->draws[chain] += 1.0;
        c->visits[mode * c->chains + chain] += 1.0;
        double count = c->count[mode] += 1.0, *mean = c->mean + mode * c->dim, *squares = c->squares + mode * c->dim;
        for (size_t j = 0; j < c->dim; j++) {
            double step = x[j] - mean[j];
            mean[j] += step / count;
            squares[j] += step * (x[j] - mean[j]);
        }
    }
}

/* The mode's share of the draws, with its standard error from the chains' shares, and its visitors. */
static json_t *mode_json(const census *c, size_t mode)
{
    double sum = c->count[mode], share = 0.0, square = 0.0, all = 0.0;
    size_t visitors = 0, chains = 0;
    json_t *centre = json_array(), *sd = json_array();
    for (size_t i = 0; i < c->chains; i++) {
        double visits = c->visits[mode * c->chains + i];
        all += c->draws[i];
        visitors += visits > 0.0;
        if (!(c->draws[i] > 0.0)) continue;
        chains++;
        share += visits / c->draws[i];
    }
    share /= (double)chains;
    for (size_t i = 0; i < c->chains; i++) {
        if (!(c->draws[i] > 0.0)) continue;
        double away = c->visits[mode * c->chains + i] / c->draws[i] - share;
        square += away * away;
    }
    double error = chains > 1 ? sqrt(square / (double)(chains - 1) / (double)chains) : NAN;
    error = gess__max(error, sqrt(share * (1.0 - share) / all));
    for (size_t j = 0; j < c->dim; j++) {
        json_array_append_new(centre, number(c->mean[mode * c->dim + j]));
        json_array_append_new(sd, number(sum > 1.0 ? sqrt(c->squares[mode * c->dim + j] / (sum - 1.0)) : NAN));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:I}", "centre", centre, "sd", sd, "weight", number(share), "error",
                     number(error), "chains", (json_int_t)visitors);
}

static int count_draws(census *c, const gess_run *run, json_t **modes, gess_error *err)
{
    char path[4096];
    GESS_TRY(open_census(c, run, err));
    if (c->places < 2) return GESS_OK;
    GESS_TRY(gess__directory_path(run->directory, "draws.gess", path, sizeof path, err));
    GESS_TRY(gess__draws_visit(path, take_draws, c, err));
    *modes = json_array();
    for (size_t i = 0; i < c->places; i++)
        if (c->count[i] > 0.0) json_array_append_new(*modes, mode_json(c, i));
    if (json_array_size(*modes) >= 2) return GESS_OK;
    json_decref(*modes);
    *modes = NULL;
    return GESS_OK;
}

int gess__modes_json(const gess_run *run, json_t **modes, gess_error *err)
{
    census c = {0};
    *modes = NULL;
    if (run->directory == NULL || run->stats.draws == 0) return GESS_OK;
    int status = count_draws(&c, run, modes, err);
    free_census(&c);
    return status;
}

int gess__modes_share(const gess_run *run, size_t ensemble, size_t k, double *share, double *lp, double *centre,
                      gess_error *err)
{
    census c = {0};
    const gess__bounds *bounds = &run->ensemble[ensemble]->target.bounds;
    const gess__basins *b = gess__sampler_exploration(run->sampler[ensemble])->basins;
    char path[4096];
    double all = 0.0;
    *lp = highest(b, bounds, k, centre);
    gess__bounds_out(bounds, b->centre + k * b->dim, centre);
    int status = open_census(&c, run, err);
    size_t places = 0;
    for (size_t i = 0; status == GESS_OK && i < c.places; i++) { /* each basin for itself: one may lie in another */
        if (c.place[i].basins != b) continue;
        c.place[places] = c.place[i];
        c.place[places].mode = places;
        places++;
    }
    c.places = places;
    if (status == GESS_OK) status = gess__directory_path(run->directory, "draws.gess", path, sizeof path, err);
    if (status == GESS_OK) status = gess__draws_visit(path, take_draws, &c, err);
    for (size_t i = 0; status == GESS_OK && i < c.places; i++) {
        all += c.count[i];
        if (c.place[i].index == k) *share = c.count[i];
    }
    if (status == GESS_OK) *share = all > 0.0 ? *share / all : 0.0;
    free_census(&c);
    return status;
}
