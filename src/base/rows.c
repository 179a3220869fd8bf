#include "base/rows.h"

#include "base/lanes.h"

#include <stdbool.h>

#ifdef GESS__WIDEST
#include <immintrin.h>
#define WIDE __attribute__((target("arch=x86-64-v3")))
#endif

enum { ROWS = 4, W = GESS__LANES };

/* ROWS rows; those beyond the last repeat it, and their sums are nobody's. */
typedef struct four {
    const double *row[ROWS];
    size_t step;
} four;

static four four_of(gess__rows rows, size_t count)
{
    four f = {.step = rows.step};
    for (size_t b = 0; b < ROWS; b++) f.row[b] = rows.numbers + (b < count ? b : count - 1) * rows.apart;
    return f;
}

static void add_plain(four f, size_t count, size_t terms, size_t lanes, const double *restrict x, double *restrict out)
{
    for (size_t b = 0; b < count; b++)
        for (size_t k = 0; k < terms; k++)
            for (size_t l = 0; l < lanes; l++)
                out[b * lanes + l] = gess__fma(f.row[b][k * f.step], x[k * lanes + l], out[b * lanes + l]);
}

#ifdef GESS__WIDEST
/* Eight rows where there are as many, so that no sum waits for itself. */
GESS__WIDEST
static void add_eight(four f, four g, bool both, size_t terms, const double *restrict x, double *restrict out)
{
    __m512d s[2 * ROWS];
    size_t rows = both ? 2 * ROWS : ROWS;
    for (size_t b = 0; b < 2 * ROWS; b++) s[b] = b < rows ? _mm512_loadu_pd(out + b * W) : _mm512_setzero_pd();
    for (size_t k = 0; k < terms && both; k++) {
        __m512d at = _mm512_loadu_pd(x + k * W);
        for (size_t b = 0; b < ROWS; b++) {
            s[b] = _mm512_fmadd_pd(_mm512_set1_pd(f.row[b][k * f.step]), at, s[b]);
            s[ROWS + b] = _mm512_fmadd_pd(_mm512_set1_pd(g.row[b][k * g.step]), at, s[ROWS + b]);
        }
    }
    for (size_t k = 0; k < terms && !both; k++) {
        __m512d at = _mm512_loadu_pd(x + k * W);
        for (size_t b = 0; b < ROWS; b++) s[b] = _mm512_fmadd_pd(_mm512_set1_pd(f.row[b][k * f.step]), at, s[b]);
    }
    for (size_t b = 0; b < rows; b++) _mm512_storeu_pd(out + b * W, s[b]);
}

GESS__WIDEST
static void add_sixteen(four f, size_t terms, const double *restrict x, double *restrict out)
{
    __m512d s[2 * ROWS];
    for (size_t b = 0; b < 2 * ROWS; b++) s[b] = _mm512_loadu_pd(out + b * W);
    for (size_t k = 0; k < terms; k++) {
        __m512d left = _mm512_loadu_pd(x + 2 * k * W), right = _mm512_loadu_pd(x + (2 * k + 1) * W);
        for (size_t b = 0; b < ROWS; b++) {
            __m512d factor = _mm512_set1_pd(f.row[b][k * f.step]);
            s[2 * b] = _mm512_fmadd_pd(factor, left, s[2 * b]);
            s[2 * b + 1] = _mm512_fmadd_pd(factor, right, s[2 * b + 1]);
        }
    }
    for (size_t b = 0; b < 2 * ROWS; b++) _mm512_storeu_pd(out + b * W, s[b]);
}

/* W lanes of tiles that have `lanes`. */
WIDE static void add_narrow(four f, size_t terms, size_t lanes, const double *restrict x, double *restrict out)
{
    __m256d s[2 * ROWS];
    for (size_t b = 0; b < ROWS; b++) {
        s[2 * b] = _mm256_loadu_pd(out + b * lanes);
        s[2 * b + 1] = _mm256_loadu_pd(out + b * lanes + W / 2);
    }
    for (size_t k = 0; k < terms; k++) {
        __m256d left = _mm256_loadu_pd(x + k * lanes), right = _mm256_loadu_pd(x + k * lanes + W / 2);
        for (size_t b = 0; b < ROWS; b++) {
            __m256d factor = _mm256_broadcast_sd(&f.row[b][k * f.step]);
            s[2 * b] = _mm256_fmadd_pd(factor, left, s[2 * b]);
            s[2 * b + 1] = _mm256_fmadd_pd(factor, right, s[2 * b + 1]);
        }
    }
    for (size_t b = 0; b < ROWS; b++) {
        _mm256_storeu_pd(out + b * lanes, s[2 * b]);
        _mm256_storeu_pd(out + b * lanes + W / 2, s[2 * b + 1]);
    }
}

static void add_four(four f, size_t terms, size_t lanes, const double *x, double *out)
{
    if (!gess__has_widest())
        for (size_t l = 0; l < lanes; l += W) add_narrow(f, terms, lanes, x + l, out + l);
    else if (lanes == W)
        add_eight(f, f, false, terms, x, out);
    else
        add_sixteen(f, terms, x, out);
}

/* Whether the machine has the vectors that the above are for. */
static int has_vectors(void)
{
    return __builtin_cpu_supports("x86-64-v3");
}
#endif

/* Rows b < count <= 4. */
static void add_some(gess__rows rows, size_t count, size_t terms, size_t lanes, const double *x, double *out)
{
    four f = four_of(rows, count);
#ifdef GESS__WIDEST
    if (has_vectors()) {
        if (count == ROWS) {
            add_four(f, terms, lanes, x, out);
            return;
        }
        double sums[ROWS * GESS__WIDE_LANES] = {0};
        memcpy(sums, out, count * lanes * sizeof *out);
        add_four(f, terms, lanes, x, sums);
        memcpy(out, sums, count * lanes * sizeof *out);
        return;
    }
#endif
    add_plain(f, count, terms, lanes, x, out);
}

void gess__rows_add(gess__rows rows, size_t count, size_t terms, size_t lanes, const double *x, double *out)
{
    size_t b = 0;
#ifdef GESS__WIDEST
    for (; b + 2 * ROWS <= count && lanes == W && gess__has_widest(); b += 2 * ROWS) {
        gess__rows here = {rows.numbers + b * rows.apart, rows.apart, rows.step}, next = here;
        next.numbers += ROWS * rows.apart;
        add_eight(four_of(here, ROWS), four_of(next, ROWS), true, terms, x, out + b * lanes);
    }
#endif
    for (; b < count; b += ROWS) {
        gess__rows here = {rows.numbers + b * rows.apart, rows.apart, rows.step};
        add_some(here, count - b < ROWS ? count - b : ROWS, terms, lanes, x, out + b * lanes);
    }
}
