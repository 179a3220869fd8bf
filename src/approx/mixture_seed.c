/* The start of EM: greedy k-means++ (D. Arthur & S. Vassilvitskii, SODA 2007) and a few iterations of Lloyd's
 * algorithm, TRIES times on at most SAMPLE of the points; the best clustering is used.
 *
 * Distances are in units of the mean Σ within the components of the best mixture so far. In these units, unlike those
 * of the spread of all points, clusters are round and well separated. Outliers would each become a cluster, so every
 * point is multiplied by √u, where u = (ν + D)/(ν + δ) is its weight under the single t. */
#include "approx/mixture_fit.h"

#include "base/assert.h"
#include "base/linalg.h"
#include "base/rng.h"
#include "base/tiles.h"
#include "base/vmath.h"

#include <math.h>
#include <string.h>

enum { SAMPLE = 2000, TRIES = 6, CANDIDATES = 3, LLOYD = 25 };

static double weight(double nu, double dim, double delta)
{
    return isinf(nu) ? 1.0 : (nu + dim) / (nu + delta);
}

/* Sets f->rows to `take` evenly spaced points of the n, pulled inwards and in units of f->metric, and f->factors to
 * their squared norms. */
static void pull_inwards(gess__mixture_fitter *f, size_t n, size_t take, const double *white, double nu)
{
    size_t dim = f->dim;
    for (size_t k = 0; k < take; k++) {
        const double *z = white + (take == n ? k : k * n / take) * dim;
        double *row = f->rows + k * dim, factor = sqrt(gess__min(1.0, weight(nu, (double)dim, gess__dot(dim, z, z))));
        for (size_t i = 0; i < dim; i++) row[i] = factor * z[i];
    }
    gess__solve_lower(dim, f->metric->chol, take, f->rows);
    for (size_t k = 0; k < take; k++) f->factors[k] = gess__dot(dim, f->rows + k * dim, f->rows + k * dim);
}

/* out = |row|² + |centre|² − 2 row · centre, at least 0; out holds row · centre on entry. */
static GESS__VECTOR(finish_distances, (size_t n, double norm, const double *restrict squares, double *restrict out),
                    (n, norm, squares, out))
{
    for (size_t k = 0; k < n; k++) {
        double distance = squares[k] + norm - 2.0 * out[k];
        out[k] = gess__select(distance > 0.0, distance, 0.0);
    }
}

/* to_k = min(a_k, b_k). */
static GESS__VECTOR(take_smaller, (size_t n, const double *restrict a, const double *restrict b, double *restrict to),
                    (n, a, b, to))
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

/* Draws an index with probability proportional to its value: the first k at which the running sum reaches u times the
 * sum of the n values. */
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

/* Chooses `count` centres by greedy k-means++: every centre is the best of a few candidates. f->distance holds squared
 * distances to the nearest centre so far, f->packed those to a candidate. */
static void choose_centres(gess__mixture_fitter *f, size_t count, size_t n, gess__key key)
{
    size_t dim = f->dim, first = draw(n, f->factors, gess__uniform(key, 0));
    memcpy(f->centres, f->rows + first * dim, dim * sizeof *f->centres);
    distances(f, n, f->centres, f->distance);
    for (size_t j = 1; j < count; j++) {
        size_t best = 0;
        double smallest = HUGE_VAL;
        for (size_t c = 0; c < CANDIDATES; c++) {
            size_t at = draw(n, f->distance, gess__uniform(key, (uint32_t)(j * CANDIDATES + c)));
            double sum = 0.0;
            distances(f, n, f->rows + at * dim, f->packed);
            take_smaller(n, f->distance, f->packed, f->shares);
            for (size_t k = 0; k < n; k++) sum += f->shares[k];
            if (sum < smallest) best = at;
            smallest = gess__min(smallest, sum);
        }
        memcpy(f->centres + j * dim, f->rows + best * dim, dim * sizeof *f->centres);
        distances(f, n, f->centres + j * dim, f->packed);
        take_smaller(n, f->distance, f->packed, f->shares);
        memcpy(f->distance, f->shares, n * sizeof *f->distance);
    }
}

/* Finds the nearest of `count` centres for n rows; products[j stride + k] is row k times centre j. Sets `which` to the
 * centre's number, -1 if no distance is a number, and `smallest` to its squared distance minus the row's squared norm.
 */
