/* Figures of the draws so far for people who watch a run whose number of draws is given. Nothing of the run depends on
 * them. */
#ifndef GESS_RUN_PROGRESS_H
#define GESS_RUN_PROGRESS_H

#include "execute/ensemble.h"
#include "run/stop_rule.h"

typedef struct gess__progress_monitor {
    int wanted;
    gess__stop_rule *watch;
    gess__team *alone; /* the calling thread only: the others are at work */
    uint64_t room;     /* draws of each chain that were made room for */
    uint64_t looked;   /* draws at the last look */
    double cost;       /* seconds that it took */
} gess__progress_monitor;

int gess__progress_open(gess_run *run, gess_error *err);

/* Takes the draws of a segment. */
int gess__progress_take(gess_run *run, const gess__ensemble *e, const gess__segment *segment, gess_error *err);

/* A look where it costs little of the time so far, at half as many draws again each time or later. */
int gess__progress_look(gess_run *run, gess_error *err);

#endif
