#include "run/clock.h"

#include "base/clock.h"
#include "run/run.h"

/* A checkpoint a minute, where their number is not given. */
#define CHECKPOINT_SECONDS 60.0

void gess_stop(gess_run *run)
{
    atomic_store(&run->stop, 1);
    atomic_store(&run->halt, 1);
}

/* Asks for a checkpoint where one is due: the workers come to the end of what they are at. */
void gess__run_heed_clock(gess_run *run, uint64_t iterations)
{
    double now = gess__seconds();
    uint64_t every = run->options.checkpoint_every;
    if (run->options.max_time > 0.0 && now - run->started > run->options.max_time) {
        run->out_of_time = 1;
        gess_stop(run);
    }
    if (run->directory == NULL) return;
    if (iterations < run->checkpointed) run->checkpointed = 0; /* another ensemble */
    if (every > 0 ? iterations >= run->checkpointed + every : now - run->checkpoint_time > CHECKPOINT_SECONDS) {
        run->checkpointed = iterations;
        atomic_store(&run->halt, 1);
    }
}
