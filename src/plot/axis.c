/* Ticks at round numbers, labels as short as they can be, and numbers with errors. */
#include "plot/axis.h"

#include "base/special.h"
#include "base/vmath.h"

#include <math.h>
#include <string.h>

#define MINUS "\xe2\x88\x92"
#define ELLIPSIS "\xe2\x80\xa6"
#define TIMES "\xc3\x97"

const uint32_t gess__hues[GESS__HUES] = {0x0b72b9, 0xd1660a, 0x0f9b74, 0xb65f9b,
                                         0xa58a00, 0x5a57c9, 0xc0392b, 0x6b7785};

double gess__place(const gess__axis *a, double value)
{
    if (!(a->hi > a->lo)) return 0.5 * (a->from + a->to);
    return a->from + (value / 2.0 - a->lo / 2.0) / (a->hi / 2.0 - a->lo / 2.0) * (a->to - a->from); /* no overflow */
}

/* 10^n: exact up to 10^22. */
static double power(int n)
{
    double x = 1.0;
    for (int i = 0; i < (n < 0 ? -n : n); i++) x *= 10.0;
    return n < 0 ? 1.0 / x : x;
}

static int exponent(double x)
{
    return (int)floor(gess__log10(fabs(x)) + 1e-12);
}

/* The number with a real minus sign. */
static void number(char *text, size_t size, double x, int decimals)
{
    char digits[400];
    bool zero = fabs(x) < 0.5 * power(-decimals);
    snprintf(digits, sizeof digits, "%.*f", decimals, zero ? 0.0 : fabs(x));
    snprintf(text, size, "%s%.*s", x < 0.0 && !zero ? MINUS : "", (int)size - 4, digits);
}

