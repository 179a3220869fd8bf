"""Faults of a density: each ends with a clear message, draws that can be read, no process left."""
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time

import densities
import gess
import numpy as np
import pytest
from gess import _library

QUICK = {"warmup": 60, "draws": 40, "chains": 16, "seed": 5}
HERE = os.path.dirname(__file__)


def test_exception_keeps_its_traceback_the_point_and_the_draws(tmp_path):
    calls = []

    def fails(x):
        calls.append(1)
        if len(calls) > 8000:
            raise ArithmeticError("no value here")
        return -0.5 * float(x @ x)

    with pytest.raises(ArithmeticError, match="no value here") as caught:
        gess.sample(fails, 2, warmup=60, draws=100000, chains=16, directory=tmp_path / "run")
    assert any(entry.name == "fails" for entry in caught.traceback)
    assert caught.value.gess_point.shape == (2,)
    if sys.version_info >= (3, 11):
        assert "evaluated at" in caught.value.__notes__[0]
    drawn = caught.value.gess_result.draws
    assert drawn.shape[0] == 16 and drawn.shape[1] > 100
    assert np.array_equal(gess.load(tmp_path / "run").draws, drawn)


def test_exception_in_a_vectorised_function():
    def fails(x):
        if np.any(x[:, 0] > 1.5):
            raise ValueError("too large")
        return -0.5 * np.sum(x * x, axis=1)

    with pytest.raises(ValueError, match="too large") as caught:
        gess.sample(fails, 2, vectorize=True, **QUICK)
    assert caught.value.gess_point[0] > 1.5


@pytest.mark.parametrize("value,error", [(np.zeros(3), "shape"), (1j, "dtype"), ("one", "dtype"), (None, "dtype"),
                                         ([1.0, 2.0], "shape")])
def test_wrong_results_of_a_scalar_function(value, error):
    with pytest.raises((TypeError, ValueError), match=error):
        gess.sample(lambda x: value, 2, **QUICK)


@pytest.mark.parametrize("make,error", [
    (lambda n: np.zeros((n, 2)), "shape"), (lambda n: np.zeros(n + 1), "shape"), (lambda n: 0.0, "shape"),
    (lambda n: np.zeros(n, dtype=complex), "dtype"), (lambda n: np.array(["a"] * n), "dtype"), (lambda n: None, "dtype")])
def test_wrong_results_of_a_vectorised_function(make, error):
    with pytest.raises((TypeError, ValueError), match=error):
        gess.sample(lambda x: make(len(x)), 2, vectorize=True, **QUICK)


def test_wrong_blobs():
    with pytest.raises(ValueError, match="blobs"):
        gess.sample(lambda x: (densities.normal(x), 1.0, 2.0), 2, blobs=1, **QUICK)
    with pytest.raises(TypeError, match="blobs are real numbers"):
        gess.sample(lambda x: (densities.normal(x), "word"), 2, blobs=1, **QUICK)
    with pytest.raises(ValueError, match="blobs have shape .* one row per point"):
        gess.sample(lambda x: (densities.normal_batch(x), x.sum()), 2, blobs=1, vectorize=True, **QUICK)
    with pytest.raises(ValueError, match="derived"):
        gess.sample(densities.normal, 2, derived=lambda x: [1, 2], derived_names=["one"], **QUICK)


def test_nan_counts_as_outside_and_is_counted():
    result = gess.sample(lambda x: np.nan if x[0] > 0.5 else -0.5 * float(x @ x), 2, **QUICK)
    assert result.stats["nans"] > 0 and result["x1"].max() <= 0.5


def test_infinite_density_ends_the_run():
    with pytest.raises(gess.ModelError, match="infinity") as caught:
        gess.sample(lambda x: np.inf if x[0] > 1 else -0.5 * float(x @ x), 2, **QUICK)
    assert caught.value.point[0] > 1


def test_no_start_inside():
    with pytest.raises(gess.ModelError, match="start"):
        gess.sample(lambda x: -np.inf, 2, **QUICK)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_give_the_same_draws(method):
    plain = gess.sample(densities.normal_with_blobs, 2, blobs=2, **QUICK)
    for count in (1, 3):
        result = gess.sample(densities.normal_with_blobs, 2, blobs=2, processes=count, start_method=method, **QUICK)
        assert np.array_equal(result.draws, plain.draws) and np.array_equal(result.further, plain.further)
    assert not multiprocessing.active_children()


