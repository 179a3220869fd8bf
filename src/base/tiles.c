/* Computes dots, triangular products and solves, squared distances and ellipse points, one tile of points at a time,
 * and copies points into tiles and back. Kernels and log T use it in every update. */
#include "base/tiles.h"

#include "base/tile_body.h"

#include <string.h>

enum { W = GESS__LANES };

GESS__VECTOR_VALUE(double, gess__dot, (size_t n, const double *a, const double *b), (n, a, b))
{
    return gess__dot_of(n, a, b);
}

GESS__VECTOR(gess__dots, (size_t n, const double *a, const double *b, double *aa, double *bb, double *ab),
             (n, a, b, aa, bb, ab))
{
    gess__dots_of(n, a, b, aa, bb, ab);
}

GESS__VECTOR(gess__dots_rows,
             (size_t rows, size_t n, const double *a, const double *b, double *aa, double *bb, double *ab),
             (rows, n, a, b, aa, bb, ab))
{
    for (size_t j = 0; j < rows; j++) gess__dots_of(n, a + j * n, b + j * n, aa + j, bb + j, ab + j);
}

size_t gess__triangular_scratch(size_t dim)
{
    return 2 * W * dim;
}

/* One point, vectors along the rows: out_i gets its terms in the order k = 0, 1, …, i. */
static GESS__VECTOR(product_one,
                    (size_t dim, const double *restrict chol, const double *restrict in, double *restrict out),
                    (dim, chol, in, out))
{
    for (size_t i = 0; i < dim; i++) out[i] = 0.0;
    for (size_t k = 0; k < dim; k++) {
        const double *column = chol + k * dim;
        double factor = in[k];
        for (size_t i = k; i < dim; i++) out[i] = gess__fma(column[i], factor, out[i]);
    }
}

static GESS__VECTOR(product_tile,
                    (size_t dim, const double *restrict chol, const double *restrict in, double *restrict out),
                    (dim, chol, in, out))
{
    gess__product_tile_body(dim, chol, in, out);
}

void gess__triangular_products(size_t dim, const double *chol, size_t count, const double *in, double *out,
                               double *scratch)
{
    size_t j = 0;
    for (; j + 2 <= count; j += W) {
        size_t points = count - j < W ? count - j : W;
        gess__to_tile(dim, points, in + j * dim, scratch);
        product_tile(dim, chol, scratch, scratch + W * dim);
        gess__from_tile(dim, points, scratch + W * dim, out + j * dim);
    }
    for (; j < count; j++) product_one(dim, chol, in + j * dim, out + j * dim);
}

static GESS__VECTOR(solve_one,
                    (size_t dim, const double *restrict chol, const double *restrict inverse_diagonal,
                     const double *restrict centre, const double *restrict in, double *restrict out),
                    (dim, chol, inverse_diagonal, centre, in, out))
{
    for (size_t i = 0; i < dim; i++) out[i] = in[i] - centre[i];
    for (size_t k = 0; k < dim; k++) {
        const double *column = chol + k * dim;
        double z = out[k] * inverse_diagonal[k];
        out[k] = z;
        for (size_t i = k + 1; i < dim; i++) out[i] = gess__fma(-column[i], z, out[i]);
    }
}

static GESS__VECTOR(solve_tile,
                    (size_t dim, const double *restrict chol, const double *restrict inverse_diagonal,
                     const double *restrict centre, const double *restrict in, double *restrict out),
                    (dim, chol, inverse_diagonal, centre, in, out))
{
    gess__solve_tile_body(dim, chol, inverse_diagonal, centre, in, out);
}

void gess__triangular_solves(size_t dim, const double *chol, const double *inverse_diagonal, const double *centre,
                             size_t count, const double *in, double *out, double *scratch)
{
    size_t j = 0;
    for (; j + 2 <= count; j += W) {
        size_t points = count - j < W ? count - j : W;
        gess__to_tile(dim, points, in + j * dim, scratch);
        solve_tile(dim, chol, inverse_diagonal, centre, scratch, scratch + W * dim);
        gess__from_tile(dim, points, scratch + W * dim, out + j * dim);
    }
    for (; j < count; j++) solve_one(dim, chol, inverse_diagonal, centre, in + j * dim, out + j * dim);
}

/* ---- squared distances ---- */

/* Two tiles side by side, which do twice the work per load of the factor. */
enum { WIDE = GESS__WIDE_LANES };

