/* Computes the evidence: bridges with the frozen T, refits T if that is poor and a refit is likelier, and takes fresh
 * draws until the error is small enough or the evaluations are used up. */
#include "evidence/evidence.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/vmath.h"
#include "evidence/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PILOT = 256,     /* fresh draws of all parts from which it is decided whether T is to be refitted */
    FIRST = 1000,    /* those before the first look at the estimate; they double from look to look */
    MAX_FOLDS = 8,   /* parts of a source, if T is refitted */
    MIN_DRAWS = 100, /* stored draws of all sources */
    MIN_FRESH = 100  /* fresh draws of all parts, for k̂ */
};
#define MIN_GAIN 0.05   /* nats per draw that a refitted T must gain on draws that it was not fitted to */
#define FRESH_SHARE 0.3 /* of the variance of a bridge; if fresh draws contribute less, more of them do not help */

#define ROUNDING 1e-10 /* relative error of log densities, for the sum of errors */

typedef struct work {
    const gess__evidence_input *input;
    gess__stored *stored; /* per source */
    gess__part *part;
    size_t parts;
    uint64_t opened; /* parts so far, which number them */
    int refitted;    /* a refit was tried */
    gess__values *values;
    gess__evidence_result *result;
} work;

static void close_parts(gess__part *part, size_t parts)
{
    for (size_t m = 0; part != NULL && m < parts; m++) gess__part_close(&part[m]);
    free(part);
}

/* Parts with the frozen T of every source; none if a source has no T. */
static int open_frozen(work *w, gess_error *err)
{
    const gess__evidence_input *in = w->input;
    for (size_t m = 0; m < in->sources; m++)
        if (!in->source[m].has_t) return GESS_OK;
    GESS_ALLOC(&w->part, in->sources, err);
    for (size_t m = 0; m < in->sources; m++) {
        gess__part *p = &w->part[w->parts++];
        gess__ensemble *e = in->source[m].ensemble;
        GESS_TRY(gess__part_open(p, e, &w->stored[m], 0, 1, w->opened++, &e->frozen, err));
        GESS_TRY(gess__part_levels(p, err));
    }
    return GESS_OK;
}

/* The mean level of the stored draws, over all parts. */
static double score(const gess__part *part, size_t parts)
{
    double sum = 0.0, count = 0.0;
    for (size_t m = 0; m < parts; m++) {
        sum += gess__part_score(&part[m]) * (double)part[m].n1;
        count += (double)part[m].n1;
    }
    return sum / count;
}

/* The number of folds that leaves the fewest of the series over; of those, the largest. Many sources have two each. */
static size_t folds_of(size_t series, size_t sources)
{
    size_t best = 2, max = MAX_FOLDS / sources;
    for (size_t folds = 3; folds <= max && folds <= series; folds++)
        if (series % folds <= series % best) best = folds;
    return best;
}

static uint64_t evals_left(const work *w)
{
    return w->input->evals > w->result->evals ? w->input->evals - w->result->evals : 0;
}

static int fit_folds(work *w, gess__part *part, size_t folds, int *done, gess_error *err)
{
    const gess__evidence_input *in = w->input;
    *done = 1;
    for (size_t i = 0; i < folds * in->sources; i++)
        GESS_TRY(gess__part_open(&part[i], in->source[i / folds].ensemble, &w->stored[i / folds], i % folds, folds,
                                 w->opened++, NULL, err));
    for (size_t m = 0; m < in->sources && *done; m++)
        GESS_TRY(gess__parts_refit(folds, part + m * folds, in->team, done, err));
    return GESS_OK;
}

/* Replaces the parts by folds of the series, each with a T fitted to the others, if there are none yet or the stored
 * draws are likelier under it. */
static int refit(work *w, gess_error *err)
{
    const gess__evidence_input *in = w->input;
    gess__part *fold = NULL;
    size_t folds = folds_of(w->stored[0].series, in->sources), count = folds * in->sources;
    int done = 0;
    w->refitted = 1;
    /* a new T begins with no fresh draws */
    if (w->parts > 0 && evals_left(w) < (count * GESS__UNIT > FIRST ? count * GESS__UNIT : FIRST)) return GESS_OK;
    for (size_t m = 0; m < in->sources; m++)
        if (!in->source[m].refit || w->stored[m].series < folds) return GESS_OK;
    GESS_ALLOC(&fold, count, err);
    int status = fit_folds(w, fold, folds, &done, err);
    if (status != GESS_OK || !done || (w->parts > 0 && score(w->part, w->parts) - score(fold, count) < MIN_GAIN)) {
        close_parts(fold, count);
        return status;
    }
    close_parts(w->part, w->parts);
    w->part = fold;
    w->parts = count;
    w->result->refitted = 1;
    return GESS_OK;
}

