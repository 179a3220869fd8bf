"""Checks the densities of bench/modes and their true weights by other means. Needs numpy.

    python3 bench/modes/check.py [--library build/libgess.so]

- exact draws: the fraction of draws in every mode is its true weight
- density and draws agree: for draws x of p = q / Z and any density g, the mean of g(x) / q(x) is 1 / Z; g is a Gaussian
  fitted to the draws of a mode, and every mode must give the same Z
- grids: the mass of every mode in two and three dimensions by the midpoint rule
- symmetry: modes of equal weight have equal densities at mirrored points
- `velocity`: the integral over amplitude, phase and offset by importance sampling
- `box`: the density of the built-in model"""
import argparse
import ctypes
import itertools
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import numpy as np  # noqa: E402

import harness  # noqa: E402

BAD = []
UNLIKE_GAUSSIANS = ('walls5', 'bananas4')  # modes cut by the box, or bent: no Gaussian is close enough to give 1 / Z
STEPS = {'weekly': (2000, 75, 75)}  # of grids, where modes are narrow in one dimension


def say(family, check, worst, limit):
    good = bool(worst <= limit)
    print('%-4s %-11s %-40s %.2g (at most %.2g)' % ('ok' if good else 'BAD', family.name, check, worst, limit))
    if not good:
        BAD.append(family.name)


def logp(family, x):
    x, out = np.ascontiguousarray(x, dtype=float), np.empty(len(x))
    family.logp(x.ctypes.data, len(x), out.ctypes.data)
    return out


def modes(family, x):
    x = np.ascontiguousarray(x, dtype=float)
    return np.frombuffer(family.assign(x.ctypes.data, len(x), family.dim), np.uint8)


def draws(family, n):
    x = np.empty((n, family.dim))
    family.c.modes_draw.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]
    return x if family.c.modes_draw(family.pointer, 77, n, x.ctypes.data) else None


def check_draws(family):
    x = draws(family, 1000000)
    if x is None:
        return
    truth, at = np.array(family.truth()), modes(family, x)
    fraction = np.bincount(at, minlength=family.modes) / len(x)
    error = np.sqrt(2 * truth * (1 - truth) / len(x)) + 1e-4  # some true weights are simulated themselves
    say(family, 'weights of exact draws, in 1 se', np.max(np.abs(fraction - truth) / error), 5)
    if family.name in UNLIKE_GAUSSIANS:
        return
    log_q, estimates, errors = logp(family, x), [], []
    for k in range(family.modes):
        mine = x[at == k]
        centre, factor = np.median(mine, axis=0), np.linalg.cholesky(np.cov(mine.T) * 0.5)
        z = np.linalg.solve(factor, (x - centre).T)
        ratio = np.exp(-0.5 * np.sum(z * z, axis=0) - np.log(np.diag(factor)).sum()
                       - 0.5 * family.dim * np.log(2 * np.pi) - log_q)
        estimates.append(ratio.mean())
        errors.append(ratio.std() / np.sqrt(len(x)))
    estimates, errors = np.array(estimates), np.array(errors)
    common = np.sum(estimates / errors ** 2) / np.sum(1 / errors ** 2)
    say(family, '1 / Z by modes, in 1 se', np.max(np.abs(estimates - common) / errors), 5)
    say(family, 'relative se of 1 / Z', np.max(errors / common), 0.05)


def check_grid(family, steps):
    if not np.all(np.isfinite(family.lower + family.upper)) or family.dim > 3:
        return
    counts = STEPS.get(family.name, (steps,) * family.dim)
    sides = [low + (high - low) * (np.arange(n) + 0.5) / n for low, high, n in zip(family.lower, family.upper, counts)]
    mass = np.zeros(family.modes)
    peak = None
    for first in sides[0]:
        x = np.stack([a.ravel() for a in np.meshgrid([first], *sides[1:], indexing='ij')], axis=1)
        log_q = logp(family, x)
        peak = np.max(log_q) if peak is None else peak
        mass += np.bincount(modes(family, x), np.exp(log_q - peak), family.modes)
    say(family, 'weights on a grid', np.max(np.abs(mass / mass.sum() - family.truth())), 5e-4)


def check_symmetry(family, images):
    numbers = np.random.default_rng(1)
    x = numbers.uniform(family.lower, family.upper, (10000, family.dim))
    mirrored = [image(x) for image in images]
    worst = max(np.max(np.abs(logp(family, y) - logp(family, x)) / (1 + np.abs(logp(family, x)))) for y in mirrored)
    say(family, 'density of mirrored points', worst, 1e-9)
    at = np.stack([modes(family, y) for y in mirrored])
    say(family, 'points whose images miss a mode', np.mean(np.sort(at, axis=0) != np.arange(family.modes)[:, None]), 0)