def test_resuming_with_other_processes():
    whole = gess.sample(densities.normal, 2, **{**QUICK, "draws": 70})
    part = gess.sample(densities.normal, 2, processes=2, **QUICK)
    assert np.array_equal(part.resume(draws=50).draws, whole.draws[:, :50])
    assert np.array_equal(part.resume(draws=70, processes=3).draws, whole.draws)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_killed_worker_is_noticed_at_once(method):
    began = time.monotonic()
    with pytest.raises(gess.ModelError, match="signal 9") as caught:
        gess.sample(densities.Killer(2000), 2, processes=2, start_method=method, **{**QUICK, "draws": 100000})
    assert time.monotonic() - began < 60 and caught.value.gess_result.draws.shape[0] == 16
    assert not multiprocessing.active_children()


def test_exception_in_a_worker():
    with pytest.raises(ArithmeticError, match="no value here") as caught:
        gess.sample(densities.Thrower(500), 2, processes=2, **QUICK)
    assert "densities.py" in str(caught.value.__cause__)
    assert not multiprocessing.active_children()


def test_function_that_cannot_be_pickled(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(TypeError, match="pickled|cloudpickle"):
        gess.sample(lambda x: 0.0, 2, processes=2, start_method="spawn", **QUICK)


def test_processes_in_a_thread():
    """Other threads run, so the processes are spawned, and nothing hangs."""
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(gess.sample(densities.normal, 2, processes=2, **QUICK)))
    thread.start()
    thread.join(60)
    assert outcome and np.array_equal(outcome[0].draws, gess.sample(densities.normal, 2, **QUICK).draws)


def test_density_that_forks_in_a_thread():
    """A child that comes back from the density ends there; the run goes on."""
    calls = []

    def forks(x):
        calls.append(1)
        if len(calls) == 300:
            child = os.fork()
            if child:
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 70
        return densities.normal(x)

    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(gess.sample(forks, 2, **QUICK)))
    thread.start()
    thread.join(60)
    assert np.array_equal(outcome[0].draws, gess.sample(densities.normal, 2, **QUICK).draws)


def test_pool():
    from multiprocessing.pool import ThreadPool

    with ThreadPool(3) as pool:
        result = gess.sample(densities.normal, 2, pool=pool, **QUICK)
    assert np.array_equal(result.draws, gess.sample(densities.normal, 2, **QUICK).draws)
    with pytest.raises(ValueError, match="not both"):
        gess.sample(densities.normal, 2, pool=pool, processes=2)


SCRIPT = """
    import sys, time
    sys.path.insert(0, {here!r})
    import densities, gess
    def main():
        print("ready", flush=True)
        result = gess.sample({model}, {dim}, directory={folder!r}, draws=10**9, chains=16, warmup=100, {more})
        assert result.stopped
        print("stopped", result.draws.shape[1], flush=True)
    if __name__ == "__main__":
        main()
"""


def take_interrupts():
    """In a new process: SIGINT is ignored by what a shell has started in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def assert_gone(group):
    """No process of a group is left; helpers of multiprocessing end a moment after their parent."""
    for _ in range(40):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("a process is left")


def interrupt(folder, wait, model="densities.normal", dim="2", more="", begun=False):
    """Starts a run in a process of its own, sends SIGINT after `wait` seconds, and returns what it printed. `begun`: the
    seconds count from the moment when the run has its files."""
    script = textwrap.dedent(SCRIPT.format(here=HERE, folder=str(folder), model=model, dim=dim, more=more))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True, preexec_fn=take_interrupts)
    assert process.stdout.readline() == "ready\n"
    while begun and not (folder / "checkpoint").exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(wait)
    os.killpg(process.pid, signal.SIGINT)
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    assert_gone(process.pid)
    return process.returncode, out, err


@pytest.mark.parametrize("model,dim,more", [("densities.normal", "2", ""), ("'funnel'", "None", "threads=2, thin=50"),
                                            ("densities.slow", "2", "processes=2, start_method='fork'"),
                                            ("densities.slow", "2", "processes=2, start_method='spawn'")])
def test_interrupted_run_keeps_its_draws(tmp_path, model, dim, more):
    code, out, err = interrupt(tmp_path / "run", 0.9, model, dim, more, begun=True)
    assert code == 0 and out.startswith("stopped"), err
    loaded = gess.load(tmp_path / "run")
    assert loaded.draws.shape[1] == int(out.split()[1]) and loaded.stopped and loaded.stats["nans"] == 0


MOMENTS = int(os.environ.get("GESS_INTERRUPTS", "6"))


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_interrupts_at_random_moments(tmp_path, moment):
    """Before, in and after the start of the run: draws, or KeyboardInterrupt; never a hang or a broken file."""
    chooser = random.Random(1000 + moment)
    more = chooser.choice(["", "processes=2, start_method='fork'"])
    code, out, err = interrupt(tmp_path / "run", chooser.random() * 0.6, more=more)
    if code == 0:
        assert gess.load(tmp_path / "run").draws.shape[0] == 16
    else:
        assert "KeyboardInterrupt" in err, err


SLOW_C = """
#include <stddef.h>
#include <unistd.h>
static int calls;
int quick_calls = 0;
int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        if (calls++ >= quick_calls) usleep(300000);
        values[i] = 0;
        for (size_t k = 0; k < dim; k++) values[i] -= 0.5 * x[i * dim + k] * x[i * dim + k];
    }
    return 0;
}
"""

SLOW_SCRIPT = """
    import ctypes, gess
    library = ctypes.CDLL({library!r})
    ctypes.c_int.in_dll(library, "quick_calls").value = {quick}
    print("ready", flush=True)
    try:
        {what}
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.parametrize("quick,what", [
    (0, "gess.sample(library.logp, 2, directory={folder!r}, chains=64, threads=1)"),
    (400, "gess.load({run!r}).evidence(model=library.logp, density={{'dim': 2}})")])
