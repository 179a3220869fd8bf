/* Halves the points at medians until few are left in a cell, and fits a quadratic polynomial to the log densities of
 * each cell, twice without the points that it explains worst. */
#include "explore/outliers.h"

#include "base/assert.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/vmath.h"

#include <stdlib.h>
#include <string.h>

/* A cell has at most PER_TERM points per term of the polynomial, and MIN_SPARE more than terms. */
enum { PER_TERM = 4, MIN_SPARE = 5, ROUNDS = 2 };

/* The share of a cell that is left out of a fit; a smaller pivot, relative to the largest, and the cell is flat. */
#define LEFT_OUT 0.15
#define MIN_PIVOT 1e-6

/* An outlier exceeds the prediction by MIN_EXCESS, and by MIN_SCORE standard deviations of it. */
#define MIN_EXCESS 0.01
#define MIN_SCORE 20.0

typedef struct search {
    size_t dim, terms;
    const double *points, *values;
    double width[GESS__OUTLIERS_MAX_DIM]; /* of all points: the distance between their quartiles */
    size_t *rows, *spare;                 /* n; n */
    double *keys;                         /* n */
    double *basis, *gram, *fit, *error;   /* of a cell: terms × cell, terms², terms, cell */
    unsigned char *used;                  /* cell */
    gess__outliers *found;
} search;

static size_t cell_size(size_t terms)
{
    return PER_TERM * terms;
}

static void set_widths(search *s, size_t n)
{
    for (size_t k = 0; k < s->dim; k++) {
        for (size_t i = 0; i < n; i++) s->keys[i] = s->points[i * s->dim + k];
        gess__sort(n, s->keys);
        double width = s->keys[n - 1 - n / 4] - s->keys[n / 4];
        s->width[k] = width > 0.0 ? width : 1.0;
    }
}

/* ---- one cell ---- */

/* The terms of the polynomial at every point, in coordinates of mean 0 and variance 1; 0 if the cell is flat. */
static int set_basis(search *s, size_t n, const size_t *rows)
{
    size_t dim = s->dim;
    double mean[GESS__OUTLIERS_MAX_DIM] = {0}, sd[GESS__OUTLIERS_MAX_DIM] = {0};
    for (size_t k = 0; k < dim; k++) {
        for (size_t i = 0; i < n; i++) mean[k] += s->points[rows[i] * dim + k] / (double)n;
        for (size_t i = 0; i < n; i++) {
            double u = s->points[rows[i] * dim + k] - mean[k];
            sd[k] += u * u / (double)n;
        }
        sd[k] = sqrt(sd[k]);
        if (!(sd[k] > 0.0 && sd[k] < INFINITY)) return 0;
    }
    for (size_t i = 0; i < n; i++) {
        double *b = s->basis + i * s->terms, z[GESS__OUTLIERS_MAX_DIM];
        *b++ = 1.0;
        for (size_t k = 0; k < dim; k++) *b++ = z[k] = (s->points[rows[i] * dim + k] - mean[k]) / sd[k];
        for (size_t k = 0; k < dim; k++)
            for (size_t j = k; j < dim; j++) *b++ = z[k] * z[j];
    }
    return 1;
}

/* Orthonormalises the terms over the points that are used; 0 if the cell is flat. */
static int orthonormalise(search *s, size_t n)
{
    size_t p = s->terms;
    memset(s->gram, 0, p * p * sizeof *s->gram);
    for (size_t i = 0; i < n; i++) {
        const double *b = s->basis + i * p;
        for (size_t j = 0; s->used[i] && j < p; j++)
            for (size_t k = j; k < p; k++) s->gram[k + j * p] += b[j] * b[k];
    }
    if (!gess__cholesky(p, s->gram)) return 0;
    double max = 0.0, min = INFINITY;
    for (size_t j = 0; j < p; j++) {
        max = gess__max(max, s->gram[j + j * p]);
        min = gess__min(min, s->gram[j + j * p]);
    }
    if (!(min > MIN_PIVOT * max)) return 0;
    gess__solve_lower(p, s->gram, n, s->basis);
    return 1;
}

/* Errors of prediction of all points by a fit to those that are used, and the standard deviation of the latter. */
static double set_errors(search *s, size_t n, const size_t *rows)
{
    size_t p = s->terms, used = 0;
    double squares = 0.0, origin = s->values[rows[0]];
    memset(s->fit, 0, p * sizeof *s->fit);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; s->used[i] && j < p; j++) s->fit[j] += s->basis[i * p + j] * (s->values[rows[i]] - origin);
    for (size_t i = 0; i < n; i++) {
        s->error[i] = s->values[rows[i]] - origin;
        for (size_t j = 0; j < p; j++) s->error[i] -= s->basis[i * p + j] * s->fit[j];
        if (!s->used[i]) continue;
        squares += s->error[i] * s->error[i];
        used++;
    }
    GESS_ASSERT(used > p);
    return sqrt(squares / (double)(used - p));
}

/* What the fit's distance from point i is multiplied by to be its error of prediction by the others, and the variance
 * of that, relative to the others'. */
static void set_factors(const search *s, size_t i, double *factor, double *variance)
{
    double leverage = 0.0;
    for (size_t j = 0; j < s->terms; j++) leverage += s->basis[i * s->terms + j] * s->basis[i * s->terms + j];
    double rest = gess__max(1.0 - leverage, 0.01);
    *factor = s->used[i] ? 1.0 / rest : 1.0;
    *variance = s->used[i] ? 1.0 / rest : 1.0 + leverage;
}

