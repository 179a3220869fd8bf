"""EnsembleSampler: emcee's interface, and where it differs."""
import pickle
import signal
import subprocess
import sys
import warnings

import densities
import gess.emcee
import numpy as np
import pytest
from gess.emcee import Backend, DifferenceWarning, EnsembleSampler, State, autocorr

warnings.simplefilter("ignore", DifferenceWarning)
emcee = pytest.importorskip("emcee")


def start(walkers=32, dim=3, seed=3):
    np.random.seed(seed)
    return np.random.randn(walkers, dim)


def log_prob(x):
    return -0.5 * np.sum(x**2)


def chain(steps=30, **keywords):
    coords = start()
    sampler = EnsembleSampler(32, 3, log_prob, **keywords)
    sampler.run_mcmc(coords, steps)
    return sampler


def test_shapes_and_slices():
    sampler = chain(30)
    assert sampler.iteration == 30 and sampler.get_chain().shape == (30, 32, 3)
    assert sampler.get_chain(discard=10, thin=5, flat=True).shape == (4 * 32, 3)
    assert np.array_equal(sampler.get_chain(thin=3), sampler.get_chain()[2::3])
    last = sampler.get_last_sample()
    assert np.array_equal(last.coords, sampler.get_chain()[-1])
    assert np.allclose(sampler.get_log_prob(), -0.5 * (sampler.get_chain() ** 2).sum(-1))
    assert sampler.acceptance_fraction.shape == (32,) and sampler.get_autocorr_time(quiet=True).shape == (3,)
    assert sampler.get_blobs() is None
    assert np.array_equal(sampler.get_chain(thin=int(0.5 * 1.1)), sampler.get_chain())


def test_seed_of_numpy_decides():
    assert np.array_equal(chain().get_chain(), chain().get_chain())
    np.random.seed(1)
    coords = start()
    np.random.seed(2)
    one = EnsembleSampler(32, 3, log_prob)
    one.run_mcmc(coords, 30)
    np.random.seed(4)
    two = EnsembleSampler(32, 3, log_prob)
    two.run_mcmc(coords, 30)
    assert not np.array_equal(one.get_chain(), two.get_chain())


def test_steps_do_not_depend_on_how_they_are_asked_for():
    whole = chain(60).get_chain()
    coords = start()
    sampler = EnsembleSampler(32, 3, log_prob)
    for i, state in enumerate(sampler.sample(coords, iterations=40)):
        assert np.array_equal(state.coords, whole[i])
        if i == 24:
            break
    sampler.run_mcmc(None, 15)
    sampler.run_mcmc(state := sampler.get_last_sample(), 20)
    assert state.coords.shape == (32, 3)
    assert np.array_equal(sampler.get_chain(), whole)
    coords = start()
    thinned = EnsembleSampler(32, 3, log_prob)
    thinned.run_mcmc(coords, 20, thin_by=3)
    assert np.array_equal(thinned.get_chain(), whole[2::3])


def test_few_steps_are_made_in_advance():
    """A loop over sample() may end anywhere: what it has not asked for is hardly evaluated."""
    sampler = EnsembleSampler(32, 3, log_prob)
    for i, _ in enumerate(sampler.sample(start(), iterations=10**6), 1):
        if i == 200:
            break
    looped = sampler.ncall
    sampler = EnsembleSampler(32, 3, log_prob)
    sampler.run_mcmc(start(), 200)
    assert looped < 1.25 * sampler.ncall


def test_steps_after_reset_are_frozen():
    coords = start()
    sampler = EnsembleSampler(32, 3, log_prob)
    state = sampler.run_mcmc(coords, 12)
    assert not sampler._engine.sampling
    adapted = sampler._engine
    sampler.reset()
    assert sampler.iteration == 0
    sampler.run_mcmc(state, 500)
    assert sampler._engine is adapted and adapted.sampling
    assert 12 <= adapted.run.stats()["warmup"] <= 30  # it would settle after 59
    x = sampler.get_chain(flat=True)
    tau = sampler.get_autocorr_time()
    error = np.sqrt(tau / len(x))
    assert np.all(np.abs(x.mean(0)) < 4.5 * error) and np.all(np.abs(x.std(0) - 1) < 4.5 * error)


def test_adaptation_settles_without_reset():
    sampler = chain(400)
    assert sampler._engine.sampling and sampler._engine.run.stats()["warmup_settled"]


def test_other_positions_start_a_new_adaptation():
    sampler = chain(10)
    first = sampler._engine
    sampler.run_mcmc(start(seed=9), 10)
    assert sampler._engine is not first and sampler.iteration == 20


