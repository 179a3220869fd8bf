/* Writes a drawing as SVG. Every text gets the length that the layout reckoned with, so that it looks the same whatever
 * font takes Helvetica's place. The picture has no background. */
#include "plot/canvas.h"

#include <math.h>
#include <stdlib.h>

/* Two decimals, without those that are 0. */
static void put(FILE *out, double x)
{
    long hundredths = lrint(x * 100.0), whole = hundredths / 100, rest = labs(hundredths % 100);
    if (hundredths < 0 && whole == 0) fputc('-', out);
    fprintf(out, "%ld", whole);
    if (rest == 0) return;
    if (rest % 10 == 0)
        fprintf(out, ".%ld", rest / 10);
    else
        fprintf(out, ".%02ld", rest);
}

static void put_point(FILE *out, uint32_t point)
{
    if (point == '<' || point == '>' || point == '&' || point == '"' || point > 126 || point < 32) {
        bool allowed = point >= 32 && point != 0xfffe && point != 0xffff;
        fprintf(out, "&#%u;", allowed ? (unsigned)point : 0xfffdu);
        return;
    }
    fputc((int)point, out);
}

static void put_paint(FILE *out, const char *what, gess__ink ink)
{
    if (ink.alpha <= 0.0) {
        fprintf(out, " %s=\"none\"", what);
        return;
    }
    fprintf(out, " %s=\"#%06x\"", what, (unsigned)ink.rgb);
    if (ink.alpha >= 1.0) return;
    fprintf(out, " %s-opacity=\"", what);
    put(out, ink.alpha);
    fputc('"', out);
}

static void put_attribute(FILE *out, const char *name, double value)
{
    fprintf(out, " %s=\"", name);
    put(out, value);
    fputc('"', out);
}

static void put_path(FILE *out, const gess__canvas *c, const gess__op *op)
{
    fputs("<path d=\"", out);
    for (size_t i = op->first; i < op->first + op->count; i++) {
        const gess__vertex *v = &c->vertex[i];
        fputc(v->begins ? 'M' : 'L', out);
        put(out, v->x);
        fputc(' ', out);
        put(out, v->y);
        if (v->closes) fputc('Z', out);
    }
    fputc('"', out);
    put_paint(out, "fill", op->pen.fill);
    if (op->pen.stroke.alpha > 0.0) {
        put_paint(out, "stroke", op->pen.stroke);
        put_attribute(out, "stroke-width", op->pen.width);
        fputs(" stroke-linejoin=\"round\"", out);
        if (op->pen.dash > 0.0) put_attribute(out, "stroke-dasharray", op->pen.dash);
    }
    fputs("/>\n", out);
}

static void put_text(FILE *out, const gess__canvas *c, const gess__op *op)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    const gess__lettering *l = &op->lettering;
    fputs("<text", out);
    put_attribute(out, "x", op->x);
    put_attribute(out, "y", op->y);
    put_attribute(out, "font-size", l->size);
    put_paint(out, "fill", l->ink);
    if (l->anchor != GESS__START) fprintf(out, " text-anchor=\"%s\"", anchors[l->anchor]);
    if (l->bold) fputs(" font-weight=\"bold\"", out);
    if (l->upwards) {
        fputs(" transform=\"rotate(-90 ", out);
        put(out, op->x);
        fputc(' ', out);
        put(out, op->y);
        fputs(")\"", out);
    }
    put_attribute(out, "textLength", gess__points_width(c->point + op->first, op->count, l->size, l->bold));
    fputs(" lengthAdjust=\"spacingAndGlyphs\">", out);
    for (size_t i = op->first; i < op->first + op->count; i++) put_point(out, c->point[i]);
    fputs("</text>\n", out);
}

static void put_clips(FILE *out, const gess__canvas *c)
{
    if (c->clips > 0) fputs("<defs>\n", out);
    for (size_t i = 0; i < c->clips; i++) {
        fprintf(out, "<clipPath id=\"clip%zu\"><rect", i);
        put_attribute(out, "x", c->clip_at[i].x);
        put_attribute(out, "y", c->clip_at[i].y);
        put_attribute(out, "width", c->clip_at[i].width);
        put_attribute(out, "height", c->clip_at[i].height);
        fputs("/></clipPath>\n", out);
    }
    if (c->clips > 0) fputs("</defs>\n", out);
}

int gess__canvas_svg(const gess__canvas *c, FILE *out, gess_error *err)
{
    if (c->failed) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory while plotting");
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", out);
    put(out, c->width);
    fputc(' ', out);
    put(out, c->height);
    fputc('"', out);
    fputs(" width=\"", out);
    put(out, c->width);
    fputs("pt\" height=\"", out);
    put(out, c->height);
    fputs("pt\" role=\"img\" font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">\n<title>",
          out);
    for (const char *t = c->title; *t != '\0';) put_point(out, gess__next_point(&t));
    fputs("</title>\n", out);
    put_clips(out, c);
    int clip = -1;
    for (size_t i = 0; i < c->ops; i++) {
        const gess__op *op = &c->op[i];
        if (op->clip != clip && clip >= 0) fputs("</g>\n", out);
        if (op->clip != clip && op->clip >= 0) fprintf(out, "<g clip-path=\"url(#clip%d)\">\n", op->clip);
        clip = op->clip;
        if (op->kind == GESS__OP_PATH)
            put_path(out, c, op);
        else
            put_text(out, c, op);
    }
    if (clip >= 0) fputs("</g>\n", out);
    fputs("</svg>\n", out);
    return GESS_OK;
}
