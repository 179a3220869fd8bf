/* Random numbers as pure functions of a key (seed, iteration, chain, purpose) and an index.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror & Shaw, SC 2011; Random123) has the seed as its key and (chain, iteration,
 * purpose, index) as its counter. There is no state: every thread, rank or resumed run that computes a variate gets the
 * same bits, in any order.
 *
 *   key     = seed (64 bits)
 *   counter = index (32) | chain (32) | iteration, low (32) | purpose (8) and iteration, high (24)
 *
 * One counter value gives 128 bits: two uniforms or two normals. */
#ifndef GESS_BASE_RNG_H
#define GESS_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

/* What a variate is for. Two uses never share a purpose, so that no variate is used twice.
 * The numbers are part of the reproducibility promise: append, never renumber. */
enum gess__purpose {
    GESS__FOR_START = 1,               /* starting points; iteration = attempt */
    GESS__FOR_MODEL = 2,               /* matrices of synthetic models; chain = row */
    GESS__FOR_NORMALS = 3,             /* the ellipse's second point */
    GESS__FOR_SCALE = 4,               /* the inverse-gamma scale s; index = attempt */
    GESS__FOR_SLICE = 5,               /* height of the slice and angles of one update; index = angle */
    GESS__FOR_TEST = 6,                /* tests only */
    GESS__FOR_FIT = 7,                 /* seeds of a mixture's components */
    GESS__FOR_COMPONENT = 8,           /* the component of a mixture that an update uses: ellipses or proposals */
    GESS__FOR_REFERENCE = 9,           /* draws of the reference of annealing: normals; chain = particle */
    GESS__FOR_REFERENCE_SCALE = 10,    /* the same: the scale of the t */
    GESS__FOR_REFERENCE_UNIFORM = 11,  /* the same: uniforms; index = coordinate */
    GESS__FOR_RESAMPLING = 12,         /* the first point of systematic resampling; iteration = step */
    GESS__FOR_WEIGHING = 13,           /* draws of T by which modes are weighed: normals; chain = draw */
    GESS__FOR_WEIGHING_SCALE = 14,     /* the same: the scale of the t */
    GESS__FOR_TREE = 20,               /* the point of a trajectory that is chosen; index = its number */
    GESS__FOR_SWAP = 21,               /* swaps between temperatures; chain = the colder one */
    GESS__FOR_EVIDENCE = 30,           /* fresh draws of T for the evidence: normals; chain = draw, iteration = part */
    GESS__FOR_EVIDENCE_SCALE = 31,     /* the same: the scale of the t */
    GESS__FOR_EVIDENCE_COMPONENT = 32, /* the same: the component of a mixture */
    GESS__FOR_EVIDENCE_RADIUS = 33     /* radii of stored draws of periodic parameters; iteration = draw */
};

typedef struct gess__key {
    uint64_t seed;
    uint64_t iteration; /* < 2^56 */
    uint32_t chain;
    enum gess__purpose purpose;
} gess__key;

/* 128 raw bits. */
void gess__random_bits(gess__key key, uint32_t index, uint32_t bits[4]);

/* A uniform on (0, 1): odd multiples of 2^-53, never 0 or 1. */
double gess__uniform(gess__key key, uint32_t index);

/* Two uniforms per chain, for n chains: the first and second half of the bits of index `index`, with
 * key.chain = chains[j]. first[j] is gess__uniform() of that chain. */
void gess__uniform_pairs(gess__key key, uint32_t index, size_t n, const uint32_t *chains, double *first,
                         double *second);

/* Standard normals index 0 .. n-1 into out; entry i depends on (key, i) only, not on n. */
void gess__normals(gess__key key, size_t n, double *out);

/* The same for `rows` chains from key.chain on: row j of out has the n numbers of gess__normals() of key.chain + j. */
void gess__normal_rows(gess__key key, size_t rows, size_t n, double *out);

/* A Gamma(shape, 1) variate, shape > 0 (Marsaglia & Tsang, ACM TOMS 2000). */
double gess__gamma(gess__key key, double shape);

/* Gamma(shape, 1) variates for n chains: out[j] is gess__gamma() with key.chain = chains[j]. */
void gess__gammas(gess__key key, double shape, size_t n, const uint32_t *chains, double *out);

#endif
