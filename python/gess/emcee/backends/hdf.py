"""emcee's own HDF file. Without emcee the names are there, and say what to install."""
from __future__ import annotations

from typing import Any

__all__ = ["HDFBackend", "TempHDFBackend", "does_hdf5_support_longdouble"]

try:
    from emcee.backends.hdf import HDFBackend, TempHDFBackend, does_hdf5_support_longdouble
except ImportError:

    def _missing(*args: Any, **kwargs: Any) -> Any:
        raise ImportError("the HDF file is emcee's own: pip install emcee h5py")

    HDFBackend = TempHDFBackend = does_hdf5_support_longdouble = _missing
