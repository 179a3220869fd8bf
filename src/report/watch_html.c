/* A watched run as a page without scripts that reloads itself: the lines of the text, with bars and curves. */
#include "report/watch.h"

#include "base/special.h"

#include <gess/draws.h>
#include <math.h>

#define WIDE 220.0
#define HIGH 34.0

/* Text is not trusted. */
static void put(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) switch (*text) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*text, out);
        }
}

static double height(const gess__watch_line *line, double x)
{
    return line->logarithmic ? gess__log10(x > 1e-6 ? x : 1e-6) : x;
}

static void put_series(const gess__watch_line *line, FILE *out)
{
    double lo = INFINITY, hi = -INFINITY;
    if (line->count < 2) return;
    for (size_t i = 0; i < line->count; i++) {
        double y = height(line, line->series[i]);
        lo = y < lo ? y : lo;
        hi = y > hi ? y : hi;
    }
    double wanted = isfinite(line->target) ? height(line, line->target) : NAN;
    if (wanted < lo) lo = wanted;
    if (wanted > hi) hi = wanted;
    if (!line->logarithmic && lo > 0.0) lo = 0.0;
    double scale = hi > lo ? (HIGH - 6.0) / (hi - lo) : 0.0;
    fprintf(out, "<svg viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" role=\"img\" aria-label=\"its history\">", WIDE,
            HIGH, WIDE, HIGH);
    if (isfinite(wanted))
        fprintf(out, "<path d=\"M0 %.1fH%g\" class=\"target\"/>", HIGH - 3.0 - (wanted - lo) * scale, WIDE);
    fputs("<path class=\"series\" d=\"", out);
    for (size_t i = 0; i < line->count; i++)
        fprintf(out, "%c%.1f %.1f", i == 0 ? 'M' : 'L', (WIDE - 4.0) * (double)i / (double)(line->count - 1) + 2.0,
                HIGH - 3.0 - (height(line, line->series[i]) - lo) * scale);
    fputs("\"/></svg>", out);
}

static const char style[] =
    ":root{color-scheme:light "
    "dark;--page:#f6f7f9;--card:#fff;--ink:#1b2430;--quiet:#566173;--line:#dde2e9;--accent:#0b62a8}"
    "@media(prefers-color-scheme:dark){:root{--page:#10151c;--card:#181f29;--ink:#e4e9f0;--quiet:#9aa7b8;--line:#"
    "2b3542;"
    "--accent:#6cb4ee}}"
    "body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}"
    "main{max-width:60rem;margin:0 auto;padding:1rem}"
    "h1{font-size:1.25rem;overflow-wrap:anywhere}"
    "dl{display:grid;grid-template-columns:6rem minmax(0,1fr);gap:0;background:var(--card);border:1px solid "
    "var(--line);"
    "border-radius:.7rem;margin:0;padding:.4rem 1rem}"
    "dt,dd{padding:.55rem 0;margin:0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}"
    "dt{color:var(--quiet)}dt:last-of-type,dd:last-of-type{border:0}"
    "progress{width:100%;accent-color:var(--accent);display:block}"
    "svg{display:block;max-width:100%;margin-top:.3rem}"
    ".series{fill:none;stroke:var(--accent);stroke-width:2;stroke-linejoin:round}"
    ".target{fill:none;stroke:var(--quiet);stroke-dasharray:4 4}"
    "p{color:var(--quiet);font-size:.85rem}";

void gess__watch_page(const gess__watch *w, double seconds, FILE *out)
{
    char title[400];
    gess__watch_line lines[GESS__WATCH_LINES];
    size_t count = gess__watch_lines(w, title, lines);
    bool over = w->state >= GESS_WATCH_GONE;
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "img-src data:\">\n",
          out);
    if (!over) fprintf(out, "<meta http-equiv=\"refresh\" content=\"%.0f\">\n", seconds >= 1.0 ? seconds : 1.0);
    fputs("<link rel=\"icon\" href=\"data:,\">\n<title>", out);
    put(out, title);
    fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>", style);
    put(out, title);
    fputs("</h1>\n<dl>\n", out);
    for (size_t i = 0; i < count; i++) {
        fputs("<dt>", out);
        put(out, lines[i].about);
        fputs("</dt><dd>", out);
        put(out, lines[i].text);
        if (isfinite(lines[i].share))
            fprintf(out, "<progress max=\"1\" value=\"%.4f\"></progress>", lines[i].share < 1.0 ? lines[i].share : 1.0);
        put_series(&lines[i], out);
        fputs("</dd>\n", out);
    }
    fprintf(out, "</dl>\n<p>%s</p>\n</main>\n</body>\n</html>\n",
            over ? "" : "This page reloads itself while <code>gess watch --html</code> writes it.");
}
