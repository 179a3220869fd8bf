/* Where EM starts: greedy k-means++ (D. Arthur & S. Vassilvitskii, SODA 2007) and a few steps of Lloyd's, twice, on
 * at most 2,000 of the points; the better of the two clusterings counts.
 *
 * Distances are those of the scatter within the components of the best mixture so far: beside it, not beside the
 * spread of all points, clusters are round and apart. Points far out would each become a cluster, so they are drawn in
 * by √u, u = (ν + D)/(ν + δ) the weight that the single t gives them. */
#include "approx/mixture_fit.h"

#include "base/tiles.h"
#include "base/linalg.h"
#include "base/rng.h"
#include "base/vmath.h"

#include <math.h>
#include <string.h>

enum { SAMPLE = 2000, TRIES = 6, CANDIDATES = 3, LLOYD = 25 };

static double weight(double nu, double dim, double delta)
{
    return isinf(nu) ? 1.0 : (nu + dim) / (nu + delta);
}

/* `take` of the n points, evenly, drawn in, in units of f->metric, into f->rows; their squared norms into f->factors.
 */
static void draw_in(gess__mixture_fitter *f, size_t n, size_t take, const double *white, double nu)
{
    size_t dim = f->dim;
    for (size_t k = 0; k < take; k++) {
        const double *z = white + (take == n ? k : k * n / take) * dim;
        double *row = f->rows + k * dim, factor = sqrt(fmin(1.0, weight(nu, (double)dim, gess__dot(dim, z, z))));
        for (size_t i = 0; i < dim; i++) row[i] = factor * z[i];
    }
    gess__solve_lower(dim, f->metric->chol, take, f->rows);
    for (size_t k = 0; k < take; k++) f->factors[k] = gess__dot(dim, f->rows + k * dim, f->rows + k * dim);
}

/* out = |row|² + |centre|² − 2 row · centre, from row · centre; 0 where rounding makes it less. */
GESS__VECTOR
static void finish_distances(size_t n, double norm, const double *restrict squares, double *restrict out)
{
    for (size_t k = 0; k < n; k++) {
        double distance = squares[k] + norm - 2.0 * out[k];
        out[k] = gess__select(distance > 0.0, distance, 0.0);
    }
}

/* to = the smaller of the two. */
GESS__VECTOR
static void take_smaller(size_t n, const double *restrict a, const double *restrict b, double *restrict to)
{
    for (size_t k = 0; k < n; k++) to[k] = gess__select(a[k] < b[k], a[k], b[k]);
}

/* Squared distances of the rows from one centre. */
static void distances(gess__mixture_fitter *f, size_t n, const double *centre, double *out)
{
    double norm = gess__dot(f->dim, centre, centre);
    gess__product(true, n, 1, f->dim, f->rows, centre, out);
    finish_distances(n, norm, f->factors, out);
}

/* The first k at which the running sum of the n values reaches the share u of their sum. */
static size_t draw(size_t n, const double *values, double u)
{
    double sum = 0.0, run = 0.0;
    for (size_t k = 0; k < n; k++) sum += values[k];
    for (size_t k = 0; k < n; k++) {
        run += values[k];
        if (run >= u * sum) return k;
    }
    return n - 1;
}

/* f->distance: squared distance from the nearest centre so far, and f->packed from a candidate. Every centre is the
 * best of a few candidates. */
static void spread(gess__mixture_fitter *f, size_t count, size_t n, gess__key key)
{
    size_t dim = f->dim, first = draw(n, f->factors, gess__uniform(key, 0));
    memcpy(f->centres, f->rows + first * dim, dim * sizeof *f->centres);
    distances(f, n, f->centres, f->distance);
    for (size_t j = 1; j < count; j++) {
        size_t best = 0;
        double least = HUGE_VAL;
        for (size_t c = 0; c < CANDIDATES; c++) {
            size_t at = draw(n, f->distance, gess__uniform(key, (uint32_t)(j * CANDIDATES + c)));
            double sum = 0.0;
            distances(f, n, f->rows + at * dim, f->packed);
            take_smaller(n, f->distance, f->packed, f->shares);
            for (size_t k = 0; k < n; k++) sum += f->shares[k];
            if (sum < least) best = at;
            least = fmin(least, sum);
        }
        memcpy(f->centres + j * dim, f->rows + best * dim, dim * sizeof *f->centres);
        distances(f, n, f->centres + j * dim, f->packed);
        take_smaller(n, f->distance, f->packed, f->shares);
        memcpy(f->distance, f->shares, n * sizeof *f->distance);
    }
}

/* Of n rows the nearest of `count` centres, from the products of both, `stride` apart for the next centre: its number
 * and its squared distance, less that of the row from 0. */
