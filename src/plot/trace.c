/* All traces at a glance: a small panel per parameter with some of its chains, and the marginal density beside it, a
 * curve per chain. */
#include "base/mem.h"
#include "base/sort.h"
#include "base/vmath.h"
#include "plot/axis.h"
#include "plot/density.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_CHAINS = 8, MAX_POINTS = 400, BINS = 60 };
#define WIDTH 168.0
#define SIDE 34.0
#define HEIGHT 44.0

typedef struct grid {
    size_t columns, rows;
    double left, top, x_pitch, y_pitch;
} grid;

static grid grid_for(size_t count)
{
    grid g = {.columns = count < 3 ? count : 3,
              .left = 34.0,
              .top = 20.0,
              .x_pitch = WIDTH + SIDE + 44.0,
              .y_pitch = HEIGHT + 34.0};
    g.rows = (count + g.columns - 1) / g.columns;
    return g;
}

static void draw_chain(gess__canvas *c, const gess__plotted *p, size_t chain, uint32_t hue, const gess__axis *x,
                       const gess__axis *y)
{
    size_t step = (p->draws + MAX_POINTS - 1) / MAX_POINTS;
    bool begins = true;
    for (size_t i = 0; i < p->draws; i += step) {
        double value = p->x[chain * p->draws + i];
        if (!isfinite(value)) {
            begins = true;
            continue;
        }
        double px = gess__place(x, (double)(i * p->step + 1)), py = gess__place(y, value);
        if (begins)
            gess__move(c, px, py);
        else
            gess__line(c, px, py);
        begins = false;
    }
    gess__paint(c, gess__stroked(hue, 0.75, 0.5, 0.0));
}

/* The density of one chain, lying on its side. */
static void draw_density(gess__canvas *c, const gess__plotted *p, size_t chain, uint32_t hue, double left,
                         const gess__axis *y)
{
    double counts[BINS] = {0}, smooth[BINS], most = 0.0, width = (y->hi - y->lo) / BINS;
    for (size_t i = 0; i < p->draws; i++) {
        double at = (p->x[chain * p->draws + i] - y->lo) / width;
        if (at >= 0.0 && at <= BINS) counts[at < BINS ? (size_t)at : BINS - 1] += 1.0;
    }
    double h = p->draws > 2000 ? 1.2 : 2.4;
    for (int i = 0; i < BINS; i++) {
        smooth[i] = 0.0;
        for (int j = 0; j < BINS; j++) smooth[i] += counts[j] * gess__exp(-0.5 * (double)((i - j) * (i - j)) / (h * h));
        if (smooth[i] > most) most = smooth[i];
    }
    if (!(most > 0.0)) return;
    for (int i = 0; i < BINS; i++)
        gess__line(c, left + 0.92 * SIDE * smooth[i] / most, gess__place(y, y->lo + (i + 0.5) * width));
    gess__paint(c, gess__stroked(hue, 0.85, 0.8, 0.0));
}

/* Chains that are spread evenly, the last one of each part. */
static size_t chain_number(const gess__plotted *p, size_t i, size_t shown)
{
    return i * p->chains / shown;
}

static void draw_panel(gess__canvas *c, const gess__plotted *p, double left, double top, const double *sorted,
                       size_t finite)
{
    gess__axis x = {1.0, (double)(p->draws * p->step) + 1e-9, left, left + WIDTH}, y = {0.0, 0.0, top + HEIGHT, top};
    gess__ticks across, up = {.count = 0};
    char name[200], note[64] = "";
    size_t shown = p->chains < MAX_CHAINS ? p->chains : MAX_CHAINS;
    if (isfinite(p->r_hat)) snprintf(note, sizeof note, "R-hat %.3f, ESS %.0f", p->r_hat, p->ess);
    bool good = gess__view(sorted, finite, &y.lo, &y.hi);
    if (good) gess__ticks_of(&up, y.lo, y.hi, 3);
    gess__fit_name(name, sizeof name, p->name, up.scale, WIDTH + SIDE - gess__text_width(note, 7.5, false) - 8.0, 9.0);
    gess__text(c, left, top - 5.0, gess__letters(9.0, GESS__START, GESS__INK), name);
    gess__text(c, left + WIDTH + SIDE, top - 5.0,
               gess__letters(7.5, GESS__END, p->doubtful ? GESS__ORANGE : GESS__QUIET), note);
    if (good) {
        gess__canvas_clip(c, left, top, WIDTH + SIDE, HEIGHT);
        for (size_t i = 0; i < shown; i++)
            draw_chain(c, p, chain_number(p, i, shown), gess__hues[i % GESS__HUES], &x, &y);
        for (size_t i = 0; i < shown; i++)
            draw_density(c, p, chain_number(p, i, shown), gess__hues[i % GESS__HUES], left + WIDTH, &y);
        if (isfinite(p->truth))
            gess__segment_line(c, left, gess__place(&y, p->truth), left + WIDTH + SIDE, gess__place(&y, p->truth),
                               gess__stroked(GESS__INK, 1.0, 0.8, 2.0));
        gess__canvas_unclip(c);
        gess__axis_left(c, &y, &up, left, true);
    }
    gess__ticks_of(&across, x.lo, x.hi, 4);
    gess__axis_below(c, &x, &across, top + HEIGHT, 20.0);
    gess__rectangle(c, left, top, WIDTH, HEIGHT, gess__stroked(GESS__FRAME, 1.0, 0.6, 0.0));
    gess__segment_line(c, left + WIDTH, top + HEIGHT, left + WIDTH + SIDE, top + HEIGHT,
                       gess__stroked(GESS__FRAME, 1.0, 0.6, 0.0));
}

int gess__plot_trace(gess__canvas **canvas, const gess__figure *figure, gess_error *err)
{
    grid g = grid_for(figure->count);
    GESS_TRY(gess__canvas_new(canvas, g.left + (double)g.columns * g.x_pitch - 30.0,
                              g.top + (double)g.rows * g.y_pitch - 8.0, figure->title, err));
    double *sorted = NULL;
    size_t all = figure->parameter[0].chains * figure->parameter[0].draws;
    int status = gess__alloc_bytes(&sorted, all + 1, sizeof *sorted, "sorted draws", err);
    for (size_t i = 0; status == GESS_OK && i < figure->count; i++) {
        size_t finite = 0, row = i / g.columns;
        for (size_t k = 0; k < all; k++)
            if (isfinite(figure->parameter[i].x[k])) sorted[finite++] = figure->parameter[i].x[k];
        gess__sort(finite, sorted);
        draw_panel(*canvas, &figure->parameter[i], g.left + (double)(i % g.columns) * g.x_pitch,
                   g.top + (double)row * g.y_pitch, sorted, finite);
    }
    free(sorted);
    if (status == GESS_OK) return GESS_OK;
    gess__canvas_free(*canvas);
    *canvas = NULL;
    return status;
}
