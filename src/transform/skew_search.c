/* Directions of largest third moment, by the power iteration w ← E[z (w·z)²] / |…| from several starts. */
#include "transform/skew_search.h"

#include "base/tiles.h"
#include "parallel/blocks.h"

enum {
    W = GESS__LANES,
    MAX_STARTS = 4,
    MAX_ITERATIONS = 20,
    ALL_STARTS = 5, /* iterations after which only the best start goes on */
    SAMPLE = 3000   /* points that the starts are compared by, or all if there are fewer */
};

/* The iteration has converged when the skewness changes by less than this share of itself. */
#define TOLERANCE 1e-3

/* Takes the directions found out of w; returns the length of the rest and gives it length 1. */
static double orthonormal(size_t dim, const double *found, size_t count, double *w)
{
    for (int twice = 0; twice < 2; twice++)
        for (size_t k = 0; k < count; k++) {
            double along = gess__dot(dim, found + k * dim, w);
            for (size_t i = 0; i < dim; i++) w[i] -= along * found[k * dim + i];
        }
    double size = sqrt(gess__dot(dim, w, w));
    for (size_t i = 0; i < dim && size > 0.0; i++) w[i] /= size;
    return size;
}

/* ---- third moments ---- */

/* Adds z (z·w)² of the points of a tile, in lanes. Four partial sums keep the additions independent. */
static GESS__VECTOR(add_third_moments,
                    (size_t dim, const double *restrict tile, const double *restrict w, double *restrict sums),
                    (dim, tile, w, sums))
{
    double s0[W] = {0}, s1[W] = {0}, s2[W] = {0}, s3[W] = {0};
    size_t i = 0;
    for (; i + 4 <= dim; i += 4) {
        const double *restrict z = tile + i * W;
        for (size_t l = 0; l < W; l++) s0[l] = gess__fma(z[l], w[i], s0[l]);
        for (size_t l = 0; l < W; l++) s1[l] = gess__fma(z[W + l], w[i + 1], s1[l]);
        for (size_t l = 0; l < W; l++) s2[l] = gess__fma(z[2 * W + l], w[i + 2], s2[l]);
        for (size_t l = 0; l < W; l++) s3[l] = gess__fma(z[3 * W + l], w[i + 3], s3[l]);
    }
    for (; i < dim; i++)
        for (size_t l = 0; l < W; l++) s0[l] = gess__fma(tile[i * W + l], w[i], s0[l]);
    for (size_t l = 0; l < W; l++) {
        double u = (s0[l] + s1[l]) + (s2[l] + s3[l]);
        s0[l] = u * u;
    }
    for (i = 0; i < dim; i++)
        for (size_t l = 0; l < W; l++) sums[i * W + l] = gess__fma(tile[i * W + l], s0[l], sums[i * W + l]);
}

struct moments {
    size_t dim, count;
    const double *tiles, *w;
    double *sums; /* of each block, a tile for each direction */
};

static void moments_of_block(void *data, unsigned worker, size_t block, size_t first, size_t points)
{
    (void)worker;
    const struct moments *a = data;
    size_t dim = a->dim, end = first + points;
    double *sums = a->sums + block * a->count * dim * W;
    memset(sums, 0, a->count * dim * W * sizeof *sums);
    for (size_t j = first; j < end; j += W)
        for (size_t c = 0; c < a->count; c++)
            add_third_moments(dim, a->tiles + j * dim, a->w + c * dim, sums + c * dim * W);
}

/* E[z (z·w)²] of m points in tiles, for each of `count` directions w. The points are read once for all of them. */
static void third_moments(const gess__skew_search *s, size_t m, const double *tiles, size_t count, const double *w,
                          double *next)
{
    size_t dim = s->learner->dim, stride = count * dim * W, blocks = gess__block_count(m);
    struct moments a = {dim, count, tiles, w, s->sums};
    gess__blocks(s->learner->team, 4.0 * (double)(m * dim * count), m, moments_of_block, &a);
    for (size_t i = 0; i < count * dim; i++) {
        next[i] = 0.0;
        for (size_t b = 0; b < blocks; b++) next[i] += gess__lane_sum(s->sums + b * stride + i * W);
        next[i] /= (double)m;
    }
}

/* ---- the power iteration ---- */

static size_t most_skewed(size_t count, const double *skews)
{
    size_t best = 0;
    for (size_t c = 1; c < count; c++)
        if (skews[c] > skews[best]) best = c;
    return best;
}

/* Of the `left` directions that have not converged, keeps the best of all, or none if the best has converged. */
static size_t keep_best(size_t left, size_t *which, const double *skews, size_t count)
{
    size_t best = most_skewed(count, skews);
    for (size_t k = 0; k < left; k++)
        if (which[k] == best) {
            which[0] = best;
            return 1;
        }
    return 0;
}

/* Runs the power iteration from `count` directions w at once, each until it has converged; after ALL_STARTS iterations
 * only the best goes on. skews[c]: |E[(w·z)³]| where they end, 0 for a start that leads nowhere. */
