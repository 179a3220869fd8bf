/* Densities with known modes, and single-mode densities for counting false alarms.
 *
 * A family has a log density up to a constant, perhaps a box, a rule that gives the mode of a point, and the true
 * weight of every mode: the probability that the rule gives this mode. families.def lists the families. */
#ifndef MODES_H
#define MODES_H

#include <stddef.h>
#include <stdint.h>

enum { MAX_DIM = 30, MAX_MODES = 128 };

typedef struct family family;

/* Prepares the density: fills the bounds and constants. */
typedef void setup_fn(family *f);
typedef double logp_fn(const family *f, const double *x);
/* The mode of a point, below f->modes. */
typedef unsigned mode_fn(const family *f, const double *x);
/* Fills f->weights, and what `mode` needs beyond `setup`. */
typedef void truth_fn(family *f);
/* An exact draw; absent where there is none. `state` is that of next_word(). */
typedef void draw_fn(const family *f, uint64_t *state, double *x);

struct family {
    const char *name, *set;
    size_t dim, modes;
    setup_fn *setup;
    logp_fn *logp;
    mode_fn *mode;
    truth_fn *truth;
    draw_fn *draw; /* or NULL */
    int is_set_up, has_truth;
    double lower[MAX_DIM], upper[MAX_DIM]; /* infinite: none */
    unsigned char periodic[MAX_DIM];
    double weights[MAX_MODES];
    void *constants; /* of the file that implements the family; static memory */
};

/* ---- shared by the files of families ---- */

#define TWO_PI 6.283185307179586476925287

uint64_t next_word(uint64_t *state);
double next_uniform(uint64_t *state); /* in (0, 1) */
double next_normal(uint64_t *state);

/* log(e^a + e^b) */
double log_add(double a, double b);

/* The same bounds in all dimensions. */
void set_box(family *f, double lower, double upper);
void set_unbounded(family *f);

/* 1 if x is within the bounds. */
int is_inside(const family *f, const double *x);

/* All modes have the same weight. */
void equal_weights(family *f);

/* Weights by exact draws: the fractions that `mode` gives, of 4 million; standard errors are at most 2.5e-4. */
void simulated_weights(family *f);

#define FAMILY(name, set, dim, modes, setup, logp, mode, truth, draw) \
    setup_fn setup;                                                   \
    logp_fn logp;                                                     \
    mode_fn mode;                                                     \
    truth_fn truth;                                                   \
    draw_fn draw;
#define FAMILY_WITHOUT_DRAW(name, set, dim, modes, setup, logp, mode, truth) \
    setup_fn setup;                                                          \
    logp_fn logp;                                                            \
    mode_fn mode;                                                            \
    truth_fn truth;
#include "families.def"
#undef FAMILY
#undef FAMILY_WITHOUT_DRAW

#endif
