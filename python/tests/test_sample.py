"""gess.sample() with every kind of model, and the object that it returns."""
import contextlib
import ctypes
import fcntl
import inspect
import json
import os
import pickle
import struct
import subprocess
import sys
import termios

import densities
import gess
import numpy as np
import pytest
from gess._native import ffi, lib

QUICK = {"warmup": 60, "draws": 40, "chains": 16, "seed": 5}


def same(a, b):
    return np.array_equal(a.draws, b.draws) and np.array_equal(a.log_prob, b.log_prob)


def test_scalar_and_vectorised_functions_give_the_same_draws():
    one = gess.sample(lambda x: -0.5 * float((x * x).sum()), 3, **QUICK)
    many = gess.sample(lambda x: -0.5 * (x * x).sum(axis=1), 3, vectorize=True, **QUICK)
    assert one.draws.shape == (16, 40, 3) and one.names == ["x1", "x2", "x3"]
    assert same(one, many)


def test_default_run_meets_its_targets_and_is_right():
    result = gess.sample(densities.normal_batch, 4, vectorize=True)
    verdict, summary = result.diagnose(), result.summary()
    assert verdict and verdict.passed and "PASS" in str(verdict)
    assert result.stats["targets_met"] and not result.stopped
    for name in result.names:
        figures = summary[name]
        assert abs(figures["mean"]) < 4.5 * figures["mcse_mean"] and abs(figures["sd"] - 1) < 4.5 * figures["mcse_sd"]
    assert summary.column("r_hat_nested").max() < 1.02 and "r_hat_nested" in summary._repr_html_()
    assert summary.column("r_hat").max() < 1.02 and "<table>" in summary._repr_html_()


def test_figures_in_a_notebook_have_the_digits_that_are_known():
    row = {"mean": 2459123.4567, "sd": 0.0123, "q5": -3.0e-7, "q95": float("nan"), "ess_bulk": 17123.4, "r_hat": 1.00123}
    shown = {key: gess._result.shown(row, key) for key in row}
    assert shown == {"mean": "2459123.4567", "sd": "0.0123", "q5": "-3e-07", "q95": "NA", "ess_bulk": "17123", "r_hat": "1.0012"}


def test_names_bounds_periodic_derived_blobs():
    def density(x):
        return -x[0] + 2 * np.cos(x[1]), x[0] + x[1], 7.0

    result = gess.sample(density, names=["rate", "angle"], bounds=[(0, None), (-np.pi, np.pi)], periodic=["angle"], blobs=["sum", "seven"],
                         derived=lambda x: [np.exp(-x[0])], derived_names=["survival"], schedule="pooled", **QUICK)
    assert result.names == ["rate", "angle"] and result.further_names == ["survival", "sum", "seven"]
    assert (result["rate"] > 0).all() and (np.abs(result["angle"]) <= np.pi).all()
    assert np.allclose(result["survival"], np.exp(-result["rate"]))
    assert np.array_equal(result["sum"], result["rate"] + result["angle"]) and (result["seven"] == 7).all()
    with pytest.raises(KeyError):
        result["speed"]


def test_bounds_by_name():
    result = gess.sample(lambda x: -x[0], names=["rate"], bounds={"rate": (2, np.inf)}, **QUICK)
    assert result["rate"].min() > 2
    with pytest.raises(ValueError, match="speed"):
        gess.sample(lambda x: -x[0], names=["rate"], bounds={"speed": (0, 1)}, **QUICK)


def test_vectorised_blobs():
    result = gess.sample(lambda x: (densities.normal_batch(x), x[:, :1] * 2), 2, vectorize=True, blobs=1, **QUICK)
    assert np.array_equal(result["blob1"], 2 * result["x1"])


