/* Solves the normal equations of weighted least squares, and fits a log variance by Newton's method with step halving.
 * The files scale_*.c call it. */
#include "transform/regression.h"

#include "base/tiles.h"

/* Points per pass over the columns, so that all columns of a pass stay in the cache. */
enum { PASS = 256 };

GESS__VECTOR(gess__regression_predict, (const gess__terms *t, size_t begin, size_t end, double *restrict out),
             (t, begin, end, out))
{
    for (size_t j = begin; j < end; j++) out[j] = 0.0;
    for (size_t u = 0; u < t->count; u++) {
        const double *restrict column = t->columns[u];
        double factor = t->factors[u];
        for (size_t j = begin; j < end; j++) out[j] = gess__fma(factor, column[j], out[j]);
    }
}

GESS__VECTOR(gess__multiply, (size_t n, const double *restrict a, const double *restrict b, double *restrict out),
             (n, a, b, out))
{
    for (size_t j = 0; j < n; j++) out[j] = a[j] * b[j];
}

/* out_b = Σ_j a_j x_bj for four columns x_b at once. */
static GESS__VECTOR(four_dots, (size_t n, const double *restrict a, const double *const *x, double *restrict out),
                    (n, a, x, out))
{
    const double *restrict x0 = x[0], *restrict x1 = x[1], *restrict x2 = x[2], *restrict x3 = x[3];
    double s[4][GESS__LANES] = {{0}};
    size_t j = 0;
    for (; j + GESS__LANES <= n; j += GESS__LANES)
        for (size_t l = 0; l < GESS__LANES; l++) {
            s[0][l] = gess__fma(a[j + l], x0[j + l], s[0][l]);
            s[1][l] = gess__fma(a[j + l], x1[j + l], s[1][l]);
            s[2][l] = gess__fma(a[j + l], x2[j + l], s[2][l]);
            s[3][l] = gess__fma(a[j + l], x3[j + l], s[3][l]);
        }
    for (size_t b = 0; b < 4; b++) {
        out[b] = gess__lane_sum(s[b]);
        for (size_t k = j; k < n; k++) out[b] = gess__fma(a[k], x[b][k], out[b]);
    }
}

/* sums_v += Σ_j a_j columns_v[j] for the columns from `first` on. */
static void add_dots(size_t n, const double *a, size_t first, size_t count, const double *const *columns, size_t at,
                     double *sums)
{
    for (size_t v = first; v < count; v += 4) {
        const double *four[4];
        double dots[4];
        for (size_t b = 0; b < 4; b++) four[b] = columns[v + b < count ? v + b : count - 1] + at;
        four_dots(n, a, four, dots);
        for (size_t b = 0; b < 4 && v + b < count; b++) sums[v + b] += dots[b];
    }
}

GESS__VECTOR(gess__log_squares, (size_t n, const double *restrict r, double *restrict out), (n, r, out))
{
    for (size_t j = 0; j < n; j++) out[j] = gess__log(r[j] * r[j] + 1e-12);
}

/* Solves the p × p system a x = b for a positive definite a; b becomes x. Gaussian elimination without pivots, which
 * such a matrix does not need, with a ridge of 1e-10 of the trace. */
static void solve(size_t p, double *a, double *b)
{
    double trace = 0.0;
    for (size_t i = 0; i < p; i++) trace += a[i * p + i];
    for (size_t i = 0; i < p; i++) a[i * p + i] += 1e-10 * trace + 1e-300;
    for (size_t k = 0; k < p; k++)
        for (size_t i = k + 1; i < p; i++) {
            double factor = a[i * p + k] / a[k * p + k];
            for (size_t c = k; c < p; c++) a[i * p + c] -= factor * a[k * p + c];
            b[i] -= factor * b[k];
        }
    for (size_t k = p; k-- > 0;) {
        for (size_t c = k + 1; c < p; c++) b[k] -= a[k * p + c] * b[c];
        b[k] /= a[k * p + k];
    }
}

/* a = Xᵀ diag(weights) X for the matrix X of the columns; b = Xᵀ diag(weights) y unless y is NULL. */
static void normal_equations(const gess__terms *t, const double *weights, const double *y, size_t begin, size_t end,
                             double *work, double *a, double *b)
{
    size_t p = t->count, count = y != NULL ? p + 1 : p;
    double sums[GESS__MAX_TERMS][GESS__MAX_TERMS + 1] = {{0}};
    const double *columns[GESS__MAX_TERMS + 1];
    for (size_t u = 0; u < p; u++) columns[u] = t->columns[u];
    columns[p] = y;
    for (size_t j = begin; j < end; j += PASS) {
        size_t n = end - j < PASS ? end - j : PASS;
        for (size_t u = 0; u < p; u++) {
            gess__multiply(n, columns[u] + j, weights + j, work);
            add_dots(n, work, u, count, columns, j, sums[u]);
        }
    }
    for (size_t u = 0; u < p; u++) {
        for (size_t v = 0; v < p; v++) a[u * p + v] = v < u ? sums[v][u] : sums[u][v];
        if (y != NULL) b[u] = sums[u][p];
    }
}

