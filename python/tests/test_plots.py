"""Figures in files, figures of matplotlib, and watching a run."""
import json

import numpy as np
import pytest

import gess

BEGINS = {"pdf": b"%PDF-", "svg": b"<", "png": b"\x89PNG"}


@pytest.fixture(scope="module")
def result():
    return gess.sample(lambda x: -0.5 * (x @ x), dim=3, names=["a", "b1", "b2"], draws=60, chains=16, warmup=60)


@pytest.mark.parametrize("kind", ["corner", "trace", "forest", "ranks"])
@pytest.mark.parametrize("end", sorted(BEGINS))
def test_files(result, kind, end, tmp_path):
    path = result.plot(kind, tmp_path / f"figure.{end}")
    assert path == str(tmp_path / f"figure.{end}")
    content = (tmp_path / f"figure.{end}").read_bytes()
    assert content.startswith(BEGINS[end]) and len(content) > 1000


def test_names_and_truth(result, tmp_path):
    def svg(**keywords):
        return open(result.plot("corner", tmp_path / "figure.svg", **keywords), encoding="utf-8").read()

    assert "b1" in svg(names=["b1", "b2"]) and ">a<" not in svg(names=["b1", "b2"])
    assert svg(names="b*") == svg(names=["b1", "b2"])
    values = tmp_path / "truth.json"
    values.write_text(json.dumps({"a": 0.5}))
    assert svg(truth={"a": np.float64(0.5)}) == svg(truth=values) != svg()
    assert svg(mean=True) != svg()


def test_refusals(result, tmp_path):
    with pytest.raises(gess.UsageError, match="pie"):
        result.plot("pie", tmp_path / "figure.pdf")
    with pytest.raises(gess.UsageError):
        result.plot("corner", tmp_path / "figure.gif")
    with pytest.raises(gess.UsageError, match="nobody"):
        result.plot("corner", tmp_path / "figure.pdf", names=["nobody"])
    with pytest.raises(gess.UsageError, match="nobody"):
        result.plot("corner", tmp_path / "figure.pdf", truth={"nobody": 1.0})
    with pytest.raises(gess.UsageError, match="needs a path"):
        result.plot("corner", truth={"a": 0.0})
    with pytest.raises(gess.Error):  # a function of Python gives no prior apart
        result.plot("corner", tmp_path / "figure.pdf", prior=True)
    assert not (tmp_path / "figure.pdf").exists()


def test_matplotlib(result):
    pytest.importorskip("matplotlib").use("Agg")
    assert len(result.plot("corner", names="b*").axes) == 4
    assert [axis.get_ylabel() for axis in result.plot("trace", names=["a"]).axes] == ["a"]
    with pytest.raises(ValueError, match="with one, those of"):
        result.plot("ranks")
    with pytest.raises(ValueError, match="no parameter has such a name"):
        result.plot("corner", names="c*")
    with pytest.raises(TypeError, match="names= chooses parameters"):
        result.plot("corner", ["a", "b"])


def test_watch(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert gess.watch(empty).state == "waiting"
    folder = tmp_path / "run"
    gess.sample("gaussian:dim=2", directory=folder, draws=30, chains=8, warmup=30)
    progress = gess.watch(folder)
    assert progress.state == "finished" and "finished" in str(progress) and "<pre>" in progress._repr_html_()
    assert progress.figures["draws"] == 30 and progress.figures["chains"] == 8


def test_watch_while_it_runs(tmp_path):
    seen = []

    def density(x):
        seen.append(gess.watch(tmp_path / "run").state)
        return -0.5 * (x @ x)

    gess.sample(density, dim=1, directory=tmp_path / "run", draws=10, chains=2, warmup=10, schedule="pooled")
    assert seen[-1] == "running"
