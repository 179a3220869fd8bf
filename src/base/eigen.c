/* Eigenvalues and eigenvectors of a symmetric matrix, in a fixed order.
 *
 * Householder reflections make the matrix tridiagonal; implicit QL steps with Wilkinson's shift, or QR steps where the
 * large elements are at the other end, make it diagonal. J. H. Wilkinson & C. Reinsch, "Handbook for Automatic
 * Computation II: Linear Algebra" (1971), II/2 and II/4; the choice between QL and QR and the test for negligible
 * elements are those of LAPACK's DSTEQR (E. Anderson et al., "LAPACK Users' Guide", 3rd edition, 1999).
 *
 * The matrix is first scaled by a power of 2, so that its largest element is between 1/2 and 1: squares can then
 * underflow only where they are negligible. The eigenvectors are kept in strips of rows: a rotation works on two
 * columns of a strip, and the rotations of several steps are applied to a strip while it is in the cache. */
#include "base/linalg.h"
#include "base/tiles.h"

#include <float.h>

enum {
    STRIP = 32,    /* rows of eigenvectors */
    STEPS = 16,    /* QL or QR steps whose rotations are applied together */
    MAX_STEPS = 30 /* per eigenvalue, on average */
};

/* One QL or QR step: rotations of columns `from` and from ± 1, then of that one and the next, and so on. */
typedef struct step {
    size_t from, count;
    int forwards;
} step;

/* Rotation t of a step has the cosine and sine at cosines[t] and sines[t]. */
typedef struct eigen {
    size_t n, strips;
    double *d, *e;     /* diagonal, and the elements below it; n each */
    double *tau;       /* of the reflections; then one column; n */
    double *rotations; /* STEPS × 2 × n: cosines and sines of a step */
    double *vectors;   /* strips × n × STRIP */
    step steps[STEPS];
    size_t count;
} eigen;

static size_t strips_of(size_t n)
{
    return (n + STRIP - 1) / STRIP;
}

size_t gess__eigen_work(size_t n)
{
    return strips_of(n) * STRIP * n + (2 * STEPS + 3) * n;
}

/* The power of 2 that brings the largest element of the lower triangle to [1/2, 1); 0 if an element is not finite, 1 if
 * all are 0. */
static double scale_of(size_t n, const double *a)
{
    double largest = 0.0;
    for (size_t k = 0; k < n; k++)
        for (size_t i = k; i < n; i++) {
            double size = fabs(a[i + k * n]);
            if (!(size <= DBL_MAX)) return 0.0;
            if (size > largest) largest = size;
        }
    if (largest == 0.0) return 1.0;
    int exponent;
    (void)frexp(largest, &exponent);
    if (exponent < -1000) exponent = -1000; /* 2^1021 is the largest factor whose inverse is normal */
    return ldexp(1.0, -exponent);
}

/* ---- tridiagonal form ---- */

/* y += Σ over the columns of the lower triangle a (m × m, `stride` apart) of the symmetric matrix times v. */
static GESS__VECTOR(symmetric_times,
                    (size_t m, size_t stride, const double *restrict a, const double *restrict v, double *restrict y),
                    (m, stride, a, v, y))
{
    enum { W = GESS__LANES };
    for (size_t i = 0; i < m; i++) y[i] = 0.0;
    for (size_t j = 0; j < m; j++) {
        const double *column = a + j * stride + j + 1, *x = v + j + 1;
        double *to = y + j + 1, factor = v[j], partial[W] = {0};
        size_t rest = m - j - 1, whole = rest - rest % W;
        for (size_t i = 0; i < whole; i += W)
            for (size_t l = 0; l < W; l++) {
                partial[l] = gess__fma(column[i + l], x[i + l], partial[l]);
                to[i + l] = gess__fma(column[i + l], factor, to[i + l]);
            }
        for (size_t i = whole; i < rest; i++) {
            partial[i - whole] = gess__fma(column[i], x[i], partial[i - whole]);
            to[i] = gess__fma(column[i], factor, to[i]);
        }
        y[j] += gess__fma(a[j * stride + j], factor, gess__lane_sum(partial));
    }
}

/* A −= v wᵀ + w vᵀ, lower triangle. */
static GESS__VECTOR(subtract_two,
                    (size_t m, size_t stride, double *restrict a, const double *restrict v, const double *restrict w),
                    (m, stride, a, v, w))
{
    for (size_t j = 0; j < m; j++) {
        double *restrict column = a + j * stride, x = -w[j], y = -v[j];
        for (size_t i = j; i < m; i++) column[i] = gess__fma(v[i], x, gess__fma(w[i], y, column[i]));
    }
}

static GESS__VECTOR(add_multiple, (size_t n, double factor, const double *restrict x, double *restrict y),
                    (n, factor, x, y))
{
    for (size_t i = 0; i < n; i++) y[i] = gess__fma(factor, x[i], y[i]);
}

