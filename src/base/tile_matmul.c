/* Multiplies four or eight rows of a matrix at a time by a tile of points, in code for AVX-512, for AVX2 or in plain
 * loops, whichever is the best that the processor has. */
#include "base/tile_matmul.h"

#include "base/assert.h"
#include "base/tiles.h"

#ifdef GESS__WIDEST
#include <immintrin.h>
#endif

enum { W = GESS__LANES };

static void add_plain(gess__matrix_rows rows, size_t count, size_t terms, const double *restrict x,
                      double *restrict out)
{
    for (size_t b = 0; b < count; b++)
        for (size_t k = 0; k < terms; k++)
            for (size_t l = 0; l < W; l++)
                out[b * W + l] = gess__fma(rows.numbers[b * rows.apart + k * rows.step], x[k * W + l], out[b * W + l]);
}

#ifdef GESS__WIDEST

enum { ROWS = 4 };

/* ROWS rows. Padding rows repeat the last one; their results are discarded. */
typedef struct four {
    const double *row[ROWS];
    size_t step;
} four;

static four four_of(gess__matrix_rows rows, size_t first, size_t count)
{
    four f = {.step = rows.step};
    for (size_t b = 0; b < ROWS; b++)
        f.row[b] = rows.numbers + (first + b < count ? first + b : count - 1) * rows.apart;
    return f;
}

/* Eight rows at a time, so that no sum waits for its previous addition. */
GESS__WIDEST
static void add_eight(four f, four g, size_t terms, const double *restrict x, double *restrict out)
{
    __m512d s[2 * ROWS];
    for (size_t b = 0; b < 2 * ROWS; b++) s[b] = _mm512_loadu_pd(out + b * W);
    for (size_t k = 0; k < terms; k++) {
        __m512d at = _mm512_loadu_pd(x + k * W);
        for (size_t b = 0; b < ROWS; b++) {
            s[b] = _mm512_fmadd_pd(_mm512_set1_pd(f.row[b][k * f.step]), at, s[b]);
            s[ROWS + b] = _mm512_fmadd_pd(_mm512_set1_pd(g.row[b][k * g.step]), at, s[ROWS + b]);
        }
    }
    for (size_t b = 0; b < 2 * ROWS; b++) _mm512_storeu_pd(out + b * W, s[b]);
}

GESS__WIDEST
static void add_four(four f, size_t terms, const double *restrict x, double *restrict out)
{
    __m512d s[ROWS];
    for (size_t b = 0; b < ROWS; b++) s[b] = _mm512_loadu_pd(out + b * W);
    for (size_t k = 0; k < terms; k++) {
        __m512d at = _mm512_loadu_pd(x + k * W);
        for (size_t b = 0; b < ROWS; b++) s[b] = _mm512_fmadd_pd(_mm512_set1_pd(f.row[b][k * f.step]), at, s[b]);
    }
    for (size_t b = 0; b < ROWS; b++) _mm512_storeu_pd(out + b * W, s[b]);
}

GESS__NARROW
static void add_four_narrow(four f, size_t terms, const double *restrict x, double *restrict out)
{
    __m256d s[2 * ROWS];
    for (size_t b = 0; b < 2 * ROWS; b++) s[b] = _mm256_loadu_pd(out + b * W / 2);
    for (size_t k = 0; k < terms; k++) {
        __m256d left = _mm256_loadu_pd(x + k * W), right = _mm256_loadu_pd(x + k * W + W / 2);
        for (size_t b = 0; b < ROWS; b++) {
            __m256d factor = _mm256_broadcast_sd(&f.row[b][k * f.step]);
            s[2 * b] = _mm256_fmadd_pd(factor, left, s[2 * b]);
            s[2 * b + 1] = _mm256_fmadd_pd(factor, right, s[2 * b + 1]);
        }
    }
    for (size_t b = 0; b < 2 * ROWS; b++) _mm256_storeu_pd(out + b * W / 2, s[b]);
}

static void add_vectors(gess__vectors with, gess__matrix_rows rows, size_t count, size_t terms, const double *x,
                        double *out)
{
    void (*add)(four, size_t, const double *, double *) = with == GESS__WIDEST_VECTORS ? add_four : add_four_narrow;
    size_t b = 0;
    for (; b + 2 * ROWS <= count && with == GESS__WIDEST_VECTORS; b += 2 * ROWS)
        add_eight(four_of(rows, b, count), four_of(rows, b + ROWS, count), terms, x, out + b * W);
    for (; b + ROWS <= count; b += ROWS) add(four_of(rows, b, count), terms, x, out + b * W);
    if (b == count) return;
    double sums[ROWS * W] = {0};
    memcpy(sums, out + b * W, (count - b) * W * sizeof *out);
    add(four_of(rows, b, count), terms, x, sums);
    memcpy(out + b * W, sums, (count - b) * W * sizeof *out);
}
#endif

void gess__tile_matmul_with(gess__vectors with, gess__matrix_rows rows, size_t count, size_t terms, const double *x,
                            double *out)
{
#ifdef GESS__WIDEST
    if (with != GESS__NO_VECTORS) {
        add_vectors(with, rows, count, terms, x, out);
        return;
    }
#endif
    (void)with;
    add_plain(rows, count, terms, x, out);
}

void gess__tile_matmul(gess__matrix_rows rows, size_t count, size_t terms, const double *x, double *out)
{
    GESS_ASSERT(count > 0);
    gess__tile_matmul_with(gess__machine_vectors, rows, count, terms, x, out);
}
