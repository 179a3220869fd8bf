/* The state of the tempering schedule beside the chains' powers (chains/state.h): what tuning the temperatures needs.
 */
#ifndef GESS_SCHEDULE_TEMPERING_H
#define GESS_SCHEDULE_TEMPERING_H

#include "schedule/schedule.h"

typedef struct gess__ladder {
    uint64_t round;  /* iterations until it is tuned; 0: it never is */
    uint64_t from;   /* iteration at which it was tuned last */
    double *refused; /* per pair since then: probabilities of refusal, summed */
    double *scratch; /* 2 × chains */
} gess__ladder;

#endif
