/* Basins: the modes that annealing has found, each with its weight and some of its points. Warm-up goes on with its own
 * fits after annealing, and they could forget a small mode; so T is given a component for every basin that it does not
 * cover any more. */
#ifndef GESS_EXPLORE_BASINS_H
#define GESS_EXPLORE_BASINS_H

#include "explore/annealing.h"

enum { GESS__MAX_BASINS = GESS__MAX_COMPONENTS, GESS__BASIN_POINTS = 64 };

/* What became of a basin when warm-up ended. */
enum gess__fate { GESS__FATE_OPEN, GESS__FATE_KEPT, GESS__FATE_MERGED, GESS__FATE_GIVEN_UP, GESS__FATE_LOST };

typedef struct gess__basin {
    uint64_t starts;      /* chains that started in it; set at the end of warm-up */
    uint64_t particles;   /* of the annealing that found it; 0: none did */
    uint64_t held;        /* points that are stored */
    double value;         /* the highest log density in y that was seen in it */
    double weight, error; /* share of the mass, and its standard error */
    uint64_t restored;    /* times that it got its component back */
    int32_t fate;
    int32_t unused;
} gess__basin;

typedef struct gess__basins {
    size_t dim, room; /* room: for basins; one if T has one component at most */
    uint64_t count;   /* archived, like the following */
    gess__basin basin[GESS__MAX_BASINS];
    double *points, *raw;    /* basins × GESS__BASIN_POINTS (× dim): points in y and their log densities there */
    double *centre, *spread; /* basins × dim: mean and standard deviation of the points, in y */
    double log_volume[GESS__MAX_BASINS]; /* twice the sum of the logs of the spreads */
    double *w, *log_t, *scratch;         /* of a check */
} gess__basins;

int gess__basins_new(gess__basins **basins, size_t dim, gess_error *err);
void gess__basins_free(gess__basins *basins);

/* Takes the basins from the particles of an annealing that is done. */
void gess__basins_take(gess__basins *basins, const gess__annealing *annealing);

/* Makes the present window the first basin. */
void gess__basins_add_window(gess__basins *basins, const gess__learning *learning);

/* Adds a basin of n points of the sampling space with these log densities and importance weights, and with this share
 * of the mass. Returns 0 if there is no room. */
size_t gess__basins_add(gess__basins *basins, const gess__learning *learning, size_t n, const double *points,
                        const double *values, const double *weights, double share, double error);

/* Removes the last *count basins, and sets *count to 0. */
void gess__basins_remove(gess__basins *basins, size_t *count);

/* How far a point y is from basin k: −2 log of the density of a Gaussian with its centre and spread. */
double gess__basins_distance(const gess__basins *basins, size_t k, const double *y);

/* The basin that a point y is in: the nearest. */
size_t gess__basins_find(const gess__basins *basins, const double *y);

/* Whether basins j of a and k of b are the same mode: their centres are close in units of their spreads. */
int gess__basins_same(const gess__basins *a, size_t j, const gess__basins *b, size_t k);

/* Gives T a component for every basin that it does not cover; returns how many. */
size_t gess__basins_cover(gess__basins *basins, gess__learning *learning);

/* At the end of warm-up: sets what became of every basin, and how many of n starts (n × dim, in y) were in it. */
void gess__basins_judge(gess__basins *basins, const gess__learning *learning, size_t n, const double *starts);

/* How many chains are in every basin. */
void gess__basins_count_chains(const gess__basins *basins, const gess__ensemble *ensemble, uint32_t *counts);

void gess__basins_archive(gess__basins *basins, gess__archive *archive);

#endif
