/* A watched run as lines of text: bars, and series as rows of blocks. */
#include "report/watch.h"

#include "base/special.h"

#include <math.h>
#include <string.h>

enum { BAR = 12, SPARKS = 24, NAMES = 10, USUAL = 100 };

static const char *const blocks[8] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/* Characters, not bytes. */
static size_t length_of(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static double height(const gess__watch_line *line, double x)
{
    return line->logarithmic ? gess__log10(x > 1e-6 ? x : 1e-6) : x;
}

/* The newest values, from the smallest (or 0, of what cannot be less) to the largest. */
static void print_series(const gess__watch_line *line, FILE *out)
{
    size_t first = line->count > SPARKS ? line->count - SPARKS : 0;
    double lo = INFINITY, hi = -INFINITY;
    for (size_t i = first; i < line->count; i++) {
        double y = height(line, line->series[i]);
        lo = y < lo ? y : lo;
        hi = y > hi ? y : hi;
    }
    if (line->count < 2) return;
    if (!line->logarithmic && lo > 0.0) lo = 0.0;
    fputs("  ", out);
    for (size_t i = first; i < line->count; i++) {
        double share = hi > lo ? (height(line, line->series[i]) - lo) / (hi - lo) : 0.5;
        int level = (int)(share * 7.0 + 0.5);
        fputs(blocks[level < 0 ? 0 : level > 7 ? 7 : level], out);
    }
}

static void print_bar(double share, FILE *out)
{
    int full = (int)(share * BAR + 0.5);
    for (int i = 0; i < BAR; i++) fputs(i < full ? "█" : "░", out);
    fprintf(out, " %3.0f %%  ", share < 1.0 ? floor(100.0 * share) : 100.0);
}

/* Words in lines of `room` columns, the later ones indented. Returns the columns of the last line. */
static size_t print_words(const char *text, size_t room, FILE *out)
{
    size_t used = 0;
    while (*text != '\0') {
        size_t bytes = strcspn(text, " ");
        char word[600];
        snprintf(word, sizeof word, "%.*s", (int)bytes, text);
        size_t columns = length_of(word);
        if (used > 0 && used + 1 + columns > room) {
            fprintf(out, "\n%*s", NAMES, "");
            used = 0;
        }
        if (used > 0) fputc(' ', out);
        fputs(word, out);
        used += columns + (used > 0);
        text += bytes;
        text += strspn(text, " ");
    }
    return used;
}

void gess__watch_print(const gess__watch *w, size_t width, FILE *out)
{
    char title[400];
    gess__watch_line lines[GESS__WATCH_LINES];
    size_t count = gess__watch_lines(w, title, lines);
    if (width == 0) width = USUAL;
    if (width < 30) width = 30;
    fprintf(out, "%s\n", title);
    for (size_t i = 0; i < count; i++) {
        const gess__watch_line *line = &lines[i];
        size_t room = width - NAMES, series = line->count < SPARKS ? line->count : SPARKS;
        bool bar = isfinite(line->share) && room > BAR + 38;
        fprintf(out, "%-*s", NAMES, line->about);
        if (bar) print_bar(line->share, out);
        size_t used = print_words(line->text, room - (bar ? BAR + 8 : 0), out) + (bar ? BAR + 8 : 0);
        if (line->count > 1 && used + 2 + series > room) fprintf(out, "\n%*s", NAMES - 2, "");
        print_series(line, out);
        fputc('\n', out);
    }
}
