/* The forest plot: a row per parameter with its interval, thick 68 %, thin 90 %, the numbers beside it and R-hat at the
 * end. Parameters of one size share an axis; others are each drawn on a scale of their own, in standard deviations. */
#include "base/vmath.h"
#include "plot/axis.h"

#include <math.h>

#define ROW 15.0
#define NAMES 120.0
#define PLOT 250.0
#define NUMBERS 96.0 /* at least */
#define MARK 3.4     /* half a diamond */

typedef struct layout {
    gess__axis axis;
    bool shared, lines;     /* one axis for all; middles as lines */
    double numbers, r_hats; /* where the numbers begin, and where those of R-hat end */
} layout;

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

static void interval_line(const gess__figure *f, const gess__plotted *p, char *text, size_t size)
{
    double low, middle, high;
    gess__interval_words words;
    gess__plotted_interval(p, f->moments, &low, &middle, &high);
    gess__interval_text(low, middle, high, &words);
    gess__interval_line(&words, text, size);
}

static void draw_row(gess__canvas *c, const gess__figure *f, const gess__plotted *p, const layout *l, double y)
{
    const gess__axis *axis = &l->axis;
    double low, middle, high;
    char name[200], text[200], rhat[24];
    gess__plotted_interval(p, f->moments, &low, &middle, &high);
    gess__fit_name(name, sizeof name, p->name, "", NAMES - 8.0, 8.5);
    gess__text(c, NAMES - 4.0, y + 3.0, gess__letters(8.5, GESS__END, GESS__INK), name);
    if (isfinite(low) && isfinite(high) && isfinite(p->q5) && isfinite(p->q95)) {
        double at[5] = {p->q5, low, middle, high, p->q95};
        for (int i = 0; i < 5; i++) at[i] = gess__place(axis, scaled(p, l->shared, f->moments, at[i]));
        gess__canvas_clip(c, axis->from, y - ROW / 2.0, axis->to - axis->from, ROW);
        gess__segment_line(c, at[0], y, at[4], y, gess__stroked(GESS__BLUE, 1.0, 1.0, 0.0));
        gess__segment_line(c, at[1], y, at[3], y, gess__stroked(GESS__BLUE, 1.0, 3.2, 0.0));
        draw_middle(c, at[2], y, l->lines);
        if (isfinite(p->truth)) {
            double truth = gess__place(axis, scaled(p, l->shared, f->moments, p->truth));
            gess__segment_line(c, truth, y - 5.0, truth, y + 5.0, gess__stroked(GESS__ORANGE, 1.0, 1.6, 0.0));
        }
        gess__canvas_unclip(c);
    }
    interval_line(f, p, text, sizeof text);
    gess__text(c, l->numbers, y + 3.0, gess__letters(8.0, GESS__START, GESS__INK), text);
    if (!isfinite(p->r_hat)) return;
    snprintf(rhat, sizeof rhat, "%.3f", p->r_hat);
    gess__text(c, l->r_hats, y + 3.0, gess__letters(8.0, GESS__END, p->doubtful ? GESS__ORANGE : GESS__QUIET), rhat);
}

/* The numbers take as much room as the longest needs. */
static layout layout_of(const gess__figure *f)
{
    layout l = {.axis = {.from = NAMES, .to = NAMES + PLOT}, .numbers = NAMES + PLOT + 8.0};
    double widest = NUMBERS;
    l.shared = share_axis(f, &l.axis);
    if (!l.shared) {
        l.axis.lo = -3.2;
        l.axis.hi = 3.2;
    }
    l.lines = needs_lines(f, &l.axis, l.shared);
    for (size_t i = 0; i < f->count; i++) {
        char text[200];
        interval_line(f, &f->parameter[i], text, sizeof text);
        widest = gess__max(widest, gess__text_width(text, 8.0, false));
    }
    l.r_hats = l.numbers + widest + 34.0;
    return l;
}

int gess__plot_forest(gess__canvas **canvas, const gess__figure *f, gess_error *err)
{
    const layout l = layout_of(f);
    const gess__axis *axis = &l.axis;
    double top = 26.0, bottom = top + (double)f->count * ROW;
    gess__ticks ticks;
    GESS_TRY(gess__canvas_new(canvas, l.r_hats + 10.0, bottom + 28.0, f->title, err));
    gess__canvas *c = *canvas;
    gess__ticks_of(&ticks, axis->lo, axis->hi, 6);
    for (size_t i = 0; i < ticks.count; i++)
        gess__segment_line(c, gess__place(axis, ticks.at[i]), top, gess__place(axis, ticks.at[i]), bottom,
                           gess__stroked(0xdde2e9, 1.0, 0.6, 0.0));
    for (size_t i = 0; i < f->count; i++) draw_row(c, f, &f->parameter[i], &l, top + ((double)i + 0.5) * ROW);
    gess__axis_below(c, axis, &ticks, bottom, 20.0);
    gess__segment_line(c, axis->from, bottom, axis->to, bottom, gess__stroked(GESS__FRAME, 1.0, 0.7, 0.0));
    char under[120];
    snprintf(under, sizeof under, "%s%s",
             l.shared ? "value" : "distance from the centre, in half-widths of each interval", ticks.scale);
    gess__text(c, NAMES + PLOT / 2.0, bottom + 20.0, gess__letters(8.0, GESS__MIDDLE, GESS__QUIET), under);
    gess__text(c, NAMES + PLOT / 2.0, 14.0, gess__letters(8.0, GESS__MIDDLE, GESS__QUIET),
               f->moments ? "thick: mean \xc2\xb1 sd; thin: 90 %" : "thick: 68 %; thin: 90 %");
    gess__text(c, l.numbers, 14.0, gess__letters(8.0, GESS__START, GESS__QUIET),
               f->moments ? "mean \xc2\xb1 sd" : "median, 68 %");
    gess__text(c, l.r_hats, 14.0, gess__letters(8.0, GESS__END, GESS__QUIET), "R-hat");
    return GESS_OK;
}
