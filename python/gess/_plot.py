"""Plots of a result with matplotlib: corner, trace, forest."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional

import numpy as np

if TYPE_CHECKING:
    from gess._result import Result

MAX_PARAMETERS = 12  # of a corner plot, unless names are given
MAX_CHAINS = 8  # of a trace


def plot(result: "Result", kind: str, names: Optional[List[str]]) -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError("plot() needs matplotlib: pip install matplotlib") from None
    kinds = {"corner": corner, "trace": trace, "forest": forest}
    if kind not in kinds:
        raise ValueError(f"plot({kind!r}): the plots are {', '.join(kinds)}")
    chosen = names if names is not None else result.names[:MAX_PARAMETERS]
    return kinds[kind](pyplot, result, list(chosen))


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
