"""emcee's interface over gess: an emcee script runs after changing its import.

    from gess.emcee import EnsembleSampler      # in place of: from emcee import EnsembleSampler
    import gess.emcee as emcee                  # in place of: import emcee

`backends` and `moves` are emcee's own, if it is installed.
"""
from __future__ import annotations

import importlib
from typing import Any

from gess.emcee import autocorr
from gess.emcee._ensemble import DifferenceWarning, EnsembleSampler, ndarray_to_list_of_dicts, walkers_independent
from gess.emcee._state import Backend, State

__all__ = ["Backend", "DifferenceWarning", "EnsembleSampler", "State", "autocorr", "ndarray_to_list_of_dicts",
           "walkers_independent"]


def __getattr__(name: str) -> Any:
    if name not in ("backends", "moves"):
        raise AttributeError(f"module 'gess.emcee' has no attribute {name!r}")
    try:
        return importlib.import_module(f"emcee.{name}")
    except ImportError:
        raise AttributeError(f"gess.emcee.{name} is emcee's own, which is not installed: pip install emcee") from None
