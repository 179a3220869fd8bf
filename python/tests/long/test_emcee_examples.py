"""The examples of emcee's documentation, with only the import changed: the same posteriors as emcee's within 4.5 standard
errors, and at least 10 times its effective draws per evaluation."""
import warnings

import emcee
import gess.emcee
import numpy as np
import pytest

warnings.simplefilter("ignore", gess.emcee.DifferenceWarning)


class Counted:
    """A function that counts its evaluations."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *args):
        self.calls += 1
        return self.function(*args)


def figures(chain, calls):
    """Means, standard deviations, effective draws, and effective draws per evaluation, of a (steps, walkers, dim) chain."""
    tau = np.maximum(emcee.autocorr.integrated_time(chain, quiet=True), 1.0)
    flat = chain.reshape(-1, chain.shape[2])
    effective = len(flat) / tau
    return flat.mean(0), flat.std(0), effective, effective.min() / calls


def compare(example, function, *args):
    """Runs an example with both samplers."""
    outcome = {}
    for module in (emcee, gess.emcee):
        counted = Counted(function)
        np.random.seed(42)
        chain = example(module.EnsembleSampler, counted, *args)
        outcome[module.__name__] = figures(chain, counted.calls)
    theirs, ours = outcome["emcee"], outcome["gess.emcee"]
    for k in (0, 1):  # means, then standard deviations
        scale = [np.sqrt((1 + (k > 0) * 0.5) * side[1] ** 2 / side[2]) for side in (theirs, ours)]
        z = (ours[k] - theirs[k]) / np.hypot(*scale)
        assert np.all(np.abs(z) < 4.5), (k, z)
    gain = ours[3] / theirs[3]
    print(f"{example.__name__}: {gain:.1f} times the effective draws per evaluation")
    assert gain > 10, gain


def quickstart(sampler_class, log_prob):
    sampler = sampler_class(32, 5, log_prob)
    state = sampler.run_mcmc(np.random.rand(32, 5), 100)
    sampler.reset()
    sampler.run_mcmc(state, 5000)
    return sampler.get_chain()


def test_quickstart():
    rng = np.random.default_rng(42)
    mean, half = rng.random(5), 0.5 - rng.random((5, 5))
    precision = np.linalg.inv(half @ half.T + 0.02 * np.eye(5))
    compare(quickstart, lambda x: -0.5 * (x - mean) @ precision @ (x - mean))


def line_data():
    rng = np.random.default_rng(123)
    x = np.sort(10 * rng.random(50))
    error = 0.1 + 0.5 * rng.random(50)
    model = -0.9594 * x + 4.294
    y = model + np.abs(0.534 * model) * rng.normal(size=50) + error * rng.normal(size=50)
    return x, y, error


def line_log_prob(theta, x, y, error):
    m, b, log_f = theta
    if not (-5.0 < m < 0.5 and 0.0 < b < 10.0 and -10.0 < log_f < 1.0):
        return -np.inf
    model = m * x + b
    variance = error**2 + model**2 * np.exp(2 * log_f)
    return -0.5 * np.sum((y - model) ** 2 / variance + np.log(variance))


def line(sampler_class, log_prob):
    start = np.array([-1.0, 4.5, -0.5]) + 1e-4 * np.random.randn(32, 3)
    sampler = sampler_class(32, 3, log_prob, args=line_data())
    sampler.run_mcmc(start, 5000)
    return sampler.get_chain(discard=200)


def test_line():
    compare(line, line_log_prob)


def pooled_line(sampler_class, log_prob):
    from multiprocessing.pool import ThreadPool

    with ThreadPool(2) as pool:
        start = np.array([-1.0, 4.5, -0.5]) + 1e-4 * np.random.randn(32, 3)
        sampler = sampler_class(32, 3, log_prob, args=line_data(), pool=pool)
        sampler.run_mcmc(start, 2000)
        return sampler.get_chain(discard=200)


def test_parallelisation():
    compare(pooled_line, line_log_prob)


def monitor(sampler_class, log_prob):
    """Runs until the chain is long enough for its autocorrelation time."""
    sampler = sampler_class(32, 3, log_prob)
    old = np.inf
    for _ in sampler.sample(np.random.randn(32, 3), iterations=100000):
        if sampler.iteration % 100:
            continue
        tau = sampler.get_autocorr_time(tol=0)
        if np.all(tau * 100 < sampler.iteration) and np.all(np.abs(old - tau) / tau < 0.01):
            break
        old = tau
    assert sampler.iteration < 100000
    return sampler.get_chain(discard=int(2 * np.max(tau)), thin=int(0.5 * np.min(tau)))


def test_monitor():
    compare(monitor, lambda x: -0.5 * np.sum(x**2))


def autocorrelation(sampler_class, log_prob):
    sampler = sampler_class(32, 1, log_prob)
    sampler.run_mcmc(np.random.randn(32, 1), 8000)
    return sampler.get_chain(discard=300)


def two_humps(x):
    """Two normals with means -0.5 and 0.5 that overlap."""
    return float(np.logaddexp(-0.5 * (x[0] - 0.5) ** 2 / 0.3, -0.5 * (x[0] + 0.5) ** 2 / 0.3))


def test_autocorrelation():
    compare(autocorrelation, two_humps)


def blobs(sampler_class, log_prob):
    sampler = sampler_class(32, 3, log_prob, blobs_dtype=[("log_prior", float), ("mean", float)])
    state = sampler.run_mcmc(np.random.randn(32, 3), 300)
    sampler.reset()
    sampler.run_mcmc(state, 4000)
    assert np.allclose(sampler.get_blobs()["mean"], sampler.get_chain().mean(axis=2))
    return sampler.get_chain()


def test_custom_blobs():
    def log_prob(x):
        prior, likelihood = -0.5 * np.sum(x**2), -0.5 * np.sum(x**2) - 0.8 * x[0] * x[1]
        return prior + likelihood, prior, np.mean(x)

    compare(blobs, log_prob)