def test_priors_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    prior = {"scale": stats.gamma(3.0), "shift": stats.norm(1.0, 2.0), "share": stats.uniform(0, 1)}
    result = gess.sample(lambda x: 0.0, prior=prior, seed=3, schedule="pooled", draws=300)
    assert result.names == list(prior)
    for name, distribution in prior.items():
        figures = result.summary()[name]
        assert abs(figures["mean"] - distribution.mean()) < 4.5 * figures["mcse_mean"]
        assert abs(figures["sd"] - distribution.std()) < 4.5 * figures["mcse_sd"]
    with pytest.raises(TypeError, match="scipy.stats"):
        gess.sample(lambda x: 0.0, prior=[stats.poisson], **QUICK)


def test_prior_given_as_a_function():
    apart = gess.sample(lambda x: -float(x[0] ** 2), 1, prior=lambda x: -float(x[0] ** 2), **QUICK)
    whole = gess.sample(lambda x: -float(x[0] ** 2) - float(x[0] ** 2), 1, **QUICK)
    assert same(apart, whole)


def test_object_with_attributes():
    class Model:
        names = ["a", "b"]
        bounds = [(0, 1), (None, None)]
        vectorize = True

        def logp(self, x):
            return -0.5 * x[:, 1] ** 2

    result = gess.sample(Model(), schedule="pooled", **QUICK)
    assert result.names == ["a", "b"] and 0 < result["a"].min() and result["a"].max() < 1


def test_starts(tmp_path):
    starts = np.random.default_rng(1).normal(size=(16, 2)) + 100
    seen = []

    def density(x):
        seen.append(x.copy())
        return -0.5 * float(((x - 100) ** 2).sum())

    gess.sample(density, starts=starts, **QUICK)
    assert np.array_equal(np.array(seen[:16]), starts)
    with pytest.raises(ValueError, match="one per chain"):
        gess.sample(density, starts=starts[:5], **QUICK)
    made = gess.sample(density, 2, starts=lambda z: 100 + z, directory=tmp_path / "run", **QUICK)
    assert abs(made.draws.mean() - 100) < 1
    again = gess.sample(density, 2, starts=tmp_path / "run", **QUICK)
    assert abs(again.draws.mean() - 100) < 1


def test_args_and_kwargs():
    result = gess.sample(lambda x, a, b=0: -float(((x - a - b) ** 2).sum()), 2, args=[3], kwargs={"b": 4}, **QUICK)
    assert abs(result.draws.mean() - 7) < 0.3


def test_built_in_model_as_the_command_has_it(tmp_path):
    """The same seed and build give the same bytes from Python and from the command, on any number of threads."""
    options = ["--chains", "16", "--warmup", "60", "--draws", "40", "--seed", "5"]
    command = [sys.executable, "-m", "gess", "sample", "funnel", "-o", str(tmp_path / "command"), *options]
    subprocess.run(command, check=True, capture_output=True)
    expected = (tmp_path / "command" / "draws.gess").read_bytes()
    for threads in (1, 2, 3):
        path = tmp_path / f"python{threads}"
        result = gess.sample("funnel", directory=path, threads=threads, **QUICK)
        assert (path / "draws.gess").read_bytes() == expected
        assert json.loads((path / "summary.json").read_text())["draws"] == 40
    assert np.array_equal(gess.load(tmp_path / "command").draws, result.draws)
    with pytest.raises(gess.UsageError, match="exists|overwrite"):
        gess.sample("funnel", directory=path, **QUICK)
    with pytest.raises(TypeError, match="describes itself"):
        gess.sample("funnel", bounds=[(0, 1)])


def test_python_density_as_a_c_program_has_it():
    """A density in Python gives the draws that the same arithmetic in C gives."""
    @ffi.callback("gess_logp_fn")
    def logp(user, worker, n, dim, x, values):
        for i in range(n):
            values[i] = -0.5 * (x[i * dim] * x[i * dim] + x[i * dim + 1] * x[i * dim + 1])
        return 0

    pointer = gess.sample(logp, 2, **QUICK)
    python = gess.sample(lambda x: -0.5 * (x[0] * x[0] + x[1] * x[1]), 2, **QUICK)
    assert same(pointer, python)


