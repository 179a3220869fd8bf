"""Runs emcee on one family; called by `run.py --emcee`. Prints JSON.

    python3 bench/modes/emcee_one.py MODES.SO FAMILY SEED

64 walkers with the stretch move, emcee's default, from the starts that gess gets (uniform in the box). The run is
trusted, "pass", once emcee's own criterion holds: the chain is longer than 50 autocorrelation times of every parameter.
It ends without that after 2 million evaluations. Two autocorrelation times are discarded as burn-in. The criterion is
checked whenever the chain has grown by a fifth."""
import json
import math
import os
import random
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import numpy as np  # noqa: E402
import emcee  # noqa: E402

import harness  # noqa: E402

WALKERS = harness.CHAINS
MAX_EVALS = 2000000


def starts_of(family, seed):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'starts.csv')
        if harness.write_starts(path, family.name, seed):
            return np.loadtxt(path, delimiter=',', ndmin=2)
    numbers = random.Random('%s %d' % (family.name, seed))

    def start(low, high):
        return numbers.uniform(low, high) if math.isfinite(high - low) else numbers.gauss(0, 1)
    return np.array([[start(low, high) for low, high in zip(family.lower, family.upper)] for _ in range(WALKERS)])


def weights_of(family, chain):
    """Weights, and the larger of two standard errors: from the means of walkers, and from batch means over time."""
    steps, walkers, dim = chain.shape
    points = np.ascontiguousarray(chain.transpose(1, 0, 2))
    modes = family.assign(points.ctypes.data, steps * walkers, dim)
    chains = [modes[w * steps:(w + 1) * steps] for w in range(walkers)]
    weights, errors = harness.weights_of(chains, family.modes)
    size = max(1, steps // harness.BATCHES)
    batches = [b''.join(c[i:i + size] for c in chains) for i in range(0, steps - size + 1, size)]
    over_time = [harness.error_of([b.count(k) / len(b) for b in batches]) for k in range(family.modes)]
    return weights, [max(pair) for pair in zip(errors, over_time)]


def main():
    family = harness.Family(harness.open_library(sys.argv[1]), sys.argv[2])
    family.truth()
    seed, evals = int(sys.argv[3]), 0

    def logp(x):
        nonlocal evals
        x = np.ascontiguousarray(x)
        out = np.empty(len(x))
        family.logp(x.ctypes.data, len(x), out.ctypes.data)
        evals += len(x)
        return out
    begun = time.perf_counter()
    starts = starts_of(family, seed)
    sampler = emcee.EnsembleSampler(WALKERS, family.dim, logp, vectorize=True)
    state = emcee.State(starts, random_state=np.random.RandomState(seed).get_state())
    check, trusted, tau = 500, False, np.array([math.inf])
    for _ in sampler.sample(state, iterations=MAX_EVALS // WALKERS):
        if sampler.iteration < check:
            continue
        check = int(1.2 * check)
        tau = sampler.get_autocorr_time(tol=0)
        if trusted := bool(np.all(tau * 50 < sampler.iteration)):
            break
    worst = float(np.max(tau))
    burn_in = int(min(2 * worst, sampler.iteration / 2)) if math.isfinite(worst) else sampler.iteration // 2
    weights, errors = weights_of(family, sampler.get_chain(discard=burn_in))
    print(json.dumps({'status': 0, 'pass': trusted, 'findings': [], 'evals': evals, 'weights': weights,
                      'errors': errors, 'seconds': time.perf_counter() - begun, 'draws': sampler.iteration - burn_in,
                      'chains': WALKERS, 'tau': worst if math.isfinite(worst) else None, 'version': emcee.__version__}))


if __name__ == '__main__':
    main()
