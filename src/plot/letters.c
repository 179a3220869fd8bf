/* Letters: Helvetica's widths, for text that a reader of SVG or PDF draws in that font, and outlines of DejaVu Sans
 * Condensed, for all that is drawn without a font. */
#include "plot/canvas.h"

#include <string.h>

/* Advances of Helvetica and Helvetica-Bold, in 1/1000 em, from the blank to the tilde (Adobe's font metrics). */
static const short plain[95] = {278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
                                556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
                                1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
                                667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
                                333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
                                556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584};
static const short heavy[95] = {278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278,
                                556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611,
                                975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778,
                                667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556,
                                333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611,
                                611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584};

typedef struct glyph {
    uint32_t point;
    int advance;
    const char *outline;
} glyph;

static const glyph glyphs[] = {
#define GESS_GLYPH(point, advance, outline) {point, advance, outline},
#include "plot/glyphs.def"
#undef GESS_GLYPH
};
enum { EM = 256, SHIFT = 512 };

/* The letter, or a box for one that is not there. */
static const glyph *find(uint32_t point)
{
    const glyph *box = NULL;
    for (size_t i = 0; i < sizeof glyphs / sizeof *glyphs; i++) {
        if (glyphs[i].point == point) return &glyphs[i];
        if (glyphs[i].point == 0x25A1) box = &glyphs[i];
    }
    return box;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
    if (c >= 'a' && c <= 'z') return c - 'a' + 36;
    return c == '#' ? 62 : 63;
}

double gess__outline(uint32_t point, gess__outline_fn *to, void *user)
{
    const glyph *g = find(point);
    bool begins = true;
    for (const char *c = g->outline; to != NULL && *c != '\0';) {
        if (*c == ' ') {
            begins = true;
            c++;
            continue;
        }
        int x = digit(c[0]) * 64 + digit(c[1]) - SHIFT, y = digit(c[2]) * 64 + digit(c[3]) - SHIFT;
        to(user, (double)x / EM, (double)y / EM, begins);
        begins = false;
        c += 4;
    }
    return (double)g->advance / EM;
}

unsigned char gess__winansi(uint32_t point)
{
    if (point >= 32 && point < 127) return (unsigned char)point;
    switch (point) {
    case 0x2212: return 0x96; /* minus, as an en dash */
    case 0xb1: return 0xb1;
    case 0xd7: return 0xd7;
    case 0xb7: return 0xb7;
    case 0xb0: return 0xb0;
    case 0x2026: return 0x85;
    default: return 0;
    }
}

static double advance(uint32_t point, bool bold)
{
    if (point >= 32 && point < 127) return (bold ? heavy : plain)[point - 32] / 1000.0;
    switch (point) {
    case 0x2212: return 0.556;
    case 0xb1:
    case 0xd7: return 0.584;
    case 0xb7: return 0.278;
    case 0xb0: return 0.4;
    case 0x2026: return 1.0;
    default: return gess__outline(point, NULL, NULL);
    }
}

double gess__points_width(const uint32_t *points, size_t count, double size, bool bold)
{
    double width = 0.0;
    for (size_t i = 0; i < count; i++) width += advance(points[i], bold);
    return width * size;
}

double gess__text_width(const char *text, double size, bool bold)
{
    double width = 0.0;
    while (*text != '\0') width += advance(gess__next_point(&text), bold);
    return width * size;
}

uint32_t gess__next_point(const char **text)
{
    const unsigned char *c = (const unsigned char *)*text;
    static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
    int more = c[0] < 0x80                   ? 0
               : c[0] >= 0xc2 && c[0] < 0xe0 ? 1
               : c[0] >= 0xe0 && c[0] < 0xf0 ? 2
               : c[0] >= 0xf0 && c[0] < 0xf5 ? 3
                                             : -1;
    *text += 1;
    if (more <= 0) return more == 0 ? c[0] : 0xfffd;
    uint32_t point = c[0] & (0x3fu >> more);
    for (int i = 1; i <= more; i++) {
        if ((c[i] & 0xc0) != 0x80) return 0xfffd;
        point = point << 6 | (c[i] & 0x3fu);
    }
    if (point < smallest[more] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return 0xfffd;
    *text += more;
    return point;
}
