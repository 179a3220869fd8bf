/* A team of threads: numbered workers that take items of work as they become free.
 *
 * gess__team_run() calls work(data, worker, item) once for every item 0 .. items-1 and returns when all are done. Any
 * free worker takes the next item, so no result may depend on the worker. The calling thread is worker 0. */
#ifndef GESS_PARALLEL_TEAM_H
#define GESS_PARALLEL_TEAM_H

#include "base/status.h"

typedef struct gess__team gess__team;

/* After a status other than GESS_OK no further items are taken. If several items fail, gess__team_run() reports the
 * smallest, with its message. Items below a failed one are always run, so the report does not depend on timing. */
typedef int gess__work_fn(void *data, unsigned worker, size_t item, gess_error *err);

/* The size of a team that is asked for this many threads; 0: one per core. */
unsigned gess__team_threads(unsigned threads);

/* threads = 0: one per core that this process may use. */
int gess__team_new(gess__team **team, unsigned threads, gess_error *err);
void gess__team_free(gess__team *team);
unsigned gess__team_size(const gess__team *team);

int gess__team_run(gess__team *team, size_t items, gess__work_fn *work, void *data, gess_error *err);

/* For work that the round does not have to wait for. A worker other than 0 calls them from within its work function.
 * After leave, gess__team_run() does not wait for the worker, and later rounds begin without it. Rejoin returns false
 * if the worker's round is over; then its work function must return without touching anything of that round. */
void gess__team_leave(gess__team *team, unsigned worker);
int gess__team_rejoin(gess__team *team, unsigned worker);

/* Waits until no worker is away. Call it between rounds. */
void gess__team_settle(gess__team *team);

#endif