def check_velocity(family):
    """Modes are ranges of the log period. Given the period, amplitude · cos(phase), amplitude · sin(phase) and offset
    are normal: they are drawn from a t with the same centre and scale, found from values of the density alone."""
    numbers, steps, each = np.random.default_rng(2), 6000, 40
    periods = family.lower[0] + (family.upper[0] - family.lower[0]) * (np.arange(steps) + 0.5) / steps
    directions = np.vstack([np.zeros(3), np.eye(3), -np.eye(3),
                            [[1, 1, 0], [1, 0, 1], [0, 1, 1]]]) * 2.0  # ten points fix a quadratic in three

    def density(period, linear):
        """Of the linear parameters: without the Jacobian of amplitude and phase."""
        amplitude = np.hypot(linear[:, 0], linear[:, 1])
        phase = np.mod(np.arctan2(linear[:, 1], linear[:, 0]), 2 * np.pi)
        return logp(family, np.column_stack([np.full(len(linear), period), amplitude, phase, linear[:, 2]])) \
            - np.log(amplitude)
    pairs = list(itertools.combinations_with_replacement(range(3), 2))

    def features(z):
        return np.column_stack([np.ones(len(z)), z, *(z[:, i] * z[:, j] for i, j in pairs)])
    mass, shift = np.zeros(family.modes), np.array([0.1, 0.2, 0.3])
    logs, peak = [], -np.inf
    for period in periods:
        fitted = np.linalg.solve(features(directions + shift), density(period, directions + shift))
        hessian = np.zeros((3, 3))
        for (i, j), value in zip(pairs, fitted[4:]):
            hessian[i, j] -= value
            hessian[j, i] -= value
        factor = np.linalg.cholesky(np.linalg.inv(hessian))
        z, chi2 = numbers.standard_normal((each, 3)), numbers.chisquare(8, each) / 8
        z /= np.sqrt(chi2)[:, None]
        log_g = -5.5 * np.log1p(np.sum(z * z, axis=1) / 8) - np.log(np.diag(factor)).sum()
        log_ratio = density(period, np.linalg.solve(hessian, fitted[1:4]) + z @ factor.T) - log_g
        logs.append(log_ratio)
        peak = max(peak, np.max(log_ratio))
    x = np.column_stack([periods, np.ones((steps, 3))])
    np.add.at(mass, modes(family, x), np.exp(np.array(logs) - peak).mean(axis=1))
    say(family, 'weights by importance sampling', np.max(np.abs(mass / mass.sum() - family.truth())), 5e-3)


def check_builtin(family, library):
    library = ctypes.CDLL(library)
    model = ctypes.c_void_p()
    if library.gess_model_open(ctypes.byref(model), b'mixture:spread=20', None, None) != 0:
        sys.exit('cannot open mixture:spread=20')
    x, out = np.random.default_rng(3).uniform(-20, 20, (10000, 8)), np.empty(10000)
    library.gess_model_evaluate(model, ctypes.c_size_t(len(x)), x.ctypes.data_as(ctypes.c_void_p),
                                out.ctypes.data_as(ctypes.c_void_p), None, None)
    say(family, 'against the built-in model', np.max(np.abs(out - logp(family, x))), 1e-9)
    library.gess_model_free(model)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--library', default='build/libgess.so')
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='gess-modes-') as folder:
        families = {f.name: f for f in harness.all_families(harness.open_library(harness.build(folder)))}
        for family in families.values():
            family.truth()
            check_draws(family)
            check_grid(family, 200 if family.dim == 3 else 2000)
        for name in ('shells2', 'shells5', 'touching3'):
            check_symmetry(families[name], [lambda x: x, lambda x: x * np.r_[-1, np.ones(x.shape[1] - 1)]])
        check_symmetry(families['labels'], [lambda x, p=p: x[:, [*p, 3]] for p in itertools.permutations(range(3))])
        check_symmetry(families['labels6'], [lambda x, p=p: x[:, [*p, *(3 + i for i in p)]]
                                             for p in itertools.permutations(range(3))])
        check_velocity(families['velocity'])
        check_builtin(families['box'], os.path.abspath(arguments.library))
    sys.exit('wrong: ' + ', '.join(BAD) if BAD else 0)


if __name__ == '__main__':
    main()
