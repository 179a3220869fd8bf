/* Rank plots: how the draws of each chain rank among all draws of the parameter, in twenty bins. Where chains agree,
 * all bins are equally full: flat lines, or, beyond four chains, an even picture. Vehtari et al. (2021). */
#include "base/mem.h"
#include "base/sort.h"
#include "base/vmath.h"
#include "plot/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 20, LINES = 4, MAX_ROWS = 24 };
#define SIZE 118.0

typedef struct ranks {
    size_t rows, group;
    double *count;  /* rows × BINS */
    double *sorted; /* of all draws */
    size_t finite;
} ranks;

static size_t below(const double *sorted, size_t n, double v, bool inclusive)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < v || (inclusive && sorted[middle] == v))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Equal draws share their middle rank. */
static void fill_counts(ranks *r, const gess__plotted *p)
{
    r->finite = 0;
    for (size_t i = 0; i < p->chains * p->draws; i++)
        if (isfinite(p->x[i])) r->sorted[r->finite++] = p->x[i];
    gess__sort(r->finite, r->sorted);
    memset(r->count, 0, r->rows * BINS * sizeof *r->count);
    for (size_t chain = 0; chain < p->chains; chain++)
        for (size_t i = 0; i < p->draws; i++) {
            double v = p->x[chain * p->draws + i];
            if (!isfinite(v)) continue;
            size_t a = below(r->sorted, r->finite, v, false), b = below(r->sorted, r->finite, v, true);
            size_t bin = (size_t)(0.5 * (double)(a + b) / (double)r->finite * BINS);
            r->count[chain / r->group * BINS + (bin < BINS ? bin : BINS - 1)] += 1.0;
        }
}

static void draw_lines(gess__canvas *c, const ranks *r, double left, double top)
{
    double most = 0.0;
    for (size_t i = 0; i < r->rows * BINS; i++)
        if (r->count[i] > most) most = r->count[i];
    if (!(most > 0.0)) return;
    double bottom = top + SIZE, scale = 0.92 * SIZE / most;
    double expected = (double)r->finite / (double)(r->rows * BINS) * scale;
    gess__segment_line(c, left, bottom - expected, left + SIZE, bottom - expected,
                       gess__stroked(GESS__QUIET, 1.0, 0.7, 2.5));
    for (size_t row = 0; row < r->rows; row++) {
        for (size_t b = 0; b <= BINS; b++) {
            double x = left + SIZE * (double)b / BINS;
            if (b > 0) gess__line(c, x, bottom - r->count[row * BINS + b - 1] * scale);
            if (b < BINS) gess__line(c, x, bottom - r->count[row * BINS + b] * scale);
        }
        gess__paint(c, gess__stroked(gess__hues[row % GESS__HUES], 0.9, 1.1, 0.0));
    }
}

/* Blue: more draws of that rank than expected, orange: fewer; pale as far as chance makes such differences, for as many
 * draws as they are worth. */
static void draw_picture(gess__canvas *c, const ranks *r, const gess__plotted *p, double left, double top)
{
    double width = SIZE / BINS, height = SIZE / (double)r->rows, all = (double)(p->chains * p->draws * p->step);
    double worth = p->ess > 0.0 && p->ess < all ? p->ess / all * (double)p->step : 1.0;
    if (worth > 1.0) worth = 1.0;
    for (size_t row = 0; row < r->rows; row++) {
        double total = 0.0;
        for (size_t b = 0; b < BINS; b++) total += r->count[row * BINS + b];
        double expected = total / BINS;
        for (size_t b = 0; b < BINS && expected > 0.0; b++) {
            double z = (r->count[row * BINS + b] - expected) * sqrt(worth / expected), share = fabs(z) / 6.0;
            share = share < 1.0 ? 0.03 + 0.97 * share * sqrt(share) : 1.0;
            gess__rectangle(c, left + (double)b * width, top + (double)row * height, width, height,
                            gess__filled(z < 0.0 ? GESS__ORANGE : GESS__BLUE, share < 1.0 ? share : 1.0));
        }
    }
}

static void draw_panel(gess__canvas *c, const ranks *r, const gess__plotted *p, double left, double top)
{
    char name[200];
    gess__ticks ticks;
    gess__axis x = {0.0, 100.0, left, left + SIZE};
    gess__fit_name(name, sizeof name, p->name, "", SIZE, 9.0);
    gess__text(c, left, top - 5.0, gess__letters(9.0, GESS__START, GESS__INK), name);
    gess__canvas_clip(c, left, top, SIZE, SIZE);
    if (r->rows <= LINES)
        draw_lines(c, r, left, top);
    else
        draw_picture(c, r, p, left, top);
    gess__canvas_unclip(c);
    gess__ticks_of(&ticks, 0.0, 100.0, 4);
    gess__axis_below(c, &x, &ticks, top + SIZE, 20.0);
    gess__rectangle(c, left, top, SIZE, SIZE, gess__stroked(GESS__FRAME, 1.0, 0.6, 0.0));
}

int gess__plot_ranks(gess__canvas **canvas, const gess__figure *f, gess_error *err)
{
    const gess__plotted *first = f->parameter;
    size_t columns = f->count < 4 ? f->count : 4, rows = (f->count + columns - 1) / columns;
    double left = 14.0, top = 20.0, x_pitch = SIZE + 18.0, y_pitch = SIZE + 34.0;
    ranks r = {.group = (first->chains + MAX_ROWS - 1) / MAX_ROWS};
    r.rows = (first->chains + r.group - 1) / r.group;
    GESS_TRY(
        gess__canvas_new(canvas, left + (double)columns * x_pitch, top + (double)rows * y_pitch + 8.0, f->title, err));
    int status = gess__alloc_bytes(&r.count, r.rows * BINS, sizeof *r.count, "ranks", err);
    if (status == GESS_OK)
        status = gess__alloc_bytes(&r.sorted, first->chains * first->draws + 1, sizeof *r.sorted, "sorted draws", err);
    for (size_t i = 0; status == GESS_OK && i < f->count; i++) {
        size_t row = i / columns;
        fill_counts(&r, &f->parameter[i]);
        draw_panel(*canvas, &r, &f->parameter[i], left + (double)(i % columns) * x_pitch, top + (double)row * y_pitch);
    }
    const char *what =
        r.rows <= LINES ? "rank among all draws, %; a line per chain, dashed: expected"
        : r.group == 1
            ? "rank among all draws, %; a row per chain; blue: more draws than expected, orange: fewer"
            : "rank among all draws, %; a row per group of chains; blue: more draws than expected, orange: fewer";
    gess__text(*canvas, left, top + (double)rows * y_pitch, gess__letters(8.0, GESS__START, GESS__QUIET), what);
    free(r.count);
    free(r.sorted);
    if (status == GESS_OK) return GESS_OK;
    gess__canvas_free(*canvas);
    *canvas = NULL;
    return status;
}
