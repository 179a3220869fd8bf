/* The pooled warm-up must FAIL the exact invariance test.
 *
 * It fits T to the chains that it updates, so an ensemble of exact draws does not stay one. That is why
 * its draws are discarded. A test that did not notice would be worthless, so this program passes if the
 * ensemble test says "not invariant". test_kernels.c tests sampling after the freeze. */
#include "base/mem.h"
#include "invariance/judge.h"
#include "invariance/targets.h"
#include "schedule/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPLICATES = 2000, CHAINS = 8, STAGES = 3, DIM = 2 };

/* Mean over the chains of the squared distance from the centre, after warm-up stages. */
static double pooled_delta(const double *x, const exact_target *t)
{
    double sum = 0.0;
    for (size_t c = 0; c < CHAINS; c++) sum += t->delta(x + c * DIM);
    return sum / CHAINS;
}

int main(void)
{
    gess_error err = {0};
    gess__team *team = NULL;
    const exact_target *t = &exact_targets[0];
    gess_model model = exact_model(t);
    static double before[REPLICATES], after[REPLICATES];
    double scratch[DIM + 1];
    judge_must(gess__team_new(&team, 1, &err), &err);
    for (size_t r = 0; r < REPLICATES; r++) {
        gess_options options;
        gess__sampler *sampler = NULL;
        gess__record none = {0};
        gess__options_init(&options);
        options.schedule = "pooled";
        options.chains = CHAINS;
        options.seed = r;
        judge_must(gess__sampler_new(&sampler, &model, &options, 0, CHAINS, team, &err), &err);
        gess__ensemble *e = &sampler->ensemble;
        for (size_t c = 0; c < CHAINS; c++) exact_draw(t, 7, r * CHAINS + c, e->chains.x + c * DIM, scratch);
        model.logp(NULL, 0, CHAINS, DIM, e->chains.x, e->chains.value);
        before[r] = pooled_delta(e->chains.x, t);
        for (int stage = 0; stage < STAGES; stage++) judge_must(gess__sampler_warm_up(sampler, &none, &err), &err);
        after[r] = pooled_delta(e->chains.x, t);
        gess__sampler_free(sampler);
    }
    gess__team_free(team);
    double p = judge_means(REPLICATES, after, REPLICATES, before), q = judge_ks(REPLICATES, after, REPLICATES, before);
    double smallest = fmin(p, q);
    printf("pooled warm-up: %d replicates, smallest p %.3g; it must not be invariant\n", REPLICATES, smallest);
    return !(smallest < 1e-6);
}
