"""emcee's interface over gess: an emcee script runs after changing its import.

    from gess.emcee import EnsembleSampler      # in place of: from emcee import EnsembleSampler
    import gess.emcee as emcee                  # in place of: import emcee

Modules have emcee's names: `autocorr`, `backends`, `ensemble`, `moves`, `state`, `utils`.
"""
from __future__ import annotations

from gess._library import version
from gess.emcee import autocorr, backends, moves, utils
from gess.emcee.ensemble import DifferenceWarning, EnsembleSampler, ndarray_to_list_of_dicts, walkers_independent
from gess.emcee.state import Backend, State

__version__ = version()
__all__ = ["Backend", "DifferenceWarning", "EnsembleSampler", "State", "autocorr", "backends", "moves",
           "ndarray_to_list_of_dicts", "utils", "walkers_independent"]
