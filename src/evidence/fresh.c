/* Draws fresh points of T by keyed random numbers, and evaluates them in batches of a fixed size. */
#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/vmath.h"
#include "cluster/batches.h"
#include "evidence/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points per call of the density; points between two writes of values: at most, and at least. */
enum { BATCH = 8, ROUND = 1024, MIN_ROUND = 64 };
#define SHORT_ROUND 1.0 /* seconds; after a shorter round the next one is twice as long */

typedef struct round_of {
    const gess__part *part;
    const gess__evidence_input *input;
    double *scratch;
} round_of;

/* Draw number `index` of T, in its space. */
static void draw_point(const gess__part *p, uint64_t seed, size_t index, double *normals, double *x)
{
    const gess__mixture *t = p->t;
    int mirror = p->mirrored && index % 2 == 1;
    gess__key key = {.seed = seed,
                     .iteration = p->number,
                     .chain = (uint32_t)(index - (size_t)mirror),
                     .purpose = GESS__FOR_EVIDENCE_COMPONENT};
    size_t k = 0;
    if (t->count > 1) {
        double left = gess__uniform(key, 0);
        while (k + 1 < t->count && (left -= gess__exp(t->log_weight[k])) > 0.0) k++;
    }
    key.purpose = GESS__FOR_EVIDENCE;
    gess__approx_draw(t->component[k], key, GESS__FOR_EVIDENCE_SCALE, normals, x);
    const double *centre = t->component[k]->mu;
    for (size_t i = 0; mirror && i < t->dim; i++) x[i] = centre[i] - (x[i] - centre[i]);
}

/* An infinite density has no integral. */
static int check_finite(const round_of *r, size_t n, const double *points, const double *values, gess_error *err)
{
    const gess__target *target = r->part->target;
    for (size_t i = 0; i < n; i++) {
        if (values[i] != INFINITY) continue;
        char text[400];
        gess__target_describe(target, points + i * target->dim, text, sizeof text, r->scratch);
        return gess__fail(err, GESS_ERR_MODEL, "the log density is +infinity at %s; a density must be finite", text);
    }
    return GESS_OK;
}

/* Evaluates the batches in which a value is not known, whole, so that a batch never depends on what was stored; and
 * stores the values. `packed`, `found`: scratch, n × dim and n. */
static int evaluate(round_of *r, gess__values *known, size_t n, const double *points, double *packed, double *found,
                    double *out, gess_error *err)
{
    size_t dim = r->part->target->dim, unknown = 0;
    size_t places[ROUND];
    for (size_t first = 0; first < n; first += BATCH) {
        size_t end = first + BATCH < n ? first + BATCH : n, i = first;
        while (i < end && gess__values_find(known, dim, points + i * dim, &out[i])) i++;
        if (i == end) continue;
        memcpy(packed + unknown * dim, points + first * dim, (end - first) * dim * sizeof *packed);
        for (i = first; i < end; i++) places[unknown++] = i;
    }
    if (unknown == 0) return GESS_OK;
    gess__batches batches = {.ensemble = r->part->ensemble,
                             .n = unknown,
                             .batch = BATCH,
                             .points = packed,
                             .values = found,
                             .scratch = r->scratch,
                             .stop = r->input->stop};
    GESS_TRY(gess__batches_run(r->input->ranks, &batches, err));
    GESS_TRY(check_finite(r, unknown, packed, found, err));
    GESS_TRY(gess__values_add(known, unknown, dim, packed, found, err));
    for (size_t k = 0; k < unknown; k++) out[places[k]] = found[k];
    return GESS_OK;
}

/* Points of the first round: enough for all workers, and few, so that little is lost of a slow density if it is killed.
 * A multiple of BATCH, as all rounds are: they do not change the batches. */
static size_t first_round(const gess__evidence_input *input)
{
    size_t points = 4 * BATCH * (size_t)gess__team_size(input->team);
    if (input->ranks != NULL || points > ROUND) return ROUND;
    return points > MIN_ROUND ? points : MIN_ROUND;
}

/* Draws `count` points from number p->n2 on, with their log densities. `v`, `jacobians`: scratch, as points and logs.
 */
static void draw_points(const gess__part *p, uint64_t seed, size_t count, double *points, double *logs, double *v,
                        double *scratch)
{
    size_t dim = p->target->dim;
    double *drawn = p->map != NULL ? v : points;
    for (size_t i = 0; i < count; i++) draw_point(p, seed, p->n2 + i, scratch, drawn + i * dim);
    gess__mixture_log_ts(p->t, count, drawn, logs, scratch);
    if (p->map == NULL) return;
    double *jacobians = v + count * dim;
    gess__learned_out(p->map, count, v, points, jacobians, scratch);
    for (size_t i = 0; i < count; i++) logs[i] -= jacobians[i];
}

static int refresh(round_of *r, gess__values *known, gess__part *p, size_t n, double *memory, uint64_t *nans,
                   gess_error *err)
{
    size_t dim = p->target->dim, round = first_round(r->input);
    double *points = memory, *packed = points + ROUND * dim, *found = packed + ROUND * dim, *logs = found + ROUND,
           *scratch = logs + ROUND;
    for (; p->n2 < n;) {
        size_t count = n - p->n2 < round ? n - p->n2 : round;
        double *level = p->level2 + p->n2, begin = gess__seconds();
        draw_points(p, r->input->seed, count, points, logs, packed, scratch);
        GESS_TRY(evaluate(r, known, count, points, packed, found, level, err));
        for (size_t i = 0; i < count; i++) {
            *nans += isnan(level[i]) != 0;
            level[i] = level[i] > -INFINITY ? level[i] - logs[i] : -INFINITY;
        }
        p->n2 += count;
        if (gess__seconds() - begin < SHORT_ROUND && round < ROUND) round = 2 * round < ROUND ? 2 * round : ROUND;
    }
    return GESS_OK;
}

int gess__part_refresh(gess__part *p, const gess__evidence_input *input, gess__values *known, size_t n, uint64_t *evals,
                       uint64_t *nans, gess_error *err)
{
    size_t dim = p->target->dim, before = p->n2;
    GESS_ASSERT(n >= before);
    round_of r = {.part = p, .input = input};
    if (n > p->room) {
        double *more = realloc(p->level2, n * sizeof *more);
        if (more == NULL)
            return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for %zu fresh draws of the approximation", n);
        p->level2 = more;
        p->room = n;
    }
    double *memory = NULL;
    size_t scratch = dim + gess__mixture_scratch(dim, ROUND);
    if (p->map != NULL) scratch += gess__learned_scratch(p->map, ROUND);
    GESS_ALLOC(&memory, 2 * ROUND * dim + 2 * ROUND + scratch, err);
    int status =
        gess__alloc_bytes(&r.scratch, gess__batches_scratch(p->ensemble, BATCH), sizeof *r.scratch, "scratch", err);
    if (status == GESS_OK) status = refresh(&r, known, p, n, memory, nans, err);
    free(r.scratch);
    free(memory);
    *evals += p->n2 - before;
    return status;
}
