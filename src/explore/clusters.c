/* Finds clusters: chooses a metric, links every point to the nearest higher one, cuts long links, and joins clusters
 * that are too small. */
#include "explore/clusters.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Links are computed for at most MAX_LINKED points and the metric from MAX_METRIC, since both take time with the square
 * of that number. */
enum { MAX_LINKED = 4096, MAX_METRIC = 1000, NEIGHBOURS = 8, METRICS = 2 };

/* A link that is longer than this factor of the distance to the NEIGHBOURS-th neighbour is cut. Along a line gaps of
 * that length are frequent: all neighbours of a point may be on one side of it, and the link on the other. */
#define LONG_LINK 2.0
#define LONG_LINK_ON_A_LINE 4.0

int gess__clusters_new(gess__clusters **clusters, size_t room, size_t dim, gess_error *err)
{
    GESS_ASSERT(room > 0 && dim > 0);
    GESS_ALLOC(clusters, 1, err);
    gess__clusters *c = *clusters;
    c->room = room;
    c->dim = dim;
    GESS_ALLOC(&c->label, room, err);
    GESS_ALLOC(&c->size, room, err);
    GESS_ALLOC(&c->metric, dim, err);
    GESS_ALLOC(&c->chosen, room, err);
    GESS_ALLOC(&c->parent, room, err);
    GESS_ALLOC(&c->link, room, err);
    GESS_ALLOC(&c->near, room, err);
    return GESS_OK;
}

void gess__clusters_free(gess__clusters *c)
{
    if (c == NULL) return;
    free(c->label);
    free(c->size);
    free(c->metric);
    free(c->chosen);
    free(c->parent);
    free(c->link);
    free(c->near);
    free(c);
}

static double distance(const gess__clusters *c, const double *x, const double *y)
{
    double sum = 0.0;
    for (size_t k = 0; k < c->dim; k++) {
        double z = (x[k] - y[k]) / c->metric[k];
        sum += z * z;
    }
    return sum;
}

/* The standard deviations of coordinates. */
static void set_spread(gess__clusters *c, size_t m, const double *points)
{
    for (size_t k = 0; k < c->dim; k++) {
        double mean = 0.0, square = 0.0;
        for (size_t i = 0; i < m; i++) mean += points[c->chosen[i] * c->dim + k] / (double)m;
        for (size_t i = 0; i < m; i++) {
            double x = points[c->chosen[i] * c->dim + k] - mean;
            square += x * x;
        }
        c->metric[k] = square > 0.0 ? sqrt(square / (double)m) : 1.0;
    }
}

/* The nearest neighbour of point i among those chosen, leaving out points at distance 0 (copies of it). */
static size_t nearest(const gess__clusters *c, size_t m, const double *points, size_t i)
{
    size_t best = i;
    double min = INFINITY;
    for (size_t j = 0; j < m; j++) {
        double d = distance(c, points + c->chosen[i] * c->dim, points + c->chosen[j] * c->dim);
        if (!(d > 0.0 && d < min)) continue;
        min = d;
        best = j;
    }
    return best;
}

/* Refines the metric: the median distance of nearest neighbours in every coordinate. Neighbours are in the same mode,
 * so distances between modes do not show in it. */
static void refine_metric(gess__clusters *c, size_t m, const double *points)
{
    for (size_t i = 0; i < m; i++) c->parent[i] = (uint32_t)nearest(c, m, points, i);
    for (size_t k = 0; k < c->dim; k++) {
        for (size_t i = 0; i < m; i++)
            c->near[i] = fabs(points[c->chosen[i] * c->dim + k] - points[c->chosen[c->parent[i]] * c->dim + k]);
        gess__sort(m, c->near);
        double typical = c->near[m / 2] > 0.0 ? c->near[m / 2] : c->near[m - 1];
        if (typical > 0.0) c->metric[k] = typical;
    }
}

static int higher(const double *values, size_t i, size_t j)
{
    return values[i] > values[j] || (values[i] == values[j] && i < j);
}

/* Puts d into the ascending distances near[*count], of which it keeps the NEIGHBOURS smallest; equal ones count once,
 * since they are of copies of a point. */
static void note_distance(double *near, size_t *count, double d)
{
    size_t at = *count;
    while (at > 0 && near[at - 1] > d) at--;
    if (at == NEIGHBOURS || (at > 0 && near[at - 1] == d)) return;
    if (*count < NEIGHBOURS) ++*count;
    for (size_t k = *count - 1; k > at; k--) near[k] = near[k - 1];
    near[at] = d;
}