/* δ_l = |L⁻¹(x_l − centre)|² of WIDE points, x_l in column l of `tile`, which becomes L⁻¹(x_l − centre). */
static GESS__VECTOR(squares_tile,
                    (size_t dim, const double *restrict chol, const double *restrict inverse_diagonal,
                     const double *restrict centre, double *restrict tile, double *restrict squares),
                    (dim, chol, inverse_diagonal, centre, tile, squares))
{
    double s0[WIDE] = {0}, s1[WIDE] = {0}, s2[WIDE] = {0}, s3[WIDE] = {0};
    size_t i = 0;
    for (; i + 4 <= dim; i += 4) {
        double r0[WIDE], r1[WIDE], r2[WIDE], r3[WIDE], *here = tile + i * WIDE;
        for (size_t l = 0; l < WIDE; l++) {
            r0[l] = here[l] - centre[i];
            r1[l] = here[WIDE + l] - centre[i + 1];
            r2[l] = here[2 * WIDE + l] - centre[i + 2];
            r3[l] = here[3 * WIDE + l] - centre[i + 3];
        }
        for (size_t k = 0; k < i; k++) {
            const double *column = chol + k * dim + i, *z = tile + k * WIDE;
            for (size_t l = 0; l < WIDE; l++) r0[l] = gess__fma(-column[0], z[l], r0[l]);
            for (size_t l = 0; l < WIDE; l++) r1[l] = gess__fma(-column[1], z[l], r1[l]);
            for (size_t l = 0; l < WIDE; l++) r2[l] = gess__fma(-column[2], z[l], r2[l]);
            for (size_t l = 0; l < WIDE; l++) r3[l] = gess__fma(-column[3], z[l], r3[l]);
        }
        const double *c0 = chol + i * dim + i, *c1 = c0 + dim, *c2 = c1 + dim;
        for (size_t l = 0; l < WIDE; l++) {
            double z0 = r0[l] * inverse_diagonal[i];
            double z1 = gess__fma(-c0[1], z0, r1[l]) * inverse_diagonal[i + 1];
            double z2 = gess__fma(-c1[2], z1, gess__fma(-c0[2], z0, r2[l])) * inverse_diagonal[i + 2];
            double z3 =
                gess__fma(-c2[3], z2, gess__fma(-c1[3], z1, gess__fma(-c0[3], z0, r3[l]))) * inverse_diagonal[i + 3];
            here[l] = z0;
            here[WIDE + l] = z1;
            here[2 * WIDE + l] = z2;
            here[3 * WIDE + l] = z3;
            s0[l] = gess__fma(z0, z0, s0[l]);
            s1[l] = gess__fma(z1, z1, s1[l]);
            s2[l] = gess__fma(z2, z2, s2[l]);
            s3[l] = gess__fma(z3, z3, s3[l]);
        }
    }
    for (; i < dim; i++) {
        double r[WIDE];
        for (size_t l = 0; l < WIDE; l++) r[l] = tile[i * WIDE + l] - centre[i];
        for (size_t k = 0; k < i; k++)
            for (size_t l = 0; l < WIDE; l++) r[l] = gess__fma(-chol[k * dim + i], tile[k * WIDE + l], r[l]);
        for (size_t l = 0; l < WIDE; l++) {
            double z = r[l] * inverse_diagonal[i];
            tile[i * WIDE + l] = z;
            s0[l] = gess__fma(z, z, s0[l]);
        }
    }
    for (size_t l = 0; l < WIDE; l++) squares[l] = (s0[l] + s1[l]) + (s2[l] + s3[l]);
}

void gess__whitened_squares(size_t dim, const double *chol, const double *inverse_diagonal, const double *centre,
                            size_t count, const double *in, double *out, double *scratch)
{
    double squares[WIDE];
    for (size_t j = 0; j < count; j += WIDE) {
        size_t points = count - j < WIDE ? count - j : WIDE;
        gess__to_wide_tile(dim, points, in + j * dim, scratch);
        squares_tile(dim, chol, inverse_diagonal, centre, scratch, squares);
        memcpy(out + j, squares, points * sizeof *squares);
    }
}

GESS__INLINE void ellipse_point(size_t dim, const double *restrict centre, const double *restrict x,
                                const double *restrict v, double cosine, double sine, double *restrict out)
{
    for (size_t i = 0; i < dim; i++) out[i] = gess__fma(v[i], sine, gess__fma(x[i] - centre[i], cosine, centre[i]));
}

