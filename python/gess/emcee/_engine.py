"""Steps of an ensemble, one at a time, from a run of gess that is stopped and continued.

Until freeze() the steps are those of warm-up, as long as it lasts; a stop and a continuation change no draw, so steps
that the run has made in advance wait here until they are asked for.
"""
from __future__ import annotations

import os
import tempfile
import time
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple

import numpy as np

from gess._density import Density, new_model
from gess._library import Floats, new_options
from gess._run import Run
from gess._sample import write_starts

# Log probabilities of points, and what else the function returned for each; None: nothing.
Evaluate = Callable[[Floats], Tuple[Floats, Optional[List[Any]]]]
Step = Tuple[Floats, Floats, Optional[List[Any]]]  # positions, log probabilities, blobs

MAX_DRAWS = 10**12
PATIENCE = 0.05  # seconds after which steps are handed out, rather than more of them made in advance


class Engine:
    """A run whose chains are the walkers."""

    def __init__(self, evaluate: Evaluate, coords: Floats, log_prob: Floats, blobs: Optional[List[Any]],
                 seed: int) -> None:
        self.evaluate = evaluate
        self.walkers, self.ndim = coords.shape
        self.has_blobs = blobs is not None
        self.table: Dict[int, Any] = {}  # blobs by the number that travels with the state
        self.next_blob = 0
        self.ready: Deque[Tuple[Floats, Floats, Floats]] = deque()
        self.parts: Dict[int, Tuple[Floats, List[int]]] = {}
        self.wanted = 1
        self.deadline = 0.0
        self.frozen = False
        self.sampling = False
        self.pending: Optional[BaseException] = None
        # the run asks for the starts one by one; they are known already
        self.known = {row.tobytes(): (log_prob[i], blobs[i] if blobs is not None else None)
                      for i, row in enumerate(np.ascontiguousarray(coords))}
        self.last: Floats = coords.copy()
        density = Density(self.ndim, self._batch)
        density.blob_names = ["blob"] if self.has_blobs else []
        self.model = new_model(density)
        self.run = self._new_run(coords, seed)
        self.known = {}

    def _new_run(self, coords: Floats, seed: int) -> Run:
        with tempfile.TemporaryDirectory(prefix="gess-") as folder:
            path = write_starts(coords, folder, None)
            options = new_options({"chains": self.walkers, "draws": MAX_DRAWS, "seed": seed, "threads": 1,
                                   "block": self.walkers, "init": os.fspath(path)})
            run = Run(self.model, options, None)
        run.on_draw(self._take_draws)
        run.on_warmup(self._take_warmup)
        return run

    def _batch(self, worker: int, points: Floats, logp: Floats, blobs: Optional[Floats]) -> None:
        if self.known and len(points) == 1 and points[0].tobytes() in self.known:
            logp[0], first = self.known[points[0].tobytes()]
            values: Optional[List[Any]] = [first]
        else:
            logp[:], values = self.evaluate(points)
        if blobs is None:
            if values is not None and values[0] is not None:
                raise ValueError("inconsistent use of blobs: the function returned none at the initial positions")
            return
        for i in range(len(points)):
            if values is not None:
                self.table[self.next_blob] = values[i]
            blobs[i, 0] = self.next_blob
            self.next_blob += 1

    def _take_warmup(self, first_chain: int, first_draw: int, rows: Floats) -> bool:
        if self.frozen:
            return False
        return self._take(first_chain, -1 - first_draw, rows, -1)

    def _take_draws(self, first_chain: int, first_draw: int, rows: Floats) -> bool:
        if not self.sampling:
            self.sampling = True
            self.parts.clear()
        return self._take(first_chain, first_draw, rows, 1)

    def _take(self, first_chain: int, key: int, rows: Floats, direction: int) -> bool:
        """Puts a rectangle of draws into place; steps that all walkers have had are ready."""
        chains, draws, columns = rows.shape
        for i in range(draws):
            step, missing = self.parts.setdefault(key + direction * i, (np.empty((self.walkers, columns)),
                                                                        [self.walkers]))
            step[first_chain : first_chain + chains] = rows[:, i]
            missing[0] -= chains
            if missing[0] == 0:
                del self.parts[key + direction * i]
                self.ready.append((step[:, 1 : 1 + self.ndim], step[:, 0], step[:, 1 + self.ndim :]))
        return len(self.ready) >= self.wanted or (len(self.ready) > 0 and time.monotonic() > self.deadline)

    def freeze(self) -> None:
        """Ends adaptation: from the next step on what was learned is fixed. Steps that adapted are dropped."""
        if not self.frozen and not self.sampling:
            self.ready.clear()
            self.parts.clear()
            self.run.end_warmup()
        self.frozen = True

    def step(self, wanted: int) -> Step:
        """The next step; `wanted` is how many of them will be asked for."""
        self.wanted = max(1, wanted)
        while not self.ready:
            self._advance()
        coords, log_prob, numbers = self.ready.popleft()
        self.last = coords
        blobs = [self.table[int(number)] for number in numbers[:, 0]] if self.has_blobs else None
        return coords, log_prob, blobs

    def _advance(self) -> None:
        """Lets the run go on. What ends it is raised when the steps before that have been handed out."""
        if self.pending is not None:
            raise self.pending
        self.deadline = time.monotonic() + PATIENCE
        try:
            self.run.go()
        except BaseException as exception:
            if not self.ready:
                raise
            self.pending = exception
        if self.run.interrupted:
            self.run.interrupted = False
            raise KeyboardInterrupt
        self._forget_blobs()

    def _forget_blobs(self) -> None:
        """Drops the blobs of points that are no state of a walker any more. During warm-up the run may go back to earlier
        points, so all are kept."""
        if not self.has_blobs or not self.sampling or len(self.table) < 100 * self.walkers or not self.ready:
            return
        alive = {int(number) for step in self.ready for number in step[2][:, 0]}
        self.table = {number: blob for number, blob in self.table.items() if number in alive}

    def close(self) -> None:
        self.run.free()
