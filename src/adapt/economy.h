/* The economy of a run: when to stop learning. What is minimised is evaluations in all until the goal is met, which is
 * the effective draws or the draws per chain that the run was made for.
 *
 * After every stage there is a forecast: what sampling would cost with the present T, from the effective draws per
 * evaluation that its mix of moves should bring. A perfect T would bring one, so more learning can save at most the
 * difference. Learning goes on while that is more than a certain part of what has been spent so far, or while the last
 * stage saved more than the next one will cost; otherwise T is tried.
 *
 * A trial is a stage with T frozen. Its draws are thrown away, or, if it fails, learned from. It fails if the log
 * density or a coordinate drifts, or if its draws are worth so much less than forecast that learning should go on; it
 * is longer and stricter (thorough) if the run cannot learn again. If it passes, the run commits itself to T, and all
 * later draws are kept. The decision depends on draws before the first that is kept, never on one that is. */
#ifndef GESS_ADAPT_ECONOMY_H
#define GESS_ADAPT_ECONOMY_H

#include "adapt/window.h"
#include "base/options.h"

/* Iterations of the shortest trial. */
enum { GESS__MIN_TRIAL = 10 };

/* Why a trial failed. */
enum gess__trial_result {
    GESS__TRIAL_NONE,
    GESS__TRIAL_PASSED,
    GESS__TRIAL_DRIFT,
    GESS__TRIAL_SLOW,
    GESS__TRIAL_BASIN
};

/* How it stands. Saved in checkpoints as it is. */
typedef struct gess__economy {
    double goal;            /* effective draws of this ensemble; 0: the goal is a number of updates, or there is none */
    double updates;         /* of this ensemble, if draws per chain were asked for; 0: they were not */
    int final;              /* the run cannot learn again: its first T has to do, and trials are thorough */
    double rate;            /* effective draws per evaluation forecast for the present T; 0: T is not ready */
    double rate_before;     /* the same a stage before */
    int unsure;             /* the present T is so new that the chains have not been where it leads: it is not tried */
    double forecast;        /* evaluations that sampling would take */
    double next;            /* evaluations that the next stage would take */
    double trial_cost;      /* evaluations that a trial would take beyond those of the shortest one */
    double best_rate;       /* the largest rate since the window began */
    int pays;               /* a long run goes on learning: the last stage has raised that */
    int due;                /* warm-up would have ended, but for stages that pay */
    double mark, mark_rate; /* evaluations and rate when the trend was looked at last */
    double mark_value, mark_error; /* mean log density then, and its standard error */
    int stagnant;            /* neither the rate nor the mean log density has changed much since the mark before */
    int trial;               /* the stage that is running is a trial */
    int result;              /* gess__trial_result of the last trial */
    unsigned trials;         /* complete */
    unsigned commitments;    /* times that sampling has begun */
    double drift, max_drift; /* of the last trial: largest drift in standard errors, and its limit */
    double slowest;          /* of the last trial: largest autocorrelation time, in iterations */
    double measured_rate;    /* of the last trial: effective draws per evaluation */
} gess__economy;

/* Sets the goal of one of options->ensembles ensembles. */
void gess__economy_open(gess__economy *economy, const gess_options *options);

/* A stage, as the forecast needs it. */
typedef struct gess__stage_cost {
    double spent;        /* evaluations so far */
    double per_update;   /* expected evaluations per update */
    double next;         /* updates of the next stage */
    double trial;        /* updates of a trial beyond those of the shortest one */
    double value, error; /* mean log density, and its standard error */
} gess__stage_cost;

/* After a stage, with `rate` set: the forecast, and whether T should be tried. */
int gess__economy_forecast(gess__economy *economy, const gess__stage_cost *stage);

/* Evaluations of learning that are still to come if T gets no better, after `spent` of them; 0 before there is a
 * forecast. */
double gess__economy_left(const gess__economy *economy, double spent);

/* Iterations of a trial: several autocorrelation times, and enough rows of the window. */
uint64_t gess__trial_length(const gess__economy *economy, const gess__window *window, double per_update);

/* Judges the window's newest stage, a trial, and sets `result`. `moved`: its log densities differ from those before;
 * `last`: nothing is left to learn, so that only a drift makes it fail. */
void gess__trial_judge(gess__economy *economy, const gess__window *window, int moved, int last, double spent,
                       double per_update);

/* Whether the T that the run has committed itself to disappoints: `sampling` evaluations, at least as many as were
 * forecast, have brought draws worth less than half of what was forecast and less than half of the goal, and reaching
 * the goal by them would take more than a quarter of the `learning` evaluations that were spent on T; or they are eight
 * times as many as were forecast and more than learning took, whatever they have brought. `share`: of the goal that has
 * been reached. */
int gess__economy_disappoints(const gess__economy *economy, double learning, double sampling, double share);

#endif
