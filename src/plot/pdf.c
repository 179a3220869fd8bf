/* Writes a drawing as PDF 1.4, one page of its size. Text is Helvetica, which every reader has; a text with letters
 * that its encoding lacks (Greek, indices) is drawn as outlines. */
#include "plot/canvas.h"
#include "plot/deflate.h"

#include <math.h>
#include <stdlib.h>

enum { OPACITIES = 101 };

typedef struct page {
    const gess__canvas *canvas;
    FILE *out;
    bool used[OPACITIES]; /* opacities in 1/100 */
    double x, y, size;    /* of the outlines that are drawn */
    bool upwards;
} page;

static int opacity(double alpha)
{
    return alpha >= 1.0 ? 100 : (int)lrint(alpha * 100.0);
}

static void put_colour(FILE *out, uint32_t rgb, const char *operator)
{
    fprintf(out, "%.3f %.3f %.3f %s\n", (double)(rgb >> 16 & 255) / 255.0, (double)(rgb >> 8 & 255) / 255.0,
            (double)(rgb & 255) / 255.0, operator);
}

static double flipped(const page *p, double y)
{
    return p->canvas->height - y;
}

static void set_opacity(page *p, double fill, double stroke)
{
    int both = opacity(fill > 0.0 ? fill : stroke);
    p->used[both] = true;
    fprintf(p->out, "/A%d gs\n", both);
}

static void trace_path(const page *p, const gess__op *op)
{
    for (size_t i = op->first; i < op->first + op->count; i++) {
        const gess__vertex *v = &p->canvas->vertex[i];
        fprintf(p->out, "%.2f %.2f %s%s\n", v->x, flipped(p, v->y), v->begins ? "m" : "l", v->closes ? " h" : "");
    }
}

static void put_path(page *p, const gess__op *op)
{
    const gess__pen *pen = &op->pen;
    if (pen->fill.alpha > 0.0) {
        set_opacity(p, pen->fill.alpha, 0.0);
        put_colour(p->out, pen->fill.rgb, "rg");
        trace_path(p, op);
        fputs("f\n", p->out);
    }
    if (!(pen->stroke.alpha > 0.0)) return;
    set_opacity(p, 0.0, pen->stroke.alpha);
    put_colour(p->out, pen->stroke.rgb, "RG");
    fprintf(p->out, "%.2f w ", pen->width);
    if (pen->dash > 0.0)
        fprintf(p->out, "[%.2f] 0 d\n", pen->dash);
    else
        fputs("[] 0 d\n", p->out);
    trace_path(p, op);
    fputs("S\n", p->out);
}

static void put_outline(void *user, double x, double y, bool begins)
{
    page *p = user;
    double dx = p->upwards ? -y * p->size : x * p->size, dy = p->upwards ? x * p->size : y * p->size;
    fprintf(p->out, "%.2f %.2f %s\n", p->x + dx, p->y + dy, begins ? "m" : "l");
}

/* The text as outlines, stretched to the width that the layout reckoned with. */
static void put_drawn_text(page *p, const gess__op *op, double x, double y)
{
    const gess__lettering *l = &op->lettering;
    p->size = l->size;
    p->upwards = l->upwards;
    for (size_t i = 0; i < op->count; i++) {
        uint32_t point = p->canvas->point[op->first + i];
        p->x = x;
        p->y = y;
        gess__outline(point, put_outline, p);
        double step = gess__points_width(&point, 1, l->size, l->bold);
        if (l->upwards)
            y += step;
        else
            x += step;
    }
    fputs("f\n", p->out);
}

static void put_text(page *p, const gess__op *op)
{
    const gess__lettering *l = &op->lettering;
    const uint32_t *points = p->canvas->point + op->first;
    double width = gess__points_width(points, op->count, l->size, l->bold), x = op->x, y = flipped(p, op->y);
    double back = l->anchor == GESS__START ? 0.0 : l->anchor == GESS__MIDDLE ? width / 2.0 : width;
    bool known = true;
    for (size_t i = 0; i < op->count; i++) known &= gess__winansi(points[i]) != 0;
    if (l->upwards)
        y -= back;
    else
        x -= back;
    set_opacity(p, l->ink.alpha, 0.0);
    put_colour(p->out, l->ink.rgb, "rg");
    if (!known) {
        put_drawn_text(p, op, x, y);
        return;
    }
    fprintf(p->out, "BT /%s %.2f Tf %s %.2f %.2f Tm (", l->bold ? "HB" : "H", l->size,
            l->upwards ? "0 1 -1 0" : "1 0 0 1", x, y);
    for (size_t i = 0; i < op->count; i++) {
        unsigned char c = gess__winansi(points[i]);
        if (c == '(' || c == ')' || c == '\\')
            fprintf(p->out, "\\%c", c);
        else if (c >= 127)
            fprintf(p->out, "\\%03o", c);
        else
            fputc(c, p->out);
    }
    fputs(") Tj ET\n", p->out);
}

