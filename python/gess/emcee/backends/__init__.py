"""Stores of steps: one in memory, and emcee's own HDF file, if emcee and h5py are installed."""
from __future__ import annotations

from typing import Any, List

from gess.emcee.backends.backend import Backend
from gess.emcee.backends.hdf import HDFBackend, TempHDFBackend

__all__ = ["Backend", "HDFBackend", "TempHDFBackend", "get_test_backends"]


def get_test_backends() -> List[Any]:
    """The backends that can be used here, for tests."""
    try:
        import emcee  # noqa: F401
        import h5py  # noqa: F401
    except ImportError:
        return [Backend]
    return [Backend, TempHDFBackend]
