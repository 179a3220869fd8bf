"""Plots of a result: those of `gess plot` as files, and corner, trace and forest with matplotlib."""
from __future__ import annotations

import fnmatch
import functools
import importlib
import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Union

import numpy as np

from gess._library import check, encode_path, new_error, take_text
from gess._native import ffi, lib

if TYPE_CHECKING:
    from gess._result import Path
    from gess._result import Result

MAX_PARAMETERS = 12  # of a corner plot, unless names are given
MAX_CHAINS = 8  # of a trace


def write(result: "Result", kind: str, path: "Path", names: Union[str, Sequence[str], None],
          truth: "Union[Path, Mapping[str, float], None]", mean: bool, prior: bool) -> str:
    """A figure of the library, in a file."""
    variables = names if names is None or isinstance(names, str) else ",".join(names)
    settings, notes, err = ffi.new("gess_plot_settings *"), ffi.new("char **"), new_error()
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(truth, Mapping):
            values = os.path.join(folder, "truth.json")
            with open(values, "w", encoding="utf-8") as file:
                json.dump({name: float(value) for name, value in truth.items()}, file)
            truth = values
        # the memory of these texts must last as long as the call
        texts = [ffi.NULL if value is None else ffi.new("char[]", value)
                 for value in (None if variables is None else variables.encode(), None if truth is None else encode_path(truth))]
        settings.variables, settings.truth = texts
        settings.moments, settings.prior = int(mean), int(prior)
        check(lib.gess_plot(encode_path(result.directory), kind.encode(), encode_path(path), settings,
                            ffi.sizeof("gess_plot_settings"), notes, err), err)
    take_text(notes)
    return os.fspath(path)


def select(result: "Result", names: Union[str, Sequence[str], None]) -> List[str]:
    """The parameters that are asked for, or the first ones."""
    if names is None:
        return result.names[:MAX_PARAMETERS]
    if not isinstance(names, str):
        return list(names)
    patterns = names.split(",")
    return [name for name in result.names + result.further_names if any(fnmatch.fnmatchcase(name, p) for p in patterns)]


def plot(result: "Result", kind: str, names: Union[str, Sequence[str], None]) -> Any:
    try:
        import matplotlib
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError("plot() needs matplotlib: pip install matplotlib") from None
    kinds = {"corner": corner, "trace": trace, "forest": forest}
    if kind not in kinds:
        raise ValueError(f"plot({kind!r}): without a path the plots are {', '.join(kinds)}; with one, those of `gess plot`")
    chosen = select(result, names)
    if not chosen:
        raise ValueError(f"plot(names={names!r}): no parameter has such a name; there are {', '.join(result.names)}")
    figure = kinds[kind](pyplot, result, chosen)
    if matplotlib.get_backend().endswith("inline"):
        figure._ipython_display_ = functools.partial(show_once, figure)
    return figure


def show_once(figure: Any) -> None:
    """What a notebook shows of a figure that is the value of a cell: once, where it would show it as an open figure, too."""
    tools: Any = importlib.import_module("IPython.core.pylabtools")
    page: Any = importlib.import_module("IPython.display")
    page.display(page.Image(tools.print_figure(figure)))
    importlib.import_module("matplotlib.pyplot").close(figure)


def corner(pyplot: Any, result: "Result", names: List[str]) -> Any:
    """Histograms of parameters, and of every two of them."""
    count = len(names)
    columns = [result[name].ravel() for name in names]
    figure, axes = pyplot.subplots(count, count, figsize=(2 * count + 1, 2 * count + 1), squeeze=False)
    for i in range(count):
        for j in range(count):
            axis = axes[i][j]
            if j > i:
                axis.set_visible(False)
            elif i == j:
                axis.hist(columns[i], bins=40, histtype="step", color="black")
                axis.set_yticks([])
            else:
                axis.hist2d(columns[j], columns[i], bins=40, cmap="Greys")
            if i == count - 1:
                axis.set_xlabel(names[j])
            if j == 0 and i > 0:
                axis.set_ylabel(names[i])
    figure.tight_layout()
    return figure


def trace(pyplot: Any, result: "Result", names: List[str]) -> Any:
    """Draws of some chains in their order."""
    figure, axes = pyplot.subplots(len(names), 1, figsize=(9, 1.6 * len(names) + 0.6), sharex=True, squeeze=False)
    for axis, name in zip(axes[:, 0], names):
        axis.plot(result[name][:MAX_CHAINS].T, linewidth=0.5)
        axis.set_ylabel(name)
    axes[-1, 0].set_xlabel("draw")
    figure.tight_layout()
    return figure


def forest(pyplot: Any, result: "Result", names: List[str]) -> Any:
    """Medians with the middle 50 % and 90 % of the draws."""
    figure, axis = pyplot.subplots(figsize=(7, 0.4 * len(names) + 1))
    for place, name in enumerate(reversed(names)):
        q5, q25, q50, q75, q95 = np.quantile(result[name], [0.05, 0.25, 0.5, 0.75, 0.95])
        axis.plot([q5, q95], [place, place], color="black", linewidth=1)
        axis.plot([q25, q75], [place, place], color="black", linewidth=3)
        axis.plot([q50], [place], "o", color="white", markeredgecolor="black")
    axis.set_yticks(range(len(names)))
    axis.set_yticklabels(list(reversed(names)))
    figure.tight_layout()
    return figure
