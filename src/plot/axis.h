/* Axes: where a value lies on the page, which ticks an axis has, and the colours and letters that figures share. */
#ifndef GESS_PLOT_AXIS_H
#define GESS_PLOT_AXIS_H

#include "plot/figure.h"

enum { GESS__MAX_TICKS = 12 };

/* From `lo` at `from` to `hi` at `to`, in points on the page. */
typedef struct gess__axis {
    double lo, hi, from, to;
} gess__axis;

double gess__place(const gess__axis *axis, double value);

typedef struct gess__ticks {
    size_t count;
    double at[GESS__MAX_TICKS];
    char text[GESS__MAX_TICKS][24];
    char scale[48]; /* what the numbers are multiplied by or counted from, such as " × 10⁶"; empty: nothing */
} gess__ticks;

/* At most `max` round numbers from lo to hi. */
void gess__ticks_of(gess__ticks *ticks, double lo, double hi, size_t max);

/* Draws an axis below a panel, or left of it, with ticks and numbers. `room`: how far a number may reach beyond the
 * ends of the axis; negative: no numbers. `labels`: whether there are numbers. */
void gess__axis_below(gess__canvas *canvas, const gess__axis *axis, const gess__ticks *ticks, double y, double room);
void gess__axis_left(gess__canvas *canvas, const gess__axis *axis, const gess__ticks *ticks, double x, bool labels);

/* The name, cut to `width` points with an ellipsis, and with the scale of its ticks behind it. */
void gess__fit_name(char *text, size_t size, const char *name, const char *scale, double width, double letters);

/* ---- the style that figures share ---- */

#define GESS__INK 0x1b2430u
#define GESS__QUIET 0x566173u
#define GESS__FRAME 0x8a94a3u
#define GESS__BLUE 0x0b62a8u
#define GESS__ORANGE 0xd1660au
#define GESS__GREEN 0x0f9b74u
enum { GESS__HUES = 8 };
extern const uint32_t gess__hues[GESS__HUES];

gess__pen gess__stroked(uint32_t rgb, double alpha, double width, double dash);
gess__pen gess__filled(uint32_t rgb, double alpha);
gess__lettering gess__letters(double size, gess__anchor anchor, uint32_t rgb);

/* "NAME = VALUE +ABOVE −BELOW" around x, on the baseline y: errors are small, one above the other. */
void gess__interval_title(gess__canvas *canvas, double x, double y, double width, const gess__plotted *p, bool moments);

#endif
