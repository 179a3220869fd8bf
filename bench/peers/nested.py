"""The log evidence by nested sampling, dynesty or nautilus, of built-in densities of gess.

    python nested.py dynesty|nautilus --library libgess.so --model german-credit --seed 1
                     [--max-calls 2e6] [--max-seconds 600] [--live 500]

The density is the compiled one, called through gess_model_evaluate(). A nested sampler wants the prior as a map of the
unit cube: it is written here for each model, and the likelihood is the model's log density minus the log prior. Calls
count every likelihood. dynesty: its defaults but for random walks (`rwalk`), which it recommends in these dimensions.
nautilus: its defaults. Output: one JSON object with log_evidence, se, calls and seconds; `complete` is false if a limit
ended it, and then the number is where it had got to. Seconds are of the processor, of one thread, so that other work on
the machine matters little."""
import argparse
import ctypes
import json
import os
import sys
import time

for variable in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ.setdefault(variable, '1')  # before numpy is loaded
import numpy as np  # noqa: E402
from scipy import special, stats  # noqa: E402


class Error(ctypes.Structure):
    _fields_ = [('status', ctypes.c_int), ('text', ctypes.c_char * 1024), ('density_text', ctypes.c_char * 256),
                ('chain', ctypes.c_uint64), ('dim', ctypes.c_size_t), ('point', ctypes.c_double * 64)]


class Density:
    """A model of the library as a function of many points."""

    def __init__(self, path, specification):
        self.library, self.model, self.error = ctypes.CDLL(path), ctypes.c_void_p(), Error()
        self.check(self.library.gess_model_open(ctypes.byref(self.model), specification.encode(), None,
                                                ctypes.byref(self.error)))

    def check(self, status):
        if status != 0:
            sys.exit(self.error.text.decode())

    def __call__(self, x):
        x = np.ascontiguousarray(x, dtype=float)
        out = np.empty(len(x))
        self.check(self.library.gess_model_evaluate(self.model, ctypes.c_size_t(len(x)), ctypes.c_void_p(x.ctypes.data),
                                                    ctypes.c_void_p(out.ctypes.data), None, ctypes.byref(self.error)))
        return out


class Regression:
    """Independent N(0, 10²)."""

    def __init__(self, dim):
        self.dim = dim

    def transform(self, u):
        return 10.0 * special.ndtri(u)

    def log(self, x):
        return stats.norm.logpdf(x, scale=10.0).sum(axis=1)


class Schools:
    """mu ~ N(0, 5²), tau ~ half-Cauchy(5), effects N(mu, tau²), or standard normals if they are not centred."""
    dim = 10

    def __init__(self, centred):
        self.centred = centred

    def transform(self, u):
        u = np.atleast_2d(u)
        mu, tau, z = 5.0 * special.ndtri(u[:, 0]), 5.0 * np.tan(0.5 * np.pi * u[:, 1]), special.ndtri(u[:, 2:])
        rest = mu[:, None] + tau[:, None] * z if self.centred else z
        return np.squeeze(np.column_stack([mu, tau, rest]))

    def log(self, x):
        sum_ = stats.norm.logpdf(x[:, 0], scale=5.0) + stats.halfcauchy.logpdf(x[:, 1], scale=5.0)
        z = x[:, 2:]
        if self.centred:
            return sum_ + stats.norm.logpdf(z, x[:, :1], x[:, 1:2]).sum(axis=1)
        return sum_ + stats.norm.logpdf(z).sum(axis=1)


PRIORS = {'german-credit': Regression(25), 'breast-cancer': Regression(31), 'eight-schools': Schools(True),
          'eight-schools:centred=0': Schools(False)}


class Limit(Exception):
    pass


class Likelihood:
    """Log likelihoods, of one point or of many; counts calls, and ends the run at a limit."""

    def __init__(self, density, prior, max_calls, max_seconds):
        self.density, self.prior, self.calls = density, prior, 0
        self.max_calls, self.end = max_calls, time.process_time() + max_seconds

    def __call__(self, x):
        many = np.atleast_2d(x)
        self.calls += len(many)
        if self.calls > self.max_calls or time.process_time() > self.end:
            raise Limit
        with np.errstate(all='ignore'):
            value = self.density(many) - self.prior.log(many)
        value = np.where(np.isfinite(value), value, -1e300)
        return value if np.ndim(x) > 1 else float(value[0])


def run_dynesty(likelihood, prior, live, seed):
    import dynesty
    sampler = dynesty.NestedSampler(likelihood, prior.transform, prior.dim, nlive=live, sample='rwalk',
                                    rstate=np.random.default_rng(seed))
    complete = True
    try:
        sampler.run_nested(print_progress=False)
    except Limit:
        complete = False
    results = sampler.results
    return float(results.logz[-1]), float(results.logzerr[-1]), complete


def run_nautilus(likelihood, prior, live, seed):
    import nautilus
    sampler = nautilus.Sampler(prior.transform, likelihood, n_dim=prior.dim, n_live=live, vectorized=True,
                               pass_dict=False, seed=seed)
    complete = True
    try:
        complete = bool(sampler.run(verbose=False))
    except Limit:
        complete = False
    return float(sampler.log_z), float(sampler.n_eff ** -0.5 if sampler.n_eff > 0 else np.inf), complete


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('sampler', choices=('dynesty', 'nautilus'))
    p.add_argument('--library', required=True)
    p.add_argument('--model', required=True, choices=PRIORS)
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--live', type=int)
    p.add_argument('--max-calls', type=float, default=1e7)
    p.add_argument('--max-seconds', type=float, default=600)
    a = p.parse_args()
    prior = PRIORS[a.model]
    likelihood = Likelihood(Density(a.library, a.model), prior, a.max_calls, a.max_seconds)
    live = a.live or (500 if a.sampler == 'dynesty' else 2000)
    begin = time.process_time()
    log_z, se, complete = (run_dynesty if a.sampler == 'dynesty' else run_nautilus)(likelihood, prior, live, a.seed)
    print(json.dumps({'sampler': a.sampler, 'model': a.model, 'seed': a.seed, 'live': live, 'log_evidence': log_z,
                      'se': se, 'calls': likelihood.calls, 'seconds': time.process_time() - begin, 'complete': complete}))


if __name__ == '__main__':
    main()