def test_slow_compiled_density_can_be_interrupted(tmp_path, quick, what):
    """While the library looks for starts, which would take 20 seconds here, and while it computes the evidence."""
    compiler = shutil.which("cc") or pytest.skip("needs a C compiler")
    (tmp_path / "slow.c").write_text(SLOW_C)
    library = str(tmp_path / "slow.so")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, str(tmp_path / "slow.c")], check=True)

    def logp(x):
        return densities.normal(x)

    gess.sample(logp, 2, directory=tmp_path / "run", **QUICK)
    script = SLOW_SCRIPT.format(library=library, quick=quick, what=what.format(folder=str(tmp_path / "new"),
                                                                                run=str(tmp_path / "run")))
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True,
                               preexec_fn=take_interrupts)
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out = process.communicate(timeout=60)[0]
    assert out == "interrupted\n" and time.monotonic() - began < 5


ALARM_SCRIPT = """
    import signal, sys
    sys.path.insert(0, {here!r})
    import densities, gess
    class Late(Exception):
        pass
    def ring(number, frame):
        raise Late
    if __name__ == "__main__":
        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, {seconds})
        try:
            gess.sample({model}, directory={folder!r}, draws=10**9, chains=16, warmup=100, {more})
        except Late as late:
            print("late", late.gess_result.draws.shape[1] > 0)
        print(gess.sample("funnel", draws=5, warmup=20).draws.shape[1], flush=True)
"""


@pytest.mark.parametrize("model,more", [("'funnel'", "threads=2, thin=50"), ("densities.normal, 2", ""),
                                        ("densities.normal, 2", "processes=2, start_method='fork'")])
def test_handlers_of_other_signals_may_raise(tmp_path, model, more):
    """An alarm, say: the run ends with the handler's exception and its draws, wherever the density is evaluated."""
    script = ALARM_SCRIPT.format(here=HERE, seconds=1.5, model=model, folder=str(tmp_path / "run"), more=more)
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, start_new_session=True)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0 and out == "late True\n5\n", (process.returncode, out, err)
    assert_gone(process.pid)


def test_script_without_a_guard(tmp_path):
    """Spawned processes import it, which starts the run again there."""
    script = tmp_path / "script.py"
    script.write_text("import gess\ndef normal(x):\n    return -0.5 * float(x @ x)\n"
                      "gess.sample(normal, 2, processes=2, start_method='spawn')\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and 'belongs below `if __name__ == "__main__":`' in done.stderr, done.stderr


def test_interrupt_outside_the_code_of_a_callback_is_not_lost():
    """cffi hands it to its error handler, and the library may not ask for the error: the run then ends as if all were well."""
    def density(x):
        if not _library.escaped:
            _library.escaped.append(KeyboardInterrupt())  # as the error handler does
        return densities.normal(x)

    with pytest.raises(KeyboardInterrupt):
        gess.sample(density, 2, **QUICK)
    assert not _library.escaped


def test_exception_in_starts():
    """It ends the run, even if only one start fails; the density was not at fault at any point."""
    calls = []

    def starts(normals):
        calls.append(1)
        if len(calls) == 3:
            raise ArithmeticError("no start")
        return normals

    with pytest.raises(ArithmeticError, match="no start") as caught:
        gess.sample(densities.normal, 2, starts=starts, **QUICK)
    assert not hasattr(caught.value, "gess_point") and caught.value.gess_result is None
    for wrong in ([1, 2, 3], None, "ab", [1j, 0]):
        with pytest.raises(ValueError, match="starts="):
            gess.sample(densities.normal, 2, starts=lambda normals: wrong, **QUICK)


def test_interrupted_run_goes_on_as_if_nothing_had_happened(tmp_path):
    interrupt(tmp_path / "run", 0.5, begun=True)
    have = gess.load(tmp_path / "run").draws.shape[1]
    part = gess.load(tmp_path / "run").draws
    whole = gess.sample(densities.normal, 2, draws=max(1, have), chains=16, warmup=100)
    assert np.array_equal(whole.draws[:, :have], part)