/* Links point i to the nearest higher one, and notes the distance to its NEIGHBOURS-th neighbour. */
static void set_link(gess__clusters *c, size_t m, const double *points, const double *values, size_t i)
{
    double near[NEIGHBOURS], min = INFINITY;
    size_t count = 0;
    c->parent[i] = (uint32_t)i;
    for (size_t j = 0; j < m; j++) {
        if (j == i) continue;
        double d = distance(c, points + c->chosen[i] * c->dim, points + c->chosen[j] * c->dim);
        if (d < min && higher(values, c->chosen[j], c->chosen[i])) {
            min = d;
            c->parent[i] = (uint32_t)j;
        }
        if (d > 0.0) note_distance(near, &count, d);
    }
    c->link[i] = sqrt(min);
    c->near[i] = count > 0 ? sqrt(near[count - 1]) : INFINITY;
}

/* The maximum that a chosen point leads to. */
static uint32_t maximum(const gess__clusters *c, uint32_t i)
{
    double factor = c->dim == 1 ? LONG_LINK_ON_A_LINE : LONG_LINK;
    while (c->parent[i] != i && !(c->link[i] > factor * c->near[i])) i = c->parent[i];
    return i;
}

/* Joins the cluster of maximum i to the one that i is linked to. */
static void join(gess__clusters *c, size_t i)
{
    c->link[i] = 0.0;
    c->size[maximum(c, (uint32_t)i)] += c->size[i];
    c->size[i] = 0;
}

/* Counts the points of every maximum in c->size. */
static void count_points(gess__clusters *c, size_t m)
{
    memset(c->size, 0, m * sizeof *c->size);
    for (size_t i = 0; i < m; i++) c->size[maximum(c, (uint32_t)i)]++;
}

/* Returns the number of maxima, and the smallest of those that can be joined in *smallest. */
static size_t count_maxima(const gess__clusters *c, size_t m, size_t *smallest)
{
    size_t count = 0;
    *smallest = m;
    for (size_t i = 0; i < m; i++) {
        if (c->size[i] == 0) continue;
        count++;
        if (c->parent[i] != i && (*smallest == m || c->size[i] < c->size[*smallest])) *smallest = i;
    }
    return count;
}

/* Numbers the maxima by falling size, and labels every point by the chosen point that is nearest to it. */
static void label(gess__clusters *c, size_t n, size_t m, const double *points)
{
    for (size_t i = 0; i < m; i++) c->label[i] = maximum(c, (uint32_t)i);
    for (size_t i = 0; i < m; i++) c->link[i] = (double)c->size[i];
    c->count = 0;
    for (;;) {
        size_t best = m;
        for (size_t i = 0; i < m; i++)
            if (c->link[i] > 0.0 && (best == m || c->link[i] > c->link[best])) best = i;
        if (best == m) break;
        c->link[best] = -1.0 - (double)c->count++;
    }
    for (size_t i = 0; i < m; i++) c->parent[i] = (uint32_t)(-1.0 - c->link[c->label[i]]);
    for (size_t i = 0; i < n; i++) {
        size_t best = 0;
        double min = INFINITY;
        for (size_t j = 0; j < m && min > 0.0; j++) {
            double d = distance(c, points + i * c->dim, points + c->chosen[j] * c->dim);
            if (d < min) {
                min = d;
                best = j;
            }
        }
        c->label[i] = c->parent[best];
    }
    memset(c->size, 0, c->count * sizeof *c->size);
    for (size_t i = 0; i < n; i++) c->size[c->label[i]]++;
}

/* Chooses m of n points, evenly spread. */
static void choose(gess__clusters *c, size_t n, size_t m)
{
    for (size_t i = 0; i < m; i++) c->chosen[i] = (uint32_t)(i * n / m);
}

void gess__clusters_find(gess__clusters *c, size_t n, const double *points, const double *values, size_t least,
                         size_t max)
{
    GESS_ASSERT(n > 0 && n <= c->room && max > 0);
    size_t m = n < MAX_LINKED ? n : MAX_LINKED, smallest;
    choose(c, n, m < MAX_METRIC ? m : MAX_METRIC);
    set_spread(c, m < MAX_METRIC ? m : MAX_METRIC, points);
    for (int i = 0; i < METRICS; i++) refine_metric(c, m < MAX_METRIC ? m : MAX_METRIC, points);
    choose(c, n, m);
    for (size_t i = 0; i < m; i++) set_link(c, m, points, values, i);
    count_points(c, m);
    size_t count = count_maxima(c, m, &smallest), min = (size_t)((double)least * (double)m / (double)n);
    while (count > 1 && smallest < m && (count > max || c->size[smallest] < min || c->size[smallest] < 2)) {
        join(c, smallest);
        count = count_maxima(c, m, &smallest);
    }
    label(c, n, m, points);
    for (size_t i = 0; c->count > max && i < n; i++) { /* distances that are not finite */
        if (c->label[i] < max) continue;
        c->size[c->label[i]]--;
        c->size[c->label[i] = (uint32_t)max - 1]++;
    }
    if (c->count > max) c->count = max;
}
