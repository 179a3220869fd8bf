/* The progress monitor: ESS and R-hat of the draws so far, shown while a run with a given number of draws goes on.
 *
 * Nothing that the run does depends on it. A run that samples until targets are met shows the figures of its stop rule
 * instead. */
#ifndef GESS_RUN_PROGRESS_H
#define GESS_RUN_PROGRESS_H

#include "execute/ensemble.h"
#include "run/stop_rule.h"

typedef struct gess__progress_monitor {
    int wanted;
    gess__stop_rule *rule; /* holds the draws; NULL: the monitor is off */
    gess__team *team;      /* of the calling thread only, because the others are sampling */
    uint64_t capacity;     /* draws per chain that `rule` has room for */
    uint64_t updated_at;   /* draws per chain at the last update */
    double cost;           /* seconds that the last update took */
} gess__progress_monitor;

/* Turns the monitor on, if it is wanted and the run has stored no draws yet. */
int gess__progress_open(gess_run *run, gess_error *err);

/* Adds the draws of a segment of ensemble e. */
int gess__progress_take(gess_run *run, const gess__ensemble *e, const gess__segment *segment, gess_error *err);

/* Recomputes least_ess, worst_rhat and slowest of run->stats, if there are half as many draws again as at the last
 * update and the cost is a small share of the run's time. */
int gess__progress_update(gess_run *run, gess_error *err);

/* ---- how far the run is ---- */

/* What is known about the rest of a run; 0: not known. A forecast may set evals_learning: the evaluations that learning
 * will have taken when it ends. */
typedef struct gess__forecast {
    uint64_t evals_learning;
    /* measured by gess__progress_checked() */
    double check_seconds;  /* all checks of the stop rule in this session */
    double recent_seconds; /* the same, where a check counts half as much as the one after it */
    double recent_work;    /* of these, in units of one column's work */
} gess__forecast;

/* Notes how long a check of the stop rule took, at `draws` draws per chain. */
void gess__progress_checked(gess_run *run, uint64_t draws, double seconds);

/* Sets phase, phase_done, phase_total and seconds_left of run->stats, from its other fields. */
void gess__progress_estimate(gess_run *run);

/* The draws per chain at which a run that samples until its targets are met will end: the first check of the stop rule
 * at which ESS, taken to grow like the draws, and R-hat² − 1, taken to fall like their inverse, meet their targets; 0
 * before the first check. */
uint64_t gess__progress_expected_draws(const gess_run *run);

#endif
