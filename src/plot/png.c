/* Writes a drawing as PNG, on white. Shapes are painted with the exact area that they cover of each pixel: edges add
 * signed areas to a buffer, whose running sums along rows are the coverage (as in R. Levien's font-rs). */
#include "base/checksum.h"
#include "base/mem.h"
#include "plot/canvas.h"
#include "plot/deflate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct raster {
    long width, height;
    double scale;          /* pixels per point */
    unsigned char *pixels; /* rows of one filter byte and RGB */
    float *area;           /* height × (width + 2) */
    long top, bottom;      /* rows that the present shape touches */
    const gess__clip *clip;
    double x, y, size; /* of the outline that is drawn, in pixels */
    bool upwards;
    double last_x, last_y, first_x, first_y;
} raster;

static double within(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Adds one row's part of an edge: from x0 to x1, `height` of the row, downwards if positive. */
static void add_row(float *a, double x0, double x1, double height)
{
    if (x0 > x1) {
        double x = x0;
        x0 = x1;
        x1 = x;
    }
    long first = (long)x0, last = (long)ceil(x1);
    if (last <= first + 1) {
        double middle = 0.5 * (x0 + x1) - (double)first;
        a[first] += (float)(height * (1.0 - middle));
        a[first + 1] += (float)(height * middle);
        return;
    }
    double per_pixel = 1.0 / (x1 - x0), before = 0.0; /* the sum of this row so far */
    for (long i = first; i < last; i++) {
        double from = x0 > (double)i ? x0 : (double)i, to = x1 < (double)(i + 1) ? x1 : (double)(i + 1);
        double passed = (from - x0) * per_pixel, here = (to - from) * per_pixel; /* shares of the edge */
        double cover = passed + here * (1.0 - (0.5 * (from + to) - (double)i));
        a[i] += (float)(height * (cover - before));
        before = cover;
    }
    a[last] += (float)(height * (1.0 - before));
}

static void add_edge(raster *r, double x0, double y0, double x1, double y1)
{
    double sign = 1.0;
    if (y0 == y1) return;
    if (y0 > y1) {
        double x = x0, y = y0;
        x0 = x1;
        y0 = y1;
        x1 = x;
        y1 = y;
        sign = -1.0;
    }
    if (y1 <= 0.0 || y0 >= (double)r->height) return;
    double slope = (x1 - x0) / (y1 - y0);
    long first = y0 > 0.0 ? (long)y0 : 0, last = y1 < (double)r->height ? (long)ceil(y1) : r->height;
    if (first < r->top) r->top = first;
    if (last > r->bottom) r->bottom = last;
    for (long row = first; row < last; row++) {
        double from = y0 > (double)row ? y0 : (double)row, to = y1 < (double)(row + 1) ? y1 : (double)(row + 1);
        double a = within(x0 + slope * (from - y0), 0.0, (double)r->width);
        double b = within(x0 + slope * (to - y0), 0.0, (double)r->width);
        add_row(r->area + row * (r->width + 2), a, b, sign * (to - from));
    }
}

/* Paints the shape whose edges were added, and clears the buffer. */
static void fill_shape(raster *r, gess__ink ink)
{
    long left = 0, right = r->width, above = 0, below = r->height;
    if (r->clip != NULL) {
        left = (long)within(floor(r->clip->x * r->scale), 0.0, (double)r->width);
        right = (long)within(ceil((r->clip->x + r->clip->width) * r->scale), 0.0, (double)r->width);
        above = (long)within(floor(r->clip->y * r->scale), 0.0, (double)r->height);
        below = (long)within(ceil((r->clip->y + r->clip->height) * r->scale), 0.0, (double)r->height);
    }
    for (long row = r->top; row < r->bottom; row++) {
        float *a = r->area + row * (r->width + 2), sum = 0.0f;
        unsigned char *pixel = r->pixels + row * (3 * r->width + 1) + 1;
        for (long i = 0; i < r->width; i++) {
            sum += a[i];
            double cover = fabs((double)sum);
            if (cover < 1e-3 || i < left || i >= right || row < above || row >= below) continue;
            double share = (cover < 1.0 ? cover : 1.0) * (ink.alpha < 1.0 ? ink.alpha : 1.0);
            for (int k = 0; k < 3; k++) {
                double to = (double)(ink.rgb >> (16 - 8 * k) & 255), from = pixel[3 * i + k];
                pixel[3 * i + k] = (unsigned char)lrint(from + share * (to - from));
            }
        }
        memset(a, 0, (size_t)(r->width + 2) * sizeof *a);
    }
    r->top = r->height;
    r->bottom = 0;
}

/* A convex shape, turned so that its area counts as positive: overlapping parts of a stroke must not cancel. */
static void add_convex(raster *r, const double (*p)[2], size_t count)
{
    double twice = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double *a = p[i], *b = p[(i + 1) % count];
        twice += a[0] * b[1] - b[0] * a[1];
    }
    for (size_t i = 0; i < count; i++) {
        const double *a = p[i], *b = p[(i + 1) % count];
        if (twice > 0.0)
            add_edge(r, a[0], a[1], b[0], b[1]);
        else
            add_edge(r, b[0], b[1], a[0], a[1]);
    }
}

