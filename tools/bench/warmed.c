/* Warms up a sampler on a timed density, runs it in pieces with a clock around each, and verifies counts and log
 * densities. */
#include "bench/warmed.h"
#include "base/options.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int warm_up(gess__warmed *f, gess_error *err)
{
    gess__record none = {0};
    double start = gess__seconds();
    while (!f->sampler->adaptation.warmup.over) GESS_TRY(gess__sampler_warm_up(f->sampler, &none, err));
    f->warmup_seconds = gess__seconds() - start;
    f->warmup_inside = f->timed.seconds;
    f->warmup_evals = f->ensemble->tally.evals;
    return GESS_OK;
}

int gess__warmed_open(gess__warmed *f, const char *model, const char *schedule, unsigned threads, size_t chains,
                      uint64_t evals, gess_error *err)
{
    gess_options o;
    *f = (gess__warmed){0};
    gess__options_init(&o);
    o.schedule = schedule != NULL ? schedule : "fixed";
    o.chains = chains;
    o.threads = threads;
    if (evals > 0)
        o.max_warmup_evals = evals;
    else
        o.warmup = 0;
    GESS_TRY(gess_model_open(&f->inner, model, NULL, err));
    gess__timed_init(&f->timed, f->inner, 1);
    GESS_TRY(gess__team_new(&f->team, threads, err));
    GESS_TRY(gess__sampler_new(&f->sampler, &f->timed.model, &o, 0, chains, f->team, err));
    f->ensemble = &f->sampler->ensemble;
    GESS_ALLOC(&f->points, chains * f->inner->dim, err);
    GESS_ALLOC(&f->logp, chains, err);
    if (evals == 0) f->ensemble->frozen.approx->nu = 30.0;
    return warm_up(f, err);
}

void gess__warmed_close(gess__warmed *f)
{
    gess__sampler_free(f->sampler);
    gess__team_free(f->team);
    gess_model_free(f->inner);
    free(f->points);
    free(f->logp);
    free(f->timed.batches);
    *f = (gess__warmed){0};
}

int gess__warmed_run(gess__warmed *f, uint64_t iterations, gess__lap *lap, gess_error *err)
{
    gess__ensemble *e = f->ensemble;
    gess__record record = {.thin = 1};
    double inside = f->timed.seconds;
    uint64_t updates = e->tally.updates, evals = e->tally.evals, points = f->timed.points;
    double start = gess__seconds();
    GESS_TRY(gess__sampler_advance(f->sampler, gess__ensemble_done(e) + iterations, &record, err));
    lap->seconds = gess__seconds() - start;
    lap->inside = f->timed.seconds - inside;
    lap->updates = e->tally.updates - updates;
    lap->evals = e->tally.evals - evals;
    /* a proposal beyond the bounds is counted, but the density is not evaluated */
    uint64_t asked = f->timed.points - points, min = e->target.bounds.trivial ? lap->evals : 0;
    if (gess__team_size(f->team) == 1 && (asked > lap->evals || asked < min))
        return gess__fail(err, GESS_ERR_INTERNAL, "bench: %s was asked for %llu points, but %llu were counted",
                          f->inner->name, (unsigned long long)asked, (unsigned long long)lap->evals);
    return GESS_OK;
}

int gess__warmed_pace(gess__warmed *f, double seconds, uint64_t *iterations, gess_error *err)
{
    gess__lap lap = {0};
    *iterations = 1;
    for (;;) {
        GESS_TRY(gess__warmed_run(f, *iterations, &lap, err));
        if (lap.seconds >= 0.5 * seconds) break;
        *iterations *= lap.seconds > 0.1 * seconds ? 2 : 4;
    }
    double fit = (double)*iterations * seconds / lap.seconds;
    *iterations = fit >= 8.0 ? (uint64_t)fit : 8; /* enough that the begin and end of a stretch do not matter */
    return GESS_OK;
}

int gess__warmed_verify(gess__warmed *f, gess_error *err)
{
    const gess__ensemble *e = f->ensemble;
    size_t dim = f->inner->dim, chains = e->chains.count;
    double *row = NULL;
    int status = gess__alloc_bytes(&row, e->target.columns, sizeof *row, "a draw", err);
    for (size_t c = 0; status == GESS_OK && c < chains; c++) {
        status = gess__target_draws(&e->target, 0, 1, e->chains.x + c * e->target.dim, e->chains.value + c, NULL, row,
                                    e->target.columns, e->updates[0].mapped, err);
        if (status != GESS_OK) break;
        f->logp[c] = row[0];
        memcpy(f->points + c * dim, row + 1, dim * sizeof *row);
        double again = 0.0;
        f->inner->logp(f->inner->user, 0, 1, dim, f->points + c * dim, &again);
        if (!(fabs(again - row[0]) <= 1e-8 * (1.0 + fabs(again))))
            status =
                gess__fail(err, GESS_ERR_INTERNAL, "bench: the log density of %s is %.17g at a chain that has %.17g",
                           f->inner->name, again, row[0]);
    }
    free(row);
    return status;
}
