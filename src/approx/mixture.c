/* The mixture of t as numbers: memory, copies, and log T of many points. */
#include "approx/mixture.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/tiles.h"
#include "base/vmath.h"

#include <stdlib.h>

/* Points per pass of the vector loops; results do not depend on it. */
enum { CHUNK = 64 };

size_t gess__mixture_room(size_t dim)
{
    enum { MAX_DIMENSIONS = 250 };
    return dim <= MAX_DIMENSIONS ? GESS__MAX_COMPONENTS : 1;
}

int gess__mixture_new(gess__mixture **mixture, size_t dim, gess_error *err)
{
    GESS_ASSERT(dim > 0);
    GESS_ALLOC(mixture, 1, err);
    (*mixture)->dim = dim;
    (*mixture)->count = 1;
    for (size_t j = 0; j < gess__mixture_room(dim); j++)
        GESS_TRY(gess__approx_new(&(*mixture)->component[j], dim, err));
    return GESS_OK;
}

void gess__mixture_free(gess__mixture *mixture)
{
    if (mixture == NULL) return;
    for (size_t j = 0; j < GESS__MAX_COMPONENTS; j++) gess__approx_free(mixture->component[j]);
    free(mixture);
}

void gess__mixture_copy(gess__mixture *to, const gess__mixture *from)
{
    GESS_ASSERT(to->dim == from->dim && from->count <= gess__mixture_room(to->dim));
    to->count = from->count;
    to->defensive = from->defensive;
    for (size_t j = 0; j < from->count; j++) {
        to->log_weight[j] = from->log_weight[j];
        gess__approx_copy(to->component[j], from->component[j]);
    }
}

/* gess__log_sums() for up to CHUNK sums. */
GESS__INLINE void log_sums(size_t count, size_t stride, size_t n, const double *restrict terms, double *restrict out)
{
    double sums[CHUNK], shifts[CHUNK];
    for (size_t i = 0; i < n; i++) shifts[i] = -HUGE_VAL;
    for (size_t i = 0; i < n; i++) sums[i] = 0.0;
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < n; i++) {
            double term = terms[j * stride + i];
            shifts[i] = gess__select(term > shifts[i], term, shifts[i]);
        }
    for (size_t i = 0; i < n; i++) {
        double finite = shifts[i] - shifts[i]; /* 0, or NaN */
        shifts[i] = gess__select(finite == 0.0, shifts[i], 0.0);
    }
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < n; i++) sums[i] += gess__exp(terms[j * stride + i] - shifts[i]);
    for (size_t i = 0; i < n; i++) out[i] = shifts[i] + gess__log(sums[i]);
}

GESS__VECTOR(gess__log_sums, (size_t count, size_t stride, size_t n, const double *terms, double *out),
             (count, stride, n, terms, out))
{
    for (size_t done = 0; done < n; done += CHUNK)
        log_sums(count, stride, n - done < CHUNK ? n - done : CHUNK, terms + done, out + done);
}

double gess__log_sum(size_t count, const double *terms)
{
    double out;
    gess__log_sums(count, 1, 1, terms, &out);
    return out;
}

size_t gess__mixture_scratch(size_t dim, size_t n)
{
    size_t chunk = n < CHUNK ? n : CHUNK;
    return gess__triangular_scratch(dim) + chunk * dim + (size_t)GESS__MAX_COMPONENTS * CHUNK;
}

/* log w_j + log t_j of up to CHUNK points. */
static void one_component(const gess__approx *t, double constant, size_t n, const double *points, double *terms,
                          double *solved, double *scratch)
{
    double deltas[CHUNK];
    size_t dim = t->dim;
    gess__triangular_solves(dim, t->chol, t->inverse_diagonal, t->mu, n, points, solved, scratch);
    for (size_t i = 0; i < n; i++) deltas[i] = gess__dot(dim, solved + i * dim, solved + i * dim);
    gess__approx_log_ts(t, 0, n, deltas, terms);
    for (size_t i = 0; i < n; i++) terms[i] += constant;
}

void gess__mixture_log_ts(const gess__mixture *mixture, size_t n, const double *points, double *out, double *scratch)
{
    GESS_ASSERT(mixture->count > 0 && mixture->count <= gess__mixture_room(mixture->dim));
    size_t dim = mixture->dim, count = mixture->count;
    double constants[GESS__MAX_COMPONENTS], *terms = scratch, *triangular = terms + GESS__MAX_COMPONENTS * CHUNK,
                                            *solved = triangular + gess__triangular_scratch(dim);
    for (size_t j = 0; j < count; j++)
        constants[j] = mixture->log_weight[j] + gess__approx_log_norm(mixture->component[j]);
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t some = n - done < CHUNK ? n - done : CHUNK;
        for (size_t j = 0; j < count; j++)
            one_component(mixture->component[j], constants[j], some, points + done * dim, terms + j * CHUNK, solved,
                          triangular);
        gess__log_sums(count, CHUNK, some, terms, out + done);
    }
}