static void iterate(const gess__skew_search *s, size_t m, const double *tiles, const double *found, size_t known,
                    size_t count, double *w, double *skews)
{
    size_t dim = s->learner->dim, left = 0, which[MAX_STARTS];
    double *trial = s->trial, *next = trial + count * dim;
    for (size_t c = 0; c < count; c++) {
        skews[c] = 0.0;
        if (orthonormal(dim, found, known, w + c * dim) > 1e-9) which[left++] = c;
    }
    for (int iteration = 0; iteration < MAX_ITERATIONS && left > 0; iteration++) {
        size_t kept = 0;
        for (size_t k = 0; k < left; k++) memcpy(trial + k * dim, w + which[k] * dim, dim * sizeof *w);
        third_moments(s, m, tiles, left, trial, next);
        for (size_t k = 0; k < left; k++) {
            size_t c = which[k];
            double old = skews[c];
            skews[c] = fabs(gess__dot(dim, next + k * dim, trial + k * dim));
            if (!(orthonormal(dim, found, known, next + k * dim) > 1e-12)) {
                skews[c] = 0.0;
                continue;
            }
            memcpy(w + c * dim, next + k * dim, dim * sizeof *w);
            if (!(fabs(skews[c] - old) < TOLERANCE * skews[c])) which[kept++] = c;
        }
        left = kept;
        if (iteration + 1 == ALL_STARTS) left = keep_best(left, which, skews, count);
    }
}

/* ---- starts ---- */

/* Adds z |z|² and z³ of the points of a tile, in lanes. */
static GESS__VECTOR(add_starts,
                    (size_t dim, const double *restrict tile, const double *restrict lengths, double *restrict radial,
                     double *restrict cubes),
                    (dim, tile, lengths, radial, cubes))
{
    for (size_t i = 0; i < dim; i++)
        for (size_t l = 0; l < W; l++) {
            double z = tile[i * W + l];
            radial[i * W + l] = gess__fma(z, lengths[l], radial[i * W + l]);
            cubes[i * W + l] = gess__fma(z * z, z, cubes[i * W + l]);
        }
}

static void find_starts(gess__skew_search *s, const double *lengths)
{
    size_t dim = s->learner->dim, m = s->m;
    double *radial = s->sums, *cubes = radial + dim * W;
    memset(radial, 0, 2 * dim * W * sizeof *radial);
    for (size_t j = 0; j < m; j += W) {
        double padded[W] = {0};
        memcpy(padded, lengths + j, (m - j < W ? m - j : W) * sizeof *padded);
        add_starts(dim, s->learner->residuals + j * dim, padded, radial, cubes);
    }
    for (size_t i = 0; i < dim; i++) {
        s->radial[i] = gess__lane_sum(radial + i * W) / (double)m;
        s->cubes[i] = gess__lane_sum(cubes + i * W) / (double)m;
    }
}

/* Sets axes[i] to |E[z_i³]|, or to −1 if the directions found leave little of axis i. */
static void rate_axes(const gess__skew_search *s, const double *found, size_t count)
{
    size_t dim = s->learner->dim;
    for (size_t i = 0; i < dim; i++) {
        double left = 1.0;
        for (size_t k = 0; k < count; k++) left -= found[k * dim + i] * found[k * dim + i];
        s->axes[i] = left > 0.1 ? fabs(s->cubes[i]) : -1.0;
    }
}

/* Sets w to the most skewed axis and makes sure that it is not chosen again. */
static void next_axis(size_t dim, double *axes, double *w)
{
    size_t best = 0;
    for (size_t i = 1; i < dim; i++)
        if (axes[i] > axes[best]) best = i;
    axes[best] = -1.0;
    for (size_t i = 0; i < dim; i++) w[i] = i == best ? 1.0 : 0.0;
}

/* Copies every few-th tile to the sample. */
static void take_sample(gess__skew_search *s)
{
    size_t dim = s->learner->dim, m = s->m, tiles = (m + W - 1) / W, stride = m / SAMPLE < 1 ? 1 : m / SAMPLE;
    for (size_t t = 0; t < tiles; t += stride) {
        memcpy(s->sample + s->sample_count * dim, s->learner->residuals + t * W * dim, W * dim * sizeof *s->sample);
        s->sample_count += m - t * W < W ? m - t * W : W;
    }
}

/* ---- the search ---- */

size_t gess__skew_search_bytes(size_t dim, size_t points)
{
    size_t blocks = gess__block_count(points) > 0 ? gess__block_count(points) : 1;
    return (3 + 3 * MAX_STARTS + blocks * MAX_STARTS * W) * dim * sizeof(double);
}

void gess__skew_search_begin(gess__skew_search *s, gess__learner *l, size_t m, const double *lengths)
{
    size_t dim = l->dim;
    *s = (gess__skew_search){.learner = l, .m = m, .sample = l->pair + l->max_points * dim, .axes = l->scratch};
    s->cubes = s->axes + dim;
    s->radial = s->cubes + dim;
    s->w = s->radial + dim;
    s->trial = s->w + MAX_STARTS * dim;
    s->sums = s->trial + 2 * MAX_STARTS * dim;
    take_sample(s);
    find_starts(s, lengths);
}

/* The starts are iterated with the sample; the best of them goes on with all points. */
double gess__skew_search_next(gess__skew_search *s, double *found, size_t count)
{
    const gess__learner *l = s->learner;
    size_t dim = l->dim, starts = dim < MAX_STARTS ? dim + 1 : MAX_STARTS;
    double *to = found + count * dim, skews[MAX_STARTS];
    rate_axes(s, found, count);
    memcpy(s->w, s->radial, dim * sizeof *s->w);
    for (size_t c = 1; c < starts; c++) next_axis(dim, s->axes, s->w + c * dim);
    iterate(s, s->sample_count, s->sample, found, count, starts, s->w, skews);
    size_t best = most_skewed(starts, skews);
    if (!(skews[best] > 0.0)) return 0.0;
    memcpy(to, s->w + best * dim, dim * sizeof *to);
    iterate(s, s->m, l->residuals, found, count, 1, to, skews);
    return skews[0];
}
