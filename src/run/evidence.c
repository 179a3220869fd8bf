/* Tells evidence/ which draws of a run go with which frozen state. */
#include "run/evidence.h"

#include "base/assert.h"
#include "base/folder.h"
#include "base/mem.h"
#include "run/directory.h"
#include "run/log.h"

#include <stdlib.h>
#include <string.h>

/* While more draws can be had, at most this many evaluations per stored draw are spent on fresh draws of T. */
enum { EVALS_PER_DRAW = 1 };

/* Whether T is the one that the user gave. It is not replaced by another: it is the user who has chosen it. */
static int is_given(const gess__schedule *s)
{
    return strcmp(s->name, "fixed") == 0;
}

static int compute(gess_run *run, const gess__evidence_source *source, double error, uint64_t evals,
                   gess__evidence_result *result, gess_error *err)
{
    char draws[4096], values[4096];
    GESS_TRY(gess__directory_path(run->directory, "draws.gess", draws, sizeof draws, err));
    GESS_TRY(gess__directory_path(run->directory, "evidence.values", values, sizeof values, err));
    if (run->writer != NULL) GESS_TRY(gess__writer_sync(run->writer, err));
    const gess__evidence_input input = {.sources = run->ensembles,
                                        .source = source,
                                        .draws = draws,
                                        .values = values,
                                        .seed = run->options.seed,
                                        .team = run->team,
                                        .ranks = run->ranks,
                                        .stop = &run->stop,
                                        .error = error,
                                        .evals = evals};
    return gess__evidence(&input, result, err);
}

int gess__run_evidence(gess_run *run, double error, uint64_t evals, gess__evidence_result *result, gess_error *err)
{
    GESS_ASSERT(run->directory != NULL && run->lock >= 0 && run->team != NULL);
    gess__evidence_source *source = NULL;
    GESS_ALLOC(&source, run->ensembles, err);
    for (size_t m = 0; m < run->ensembles; m++) {
        const gess__sampler *s = run->sampler[m];
        gess__ensemble *e = run->ensemble[m];
        source[m] = (gess__evidence_source){.ensemble = e,
                                            .has_t = s->schedule->fits_points || is_given(s->schedule),
                                            .first = e->kept_first,
                                            .chains = e->kept,
                                            .refit = !is_given(s->schedule)};
    }
    int status = compute(run, source, error, evals, result, err);
    free(source);
    return status;
}

int gess__evidence_wants_draws(gess_run *run, int *more, gess_error *err)
{
    double error = run->options.target_evidence_error;
    gess__evidence_result r;
    *more = 0;
    if (!(error > 0.0) || run->directory == NULL) return GESS_OK;
    uint64_t evals = EVALS_PER_DRAW * run->stats.draws * run->stats.chains;
    if (evals < GESS__EVIDENCE_EVALS) evals = GESS__EVIDENCE_EVALS;
    if (evals > run->options.max_evals) evals = run->options.max_evals;
    GESS_TRY(gess__run_evidence(run, error, evals, &r, err));
    *more = !(r.se <= error);
    gess__run_log(run, "log evidence %.4f, standard error %.4f (from the draws %.4f), after %llu further evaluations%s",
                  r.log_z, r.se, r.se_draws, (unsigned long long)r.evals, *more ? ": more draws" : "");
    return GESS_OK;
}

void gess__evidence_forget(const gess_run *run)
{
    if (run->directory != NULL) gess__folder_unlink(run->folder, "evidence.json");
}