GESS__VECTOR(gess__ellipse_point,
             (size_t dim, const double *centre, const double *x, const double *v, double cosine, double sine,
              double *out),
             (dim, centre, x, v, cosine, sine, out))
{
    ellipse_point(dim, centre, x, v, cosine, sine, out);
}

GESS__VECTOR(gess__ellipse_points,
             (size_t dim, const double *centre, const double *x, const double *v, size_t count, const uint32_t *rows,
              const double *cosines, const double *sines, const double *scales, double *out),
             (dim, centre, x, v, count, rows, cosines, sines, scales, out))
{
    for (size_t p = 0; p < count; p++) {
        size_t j = rows[p];
        ellipse_point(dim, centre, x + j * dim, v + j * dim, cosines[p], sines[p] * scales[p], out + p * dim);
    }
}

/* ---- tiles ---- */

typedef double four __attribute__((vector_size(32)));

/* Elements i, j, k and l of the concatenation of a and b. */
#ifdef __clang__
#define PICK(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
typedef long long four_places __attribute__((vector_size(32)));
#define PICK(a, b, i, j, k, l) __builtin_shuffle(a, b, (four_places){i, j, k, l})
#endif

/* Transposes four rows of four numbers. */
GESS__INLINE void transpose(const double *const rows[4], double *out0, double *out1, double *out2, double *out3)
{
    four a, b, c, d;
    memcpy(&a, rows[0], sizeof a);
    memcpy(&b, rows[1], sizeof b);
    memcpy(&c, rows[2], sizeof c);
    memcpy(&d, rows[3], sizeof d);
    four even = PICK(a, b, 0, 4, 2, 6), odd = PICK(a, b, 1, 5, 3, 7);
    four more = PICK(c, d, 0, 4, 2, 6), rest = PICK(c, d, 1, 5, 3, 7);
    a = PICK(even, more, 0, 1, 4, 5);
    b = PICK(odd, rest, 0, 1, 4, 5);
    c = PICK(even, more, 2, 3, 6, 7);
    d = PICK(odd, rest, 2, 3, 6, 7);
    memcpy(out0, &a, sizeof a);
    memcpy(out1, &b, sizeof b);
    memcpy(out2, &c, sizeof c);
    memcpy(out3, &d, sizeof d);
}

GESS__INLINE void to_tile(size_t width, size_t dim, size_t count, const double *x, double *tile)
{
    for (size_t l = 0; l < width; l += 4) {
        const double *rows[4];
        for (size_t j = 0; j < 4; j++) rows[j] = x + (l + j < count ? l + j : count - 1) * dim;
        size_t i = 0;
        for (; i + 4 <= dim; i += 4) {
            const double *const from[4] = {rows[0] + i, rows[1] + i, rows[2] + i, rows[3] + i};
            double *to = tile + i * width + l;
            transpose(from, to, to + width, to + 2 * width, to + 3 * width);
        }
        for (; i < dim; i++)
            for (size_t j = 0; j < 4; j++) tile[i * width + l + j] = rows[j][i];
    }
}

GESS__VECTOR(gess__turn, (size_t n, const double *restrict angles, double *restrict sines, double *restrict cosines),
             (n, angles, sines, cosines))
{
    for (size_t i = 0; i < n; i++) gess__sincos_turns(angles[i], &sines[i], &cosines[i]);
}

GESS__VECTOR(gess__to_tile, (size_t dim, size_t count, const double *x, double *tile), (dim, count, x, tile))
{
    to_tile(W, dim, count, x, tile);
}

GESS__VECTOR(gess__to_wide_tile, (size_t dim, size_t count, const double *x, double *tile), (dim, count, x, tile))
{
    to_tile(GESS__WIDE_LANES, dim, count, x, tile);
}

GESS__VECTOR(gess__from_tile, (size_t dim, size_t count, const double *tile, double *x), (dim, count, tile, x))
{
    size_t l = 0;
    for (; l + 4 <= count; l += 4) {
        double *to = x + l * dim;
        size_t i = 0;
        for (; i + 4 <= dim; i += 4) {
            const double *at = tile + i * W + l, *const from[4] = {at, at + W, at + 2 * W, at + 3 * W};
            transpose(from, to + i, to + dim + i, to + 2 * dim + i, to + 3 * dim + i);
        }
        for (; i < dim; i++)
            for (size_t j = 0; j < 4; j++) to[j * dim + i] = tile[i * W + l + j];
    }
    for (; l < count; l++)
        for (size_t i = 0; i < dim; i++) x[l * dim + i] = tile[i * W + l];
}