def test_function_pointer_of_ctypes(tmp_path):
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_size_t,
                            ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double))

    @kind
    def logp(user, worker, n, dim, x, values):
        assert user == 1234
        for i in range(n):
            values[i] = -0.5 * x[i] * x[i]
        return 0

    result = gess.sample(logp, 1, user=1234, **QUICK)
    assert same(result, gess.sample(lambda x: -0.5 * x[0] * x[0], 1, **QUICK))
    with pytest.raises(TypeError, match="C function"):
        gess.sample(logp, 1, args=[1], **QUICK)


def test_load_resume_and_extend(tmp_path):
    whole = gess.sample(densities.normal, 2, directory=tmp_path / "whole", **{**QUICK, "draws": 90})
    part = gess.sample(densities.normal, 2, directory=tmp_path / "part", **QUICK)
    longer = part.resume(draws=90)
    assert same(longer, whole)
    assert (tmp_path / "part" / "draws.gess").read_bytes() == (tmp_path / "whole" / "draws.gess").read_bytes()
    opened = gess.load(tmp_path / "part")
    assert opened.stats["evals"] == longer.stats["evals"] and not opened.stopped
    assert same(opened, whole) and "90 draws" in repr(opened)
    with pytest.raises(gess.UsageError, match="resume"):
        opened.resume(draws=95)
    again = opened.resume(draws=95, model=densities.normal, density={"dim": 2})
    assert again.draws.shape == (16, 95, 2)
    with pytest.raises(gess.ModelError, match="density has changed"):
        opened.resume(draws=99, model=lambda x: -float(x @ x), density={"dim": 2})
    named = gess.sample("funnel", directory=tmp_path / "funnel", **QUICK)
    assert gess.load(named.directory).resume(draws=50).draws.shape == (16, 50, 10)
    with pytest.raises(gess.UsageError):
        gess.load(tmp_path / "nothing")


def test_a_function_is_not_taken_for_a_built_in_model(tmp_path):
    def banana(x):
        return densities.normal(x)

    gess.sample(banana, 2, directory=tmp_path / "run", **QUICK)
    with pytest.raises(gess.UsageError, match="no model of gess; give again the function"):
        gess.load(tmp_path / "run").resume(draws=50)
    assert gess.load(tmp_path / "run").resume(draws=50, model=banana, density={"dim": 2}).draws.shape == (16, 50, 2)


def test_a_run_that_is_stopped_says_so():
    with pytest.warns(RuntimeWarning, match=r"stopped after \d+ draws per chain; resume\(\)") as seen:
        result = gess.sample(densities.normal, 2, chains=16, warmup=60, draws=10**9, max_time="1s")
    assert result.stopped and "stopped early" in repr(result) and seen[0].filename == __file__


def test_pickle(tmp_path):
    """Of a run with a directory, whose files stay."""
    result = gess.sample(densities.normal, 2, directory=tmp_path / "run", **QUICK)
    assert np.array_equal(pickle.loads(pickle.dumps(result)).draws, result.draws)
    with pytest.raises(TypeError, match="give gess.sample.. a directory="):
        pickle.dumps(gess.sample(densities.normal, 2, **QUICK))


def test_isolated_model_has_the_same_draws():
    assert same(gess.sample("funnel", isolate=True, **QUICK), gess.sample("funnel", **QUICK))


def test_files_of_a_run_without_a_directory_go_with_the_result():
    result = gess.sample(densities.normal, 2, **QUICK)
    path = result.directory
    longer = result.resume(draws=60)
    del result
    assert longer.draws.shape == (16, 60, 2) and os.path.isdir(path)
    del longer
    assert not os.path.exists(os.path.dirname(path))


