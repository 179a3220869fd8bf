"""States of an ensemble and the store of its steps, with emcee's interface."""
from __future__ import annotations

import copy as copying
from typing import Any, Iterator, List, Optional, Tuple

import numpy as np

from gess.emcee import autocorr


class State:
    """Positions of all walkers, (nwalkers, ndim), with their log probabilities and blobs.

    It unpacks into coords, log_prob, random_state and, if there are any, blobs.
    """

    __slots__ = ("coords", "log_prob", "blobs", "random_state")

    def __init__(self, coords: Any, log_prob: Any = None, blobs: Any = None, random_state: Any = None,
                 copy: bool = False) -> None:
        if hasattr(coords, "coords"):
            parts = (coords.coords, coords.log_prob, coords.blobs, coords.random_state)
        else:
            parts = (np.atleast_2d(coords), log_prob, blobs, random_state)
        self.coords: Any
        self.log_prob: Any
        self.blobs: Any
        self.random_state: Any
        self.coords, self.log_prob, self.blobs, self.random_state = copying.deepcopy(parts) if copy else parts

    def _parts(self) -> Tuple[Any, ...]:
        parts: Tuple[Any, ...] = (self.coords, self.log_prob, self.random_state)
        return parts if self.blobs is None else (*parts, self.blobs)

    def __len__(self) -> int:
        return len(self._parts())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts())

    def __getitem__(self, index: int) -> Any:
        return self._parts()[index]

    def __repr__(self) -> str:
        return (f"State({self.coords}, log_prob={self.log_prob}, blobs={self.blobs}, "
                f"random_state={self.random_state})")


class Backend:
    """Keeps the steps of a sampler in memory."""

    def __init__(self, dtype: Any = None) -> None:
        self.initialized = False
        self.dtype = np.float64 if dtype is None else dtype

    def reset(self, nwalkers: int, ndim: int) -> None:
        """Forgets all steps."""
        self.nwalkers, self.ndim, self.iteration = int(nwalkers), int(ndim), 0
        self.accepted: Any = np.zeros(self.nwalkers, dtype=self.dtype)
        self.chain: Any = np.empty((0, self.nwalkers, self.ndim), dtype=self.dtype)
        self.log_prob: Any = np.empty((0, self.nwalkers), dtype=self.dtype)
        self.blobs: Any = None
        self.random_state: Any = None
        self.initialized = True

    @property
    def shape(self) -> Tuple[int, int]:
        return self.nwalkers, self.ndim

    def has_blobs(self) -> bool:
        return self.blobs is not None

    def _need_steps(self) -> None:
        if not self.initialized or self.iteration <= 0:
            raise AttributeError("there are no steps yet; run the sampler with store=True first")

    def get_value(self, name: str, flat: bool = False, thin: int = 1, discard: int = 0) -> Any:
        self._need_steps()
        if name == "blobs" and not self.has_blobs():
            return None
        steps = getattr(self, name)[discard + thin - 1 : self.iteration : thin]
        return steps.reshape((-1, *steps.shape[2:])) if flat else steps

    def get_chain(self, **kwargs: Any) -> Any:
        """The positions, (steps, nwalkers, ndim). flat: walkers one after another; thin: every so many steps only;
        discard: without the first steps."""
        return self.get_value("chain", **kwargs)

    def get_log_prob(self, **kwargs: Any) -> Any:
        """The log probabilities, (steps, nwalkers); keywords as for get_chain()."""
        return self.get_value("log_prob", **kwargs)

    def get_blobs(self, **kwargs: Any) -> Any:
        """The blobs, (steps, nwalkers, …), or None; keywords as for get_chain()."""
        return self.get_value("blobs", **kwargs)

    def get_last_sample(self) -> State:
        """The last step."""
        self._need_steps()
        last = self.iteration - 1
        return State(self.chain[last], self.log_prob[last], self.blobs[last] if self.has_blobs() else None,
                     self.random_state)

    def get_autocorr_time(self, discard: int = 0, thin: int = 1, **kwargs: Any) -> Any:
        """The integrated autocorrelation time of every parameter, in steps; keywords as for integrated_time()."""
        return thin * autocorr.integrated_time(self.get_chain(discard=discard, thin=thin), **kwargs)

    def _check_blobs(self, blobs: Any) -> None:
        if (self.has_blobs() and blobs is None) or (self.iteration > 0 and blobs is not None and not self.has_blobs()):
            raise ValueError("inconsistent use of blobs: some steps have them, others do not")

    def grow(self, ngrow: int, blobs: Any) -> None:
        """Makes room for more steps."""
        self._check_blobs(blobs)
        more = max(0, ngrow - (len(self.chain) - self.iteration))
        parts: List[Tuple[str, Any]] = [("chain", (self.nwalkers, self.ndim)), ("log_prob", (self.nwalkers,))]
        for name, shape in parts:
            old = getattr(self, name)
            room = np.empty((more, *shape), dtype=self.dtype)  # not touched yet, so it costs nothing
            setattr(self, name, np.concatenate((old, room)) if len(old) else room)
        if blobs is not None:
            room = np.empty((more, self.nwalkers), dtype=np.dtype((blobs.dtype, blobs.shape[1:])))
            self.blobs = room if self.blobs is None else np.concatenate((self.blobs, room))

    def save_step(self, state: Any, accepted: Any) -> None:
        """Stores one step; `accepted` flags the walkers that moved."""
        self._check_blobs(state.blobs)
        if state.blobs is not None and not self.has_blobs():
            raise ValueError("unexpected blobs")
        for what, shape, expected in (("positions", state.coords.shape, (self.nwalkers, self.ndim)),
                                      ("log probabilities", state.log_prob.shape, (self.nwalkers,)),
                                      ("acceptance flags", accepted.shape, (self.nwalkers,))):
            if shape != expected:
                raise ValueError(f"invalid {what}: shape {shape}, expected {expected}")
        if state.blobs is not None and len(state.blobs) != self.nwalkers:
            raise ValueError(f"invalid blobs: {len(state.blobs)} for {self.nwalkers} walkers")
        self.chain[self.iteration] = state.coords
        self.log_prob[self.iteration] = state.log_prob
        if state.blobs is not None:
            self.blobs[self.iteration] = state.blobs
        self.accepted += accepted
        self.random_state = state.random_state
        self.iteration += 1

    def __enter__(self) -> "Backend":
        return self

    def __exit__(self, *exception: Optional[Any]) -> None:
        return None
