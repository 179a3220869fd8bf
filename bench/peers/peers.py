"""Runs emcee's stretch move or zeus's default move on a built-in density of gess.

    python peers.py emcee|zeus --library libgess.so --model funnel --seed 1 --warmup 1e6 --evals 1e6
                    [--walkers 100] [--draws FILE.npy] [--means FILE.npy --centre FILE]

The density is the compiled one, called in batches through the public interface. Walkers start where gess starts
its chains: by the model's rule, or at standard normals reflected into one-sided bounds. Both samplers need an even
number of walkers, at least two per dimension, so there are max(walkers, 2 dim).

An iteration moves every walker once. Iterations that begin within the first `warmup` evaluations are discarded; the
run ends with the iteration that reaches `evals` more. Output:

  --draws   the draws after warm-up, float64, dim × walkers × iterations
  --means   per iteration, warm-up included: evaluations so far, then the means over the walkers of the parameters,
            then the means of their distances from the numbers in --centre (one per line); iterations × (1 + 2 dim)

and one JSON object on standard output. gess computes the diagnostics, the same for every sampler."""
import argparse
import ctypes
import json
import os
import random
import sys
import time
import warnings

for variable in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ.setdefault(variable, '1')  # before numpy is loaded
import numpy as np  # noqa: E402

ABI = 1
ATTEMPTS = 100  # to find a start inside the support, as in gess


class Model(ctypes.Structure):
    """The head of gess_model in <gess/gess.h>."""
    LOGP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_size_t,
                            ctypes.c_void_p, ctypes.c_void_p)
    START = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p)
    _fields_ = [('abi', ctypes.c_uint), ('name', ctypes.c_char_p), ('dim', ctypes.c_size_t), ('logp', LOGP),
                ('gradient', ctypes.c_void_p), ('start', START), ('names', ctypes.c_void_p),
                ('user', ctypes.c_void_p), ('lower', ctypes.POINTER(ctypes.c_double)),
                ('upper', ctypes.POINTER(ctypes.c_double))]


class Error(ctypes.Structure):
    _fields_ = [('status', ctypes.c_int), ('text', ctypes.c_char * 1024)]


class Density:
    """A model of the library as a function of many points; counts the points and the seconds inside."""

    def __init__(self, path, specification):
        self.library = ctypes.CDLL(path)
        model, error = ctypes.POINTER(Model)(), Error()
        if self.library.gess_model_open(ctypes.byref(model), specification.encode(), None, ctypes.byref(error)) != 0:
            sys.exit('%s: %s' % (specification, error.text.decode()))
        self.model = model.contents
        if self.model.abi != ABI:
            sys.exit('%s: ABI %d, but this program knows %d' % (specification, self.model.abi, ABI))
        self.dim, self.points, self.seconds = self.model.dim, 0, 0.0
        self.lower = self.bounds(self.model.lower, -np.inf)
        self.upper = self.bounds(self.model.upper, np.inf)

    def bounds(self, pointer, absent):
        return np.array(pointer[:self.dim]) if pointer else np.full(self.dim, absent)

    def __call__(self, x):
        x = np.ascontiguousarray(x, dtype=float)
        x = x.reshape(-1, self.dim)
        logp = np.empty(len(x))
        begun = time.perf_counter()
        if self.model.logp(self.model.user, 0, len(x), self.dim, x.ctypes.data, logp.ctypes.data) != 0:
            raise RuntimeError('the density reports an error')
        self.seconds += time.perf_counter() - begun
        self.points += len(x)
        logp[((x < self.lower) | (x > self.upper)).any(axis=1)] = -np.inf
        logp[np.isnan(logp)] = -np.inf  # as in gess
        return logp

    def start(self, rng):
        for _ in range(ATTEMPTS):
            normals, x = rng.standard_normal(self.dim), np.empty(self.dim)
            if self.model.start:
                self.model.start(self.model.user, self.dim, normals.ctypes.data, x.ctypes.data)
            else:
                low, high = np.isfinite(self.lower), np.isfinite(self.upper)
                if (low & high).any():
                    sys.exit('a parameter is bounded on both sides, and the model has no starting rule')
                x = np.where(low, self.lower + np.abs(normals), np.where(high, self.upper - np.abs(normals), normals))
            if np.isfinite(self(x))[0]:
                return x
        sys.exit('no start inside the support in %d attempts' % ATTEMPTS)


