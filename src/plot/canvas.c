/* The list of what is drawn. Arrays grow by half; after a failure the rest is dropped. */
#include "plot/canvas.h"

#include "base/assert.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int gess__canvas_new(gess__canvas **canvas, double width, double height, const char *title, gess_error *err)
{
    *canvas = NULL;
    GESS_ASSERT(width > 0.0 && height > 0.0 && title != NULL);
    GESS_ALLOC(canvas, 1, err);
    (*canvas)->width = width;
    (*canvas)->height = height;
    (*canvas)->clip = -1;
    int status = gess__copy_text(&(*canvas)->title, title, err);
    if (status == GESS_OK) return GESS_OK;
    gess__canvas_free(*canvas);
    *canvas = NULL;
    return status;
}

void gess__canvas_free(gess__canvas *c)
{
    if (c == NULL) return;
    free(c->title);
    free(c->op);
    free(c->vertex);
    free(c->point);
    free(c->clip_at);
    free(c);
}

/* Makes room for one more element of `size` bytes; NULL if memory has run out. */
static void *grow(gess__canvas *c, void *array, size_t count, size_t *room, size_t size)
{
    if (c->failed) return NULL;
    if (count < *room) return array;
    size_t wanted = *room + *room / 2 + 64;
    void *bigger = realloc(array, wanted * size);
    if (bigger == NULL)
        c->failed = true;
    else
        *room = wanted;
    return bigger;
}

#define ADD(c, array, count, room)                                                        \
    do {                                                                                  \
        void *grown_ = grow((c), (c)->array, (c)->count, &(c)->room, sizeof *(c)->array); \
        if (grown_ == NULL) return;                                                       \
        (c)->array = grown_;                                                              \
    } while (0)

void gess__canvas_clip(gess__canvas *c, double x, double y, double width, double height)
{
    ADD(c, clip_at, clips, clip_room);
    c->clip_at[c->clips] = (gess__clip){x, y, width, height};
    c->clip = (int)c->clips++;
}

void gess__canvas_unclip(gess__canvas *c)
{
    c->clip = -1;
}

static void add_vertex(gess__canvas *c, double x, double y, bool begins)
{
    ADD(c, vertex, vertices, vertex_room);
    /* far outside of any page: the same to the eye, and no file format overflows */
    x = isfinite(x) ? (x < -1e5 ? -1e5 : x > 1e5 ? 1e5 : x) : 0.0;
    y = isfinite(y) ? (y < -1e5 ? -1e5 : y > 1e5 ? 1e5 : y) : 0.0;
    c->vertex[c->vertices] = (gess__vertex){.x = x, .y = y, .begins = begins || c->vertices == c->begun};
    c->vertices++;
}

void gess__move(gess__canvas *c, double x, double y)
{
    add_vertex(c, x, y, true);
}

void gess__line(gess__canvas *c, double x, double y)
{
    add_vertex(c, x, y, false);
}

void gess__close(gess__canvas *c)
{
    if (c->vertices > c->begun) c->vertex[c->vertices - 1].closes = true;
}

void gess__paint(gess__canvas *c, gess__pen pen)
{
    ADD(c, op, ops, op_room);
    if (c->vertices > c->begun)
        c->op[c->ops++] = (gess__op){.kind = GESS__OP_PATH,
                                     .clip = c->clip,
                                     .first = c->begun,
                                     .count = c->vertices - c->begun,
                                     .pen = pen};
    c->begun = c->vertices;
}

void gess__rectangle(gess__canvas *c, double x, double y, double width, double height, gess__pen pen)
{
    gess__move(c, x, y);
    gess__line(c, x + width, y);
    gess__line(c, x + width, y + height);
    gess__line(c, x, y + height);
    gess__close(c);
    gess__paint(c, pen);
}

void gess__segment_line(gess__canvas *c, double x0, double y0, double x1, double y1, gess__pen pen)
{
    gess__move(c, x0, y0);
    gess__line(c, x1, y1);
    gess__paint(c, pen);
}

static void add_point(gess__canvas *c, uint32_t point)
{
    ADD(c, point, points, point_room);
    c->point[c->points++] = point;
}

void gess__text(gess__canvas *c, double x, double y, gess__lettering lettering, const char *text)
{
    size_t first = c->points;
    while (*text != '\0') {
        uint32_t point = gess__next_point(&text);
        add_point(c, point < 0x20 || (point >= 0x7f && point < 0xa0) ? ' ' : point);
    }
    if (c->points == first) return;
    ADD(c, op, ops, op_room);
    c->op[c->ops++] = (gess__op){.kind = GESS__OP_TEXT,
                                 .clip = c->clip,
                                 .first = first,
                                 .count = c->points - first,
                                 .x = x,
                                 .y = y,
                                 .lettering = lettering};
}
