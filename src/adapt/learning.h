/* What the schedules `pooled` and `auto` learn in warm-up: T from the window, and for `auto` a Laplace approximation
 * (laplace.h), a map and a mixture (map_search.h) and the mix of moves (move_mix.h). All of it is frozen with warm-up,
 * and only later draws are kept. */
#ifndef GESS_ADAPT_LEARNING_H
#define GESS_ADAPT_LEARNING_H

#include "adapt/stages.h"

typedef struct gess__laplace gess__laplace;
typedef struct gess__map_search gess__map_search;
typedef struct gess__move_value gess__move_value;

/* How learning stands. Saved in checkpoints as it is. */
typedef struct gess__learning_state {
    uint64_t fits;                      /* so far */
    double score, gap, gain, shrinkage; /* of the last fit, as in gess__pool_report */
    int shrunk_to_laplace;              /* the last fit was shrunk towards the Laplace approximation */
    /* the Laplace approximation */
    int laplace_stopped; /* its search was stopped and goes on later */
    int laplace_found;   /* there is one */
    int by_laplace;      /* T comes from it at present */
    uint64_t laplace_evals;
    /* the search for a map and a mixture */
    uint64_t searches, searched_at; /* how many; evaluations at the last, without those of the Laplace search */
    int improving;                  /* the last search helped, so there will be another */
    unsigned futile;                /* searches in a row that did not help */
    int unconfirmed;                /* the last one helped so much that the chains have not seen where it leads */
    unsigned skip, skips;           /* refits before the next search: still to come, and in total */
    unsigned layers, layer[GESS__MAX_LAYERS]; /* of the map: how many, and their rows in layers.def */
    double map_gain, mixture_gain;            /* found by the last one, in nats per draw */
    /* the mix of moves */
    double acceptance;          /* share of independence moves that should be accepted */
    double independence;        /* draws per evaluation expected of independence moves */
    double independence_before; /* the same after the last search */
    double ellipse;             /* draws per evaluation that updates around ellipses brought */
    double evals_per_ellipse;
    double rate;         /* effective draws per evaluation expected of the chosen mix of moves */
    int covers;          /* T is known to cover every basin that holds chains: independence moves may be tried */
    unsigned chosen;     /* independence moves per ellipse that sampling would be done with */
    uint64_t doubted_at; /* evaluations when T was first doubted though there were points enough; 0: never */
    double tail_excess;  /* gess__map_search_tail_excess() when sampling began; 0 before */
    double fitted_nu[GESS__MAX_COMPONENTS]; /* before ν was capped for independence moves; 0: never fitted */
} gess__learning_state;

typedef struct gess__learning {
    gess__adaptation *adaptation; /* borrowed */
    gess__ensemble *ensemble;     /* its ensemble */
    gess__learning_state state;
    gess__fitter *fitter;     /* NULL once there is no warm-up to come */
    gess__approx *spare;      /* scratch of fits */
    gess__fit_report fit;     /* of the newest fit */
    gess__laplace *laplace;   /* NULL: `pooled`, or too many dimensions for the evaluations that there are */
    gess__map_search *search; /* NULL: `pooled` */
    gess__move_value *value;  /* NULL: `pooled` */
} gess__learning;

/* `all`: everything that `auto` learns, otherwise only T. */
int gess__learning_new(gess__learning **learning, gess__adaptation *adaptation, int all, gess_error *err);
void gess__learning_free(gess__learning *learning);

/* After a stage: fits T to the window and, if all is learned, searches for maps and mixtures and chooses the mix of
 * moves. Returns whether T can still be improved. */
int gess__learning_assess(gess__learning *learning);

/* Fits T, and notes what the fit says. Starts a window if the ensemble has moved. */
void gess__learning_fit(gess__learning *learning, const gess__pool *pool, gess__pool_report *report);

void gess__learning_archive(gess__learning *learning, gess__archive *archive);

#endif