/* Uses all points but those with the largest errors, which are scaled as scores are. */
static void leave_out(search *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double factor, variance;
        set_factors(s, i, &factor, &variance);
        s->keys[i] = s->error[i] = fabs(s->error[i]) * factor / sqrt(variance);
    }
    gess__sort(n, s->keys);
    double limit = s->keys[n - 1 - (size_t)(LEFT_OUT * (double)n)];
    for (size_t i = 0; i < n; i++) s->used[i] = s->error[i] <= limit;
}

/* Puts an outlier among those found. */
static void insert(gess__outliers *found, size_t row, double score)
{
    size_t at = found->count;
    if (at == GESS__OUTLIERS && !(score > found->score[at - 1])) return;
    if (at == GESS__OUTLIERS)
        at--;
    else
        found->count++;
    for (; at > 0 && score > found->score[at - 1]; at--) {
        found->score[at] = found->score[at - 1];
        found->row[at] = found->row[at - 1];
    }
    found->score[at] = score;
    found->row[at] = row;
}

static void search_cell(search *s, size_t n, const size_t *rows)
{
    double sd = 0.0, best = 0.0;
    size_t worst = n;
    if (n < s->terms + MIN_SPARE) return;
    memset(s->used, 1, n);
    for (int round = 0; round <= ROUNDS; round++) {
        if (round > 0) leave_out(s, n);
        if (!set_basis(s, n, rows) || !orthonormalise(s, n)) return;
        sd = set_errors(s, n, rows);
        if (!(sd < INFINITY)) return;
    }
    for (size_t i = 0; i < n; i++) {
        double factor, variance;
        set_factors(s, i, &factor, &variance);
        double excess = s->error[i] * factor,
               score = excess / gess__max(sd * sqrt(variance), 1e-3 * MIN_EXCESS / MIN_SCORE);
        if (!(excess > MIN_EXCESS && score > MIN_SCORE && score > best)) continue;
        best = score;
        worst = i;
    }
    if (worst < n) insert(s->found, rows[worst], best);
}

/* ---- cells ---- */

/* Brings the points with the lower half of a coordinate to the front; ties keep their order. Returns their number. */
static size_t halve(search *s, size_t n, size_t *rows, size_t k)
{
    size_t half = n / 2, low = 0, high = half, below = 0;
    for (size_t i = 0; i < n; i++) s->keys[i] = s->points[rows[i] * s->dim + k];
    gess__sort(n, s->keys);
    double middle = s->keys[half];
    for (size_t i = 0; i < n; i++) below += s->points[rows[i] * s->dim + k] < middle;
    size_t ties = half - below; /* points at the middle that go to the front */
    for (size_t i = 0; i < n; i++) {
        double x = s->points[rows[i] * s->dim + k];
        int front = x < middle || (x == middle && ties > 0);
        if (x == middle && ties > 0) ties--;
        s->spare[front ? low++ : high++] = rows[i];
    }
    GESS_ASSERT(low == half && high == n);
    memcpy(rows, s->spare, n * sizeof *rows);
    return half;
}

static size_t widest(const search *s, size_t n, const size_t *rows)
{
    size_t best = 0;
    double max = -INFINITY;
    for (size_t k = 0; k < s->dim; k++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            low = gess__min(low, s->points[rows[i] * s->dim + k]);
            high = gess__max(high, s->points[rows[i] * s->dim + k]);
        }
        if (!((high - low) / s->width[k] > max)) continue;
        max = (high - low) / s->width[k];
        best = k;
    }
    return best;
}

static void search_cells(search *s, size_t n, size_t *rows)
{
    if (n <= cell_size(s->terms)) {
        search_cell(s, n, rows);
        return;
    }
    size_t half = halve(s, n, rows, widest(s, n, rows));
    search_cells(s, half, rows);
    search_cells(s, n - half, rows + half);
}

int gess__outliers_find(size_t n, size_t dim, const double *points, const double *values, gess__outliers *found,
                        gess_error *err)
{
    GESS_ASSERT(dim > 0 && dim <= GESS__OUTLIERS_MAX_DIM && found != NULL);
    size_t terms = (dim + 1) * (dim + 2) / 2, cell = cell_size(terms);
    search s = {.dim = dim, .terms = terms, .points = points, .values = values, .found = found};
    found->count = 0;
    if (n < cell) return GESS_OK;
    int status = gess__alloc_bytes(&s.rows, 2 * n, sizeof *s.rows, "rows", err);
    if (status == GESS_OK)
        status = gess__alloc_bytes(&s.keys, n + cell * (terms + 1) + terms * (terms + 1), sizeof *s.keys, "cells", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&s.used, cell, 1, "cells", err);
    if (status == GESS_OK) {
        s.spare = s.rows + n;
        s.basis = s.keys + n;
        s.error = s.basis + cell * terms;
        s.gram = s.error + cell;
        s.fit = s.gram + terms * terms;
        for (size_t i = 0; i < n; i++) s.rows[i] = i;
        set_widths(&s, n);
        search_cells(&s, n, s.rows);
    }
    free(s.rows);
    free(s.keys);
    free(s.used);
    return status;
}
