/* A drawing: filled and stroked paths and text, kept as a list, which a back end writes as SVG, PDF or PNG.
 *
 * Lengths are points (1/72 inch), y grows downwards. Functions that draw do not fail: if memory runs out, the drawing
 * says so when it is written. Text may be any bytes; what is not UTF-8 becomes U+FFFD. */
#ifndef GESS_PLOT_CANVAS_H
#define GESS_PLOT_CANVAS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct gess__ink {
    uint32_t rgb;
    double alpha; /* 0: none */
} gess__ink;

typedef struct gess__pen {
    gess__ink fill, stroke;
    double width; /* of the stroke */
    double dash;  /* length of dashes and gaps; 0: a solid line */
} gess__pen;

typedef enum gess__anchor { GESS__START, GESS__MIDDLE, GESS__END } gess__anchor;

typedef struct gess__lettering {
    double size;
    gess__anchor anchor;
    bool bold;
    bool upwards; /* turned by a quarter: reads from below */
    gess__ink ink;
} gess__lettering;

/* ---- drawing ---- */

typedef struct gess__canvas gess__canvas;

/* `title` is what programs say of the picture. */
int gess__canvas_new(gess__canvas **canvas, double width, double height, const char *title, gess_error *err);
void gess__canvas_free(gess__canvas *canvas); /* safe on NULL */

/* What follows is cut at a rectangle, until gess__canvas_unclip(). */
void gess__canvas_clip(gess__canvas *canvas, double x, double y, double width, double height);
void gess__canvas_unclip(gess__canvas *canvas);

/* A path: gess__move() begins a part, gess__close() closes it; gess__paint() paints all parts since the last one, the
 * inside of opposite turns staying empty. */
void gess__move(gess__canvas *canvas, double x, double y);
void gess__line(gess__canvas *canvas, double x, double y);
void gess__close(gess__canvas *canvas);
void gess__paint(gess__canvas *canvas, gess__pen pen);

void gess__rectangle(gess__canvas *canvas, double x, double y, double width, double height, gess__pen pen);
void gess__segment_line(gess__canvas *canvas, double x0, double y0, double x1, double y1, gess__pen pen);

/* The baseline begins, is centred or ends at (x, y). */
void gess__text(gess__canvas *canvas, double x, double y, gess__lettering lettering, const char *text);

/* ---- what back ends read ---- */

enum gess__op_kind { GESS__OP_PATH, GESS__OP_TEXT };

typedef struct gess__vertex {
    double x, y;
    bool begins; /* a part of the path */
    bool closes; /* its part, after this point */
} gess__vertex;

typedef struct gess__op {
    int kind;
    int clip;            /* index of the rectangle it is cut at; -1: none */
    size_t first, count; /* vertices of a path, or code points of a text */
    double x, y;
    gess__pen pen;
    gess__lettering lettering;
} gess__op;

typedef struct gess__clip {
    double x, y, width, height;
} gess__clip;

struct gess__canvas {
    double width, height;
    char *title;
    bool failed; /* memory ran out */
    int clip;
    size_t ops, vertices, points, clips, begun; /* begun: the first vertex of the present path */
    size_t op_room, vertex_room, point_room, clip_room;
    gess__op *op;
    gess__vertex *vertex;
    uint32_t *point; /* code points of the texts */
    gess__clip *clip_at;
};

/* Each writes the whole drawing. GESS_ERR_INTERNAL if memory ran out; errors of `out` are the caller's to see. */
int gess__canvas_svg(const gess__canvas *canvas, FILE *out, gess_error *err);
int gess__canvas_pdf(const gess__canvas *canvas, FILE *out, gess_error *err);
int gess__canvas_png(const gess__canvas *canvas, double dots_per_inch, FILE *out, gess_error *err);

/* Writes a file by the end of its name, .svg, .pdf or .png: under a temporary name, then renamed. GESS_ERR_USAGE for
 * another ending. (write.c) */
int gess__canvas_write(const gess__canvas *canvas, const char *path, gess_error *err);

/* GESS_ERR_USAGE if the name of a plot's file has none of these endings. */
int gess__canvas_ending(const char *path, gess_error *err);

/* ---- letters (letters.c) ---- */

/* The width of text, in Helvetica as far as it has the letters. */
double gess__text_width(const char *text, double size, bool bold);
double gess__points_width(const uint32_t *points, size_t count, double size, bool bold);

/* The byte of a code point in PDF's WinAnsiEncoding, for those that a plot needs; 0: it has none. */
unsigned char gess__winansi(uint32_t point);

/* The outline of a letter: calls `to` for each vertex, in ems, y upwards. Returns the advance in ems. */
typedef void gess__outline_fn(void *user, double x, double y, bool begins);
double gess__outline(uint32_t point, gess__outline_fn *to, void *user);

/* The next code point of UTF-8, U+FFFD for a byte that makes none; *text moves on. */
uint32_t gess__next_point(const char **text);

#endif
