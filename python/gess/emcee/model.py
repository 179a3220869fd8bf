"""The functions that a move of emcee calls, by the name that emcee's module has."""
from __future__ import annotations

from typing import Any, Callable, NamedTuple

__all__ = ["Model"]


class Model(NamedTuple):
    """What emcee hands to a move."""

    log_prob_fn: Any
    compute_log_prob_fn: Callable[..., Any]
    map_fn: Callable[..., Any]
    random: Any