def test_minus_infinity_and_nan():
    def half(x):
        return -np.inf if x[0] < 0 else log_prob(x)

    sampler = EnsembleSampler(32, 3, half)
    sampler.run_mcmc(start(), 50)
    assert sampler.get_chain()[:, :, 0].min() >= 0 and np.isfinite(sampler.get_log_prob()).all()
    with pytest.raises(ValueError, match="-inf at every"):
        EnsembleSampler(32, 3, lambda x: -np.inf).run_mcmc(start(), 5)
    with pytest.raises(ValueError, match="NaN"):
        EnsembleSampler(32, 3, lambda x: np.nan).run_mcmc(start(), 5)
    with pytest.raises(ValueError, match=r"NaN at \["):
        EnsembleSampler(32, 3, lambda x: np.nan if x[0] > 4 else 0.5 * x[0]).run_mcmc(start(), 500)
    with pytest.raises(ValueError, match="NaN"):
        EnsembleSampler(32, 3, log_prob).run_mcmc(State(start(), log_prob=np.full(32, np.nan)), 5)


def test_exceptions_propagate_and_the_steps_before_stay():
    left = [3000]

    def fails(x):
        left[0] -= 1
        if left[0] < 0:
            raise ZeroDivisionError("nothing there")
        return log_prob(x)

    sampler = EnsembleSampler(32, 3, fails)
    with pytest.raises(ZeroDivisionError, match="nothing there") as caught:
        sampler.run_mcmc(start(), 5000)
    assert any(entry.name == "fails" for entry in caught.traceback)
    assert 0 < sampler.iteration < 200 and len(sampler.get_chain()) == sampler.iteration
    left[0] = 10**9
    sampler.run_mcmc(None, 5)


@pytest.mark.parametrize("make", [lambda x: (1.0, "word"), lambda x: (np.arange(3.0),), lambda x: (x[0], 2)])
def test_blobs_travel_with_their_states(make):
    calls = [0]

    def with_blobs(x):
        calls[0] += 1
        return (log_prob(x), x.copy(), *make(x))

    sampler = EnsembleSampler(32, 3, with_blobs, blobs_dtype=object)
    sampler.run_mcmc(start(), 20)
    before = calls[0]
    blobs = sampler.get_blobs()
    assert calls[0] == before  # no second evaluation
    for step, positions in zip(blobs, sampler.get_chain()):
        for blob, position in zip(step, positions):
            assert np.array_equal(blob[0], position)


def test_blobs_with_names():
    dtype = [("log_prior", float), ("mean", float)]
    sampler = EnsembleSampler(32, 3, lambda x: (log_prob(x), 1.5, x.mean()), blobs_dtype=dtype)
    sampler.run_mcmc(start(), 300)
    assert np.allclose(sampler.get_blobs()["mean"], sampler.get_chain().mean(-1))
    assert (sampler.get_blobs(flat=True)["log_prior"] == 1.5).all()


def test_many_blobs_are_forgotten():
    sampler = EnsembleSampler(32, 3, lambda x: (log_prob(x), x.copy()))
    sampler.run_mcmc(start(), 2000)
    assert len(sampler._engine.table) < 20000 < sampler.ncall
    assert np.array_equal(sampler.get_blobs(), sampler.get_chain())


def test_vectorize_pool_named_args():
    from multiprocessing.pool import ThreadPool

    expected = chain().get_chain()
    coords = start()
    fast = EnsembleSampler(32, 3, lambda p, s: -0.5 * np.sum((p * s) ** 2, axis=1), vectorize=True, args=[1.0])
    fast.run_mcmc(coords, 30)
    assert np.allclose(fast.get_chain(), expected)
    with ThreadPool(2) as pool:
        coords = start()
        pooled = EnsembleSampler(32, 3, log_prob, pool=pool)
        pooled.run_mcmc(coords, 30)
    assert np.array_equal(pooled.get_chain(), expected)
    coords = start()
    named = EnsembleSampler(32, 3, lambda p: -0.5 * (p["a"] ** 2 + np.sum(p["bc"] ** 2)),
                            parameter_names={"a": 0, "bc": [1, 2]})
    named.run_mcmc(coords, 30)
    assert np.allclose(named.get_chain(), expected)
    with pytest.raises(ValueError, match="shape"):
        EnsembleSampler(32, 3, lambda p: 0.0, vectorize=True).run_mcmc(start(), 5)


