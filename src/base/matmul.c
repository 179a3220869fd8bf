/* Packs parts of two matrices into panels, multiplies the panels, and adds the results to a third matrix. */
#include "base/matmul.h"

#include "base/panels.h"
#include "base/vmath.h"

enum {
    P = GESS__PANEL,
    RUN = GESS__MATMUL_RUN,
    HEIGHT = 9, /* panels of A that are packed at a time */
    APART = RUN * P
};

typedef double four __attribute__((vector_size(32)));

typedef uint64_t mask __attribute__((vector_size(32)));

/* Rows of a matrix whose columns are contiguous. */
GESS__INLINE void pack_columns(const double *restrict from, size_t step, size_t terms, double *restrict panel)
{
    for (size_t k = 0; k < terms; k++)
        for (size_t h = 0; h < P; h += 4) {
            four some;
            memcpy(&some, from + k * step + h, sizeof some);
            memcpy(panel + k * P + h, &some, sizeof some);
        }
}

/* The same for the last count < P rows: reads whole vectors as long as they end within the matrix, and clears what is
 * past the rows. Returns the number of terms that it has packed. */
GESS__INLINE size_t pack_tails(const double *restrict from, size_t step, size_t count, size_t terms,
                               double *restrict panel)
{
    uint64_t keep[P];
    mask low, high;
    for (size_t i = 0; i < P; i++) keep[i] = i < count ? UINT64_MAX : 0;
    memcpy(&low, keep, sizeof low);
    memcpy(&high, keep + P / 2, sizeof high);
    size_t length = (terms - 1) * step + count, k = 0;
    for (; k * step + P <= length; k++) {
        mask left, right;
        memcpy(&left, from + k * step, sizeof left);
        memcpy(&right, from + k * step + P / 2, sizeof right);
        left &= low;
        right &= high;
        memcpy(panel + k * P, &left, sizeof left);
        memcpy(panel + k * P + P / 2, &right, sizeof right);
    }
    return k;
}

/* `count` rows, terms `start` … of each; rows past the last are 0. */
static GESS__VECTOR(pack,
                    (gess__matrix_rows m, size_t first, size_t count, size_t start, size_t terms,
                     double *restrict panel),
                    (m, first, count, start, terms, panel))
{
    const double *from = m.numbers + first * m.apart + start * m.step;
    if (count == P && m.apart == 1) {
        pack_columns(from, m.step, terms, panel);
        return;
    }
    if (count == P && m.step == 1) {
        for (size_t k = 0; k < terms; k++)
            for (size_t i = 0; i < P; i++) panel[k * P + i] = from[i * m.apart + k];
        return;
    }
    for (size_t k = m.apart == 1 ? pack_tails(from, m.step, count, terms, panel) : 0; k < terms; k++) {
        for (size_t i = 0; i < count; i++) panel[k * P + i] = from[i * m.apart + k * m.step];
        for (size_t i = count; i < P; i++) panel[k * P + i] = 0.0;
    }
}

/* Adds `height` rows and `width` columns of sums, which are `length` long, to C from element (i, j) on. */
static GESS__VECTOR(add_sums,
                    (const gess__matmul_job *job, size_t i, size_t j, size_t height, size_t width,
                     const double *restrict sums, size_t length),
                    (job, i, j, height, width, sums, length))
{
    const double sign = job->subtract ? -1.0 : 1.0;
    for (size_t column = 0; column < width; column++) {
        double *restrict to = job->c + (j + column) * job->stride + i;
        const double *restrict from = sums + column * length;
        size_t top = job->lower && j + column > i ? j + column - i : 0;
        if (top == 0 && height == length)
            for (size_t row = 0; row < length; row++) to[row] += sign * from[row];
        else
            for (size_t row = top; row < height; row++) to[row] += sign * from[row];
    }
}

/* Rows i … of C, whose rows of A are packed, and columns j …, whose rows of B are. */
static void multiply(gess__vectors with, const gess__matmul_job *job, size_t i, size_t height, size_t j, size_t terms,
                     const double *a, const double *b)
{
    double sums[GESS__MAX_PANELS * P * P];
    size_t panels = (height + P - 1) / P, p = job->lower && j > i ? (j - i) / P : 0;
    size_t width = job->columns - j < P ? job->columns - j : P;
    while (p < panels) {
        size_t some = panels - p < GESS__MAX_PANELS ? panels - p : GESS__MAX_PANELS;
        if (panels - p == GESS__MAX_PANELS + 1) some = 2;
        size_t rows = height - p * P < some * P ? height - p * P : some * P;
        gess__panel_product(with, some, terms, a + p * APART, APART, b, sums);
        add_sums(job, i + p * P, j, rows, width, sums, some * P);
        p += some;
    }
}

/* One run of terms, all of C. */
static void add_run(gess__vectors with, const gess__matmul_job *job, size_t start, size_t terms, double *a, double *b)
{
    size_t panels = (job->rows + P - 1) / P, parts = (panels + HEIGHT - 1) / HEIGHT;
    for (size_t part = 0; part < parts; part++) {
        size_t i = part * panels / parts * P, end = (part + 1) * panels / parts * P;
        if (end > job->rows) end = job->rows;
        for (size_t row = i; row < end; row += P)
            pack(job->a, row, end - row < P ? end - row : P, start, terms, a + (row - i) / P * APART);
        size_t columns = job->lower ? end : job->columns;
        for (size_t j = 0; j < columns; j += P) {
            const double *packed = b;
            if (job->lower && j >= i)
                packed = a + (j - i) / P * APART;
            else
                pack(job->b, j, job->columns - j < P ? job->columns - j : P, start, terms, b);
            multiply(with, job, i, end - i, j, terms, a, packed);
        }
    }
}

void gess__matmul_with(gess__vectors with, const gess__matmul_job *job)
{
    _Alignas(64) double a[HEIGHT * APART], b[APART];
    for (size_t start = 0; start < job->terms; start += RUN)
        add_run(with, job, start, job->terms - start < RUN ? job->terms - start : RUN, a, b);
}

void gess__matmul(const gess__matmul_job *job)
{
    gess__matmul_with(gess__machine_vectors, job);
}
