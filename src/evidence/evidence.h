/* The evidence: log ∫π of the density in the user's scale, from fresh draws of the frozen T and the stored draws.
 *
 * Everything happens in the sampling space w (transform/target.h). Stored draws are mapped back to it with all
 * Jacobians. A periodic parameter is a point (u, v) of a plane there, of which a draw keeps the angle only; the radius
 * is independent of it, so it is drawn again. The integral over w is that over x times 2π / (b − a) per periodic
 * parameter, which is divided out.
 *
 * If T is close to the density, the estimate is importance sampling from it, which the stored draws do not enter;
 * otherwise it is the bridge between stored and fresh draws (estimate.c says which). The other of the two is the second
 * estimate. Three of four pairs of fresh draws go to the estimate, the fourth to the second one. So the two share the
 * draws that T was fitted to, and nothing else.
 *
 * T was fitted to draws of warm-up, not to the draws that are bridged. If T is poor, or a schedule has none, the series
 * are split into folds: a map and a mixture of t are fitted to all folds but one, and that one is bridged with them.
 * Each pair of a T and the draws that it is bridged with is a part.
 *
 * Fresh draws are functions of the seed and their number, and evaluations are done in batches of a fixed size, on all
 * threads and ranks (cluster/batches.h): the result has the same bits for any number of them. Values are stored as they
 * are evaluated (values.h), so that an interrupted computation continues. */
#ifndef GESS_EVIDENCE_EVIDENCE_H
#define GESS_EVIDENCE_EVIDENCE_H

#include "cluster/coordinator.h"

#include <stdatomic.h>

/* The defaults of the settings below. */
#define GESS__EVIDENCE_ERROR 0.02
enum { GESS__EVIDENCE_EVALS = 5000 };

/* The draws of an ensemble, and its T. */
typedef struct gess__evidence_source {
    gess__ensemble *ensemble; /* whose target it is */
    int has_t;                /* its frozen T was fitted to other draws */
    size_t first, chains;     /* of the file of draws */
    int refit;                /* T may be replaced by fits to halves of the draws */
} gess__evidence_source;

typedef struct gess__evidence_input {
    size_t sources;
    const gess__evidence_source *source;
    const char *draws;  /* path of the file */
    const char *values; /* path of the stored values; NULL: they are not stored */
    uint64_t seed;
    gess__team *team;
    gess__coordinator *ranks; /* which have been gathered and evaluate too; NULL: this process only */
    atomic_int *stop;         /* NULL: it cannot be stopped */
    double error;             /* standard error to reach */
    uint64_t evals;           /* evaluations, at most */
} gess__evidence_input;

typedef struct gess__evidence_result {
    double log_z, se;          /* the estimate */
    double se_draws, se_fresh; /* what the stored and the fresh draws contribute to se: se² = se_draws² + se_fresh² */
    double second, second_se;
    int importance;  /* the estimate is importance sampling, and the bridge the second; otherwise the other way round */
    double k, max_k; /* k̂ of all fresh weights, and the largest that can be trusted */
    double uncovered;            /* share of the stored draws at weights above those of all fresh draws of T */
    double effective;            /* effective number of stored draws, as the bridge sees them */
    uint64_t draws, evals, nans; /* stored draws that were read; evaluations; of these, NaN */
    size_t parts;
    size_t components; /* of T, without wide ones; the most of any part */
    size_t layers;     /* of the map before T, if it was refitted; the most of any part */
    int refitted;      /* T was fitted to other draws than those bridged */
    int outside;       /* a source in which every fresh draw has density zero */
} gess__evidence_result;

/* GESS_ERR_STOPPED if `stop` was set; the values so far are stored. */
int gess__evidence(const gess__evidence_input *input, gess__evidence_result *result, gess_error *err);

/* How far apart the two estimates are, in standard errors of their difference. */
double gess__evidence_apart(const gess__evidence_result *result);

#endif