def test_report_and_export(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = gess.sample(densities.normal, 2, **QUICK)
    assert "<html" in open(result.report()).read()[:500].lower()
    folder = result.export("csv", tmp_path / "csv")
    assert os.listdir(folder)
    with pytest.raises(gess.UsageError):
        result.export("csv")


def test_evidence(tmp_path):
    """Of a function, on processes, from a loaded run, by the command; of a run without draws enough it is refused."""
    truth = np.log(2 * np.pi)
    result = gess.sample(densities.normal, 2, seed=4, directory=tmp_path / "run")
    evidence = result.evidence()
    assert evidence and abs(evidence.log_evidence - truth) < 4.5 * evidence.se < 0.2
    assert abs(evidence.second_log_evidence - truth) < 4.5 * evidence.second_se and evidence.evals > 0
    assert "log evidence" in str(evidence) and (tmp_path / "run" / "evidence.json").exists()
    with pytest.raises(AttributeError):
        evidence.speed
    again = gess.load(tmp_path / "run").evidence(model=densities.normal, density={"dim": 2}, processes=2)
    assert again.log_evidence == evidence.log_evidence
    named = gess.sample("gaussian:dim=2", seed=4, directory=tmp_path / "named")
    out = subprocess.run([sys.executable, "-m", "gess", "evidence", named.directory, "--json"], capture_output=True, text=True)
    assert json.loads(out.stdout)["log_evidence"] == gess.load(named.directory).evidence().log_evidence
    words = gess.compare(evidence, named.evidence())
    assert words.count("\n") > 1
    short = gess.sample(densities.normal, 2, chains=4, warmup=5, draws=2).evidence()
    assert not short and short.refused and short.reasons[0].text and np.isnan(short.log_evidence)
    left = [500]

    def fails(x):
        left[0] -= 1
        if left[0] < 0:
            raise ArithmeticError("no value here")
        return densities.normal(x)

    fails.__name__ = "normal"  # a run is resumed with the function that it was made with
    (tmp_path / "run" / "evidence.values").unlink()
    with pytest.raises(ArithmeticError, match="no value here"):
        gess.load(tmp_path / "run").evidence(model=fails, density={"dim": 2})


def test_to_emcee():
    result = gess.sample(densities.normal_with_blobs, 2, blobs=2, **QUICK)
    backend = result.to_emcee()
    assert np.array_equal(backend.get_chain(), np.swapaxes(result.draws, 0, 1))
    assert backend.get_blobs().shape == (40, 16, 2)


def test_options_are_those_of_the_library():
    table = gess.options()
    assert {"chains", "target_ess", "save_warmup", "max_time"} <= set(table)
    assert "target_ess" in inspect.signature(gess.sample).parameters
    assert table["target_ess"].help in gess.sample.__doc__
    with pytest.raises(TypeError, match="chainz"):
        gess.sample(densities.normal, 2, chainz=3)
    with pytest.raises(gess.UsageError, match="chains"):
        gess.sample(densities.normal, 2, chains=0)
    assert gess.sample("gaussian:dim=2", chains="auto", target_ess=400).draws.shape[0] == 32
    few = gess.sample(densities.normal, 2, chains="auto", target_ess=400, starts=np.random.default_rng(1).normal(size=(32, 2)))
    assert few.draws.shape[0] == 32
    assert gess.version() == gess.__version__ and lib.gess_version_number() > 0
    assert "funnel" in gess.models()


def test_how_many_parameters():
    with pytest.raises(TypeError, match="dim="):
        gess.sample(densities.normal)
    with pytest.raises(ValueError, match="differ"):
        gess.sample(densities.normal, 3, names=["a", "b"])
    with pytest.raises(TypeError, match="no model"):
        gess.sample(3)


def test_points_may_be_kept():
    kept = []

    def density(x):
        kept.append(x)
        return -0.5 * float(x @ x)

    result = gess.sample(density, 2, **QUICK)
    stored = {tuple(point) for point in kept}
    assert all(tuple(draw) in stored for draw in result.flat())


def test_progress_bar(capsys):
    gess.sample(densities.slow, 1, progress=True, chains=4, draws=60, warmup=60)
    lines = capsys.readouterr().err.split("\r")
    shares = [int(line.split("]")[1].split("%")[0]) for line in lines if line.startswith("[")]
    assert "warm-up" in lines[1] and shares == sorted(shares) and 0 < shares[-1] <= 100 and lines[-2].strip() == ""
    gess.sample(densities.slow, 1, chains=4, draws=5, warmup=5)
    assert capsys.readouterr().err == ""


def test_progress_bar_of_a_terminal():
    """Shown without being asked for, in lines that do not wrap."""
    script = "import sys; sys.path.insert(0, %r); import densities, gess; gess.sample(densities.slow, 1, chains=4, draws=150, warmup=60)"
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 60, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    child = subprocess.Popen([sys.executable, "-c", script % os.path.dirname(__file__)], stdin=theirs, stdout=theirs,
                             stderr=theirs, env=environment)
    os.close(theirs)
    output = b""
    with contextlib.suppress(OSError):  # the terminal has gone
        while part := os.read(ours, 4096):
            output += part
    os.close(ours)
    assert child.wait() == 0
    lines = output.decode().split("\r")
    assert len(lines) > 4 and max(len(line) for line in lines) < 60
    assert any("warm-up: " in line for line in lines) and any(line.startswith("[##") and " %  " in line for line in lines)


def test_progress_bar_of_a_notebook():
    """Below its cell, once; the kernel is a real one."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    code = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n" \
        "import densities, gess\n" \
        "result = gess.sample(densities.slow, 1, chains=4, draws=60, warmup=60)\n" \
        "compiled = gess.sample('funnel', draws=500, threads=2)\n" \
        "result.summary()"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    seen = []

    class Watched(nbclient.NotebookClient):
        def process_message(self, message, *rest):
            seen.append(message)
            return super().process_message(message, *rest)

    Watched(notebook, kernel_name="python3", timeout=120).execute()
    shown = [message for message in seen if message["msg_type"] in ("display_data", "update_display_data")]
    pages = [message["content"]["data"]["text/html"] for message in shown]
    assert any("<progress max=" in page and "value=" in page for page in pages) and pages[-1] == ""
    kinds = {output["output_type"] for output in notebook.cells[0]["outputs"]}
    assert kinds <= {"display_data", "execute_result"}, notebook.cells[0]["outputs"]  # nothing on standard error
    assert "<table>" in notebook.cells[0]["outputs"][-1]["data"]["text/html"]


def test_figure_of_a_notebook():
    """A figure that is the value of a cell is shown once."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel"), pytest.importorskip("matplotlib_inline")
    codes = ["%matplotlib inline\nimport gess\nresult = gess.sample('gaussian:dim=2', draws=30, warmup=30, progress=False)",
             "result.plot('corner')", "figure = result.plot('trace')"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in codes])
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
    for cell in notebook.cells[1:]:
        assert [list(output["data"]).count("image/png") for output in cell["outputs"]] == [1], cell["outputs"]


def test_command_of_the_package():
    out = subprocess.run([sys.executable, "-m", "gess", "--version"], capture_output=True, text=True)
    assert out.returncode == 0 and gess.version() in out.stdout
    assert subprocess.run([sys.executable, "-m", "gess", "sample", "nothing"], capture_output=True).returncode != 0


def test_tensors_are_converted():
    class Tensor:
        """As much of a tensor of PyTorch as a result needs."""

        def __init__(self, values):
            self.values = values

        def detach(self):
            return self

        cpu = detach

        def numpy(self):
            return self.values

    result = gess.sample(lambda x: Tensor(densities.normal_batch(x)), 2, vectorize=True, **QUICK)
    assert same(result, gess.sample(densities.normal_batch, 2, vectorize=True, **QUICK))
    with pytest.raises(ValueError, match="vectorize"):
        gess.sample(densities.normal, 2, arrays="torch", **QUICK)
    with pytest.raises(ValueError, match="arrays"):
        gess.sample(densities.normal, 2, vectorize=True, arrays="tables", **QUICK)
