"""EnsembleSampler with emcee's interface, which samples with gess."""
from __future__ import annotations

import logging
import sys
import warnings
from itertools import count
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from gess._library import Floats
from gess._run import with_point
from gess.emcee._engine import Engine
from gess.emcee._interrupts import interrupts_held
from gess.emcee.state import Backend, State

logger = logging.getLogger(__name__)

DIFFERENCES = ("gess.emcee samples with gess, not with emcee's moves. Steps before reset() adapt to the density until that "
               "settles; steps after it do not adapt. acceptance_fraction is the share of steps in which a walker moved. "
               "docs/python.md lists the differences.")
ZEUS = ("tune", "tolerance", "patience", "maxsteps", "mu", "maxiter", "verbose", "check_walkers", "shuffle_ensemble",
        "light_mode")


class DifferenceWarning(UserWarning):
    """Said once: where results differ from emcee's."""


_warned = False


def level_of_user() -> int:
    """The stacklevel that makes a warning of the function that asks point at the line outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("gess."):
        level, frame = level + 1, frame.f_back
    return level


def warn_once() -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(DIFFERENCES, DifferenceWarning, stacklevel=level_of_user())


def deprecated(words: str) -> None:
    warnings.warn(words, DeprecationWarning, stacklevel=level_of_user())


class LogProb:
    """A function with its further arguments; it can be pickled if they can."""

    def __init__(self, function: Callable[..., Any], args: Optional[Sequence[Any]],
                 kwargs: Optional[Mapping[str, Any]]) -> None:
        self.f, self.args, self.kwargs = function, list(args or []), dict(kwargs or {})

    def __call__(self, x: Any) -> Any:
        return self.f(x, *self.args, **self.kwargs)


def walkers_independent(coords: Any) -> bool:
    """Whether positions span the space: finite, and their scaled differences from the mean well conditioned."""
    if not np.all(np.isfinite(coords)):
        return False
    centred = coords - np.mean(coords, axis=0)[None, :]
    largest = np.amax(np.abs(centred), axis=0)
    if np.any(largest == 0):
        return False
    centred = centred / largest
    centred = centred / np.sqrt(np.sum(centred**2, axis=0))
    return bool(np.linalg.cond(centred.astype(float)) <= 1e8)


def ndarray_to_list_of_dicts(x: Any, key_map: Mapping[str, Union[int, List[int]]]) -> List[Dict[str, Any]]:
    """Points as dictionaries of parameters by name."""
    return [{key: row[index] for key, index in key_map.items()} for row in x]


def check_names(names: Union[Sequence[str], Mapping[str, Any]], ndim: int, vectorize: bool) -> Dict[str, Any]:
    """Names of parameters, or of groups of them, as a map to indices."""
    assert isinstance(names, (list, dict)), "parameter_names is a list or a dict"
    assert not vectorize, "named parameters with vectorization unsupported for now"
    assert len(set(names)) == len(names), f"duplicate parameters in {list(names)}"
    if isinstance(names, list):
        assert len(names) == ndim, "name all parameters or set `parameter_names` to `None`"
        names = {name: i for i, name in enumerate(names)}
    assert len(names) <= ndim, "too many names"
    indices: List[int] = []
    for value in names.values():
        indices.extend(value if isinstance(value, list) else [value])
    assert set(indices) == set(range(ndim)), f"not all values appear -- set should be 0 to {ndim - 1}"
    return dict(names)


def check_moves(moves: Any, ndim: int) -> None:
    """Refuses moves that were made for another number of parameters, as emcee does."""
    for entry in moves if isinstance(moves, (list, tuple)) else [moves]:
        move = entry[0] if isinstance(entry, (list, tuple)) and entry else entry
        if getattr(move, "ndim", None) not in (None, ndim):
            raise ValueError(f"Dimension mismatch in proposal: a move has {move.ndim} dimensions, the sampler {ndim}")


def as_float(value: Any) -> float:
    if np.isscalar(value):
        return float(value)  # type: ignore[arg-type]
    try:
        return float(np.asarray(value).item())
    except (TypeError, ValueError) as error:
        raise ValueError("log_prob_fn should return scalar") from error


def split_results(results: Any) -> Tuple[Floats, Optional[List[Any]]]:
    """Log probabilities and blobs of what a function returned for several points."""
    try:
        blobs = [result[1:] for result in results if len(result) > 1]
        if blobs:
            return np.array([as_float(result[0]) for result in results]), blobs
    except (IndexError, TypeError):
        pass
    return np.array([as_float(result) for result in results]), None


def pack_blobs(blobs: List[Any], dtype: Any) -> Any:
    """Blobs as one array: of the given type, of the type of the first, or of objects."""
    if dtype is None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                dtype = np.atleast_1d(blobs[0]).dtype
        except Warning:
            deprecated("the blobs differ in shape, so they are kept as objects; give blobs_dtype=np.dtype('object')")
            dtype = np.dtype("object")
        except ValueError:
            dtype = np.dtype("object")
        if dtype.kind in "US":
            dtype = np.dtype("object")  # strings of any length
    array = np.array(blobs, dtype=dtype)
    ones = tuple(axis for axis in range(1, array.ndim) if array.shape[axis] == 1)
    return np.squeeze(array, ones) if ones else array


def progress_bar(progress: Any, total: Optional[int], **kwargs: Any) -> Any:
    """tqdm's bar, or None."""
    if not progress:
        return None
    try:
        import tqdm
        import tqdm.notebook
    except ImportError:
        logger.warning("You must install the tqdm library to use progress indicators with gess.emcee")
        return None
    kind = tqdm.tqdm if progress is True else getattr(tqdm, f"tqdm_{progress}")
    return kind(total=total, **kwargs)


