/* The interface that remote helpers implement (cluster/coordinator.c), so that execution knows nothing of ranks and
 * messages: the scheduler tells them when a stretch begins and ends; in between they claim blocks (scheduler.h). */
#ifndef GESS_EXECUTE_REMOTE_H
#define GESS_EXECUTE_REMOTE_H

#include "base/status.h"

typedef struct gess__scheduler gess__scheduler;
typedef struct gess__remote gess__remote;

struct gess__remote {
    unsigned workers; /* threads of all ranks, this one's included; 0: not known yet */
    int (*begin)(gess__remote *remote, gess__scheduler *scheduler, gess_error *err);
    void (*end)(gess__remote *remote);
};

#endif