def test_hdf_file_of_emcee(tmp_path):
    pytest.importorskip("h5py")
    path = str(tmp_path / "chain.h5")
    backend = emcee.backends.HDFBackend(path)
    coords = start()
    sampler = EnsembleSampler(32, 3, log_prob, backend=backend)
    for i, _ in enumerate(sampler.sample(coords, iterations=12), 1):
        reader = emcee.backends.HDFBackend(path, read_only=True)  # while it is written
        assert reader.iteration == i
    assert np.array_equal(emcee.backends.HDFBackend(path, read_only=True).get_chain(), chain(12).get_chain())
    again = EnsembleSampler(32, 3, log_prob, backend=emcee.backends.HDFBackend(path))
    again.run_mcmc(None, 5)
    assert again.iteration == 17
    with pytest.raises(ValueError, match="shape"):
        EnsembleSampler(16, 3, log_prob, backend=emcee.backends.HDFBackend(path))


def test_interrupt_while_a_step_is_stored():
    """It waits until the step is complete, and is raised then, whatever a backend does with it."""
    class Swallows(Backend):
        def save_step(self, state, accepted):
            try:
                if self.iteration == 5:
                    signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:  # as finalisers of h5py do
                pass
            super().save_step(state, accepted)

    sampler = EnsembleSampler(32, 3, log_prob, backend=Swallows())
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        sampler.run_mcmc(start(), 20)
    assert sampler.iteration == 6 and signal.getsignal(signal.SIGINT) is before
    sampler.run_mcmc(None, 4)
    assert sampler.iteration == 10


def test_pickle_and_backends():
    sampler = EnsembleSampler(32, 3, densities.normal)
    sampler.run_mcmc(start(), 10)
    copy = pickle.loads(pickle.dumps(sampler))
    assert np.array_equal(copy.get_chain(), sampler.get_chain())
    copy.run_mcmc(None, 3)
    assert copy.iteration == 13 and isinstance(sampler.backend, Backend)


def test_zeus_keywords():
    seen = []
    sampler = EnsembleSampler(32, 3, logprob_fn=log_prob, mu=1.0, tune=True, light_mode=False, verbose=False)
    sampler.run_mcmc(start=start(), nsteps=50, callbacks=[lambda i, x, y: seen.append(x.shape) or i == 20])
    assert sampler.iteration == 20 and seen[-1] == (20, 32, 3) and sampler.ncall > 600
    with pytest.raises(TypeError, match="speed"):
        EnsembleSampler(32, 3, log_prob, speed=1)
    # zeus counts steps from one, and ends when all callbacks that return a value are content
    sampler = EnsembleSampler(32, 3, log_prob)
    sampler.run_mcmc(start(), 50, callbacks=[lambda i, x, y: i >= 10, lambda i, x, y: i >= 15, lambda i, x, y: None])
    assert sampler.iteration == 15
    sampler.run_mcmc(None, 20, callbacks=[lambda i, x, y: None])
    assert sampler.iteration == 35


def test_what_is_wrong_is_said():
    with pytest.raises(TypeError, match="nsteps"):
        EnsembleSampler(32, 3, log_prob).run_mcmc(start())
    with pytest.raises(TypeError, match="no method map"):
        EnsembleSampler(32, 3, log_prob, [1.0])


@pytest.mark.parametrize("after", [20, 3000])
def test_point_of_an_exception(after):
    """At the first positions and later."""
    left, seen = [after], []

    def fails(x):
        left[0] -= 1
        if left[0] < 0:
            seen.append(x.copy())
            raise ZeroDivisionError("nothing there")
        return log_prob(x)

    with pytest.raises(ZeroDivisionError) as caught:
        EnsembleSampler(32, 3, fails).run_mcmc(start(), 5000)
    assert any(np.array_equal(caught.value.gess_point, point) for point in seen)
    assert len(caught.value.__notes__) == 1


