/* Asks the run to pause for a checkpoint when one is due, and to stop when --max-time is over. It also has gess_stop().
 * sink.c calls it while draws arrive. */
#include "run/deadlines.h"

#include "base/clock.h"
#include "run/run.h"

/* Time between checkpoints, unless --checkpoint-every gives a number of iterations. */
#define CHECKPOINT_SECONDS 60.0

void gess_stop(gess_run *run)
{
    if (run == NULL) return;
    atomic_store(&run->stop, 1);
    atomic_store(&run->pause, 1);
}

void gess__run_poll_clock(gess_run *run, uint64_t iterations)
{
    double now = gess__seconds();
    uint64_t every = run->options.checkpoint_every;
    if (run->options.max_time > 0.0 && now - run->started > run->options.max_time) {
        run->out_of_time = 1;
        gess_stop(run);
    }
    if (run->directory == NULL) return;
    if (iterations < run->checkpoint_iterations) run->checkpoint_iterations = 0; /* the next ensemble has begun */
    int due =
        every > 0 ? iterations >= run->checkpoint_iterations + every : now - run->checkpoint_time > CHECKPOINT_SECONDS;
    if (!due) return;
    run->checkpoint_iterations = iterations;
    atomic_store(&run->pause, 1);
}
