/* The rules of the verdict: thresholds, one function and one row of rules.def per rule, and what rules share.
 *
 * A rule adds a finding for the worst column only, and nothing if all is well. docs/specification.md gives the reasons
 * for the thresholds. */
#ifndef GESS_REPORT_RULES_H
#define GESS_REPORT_RULES_H

#include "report/verdict.h"

#define GESS__MIN_DRAWS 50        /* per chain */
#define GESS__MIN_NESTED_DRAWS 20 /* per chain, if groups of chains are compared */
#define GESS__RHAT_FAILURE 1.05   /* above it */
#define GESS__MIN_ESS 400.0       /* bulk and tail */
#define GESS__DRIFT_Z 5.0         /* drift_z of the ensemble */
#define GESS__DRIFT_SHIFT 0.1     /* in normal scores; above it: a failure, above half of it: a warning */
#define GESS__MIN_CHAINS 8        /* that differences between chains are judged by */
#define GESS__DRIFT_DRAWS 200     /* per chain, at least, if there are fewer chains */
#define GESS__FAILURES_SHARE 1e-3 /* of updates; above it: a failure */
#define GESS__NANS_SHARE 0.01     /* of evaluations; above it: a warning */
#define GESS__MAX_EVALS 8.0       /* evaluations per update */
#define GESS__NU_LOW 0.55         /* the floor is 0.5 */
#define GESS__WINDOW_Z 6.0        /* of the mean, sampling against the warm-up window */
#define GESS__WINDOW_SHIFT 0.25   /* in posterior sds; above it: a failure, above half of it: a warning */
#define GESS__WINDOW_RATIO 1.5    /* of sds; above it: a warning */
#define GESS__LOG_T_SHIFT 0.1     /* nats per dimension */
#define GESS__TAIL_EXCESS 1.0     /* nats of the levels in a tail above the others */
#define GESS__INTERACTION 1.5     /* error of the ensemble's mean over that of its chains */
#define GESS__LONE_EXCESS 15.0    /* of a chain's lp__ above the others', in mean excesses of their upper tail */
#define GESS__MIN_EXCESS 1e-3     /* nats; the smallest such scale */
#define GESS__MIN_LONE_CHAINS 4   /* that one of them is compared with */
#define GESS__OWN_Z 16.0          /* of a chain's mean or log sd among those of the others */
#define GESS__OWN_SHIFT 1.5       /* of the mean, in normal scores */
#define GESS__OWN_SPREAD 0.2      /* of the sd, over the usual one; below it */
#define GESS__PEAK_MASS 1e-3      /* share of the probability around a peak without draws */
#define GESS__PEAK_PER_DIM 1.5    /* nats of a peak of unknown mass above the median of lp__, per dimension */
#define GESS__MODE_WEIGHT 0.002   /* of a mode that must have several visitors */
#define GESS__MIN_VISITORS 5      /* chains, if no chain passes between modes */

/* A verdict in the making, with what the rules read. */
typedef struct gess__judge {
    gess__verdict *verdict;
    const gess__summary *s;
    const char *directory;
    json_t *history, *config; /* NULL if the file is missing or damaged */
    int status;               /* an error of gess__add_finding() */
    gess_error *err;
} gess__judge;

#define GESS_RULE(name, needs_history) void gess__rule_##name(gess__judge *judge);
#include "report/rules.def"
#undef GESS_RULE

/* Adds a finding. `code` must be static. */
void gess__add_finding(gess__judge *judge, int level, const char *code, const char *advice, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* A number of a JSON object, NaN if there is none. */
double gess__number_of(const json_t *object, const char *key);

/* The text of an option in config.json, "" if there is none. */
const char *gess__option_of(const gess__judge *judge, const char *name);

/* Whether the chains of the run were fitted to each other. */
int gess__is_two_group(const gess__judge *judge);

/* Whether the kernel of the run uses an approximation T. */
int gess__has_approximation(const gess__judge *judge);

/* A fixed parameter, or a derived quantity that never changes. */
int gess__is_constant(const gess__figures *figures);

/* Whether the verdict compares groups of chains by the nested R-hat: there are enough chains, and they do not interact.
 */
int gess__is_nested(const gess__judge *judge);

/* The threshold that corresponds to z for many chains, if the standard error comes from `chains` chains only. */
double gess__widen(double z, size_t chains);

#endif
