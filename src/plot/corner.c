/* The corner plot: marginal histograms on the diagonal with quantile lines, priors and true values; below it the joint
 * densities with contours that contain 39.3 % and 86.5 % of the draws, which are 1σ and 2σ of a Gaussian in two
 * dimensions. */
#include "base/mem.h"
#include "base/sort.h"
#include "base/vmath.h"
#include "plot/axis.h"
#include "plot/density.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 40, MAX_DOTS = 1200 };
static const double shares[2] = {0.393469340287367, 0.864664716763387}; /* 1 − e^(−1/2), 1 − e^(−2) */

#define GAP 5.0
#define LABEL_ROOM 1.0 /* labels of neighbouring panels stay apart */

/* A parameter on its axis. */
typedef struct side {
    const gess__plotted *p;
    double *sorted;
    size_t finite;
    bool good; /* there is something to draw */
    double lo, hi, scale;
    gess__ticks ticks;
} side;

typedef struct corner {
    const gess__figure *figure;
    gess__canvas *canvas;
    side *side;
    double *x, *y, *scratch; /* draws that are finite in both parameters */
    gess__surface *surface;
    double left, top, panel, pitch;
} corner;

static size_t all_draws(const gess__plotted *p)
{
    return p->chains * p->draws;
}

static gess__axis axis_of(const side *s, double from, double to)
{
    return (gess__axis){s->lo, s->hi, from, to};
}

/* The range of a parameter, wide enough to show its true value if that is near. */
static int prepare(side *s, const gess__plotted *p, gess_error *err)
{
    s->p = p;
    GESS_ALLOC(&s->sorted, all_draws(p) + 1, err);
    for (size_t i = 0; i < all_draws(p); i++)
        if (isfinite(p->x[i])) s->sorted[s->finite++] = p->x[i];
    gess__sort(s->finite, s->sorted);
    s->good = gess__view(s->sorted, s->finite, &s->lo, &s->hi);
    if (!s->good) return GESS_OK;
    s->scale = gess__local_scale(s->sorted, s->finite);
    double range = s->hi - s->lo;
    if (p->truth < s->lo && p->truth > s->lo - 1.5 * range) s->lo = p->truth - 0.05 * range;
    if (p->truth > s->hi && p->truth < s->hi + 1.5 * range) s->hi = p->truth + 0.05 * range;
    gess__ticks_of(&s->ticks, s->lo, s->hi, 5);
    return GESS_OK;
}

static void frame(gess__canvas *c, double x, double y, double size)
{
    gess__rectangle(c, x, y, size, size, gess__stroked(GESS__FRAME, 1.0, 0.7, 0.0));
}

/* ---- the diagonal ---- */

static void draw_histogram(gess__canvas *c, const side *s, const gess__axis *x, double bottom, double per_density)
{
    double counts[BINS] = {0}, width = (s->hi - s->lo) / BINS;
    for (size_t i = 0; i < s->finite; i++) {
        double at = (s->sorted[i] - s->lo) / width;
        if (at >= 0.0 && at <= BINS) counts[at < BINS ? (size_t)at : BINS - 1] += 1.0;
    }
    const gess__pen pens[2] = {gess__filled(GESS__BLUE, 0.22), gess__stroked(GESS__BLUE, 1.0, 1.1, 0.0)};
    for (int pass = 0; pass < 2; pass++) {
        gess__move(c, x->from, bottom);
        for (size_t b = 0; b < BINS; b++) {
            double y = bottom - counts[b] / ((double)s->finite * width) * per_density;
            gess__line(c, gess__place(x, s->lo + (double)b * width), y);
            gess__line(c, gess__place(x, s->lo + (double)(b + 1) * width), y);
        }
        gess__line(c, x->to, bottom);
        gess__paint(c, pens[pass]);
    }
}

static double highest_density(const side *s)
{
    double counts[BINS] = {0}, width = (s->hi - s->lo) / BINS, most = 0.0;
    for (size_t i = 0; i < s->finite; i++) {
        double at = (s->sorted[i] - s->lo) / width;
        if (at >= 0.0 && at <= BINS) counts[at < BINS ? (size_t)at : BINS - 1] += 1.0;
    }
    for (size_t b = 0; b < BINS; b++)
        if (counts[b] > most) most = counts[b];
    return most > 0.0 ? most / ((double)s->finite * width) : 1.0;
}

static void draw_prior(gess__canvas *c, const gess__plotted *p, const gess__axis *x, double bottom, double per_density)
{
    if (p->prior_points == 0) return;
    for (size_t i = 0; i < p->prior_points; i++)
        gess__line(c, gess__place(x, p->prior_x[i]), bottom - p->prior_density[i] * per_density);
    gess__paint(c, gess__stroked(GESS__GREEN, 1.0, 1.1, 3.0));
}

