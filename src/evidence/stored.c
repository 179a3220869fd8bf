/* Reads draws.gess, and maps draws from the user's scale to the sampling space. */
#include "evidence/stored.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/vmath.h"
#include "draws/reader.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_DRAWS = 1 << 18,   /* of a source that are used */
    MAX_NUMBERS = 1 << 25, /* of their coordinates */
    MIN_SERIES = 8,        /* for errors from differences between series */
    SERIES_DRAWS = 50,     /* of a chain that is split, per series, at least */
    CHECKED = 4            /* draws that are evaluated again */
};
#define SAME 1e-8 /* relative difference of the values of a draw */

typedef struct reading {
    const gess__evidence_input *input;
    const gess__evidence_source *source;
    gess__reader *reader;
    uint64_t stride; /* one draw in `stride` is used */
    uint64_t skip;   /* the first draws of every chain that are not */
    double *rows, *y, *x, *scratch;
    uint64_t piece; /* draws that fit into rows */
} reading;

/* ---- one draw ---- */

/* Replaces the unit circle's (u, v) of every periodic parameter by a point at a radius drawn from its density,
 * r e^(−r²/2). */
static void draw_radii(const gess__bounds *bounds, uint64_t seed, size_t chain, uint64_t draw, double *y)
{
    gess__key key = {.seed = seed, .iteration = draw, .chain = (uint32_t)chain, .purpose = GESS__FOR_EVIDENCE_RADIUS};
    for (size_t i = 0; i < bounds->outer; i++) {
        const gess__coordinate *c = &bounds->coordinates[i];
        if (c->kind != GESS__CIRCLE) continue;
        double radius = sqrt(-2.0 * gess__log(gess__uniform(key, (uint32_t)i)));
        y[c->at] *= radius;
        y[c->at + 1] *= radius;
    }
}

/* The point w of a row of the file, and its log density there. */
static int map_back(const reading *r, size_t chain, uint64_t draw, const double *row, double *w, double *value,
                    gess_error *err)
{
    const gess__target *t = &r->source->ensemble->target;
    double jacobian = 0.0;
    int inside = gess__bounds_in(&t->bounds, row + 1, r->y);
    if (inside) draw_radii(&t->bounds, r->input->seed, chain, draw, r->y);
    double outer = inside ? gess__bounds_out(&t->bounds, r->y, r->x) : -INFINITY;
    if (t->learned != NULL && inside)
        gess__learned_in(t->learned, 1, r->y, w, &jacobian, r->scratch);
    else
        memcpy(w, r->y, t->dim * sizeof *w);
    *value = row[0] + outer - jacobian;
    if (isfinite(*value)) return GESS_OK;
    return gess__fail(err, GESS_ERR_MODEL,
                      "draw %llu of chain %zu in %s is not inside the model's bounds: the model is not the one that "
                      "was sampled",
                      (unsigned long long)(draw + 1), chain + 1, r->input->draws);
}

/* ---- all of them ---- */

static int read_chain(const reading *r, gess__stored *s, size_t index, size_t per_chain, gess_error *err)
{
    size_t columns = r->reader->columns, chain = r->source->first + index, at = index * per_chain;
    uint64_t end = r->skip + per_chain * r->stride;
    for (uint64_t first = r->skip; first < end; first += r->piece) {
        uint64_t count = end - first < r->piece ? end - first : r->piece;
        GESS_TRY(gess__reader_rows(r->reader, chain, 1, first, count, r->rows, err));
        for (uint64_t i = r->stride - 1; i < count; i += r->stride, at++)
            GESS_TRY(map_back(r, chain, first + i, r->rows + i * columns, s->w + at * s->dim, &s->values[at], err));
    }
    GESS_ASSERT(at == (index + 1) * per_chain);
    return GESS_OK;
}

/* The model's log density of a stored draw, the last one of a chain. */
static int evaluate_again(const reading *r, size_t chain, double *value, gess_error *err)
{
    const gess__target *target = &r->source->ensemble->target;
    const gess_model *model = target->model;
    char own[256] = "";
    int code = gess__model_logp(model, 0, 1, r->rows + 1, value);
    if (code == 0) return GESS_OK;
    GESS_TRY(gess__target_lost(target, 0, err));
    if (model->message != NULL) model->message(model->user, 0, own, sizeof own);
    own[sizeof own - 1] = '\0';
    return gess__fail(err, GESS_ERR_MODEL, "the model returned error %d at the last draw of chain %zu%s%s", code,
                      chain + 1, own[0] != '\0' ? "; it says: " : "", own);
}

