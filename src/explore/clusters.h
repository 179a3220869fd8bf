/* Clusters of points whose log densities are known: a cluster is the points that lead uphill to the same maximum.
 *
 * Every point is linked to its nearest neighbour of higher log density (A. Rodriguez and A. Laio, "Clustering by fast
 * search and find of density peaks", Science 344 (2014), with the true log densities in place of estimated ones). A
 * point whose link is much longer than the distances to its nearest neighbours is a maximum. */
#ifndef GESS_EXPLORE_CLUSTERS_H
#define GESS_EXPLORE_CLUSTERS_H

#include "base/status.h"

#include <stdint.h>

typedef struct gess__clusters {
    size_t room, dim;
    size_t count;     /* clusters */
    uint32_t *label;  /* room: the cluster of every point, from the largest cluster (0) on */
    size_t *size;     /* room: points of every cluster */
    double *metric;   /* dim: a typical distance of neighbours in every coordinate */
    uint32_t *chosen; /* room: the points that links are computed for; scratch */
    uint32_t *parent; /* room: scratch */
    double *link;     /* room: scratch */
    double *near;     /* room: scratch */
} gess__clusters;

int gess__clusters_new(gess__clusters **clusters, size_t room, size_t dim, gess_error *err);
void gess__clusters_free(gess__clusters *clusters);

/* Finds the clusters of n points (n × dim) with these log densities. Clusters of fewer than `least` points join the one
 * that they are linked to. There are at most `max` clusters: the smallest ones join others. */
void gess__clusters_find(gess__clusters *clusters, size_t n, const double *points, const double *values, size_t least,
                         size_t max);

#endif