static void draw_marginal(corner *k, size_t at)
{
    gess__canvas *c = k->canvas;
    const side *s = &k->side[at];
    double left = k->left + (double)at * k->pitch, top = k->top + (double)at * k->pitch, bottom = top + k->panel;
    gess__axis x = axis_of(s, left, left + k->panel);
    if (s->good) {
        double per_density = 0.9 * k->panel / highest_density(s), lines[3];
        gess__canvas_clip(c, left, top, k->panel, k->panel);
        draw_histogram(c, s, &x, bottom, per_density);
        draw_prior(c, s->p, &x, bottom, per_density);
        gess__plotted_interval(s->p, k->figure->moments, &lines[0], &lines[1], &lines[2]);
        for (int i = 0; i < 3; i++)
            if (isfinite(lines[i]))
                gess__segment_line(c, gess__place(&x, lines[i]), top, gess__place(&x, lines[i]), bottom,
                                   gess__stroked(GESS__INK, 0.8, 0.8, i == 1 ? 0.0 : 2.5));
        if (isfinite(s->p->truth))
            gess__segment_line(c, gess__place(&x, s->p->truth), top, gess__place(&x, s->p->truth), bottom,
                               gess__stroked(GESS__ORANGE, 1.0, 1.1, 0.0));
        gess__canvas_unclip(c);
        gess__axis_below(c, &x, &s->ticks, bottom, at + 1 == k->figure->count ? LABEL_ROOM : -1.0);
    }
    frame(c, left, top, k->panel);
    gess__interval_title(c, left + k->panel / 2.0, top - 6.0, k->pitch + 4.0, s->p, k->figure->moments);
}

/* ---- below it ---- */

/* The draws that are finite in both parameters. Both were read with the same step. */
static size_t pairs(const corner *k, const side *a, const side *b)
{
    size_t n = all_draws(a->p), count = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(a->p->x[i]) || !isfinite(b->p->x[i])) continue;
        k->x[count] = a->p->x[i];
        k->y[count++] = b->p->x[i];
    }
    return count;
}

/* A little more than Scott's rule in two dimensions, for as many draws as they are worth. */
static double bandwidth(const side *s, double worth, size_t count)
{
    double n = isfinite(worth) && worth < (double)count ? worth : (double)count;
    return 1.2 * s->scale * gess__exp(-gess__log(n < 20.0 ? 20.0 : n) / 6.0);
}

static void draw_dots(corner *k, size_t count, double level, const gess__axis *x, const gess__axis *y)
{
    gess__canvas *c = k->canvas;
    size_t step = (size_t)((double)count * (1.0 - shares[1])) / MAX_DOTS + 1, outside = 0;
    for (size_t i = 0; i < count; i++) {
        if (gess__surface_at(k->surface, k->x[i], k->y[i]) >= level || outside++ % step != 0) continue;
        double px = gess__place(x, k->x[i]), py = gess__place(y, k->y[i]), r = 0.45;
        gess__move(c, px - r, py);
        gess__line(c, px, py - r);
        gess__line(c, px + r, py);
        gess__line(c, px, py + r);
        gess__close(c);
    }
    gess__paint(c, gess__filled(GESS__BLUE, 0.45));
}

static int draw_joint(corner *k, const side *a, const side *b, const gess__axis *x, const gess__axis *y,
                      gess_error *err)
{
    static const double fills[2] = {0.32, 0.16};
    size_t count = pairs(k, a, b);
    double level[2], worth = a->p->ess < b->p->ess ? a->p->ess : b->p->ess;
    if (count < 10) return GESS_OK;
    *k->surface = (gess__surface){.x_lo = a->lo, .x_hi = a->hi, .y_lo = b->lo, .y_hi = b->hi};
    gess__surface_fill(k->surface, count, k->x, k->y,
                       (gess__smoothing){.x_width = bandwidth(a, worth, count),
                                         .y_width = bandwidth(b, worth, count),
                                         .x_low = a->lo <= a->sorted[0],
                                         .x_high = a->hi >= a->sorted[a->finite - 1],
                                         .y_low = b->lo <= b->sorted[0],
                                         .y_high = b->hi >= b->sorted[b->finite - 1]});
    gess__surface_levels(k->surface, count, k->x, k->y, 2, shares, level, k->scratch);
    draw_dots(k, count, level[1], x, y);
    for (int i = 1; i >= 0; i--) {
        GESS_TRY(gess__contour(k->canvas, k->surface, level[i], x, y, err));
        gess__pen pen = gess__stroked(GESS__BLUE, 1.0, i == 0 ? 1.1 : 0.8, 0.0);
        pen.fill = (gess__ink){GESS__BLUE, fills[i]};
        gess__paint(k->canvas, pen);
    }
    return GESS_OK;
}

static void draw_truths(gess__canvas *c, const side *a, const side *b, const gess__axis *x, const gess__axis *y)
{
    const gess__pen line = gess__stroked(GESS__ORANGE, 0.9, 0.9, 0.0);
    double px = gess__place(x, a->p->truth), py = gess__place(y, b->p->truth);
    if (isfinite(a->p->truth)) gess__segment_line(c, px, y->from, px, y->to, line);
    if (isfinite(b->p->truth)) gess__segment_line(c, x->from, py, x->to, py, line);
    if (isfinite(a->p->truth) && isfinite(b->p->truth))
        gess__rectangle(c, px - 2.0, py - 2.0, 4.0, 4.0, gess__filled(GESS__ORANGE, 1.0));
}