static GESS__VECTOR(nearest,
                    (size_t count, size_t stride, size_t n, const double *restrict norms,
                     const double *restrict products, double *restrict smallest, double *restrict which),
                    (count, stride, n, norms, products, smallest, which))
{
    for (size_t k = 0; k < n; k++) {
        smallest[k] = HUGE_VAL;
        which[k] = -1.0;
    }
    for (size_t j = 0; j < count; j++) {
        double number = (double)j, norm = norms[j];
        for (size_t k = 0; k < n; k++) {
            double distance = norm - 2.0 * products[j * stride + k];
            int nearer = distance < smallest[k];
            smallest[k] = gess__select(nearer, distance, smallest[k]);
            which[k] = gess__select(nearer, number, which[k]);
        }
    }
}

/* Sets f->labels to the nearest centre of every row; a row without one keeps its label. Returns the sum of squared
 * distances; *changed: the number of rows with a new label. */
static double assign(gess__mixture_fitter *f, size_t count, size_t n, size_t *changed)
{
    enum { CHUNK = 64 };
    double norms[GESS__MAX_COMPONENTS], smallest[CHUNK], which[CHUNK], sum = 0.0;
    *changed = 0;
    for (size_t j = 0; j < count; j++) norms[j] = gess__dot(f->dim, f->centres + j * f->dim, f->centres + j * f->dim);
    gess__product(true, n, count, f->dim, f->rows, f->centres, f->shares);
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t some = n - done < CHUNK ? n - done : CHUNK;
        nearest(count, n, some, norms, f->shares + done, smallest, which);
        for (size_t i = 0; i < some; i++) {
            unsigned *label = &f->labels[done + i], before = *label;
            if (which[i] >= 0.0) *label = (unsigned)which[i];
            *changed += *label != before;
            sum += smallest[i] + f->factors[done + i];
        }
    }
    return sum;
}

/* Moves every centre to the mean of its rows; a centre without rows stays. */
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

/* Sets shares of 0 and 1 by cluster, and the deltas to those of the single t. */
static void hard_shares(gess__mixture_fitter *f, size_t count, size_t n, const double *white)
{
    for (size_t j = 0; j < count; j++)
        for (size_t k = 0; k < n; k++) f->shares[j * n + k] = f->labels[k] == j ? 1.0 : 0.0;
    for (size_t k = 0; k < n; k++) f->deltas[k] = gess__dot(f->dim, white + k * f->dim, white + k * f->dim);
    for (size_t j = 1; j < count; j++) memcpy(f->deltas + j * n, f->deltas, n * sizeof *f->deltas);
}

/* Sets the prior to the mean Σ within clusters. */
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
    GESS_ASSERT(count > 0 && count <= gess__mixture_room(f->dim) && n > 0 && n <= f->points);
    const double heavy = 8.0; /* largest ν at the start; EM lowers ν only slowly from a Gaussian */
    gess__key key = {.iteration = count, .purpose = GESS__FOR_FIT};
    size_t take = n < SAMPLE ? n : SAMPLE, changed;
    double smallest = HUGE_VAL;
    pull_inwards(f, n, take, white, nu);
    for (uint32_t attempt = 0; attempt < TRIES; attempt++) {
        key.chain = which * TRIES + attempt;
        choose_centres(f, count, take, key);
        double sum = assign(f, count, take, &changed);
        for (int step = 0; step < LLOYD && (step == 0 || 200 * changed > take); step++) {
            recentre(f, count, take);
            sum = assign(f, count, take, &changed);
        }
        if (!(sum < smallest)) continue;
        smallest = sum;
        memcpy(f->best_centres, f->centres, count * f->dim * sizeof *f->centres);
    }
    if (isinf(smallest)) return false;
    memcpy(f->centres, f->best_centres, count * f->dim * sizeof *f->centres);
    pull_inwards(f, n, n, white, nu);
    assign(f, count, n, &changed);
    hard_shares(f, count, n, white);
    f->trial->count = count;
    for (size_t j = 0; j < count; j++) f->trial->component[j]->nu = nu;
    if (!within_clusters(f, count, n, white)) return false;
    gess__mixture_maximise(f, n, white, true);
    for (size_t j = 0; j < f->trial->count; j++) f->trial->component[j]->nu = gess__min(nu, heavy);
    return f->trial->count > 0;
}