static void small_digits(char *text, size_t size, int n)
{
    static const char *const up[10] = {"\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
                                       "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
    char digits[16];
    snprintf(digits, sizeof digits, "%d", n < 0 ? -n : n);
    snprintf(text, size, "%s", n < 0 ? "\xe2\x81\xbb" : "");
    for (const char *d = digits; *d != '\0'; d++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s", up[*d - '0']);
    }
}

static double step_for(double range, size_t max)
{
    double least = range / (double)(max > 1 ? max : 1), unit = power(exponent(least));
    for (;; unit *= 10.0) {
        const double nice[3] = {1.0, 2.0, 5.0};
        for (int i = 0; i < 3; i++)
            if (nice[i] * unit >= least * (1.0 - 1e-9)) return nice[i] * unit;
    }
}

/* The next smaller of 1, 2 and 5 times a power of ten. */
static double finer(double step)
{
    double unit = power(exponent(step)), lead = step / unit;
    return lead > 4.0 ? 2.0 * unit : lead > 1.5 ? unit : unit / 2.0;
}

void gess__ticks_of(gess__ticks *t, double lo, double hi, size_t max)
{
    t->count = 0;
    t->scale[0] = '\0';
    double largest = fabs(lo) > fabs(hi) ? fabs(lo) : fabs(hi), range = hi - lo;
    if (!(range > 0.0) || !isfinite(range) || !(largest > 1e-290)) return;
    if (max > GESS__MAX_TICKS - 1) max = GESS__MAX_TICKS - 1;
    double step = step_for(range, max), offset = 0.0;
    int scale = 0;
    if (range < 1e-4 * largest) { /* only the last digits differ: count from a round number */
        double unit = 10.0 * power(exponent(range));
        offset = floor(lo / unit) * unit;
        char text[32];
        snprintf(text, sizeof text, "%.15g", fabs(offset));
        snprintf(t->scale, sizeof t->scale, " %s %s", offset < 0.0 ? "+" : MINUS, text);
        if (range < 1e-3) scale = exponent(range);
    } else if (largest >= 1e5 || largest < 1e-3) {
        scale = exponent(largest);
    }
    /* one number alone is no scale */
    for (int i = 0; i < 2 && floor((hi - offset) / step + 1e-9) < ceil((lo - offset) / step - 1e-9) + 1.0; i++)
        step = finer(step);
    if (scale != 0) {
        char digits[32];
        size_t used = strlen(t->scale);
        small_digits(digits, sizeof digits, scale);
        snprintf(t->scale + used, sizeof t->scale - used, "%s / 10%s", used > 0 ? "," : "", digits);
    }
    int decimals = scale - exponent(step);
    for (double k = ceil((lo - offset) / step - 1e-9); t->count < GESS__MAX_TICKS; k += 1.0) {
        double at = offset + k * step;
        if (at > hi + 1e-9 * range) break;
        t->at[t->count] = at;
        number(t->text[t->count++], sizeof t->text[0], k * step / power(scale), decimals > 0 ? decimals : 0);
    }
}

gess__pen gess__stroked(uint32_t rgb, double alpha, double width, double dash)
{
    return (gess__pen){.stroke = {rgb, alpha}, .width = width, .dash = dash};
}

gess__pen gess__filled(uint32_t rgb, double alpha)
{
    return (gess__pen){.fill = {rgb, alpha}};
}

gess__lettering gess__letters(double size, gess__anchor anchor, uint32_t rgb)
{
    return (gess__lettering){.size = size, .anchor = anchor, .ink = {rgb, 1.0}};
}

void gess__axis_below(gess__canvas *c, const gess__axis *axis, const gess__ticks *t, double y, double room)
{
    double after = -INFINITY;
    for (size_t i = 0; i < t->count; i++) {
        double x = gess__place(axis, t->at[i]), half = gess__text_width(t->text[i], 7.0, false) / 2.0;
        gess__segment_line(c, x, y, x, y - 3.0, gess__stroked(GESS__FRAME, 1.0, 0.6, 0.0));
        if (room < 0.0 || x - half < after) continue;
        if (x - half < axis->from - room || x + half > axis->to + room) continue;
        gess__text(c, x, y + 8.5, gess__letters(7.0, GESS__MIDDLE, GESS__QUIET), t->text[i]);
        after = x + half + 3.0;
    }
}

void gess__axis_left(gess__canvas *c, const gess__axis *axis, const gess__ticks *t, double x, bool labels)
{
    for (size_t i = 0; i < t->count; i++) {
        double y = gess__place(axis, t->at[i]);
        gess__segment_line(c, x, y, x + 3.0, y, gess__stroked(GESS__FRAME, 1.0, 0.6, 0.0));
        if (labels) gess__text(c, x - 3.0, y + 2.5, gess__letters(7.0, GESS__END, GESS__QUIET), t->text[i]);
    }
}

void gess__fit_name(char *text, size_t size, const char *name, const char *scale, double width, double letters)
{
    double room = width - gess__text_width(scale, letters, false);
    const char *end = name;
    size_t length = strlen(name);
    if (gess__text_width(name, letters, false) > room || length + strlen(scale) + 8 > size) {
        double used = gess__text_width(ELLIPSIS, letters, false);
        for (const char *next = name; *next != '\0'; end = next) {
            char one[8] = "";
            gess__next_point(&next);
            memcpy(one, end, (size_t)(next - end));
            used += gess__text_width(one, letters, false);
            if (used > room || (size_t)(next - name) + strlen(scale) + 8 > size) break;
        }
        length = (size_t)(end - name);
    }
    snprintf(text, size, "%.*s%s%s", (int)length, name, name[length] != '\0' ? ELLIPSIS : "", scale);
}

/* ---- intervals ---- */

void gess__plotted_interval(const gess__plotted *p, bool moments, double *low, double *middle, double *high)
{
    *low = moments ? p->mean - p->sd : p->q16;
    *middle = moments ? p->mean : p->q50;
    *high = moments ? p->mean + p->sd : p->q84;
}

/* The power of ten that an interval is given in, 0 for none, and its decimals: a plain number as long as its digits are
 * all known, however large it is. */
static int interval_scale(double low, double middle, double high, int *decimals)
{
    double up = high - middle, down = middle - low, least = up < down ? up : down, largest = fabs(middle);
    int scale = 0;
    if (up > largest) largest = up;
    if (down > largest) largest = down;
    *decimals = 1 - exponent(least);
    if (least / power(exponent(least)) >= 9.95) --*decimals; /* rounds to one digit more */
    if (largest < 1e-3 || largest >= 1e15 || (largest >= 1e5 && *decimals < 0)) {
        scale = exponent(largest);
        *decimals += scale;
    }
    if (*decimals < 0) *decimals = 0;
    if (*decimals > 14) *decimals = 14;
    return scale;
}

void gess__interval_text(double low, double middle, double high, gess__interval_words *w)
{
    char plus[40], minus[40], raised[24];
    int decimals;
    *w = (gess__interval_words){.above = ""};
    if (!isfinite(low) || !isfinite(middle) || !isfinite(high) || !(high > middle) || !(middle > low)) {
        snprintf(w->value, sizeof w->value, isfinite(middle) ? "%s%.4g" : "NA", middle < 0.0 ? MINUS : "",
                 fabs(middle));
        return;
    }
    int scale = interval_scale(low, middle, high, &decimals);
    number(w->value, sizeof w->value, middle / power(scale), decimals);
    number(plus, sizeof plus, (high - middle) / power(scale), decimals);
    number(minus, sizeof minus, (middle - low) / power(scale), decimals);
    if (strcmp(plus, minus) == 0)
        snprintf(w->above, sizeof w->above, "\xc2\xb1 %s", plus);
    else {
        snprintf(w->above, sizeof w->above, "+%s", plus);
        snprintf(w->below, sizeof w->below, MINUS "%s", minus);
    }
    if (scale == 0) return;
    small_digits(raised, sizeof raised, scale);
    snprintf(w->power, sizeof w->power, TIMES "10%s", raised);
}

void gess__interval_line(const gess__interval_words *w, char *text, size_t size)
{
    bool scaled = w->power[0] != '\0';
    snprintf(text, size, "%s%s%s%s%s%s%s%s", scaled ? "(" : "", w->value, w->above[0] != '\0' ? " " : "", w->above,
             w->below[0] != '\0' ? " " : "", w->below, scaled ? ")" : "", w->power);
}

void gess__interval_title(gess__canvas *c, double x, double y, double width, const gess__plotted *p, bool moments)
{
    const double size = 9.0, small = 6.5;
    double low, middle, high, errors = 0.0;
    char number_text[192], name[160], text[360];
    gess__interval_words w;
    gess__plotted_interval(p, moments, &low, &middle, &high);
    gess__interval_text(low, middle, high, &w);
    bool split = w.below[0] != '\0';
    if (split) {
        snprintf(number_text, sizeof number_text, "%s", w.value);
        errors = gess__max(gess__text_width(w.above, small, false), gess__text_width(w.below, small, false)) + 1.0;
    } else {
        gess__interval_line(&w, number_text, sizeof number_text);
    }
    double behind = split ? gess__text_width(w.power, size, false) : 0.0;
    double room =
        width - gess__text_width(" = ", size, false) - gess__text_width(number_text, size, false) - errors - behind;
    gess__fit_name(name, sizeof name, p->name, "", room < 12.0 ? width : room, size);
    if (room < 12.0) { /* the numbers alone are as wide as the panel: the name goes above them */
        gess__text(c, x, y - 11.0, gess__letters(size, GESS__MIDDLE, GESS__INK), name);
        snprintf(text, sizeof text, "%s", number_text);
    } else {
        snprintf(text, sizeof text, "%s = %s", name, number_text);
    }
    double front = gess__text_width(text, size, false), at = x - (front + errors + behind) / 2.0;
    gess__text(c, at, y, gess__letters(size, GESS__START, GESS__INK), text);
    if (!split) return;
    gess__text(c, at + front + 1.0, y - 3.8, gess__letters(small, GESS__START, GESS__INK), w.above);
    gess__text(c, at + front + 1.0, y + 2.6, gess__letters(small, GESS__START, GESS__INK), w.below);
    if (behind > 0.0) gess__text(c, at + front + errors, y, gess__letters(size, GESS__START, GESS__INK), w.power);
}