static int draw_pair(corner *k, size_t row, size_t column, gess_error *err)
{
    gess__canvas *c = k->canvas;
    const side *a = &k->side[column], *b = &k->side[row];
    double left = k->left + (double)column * k->pitch, top = k->top + (double)row * k->pitch;
    gess__axis x = axis_of(a, left, left + k->panel), y = axis_of(b, top + k->panel, top);
    int status = GESS_OK;
    if (a->good && b->good) {
        gess__canvas_clip(c, left, top, k->panel, k->panel);
        status = draw_joint(k, a, b, &x, &y, err);
        draw_truths(c, a, b, &x, &y);
        gess__canvas_unclip(c);
    }
    if (a->good) gess__axis_below(c, &x, &a->ticks, top + k->panel, row + 1 == k->figure->count ? LABEL_ROOM : -1.0);
    if (b->good) gess__axis_left(c, &y, &b->ticks, left, column == 0);
    frame(c, left, top, k->panel);
    return status;
}

static void draw_names(corner *k)
{
    size_t n = k->figure->count;
    char text[200];
    for (size_t i = 0; i < n; i++) {
        const side *s = &k->side[i];
        double middle = (double)i * k->pitch + k->panel / 2.0;
        gess__fit_name(text, sizeof text, s->p->name, s->ticks.scale, k->pitch, 9.0);
        gess__text(k->canvas, k->left + middle, k->top + (double)(n - 1) * k->pitch + k->panel + 22.0,
                   gess__letters(9.0, GESS__MIDDLE, GESS__INK), text);
        if (i == 0) continue;
        gess__lettering l = gess__letters(9.0, GESS__MIDDLE, GESS__INK);
        l.upwards = true;
        gess__text(k->canvas, 11.0, k->top + middle, l, text);
    }
}

static void draw_key(corner *k)
{
    bool truths = false, priors = false;
    size_t n = k->figure->count;
    for (size_t i = 0; i < n; i++) {
        truths |= isfinite(k->side[i].p->truth) != 0;
        priors |= k->side[i].p->prior_points > 0;
    }
    double right = k->left + (double)(n - 1) * k->pitch + k->panel, y = k->top + 8.0;
    if (n < 3) return;
    const struct {
        const char *text;
        bool shown;
        gess__pen pen;
    } keys[] = {{k->figure->moments ? "mean \xc2\xb1 standard deviation" : "median and 68 % interval", true,
                 gess__stroked(GESS__INK, 0.8, 0.8, 2.5)},
                {"1\xcf\x83 and 2\xcf\x83: 39 % and 86 % of the draws", true, gess__stroked(GESS__BLUE, 1.0, 1.1, 0.0)},
                {"true value", truths, gess__stroked(GESS__ORANGE, 1.0, 1.1, 0.0)},
                {"prior", priors, gess__stroked(GESS__GREEN, 1.0, 1.1, 3.0)}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!keys[i].shown) continue;
        gess__text(k->canvas, right - 24.0, y, gess__letters(8.0, GESS__END, GESS__QUIET), keys[i].text);
        gess__segment_line(k->canvas, right - 20.0, y - 2.5, right, y - 2.5, keys[i].pen);
        y += 12.0;
    }
}

static int draw(corner *k, gess_error *err)
{
    size_t n = k->figure->count, draws = all_draws(k->figure->parameter);
    GESS_ALLOC(&k->side, n, err);
    GESS_ALLOC(&k->x, draws + 1, err);
    GESS_ALLOC(&k->y, draws + 1, err);
    GESS_ALLOC(&k->scratch, draws + 1, err);
    GESS_ALLOC(&k->surface, 1, err);
    for (size_t i = 0; i < n; i++) GESS_TRY(prepare(&k->side[i], &k->figure->parameter[i], err));
    for (size_t row = 0; row < n; row++) {
        for (size_t column = 0; column < row; column++) GESS_TRY(draw_pair(k, row, column, err));
        draw_marginal(k, row);
    }
    draw_names(k);
    draw_key(k);
    return GESS_OK;
}

int gess__plot_corner(gess__canvas **canvas, const gess__figure *figure, gess_error *err)
{
    size_t n = figure->count;
    corner k = {.figure = figure,
                .left = 46.0,
                .top = 30.0,
                .panel = n == 1   ? 220.0
                         : n <= 3 ? 130.0
                         : n <= 6 ? 94.0
                                  : 74.0};
    k.pitch = k.panel + GAP;
    double side_length = (double)n * k.pitch - GAP;
    GESS_TRY(gess__canvas_new(&k.canvas, k.left + side_length + 14.0, k.top + side_length + 30.0, figure->title, err));
    int status = draw(&k, err);
    for (size_t i = 0; k.side != NULL && i < n; i++) free(k.side[i].sorted);
    free(k.side);
    free(k.x);
    free(k.y);
    free(k.scratch);
    free(k.surface);
    if (status != GESS_OK) gess__canvas_free(k.canvas);
    *canvas = status == GESS_OK ? k.canvas : NULL;
    return status;
}