/* The reflection I − τ v vᵀ that takes x to (β, 0, …): v replaces x, with v₀ = 1. Returns β. If x past its first
 * element is negligible beside a matrix of norm 1, τ = 0. */
static double reflection(size_t m, double *x, double *tau)
{
    double first = x[0], squares = gess__dot(m - 1, x + 1, x + 1);
    *tau = 0.0;
    x[0] = 1.0;
    if (squares < 1e-280) return first;
    double norm = sqrt(gess__fma(first, first, squares)), beta = first > 0.0 ? -norm : norm;
    *tau = (beta - first) / beta;
    double divisor = first - beta;
    for (size_t i = 1; i < m; i++) x[i] /= divisor;
    return beta;
}

/* Leaves reflection k in column k of a, from row k + 1 on. */
static void make_tridiagonal(eigen *s, double *a)
{
    size_t n = s->n;
    double *w = s->rotations; /* not in use yet */
    for (size_t k = 0; k + 1 < n; k++) {
        size_t m = n - k - 1;
        double *v = a + k * n + k + 1, *rest = a + (k + 1) * n + k + 1, tau;
        s->e[k] = reflection(m, v, &tau);
        s->tau[k] = tau;
        if (tau != 0.0) {
            symmetric_times(m, n, rest, v, w);
            for (size_t i = 0; i < m; i++) w[i] *= tau;
            add_multiple(m, -0.5 * tau * gess__dot(m, w, v), v, w);
            subtract_two(m, n, rest, v, w);
        }
    }
    for (size_t k = 0; k < n; k++) s->d[k] = a[k + k * n];
    s->e[n - 1] = 0.0;
}

/* The product of the reflections, column by column, into the strips. Columns of one group share the reflections that
 * are read. */
static void make_vectors(eigen *s, const double *a)
{
    enum { GROUP = 16 };
    size_t n = s->n;
    double *columns = s->rotations; /* GROUP × n, which is at most STEPS × 2 × n */
    for (size_t first = 0; first < n; first += GROUP) {
        size_t last = first + GROUP < n ? first + GROUP : n;
        memset(columns, 0, GROUP * n * sizeof *columns);
        for (size_t j = first; j < last; j++) columns[(j - first) * n + j] = 1.0;
        for (size_t k = last - 1 < n - 1 ? last - 1 : n - 1; k-- > 0;) {
            const double *v = a + k * n + k + 1;
            size_t m = n - k - 1;
            if (s->tau[k] == 0.0) continue;
            for (size_t j = first > k + 1 ? first : k + 1; j < last; j++) {
                double *x = columns + (j - first) * n + k + 1;
                add_multiple(m, -s->tau[k] * gess__dot(m, v, x), v, x);
            }
        }
        for (size_t j = first; j < last; j++)
            for (size_t i = 0; i < n; i++)
                s->vectors[(i / STRIP * n + j) * STRIP + i % STRIP] = columns[(j - first) * n + i];
    }
    for (size_t j = 0; j < n; j++) /* rows past the last */
        for (size_t i = n; i < s->strips * STRIP; i++) s->vectors[(i / STRIP * n + j) * STRIP + i % STRIP] = 0.0;
}

/* ---- diagonal form ---- */

static GESS__VECTOR(rotate,
                    (const step *by, const double *restrict cosines, const double *restrict sines,
                     double *restrict strip),
                    (by, cosines, sines, strip))
{
    double carry[STRIP];
    double *at = strip + by->from * STRIP;
    memcpy(carry, at, sizeof carry);
    for (size_t t = 0; t < by->count; t++) {
        double *next = by->forwards ? at + STRIP : at - STRIP;
        double c = cosines[t], s = sines[t];
        for (size_t l = 0; l < STRIP; l++) {
            double x = next[l];
            at[l] = gess__fma(s, x, c * carry[l]);
            carry[l] = gess__fma(c, x, -(s * carry[l]));
        }
        at = next;
    }
    memcpy(at, carry, sizeof carry);
}

static void apply_steps(eigen *s)
{
    for (size_t strip = 0; strip < s->strips; strip++)
        for (size_t k = 0; k < s->count; k++) {
            const double *cosines = s->rotations + 2 * k * s->n;
            rotate(&s->steps[k], cosines, cosines + s->n, s->vectors + strip * s->n * STRIP);
        }
    s->count = 0;
}

/* r = √(f² + g²) with the cosine g / r and the sine f / r; neither is much above 1. */
static double rotation(double g, double f, double *cosine, double *sine)
{
    double up = fabs(f) < 1e-130 && fabs(g) < 1e-130 ? 0x1p500 : 1.0;
    f *= up;
    g *= up;
    double r = sqrt(gess__fma(f, f, g * g));
    *cosine = r > 0.0 ? g / r : 1.0;
    *sine = r > 0.0 ? f / r : 0.0;
    return r / up;
}

/* Rows low … high of the tridiagonal matrix, which are connected, seen from the end where the elements are smaller:
 * diagonal element i is d[i * way], and e[i * way] connects it with i + 1. */
