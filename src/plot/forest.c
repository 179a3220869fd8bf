/* The forest plot: a row per parameter with its interval, thick 68 %, thin 90 %, the numbers beside it and R-hat at the
 * end. Parameters of one size share an axis; others are each drawn on a scale of their own, in standard deviations. */
#include "plot/axis.h"

#include <math.h>

#define ROW 15.0
#define NAMES 120.0
#define PLOT 250.0
#define NUMBERS 96.0
#define MARK 3.4 /* half a diamond */

/* Whether one axis can show all intervals: half of them are at least a fortieth of it. */
static bool share_axis(const gess__figure *f, gess__axis *axis)
{
    size_t wide = 0, count = 0;
    axis->lo = INFINITY;
    axis->hi = -INFINITY;
    for (size_t i = 0; i < f->count; i++) {
        const gess__plotted *p = &f->parameter[i];
        if (!isfinite(p->q5) || !isfinite(p->q95)) continue;
        axis->lo = p->q5 < axis->lo ? p->q5 : axis->lo;
        axis->hi = p->q95 > axis->hi ? p->q95 : axis->hi;
        if (p->truth < axis->lo) axis->lo = p->truth;
        if (p->truth > axis->hi) axis->hi = p->truth;
    }
    double range = axis->hi - axis->lo;
    for (size_t i = 0; i < f->count; i++) {
        const gess__plotted *p = &f->parameter[i];
        if (!isfinite(p->q5) || !isfinite(p->q95) || !(p->q95 > p->q5)) continue;
        count++;
        wide += p->q95 - p->q5 > 0.025 * range;
    }
    if (!(range > 0.0) || !isfinite(range) || 2 * wide < count) return false;
    axis->lo -= 0.03 * range;
    axis->hi += 0.03 * range;
    return true;
}

/* Where a value is drawn: itself, or its distance from the middle in units of half the 68 % interval. */
static double scaled(const gess__plotted *p, bool shared, bool moments, double value)
{
    double low, middle, high;
    if (shared) return value;
    gess__plotted_interval(p, moments, &low, &middle, &high);
    return high > low ? (value - middle) / (0.5 * (high - low)) : 0.0;
}

/* Whether middles are lines: a diamond would hide an interval that is hardly longer than itself. */
static bool needs_lines(const gess__figure *f, const gess__axis *axis, bool shared)
{
    for (size_t i = 0; i < f->count; i++) {
        const gess__plotted *p = &f->parameter[i];
        double low, middle, high;
        gess__plotted_interval(p, f->moments, &low, &middle, &high);
        double length = gess__place(axis, scaled(p, shared, f->moments, high)) -
                        gess__place(axis, scaled(p, shared, f->moments, low));
        if (high > low && length < 5.0 * MARK) return true;
    }
    return false;
}

static void draw_middle(gess__canvas *c, double x, double y, bool line)
{
    if (line) {
        gess__segment_line(c, x, y - MARK - 0.8, x, y + MARK + 0.8, gess__stroked(GESS__INK, 1.0, 0.9, 0.0));
        return;
    }
    gess__move(c, x, y - MARK);
    gess__line(c, x + MARK, y);
    gess__line(c, x, y + MARK);
    gess__line(c, x - MARK, y);
    gess__close(c);
    gess__paint(c, (gess__pen){.fill = {0xffffff, 1.0}, .stroke = {GESS__BLUE, 1.0}, .width = 1.2});
}

