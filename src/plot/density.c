/* Densities of draws and their contours. A contour's level is that which a share of the draws themselves exceeds, so it
 * contains this share whatever the smoothing; its lines are marching squares with linear interpolation. */
#include "plot/density.h"

#include "base/mem.h"
#include "base/sort.h"
#include "base/vmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = GESS__GRID };

double gess__sorted_quantile(const double *sorted, size_t count, double p)
{
    double place = p * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count) return sorted[count - 1];
    double t = place - (double)below;
    return sorted[below] * (1.0 - t) + sorted[below + 1] * t;
}

bool gess__view(const double *sorted, size_t count, double *lo, double *hi)
{
    if (count < 2) return false;
    double min = sorted[0], max = sorted[count - 1];
    double a = gess__sorted_quantile(sorted, count, 0.001), b = gess__sorted_quantile(sorted, count, 0.999);
    double margin = 0.1 * (b - a);
    *lo = a - margin > min ? a - margin : min;
    *hi = b + margin < max ? b + margin : max;
    if (!(*hi > *lo)) {
        *lo = min;
        *hi = max;
    }
    return *hi > *lo && isfinite(*hi - *lo);
}

double gess__local_scale(const double *sorted, size_t count)
{
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < count; i++) mean += sorted[i] / (double)count;
    for (size_t i = 0; i < count; i++) squares += (sorted[i] - mean) * (sorted[i] - mean);
    double scale = sqrt(squares / (double)count);
    double half = (gess__sorted_quantile(sorted, count, 0.75) - gess__sorted_quantile(sorted, count, 0.25)) / 1.349;
    if (half > 0.0 && half < scale) scale = half;
    size_t quarter = count / 4;
    double shortest = INFINITY;
    for (size_t i = 0; quarter > 8 && i + quarter < count; i++)
        if (sorted[i + quarter] - sorted[i] < shortest) shortest = sorted[i + quarter] - sorted[i];
    if (shortest > 0.0 && shortest / 0.637 < scale) scale = shortest / 0.637;
    return scale;
}

/* ---- the surface ---- */

/* Smooths along one direction: N lines of N values, `next` apart within a line and `line` from line to line. */
static void smooth(double *values, size_t next, size_t line, double width, bool low, bool high)
{
    double weights[N] = {0}, sum = 1.0, out[N];
    long reach = lrint(ceil(3.5 * width));
    if (!(width > 0.05)) return;
    if (reach > N - 1) reach = N - 1;
    for (long k = 0; k <= reach; k++) weights[k] = gess__exp(-0.5 * (double)(k * k) / (width * width));
    for (long k = 1; k <= reach; k++) sum += 2.0 * weights[k];
    for (size_t l = 0; l < N; l++) {
        double *v = values + l * line;
        for (long i = 0; i < N; i++) {
            double total = 0.0;
            for (long k = -reach; k <= reach; k++) {
                long from = i + k;
                if (from < 0 && low) from = -1 - from;
                if (from >= N && high) from = 2 * N - 1 - from;
                if (from >= 0 && from < N) total += weights[k < 0 ? -k : k] * v[(size_t)from * next];
            }
            out[i] = total / sum;
        }
        for (size_t i = 0; i < N; i++) v[i * next] = out[i];
    }
}

void gess__surface_fill(gess__surface *s, size_t count, const double *x, const double *y, gess__smoothing how)
{
    double dx = (s->x_hi - s->x_lo) / N, dy = (s->y_hi - s->y_lo) / N;
    memset(s->value, 0, sizeof s->value);
    for (size_t i = 0; i < count; i++) {
        double u = (x[i] - s->x_lo) / dx, v = (y[i] - s->y_lo) / dy;
        if (!(u >= 0.0 && u <= N && v >= 0.0 && v <= N)) continue;
        size_t column = u < N ? (size_t)u : N - 1, row = v < N ? (size_t)v : N - 1;
        s->value[row * N + column] += 1.0;
    }
    smooth(s->value, 1, N, how.x_width / dx, how.x_low, how.x_high);
    smooth(s->value, N, 1, how.y_width / dy, how.y_low, how.y_high);
}

/* The value of a cell; the nearest one's beyond the edge. */
static double cell(const gess__surface *s, long row, long column)
{
    row = row < 0 ? 0 : row >= N ? N - 1 : row;
    column = column < 0 ? 0 : column >= N ? N - 1 : column;
    return s->value[row * N + column];
}

double gess__surface_at(const gess__surface *s, double x, double y)
{
    double u = (x - s->x_lo) / (s->x_hi - s->x_lo) * N, v = (y - s->y_lo) / (s->y_hi - s->y_lo) * N;
    if (!(u >= 0.0 && u <= N && v >= 0.0 && v <= N)) return 0.0;
    double a = floor(u - 0.5), b = floor(v - 0.5), s1 = u - 0.5 - a, t = v - 0.5 - b;
    long c = (long)a, r = (long)b;
    return (1.0 - t) * ((1.0 - s1) * cell(s, r, c) + s1 * cell(s, r, c + 1)) +
           t * ((1.0 - s1) * cell(s, r + 1, c) + s1 * cell(s, r + 1, c + 1));
}