/* Compares stored log densities of a few draws with those that the model gives now. */
static int check_density(const reading *r, uint64_t *evals, gess_error *err)
{
    for (size_t i = 0; i < CHECKED; i++) {
        size_t chain = r->source->first + i * r->source->chains / CHECKED;
        double now = NAN;
        GESS_TRY(gess__reader_rows(r->reader, chain, 1, r->reader->draws - 1, 1, r->rows, err));
        GESS_TRY(evaluate_again(r, chain, &now, err));
        *evals += 1;
        if (fabs(now - r->rows[0]) <= SAME * gess__max(1.0, fabs(now))) continue;
        return gess__fail(err, GESS_ERR_MODEL,
                          "the model gives the last draw of chain %zu the log density %.17g, and the run has stored "
                          "%.17g: the model or its data have changed since",
                          chain + 1, now, r->rows[0]);
    }
    return GESS_OK;
}

/* Splits chains into series, if there are few. */
static void split_chains(gess__stored *s)
{
    size_t pieces = s->series < MIN_SERIES ? (MIN_SERIES + s->series - 1) / s->series : 1;
    if (pieces == 1 || s->n / pieces < SERIES_DRAWS) return;
    size_t n = s->n / pieces, drop = s->n - n * pieces, kept = 0;
    for (size_t c = 0; c < s->series; c++) { /* the first draws of every chain are dropped if they are too many */
        size_t from = c * s->n + drop, count = n * pieces;
        memmove(s->w + kept * s->dim, s->w + from * s->dim, count * s->dim * sizeof *s->w);
        memmove(s->values + kept, s->values + from, count * sizeof *s->values);
        kept += count;
    }
    s->series *= pieces;
    s->n = n;
}

static int read_all(reading *r, gess__stored *s, uint64_t *evals, gess_error *err)
{
    enum { PIECE = 1 << 16 }; /* doubles */
    const gess__target *t = &r->source->ensemble->target;
    GESS_TRY(gess__reader_open(&r->reader, r->input->draws, err));
    const gess__reader *file = r->reader;
    if (file->draws == 0 || r->source->first + r->source->chains > file->chains || file->columns != t->columns)
        return gess__fail(err, GESS_ERR_USAGE,
                          file->draws == 0 ? "%s has no draws yet" : "%s does not belong to this run", r->input->draws);
    uint64_t all = file->draws * r->source->chains,
             max = MAX_NUMBERS / t->dim < MAX_DRAWS ? MAX_NUMBERS / t->dim : MAX_DRAWS;
    r->stride = all > max ? (all + max - 1) / max : 1;
    if (r->stride > file->draws) r->stride = file->draws;
    size_t per_chain = (size_t)(file->draws / r->stride);
    r->skip = file->draws - per_chain * r->stride;
    *s = (gess__stored){.series = r->source->chains, .n = per_chain, .dim = t->dim};
    r->piece = PIECE / file->columns / r->stride * r->stride;
    if (r->piece < r->stride) r->piece = r->stride;
    GESS_ALLOC(&r->rows, (size_t)r->piece * file->columns, err);
    GESS_ALLOC(&r->y, t->dim + t->model->dim + gess__target_scratch(t, 1), err);
    r->x = r->y + t->dim;
    r->scratch = r->x + t->model->dim;
    GESS_ALLOC(&s->w, s->series * s->n * s->dim, err);
    GESS_ALLOC(&s->values, s->series * s->n, err);
    GESS_TRY(check_density(r, evals, err));
    for (size_t c = 0; c < r->source->chains; c++) GESS_TRY(read_chain(r, s, c, per_chain, err));
    split_chains(s);
    return GESS_OK;
}

int gess__stored_read(gess__stored *s, const gess__evidence_input *input, const gess__evidence_source *source,
                      uint64_t *evals, gess_error *err)
{
    reading r = {.input = input, .source = source};
    *s = (gess__stored){0};
    int status = read_all(&r, s, evals, err);
    gess__reader_free(r.reader);
    free(r.rows);
    free(r.y);
    return status;
}

void gess__stored_free(gess__stored *s)
{
    free(s->w);
    free(s->values);
}