static void add_stroke(raster *r, double x0, double y0, double x1, double y1, double half)
{
    double dx = x1 - x0, dy = y1 - y0, length = sqrt(dx * dx + dy * dy);
    if (!(length > 0.0)) return;
    double nx = -dy / length * half, ny = dx / length * half;
    const double quad[4][2] = {{x0 + nx, y0 + ny}, {x1 + nx, y1 + ny}, {x1 - nx, y1 - ny}, {x0 - nx, y0 - ny}};
    add_convex(r, quad, 4);
}

/* A round joint of a wide stroke. */
static void add_joint(raster *r, double x, double y, double half)
{
    static const double at[8][2] = {{1, 0},  {.7071, .7071},   {0, 1},  {-.7071, .7071},
                                    {-1, 0}, {-.7071, -.7071}, {0, -1}, {.7071, -.7071}};
    double p[8][2];
    if (half < 0.8) return;
    for (size_t i = 0; i < 8; i++) {
        p[i][0] = x + half * at[i][0];
        p[i][1] = y + half * at[i][1];
    }
    add_convex(r, (const double(*)[2])p, 8);
}

/* A segment with dashes: *along is how far the line has come, in pixels. */
static void add_dashes(raster *r, double x0, double y0, double x1, double y1, double half, double dash, double *along)
{
    double dx = x1 - x0, dy = y1 - y0, length = sqrt(dx * dx + dy * dy);
    for (double at = 0.0; at < length;) {
        double place = fmod(*along, 2.0 * dash), step = place < dash ? dash - place : 2.0 * dash - place;
        if (!(step > 1e-6)) step = 1e-6;
        if (at + step > length) step = length - at;
        if (place < dash)
            add_stroke(r, x0 + dx * at / length, y0 + dy * at / length, x0 + dx * (at + step) / length,
                       y0 + dy * (at + step) / length, half);
        at += step;
        *along += step;
    }
}

static void stroke_path(raster *r, const gess__vertex *v, size_t count, const gess__pen *pen)
{
    double half = 0.5 * (pen->width * r->scale > 1.0 ? pen->width * r->scale : 1.0), along = 0.0;
    const gess__vertex *first = v;
    for (size_t i = 0; i < count; i++) {
        if (v[i].begins) {
            first = &v[i];
            along = 0.0;
        }
        const gess__vertex *next = v[i].closes ? first : i + 1 < count && !v[i + 1].begins ? &v[i + 1] : NULL;
        if (next == NULL) continue;
        double x0 = v[i].x * r->scale, y0 = v[i].y * r->scale, x1 = next->x * r->scale, y1 = next->y * r->scale;
        if (pen->dash > 0.0) {
            add_dashes(r, x0, y0, x1, y1, half, pen->dash * r->scale, &along);
        } else {
            add_stroke(r, x0, y0, x1, y1, half);
            if (v[i].closes || (i + 2 < count && !v[i + 2].begins) || v[i + 1].closes) add_joint(r, x1, y1, half);
        }
    }
    fill_shape(r, pen->stroke);
}

static void fill_path(raster *r, const gess__vertex *v, size_t count, gess__ink ink)
{
    const gess__vertex *first = v;
    for (size_t i = 0; i < count; i++) {
        if (v[i].begins) first = &v[i];
        const gess__vertex *next = i + 1 < count && !v[i + 1].begins ? &v[i + 1] : first;
        add_edge(r, v[i].x * r->scale, v[i].y * r->scale, next->x * r->scale, next->y * r->scale);
    }
    fill_shape(r, ink);
}

static void outline_point(void *user, double x, double y, bool begins)
{
    raster *r = user;
    double px = r->x + (r->upwards ? -y : x) * r->size, py = r->y - (r->upwards ? x : y) * r->size;
    if (begins) {
        add_edge(r, r->last_x, r->last_y, r->first_x, r->first_y);
        r->first_x = px;
        r->first_y = py;
    } else {
        add_edge(r, r->last_x, r->last_y, px, py);
    }
    r->last_x = px;
    r->last_y = py;
}

