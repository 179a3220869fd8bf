"""Functions of arrays on a device (device="cuda"): on a GPU that is the processor (tests/cuda/emulator), whose memory arrays of
NumPy, and of JAX and PyTorch if they are there, can look at."""
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import gess
from gess import _dlpack

EMULATOR = os.environ.get("GESS_EMULATOR", "")
emulated = pytest.mark.skipif(not EMULATOR, reason="there is no emulated GPU (GESS_EMULATOR)")

BEGIN = """
import numpy as np, gess
from gess import _dlpack
_dlpack.kind = _dlpack.CPU  # the memory of the emulated GPU is the processor's
settings = dict(dim=3, bounds=[(None, None), (0, None), (-1, 1)], vectorize=True, chains=100, draws=20, seed=4,
                max_warmup_evals=20000)
sizes = []

def values(x):
    sizes.append(len(x))
    return -0.5 * (x[:, 0] - x[:, 1]) ** 2 - x[:, 1] - x[:, 2] * x[:, 2]

def numpy_of(x):  # NumPy takes any object with __dlpack__
    return values(np.from_dlpack(x))

def same(a, b):
    assert a.draws.shape == b.draws.shape == (100, 20, 3)
    assert np.array_equal(a.draws, b.draws) and np.array_equal(a.log_prob, b.log_prob)
"""


