"""Integrated autocorrelation times as emcee defines them: Sokal's window on the mean autocorrelation of the walkers."""
from __future__ import annotations

import logging
from typing import Any

import numpy as np

__all__ = ["AutocorrError", "auto_window", "function_1d", "integrated_time", "next_pow_two"]

logger = logging.getLogger(__name__)


class AutocorrError(Exception):
    """The chain is too short for its autocorrelation time; `tau` has the estimate all the same."""

    def __init__(self, tau: Any, *args: Any) -> None:
        self.tau = tau
        super().__init__(*args)


def _autocorrelations(series: Any) -> Any:
    """Normalised autocorrelations along the first axis."""
    steps = len(series)
    size = 2 * next_pow_two(steps)
    spectrum = np.fft.rfft(series - series.mean(axis=0), n=size, axis=0)
    lags = np.fft.irfft(spectrum * spectrum.conj(), n=size, axis=0)[:steps]
    with np.errstate(invalid="ignore", divide="ignore"):
        return lags / lags[0]


def function_1d(x: Any) -> Any:
    """The autocorrelation function of one series."""
    series = np.atleast_1d(x)
    if series.ndim != 1:
        raise ValueError("invalid dimensions for 1D autocorrelation function")
    return _autocorrelations(series)


def next_pow_two(n: int) -> int:
    """The smallest power of two that is at least n.

    >>> next_pow_two(5)
    8
    """
    return 1 << max(0, n - 1).bit_length()


def auto_window(taus: Any, c: float) -> int:
    """The first lag that is at least c times the estimate up to it; the last one if there is none."""
    beyond = np.flatnonzero(np.arange(len(taus)) >= c * np.asarray(taus))
    return int(beyond[0]) if len(beyond) else len(taus) - 1


def integrated_time(x: Any, c: float = 5, tol: float = 50, quiet: bool = False, has_walkers: bool = True) -> Any:
    """The integrated autocorrelation time of every parameter.

    x: (steps,), (steps, walkers), (steps, walkers, parameters), or with has_walkers=False (steps, parameters). The sum
    of autocorrelations ends at the first lag above `c` times the estimate. A chain shorter than `tol` times the estimate
    raises AutocorrError; with `quiet` it logs a warning.

    >>> import numpy as np
    >>> bool(abs(integrated_time(np.random.default_rng(1).normal(size=(4000, 8)))[0] - 1) < 0.1)
    True
    """
    chain = np.atleast_1d(x)
    if chain.ndim == 1:
        chain = chain[:, None, None]
    elif chain.ndim == 2:
        chain = chain[:, :, None] if has_walkers else chain[:, None, :]
    if chain.ndim != 3:
        raise ValueError("invalid dimensions")
    steps, _, parameters = chain.shape
    tau = np.empty(parameters)
    for k in range(parameters):
        sums = 2.0 * np.cumsum(_autocorrelations(chain[:, :, k].astype(np.float64)).mean(axis=1)) - 1.0
        tau[k] = sums[auto_window(sums, c)]
    short = tol * tau > steps
    if np.any(short):
        message = (f"The chain is shorter than {tol} times the integrated autocorrelation time for {short.sum()} "
                   f"parameter(s). Use this estimate with caution and run a longer chain!\n"
                   f"N/{tol} = {steps / tol:.0f};\ntau: {tau}")
        if not quiet:
            raise AutocorrError(tau, message)
        logger.warning(message)
    return tau