typedef struct block {
    double *d, *e;
    ptrdiff_t way;
    size_t low, high;
} block;

static size_t row_of(const block *b, size_t i)
{
    return b->way > 0 ? b->low + i : b->high - i;
}

/* One implicit step on elements l … m of the block. */
static void take_step(eigen *s, const block *b, size_t l, size_t m)
{
    if (s->count == STEPS) apply_steps(s);
    double *cosines = s->rotations + 2 * s->count * s->n, *sines = cosines + s->n, *d = b->d, *e = b->e;
    ptrdiff_t way = b->way, at = (ptrdiff_t)l * way;
    s->steps[s->count++] = (step){row_of(b, m), m - l, way < 0};

    double ratio = (d[at + way] - d[at]) / (2.0 * e[at]), size = fabs(ratio);
    double root = size > 1e100 ? size : sqrt(gess__fma(ratio, ratio, 1.0));
    double g = d[(ptrdiff_t)m * way] - d[at] + e[at] / (ratio < 0.0 ? ratio - root : ratio + root);
    double c = 1.0, sine = 1.0, p = 0.0;
    for (size_t i = m; i-- > l;) {
        ptrdiff_t here = (ptrdiff_t)i * way;
        double f = sine * e[here], h = c * e[here], r = rotation(g, f, &c, &sine);
        if (i + 1 < m) e[here + way] = r;
        g = d[here + way] - p;
        r = gess__fma(d[here] - g, sine, 2.0 * c * h);
        p = sine * r;
        d[here + way] = g + p;
        g = gess__fma(c, r, -h);
        cosines[m - 1 - i] = c;
        sines[m - 1 - i] = sine;
    }
    d[at] -= p;
    e[at] = g;
}

static int negligible(double e, double d, double next)
{
    const double smallest = 1e-290, unit = 0.5 * DBL_EPSILON;
    return e * e <= unit * unit * fabs(d) * fabs(next) + smallest;
}

static bool make_diagonal(eigen *s)
{
    size_t n = s->n, left = MAX_STEPS * n;
    for (size_t low = 0; low < n;) {
        size_t high = low;
        while (high + 1 < n && !negligible(s->e[high], s->d[high], s->d[high + 1])) high++;
        if (high + 1 < n) s->e[high] = 0.0;
        if (high == low) {
            low++;
            continue;
        }
        int forwards = fabs(s->d[high]) >= fabs(s->d[low]);
        const block b = {.d = s->d + (forwards ? low : high),
                         .e = s->e + (forwards ? low : high - 1),
                         .way = forwards ? 1 : -1,
                         .low = low,
                         .high = high};
        for (size_t l = 0, last = high - low; l < last;) {
            size_t m = l;
            while (m < last &&
                   !negligible(b.e[(ptrdiff_t)m * b.way], b.d[(ptrdiff_t)m * b.way], b.d[(ptrdiff_t)(m + 1) * b.way]))
                m++;
            if (m < last) b.e[(ptrdiff_t)m * b.way] = 0.0;
            if (m == l) {
                l++;
                continue;
            }
            if (left-- == 0) return false;
            take_step(s, &b, l, m);
        }
        low = high + 1;
    }
    apply_steps(s);
    return true;
}

/* Values in ascending order, and their vectors as columns of a. */
static void put_in_order(eigen *s, double scale, double *values, double *a)
{
    size_t n = s->n;
    for (size_t k = 0; k < n; k++) {
        size_t least = k;
        for (size_t j = k + 1; j < n; j++)
            if (s->d[j] < s->d[least]) least = j;
        /* tau holds the column of every value, which n < 2^53 numbers exactly */
        double value = s->d[least], column = s->tau[least];
        s->d[least] = s->d[k];
        s->tau[least] = s->tau[k];
        s->d[k] = value;
        s->tau[k] = column;
    }
    for (size_t k = 0; k < n; k++) {
        values[k] = s->d[k] / scale;
        for (size_t i = 0; i < n; i++)
            a[i + k * n] = s->vectors[(i / STRIP * n + (size_t)s->tau[k]) * STRIP + i % STRIP];
    }
}

bool gess__symmetric_eigen(size_t n, double *a, double *values, double *work)
{
    eigen s = {.n = n, .strips = strips_of(n), .d = work, .e = work + n, .tau = work + 2 * n};
    s.rotations = work + 3 * n;
    s.vectors = s.rotations + 2 * STEPS * n;
    double scale = scale_of(n, a);
    if (scale == 0.0) return false;
    for (size_t k = 0; k < n; k++)
        for (size_t i = k; i < n; i++) a[i + k * n] *= scale;
    make_tridiagonal(&s, a);
    make_vectors(&s, a);
    if (!make_diagonal(&s)) return false;
    for (size_t k = 0; k < n; k++) s.tau[k] = (double)k;
    put_in_order(&s, scale, values, a);
    return true;
}