def test_warning_is_said_once(monkeypatch):
    monkeypatch.setattr(gess.emcee.ensemble, "_warned", False)
    with pytest.warns(DifferenceWarning, match="reset"):
        chain(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chain(2)


def test_autocorrelation_time_is_emcees():
    x = np.cumsum(np.random.default_rng(2).normal(size=(500, 4, 2)), axis=0)
    assert np.allclose(autocorr.integrated_time(x, quiet=True), emcee.autocorr.integrated_time(x, quiet=True))
    with pytest.raises(autocorr.AutocorrError):
        autocorr.integrated_time(x)
    taus = np.array([1.0, 2.0, 2.5, 2.5])
    assert autocorr.auto_window(taus, 1) == emcee.autocorr.auto_window(taus, 1) == 3
    assert [autocorr.next_pow_two(n) for n in (1, 5, 8)] == [emcee.autocorr.next_pow_two(n) for n in (1, 5, 8)]


@pytest.mark.skipif(np.finfo(np.longdouble).eps >= np.finfo(float).eps, reason="long doubles are doubles here")
def test_long_doubles():
    """Positions that differ by less than doubles can tell; the run goes on from them as from any others."""
    centre, width = np.longdouble(58000.0), 1e-13
    seen = set()

    def density(x):
        seen.add(x.dtype)
        return float(-0.5 * np.sum(((x - centre) / width) ** 2))

    sampler = EnsembleSampler(32, 3, density, backend=Backend(dtype=np.longdouble))
    state = sampler.run_mcmc(centre + width * start().astype(np.longdouble), 50)
    first = sampler._engine
    sampler.reset()
    sampler.run_mcmc(state, 500)
    assert sampler._engine is first and seen == {np.dtype(np.longdouble)} and state.coords.dtype == np.longdouble
    scaled = ((sampler.get_chain(flat=True) - centre) / width).astype(float)
    assert np.all(np.abs(scaled.mean(0)) < 0.1) and np.all(np.abs(scaled.std(0) - 1) < 0.1)


def test_modules_of_emcee():
    from gess.emcee.backends import hdf
    from gess.emcee.ensemble import EnsembleSampler as the_same
    from gess.emcee.model import Model

    assert gess.emcee.backends.HDFBackend is emcee.backends.HDFBackend is hdf.HDFBackend
    assert gess.emcee.moves.StretchMove is emcee.moves.StretchMove and Model._fields == emcee.model.Model._fields
    assert the_same is EnsembleSampler and gess.emcee.state.State is State and gess.emcee.__version__
    assert gess.emcee.backends.get_test_backends()[0] is Backend
    with pytest.raises(AttributeError):
        gess.emcee.nothing


def test_starting_positions_of_emcee():
    np.random.seed(1)
    ball = gess.emcee.utils.sample_ball([1.0, 2.0], [0.1, 0.2], size=1000)
    ellipsoid = gess.emcee.utils.sample_ellipsoid([1.0, 2.0], [[0.01, 0.0], [0.0, 0.04]], size=1000)
    for positions in (ball, ellipsoid):
        assert positions.shape == (1000, 2) and np.allclose(positions.mean(0), [1, 2], atol=0.03)
        assert np.allclose(positions.std(0), [0.1, 0.2], rtol=0.1)


def test_functions_may_change_their_argument():
    def clobbers(x):
        value = log_prob(x)
        x *= 0.0
        return value

    np.random.seed(3)
    coords = np.random.randn(32, 3)
    sampler = EnsembleSampler(32, 3, clobbers)
    sampler.run_mcmc(coords, 30)
    assert np.array_equal(sampler.get_chain(), chain(30).get_chain())


def test_room_for_many_steps_costs_nothing_before_they_are_made():
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sampler = EnsembleSampler(32, 3, log_prob)
    for _ in sampler.sample(start(), iterations=10**6):  # 0.8 GB if it were touched
        break
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200e3  # KiB


def test_moves_of_other_dimensions_are_refused():
    for moves in (emcee.moves.GaussianMove(np.ones(2)), [(emcee.moves.GaussianMove(np.ones(4)), 1.0)]):
        with pytest.raises(ValueError, match="mismatch"):
            chain(5, moves=moves)
    chain(5, moves=[(emcee.moves.GaussianMove(np.ones(3)), 0.5), (emcee.moves.StretchMove(), 0.5)])


def test_without_emcee():
    script = """
import sys
sys.modules["emcee"] = None
import numpy as np
import gess.emcee as emcee
moves = [(emcee.moves.DEMove(), 0.8), (emcee.moves.DESnookerMove(), 0.2)]
sampler = emcee.EnsembleSampler(16, 2, lambda x: -0.5 * float(x @ x), moves=moves, backend=emcee.backends.Backend())
sampler.run_mcmc(np.random.randn(16, 2), 20)
try:
    emcee.backends.HDFBackend("chain.h5")
except ImportError as error:
    print(error, sampler.get_chain().shape)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True)
    assert done.stdout == "the HDF file is emcee's own: pip install emcee h5py (20, 16, 2)\n", done.stderr


def test_warnings_point_at_the_line_of_the_caller(monkeypatch):
    monkeypatch.setattr(gess.emcee.ensemble, "_warned", False)
    with pytest.warns(DifferenceWarning) as seen:
        chain(2)
    assert seen[0].filename == __file__
    with pytest.warns(DeprecationWarning) as seen:
        chain(2, threads=2).flatchain
    assert {warning.filename for warning in seen} == {__file__}