static void put_page(page *p)
{
    const gess__canvas *c = p->canvas;
    int clip = -1;
    fputs("1 j 0 J\n", p->out);
    for (size_t i = 0; i < c->ops; i++) {
        const gess__op *op = &c->op[i];
        if (op->clip != clip && clip >= 0) fputs("Q\n", p->out);
        if (op->clip != clip && op->clip >= 0) {
            const gess__clip *r = &c->clip_at[op->clip];
            fprintf(p->out, "q %.2f %.2f %.2f %.2f re W n\n", r->x, flipped(p, r->y + r->height), r->width, r->height);
        }
        clip = op->clip;
        if (op->kind == GESS__OP_PATH)
            put_path(p, op);
        else
            put_text(p, op);
    }
    if (clip >= 0) fputs("Q\n", p->out);
}

/* A text string of PDF, in UTF-16. */
static void put_title(FILE *out, const char *title)
{
    fputs("<FEFF", out);
    while (*title != '\0') {
        uint32_t point = gess__next_point(&title);
        if (point >= 0x10000)
            fprintf(out, "%04X%04X", 0xd800u + ((unsigned)(point - 0x10000) >> 10),
                    0xdc00u + ((unsigned)point & 0x3ff));
        else
            fprintf(out, "%04X", (unsigned)point);
    }
    fputs(">", out);
}

enum { OBJECTS = 8 }; /* object numbers begin at 1 */

/* The objects in front of the page's content, and the table of all. The offset of each is noted. */
static void put_file(const page *p, const unsigned char *content, size_t size, FILE *out)
{
    long at[OBJECTS + 1] = {0}, start = ftell(out);
    int n = 0;
    fputs("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", out);
#define OBJECT() (at[++n] = ftell(out) - start, fprintf(out, "%d 0 obj\n", n))
    OBJECT();
    fputs("<< /Type /Catalog /Pages 2 0 R >>\nendobj\n", out);
    OBJECT();
    fputs("<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n", out);
    OBJECT();
    fprintf(out,
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %.2f %.2f] /Contents 7 0 R /Resources << "
            "/Font << /H 4 0 R /HB 5 0 R >> /ExtGState 6 0 R >> >>\nendobj\n",
            p->canvas->width, p->canvas->height);
    OBJECT();
    fputs("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>\nendobj\n", out);
    OBJECT();
    fputs("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>\nendobj\n", out);
    OBJECT();
    fputs("<<", out);
    for (int i = 0; i < OPACITIES; i++)
        if (p->used[i]) fprintf(out, " /A%d << /ca %.2f /CA %.2f >>", i, i / 100.0, i / 100.0);
    fputs(" >>\nendobj\n", out);
    OBJECT();
    fprintf(out, "<< /Length %zu /Filter /FlateDecode >>\nstream\n", size);
    fwrite(content, 1, size, out);
    fputs("\nendstream\nendobj\n", out);
    OBJECT();
    fputs("<< /Producer (gess " GESS_VERSION_TEXT ") /Title ", out);
    put_title(out, p->canvas->title);
    fputs(" >>\nendobj\n", out);
#undef OBJECT
    long table = ftell(out) - start;
    fprintf(out, "xref\n0 %d\n0000000000 65535 f \n", OBJECTS + 1);
    for (int i = 1; i <= OBJECTS; i++) fprintf(out, "%010ld 00000 n \n", at[i]);
    fprintf(out, "trailer\n<< /Size %d /Root 1 0 R /Info 8 0 R >>\nstartxref\n%ld\n%%%%EOF\n", OBJECTS + 1, table);
}

int gess__canvas_pdf(const gess__canvas *c, FILE *out, gess_error *err)
{
    char *text = NULL, *file = NULL;
    unsigned char *content = NULL;
    size_t length = 0, size = 0, total = 0;
    page p = {.canvas = c};
    if (c->failed) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory while plotting");
    if ((p.out = open_memstream(&text, &length)) == NULL)
        return gess__fail(err, GESS_ERR_INTERNAL, "out of memory while plotting");
    put_page(&p);
    int status = fclose(p.out) == 0 ? GESS_OK : gess__fail(err, GESS_ERR_INTERNAL, "out of memory while plotting");
    if (status == GESS_OK) status = gess__deflate(&content, &size, (unsigned char *)text, length, err);
    FILE *memory =
        status == GESS_OK ? open_memstream(&file, &total) : NULL; /* `out` may be a pipe without a position */
    if (memory != NULL) {
        put_file(&p, content, size, memory);
        fclose(memory);
        fwrite(file, 1, total, out);
    }
    free(text);
    free(content);
    free(file);
    return status;
}
