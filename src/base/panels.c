/* Multiplies packed panels in code for AVX-512, AVX2 or NEON, or in plain loops. */
#include "base/panels.h"

#include "base/vmath.h"

#ifdef GESS__WIDEST
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { P = GESS__PANEL };

#define PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define UNROLL(times) PRAGMA(unroll times)
#else
#define UNROLL(times) PRAGMA(GCC unroll times)
#endif

#ifdef GESS__WIDEST

/* One vector per panel and row of b: 24 sums for three panels, which is as many as the registers hold. */
#define WIDE_PRODUCT(PANELS)                                                                                          \
    GESS__WIDEST                                                                                                      \
    static void wide_##PANELS(size_t terms, const double *restrict a, size_t apart, const double *restrict b,         \
                              double *restrict out)                                                                   \
    {                                                                                                                 \
        __m512d sum[P][PANELS];                                                                                       \
        UNROLL(8)                                                                                                     \
        for (size_t j = 0; j < P; j++) UNROLL(3) for (size_t p = 0; p < PANELS; p++) sum[j][p] = _mm512_setzero_pd(); \
        for (size_t k = 0; k < terms; k++) {                                                                          \
            __m512d column[PANELS];                                                                                   \
            UNROLL(3) for (size_t p = 0; p < PANELS; p++) column[p] = _mm512_loadu_pd(a + p * apart + k * P);         \
            UNROLL(8) for (size_t j = 0; j < P; j++)                                                                  \
            {                                                                                                         \
                __m512d factor = _mm512_set1_pd(b[k * P + j]);                                                        \
                UNROLL(3)                                                                                             \
                for (size_t p = 0; p < PANELS; p++) sum[j][p] = _mm512_fmadd_pd(column[p], factor, sum[j][p]);        \
            }                                                                                                         \
        }                                                                                                             \
        UNROLL(8)                                                                                                     \
        for (size_t j = 0; j < P; j++)                                                                                \
            UNROLL(3) for (size_t p = 0; p < PANELS; p++) _mm512_storeu_pd(out + (j * PANELS + p) * P, sum[j][p]);    \
    }
WIDE_PRODUCT(1)
WIDE_PRODUCT(2)
WIDE_PRODUCT(3)

/* One panel and four rows of b at a time: eight sums. */
GESS__NARROW static void narrow(size_t terms, const double *restrict a, const double *restrict b, double *restrict out,
                                size_t column_length)
{
    enum { ROWS = 4 };
    __m256d sum[ROWS][2];
    UNROLL(4) for (size_t j = 0; j < ROWS; j++) sum[j][0] = sum[j][1] = _mm256_setzero_pd();
    for (size_t k = 0; k < terms; k++) {
        __m256d top = _mm256_loadu_pd(a + k * P), bottom = _mm256_loadu_pd(a + k * P + P / 2);
        UNROLL(4) for (size_t j = 0; j < ROWS; j++)
        {
            __m256d factor = _mm256_broadcast_sd(b + k * P + j);
            sum[j][0] = _mm256_fmadd_pd(top, factor, sum[j][0]);
            sum[j][1] = _mm256_fmadd_pd(bottom, factor, sum[j][1]);
        }
    }
    UNROLL(4) for (size_t j = 0; j < ROWS; j++)
    {
        _mm256_storeu_pd(out + j * column_length, sum[j][0]);
        _mm256_storeu_pd(out + j * column_length + P / 2, sum[j][1]);
    }
}

static void with_vectors(gess__vectors with, size_t panels, size_t terms, const double *a, size_t apart,
                         const double *b, double *out)
{
    if (with == GESS__WIDEST_VECTORS) {
        (panels == 3 ? wide_3 : panels == 2 ? wide_2 : wide_1)(terms, a, apart, b, out);
        return;
    }
    for (size_t p = 0; p < panels; p++)
        for (size_t j = 0; j < P; j += 4) narrow(terms, a + p * apart, b + j, out + (j * panels + p) * P, panels * P);
}

#endif

#ifdef __aarch64__
/* One panel and four rows of b at a time: sixteen sums. */
static void plain(size_t terms, const double *restrict a, const double *restrict b, double *restrict out,
                  size_t column_length)
{
    enum { ROWS = 4, VECTORS = P / 2 };
    float64x2_t sum[ROWS][VECTORS];
    UNROLL(4)
    for (size_t j = 0; j < ROWS; j++) UNROLL(4) for (size_t v = 0; v < VECTORS; v++) sum[j][v] = vdupq_n_f64(0.0);
    for (size_t k = 0; k < terms; k++) UNROLL(4) for (size_t v = 0; v < VECTORS; v++)
        {
            float64x2_t column = vld1q_f64(a + k * P + 2 * v);
            UNROLL(4) for (size_t j = 0; j < ROWS; j++) sum[j][v] = vfmaq_n_f64(sum[j][v], column, b[k * P + j]);
        }
    for (size_t j = 0; j < ROWS; j++)
        for (size_t v = 0; v < VECTORS; v++) vst1q_f64(out + j * column_length + 2 * v, sum[j][v]);
}
#else
static void plain(size_t terms, const double *restrict a, const double *restrict b, double *restrict out,
                  size_t column_length)
{
    double sum[4][P] = {{0}};
    for (size_t k = 0; k < terms; k++)
        for (size_t j = 0; j < 4; j++)
            for (size_t i = 0; i < P; i++) sum[j][i] = gess__fma(a[k * P + i], b[k * P + j], sum[j][i]);
    for (size_t j = 0; j < 4; j++)
        for (size_t i = 0; i < P; i++) out[j * column_length + i] = sum[j][i];
}
#endif

void gess__panel_product(gess__vectors with, size_t panels, size_t terms, const double *a, size_t apart,
                         const double *b, double *out)
{
#ifdef GESS__WIDEST
    if (with != GESS__NO_VECTORS) {
        with_vectors(with, panels, terms, a, apart, b, out);
        return;
    }
#endif
    (void)with;
    for (size_t p = 0; p < panels; p++)
        for (size_t j = 0; j < P; j += 4) plain(terms, a + p * apart, b + j, out + (j * panels + p) * P, panels * P);
}