def run(program, status=0):
    """Runs a program that has the emulated GPU."""
    env = dict(os.environ, LD_LIBRARY_PATH=EMULATOR + os.pathsep + os.environ.get("GESS_BUILD", ""))
    done = subprocess.run([sys.executable, "-c", BEGIN + textwrap.dedent(program)], env=env, capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@emulated
def test_draws_are_those_of_the_processor():
    run("""
        cpu = gess.sample(values, **settings)
        sizes.clear()
        gpu = gess.sample(numpy_of, arrays="dlpack", device="cuda", **settings)
        same(cpu, gpu)
        assert max(sizes) >= 100, "the chains are evaluated together"
        both = gess.sample(numpy_of, arrays="dlpack", device="auto", **settings)
        same(cpu, both)
        longer = gpu.resume(draws=40)
        assert np.array_equal(longer.draws[:, :20], cpu.draws) and longer.draws.shape[1] == 40
        assert np.array_equal(longer.draws, cpu.resume(draws=40).draws)
        assert "device: cuda:0 (emulated)" in open(gpu.directory + "/log.txt").read()
    """)


@emulated
def test_second_gpu():
    """Its number is that of the array's device, and values on another device are refused."""
    said = run("""
        import os
        os.environ["EMULATED_DEVICES"] = "2"

        def density(x):
            if isinstance(x, np.ndarray):
                return values(x)  # of the processor: at starts
            print(x.__dlpack_device__())
            x.device = (1, 0)  # NumPy's only one
            return numpy_of(x)

        try:
            gess.sample(density, arrays="dlpack", device="cuda:1", **settings)
        except TypeError as error:
            print("said:", error)
    """)
    assert "(1, 1)" in said and "said: the density returned an array that is not on the device of its argument" in said


@emulated
@pytest.mark.parametrize("returned, error, words", [
    ("values(x)[:-1]", ValueError, "the density returned shape"),
    ("list(values(x))", TypeError, "the density returned list, not an array"),
    ("1 / 0", ZeroDivisionError, "division by zero"),
])
def test_mistakes(returned, error, words):
    said = run(f"""
        def wrong(x):
            if isinstance(x, np.ndarray):
                return values(x)  # of the processor: at starts
            x = np.from_dlpack(x)
            return {returned}

        try:
            gess.sample(wrong, arrays="dlpack", device="cuda", **settings)
        except {error.__name__} as error:
            print("said:", error)
    """)
    assert "said:" in said and words in said


@emulated
def test_other_results_of_the_function():
    run("""
        cpu = gess.sample(values, **settings)

        def strided(x):
            return np.stack([values(np.from_dlpack(x))] * 2, axis=1)[:, 0]

        same(cpu, gess.sample(strided, arrays="dlpack", device="cuda", **settings))

        def rounded(x):
            return values(np.from_dlpack(x)).astype(np.float32)

        gess.sample(rounded, arrays="dlpack", device="cuda", **settings)
        assert not _dlpack._alive, "arrays are released"
    """)


@emulated
def test_jax():
    pytest.importorskip("jax")
    run("""
        import jax, jax.numpy as jnp
        jax.config.update("jax_enable_x64", True)
        compiled = []

        @jax.jit
        def density(x):
            compiled.append(x.shape[0])
            return values(x)

        cpu = gess.sample(density, arrays="jax", **settings)
        compiled.clear()
        gpu = gess.sample(density, arrays="jax", device="cuda", **settings)
        same(cpu, gpu)
        assert len(set(compiled)) < 12, compiled
        room = np.zeros(1000)
        address = -(-room.ctypes.data // 64) * 64
        points = _dlpack.view("jax", _dlpack.DeviceArray(address, (100, 2), 0))
        assert points.unsafe_buffer_pointer() == address, "without a copy"
        del points
        jax.config.update("jax_enable_x64", False)
        try:
            gess.sample(density, arrays="jax", device="cuda", **settings)
        except TypeError as error:
            assert "jax_enable_x64" in str(error)
        else:
            raise AssertionError("single precision was not refused")
    """)


@emulated
def test_torch():
    pytest.importorskip("torch")
    run("""
        same(gess.sample(values, arrays="torch", **settings), gess.sample(values, arrays="torch", device="cuda", **settings))
    """)


@emulated
def test_copy_by_the_driver():
    run("""
        import ctypes
        driver = ctypes.CDLL("libcuda.so.1")
        context, at = ctypes.c_void_p(), ctypes.c_uint64()
        assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
        assert driver.cuCtxSetCurrent(context) == 0
        assert driver.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(80)) == 0
        numbers = np.arange(10.0)
        _dlpack._driver_copy(at.value, numbers.ctypes.data, 80)
        assert np.array_equal(np.ctypeslib.as_array((ctypes.c_double * 10).from_address(at.value)), numbers)
    """)


@pytest.mark.parametrize("further", [dict(), dict(vectorize=True), dict(vectorize=True, arrays="dlpack", prior=lambda x: 0 * x[:, 0]),
                                     dict(vectorize=True, arrays="dlpack", blobs=1),
                                     dict(vectorize=True, arrays="dlpack", processes=2)])
def test_functions_that_cannot_run_there(further):
    with pytest.raises(gess.UsageError, match="needs a function of an .n, dim. array on the GPU"):
        gess.sample(lambda x: -0.5 * (x @ x), dim=2, device="cuda", draws=5, **further)


def test_dlpack_on_the_processor():
    def density(x):
        assert hasattr(x, "__dlpack__")
        return -0.5 * (np.from_dlpack(x) ** 2).sum(axis=1)

    result = gess.sample(density, dim=2, vectorize=True, arrays="dlpack", draws=50, chains=16)
    assert result.draws.shape == (16, 50, 2)


def test_arrays_outlive_their_makers():
    numbers = np.arange(6.0).reshape(3, 2)
    kind = _dlpack.kind
    _dlpack.kind = _dlpack.CPU
    try:
        array = np.from_dlpack(_dlpack.DeviceArray(numbers.ctypes.data, (3, 2), 0))
        assert np.array_equal(array, numbers) and array.ctypes.data == numbers.ctypes.data
        assert len(_dlpack._alive) == 1
        del array
        assert not _dlpack._alive
        out = np.zeros(3)
        _dlpack.take_values(numbers.sum(axis=1), out.ctypes.data, 3, 3, 0)
        assert np.array_equal(out, [1.0, 5.0, 9.0])
        out[:] = 0
        _dlpack.take_values(np.arange(4.0), out.ctypes.data, 2, 4, 0)  # more rows than points
        assert np.array_equal(out, [0.0, 1.0, 0.0])
    finally:
        _dlpack.kind = kind


def test_rows_of_a_call_for_jax():
    batch = _dlpack.DeviceBatch(None, (), {}, "jax")
    assert [batch.rows(n) for n in (1, 3, 100, 100, 90, 65, 64, 33, 1, 200)] == [1, 3, 100, 100, 100, 100, 64, 64, 1, 200]
    assert _dlpack.DeviceBatch(None, (), {}, "torch").rows(33) == 33
