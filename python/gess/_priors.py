"""Priors given apart: a function, or distributions of scipy.stats, which give bounds, starts and a density."""
from __future__ import annotations

import math
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from gess._batch import numbers
from gess._density import check_values
from gess._library import Floats


def is_distribution(value: Any) -> bool:
    """Whether a value is a continuous distribution of one quantity, with its parameters."""
    return hasattr(value, "logpdf") and hasattr(value, "support") and (hasattr(value, "ppf") or hasattr(value, "icdf"))


def is_circular(distribution: Any) -> bool:
    """Whether a frozen distribution is SciPy's vonmises (vonmises_line has two ends)."""
    return getattr(getattr(distribution, "dist", None), "name", "") == "vonmises"


def circle(distribution: Any) -> Tuple[float, float]:
    """Where a von Mises distribution begins and ends: its circumference is 2π times its scale."""
    given = dict(zip(("kappa", "loc", "scale"), distribution.args), **distribution.kwds)
    centre, half = float(given.get("loc", 0.0)), math.pi * float(given.get("scale", 1.0))
    return centre - half, centre + half


class Distributions:
    """Independent priors, one distribution of scipy.stats per parameter: frozen ones, such as norm(0, 1), and the newer
    classes, such as Normal(). Both have logpdf() and support(); the inverse of the distribution function is ppf() or
    icdf(). A von Mises distribution, whose density SciPy repeats over the whole line, is that of a periodic parameter."""

    def __init__(self, distributions: Sequence[Any]) -> None:
        self.distributions = list(distributions)
        self.periodic = [is_circular(distribution) for distribution in self.distributions]
        supports = []
        for i, distribution in enumerate(self.distributions):
            try:
                if not is_distribution(distribution):
                    raise TypeError("it is not continuous")
                low, high = circle(distribution) if self.periodic[i] else distribution.support()
                supports.append((float(low), float(high)))
            except (TypeError, ValueError) as error:  # what is not frozen lacks its parameters; arrays of them are several
                given = [*getattr(distribution, "args", ()), *getattr(distribution, "kwds", {}).values()]
                several = any(np.size(value) > 1 for value in given)
                what = "several distributions at once; give one per parameter" if several else \
                    "not one of the frozen continuous distributions of scipy.stats, such as scipy.stats.norm(0, 1)"
                raise TypeError(f"prior {i + 1}, {distribution!r}, is {what}") from error
        self.supports: Floats = np.array(supports, dtype=np.float64).reshape(-1, 2)

    def bounds(self) -> Tuple[Floats, Floats]:
        return self.supports[:, 0].copy(), self.supports[:, 1].copy()

    def circles(self, lower: Floats, upper: Floats) -> List[bool]:
        """Which parameters are periodic: circular ones whose bounds are one turn apart."""
        turns = self.supports[:, 1] - self.supports[:, 0]
        return [flag and bool(np.isclose(high - low, turn)) for flag, low, high, turn in
                zip(self.periodic, lower, upper, turns)]

    def __call__(self, points: Floats) -> Floats:
        """The log density of the prior at an (n, dim) array of points."""
        total = np.zeros(len(points))
        with np.errstate(all="ignore"):  # far out, where squares overflow, too
            for i, distribution in enumerate(self.distributions):
                total += distribution.logpdf(points[:, i])
        return total

    def start(self, normals: Floats) -> Floats:
        """A draw of the prior made of standard normals."""
        below = [0.5 * math.erfc(-z / math.sqrt(2.0)) for z in normals]
        inverses = [getattr(d, "ppf", None) or d.icdf for d in self.distributions]
        return np.array([inverse(u) for inverse, u in zip(inverses, below)], dtype=np.float64)


class PointPrior:
    """A prior that is a function of one point, for an (n, dim) array."""

    def __init__(self, function: Callable[..., Any], vectorize: bool) -> None:
        self.function, self.vectorize = function, vectorize

    def __call__(self, points: Floats) -> Floats:
        if self.vectorize:
            return check_values(self.function(points), len(points), "prior")
        return numbers([self.function(point) for point in points], "prior")


def read_prior(prior: Any, names: Optional[Sequence[str]], vectorize: bool) -> Tuple[Any, Optional[Sequence[str]]]:
    """The prior as a function of a batch, and names if it gives them."""
    if isinstance(prior, Mapping):
        keys = list(prior)
        if names is not None and list(names) != keys:
            raise ValueError(f"the prior names {keys}, but names= says {list(names)}; leave names= out")
        return Distributions(list(prior.values())), keys
    if callable(prior) and not hasattr(prior, "logpdf"):
        return PointPrior(prior, vectorize), names
    if is_distribution(prior):
        return Distributions([prior]), names
    if hasattr(prior, "logpdf"):
        raise TypeError(f"prior= is {type(prior).__name__}, a distribution of several parameters at once; give its density: "
                        "prior=distribution.logpdf")
    try:
        return Distributions(list(prior)), names
    except TypeError as error:
        if hasattr(prior, "__iter__"):
            raise
        raise TypeError(f"prior= is {prior!r}; give a function, or distributions of scipy.stats") from error
