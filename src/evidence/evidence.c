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
    FIRST = 1000,   /* fresh draws of all parts before the first look; they double from look to look */
    PER_PART = 200, /* of every part, at least */
    MIN_DRAWS = 100 /* stored draws of all sources */
};
#define MIN_GAIN 0.05   /* nats per draw that a refitted T must gain on draws that it was not fitted to */
#define FRESH_SHARE 0.3 /* of the variance; if fresh draws contribute less, more of them do not help */

#define ROUNDING 1e-10 /* relative error of log densities, for the sum of errors */

typedef struct work {
    const gess__evidence_input *input;
    gess__stored *stored; /* per source */
    gess__part *part;
    size_t parts;
    uint64_t opened; /* parts so far, which number them */
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

static int fit_halves(work *w, gess__part *halves, int *done, gess_error *err)
{
    const gess__evidence_input *in = w->input;
    for (size_t m = 0; m < in->sources; m++)
        for (size_t half = 0; half < 2; half++)
            GESS_TRY(gess__part_open(&halves[2 * m + half], in->source[m].ensemble, &w->stored[m], half, 2, w->opened++,
                                     NULL, err));
    *done = 1;
    for (size_t m = 0; m < in->sources && *done; m++) GESS_TRY(gess__part_refit(&halves[2 * m], in->team, done, err));
    return GESS_OK;
}

/* Replaces the parts by halves with a T fitted to the other half, if there are none yet or the stored draws are
 * likelier under it. */
static int refit(work *w, gess_error *err)
{
    const gess__evidence_input *in = w->input;
    gess__part *halves = NULL;
    size_t count = 2 * in->sources;
    int done = 0;
    for (size_t m = 0; m < in->sources; m++)
        if (!in->source[m].refit || w->stored[m].series < 2) return GESS_OK;
    GESS_ALLOC(&halves, count, err);
    int status = fit_halves(w, halves, &done, err);
    if (status != GESS_OK || !done || (w->parts > 0 && score(w->part, w->parts) - score(halves, count) < MIN_GAIN)) {
        close_parts(halves, count);
        return status;
    }
    close_parts(w->part, w->parts);
    w->part = halves;
    w->parts = count;
    w->result->refitted = 1;
    return GESS_OK;
}

/* Sets the result from the parts. */
static int combine(work *w, gess_error *err)
{
    gess__evidence_result *r = w->result;
    gess__smoothed second;
    double count = (double)w->parts, draws = 0.0, fresh = 0.0;
    r->log_z = r->uncovered = 0.0;
    r->effective = INFINITY;
    r->outside = 0;
    r->components = 0;
    for (size_t m = 0; m < w->parts; m++) {
        gess__part_estimate e;
        GESS_TRY(gess__part_estimate_of(&w->part[m], &e, err));
        r->log_z += e.log_z / count;
        draws += e.var_draws;
        fresh += e.var_fresh;
        r->uncovered = gess__max(r->uncovered, e.uncovered);
        r->effective = gess__min(r->effective, e.effective);
        r->outside |= e.outside;
        if (w->part[m].t->count > r->components) r->components = w->part[m].t->count;
    }
    r->parts = w->parts;
    r->se_draws = sqrt(draws) / count;
    r->se_fresh = sqrt(fresh) / count;
    /* if T is the density itself, rounding is all that is left */
    r->se = gess__hypot(gess__hypot(r->se_draws, r->se_fresh), ROUNDING * gess__max(1.0, fabs(r->log_z)));
    GESS_TRY(gess__parts_second(w->parts, w->part, &second, &r->k, &r->max_k, err));
    r->second = second.log_mean;
    r->second_se = second.error;
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

/* The number of fresh draws per part at the next look, 0 if there is to be none. */
static size_t next_look(const work *w)
{
    const gess__evidence_result *r = w->result;
    uint64_t left = w->input->evals > r->evals ? w->input->evals - r->evals : 0;
    size_t now = w->part[0].n2, more = now > 0 ? now : (FIRST + w->parts - 1) / w->parts,
           max = (size_t)(left / w->parts);
    if (now == 0 && more < PER_PART) more = PER_PART;
    if (now > 0 && is_good(r, w->input->error)) return 0;
    double share = r->se_fresh * r->se_fresh / (r->se * r->se);
    if (now > 0 && share < FRESH_SHARE && r->k <= r->max_k) return 0;
    if (more > max) more = max;
    return more < PER_PART / 4 ? 0 : now + more;
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
    GESS_TRY(open_frozen(w, err));
    int refitted = w->parts == 0;
    if (refitted) GESS_TRY(refit(w, err));
    if (w->parts == 0) return GESS_OK;
    while ((per = next_look(w)) > 0) {
        GESS_TRY(look(w, per, err));
        int room = in->evals >= r->evals + FIRST;
        if (!refitted && room && !is_good(r, in->error)) GESS_TRY(refit(w, err));
        refitted = 1;
    }
    return w->part[0].n2 > 0 ? GESS_OK
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