GESS__VECTOR
static void nearest(size_t count, size_t stride, size_t n, const double *restrict norms,
                    const double *restrict products, double *restrict least, double *restrict which)
{
    for (size_t k = 0; k < n; k++) {
        least[k] = HUGE_VAL;
        which[k] = -1.0;
    }
    for (size_t j = 0; j < count; j++) {
        double number = (double)j, norm = norms[j];
        for (size_t k = 0; k < n; k++) {
            double distance = norm - 2.0 * products[j * stride + k];
            int nearer = distance < least[k];
            least[k] = gess__select(nearer, distance, least[k]);
            which[k] = gess__select(nearer, number, which[k]);
        }
    }
}

/* f->labels: the nearest centre of every row, as before where none is. Returns the sum of squared distances; *changed:
 * how many rows have another centre than before. */
static double assign(gess__mixture_fitter *f, size_t count, size_t n, size_t *changed)
{
    enum { CHUNK = 64 };
    double norms[GESS__MAX_COMPONENTS], least[CHUNK], which[CHUNK], sum = 0.0;
    *changed = 0;
    for (size_t j = 0; j < count; j++) norms[j] = gess__dot(f->dim, f->centres + j * f->dim, f->centres + j * f->dim);
    gess__product(true, n, count, f->dim, f->rows, f->centres, f->shares);
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t some = n - done < CHUNK ? n - done : CHUNK;
        nearest(count, n, some, norms, f->shares + done, least, which);
        for (size_t i = 0; i < some; i++) {
            unsigned *label = &f->labels[done + i], before = *label;
            if (which[i] >= 0.0) *label = (unsigned)which[i];
            *changed += *label != before;
            sum += least[i] + f->factors[done + i];
        }
    }
    return sum;
}

/* Every centre becomes the mean of its rows; one without rows stays. */
static void recentre(gess__mixture_fitter *f, size_t count, size_t n)
{
    size_t dim = f->dim, sizes[GESS__MAX_COMPONENTS] = {0};
    for (size_t k = 0; k < n; k++) {
        double *centre = f->centres + f->labels[k] * dim;
        if (sizes[f->labels[k]]++ == 0) memset(centre, 0, dim * sizeof *centre);
        for (size_t i = 0; i < dim; i++) centre[i] += f->rows[k * dim + i];
    }
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < dim && sizes[j] > 0; i++) f->centres[j * dim + i] /= (double)sizes[j];
}

/* The clusters as shares of 0 and 1, with the deltas of the single t. */
static void hard_shares(gess__mixture_fitter *f, size_t count, size_t n, const double *white)
{
    for (size_t j = 0; j < count; j++)
        for (size_t k = 0; k < n; k++) f->shares[j * n + k] = f->labels[k] == j ? 1.0 : 0.0;
    for (size_t k = 0; k < n; k++) f->deltas[k] = gess__dot(f->dim, white + k * f->dim, white + k * f->dim);
    for (size_t j = 1; j < count; j++) memcpy(f->deltas + j * n, f->deltas, n * sizeof *f->deltas);
}

/* The prior: Σ within clusters. */
static bool within_clusters(gess__mixture_fitter *f, size_t count, size_t n, const double *white)
{
    size_t dim = f->dim;
    double total = 0.0, share;
    memset(f->within, 0, dim * dim * sizeof *f->within);
    for (size_t j = 0; j < count; j++) {
        total += gess__mixture_scatter(f, j, n, white, &share);
        for (size_t i = 0; share > 0.0 && i < dim * dim; i++) f->within[i] += f->square[i];
    }
    if (!(total > 0.0)) return false;
    for (size_t i = 0; i < dim * dim; i++) f->within[i] /= total;
    return gess__mixture_set_prior(f);
}

bool gess__mixture_seed(gess__mixture_fitter *f, size_t count, size_t n, const double *white, double nu, uint32_t which)
{
    const double heavy = 8.0; /* at first; from a Gaussian ν would hardly come down */
    gess__key key = {.iteration = count, .purpose = GESS__FOR_FIT};
    size_t take = n < SAMPLE ? n : SAMPLE, changed;
    double least = HUGE_VAL;
    draw_in(f, n, take, white, nu);
    for (uint32_t attempt = 0; attempt < TRIES; attempt++) {
        key.chain = which * TRIES + attempt;
        spread(f, count, take, key);
        double sum = assign(f, count, take, &changed);
        for (int step = 0; step < LLOYD && (step == 0 || 200 * changed > take); step++) {
            recentre(f, count, take);
            sum = assign(f, count, take, &changed);
        }
        if (!(sum < least)) continue;
        least = sum;
        memcpy(f->best_centres, f->centres, count * f->dim * sizeof *f->centres);
    }
    if (isinf(least)) return false;
    memcpy(f->centres, f->best_centres, count * f->dim * sizeof *f->centres);
    draw_in(f, n, n, white, nu);
    assign(f, count, n, &changed);
    hard_shares(f, count, n, white);
    f->trial->count = count;
    for (size_t j = 0; j < count; j++) f->trial->component[j]->nu = nu;
    if (!within_clusters(f, count, n, white)) return false;
    gess__mixture_maximise(f, n, white, true);
    for (size_t j = 0; j < f->trial->count; j++) f->trial->component[j]->nu = fmin(nu, heavy);
    return f->trial->count > 0;
}