static void put_text(raster *r, const gess__canvas *c, const gess__op *op)
{
    const gess__lettering *l = &op->lettering;
    double width = gess__points_width(c->point + op->first, op->count, l->size, l->bold), drawn = 0.0;
    for (size_t i = 0; i < op->count; i++) drawn += gess__outline(c->point[op->first + i], NULL, NULL) * l->size;
    double along = l->anchor == GESS__START ? 0.0 : l->anchor == GESS__MIDDLE ? -width / 2.0 : -width;
    double stretch = drawn > 0.0 ? width / drawn : 1.0; /* Helvetica's width is the layout's */
    for (int pass = 0; pass < (l->bold ? 2 : 1); pass++) {
        double at = along + (l->bold ? 0.03 * l->size * pass : 0.0);
        for (size_t i = 0; i < op->count; i++) {
            r->size = l->size * r->scale;
            r->upwards = l->upwards;
            r->x = (op->x + (l->upwards ? 0.0 : at)) * r->scale;
            r->y = (op->y - (l->upwards ? at : 0.0)) * r->scale;
            r->first_x = r->first_y = r->last_x = r->last_y = 0.0;
            at += gess__outline(c->point[op->first + i], outline_point, r) * l->size * stretch;
            add_edge(r, r->last_x, r->last_y, r->first_x, r->first_y);
            fill_shape(r, l->ink);
        }
    }
}

static void put_number(unsigned char *to, uint32_t n)
{
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(n >> (24 - 8 * i) & 255);
}

static void put_chunk(FILE *out, const char *kind, const unsigned char *bytes, size_t size)
{
    unsigned char head[8], tail[4];
    put_number(head, (uint32_t)size);
    memcpy(head + 4, kind, 4);
    uint32_t crc = gess__crc32(0, head + 4, 4);
    if (size > 0) crc = gess__crc32(crc, bytes, size);
    put_number(tail, crc);
    fwrite(head, 1, 8, out);
    if (size > 0) fwrite(bytes, 1, size, out);
    fwrite(tail, 1, 4, out);
}

static int put_png(const raster *r, double dots_per_inch, FILE *out, gess_error *err)
{
    unsigned char head[13] = {0}, dots[9], *packed = NULL;
    size_t size = 0;
    GESS_TRY(gess__deflate(&packed, &size, r->pixels, (size_t)r->height * (size_t)(3 * r->width + 1), err));
    put_number(head, (uint32_t)r->width);
    put_number(head + 4, (uint32_t)r->height);
    head[8] = 8; /* bits */
    head[9] = 2; /* RGB */
    put_number(dots, (uint32_t)lrint(dots_per_inch / 0.0254));
    put_number(dots + 4, (uint32_t)lrint(dots_per_inch / 0.0254));
    dots[8] = 1; /* per metre */
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, out);
    put_chunk(out, "IHDR", head, sizeof head);
    put_chunk(out, "pHYs", dots, sizeof dots);
    put_chunk(out, "IDAT", packed, size);
    put_chunk(out, "IEND", NULL, 0);
    free(packed);
    return GESS_OK;
}

static void put_all(raster *r, const gess__canvas *c)
{
    for (size_t i = 0; i < c->ops; i++) {
        const gess__op *op = &c->op[i];
        r->clip = op->clip >= 0 ? &c->clip_at[op->clip] : NULL;
        if (op->kind == GESS__OP_TEXT) {
            put_text(r, c, op);
            continue;
        }
        if (op->pen.fill.alpha > 0.0) fill_path(r, c->vertex + op->first, op->count, op->pen.fill);
        if (op->pen.stroke.alpha > 0.0) stroke_path(r, c->vertex + op->first, op->count, &op->pen);
    }
}

int gess__canvas_png(const gess__canvas *c, double dots_per_inch, FILE *out, gess_error *err)
{
    if (c->failed) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory while plotting");
    raster r = {.scale = dots_per_inch / 72.0};
    r.width = (long)ceil(c->width * r.scale);
    r.height = (long)ceil(c->height * r.scale);
    r.top = r.height;
    size_t row = 3 * (size_t)r.width + 1;
    int status = gess__alloc_bytes(&r.pixels, (size_t)r.height, row, "pixels", err);
    if (status == GESS_OK)
        status = gess__alloc_bytes(&r.area, (size_t)r.height * (size_t)(r.width + 2), sizeof *r.area, "areas", err);
    if (status == GESS_OK) {
        for (long y = 0; y < r.height; y++) memset(r.pixels + (size_t)y * row + 1, 255, row - 1);
        put_all(&r, c);
        status = put_png(&r, dots_per_inch, out, err);
    }
    free(r.pixels);
    free(r.area);
    return status;
}
