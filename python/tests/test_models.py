"""What gess.sample() takes from other packages (those that are installed), and what it refuses with a message."""
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import warnings

import densities
import gess
import numpy as np
import pytest
from gess import _processes
from gess._batch import Function

QUICK = {"warmup": 60, "draws": 40, "chains": 16, "seed": 5}
LOGP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_size_t,
                        ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double))


@LOGP
def c_normal(user, worker, n, dim, x, values):
    for i in range(n):
        values[i] = -0.5 * sum(x[i * dim + k] * x[i * dim + k] for k in range(dim))
    return 0


@LOGP
def c_failure(user, worker, n, dim, x, values):
    return 3


def normal(x):
    return -0.5 * float((x * x).sum())


@pytest.fixture(scope="module")
def plain():
    return gess.sample(normal, 2, **QUICK).draws


# ---- functions of other packages ----


def test_cfunc_of_numba(plain):
    numba = pytest.importorskip("numba")
    t = numba.types

    @numba.cfunc(t.intc(t.voidptr, t.uintc, t.uintp, t.uintp, t.CPointer(t.double), t.CPointer(t.double)))
    def logp(user, worker, n, dim, x, values):
        for i in range(n):
            total = 0.0
            for k in range(dim):
                total += x[i * dim + k] * x[i * dim + k]
            values[i] = -0.5 * total
        return 0

    for threads in (1, 2):
        assert np.array_equal(gess.sample(logp, 2, threads=threads, **QUICK).draws, plain)


def test_function_of_numba(plain):
    numba = pytest.importorskip("numba")
    assert np.array_equal(gess.sample(numba.njit(lambda x: -0.5 * (x * x).sum()), 2, **QUICK).draws, plain)


def test_capsules_and_low_level_callables(plain):
    api = ctypes.pythonapi
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = api.PyCapsule_New(ctypes.cast(c_normal, ctypes.c_void_p), None, None)
    assert np.array_equal(gess.sample(capsule, 2, **QUICK).draws, plain)
    scipy = pytest.importorskip("scipy")
    assert np.array_equal(gess.sample(scipy.LowLevelCallable(c_normal), 2, **QUICK).draws, plain)
    with pytest.raises(TypeError, match="user="):
        gess.sample(scipy.LowLevelCallable(c_normal, ctypes.c_void_p(1)), 2, **QUICK)