class EnsembleSampler:
    """An ensemble of walkers with emcee's interface.

    nwalkers, ndim, log_prob_fn, pool, moves, args, kwargs, backend, vectorize, blobs_dtype and parameter_names are those
    of emcee; `moves` is accepted and not used. Keywords of zeus (`logprob_fn`, `tune`, `mu`, …) are accepted, too.

    Steps before reset() adapt: they are the warm-up of gess until it settles, and steps of fixed chains from there on.
    reset() ends adaptation. Positions that are not those of the last step start a new adaptation.

    >>> import numpy as np
    >>> import warnings; warnings.simplefilter("ignore")
    >>> sampler = EnsembleSampler(32, 5, lambda x: -0.5 * np.sum(x**2))
    >>> state = sampler.run_mcmc(np.random.default_rng(1).normal(size=(32, 5)), 100)
    >>> sampler.reset()
    >>> _ = sampler.run_mcmc(state, 200)
    >>> sampler.get_chain().shape
    (200, 32, 5)
    """

    def __init__(self, nwalkers: int, ndim: int, log_prob_fn: Optional[Callable[..., Any]] = None, pool: Any = None,
                 moves: Any = None, args: Optional[Sequence[Any]] = None, kwargs: Optional[Mapping[str, Any]] = None,
                 backend: Any = None, vectorize: bool = False, blobs_dtype: Any = None,
                 parameter_names: Optional[Union[Sequence[str], Mapping[str, Any]]] = None, a: Any = None,
                 postargs: Any = None, threads: Any = None, live_dangerously: Any = None, runtime_sortingfn: Any = None,
                 logprob_fn: Optional[Callable[..., Any]] = None, **zeus: Any) -> None:
        for name, value in (("a", a), ("threads", threads), ("runtime_sortingfn", runtime_sortingfn),
                            ("live_dangerously", live_dangerously)):
            if value is not None:
                deprecated(f"The {name!r} argument is deprecated, and gess does not use it")
        unknown = [name for name in zeus if name not in ZEUS]
        if unknown:
            raise TypeError(f"EnsembleSampler() got an unexpected keyword argument {unknown[0]!r}")
        function = log_prob_fn if log_prob_fn is not None else logprob_fn
        if function is None:
            raise TypeError("EnsembleSampler() needs log_prob_fn")
        if pool is not None and not hasattr(pool, "map"):
            raise TypeError(f"pool= is {pool!r}, which has no method map (args are the keyword args=)")
        self.pool, self.vectorize, self.blobs_dtype = pool, vectorize, blobs_dtype
        self.ndim, self.nwalkers = ndim, nwalkers
        self.ncall = 0
        self._moves = moves
        self._engine: Optional[Engine] = None
        self._origin: Any = None  # of the positions of the run, if they are long doubles
        self._wants_all = False  # all steps that sample() was asked for will be taken
        self._previous_state: Any = None
        self.backend = Backend() if backend is None else backend
        self._random = np.random.mtrand.RandomState()
        self._random.set_state(self._open_backend())
        self.log_prob_fn = LogProb(function, args, kwargs)
        self.params_are_named = parameter_names is not None
        if parameter_names is not None:
            self.parameter_names = check_names(parameter_names, ndim, vectorize)

    def _open_backend(self) -> Any:
        """Begins with an empty backend, or goes on with a used one; returns the random state."""
        if not self.backend.initialized:
            self.backend.reset(self.nwalkers, self.ndim)
            return np.random.get_state()
        if tuple(self.backend.shape) != (self.nwalkers, self.ndim):
            raise ValueError(f"the shape of the backend ({self.backend.shape}) is incompatible with the shape of the "
                             f"sampler ({(self.nwalkers, self.ndim)})")
        if self.backend.iteration > 0:
            self._previous_state = self.get_last_sample()
        return np.random.get_state() if self.backend.random_state is None else self.backend.random_state

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "pool": None, "_engine": None}

    @property
    def random_state(self) -> Any:
        """The state of the generator that the seed of the run is drawn from."""
        return self._random.get_state()

    @random_state.setter
    def random_state(self, state: Any) -> None:
        try:
            self._random.set_state(state)
        except (TypeError, ValueError, AttributeError):
            pass

    @property
    def iteration(self) -> int:
        return int(self.backend.iteration)

    def reset(self) -> None:
        """Forgets the stored steps, and ends adaptation."""
        self.backend.reset(self.nwalkers, self.ndim)
        if self._engine is not None:
            self._engine.freeze()

    # ---- evaluation ----

    def _evaluate(self, points: Any) -> Tuple[Floats, Optional[List[Any]]]:
        self.ncall += len(points)
        given = ndarray_to_list_of_dicts(points, self.parameter_names) if self.params_are_named else points
        if self.vectorize:
            results = self.log_prob_fn(given)
            if np.ndim(results) == 0 or len(results) != len(points):
                raise ValueError(f"the vectorized log_prob_fn returned shape {np.shape(results)} for {len(points)} points")
        elif self.pool is not None:
            results = list(self.pool.map(self.log_prob_fn, given))
        else:
            results = [self._evaluate_one(row, point) for row, point in zip(points, given)]
        log_prob, blobs = split_results(results)
        wrong = np.isnan(log_prob)
        if np.any(wrong):
            raise ValueError(f"Probability function returned NaN at {points[int(np.argmax(wrong))]}")
        if blobs is not None and len(blobs) != len(points):
            raise ValueError("inconsistent use of blobs: the function returns them for some points only")
        return log_prob, blobs

    def _evaluate_one(self, row: Any, point: Any) -> Any:
        try:
            return self.log_prob_fn(point)
        except Exception as exception:
            raise with_point(exception, np.array(row))

    def compute_log_prob(self, coords: Any) -> Tuple[Floats, Any]:
        """The log probabilities of positions, and their blobs or None."""
        if np.any(np.isinf(coords)):
            raise ValueError("At least one parameter value was infinite")
        if np.any(np.isnan(coords)):
            raise ValueError("At least one parameter value was NaN")
        log_prob, blobs = self._evaluate(coords)
        return log_prob, None if blobs is None else pack_blobs(blobs, self.blobs_dtype)

    # ---- sampling ----

    def _begin(self, state: Any, skip_check: bool) -> Engine:
        """The run that goes on from a state: the present one if that is where it stands, otherwise a new one."""
        shape = np.shape(state.coords)
        if shape != (self.nwalkers, self.ndim):
            raise ValueError(f"incompatible input dimensions {shape}")
        if not skip_check and not walkers_independent(state.coords):
            raise ValueError("Initial state has a large condition number. Make sure that your walkers are linearly "
                             "independent for the best performance")
        if state.log_prob is not None and np.shape(state.log_prob) != (self.nwalkers,):
            raise ValueError("incompatible input dimensions")
        if state.log_prob is not None and np.any(np.isnan(state.log_prob)):
            raise ValueError("The initial log_prob was NaN")
        check_moves(self._moves, self.ndim)
        given = np.asarray(state.coords)
        if self._engine is not None and np.array_equal(given, self._place(self._engine.last)):
            return self._engine
        self._close()
        warn_once()
        self._origin = given[0].copy() if given.dtype.kind == "f" and given.dtype.itemsize > 8 else None
        coords = np.array(given if self._origin is None else given - self._origin, dtype=np.float64, order="C")
        log_prob, blobs = self._evaluate_starts(coords)
        self._engine = Engine(self._evaluate_placed, coords, log_prob, blobs, int(self._random.randint(2**31)))
        return self._engine

    def _place(self, coords: Floats) -> Any:
        """Positions of the run as the user has them: for long doubles they are differences from the first walker's start,
        which doubles hold where the positions themselves would all be the same double."""
        return coords if self._origin is None else coords + self._origin

    def _evaluate_placed(self, coords: Floats) -> Tuple[Floats, Optional[List[Any]]]:
        return self._evaluate(self._place(coords))

    def _evaluate_starts(self, coords: Floats) -> Tuple[Floats, Optional[List[Any]]]:
        """Walkers outside the support start where another one is inside it."""
        if not np.all(np.isfinite(coords)):
            raise ValueError("At least one parameter value was infinite or NaN")
        log_prob, blobs = self._evaluate_placed(coords.copy())  # a function may change its argument
        inside = np.flatnonzero(log_prob > -np.inf)
        if len(inside) == 0:
            raise ValueError("log_prob is -inf at every initial position; start at least one walker inside the support")
        for walker in np.flatnonzero(log_prob == -np.inf):
            other = int(self._random.choice(inside))
            coords[walker], log_prob[walker] = coords[other], log_prob[other]
            if blobs is not None:
                blobs[walker] = blobs[other]
        return log_prob, blobs

    def _close(self) -> None:
        if self._engine is not None:
            self._engine.close()
        self._engine = None

    def _next_state(self, engine: Engine, wanted: int) -> Tuple[State, Any]:
        before = engine.last
        try:
            coords, log_prob, blobs = engine.step(wanted)
        except KeyboardInterrupt:
            raise
        except BaseException:
            self._close()
            raise
        packed = None if blobs is None else pack_blobs(blobs, self.blobs_dtype)
        return State(self._place(coords), log_prob, packed, self.random_state), np.any(coords != before, axis=1)

    def sample(self, initial_state: Any, log_prob0: Any = None, rstate0: Any = None, blobs0: Any = None,
               iterations: Optional[int] = 1, tune: bool = False, skip_initial_state_check: bool = False,
               thin_by: int = 1, thin: Optional[int] = None, store: bool = True, progress: Any = False,
               progress_kwargs: Optional[Dict[str, Any]] = None) -> Iterator[State]:
        """Makes steps and yields the state after each; with thin_by only every so many steps are stored and yielded.

        initial_state: positions, (nwalkers, ndim), or a state. iterations: None for an endless stream, with store=False.
        """
        if iterations is None and store:
            raise ValueError("'store' must be False when 'iterations' is None")
        state = State(initial_state, copy=True)
        for name, value in (("log_prob0", log_prob0), ("rstate0", rstate0), ("blobs0", blobs0)):
            if value is not None:
                deprecated(f"The {name!r} argument is deprecated, use a 'State' instead")
        if log_prob0 is not None:
            state.log_prob = log_prob0
        if rstate0 is not None:
            state.random_state = rstate0
        if state.random_state is not None:
            self.random_state = state.random_state
        if thin is not None:
            deprecated("The 'thin' argument is deprecated. Use 'thin_by' instead.")
        every = int(thin_by if thin is None else thin)
        if every <= 0:
            raise ValueError("Invalid thinning argument")
        yield_step, saved = (every, iterations) if thin is None else (1, (iterations or 0) // every)
        engine = self._begin(state, skip_initial_state_check)
        total = None if iterations is None else iterations * yield_step
        bar = progress_bar(progress, total, **(progress_kwargs or {}))
        try:
            yield from self._steps(engine, iterations, yield_step, every, saved if store else None, bar)
        finally:
            if bar is not None:
                bar.close()

    def _steps(self, engine: Engine, iterations: Optional[int], yield_step: int, every: int, saved: Optional[int],
               bar: Any) -> Iterator[State]:
        made = 0
        for i in count() if iterations is None else range(iterations):
            for _ in range(yield_step):
                left = yield_step if iterations is None else iterations * yield_step - made
                if not self._wants_all:  # the caller may stop anywhere, and steps made in advance would be lost
                    left = min(left, max(yield_step, made // 10))
                state, moved = self._next_state(engine, left)
                made += 1
                if saved is not None and made == 1:
                    self.backend.grow(saved, state.blobs)
                if saved is not None and made % every == 0:
                    with interrupts_held():
                        self.backend.save_step(state, moved)
                if bar is not None:
                    bar.update(1)
            self._previous_state = state
            yield state

    def run_mcmc(self, initial_state: Any = None, nsteps: Optional[int] = None, start: Any = None, callbacks: Any = None,
                 **kwargs: Any) -> Any:
        """Makes nsteps steps and returns the last state. initial_state: None to go on from the last step.

        `start` and `callbacks` are those of zeus: functions of the number of steps, the chain and the log probabilities. The
        run ends when all of those that return a value return a true one.
        """
        if nsteps is None:
            raise TypeError("run_mcmc() needs nsteps, the number of steps")
        if initial_state is None:
            initial_state = start
        if initial_state is None:
            if self._previous_state is None:
                raise ValueError("Cannot have `initial_state=None` if run_mcmc has never been called.")
            initial_state = self._previous_state
        functions = [] if callbacks is None else callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
        results = None
        self._wants_all = not functions
        try:
            for results in self.sample(initial_state, iterations=nsteps, **kwargs):
                said = [f(self.iteration, self.get_chain(), self.get_log_prob()) for f in functions]
                values = [value for value in said if value is not None]
                if values and all(values):
                    break
        finally:
            self._wants_all = False
        self._previous_state = results
        return results

    # ---- results ----

    @property
    def acceptance_fraction(self) -> Any:
        """The share of stored steps in which each walker moved."""
        return self.backend.accepted / float(self.backend.iteration)

    def get_chain(self, **kwargs: Any) -> Any:
        """The positions, (steps, nwalkers, ndim); flat, thin and discard as in emcee."""
        return self.get_value("chain", **kwargs)

    def get_log_prob(self, **kwargs: Any) -> Any:
        """The log probabilities, (steps, nwalkers)."""
        return self.get_value("log_prob", **kwargs)

    def get_blobs(self, **kwargs: Any) -> Any:
        """The blobs, or None."""
        return self.get_value("blobs", **kwargs)

    def get_value(self, name: str, **kwargs: Any) -> Any:
        """Stored values. thin=0 is 1: scripts thin by int(0.5 * tau), and tau is often below 2 here."""
        if kwargs.get("thin") == 0:
            kwargs["thin"] = 1
        return self.backend.get_value(name, **kwargs)

    def get_last_sample(self, **kwargs: Any) -> Any:
        """The last stored step."""
        return self.backend.get_last_sample()

    def get_autocorr_time(self, **kwargs: Any) -> Any:
        """The integrated autocorrelation time of every parameter, in steps."""
        return self.backend.get_autocorr_time(**kwargs)


def _old(name: str, instead: str, get: Callable[[EnsembleSampler], Any]) -> property:
    """A property of emcee 2."""

    def value(self: EnsembleSampler) -> Any:
        deprecated(f"{name} is deprecated, use {instead} instead")
        return get(self)

    return property(value)


for _name, _instead, _get in (
        ("chain", "get_chain()", lambda s: np.swapaxes(s.get_chain(), 0, 1)),
        ("flatchain", "get_chain(flat=True)", lambda s: s.get_chain(flat=True)),
        ("lnprobability", "get_log_prob()", lambda s: np.swapaxes(s.get_log_prob(), 0, 1)),
        ("flatlnprobability", "get_log_prob(flat=True)", lambda s: s.get_log_prob(flat=True)),
        ("blobs", "get_blobs()", lambda s: s.get_blobs()),
        ("flatblobs", "get_blobs(flat=True)", lambda s: s.get_blobs(flat=True)),
        ("acor", "get_autocorr_time()", lambda s: s.get_autocorr_time())):
    setattr(EnsembleSampler, _name, _old(_name, _instead, _get))
