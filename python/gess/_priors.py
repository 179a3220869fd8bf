"""Priors given apart: a function, or distributions of scipy.stats, which give bounds, starts and a density."""
from __future__ import annotations

import math
from typing import Any, Callable, Mapping, Optional, Sequence, Tuple

import numpy as np

from gess._library import Floats


class Distributions:
    """Independent priors, one frozen distribution of scipy.stats (an object with logpdf, ppf and support) a parameter."""

    def __init__(self, distributions: Sequence[Any]) -> None:
        for i, distribution in enumerate(distributions):
            if not all(hasattr(distribution, name) for name in ("logpdf", "ppf", "support")):
                raise TypeError(f"prior {i + 1} is {distribution!r}; give frozen continuous distributions of scipy.stats, "
                                "such as scipy.stats.norm(0, 1)")
        self.distributions = list(distributions)

    def bounds(self) -> Tuple[Floats, Floats]:
        both = np.array([distribution.support() for distribution in self.distributions], dtype=np.float64)
        return both[:, 0], both[:, 1]

    def __call__(self, points: Floats) -> Floats:
        """The log density of the prior at an (n, dim) array of points."""
        total = np.zeros(len(points))
        for i, distribution in enumerate(self.distributions):
            total += distribution.logpdf(points[:, i])
        return total

    def start(self, normals: Floats) -> Floats:
        """A draw of the prior made of standard normals."""
        below = [0.5 * math.erfc(-z / math.sqrt(2.0)) for z in normals]
        return np.array([d.ppf(u) for d, u in zip(self.distributions, below)], dtype=np.float64)


class PointPrior:
    """A prior that is a function of one point, for an (n, dim) array."""

    def __init__(self, function: Callable[..., Any], vectorize: bool) -> None:
        self.function, self.vectorize = function, vectorize

    def __call__(self, points: Floats) -> Floats:
        values = self.function(points) if self.vectorize else [self.function(point) for point in points]
        return np.asarray(values, dtype=np.float64)


def read_prior(prior: Any, names: Optional[Sequence[str]], vectorize: bool) -> Tuple[Any, Optional[Sequence[str]]]:
    """The prior as a function of a batch, and names if it gives them."""
    if isinstance(prior, Mapping):
        keys = list(prior)
        if names is not None and list(names) != keys:
            raise ValueError(f"the prior names {keys}, but names= says {list(names)}; leave names= out")
        return Distributions(list(prior.values())), keys
    if callable(prior) and not hasattr(prior, "logpdf"):
        return PointPrior(prior, vectorize), names
    return Distributions(list(prior)), names
