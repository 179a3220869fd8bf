"""Starting positions, by the names that emcee's module has."""
from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["sample_ball", "sample_ellipsoid"]


def sample_ball(p0: Any, std: Any, size: int = 1) -> Any:
    """Positions around p0, normal with a standard deviation per parameter: (size, parameters).

    >>> sample_ball([1.0, 2.0], [0.1, 0.1], size=8).shape
    (8, 2)
    """
    centre, width = np.atleast_1d(p0), np.atleast_1d(std)
    assert len(centre) == len(width), "one standard deviation per parameter"
    return centre + width * np.random.normal(size=(size, len(centre)))


def sample_ellipsoid(p0: Any, covmat: Any, size: int = 1) -> Any:
    """Positions around p0, normal with a covariance matrix: (size, parameters).

    >>> sample_ellipsoid([1.0, 2.0], np.eye(2), size=8).shape
    (8, 2)
    """
    return np.random.multivariate_normal(np.atleast_1d(p0), np.atleast_2d(covmat), size=size)