class NoSamples:
    """Replaces zeus's store of draws, which would be allocated for all iterations."""

    def extend(self, *_):
        pass

    def save(self, *_):
        pass


def emcee_steps(density, starts, seed, iterations):
    import emcee
    sampler = emcee.EnsembleSampler(len(starts), density.dim, density, vectorize=True,
                                    moves=emcee.moves.StretchMove())
    np.random.seed(seed)  # emcee takes its generator from here
    state = emcee.State(starts, random_state=np.random.mtrand.RandomState(seed).get_state())
    for state in sampler.sample(state, iterations=iterations, store=False):
        yield state.coords


def zeus_steps(density, starts, seed, iterations):
    import zeus
    np.random.seed(seed)
    random.seed(seed)  # its moves draw pairs of walkers with it
    sampler = zeus.EnsembleSampler(len(starts), density.dim, density, vectorize=True, verbose=False)
    sampler.samples = NoSamples()
    for x, _, _ in sampler.sample(starts, iterations=iterations, progress=False):
        yield x


def version(name):
    from importlib.metadata import version as of
    return of({'emcee': 'emcee', 'zeus': 'zeus-mcmc'}[name])


def sample(options, density, starts):
    """Draws after warm-up, rows of means, and the figures of the run."""
    steps = {'emcee': emcee_steps, 'zeus': zeus_steps}[options.sampler]
    warmup, total = int(options.warmup), int(options.warmup) + int(options.evals)
    draws, means, warm, error = [], [], density.points, None
    centre = np.loadtxt(options.centre, ndmin=1) if options.means else None
    density.seconds, begun, since = 0.0, time.perf_counter(), density.points
    warm_at, begun_cpu = begun, time.process_time()
    try:
        for x in steps(density, starts, options.seed, total // len(starts) + 1):
            discard = since < warmup
            since = density.points
            if discard:
                warm, warm_at = since, time.perf_counter()
            elif options.draws:
                draws.append(x.copy())
            if options.means:
                means.append(np.r_[since, x.mean(axis=0), np.abs(x - centre).mean(axis=0)])
            if since >= total:
                break
    except (ValueError, RuntimeError) as fault:  # zeus raises these when it cannot go on
        error = str(fault).replace('\n', ' ')
    ended, seconds_cpu = time.perf_counter(), time.process_time() - begun_cpu
    seconds = ended - begun
    figures = {'sampler': options.sampler, 'version': version(options.sampler), 'dim': density.dim,
               'walkers': len(starts), 'draws': len(draws), 'iterations': len(means), 'evals_warmup': warm,
               'evals_sampling': density.points - warm, 'seconds': seconds, 'seconds_cpu': seconds_cpu,
               'seconds_sampling': ended - warm_at,
               'seconds_outside': seconds - density.seconds, 'error': error}
    return draws, means, figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('sampler', choices=['emcee', 'zeus'])
    parser.add_argument('--library', required=True)
    parser.add_argument('--model', required=True)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--walkers', type=int, default=100)
    parser.add_argument('--warmup', type=float, default=1e6, help='evaluations')
    parser.add_argument('--evals', type=float, default=1e6, help='evaluations after warm-up')
    parser.add_argument('--draws', help='file for the draws')
    parser.add_argument('--means', help='file for the means of every iteration')
    parser.add_argument('--centre', help='file of the points that distances are measured from')
    options = parser.parse_args()
    if options.means and not options.centre:
        parser.error('--means needs --centre')
    warnings.simplefilter('ignore')  # from the dependencies of the samplers
    density = Density(options.library, options.model)
    walkers = max(options.walkers, 2 * density.dim)
    walkers += walkers % 2
    rng = np.random.Generator(np.random.PCG64(options.seed))
    starts = np.array([density.start(rng) for _ in range(walkers)])
    draws, means, figures = sample(options, density, starts)
    if options.draws:
        out = np.lib.format.open_memmap(options.draws, 'w+', dtype=np.float64, version=(1, 0),
                                        shape=(density.dim, walkers, len(draws)))
        for i in range(density.dim if draws else 0):
            out[i] = np.array([x[:, i] for x in draws]).T
        out.flush()
    if options.means:
        np.save(options.means, np.array(means, dtype=np.float64).reshape(len(means), 1 + 2 * density.dim))
    print(json.dumps(figures))


if __name__ == '__main__':
    main()