void gess__fit_mean(gess__terms *t, const double *weights, const double *y, size_t begin, size_t end, double *work,
                    double *r)
{
    double a[GESS__MAX_TERMS * GESS__MAX_TERMS];
    normal_equations(t, weights, y, begin, end, work, a, t->factors);
    solve(t->count, a, t->factors);
    gess__regression_predict(t, begin, end, r);
    for (size_t j = begin; j < end; j++) r[j] = y[j] - r[j];
}

GESS__VECTOR_VALUE(double, gess__spread_loss,
                   (const double *restrict r, size_t begin, size_t end, const double *restrict h,
                    double *restrict weights, double *restrict squares),
                   (r, begin, end, h, weights, squares))
{
    double sums[GESS__LANES] = {0}, sum = 0.0;
    for (size_t j = begin; j < end; j++) {
        double level = gess__select(h[j] > 600.0, 600.0, h[j]);
        level = gess__select(level < -600.0, -600.0, level);
        weights[j] = gess__exp(-level);
        squares[j] = r[j] * r[j] * weights[j];
    }
    size_t whole = begin + (end - begin) / GESS__LANES * GESS__LANES;
    for (size_t j = begin; j < whole; j += GESS__LANES)
        for (size_t l = 0; l < GESS__LANES; l++) sums[l] += h[j + l] + squares[j + l];
    for (size_t j = whole; j < end; j++) sum += h[j] + squares[j];
    for (size_t l = 0; l < GESS__LANES; l++) sum += sums[l];
    return 0.5 * sum / (double)(end - begin);
}

double gess__spread_level(gess__terms *t, const double *r, size_t begin, size_t end, const gess__spread_work *w)
{
    double sum = 0.0;
    gess__regression_predict(t, begin, end, w->h);
    (void)gess__spread_loss(r, begin, end, w->h, w->weights, w->squares);
    for (size_t j = begin; j < end; j++) sum += w->squares[j];
    double shift = gess__log(sum / (double)(end - begin) + 1e-300);
    t->factors[0] += shift;
    for (size_t j = begin; j < end; j++) w->h[j] += shift;
    return gess__spread_loss(r, begin, end, w->h, w->weights, w->squares);
}

double gess__spread_start(gess__terms *t, const double *r, size_t begin, size_t end, const gess__spread_work *w)
{
    gess__terms constant = *t;
    double a[GESS__MAX_TERMS * GESS__MAX_TERMS];
    for (size_t u = 0; u < t->count; u++) constant.factors[u] = 0.0;
    gess__log_squares(end - begin, r + begin, w->h + begin);
    for (size_t j = begin; j < end; j++) w->weights[j] = 1.0;
    normal_equations(t, w->weights, w->h, begin, end, w->work, a, t->factors);
    solve(t->count, a, t->factors);
    double loss = gess__spread_level(t, r, begin, end, w);
    double constant_loss = gess__spread_level(&constant, r, begin, end, w);
    if (loss < constant_loss) return gess__spread_level(t, r, begin, end, w);
    *t = constant;
    return constant_loss;
}

/* Newton's method; a step that raises the loss is halved. */
double gess__spread_fit(gess__terms *t, const double *r, size_t begin, size_t end, const gess__spread_work *w,
                        double loss)
{
    size_t p = t->count;
    double totals[GESS__MAX_TERMS] = {0};
    for (size_t u = 0; u < p; u++)
        for (size_t j = begin; j < end; j++) totals[u] += t->columns[u][j];
    for (int iteration = 0; iteration < 25; iteration++) {
        double a[GESS__MAX_TERMS * GESS__MAX_TERMS], b[GESS__MAX_TERMS], before[GESS__MAX_TERMS];
        double old = loss, step = 1.0;
        memcpy(before, t->factors, sizeof before);
        normal_equations(t, w->squares, NULL, begin, end, w->work, a, b);
        for (size_t u = 0; u < p; u++) b[u] = a[u] - totals[u]; /* a[u]: the first column is 1 */
        solve(p, a, b);
        for (int halving = 0; halving < 12; halving++, step *= 0.5) {
            for (size_t u = 0; u < p; u++) t->factors[u] = before[u] + step * b[u];
            gess__regression_predict(t, begin, end, w->h);
            loss = gess__spread_loss(r, begin, end, w->h, w->weights, w->squares);
            if (loss <= old) break;
        }
        if (!(loss <= old)) {
            memcpy(t->factors, before, sizeof before);
            gess__regression_predict(t, begin, end, w->h);
            return gess__spread_loss(r, begin, end, w->h, w->weights, w->squares);
        }
        if (old - loss < 1e-7) break;
    }
    return loss;
}
