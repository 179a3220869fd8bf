/* The state of the two-group schedule, for those who follow its fits (the paper's figure of reuse, and tests). */
#ifndef GESS_SCHEDULE_TWO_GROUP_H
#define GESS_SCHEDULE_TWO_GROUP_H

#include "schedule/schedule.h"

typedef struct gess__two_group {
    gess__fitter *fitter;
    gess__fit_report fit; /* of the newest fit */
    uint64_t reuse;       /* iterations per fit */
    uint64_t fits;        /* so far */
    int turn;             /* the group that is updated: 0 or 1 */
    int fitted;           /* T is fitted for this turn */
    uint64_t turn_end;    /* iterations of the group at which the turn passes */
} gess__two_group;

#endif
