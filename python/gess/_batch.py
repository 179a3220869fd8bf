"""How a user's function becomes a function of a batch of points: one point at a time, vectorised, by a pool."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy as np

from gess._dlpack import DeviceBatch
from gess._density import check_values, to_numpy, warn_of_rounding
from gess._library import Floats

LogPrior = Callable[[Floats], Floats]


class Function:
    """A user's log density with its arguments; it can be pickled if they can.

    `arrays` says what a vectorised function takes: "numpy", "jax", "torch", "cupy" or "dlpack", that is any object with a
    method __dlpack__, which arrays of NumPy have. `prior` is a prior given apart, of
    an (n, dim) array; the function is not called where it is -inf.
    """

    def __init__(self, function: Callable[..., Any], args: Sequence[Any] = (), kwargs: Optional[Dict[str, Any]] = None,
                 vectorize: bool = False, arrays: str = "numpy", blobs: int = 0,
                 prior: Optional[LogPrior] = None) -> None:
        if arrays not in ("numpy", "jax", "torch", "cupy", "dlpack"):
            raise ValueError(f"arrays={arrays!r}: it is one of 'numpy', 'jax', 'torch', 'cupy' and 'dlpack'")
        if arrays != "numpy" and not vectorize:
            raise ValueError(f"arrays={arrays!r} is for functions of a batch; add vectorize=True")
        self.function = function
        self.args = tuple(args)
        self.kwargs = dict(kwargs or {})
        self.vectorize = vectorize
        self.arrays = arrays
        self.blobs = blobs
        self.prior = prior
        self.device: Optional[str] = None  # where tensors of PyTorch are made; None: on the processor

    def device_batch(self) -> Optional[DeviceBatch]:
        """The function for points on a GPU, if it is one of arrays that may be there."""
        if not self.vectorize or self.arrays == "numpy" or self.prior is not None or self.blobs:
            return None
        return DeviceBatch(self.function, self.args, self.kwargs, self.arrays)

    def plain_batch(self) -> Optional[Callable[[int, Floats, Floats, Optional[Floats]], None]]:
        """A short way for a vectorised function of NumPy without prior and blobs; None for any other."""
        if not self.vectorize or self.arrays != "numpy" or self.prior is not None or self.blobs:
            return None
        function, args, kwargs = self.function, self.args, self.kwargs

        def batch(worker: int, points: Floats, logp: Floats, blobs: Optional[Floats]) -> None:
            logp[:] = check_values(function(points, *args, **kwargs), len(points))

        return batch

    def one(self, point: Floats) -> Any:
        """The function at one point."""
        return self.function(point, *self.args, **self.kwargs)

    def for_pool(self) -> "Function":
        """What a pool sends to its workers with every point: not the prior, which is evaluated here."""
        return Function(self.function, self.args, self.kwargs)

    def __call__(self, points: Floats, logp: Floats, blobs: Optional[Floats],
                 map_points: Optional[Callable[..., Any]] = None) -> None:
        """Writes the log densities of points, and their blobs."""
        if self.prior is None:
            self._fill(points, logp, blobs, map_points)
            return
        prior = self.prior(points.copy())  # a prior may change its argument
        inside = np.flatnonzero(prior > -np.inf)
        logp[:] = prior
        if len(inside) == 0:
            return
        part = np.empty(len(inside))
        extra = None if blobs is None else np.empty((len(inside), self.blobs))
        self._fill(points[inside], part, extra, map_points)
        logp[inside] += part
        if blobs is not None and extra is not None:
            blobs[inside] = extra

    def _fill(self, points: Floats, logp: Floats, blobs: Optional[Floats],
              map_points: Optional[Callable[..., Any]]) -> None:
        if self.vectorize:
            self._fill_batch(points, logp, blobs)
        elif map_points is not None:
            self._fill_list(list(map_points(self.for_pool().one, list(points))), logp, blobs)
        elif blobs is None and not self.args and not self.kwargs:
            function = self.function
            self._fill_list([function(point) for point in points], logp, None)
        else:
            self._fill_list([self.one(point) for point in points], logp, blobs)

    def _convert(self, points: Floats) -> Any:
        if self.arrays == "torch":
            import torch

            tensor = torch.from_numpy(points)
            return tensor if self.device is None else tensor.to(self.device)
        if self.arrays == "cupy":
            import cupy

            return cupy.asarray(points)
        if self.arrays == "jax":
            import jax.numpy

            return jax.numpy.asarray(points)
        return points

    def _fill_batch(self, points: Floats, logp: Floats, blobs: Optional[Floats]) -> None:
        result = self.function(self._convert(points), *self.args, **self.kwargs)
        n = len(points)
        if blobs is None:
            logp[:] = check_values(result, n)
            return
        if not isinstance(result, tuple) or len(result) < 2:
            raise ValueError("a vectorised function with blobs returns a tuple: log densities, blobs")
        logp[:] = check_values(result[0], n)
        rows = [to_numpy(part) for part in result[1:]]
        for row in rows:
            if row.ndim == 0 or len(row) != n:
                raise ValueError(f"the blobs have shape {row.shape} for an array of {n} rows; return one row per point")
        parts = [row.reshape(n, -1) for row in rows]
        extra = np.concatenate(parts, axis=1)
        if extra.shape != blobs.shape:
            raise ValueError(f"the blobs have shape {extra.shape}, not {blobs.shape}: {self.blobs} numbers per point")
        blobs[:] = extra

    def _fill_list(self, results: List[Any], logp: Floats, blobs: Optional[Floats]) -> None:
        if blobs is None:
            logp[:] = numbers(results)
            return
        for i, result in enumerate(results):
            try:
                first, *rest = result
            except TypeError:
                first, rest = result, []
            logp[i] = scalar(first)
            further = blob_numbers(rest)
            if len(further) != self.blobs:
                if logp[i] == -np.inf and len(further) == 0:
                    continue
                raise ValueError(f"the function returned {len(further)} blobs, not {self.blobs}; return "
                                 "(log density, blob, …)")
            blobs[i] = further


def blob_numbers(parts: List[Any]) -> Floats:
    """The blobs of one point in a row."""
    try:
        rows: List[Floats] = [np.ravel(np.asarray(part, dtype=np.float64)) for part in parts]
    except (TypeError, ValueError) as error:
        raise TypeError(f"the function returned {parts!r} beside the log density; blobs are real numbers") from error
    return np.concatenate(rows) if rows else np.empty(0)


def numbers(results: List[Any], what: str = "density") -> Floats:
    """What a function of one point returned for several points."""
    try:
        array = np.array(results)
    except ValueError:  # of different shapes
        array = np.array(None)
    if array.dtype.kind in "fiub" and array.shape == (len(results),):
        warn_of_rounding(array.dtype)
        return array.astype(np.float64, copy=False)
    return np.array([scalar(result, what) for result in results])


def scalar(value: Any, what: str = "density") -> float:
    """One log density, or an exception that says what is wrong with it."""
    if isinstance(value, tuple) and len(value) > 1 and what == "density":
        raise ValueError(f"the {what} returned a tuple of {len(value)}, not one number; for further numbers beside a log "
                         "density give blobs=, their names or their number")
    array = to_numpy(value)
    if array.size != 1:
        raise ValueError(f"the {what} returned shape {array.shape} for one point, not one number; for a function of many "
                         "points use vectorize=True")
    if array.dtype.kind not in "fiub":
        raise TypeError(f"the {what} returned {value!r} of dtype {array.dtype}, not a real number")
    return float(array.reshape(())[()])