static void draw_row(gess__canvas *c, const gess__figure *f, const gess__plotted *p, const gess__axis *axis,
                     bool shared, bool lines, double y)
{
    double low, middle, high;
    char name[200], value[32], above[32], below[32], text[100], rhat[24];
    gess__plotted_interval(p, f->moments, &low, &middle, &high);
    gess__fit_name(name, sizeof name, p->name, "", NAMES - 8.0, 8.5);
    gess__text(c, NAMES - 4.0, y + 3.0, gess__letters(8.5, GESS__END, GESS__INK), name);
    if (isfinite(low) && isfinite(high) && isfinite(p->q5) && isfinite(p->q95)) {
        double at[5] = {p->q5, low, middle, high, p->q95};
        for (int i = 0; i < 5; i++) at[i] = gess__place(axis, scaled(p, shared, f->moments, at[i]));
        gess__canvas_clip(c, axis->from, y - ROW / 2.0, axis->to - axis->from, ROW);
        gess__segment_line(c, at[0], y, at[4], y, gess__stroked(GESS__BLUE, 1.0, 1.0, 0.0));
        gess__segment_line(c, at[1], y, at[3], y, gess__stroked(GESS__BLUE, 1.0, 3.2, 0.0));
        draw_middle(c, at[2], y, lines);
        if (isfinite(p->truth)) {
            double truth = gess__place(axis, scaled(p, shared, f->moments, p->truth));
            gess__segment_line(c, truth, y - 5.0, truth, y + 5.0, gess__stroked(GESS__ORANGE, 1.0, 1.6, 0.0));
        }
        gess__canvas_unclip(c);
    }
    gess__interval_text(low, middle, high, value, above, below);
    snprintf(text, sizeof text, "%s %s %s", value, above, below);
    gess__text(c, NAMES + PLOT + 8.0, y + 3.0, gess__letters(8.0, GESS__START, GESS__INK), text);
    if (!isfinite(p->r_hat)) return;
    snprintf(rhat, sizeof rhat, "%.3f", p->r_hat);
    gess__text(c, NAMES + PLOT + 8.0 + NUMBERS + 34.0, y + 3.0,
               gess__letters(8.0, GESS__END, p->doubtful ? GESS__ORANGE : GESS__QUIET), rhat);
}

int gess__plot_forest(gess__canvas **canvas, const gess__figure *f, gess_error *err)
{
    gess__axis axis = {.from = NAMES, .to = NAMES + PLOT};
    double top = 26.0, bottom = top + (double)f->count * ROW;
    bool shared = share_axis(f, &axis);
    gess__ticks ticks;
    if (!shared) {
        axis.lo = -3.2;
        axis.hi = 3.2;
    }
    GESS_TRY(gess__canvas_new(canvas, NAMES + PLOT + 8.0 + NUMBERS + 44.0, bottom + 28.0, f->title, err));
    gess__canvas *c = *canvas;
    gess__ticks_of(&ticks, axis.lo, axis.hi, 6);
    for (size_t i = 0; i < ticks.count; i++)
        gess__segment_line(c, gess__place(&axis, ticks.at[i]), top, gess__place(&axis, ticks.at[i]), bottom,
                           gess__stroked(0xdde2e9, 1.0, 0.6, 0.0));
    bool lines = needs_lines(f, &axis, shared);
    for (size_t i = 0; i < f->count; i++)
        draw_row(c, f, &f->parameter[i], &axis, shared, lines, top + ((double)i + 0.5) * ROW);
    gess__axis_below(c, &axis, &ticks, bottom, 20.0);
    gess__segment_line(c, axis.from, bottom, axis.to, bottom, gess__stroked(GESS__FRAME, 1.0, 0.7, 0.0));
    char under[120];
    snprintf(under, sizeof under, "%s%s",
             shared ? "value" : "distance from the centre, in half-widths of each interval", ticks.scale);
    gess__text(c, NAMES + PLOT / 2.0, bottom + 20.0, gess__letters(8.0, GESS__MIDDLE, GESS__QUIET), under);
    gess__text(c, NAMES + PLOT / 2.0, 14.0, gess__letters(8.0, GESS__MIDDLE, GESS__QUIET),
               f->moments ? "thick: mean \xc2\xb1 sd; thin: 90 %" : "thick: 68 %; thin: 90 %");
    gess__text(c, NAMES + PLOT + 8.0, 14.0, gess__letters(8.0, GESS__START, GESS__QUIET),
               f->moments ? "mean \xc2\xb1 sd" : "median, 68 %");
    gess__text(c, NAMES + PLOT + 8.0 + NUMBERS + 34.0, 14.0, gess__letters(8.0, GESS__END, GESS__QUIET), "R-hat");
    return GESS_OK;
}
