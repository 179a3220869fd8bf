/* Plots: contours hold the share of a Gaussian that they should, ticks and errors are as they should be, and what the
 * back ends write can be read again. */
#include "base/rng.h"
#include "plot/axis.h"
#include "plot/deflate.h"
#include "plot/density.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

enum { DRAWS = 200000, FRESH = 100000 };

/* Draws of two normals with correlation 0.8, from -1 on the first and scaled by 3 on the second. */
static void gaussian(uint64_t seed, size_t count, double *x, double *y)
{
    double z[2];
    for (size_t i = 0; i < count; i++) {
        gess__normals((gess__key){.seed = seed, .iteration = i, .purpose = 1}, 2, z);
        x[i] = z[0] - 1.0;
        y[i] = 3.0 * (0.8 * z[0] + 0.6 * z[1]);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void set_view(double *x, size_t count, double *lo, double *hi, double *scale)
{
    qsort(x, count, sizeof *x, compare);
    assert_true(gess__view(x, count, lo, hi));
    *scale = gess__local_scale(x, count);
}

/* The share of the points inside the closed lines of the canvas's only path. */
static double share_inside(const gess__canvas *c, size_t count, const double *x, const double *y)
{
    size_t inside = 0;
    for (size_t i = 0; i < count; i++) {
        int odd = 0;
        size_t first = 0;
        for (size_t k = 0; k < c->vertices; k++) {
            if (c->vertex[k].begins) first = k;
            const gess__vertex *a = &c->vertex[k], *b = a->closes ? &c->vertex[first] : a + 1;
            if ((a->y > y[i]) != (b->y > y[i]) && x[i] < a->x + (y[i] - a->y) / (b->y - a->y) * (b->x - a->x))
                odd = !odd;
        }
        inside += (size_t)odd;
    }
    return (double)inside / (double)count;
}

/* 1 − e^(−1/2) and 1 − e^(−2) of a Gaussian lie within 1σ and 2σ; the standard error of the shares is 0.0015. */
static void test_contours(void **state)
{
    (void)state;
    static const double shares[2] = {0.393469340287367, 0.864664716763387};
    static gess__surface s;
    gess_error err;
    double *x = calloc(DRAWS, sizeof *x), *y = calloc(DRAWS, sizeof *y), *sorted = calloc(DRAWS, sizeof *sorted);
    double *fresh_x = calloc(FRESH, sizeof *fresh_x), *fresh_y = calloc(FRESH, sizeof *fresh_y), level[2], sx, sy;
    gaussian(1, DRAWS, x, y);
    gaussian(2, FRESH, fresh_x, fresh_y);
    memcpy(sorted, x, DRAWS * sizeof *x);
    set_view(sorted, DRAWS, &s.x_lo, &s.x_hi, &sx);
    assert_true(fabs(sx - 1.0) < 0.05);
    memcpy(sorted, y, DRAWS * sizeof *y);
    set_view(sorted, DRAWS, &s.y_lo, &s.y_hi, &sy);
    assert_true(fabs(sy - 3.0) < 0.15);
    gess__surface_fill(&s, DRAWS, x, y, (gess__smoothing){.x_width = 0.15 * sx, .y_width = 0.15 * sy});
    gess__surface_levels(&s, DRAWS, x, y, 2, shares, level, sorted);
    const gess__axis across = {s.x_lo, s.x_hi, s.x_lo, s.x_hi}, up = {s.y_lo, s.y_hi, s.y_lo, s.y_hi};
    for (int k = 0; k < 2; k++) {
        gess__canvas *c = NULL;
        assert_int_equal(gess__canvas_new(&c, 100, 100, "contour", &err), GESS_OK);
        assert_int_equal(gess__contour(c, &s, level[k], &across, &up, &err), GESS_OK);
        double of_draws = share_inside(c, 40000, x, y), of_fresh = share_inside(c, FRESH, fresh_x, fresh_y);
        print_message("%.4f: %.4f of the draws, %.4f of fresh ones\n", shares[k], of_draws, of_fresh);
        assert_true(fabs(of_draws - shares[k]) < 0.01);
        assert_true(fabs(of_fresh - shares[k]) < 0.01);
        /* and the lines are the ellipses: Mahalanobis' distance is k + 1 */
        for (size_t i = 0; i < c->vertices; i++) {
            double a = c->vertex[i].x + 1.0, b = (c->vertex[i].y / 3.0 - 0.8 * a) / 0.6, r = sqrt(a * a + b * b);
            if (c->vertices > 40) assert_true(fabs(r - (k + 1)) < 0.15 * (k + 1));
        }
        gess__canvas_free(c);
    }
    free(x);
    free(y);
    free(sorted);
    free(fresh_x);
    free(fresh_y);
}

/* A contour that runs into the edge of the view is closed along it, and one around two peaks has two parts. */
static void test_edges(void **state)
{
    (void)state;
    static gess__surface s = {.x_lo = 0, .x_hi = 1, .y_lo = 0, .y_hi = 1};
    const gess__axis unit = {0, 1, 0, 1};
    gess_error err;
    gess__canvas *c = NULL;
    for (int row = 0; row < GESS__GRID; row++)
        for (int column = 0; column < GESS__GRID; column++)
            s.value[row * GESS__GRID + column] = column < 20 || (column > 60 && row > 30 && row < 40);
    assert_int_equal(gess__canvas_new(&c, 1, 1, "edges", &err), GESS_OK);
    assert_int_equal(gess__contour(c, &s, 0.5, &unit, &unit, &err), GESS_OK);
    size_t parts = 0, closed = 0;
    for (size_t i = 0; i < c->vertices; i++) {
        parts += c->vertex[i].begins;
        closed += c->vertex[i].closes;
        assert_true(c->vertex[i].x > -0.001 && c->vertex[i].x < 1.001);
    }
    assert_int_equal(parts, 2);
    assert_int_equal(closed, 2);
    const double x[3] = {0.1, 0.5, 0.9}, y[3] = {0.001, 0.44, 0.44};
    assert_true(fabs(share_inside(c, 3, x, y) - 2.0 / 3.0) < 1e-9);
    gess__canvas_free(c);
}

/* Two panels side by side, 5 apart, as in a corner plot: the last number of one and the first of the other, which stand
 * at the ends of their axes, keep apart, and so do all others. */
static void test_axis_labels(void **state)
{
    (void)state;
    const gess__axis axis[2] = {{12.0, 12.61, 10, 70}, {9.9, 40, 75, 125}};
    const double rooms[3] = {1.0, 20.0, -1.0};
    for (int r = 0; r < 3; r++) {
        gess_error err;
        gess__canvas *c = NULL;
        size_t labels = 0, touching = 0;
        double reached = -INFINITY;
        assert_int_equal(gess__canvas_new(&c, 140, 40, "axes", &err), GESS_OK);
        for (int i = 0; i < 2; i++) {
            gess__ticks ticks;
            gess__ticks_of(&ticks, axis[i].lo, axis[i].hi, 4);
            gess__axis_below(c, &axis[i], &ticks, 20, rooms[r]);
        }
        for (size_t i = 0; i < c->ops; i++) {
            if (c->op[i].kind != GESS__OP_TEXT) continue;
            double half = 0.45 * c->op[i].lettering.size * (double)c->op[i].count / 2.0;
            labels++;
            touching += c->op[i].x - half < reached + 1.0;
            reached = c->op[i].x + half;
        }
        if (r == 0) assert_true(labels >= 4 && touching == 0);
        if (r == 1) assert_true(touching == 1); /* with room they would touch */
        if (r == 2) assert_int_equal(labels, 0);
        gess__canvas_free(c);
    }
}

#define MINUS "\xe2\x88\x92"
#define PLUSMINUS "\xc2\xb1 "
#define TIMES10 \
    "\xc3\x97"  \
    "10"

static void check_interval(double low, double middle, double high, const char *value, const char *above,
                           const char *below, const char *power, const char *line)
{
    gess__interval_words w;
    char text[200];
    gess__interval_text(low, middle, high, &w);
    gess__interval_line(&w, text, sizeof text);
    assert_string_equal(w.value, value);
    assert_string_equal(w.above, above);
    assert_string_equal(w.below, below);
    assert_string_equal(w.power, power);
    assert_string_equal(text, line);
}

static void test_intervals(void **state)
{
    (void)state;
    check_interval(0.9, 1.0, 1.2, "1.00", "+0.20", MINUS "0.10", "", "1.00 +0.20 " MINUS "0.10");
    check_interval(1.18, 1.234, 1.288, "1.234", PLUSMINUS "0.054", "", "", "1.234 " PLUSMINUS "0.054");
    check_interval(-3.1, -2.0, 1.0, MINUS "2.0", "+3.0", MINUS "1.1", "", MINUS "2.0 +3.0 " MINUS "1.1");
    check_interval(2.0, 2.0, 2.0, "2", "", "", "", "2");
    check_interval(NAN, NAN, NAN, "NA", "", "", "", "NA");
    /* a power of ten belongs to the value and to its errors */
    check_interval(1.9e7, 2.0e7, 2.2e7, "2.00", "+0.20", MINUS "0.10", TIMES10 "\xe2\x81\xb7",
                   "(2.00 +0.20 " MINUS "0.10)" TIMES10 "\xe2\x81\xb7");
    check_interval(2.1e-7, 3.0e-7, 3.9e-7, "3.00", PLUSMINUS "0.90", "", TIMES10 "\xe2\x81\xbb\xe2\x81\xb7",
                   "(3.00 " PLUSMINUS "0.90)" TIMES10 "\xe2\x81\xbb\xe2\x81\xb7");
    check_interval(-2e7, 0.0, 2e7, "0.0", PLUSMINUS "2.0", "", TIMES10 "\xe2\x81\xb7",
                   "(0.0 " PLUSMINUS "2.0)" TIMES10 "\xe2\x81\xb7");
    /* no power of ten where every digit is known: a date, a large count */
    check_interval(2459123.4439, 2459123.4567, 2459123.4695, "2459123.457", PLUSMINUS "0.013", "", "",
                   "2459123.457 " PLUSMINUS "0.013");
    check_interval(-1e12 - 3.0, -1e12, -1e12 + 2.0, MINUS "1000000000000.0", "+2.0", MINUS "3.0", "",
                   MINUS "1000000000000.0 +2.0 " MINUS "3.0");
    check_interval(123406.0, 123456.0, 123506.0, "123456", PLUSMINUS "50", "", "", "123456 " PLUSMINUS "50");
}

static void test_numbers(void **state)
{
    (void)state;
    gess__ticks t;
    gess__ticks_of(&t, 0.0, 1.0, 5);
    assert_int_equal(t.count, 6);
    assert_string_equal(t.text[1], "0.2");
    assert_string_equal(t.scale, "");
    gess__ticks_of(&t, 1e6, 3e6, 4);
    assert_string_equal(t.text[0], "1.0");
    assert_string_equal(t.scale, " / 10\xe2\x81\xb6");
    gess__ticks_of(&t, 1e9, 1e9 + 4.0, 4);
    assert_true(strstr(t.scale, "1000000000") != NULL);
    gess__ticks_of(&t, 1.0, 1.0, 4);
    assert_int_equal(t.count, 0);
    gess__ticks_of(&t, -3.7, 4.0, 3); /* 0 alone would be no scale */
    assert_int_equal(t.count, 4);
    assert_string_equal(t.text[0], MINUS "2");
    gess__ticks_of(&t, 0.15, 0.97, 3);
    assert_int_equal(t.count, 4);
    assert_string_equal(t.text[0], "0.2");
    assert_true(gess__text_width("iiii", 10.0, false) < gess__text_width("MMMM", 10.0, false));
    const char *text = "\xce\xb8\xff"
                       "a";
    assert_int_equal(gess__next_point(&text), 0x3b8);
    assert_int_equal(gess__next_point(&text), 0xfffd);
    assert_int_equal(gess__next_point(&text), 'a');
}

/* zlib reads what gess__deflate() writes: nothing, noise, runs, and a repetition at the far end of the window. */
static void test_deflate(void **state)
{
    (void)state;
    enum { MOST = 300000 };
    static const size_t sizes[] = {0, 1, 2, 3, 258, 259, 32768, 32769, 100000, MOST};
    unsigned char *bytes = malloc(MOST), *back = malloc(MOST + 1), *packed;
    gess_error err;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int kind = 0; kind < 3; kind++) {
            size_t size = 0;
            uLongf length = MOST + 1;
            for (size_t k = 0; k < sizes[i]; k++) {
                uint32_t noise = (uint32_t)((k % (kind == 2 ? 32768 : MOST)) * 2654435761u);
                bytes[k] = kind == 0 ? (unsigned char)(k / 1000) : (unsigned char)(noise >> 24);
            }
            assert_int_equal(gess__deflate(&packed, &size, bytes, sizes[i], &err), GESS_OK);
            assert_int_equal(uncompress(back, &length, packed, size), Z_OK);
            assert_int_equal(length, sizes[i]);
            assert_memory_equal(back, bytes, sizes[i]);
            if (kind == 0 && sizes[i] > 1000) assert_true(size < sizes[i] / 50);
            free(packed);
        }
    free(bytes);
    free(back);
}

/* A rectangle of half a pixel's width covers half of it; two shapes of opposite turns leave a hole. */
static void test_png(void **state)
{
    (void)state;
    gess_error err;
    gess__canvas *c = NULL;
    char *file = NULL;
    size_t size = 0;
    assert_int_equal(gess__canvas_new(&c, 20, 10, "pixels", &err), GESS_OK);
    gess__rectangle(c, 2.5, 2.0, 4.0, 6.0, gess__filled(0x000000, 1.0));
    gess__move(c, 10, 1);
    gess__line(c, 18, 1);
    gess__line(c, 18, 9);
    gess__line(c, 10, 9);
    gess__close(c);
    gess__move(c, 12, 3);
    gess__line(c, 12, 7);
    gess__line(c, 16, 7);
    gess__line(c, 16, 3);
    gess__close(c);
    gess__paint(c, gess__filled(0xff0000, 1.0));
    FILE *out = open_memstream(&file, &size);
    assert_int_equal(gess__canvas_png(c, 72.0, out, &err), GESS_OK);
    fclose(out);
    unsigned char pixels[10 * 61];
    const unsigned char *bytes = (const unsigned char *)file, *data = bytes + 8 + 25 + 21; /* behind IHDR and pHYs */
    uLong packed = (uLong)data[0] << 24 | (uLong)data[1] << 16 | (uLong)data[2] << 8 | data[3];
    uLongf length = sizeof pixels;
    assert_memory_equal(data + 4, "IDAT", 4);
    assert_int_equal(uncompress(pixels, &length, data + 8, packed), Z_OK);
    assert_int_equal(length, sizeof pixels);
#define PIXEL(x, y, k) pixels[(y)*61 + 1 + 3 * (x) + (k)]
    assert_int_equal(PIXEL(1, 5, 0), 255);
    assert_true(abs(PIXEL(2, 5, 0) - 128) <= 1);
    assert_int_equal(PIXEL(4, 5, 0), 0);
    assert_true(abs(PIXEL(6, 5, 0) - 128) <= 1);
    assert_int_equal(PIXEL(4, 1, 0), 255);
    assert_int_equal(PIXEL(11, 5, 1), 0);
    assert_int_equal(PIXEL(11, 5, 0), 255);
    assert_int_equal(PIXEL(14, 5, 1), 255); /* the hole */
    gess__canvas_free(c);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contours),    cmocka_unit_test(test_edges),
                                       cmocka_unit_test(test_axis_labels), cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_intervals),   cmocka_unit_test(test_deflate),
                                       cmocka_unit_test(test_png)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
