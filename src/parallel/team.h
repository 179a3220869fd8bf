/* A team of threads with numbered workers and dynamic hand-out of work.
 *
 * gess__team_run() calls work(data, worker, item) once for every item 0 .. items-1 and returns when
 * all are done. Which worker gets which item is decided by who is free, so nothing that matters may
 * depend on it. The calling thread is worker 0. */
#ifndef GESS_PARALLEL_TEAM_H
#define GESS_PARALLEL_TEAM_H

#include "base/status.h"

typedef struct gess__team gess__team;

/* A status other than GESS_OK ends the hand-out; of several, that of the smallest item is reported,
 * with its message. Items below a failed one are always run, so the report does not depend on luck. */
typedef int gess__work_fn(void *data, unsigned worker, size_t item, gess_error *err);

/* threads = 0: one for each core that this process may use. */
int gess__team_new(gess__team **team, unsigned threads, gess_error *err);
void gess__team_free(gess__team *team);
unsigned gess__team_size(const gess__team *team);

int gess__team_run(gess__team *team, size_t items, gess__work_fn *work, void *data, gess_error *err);

/* For work that nobody needs to wait for, from within a work function, and not by worker 0. A worker that leaves is not
 * waited for at the end of gess__team_run(), and later calls begin without it. When it rejoins, its round may be over:
 * then the answer is false and its work function must return, leaving alone whatever belonged to that round. */
void gess__team_leave(gess__team *team, unsigned worker);
int gess__team_rejoin(gess__team *team, unsigned worker);

/* Between rounds: waits until no worker is away. */
void gess__team_settle(gess__team *team);

#endif
