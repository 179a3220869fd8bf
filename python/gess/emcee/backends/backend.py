"""The store of steps in memory, by the name that emcee's module has."""
from gess.emcee.state import Backend

__all__ = ["Backend"]