def test_jax(plain):
    jax = pytest.importorskip("jax")
    batch = jax.jit(jax.vmap(lambda x: -0.5 * jax.numpy.sum(x * x)))

    def density(x):
        assert isinstance(x, jax.Array)
        return batch(x)

    before = jax.config.jax_enable_x64
    try:
        jax.config.update("jax_enable_x64", False)
        with pytest.warns(RuntimeWarning, match="float32.*jax_enable_x64"):
            gess.sample(density, 2, vectorize=True, arrays="jax", **QUICK)
        jax.config.update("jax_enable_x64", True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = gess.sample(density, 2, vectorize=True, arrays="jax", **QUICK)
    finally:
        jax.config.update("jax_enable_x64", before)
    assert np.allclose(result.draws, plain, atol=1e-9)


def test_torch(plain):
    torch = pytest.importorskip("torch")
    weights = torch.ones(2, dtype=torch.float64, requires_grad=True)

    def density(x):
        assert isinstance(x, torch.Tensor) and x.dtype == torch.float64
        return -0.5 * (x * x * weights).sum(1), x[:, :1] * 2

    result = gess.sample(density, 2, vectorize=True, arrays="torch", blobs=["twice"], **QUICK)
    assert np.array_equal(result.draws, plain) and np.array_equal(result["twice"], 2 * result["x1"])


def test_cupy(plain):
    cupy = pytest.importorskip("cupy")

    def density(x):
        assert isinstance(x, cupy.ndarray)
        return -0.5 * (x * x).sum(axis=1)

    assert np.allclose(gess.sample(density, 2, vectorize=True, arrays="cupy", **QUICK).draws, plain, atol=1e-9)


def test_single_precision_is_warned_of():
    with pytest.warns(RuntimeWarning, match="float32.*double precision"):
        gess.sample(lambda x: np.float32(normal(x)), 2, **QUICK)
    with pytest.warns(RuntimeWarning, match="float32.*double precision"):
        gess.sample(lambda x: densities.normal_batch(x).astype(np.float32), 2, vectorize=True, **QUICK)


@pytest.mark.parametrize("name", ["SerialPool", "MultiPool", "JoblibPool"])
def test_pools_of_schwimmbad(plain, name):
    schwimmbad = pytest.importorskip("schwimmbad")
    if name == "JoblibPool":
        pytest.importorskip("joblib")
    make = getattr(schwimmbad, name)
    with make() if name == "SerialPool" else make(2) as pool:
        result = gess.sample(densities.normal_with_blobs, 2, blobs=2, pool=pool, **QUICK)
        apart = gess.sample(densities.normal_with_blobs, 2, blobs=2, **QUICK)
        assert np.array_equal(result.draws, apart.draws) and np.array_equal(result.further, apart.further)


def test_pool_of_processes():
    """A prior is evaluated here, so that it need not be one that a pool can send."""
    import multiprocessing

    with multiprocessing.get_context("spawn").Pool(2) as pool:
        result = gess.sample(densities.normal, 2, pool=pool, **QUICK)
        apart = gess.sample(densities.normal, 2, pool=pool, prior=lambda x: normal(x), **QUICK)
    assert np.array_equal(result.draws, gess.sample(densities.normal, 2, **QUICK).draws)
    assert np.array_equal(apart.draws, gess.sample(densities.normal, 2, prior=normal, **QUICK).draws)


MPI_SCRIPT = """
import sys
import gess, numpy as np, schwimmbad
def density(x):
    return -0.5 * float(x @ x)
with schwimmbad.MPIPool() as pool:
    if not pool.is_master():
        pool.wait()
        sys.exit()
    options = dict(warmup=60, draws=40, chains=16, seed=5)
    pooled = gess.sample(density, 2, pool=pool, **options)
    print(np.array_equal(pooled.draws, gess.sample(density, 2, **options).draws))
"""


def test_pool_of_mpi(tmp_path):
    pytest.importorskip("mpi4py")
    command = shutil.which("mpiexec") or pytest.skip("needs mpiexec")
    script = tmp_path / "density.py"
    script.write_text(MPI_SCRIPT)
    done = subprocess.run([command, "--oversubscribe", "-n", "3", sys.executable, str(script)], capture_output=True, text=True,
                          env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}, timeout=120)
    assert done.stdout == "True\n", done.stderr


def test_arviz():
    arviz = pytest.importorskip("arviz")
    result = gess.sample(densities.normal_with_blobs, 2, blobs=2, **QUICK)
    data = result.to_arviz()
    assert np.array_equal(data["posterior"]["x1"].values, result["x1"])
    assert np.array_equal(data["sample_stats"]["lp"].values, result.log_prob)
    assert len(arviz.summary(data)) == 4


def test_arviz_log_likelihood():
    arviz = pytest.importorskip("arviz")
    y = np.array([1.2, 0.7, 2.1, -0.4])
    result = gess.sample(lambda x: -0.5 * float(np.sum((y - x) ** 2)), 1, derived=lambda x: -0.5 * (y - x) ** 2,
                         derived_names=[f"log_lik[{i + 1}]" for i in range(4)], seed=2, chains=8, warmup=50, draws=100)
    data = result.to_arviz()
    assert list(data["posterior"].data_vars) == ["x1"]
    values = data["log_likelihood"]["log_lik"].values
    assert np.array_equal(values, -0.5 * (y - result["x1"][:, :, None]) ** 2)
    assert np.isfinite(arviz.loo(data).elpd_loo if hasattr(arviz.loo(data), "elpd_loo") else arviz.loo(data).elpd)


