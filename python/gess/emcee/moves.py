"""emcee's moves: accepted by EnsembleSampler, which does not use them. Without emcee they are empty classes, so that
scripts that name them run."""
from __future__ import annotations

from typing import Any

__all__ = ["DEMove", "DESnookerMove", "GaussianMove", "KDEMove", "MHMove", "Move", "RedBlueMove", "StretchMove", "WalkMove"]

try:
    import emcee.moves as _moves
except ImportError:

    class Move:
        """A move of emcee, which is not used."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.args, self.kwargs = args, kwargs

    for _name in __all__:
        globals()[_name] = Move if _name == "Move" else type(_name, (Move,), {"__module__": __name__})
else:
    globals().update({_name: getattr(_moves, _name) for _name in __all__ if hasattr(_moves, _name)})