void gess__surface_levels(const gess__surface *s, size_t count, const double *x, const double *y, size_t levels,
                          const double *shares, double *level, double *scratch)
{
    for (size_t i = 0; i < count; i++) scratch[i] = gess__surface_at(s, x[i], y[i]);
    gess__sort(count, scratch);
    for (size_t k = 0; k < levels; k++) {
        level[k] = gess__sorted_quantile(scratch, count, 1.0 - shares[k]);
        if (!(level[k] > 0.0)) level[k] = 1e-12 * scratch[count - 1];
    }
}

/* ---- contours ---- */

/* Values at the middles of cells, at the edge of the rectangle, and a frame of zeros just outside, so that every line
 * is closed: coordinates 0 … N + 3. */
enum { M = N + 4 };

typedef struct march {
    const gess__surface *surface;
    double level;
    unsigned char *used; /* of the squares: bits of the edges whose line has been drawn */
} march;

static double node(const march *m, long row, long column)
{
    if (row <= 0 || column <= 0 || row >= M - 1 || column >= M - 1) return 0.0;
    return cell(m->surface, row - 2, column - 2);
}

/* Where node k lies, in cells from the low end of the rectangle. */
static double where(long k)
{
    if (k <= 1) return k == 1 ? 0.0 : -1e-6;
    if (k >= M - 2) return k == M - 2 ? N : N + 1e-6;
    return (double)k - 1.5;
}

/* The four edges of square (row, column), in turn: below, right, above, left. Corners: (r, c), (r, c+1), (r+1, c+1),
 * (r+1, c). */
static const long corner_row[5] = {0, 0, 1, 1, 0}, corner_column[5] = {0, 1, 1, 0, 0};

static void crossing(const march *m, long row, long column, int edge, double *x, double *y)
{
    long r0 = row + corner_row[edge], c0 = column + corner_column[edge];
    long r1 = row + corner_row[edge + 1], c1 = column + corner_column[edge + 1];
    double a = node(m, r0, c0), b = node(m, r1, c1), t = (m->level - a) / (b - a);
    *x = where(c0) + t * (where(c1) - where(c0));
    *y = where(r0) + t * (where(r1) - where(r0));
}

/* The edge at which a line that enters the square at `edge` leaves it, with high values always on the same side: among
 * the edges that it may leave by, the first one after it that turns from low to high. */
static int leaves(const march *m, long row, long column, int edge)
{
    for (int k = 1; k < 4; k++) {
        int e = (edge + k) % 4;
        bool from = node(m, row + corner_row[e], column + corner_column[e]) >= m->level;
        bool to = node(m, row + corner_row[e + 1], column + corner_column[e + 1]) >= m->level;
        if (!from && to) return e;
    }
    return -1;
}

static const long next_row[4] = {-1, 0, 1, 0}, next_column[4] = {0, 1, 0, -1};

/* Follows the line that enters square (row, column) at `edge`, back to where it began. */
static void follow(march *m, gess__canvas *c, const gess__axis *at_x, const gess__axis *at_y, long row, long column,
                   int edge)
{
    const gess__surface *s = m->surface;
    bool begins = true;
    while ((m->used[row * M + column] >> edge & 1) == 0) {
        double u, v;
        m->used[row * M + column] |= (unsigned char)(1u << edge);
        crossing(m, row, column, edge, &u, &v);
        double x = gess__place(at_x, s->x_lo + u / N * (s->x_hi - s->x_lo));
        double y = gess__place(at_y, s->y_lo + v / N * (s->y_hi - s->y_lo));
        if (begins)
            gess__move(c, x, y);
        else
            gess__line(c, x, y);
        begins = false;
        int out = leaves(m, row, column, edge);
        if (out < 0) break;
        row += next_row[out];
        column += next_column[out];
        edge = (out + 2) % 4;
        if (row < 0 || column < 0 || row >= M - 1 || column >= M - 1) break;
    }
    gess__close(c);
}

int gess__contour(gess__canvas *canvas, const gess__surface *surface, double level, const gess__axis *at_x,
                  const gess__axis *at_y, gess_error *err)
{
    march m = {.surface = surface, .level = level};
    GESS_ALLOC(&m.used, (size_t)M * M, err);
    for (long row = 0; row < M - 1; row++)
        for (long column = 0; column < M - 1; column++)
            for (int e = 0; e < 4; e++) {
                /* a line enters where the edge turns from high to low */
                bool from = node(&m, row + corner_row[e], column + corner_column[e]) >= level;
                bool to = node(&m, row + corner_row[e + 1], column + corner_column[e + 1]) >= level;
                if (from && !to && (m.used[row * M + column] >> e & 1) == 0)
                    follow(&m, canvas, at_x, at_y, row, column, e);
            }
    free(m.used);
    return GESS_OK;
}