def capsule_named(name):
    """A capsule as Cython makes it, with the signature as its name."""
    api = ctypes.pythonapi
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return api.PyCapsule_New(ctypes.cast(c_normal, ctypes.c_void_p), name, None)


CYTHON_NAME = b"int (void *, unsigned int, size_t, size_t, double const *, double *)"


def test_capsules_of_cython(plain):
    assert np.array_equal(gess.sample(capsule_named(CYTHON_NAME), 2, **QUICK).draws, plain)
    for name, words in ((b"double (double)", "takes 1 arguments and returns double"), (b"int (void)", "takes 0 arguments"),
                        (b"double" + CYTHON_NAME[3:], "takes 6 arguments and returns double")):
        with pytest.raises(TypeError, match=words):
            gess.sample(capsule_named(name), 2, **QUICK)


SIX_WORDS = "int {name}(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)"


def test_function_of_a_module_of_cffi(plain, tmp_path, monkeypatch):
    """By its address, and as Python sees it."""
    cffi = pytest.importorskip("cffi")
    shutil.which("cc") or pytest.skip("needs a C compiler")
    builder = cffi.FFI()
    builder.cdef(SIX_WORDS.format(name="logp") + "; double wave(double);")
    builder.set_source("_six_words", SIX_WORDS.format(name="logp") + """
{
    for (size_t i = 0; i < n; i++) {
        values[i] = 0;
        for (size_t k = 0; k < dim; k++) values[i] += x[i * dim + k] * x[i * dim + k];
        values[i] *= -0.5;
    }
    return 0;
}
static double wave(double x) { return x; }
""")
    builder.compile(str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    import _six_words

    for function in (_six_words.ffi.addressof(_six_words.lib, "logp"), _six_words.lib.logp):
        assert np.array_equal(gess.sample(function, 2, **QUICK).draws, plain)
    for function in (_six_words.ffi.addressof(_six_words.lib, "wave"), _six_words.lib.wave):
        with pytest.raises(TypeError, match="takes 1 arguments and returns double; .* int .void .user"):
            gess.sample(function, 2, **QUICK)
    with pytest.raises(TypeError, match="no C function"):
        gess.sample(_six_words.ffi.new("double[3]"), 2, **QUICK)


def test_c_functions_of_other_signatures_are_refused():
    library = ctypes.CDLL(None)
    library.cos.argtypes, library.cos.restype = [ctypes.c_double], ctypes.c_double
    for function in (library.cos, ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(abs)):
        with pytest.raises(TypeError, match="takes 1 arguments and returns c_double"):
            gess.sample(function, 2, **QUICK)
    numba = pytest.importorskip("numba")
    with pytest.raises(TypeError, match="takes 1 arguments and returns float64"):
        gess.sample(numba.cfunc(numba.types.double(numba.types.double))(lambda x: x), 2, **QUICK)


# ---- what describes a density ----


def test_attributes_of_functions_and_objects(plain):
    class Called:
        names = ["a", "b"]

        def prior(self, x):
            return normal(x)

        def __call__(self, x):
            return self.prior(x)

    result = gess.sample(Called(), **QUICK)
    assert result.names == ["a", "b"] and np.array_equal(result.draws, plain)

    def density(x):
        return normal(x)

    density.dim = 2
    assert np.array_equal(gess.sample(density, **QUICK).draws, plain)


def test_one_name_may_be_a_string():
    result = gess.sample(lambda x: (-0.5 * x[0] ** 2, 7.0), names="speed", blobs="seven", derived=lambda x: 2 * x,
                         derived_names="twice", **QUICK)
    assert result.names == ["speed"] and result.further_names == ["twice", "seven"]


def test_priors():
    stats = pytest.importorskip("scipy.stats")
    for prior in ([stats.norm(3, 0.1)], stats.norm(3, 0.1)):
        assert abs(gess.sample(lambda x: 0.0, prior=prior, **QUICK).draws.mean() - 3) < 0.05
    with pytest.raises(TypeError, match="prior=distribution.logpdf"):
        gess.sample(lambda x: 0.0, dim=2, prior=stats.multivariate_normal([0, 0]), **QUICK)
    for wrong in ([stats.poisson(3)], [stats.gamma]):
        with pytest.raises(TypeError, match="prior 1, .*frozen continuous"):
            gess.sample(lambda x: 0.0, prior=wrong, **QUICK)
    with warnings.catch_warnings():  # of points far out, where squares overflow
        warnings.simplefilter("error")
        gess.sample(lambda x: 0.0, prior=[stats.norm(0, 1), stats.halfcauchy()], bounds=[(0, None), None], seed=1, chains=16)
    gess.sample(lambda x: 0.0, dim=2, prior=stats.multivariate_normal([0, 0]).logpdf, **QUICK)
    with pytest.raises(TypeError, match="prior 1, .* several distributions at once"):
        gess.sample(lambda x: 0.0, prior=[stats.norm([0, 1], 1)], **QUICK)
    if hasattr(stats, "Normal"):
        new = gess.sample(lambda x: 0.0, prior=[stats.Normal(mu=3.0, sigma=0.1)], **QUICK)
        assert abs(new.draws.mean() - 3) < 0.05


def test_circular_prior():
    """SciPy repeats the density of vonmises over the whole line; here it is that of a periodic parameter."""
    stats = pytest.importorskip("scipy.stats")
    prior = [stats.vonmises(2.0, loc=3.0)]
    more = {"seed": 3, "schedule": "pooled", "draws": 200}
    for given, low in (({}, 3.0 - np.pi), ({"bounds": [(0, 2 * np.pi)]}, 0.0)):
        x = gess.sample(lambda x: 0.0, prior=prior, **given, **more)["x1"]
        assert low <= x.min() and x.max() <= low + 2 * np.pi
        cosine = np.cos(x - 3.0)
        expected = stats.vonmises_line(2.0).expect(np.cos)
        assert abs(cosine.mean() - expected) < 0.03 and abs(np.sin(x - 3.0).mean()) < 0.03
    half = gess.sample(lambda x: 0.0, prior=prior, bounds=[(3, 4)], **more)["x1"]
    assert 3 <= half.min() and half.max() <= 4


def test_prior_apart_from_a_c_function():
    stats = pytest.importorskip("scipy.stats")
    prior = {"a": stats.norm(1, 1), "b": stats.uniform(0, 1)}
    compiled = gess.sample(c_normal, prior=prior, **QUICK)
    python = gess.sample(lambda x: -0.5 * (x[0] * x[0] + x[1] * x[1]), prior=prior, **QUICK)
    assert np.array_equal(compiled.draws, python.draws) and compiled.names == ["a", "b"]
    with pytest.raises(gess.ModelError, match="returned 3"):
        gess.sample(c_failure, prior=prior, **QUICK)


@pytest.mark.parametrize("given,words", [
    ({"dim": 2, "periodic": ["a"]}, "periodic= names 'a'"),
    ({"names": ["a", "b"], "periodic": ["c"]}, "periodic= names 'c'"),
    ({"dim": 2, "periodic": [True]}, "1 flags for 2"),
    ({"bounds": [0, 1]}, "pair"),
    ({"names": ["a"], "bounds": {"a": 3}}, "pair"),
    ({"dim": -3}, "at least one parameter"),
    ({"dim": 2, "vectorize": True, "pool": map}, "one of the two"),
])
def test_what_is_wrong_is_said(given, words):
    with pytest.raises(ValueError, match=words):
        gess.sample(normal, **given, **QUICK)


def test_bounds_by_name_may_be_open():
    result = gess.sample(normal, names=["a", "b"], bounds={"a": (None, 0), "b": None}, **QUICK)
    assert result["a"].max() < 0 < result["b"].max()


def test_what_a_c_function_does_not_take():
    with pytest.raises(TypeError, match="threads=N"):
        gess.sample(c_normal, 2, processes=2, **QUICK)
    with pytest.raises(TypeError, match="pool="):
        gess.sample(c_normal, 2, pool=map, **QUICK)
    with pytest.raises(TypeError, match="no method map"):
        gess.sample(normal, 2, pool=3, **QUICK)


@pytest.mark.parametrize("given,words", [
    ({"dim": 2.5}, "dim= is 2.5"), ({"dim": "2"}, "dim= is '2'"), ({"dim": 2, "processes": 1.5}, "processes= is 1.5"),
    ({"dim": 2, "processes": 1, "start_method": "steal"}, "start_method= is 'steal'"), ({"dim": 2, "prior": 3}, "prior= is 3"),
    ({"dim": 2, "prior": lambda x: "a"}, "the prior returned 'a'"),
    ({"dim": 2, "prior": lambda x: np.zeros(7)}, "the prior returned shape"),
    ({"dim": 2, "data": "data.csv"}, "data= is the file of"), ({"dim": 2, "user": 3}, "user= is the first argument of a C"),
    ({"dim": 2, "start_method": "steal"}, "start_method= is 'steal'"),
    ({"dim": 2, "starts": [["a", "b"]] * 16}, "starts= cannot be read"),
    ({"dim": 2, "starts": np.zeros((16, 2, 2))}, r"starts= has shape \(16, 2, 2\)"),
    ({"dim": 2, "starts": np.full((16, 2), np.nan)}, "^starts=: row 1, column 1"),
])
def test_what_is_of_the_wrong_type_is_said(given, words):
    with pytest.raises((TypeError, ValueError), match=words):
        gess.sample(normal, **given, **QUICK)


def test_functions_may_change_their_argument(plain):
    def clobbers(function):
        def changed(x):
            value = function(x)
            x *= 0.0
            return value

        return changed

    assert np.array_equal(gess.sample(clobbers(normal), 2, **QUICK).draws, plain)
    assert np.array_equal(gess.sample(clobbers(densities.normal_batch), 2, vectorize=True, **QUICK).draws, plain)
    apart = gess.sample(normal, 2, prior=normal, **QUICK)
    assert np.array_equal(gess.sample(clobbers(normal), 2, prior=clobbers(normal), **QUICK).draws, apart.draws)


# ---- options ----


@pytest.mark.parametrize("given", [{"isolate": True}, {"on_crash": "outside"}, {"eval_timeout": "1s"}, {"worker_memory": 50}])
def test_isolation_is_for_compiled_densities(given):
    for more in ({}, {"processes": 2}):
        with pytest.raises(gess.UsageError, match=f"^{list(given)[0]}=.*compiled.*processes=N"):
            gess.sample(densities.normal, 2, **given, **more, **QUICK)


def test_options_are_spoken_of_as_keywords():
    with pytest.raises(gess.UsageError, match="^on_crash= .* isolate="):
        gess.sample("funnel", on_crash="outside", **QUICK)
    words = gess.sample.__doc__
    for name in ("isolate", "on_crash", "eval_timeout", "worker_memory", "evidence", "target_evidence_error", "max_time"):
        assert f"    {name}: " in words
    assert "with isolate=, and for programs" in words and "--isolate" not in words


def test_messages_and_verdicts_speak_of_keywords(tmp_path):
    verdict = gess.sample("gaussian:dim=2", warmup=50, draws=2).diagnose()
    assert not verdict and "draws=" in str(verdict) + "".join(finding.advice for finding in verdict.findings)
    for words in (str(verdict), *(finding.advice for finding in verdict.findings)):
        assert "--" not in re.sub("`gess [^`]*`", "", words), words
    assert "`result.resume(draws=" in str(verdict)
    gess.sample("gaussian:dim=2", directory=tmp_path / "run", **QUICK)
    with pytest.raises(gess.UsageError, match=r"`gess.load\(.*\).resume\(\)`.* directory=, or replace it with overwrite="):
        gess.sample("gaussian:dim=2", directory=tmp_path / "run", **QUICK)
    loaded = gess.load(tmp_path / "run")
    for call, words in ((lambda: loaded.summary("nobody"), "^variables=: there is no parameter"),
                        (lambda: loaded.export("tables", tmp_path / "a"), r"^export\('tables'\)")):
        with pytest.raises(gess.UsageError, match=words):
            call()
    for format, words in (("netcdf", "to_arviz"), ("emcee", "to_emcee")):
        try:
            loaded.export(format, tmp_path / format)
        except gess.UsageError as error:  # of a build without the library
            assert "without" in str(error) and words in str(error) and "--" not in str(error)
    for words, name in ((r"the rows are x1, x2", "x9"), ("the figures are mean", "mode")):
        with pytest.raises(KeyError, match=words):
            loaded.summary().column(name) if name == "mode" else loaded.summary()[name]
    with pytest.raises(TypeError, match=r"a.evidence\(\)"):
        gess.compare(loaded, loaded)
    with pytest.raises(gess.ModelError, match="starts="):
        gess.sample(lambda x: -np.inf, 2, **QUICK)


def test_a_tuple_is_taken_for_blobs():
    with pytest.raises(ValueError, match="tuple of 2.* give blobs="):
        gess.sample(lambda x: (normal(x), 1.0), 2, **QUICK)


def test_arguments_of_a_named_model_are_refused():
    for given in ({"args": [1]}, {"kwargs": {"a": 1}}, {"user": 1}):
        with pytest.raises(TypeError, match=f"describes itself: leave out {list(given)[0]}"):
            gess.sample("funnel", **given, **QUICK)


def test_a_path_is_a_path(monkeypatch, tmp_path):
    """pathlib drops the ./ that tells a file from a name."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(gess.ModelError, match="./nothing.so"):
        gess.sample(pathlib.Path("./nothing.so"), **QUICK)


def test_a_name_reaches_the_library_as_it_is():
    name = "nothing:d.py --a 'b c'  \u00b5"
    with pytest.raises(gess.UsageError, match=re.escape(name)):
        gess.sample(name, **QUICK)


# ---- processes ----


def test_no_fork_beside_libraries_with_threads(monkeypatch):
    monkeypatch.setattr(_processes.threading, "active_count", lambda: 1)
    for name in _processes.THREADED:
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert _processes.choose_context(None).get_start_method() == "fork"
    monkeypatch.setitem(sys.modules, "torch", sys)
    assert _processes.choose_context(None).get_start_method() == "spawn"
    assert _processes.choose_context("fork").get_start_method() == "fork"


def test_function_of_a_session():
    script = """
import sys
sys.modules["cloudpickle"] = None
import gess
def density(x):
    return -0.5 * float(x @ x)
gess.sample(density, 2, processes=2, start_method="spawn", warmup=5, draws=5)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "TypeError" in done.stderr and "defined in a session" in done.stderr and "cloudpickle" in done.stderr


class Vanishing:
    """A function that other processes cannot load."""

    def __call__(self, x):
        return 0.0

    def __reduce__(self):
        return int, ("no number",)


def test_function_that_cannot_be_loaded():
    workers = _processes.Workers(Function(Vanishing()), 1, 2, "spawn")
    try:
        with pytest.raises(ValueError, match="no number"):
            workers.evaluate(0, np.zeros((1, 2)), np.zeros(1), None)
    finally:
        workers.close()