/* Sets the result from the parts. */
static int combine(work *w, gess_error *err)
{
    gess__evidence_result *r = w->result;
    r->parts = w->parts;
    r->components = r->layers = 0;
    for (size_t m = 0; m < w->parts; m++) {
        size_t count = w->part[m].t->count / (w->part[m].wide ? 2 : 1);
        if (count > r->components) r->components = count;
        size_t layers = w->part[m].map != NULL ? gess__learned_layers(w->part[m].map) : 0;
        if (layers > r->layers) r->layers = layers;
    }
    GESS_TRY(gess__parts_estimate(w->parts, w->part, r, err));
    /* if T is the density itself, rounding is all that is left */
    r->se = gess__hypot(gess__hypot(r->se_draws, r->se_fresh), ROUNDING * gess__max(1.0, fabs(r->log_z)));
    return GESS_OK;
}

/* Brings every part to `per` fresh draws, and estimates. */
static int look(work *w, size_t per, gess_error *err)
{
    gess__evidence_result *r = w->result;
    for (size_t m = 0; m < w->parts; m++)
        GESS_TRY(gess__part_refresh(&w->part[m], w->input, w->values, per, &r->evals, &r->nans, err));
    return combine(w, err);
}

static int is_good(const gess__evidence_result *r, double error)
{
    return r->se <= error && r->k <= r->max_k;
}

/* The number of fresh draws per part with `more` of all parts, or with as many as are left. */
static size_t add_draws(const work *w, uint64_t more)
{
    uint64_t left = evals_left(w), per = (more + w->parts - 1) / w->parts;
    per = (per + GESS__UNIT - 1) / GESS__UNIT * GESS__UNIT;
    if (per > left / w->parts) per = left / w->parts / GESS__UNIT * GESS__UNIT;
    return w->part[0].n2 + (size_t)per;
}

/* The number of fresh draws per part at the next look; that of now if there is to be none. */
static size_t next_look(const work *w)
{
    const gess__evidence_result *r = w->result;
    size_t now = w->part[0].n2, all = now * w->parts;
    if (all < FIRST) return add_draws(w, FIRST - all);
    if (is_good(r, w->input->error)) return now;
    double share = r->se_fresh * r->se_fresh / (r->se * r->se);
    if (!r->importance && share < FRESH_SHARE && r->k <= r->max_k) return now;
    return add_draws(w, all);
}

/* Whether T is poor: importance sampling with it would not be the estimate, or would not reach the error with the
 * default number of evaluations. */
static int is_poor(const work *w)
{
    const gess__evidence_result *r = w->result;
    double needed =
        r->se_fresh * r->se_fresh / (w->input->error * w->input->error) * (double)(w->part[0].n2 * w->parts);
    return !r->importance || !(r->k <= r->max_k) || needed > (double)GESS__EVIDENCE_EVALS;
}

/* Opens the parts: with the frozen T or, if there is none or it is poor, with one that is fitted to the draws. */
static int open_parts(work *w, gess_error *err)
{
    size_t pilot;
    GESS_TRY(open_frozen(w, err));
    if (w->parts == 0) return refit(w, err);
    pilot = add_draws(w, PILOT);
    if (pilot == 0) return GESS_OK;
    GESS_TRY(look(w, pilot, err));
    return is_poor(w) ? refit(w, err) : GESS_OK;
}

static int compute(work *w, gess_error *err)
{
    const gess__evidence_input *in = w->input;
    gess__evidence_result *r = w->result;
    size_t per;
    GESS_ALLOC(&w->stored, in->sources, err);
    for (size_t m = 0; m < in->sources; m++) {
        GESS_TRY(gess__stored_read(&w->stored[m], in, &in->source[m], &r->evals, err));
        r->draws += w->stored[m].series * w->stored[m].n;
    }
    if (r->draws < MIN_DRAWS) return GESS_OK;
    GESS_TRY(gess__values_open(&w->values, in->values, err));
    GESS_TRY(open_parts(w, err));
    if (w->parts == 0) return GESS_OK;
    while ((per = next_look(w)) > w->part[0].n2) {
        GESS_TRY(look(w, per, err));
        if (!w->refitted && !(r->k <= r->max_k)) GESS_TRY(refit(w, err));
    }
    return w->part[0].n2 * w->parts >= MIN_FRESH
               ? GESS_OK
               : gess__fail(err, GESS_ERR_USAGE, "%llu evaluations are too few for an evidence",
                            (unsigned long long)in->evals);
}

int gess__evidence(const gess__evidence_input *input, gess__evidence_result *result, gess_error *err)
{
    GESS_ASSERT(input->sources > 0 && input->team != NULL && input->error > 0.0);
    *result = (gess__evidence_result){.log_z = NAN, .se = NAN, .second = NAN, .second_se = NAN, .k = NAN};
    work w = {.input = input, .result = result};
    int status = compute(&w, err);
    close_parts(w.part, w.parts);
    for (size_t m = 0; w.stored != NULL && m < input->sources; m++) gess__stored_free(&w.stored[m]);
    free(w.stored);
    gess__values_close(w.values);
    return status;
}

double gess__evidence_apart(const gess__evidence_result *r)
{
    return fabs(r->log_z - r->second) / gess__hypot(r->se, r->second_se);
}
