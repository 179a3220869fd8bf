"""gess.sample(): a run with a density of any kind."""
from __future__ import annotations

import contextlib
import csv
import inspect
import multiprocessing
import operator
import os
import shutil
import tempfile
import warnings
import weakref
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from gess import _dlpack
from gess._batch import Function
from gess._c_function import address_of
from gess._density import Compiled, Density, Model, new_model, open_model
from gess._library import (STOPPED, Error, Floats, Handle, UsageError, get_option, keywords, models, new_options,
                           options, read_config)
from gess._priors import Distributions, is_distribution, read_prior
from gess._processes import Workers
from gess._progress import new_bar
from gess._result import Evidence, Result
from gess._run import Run

Bounds = Union[Mapping[str, Tuple[float, float]], Sequence[Tuple[float, float]]]

# What an object with attributes may give instead of keywords.
ATTRIBUTES = ("dim", "names", "bounds", "periodic", "blobs", "derived", "derived_names", "prior", "starts", "vectorize",
              "arrays")

STARTS = "starts.csv"  # the file that starts given as an array are written to


class Settings:
    """What describes the density, whether it came by keyword or as attributes of an object."""

    def __init__(self, model: Any, given: Dict[str, Any]) -> None:
        self.function: Any = model
        self.values: Dict[str, Any] = {name: None for name in ATTRIBUTES}
        self.values.update(given)
        if address_of(model) is None:
            self.read_attributes(model)
        for name in ("names", "derived_names", "blobs"):
            if isinstance(self.values[name], str):
                self.values[name] = [self.values[name]]

    def read_attributes(self, model: Any) -> None:
        """Of an object with a method logp, or of a function. Methods of an object that is called itself are its own affair:
        they may be called by it."""
        whole = hasattr(model, "logp")
        if whole:
            self.function = model.logp
        if not callable(self.function):
            raise TypeError(f"{model!r} is no model: give a function, the name of a built-in model, the path of a "
                            "plug-in, a C function, or an object with a method logp")
        for name in ATTRIBUTES:
            value = getattr(model, name, None)
            if self.values[name] is None and (whole or not inspect.ismethod(value)):
                self.values[name] = value

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


def whole_number(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}= is {value!r}, not a whole number") from None


def find_dim(s: Settings) -> int:
    """The number of parameters, from whatever tells it; all must agree."""
    known: Dict[str, int] = {}
    if s.dim is not None:
        known["dim"] = whole_number("dim", s.dim)
        if known["dim"] < 1:
            raise ValueError(f"dim= is {s.dim}; a density has at least one parameter")
    if s.names is not None:
        known["names"] = len(s.names)
    if s.bounds is not None and not isinstance(s.bounds, Mapping):
        known["bounds"] = len(s.bounds)
    if isinstance(s.prior, (Mapping, list, tuple)):
        known["prior"] = len(s.prior)
    elif is_distribution(s.prior):
        known["prior"] = 1
    if s.starts is not None and not isinstance(s.starts, (str, os.PathLike)) and not callable(s.starts):
        known["starts"] = np.asarray(s.starts).shape[-1]
    if not known:
        raise TypeError("how many parameters the function has is not known: give dim=, names=, bounds=, prior= or starts=")
    if len(set(known.values())) > 1:
        told = ", ".join(f"{name}= {count}" for name, count in known.items())
        raise ValueError(f"the numbers of parameters differ: {told}")
    return next(iter(known.values()))


def read_pair(pair: Any, name: Any) -> Tuple[float, float]:
    """The bounds of one parameter; None stands for none."""
    try:
        low, high = (None, None) if pair is None else pair
        return -np.inf if low is None else float(low), np.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise ValueError(f"bounds= has {pair!r} for parameter {name}; give a pair (lower, upper), with None for no "
                         "bound") from None


def read_bounds(bounds: Optional[Bounds], names: Optional[Sequence[str]], dim: int,
                prior: Any) -> Tuple[Optional[Floats], Optional[Floats]]:
    lower, upper = np.full(dim, -np.inf), np.full(dim, np.inf)
    if isinstance(prior, Distributions):
        lower, upper = prior.bounds()
    elif bounds is None:
        return None, None
    if isinstance(bounds, Mapping):
        for name, pair in bounds.items():
            if names is None or name not in names:
                raise ValueError(f"bounds= names {name!r}, which is not in names=")
            i = list(names).index(name)
            lower[i], upper[i] = read_pair(pair, name)
    elif bounds is not None:
        for i, pair in enumerate(bounds):
            if pair is not None:
                lower[i], upper[i] = read_pair(pair, i + 1)
    return lower, upper


def read_periodic(periodic: Any, names: Optional[Sequence[str]], dim: int) -> List[bool]:
    """A flag per parameter, of flags or of names."""
    flags = [periodic] if isinstance(periodic, (str, bool)) else list(periodic)
    if any(isinstance(flag, str) for flag in flags):
        unknown = [flag for flag in flags if flag not in (names or ())]
        if unknown:
            raise ValueError(f"periodic= names {unknown[0]!r}, which is not in names=")
        return [name in flags for name in names or ()]
    if len(flags) != dim:
        raise ValueError(f"periodic= has {len(flags)} flags for {dim} parameters; give one per parameter, or their names")
    return [bool(flag) for flag in flags]


def blob_names(blobs: Union[None, int, Sequence[str]]) -> List[str]:
    if blobs is None:
        return []
    if isinstance(blobs, (int, np.integer)):
        return [f"blob{i + 1}" for i in range(int(blobs))]
    return [str(name) for name in blobs]


class Target:
    """A model for the library, and what belongs to a run with it."""

    def __init__(self, model: Model, python: bool) -> None:
        self.model = model
        self.python = python  # the density is a function of Python, so one thread is enough
        self.starts: Any = None
        self.make_workers: Optional[Callable[[int], Workers]] = None
        self.batch: Any = None  # the density in this process
        self.function: Optional[Function] = None

    def threads(self, processes: Optional[int]) -> Optional[int]:
        return processes if processes else 1 if self.python else None

    def needs_thread(self, processes: Optional[int]) -> bool:
        """Whether the main thread would not see signals while the library evaluates."""
        return not self.python or bool(processes)


def describe(density: Density, s: Settings, prior: Any) -> None:
    density.lower, density.upper = read_bounds(s.bounds, density.names, density.dim, prior)
    if s.periodic is not None:
        density.periodic = read_periodic(s.periodic, density.names, density.dim)
    elif isinstance(prior, Distributions) and density.lower is not None and density.upper is not None:
        circles = prior.circles(density.lower, density.upper)
        density.periodic = circles if any(circles) else None
    density.blob_names = blob_names(s.blobs)
    if s.derived is not None:
        if s.derived_names is None:
            raise TypeError("derived= needs derived_names=, one name per derived quantity")
        density.derive, density.derived_names = s.derived, [str(name) for name in s.derived_names]
    if callable(s.starts):
        density.start = s.starts
    elif s.starts is None and isinstance(prior, Distributions):
        density.start = prior.start


def name_of(model: Any) -> str:
    """The name of a function's run, which is not that of a built-in model: to resume it, that would be opened."""
    name: str = getattr(model, "__name__", type(model).__name__)
    if not name.isidentifier():
        return "density"
    return f"{name}_function" if name in models() else name


def no_batch(worker: int, points: Floats, logp: Floats, blobs: Optional[Floats]) -> None:
    raise AssertionError("a C function is called by the library")


def make_target(model: Any, s: Settings, args: Sequence[Any], kwargs: Optional[Dict[str, Any]], pool: Any,
                start_method: Optional[str], user: int, name: Optional[str] = None) -> Target:
    """The model of a function; `name` is that of its run if it is continued."""
    prior, names = None, s.names
    if s.prior is not None:
        prior, names = read_prior(s.prior, s.names, bool(s.vectorize))
    dim = find_dim(s)
    pointer = address_of(s.function)
    density = Density(dim, no_batch)
    density.names = None if names is None else [str(name) for name in names]
    density.name = name or name_of(model)
    describe(density, s, prior)
    if user and pointer is None:
        raise TypeError("user= is the first argument of a C function; a function of Python gets args= and kwargs=")
    if pointer is not None and (density.blob_names or args or kwargs or s.arrays or pool is not None):
        raise TypeError("a C function takes no blobs=, args=, kwargs=, arrays= or pool=; user= is its first argument")
    if pointer is not None and prior is None:
        target = Target(new_model(density, pointer[0], user), python=False)
        target.model.keep.append(pointer[1])
        return target
    if pointer is not None:
        s.function, s.values["vectorize"] = Compiled(pointer[0], user, pointer[1]), True
    function = Function(s.function, args, kwargs, bool(s.vectorize), s.arrays or "numpy", len(density.blob_names), prior)
    mapping = getattr(pool, "map", pool)
    if mapping is not None and s.vectorize:
        raise ValueError("pool= evaluates one point per call, vectorize=True an array of them: give one of the two")
    if mapping is not None and not callable(mapping):
        raise TypeError(f"pool= is {pool!r}, which has no method map")

    def batch(worker: int, points: Floats, logp: Floats, blobs: Optional[Floats]) -> None:
        function(points, logp, blobs, mapping)

    density.batch = function.plain_batch() or batch
    density.device_batch = function.device_batch() if pool is None else None
    target = Target(new_model(density), python=True)
    target.batch, target.function = density.batch, function
    target.make_workers = lambda count: Workers(function, count, dim, start_method)
    return target


def write_starts(starts: Any, folder: str, names: Optional[Sequence[str]]) -> str:
    """A file of starting points, one row per chain."""
    points = np.atleast_2d(np.asarray(starts, dtype=np.float64))
    path = os.path.join(folder, STARTS)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        if names is not None:
            writer.writerow(names)
        writer.writerows([[repr(float(value)) for value in row] for row in points])
    return path


@contextlib.contextmanager
def worker_processes(target: Target, processes: Optional[int]) -> Iterator[Optional[Workers]]:
    """Lets processes evaluate a function, if there are to be any."""
    density = target.model.density
    if target.make_workers is None or not processes or density is None:
        yield None
        return
    workers = target.make_workers(processes)
    density.batch = workers.evaluate
    try:
        yield workers
    finally:
        workers.close()
        density.batch = target.batch


def refuse_isolation(values: Mapping[str, Any]) -> None:
    """isolate=, and what goes with it, for a function of Python."""
    for name in ("isolate", "on_crash", "eval_timeout", "worker_memory"):
        if values.get(name) not in (None, False, 0, "0", options()[name].value):
            raise UsageError(f"{name}= is for compiled densities, in processes that the library forks, where Python cannot go "
                             "on. processes=N evaluates a Python function in processes of its own, whose death ends the run "
                             "with a message")


def choose_device(target: Target, device: str, processes: Optional[int]) -> None:
    """Where a function of Python gets its points."""
    density, function = target.model.density, target.function
    if function is None or density is None:
        return
    function.device = None
    if device in ("", "cpu"):
        return
    if density.device_batch is None or processes:
        if device == "auto":
            return
        raise UsageError(f"device={device!r} needs a function of an (n, dim) array on the GPU: vectorize=True and arrays= "
                         "'torch', 'jax', 'cupy' or 'dlpack', without prior=, blobs=, pool= and processes=")
    number = device.partition(":")[2]
    density.device_batch.number = int(number) if number.isdigit() else 0
    if device != "auto" and function.arrays == "torch" and _dlpack.kind == _dlpack.CUDA:
        function.device = f"cuda:{density.device_batch.number}"


def run_target(target: Target, directory: str, values: Dict[str, Any], processes: Optional[int],
               progress: Optional[bool], temporary: bool, resume: bool = False) -> Result:
    """Runs to the end, to a stop, or to an exception, which gets the draws so far as the attribute gess_result."""
    with worker_processes(target, processes) as workers:
        handle = new_options(values)
        if target.python:
            refuse_isolation(values)
        choose_device(target, get_option(handle, "device"), processes)
        run = Run(target.model, handle, directory, resume, target.needs_thread(processes),
                  workers.close if workers is not None else None)
        line = new_bar(progress, float(get_option(handle, "target-ess")))
        if line is not None:
            run.on_progress(line.show)
        try:
            status = run.go()
        except BaseException as exception:
            run.free()
            exception.gess_result = Result(directory, target, values, temporary)  # type: ignore[attr-defined]
            raise
        finally:
            if line is not None:
                line.close()
        result = Result(directory, target, values, temporary, run.stats(), status == STOPPED)
        result.take_summary(run.handle.pointer)
        run.free()
        if result.stopped:
            warnings.warn(f"the run was stopped after {result.stats['draws']} draws per chain; resume() of the result "
                          "continues it", RuntimeWarning, stacklevel=4)
        return result


def find_evidence(target: Target, result: Result, settings: Any, processes: Optional[int]) -> Evidence:
    """The evidence of the run of a result."""
    values = stored_options(result.directory)
    values["threads"] = target.threads(processes)
    if values.get("device", "cpu") != "cpu":  # the processor evaluates, unless the density is the GPU's alone
        values["device"] = "auto"
    with worker_processes(target, processes) as workers:
        run = Run(target.model, new_options(values), result.directory, True, target.needs_thread(processes),
                  workers.close if workers is not None else None)
        try:
            return Evidence(run.evidence(settings))
        finally:
            run.free()


def sample(model: Any, dim: Optional[int] = None, *, names: Optional[Sequence[str]] = None,
           bounds: Optional[Bounds] = None, periodic: Optional[Sequence[Any]] = None,
           vectorize: Optional[bool] = None, arrays: Optional[str] = None,
           blobs: Union[None, int, Sequence[str]] = None, derived: Optional[Callable[..., Any]] = None,
           derived_names: Optional[Sequence[str]] = None, prior: Any = None, starts: Any = None,
           args: Sequence[Any] = (), kwargs: Optional[Dict[str, Any]] = None,
           directory: "Optional[str | os.PathLike[str]]" = None, data: "Optional[str | os.PathLike[str]]" = None,
           processes: Optional[int] = None, start_method: Optional[str] = None, pool: Any = None, user: int = 0,
           progress: Optional[bool] = None, **settings: Any) -> Result:
    """Draws samples from a density.

    `model` is a function that returns the log density at a point (an array of `dim` numbers), up to a constant; the name
    of a built-in model; the path of a plug-in, with a slash in it; a C function (`gess_logp_fn` of `<gess/gess.h>`: a
    cfunc of numba, a function pointer of ctypes or cffi, a capsule); or an object with a method `logp` and, as
    attributes, what is otherwise given by keyword. Attributes of a function count, too.

    >>> import gess
    >>> result = gess.sample(lambda x: -0.5 * (x @ x), dim=2, draws=200, seed=3)
    >>> result.draws.shape
    (64, 200, 2)
    >>> bool(abs(result.draws.mean()) < 0.1)
    True

    dim: the number of parameters; not needed if names, bounds, prior or starts tell it.
    names: of the parameters.
    bounds: a pair per parameter, None or infinite for no bound; or pairs by name. Equal bounds fix a parameter.
    periodic: flags, or names, of the parameters whose two bounds are the same point of a circle.
    vectorize: the function takes an (n, dim) array and returns n log densities.
    arrays: what a vectorised function takes: "numpy", "jax", "torch", "cupy", or "dlpack" for any object with __dlpack__.
        With device="cuda" all but the first are arrays on the GPU.
    blobs: names, or the number, of further numbers that the function returns beside the log density: (log density,
        blob, …), or with vectorize (n log densities, an (n, blobs) array). They are stored with the draws.
    derived, derived_names: a function of a point whose results are stored with the draws.
    prior: a prior given apart; the function is then the log likelihood. A function (of an (n, dim) array with vectorize),
        a list of continuous distributions of scipy.stats, or a dict of them by name. Distributions also give bounds and
        starts. A C function with a prior is called through Python, on one thread.
    starts: an array with a row per chain; a CSV file; a run directory; or a function that makes a start of dim
        independent standard normals.
    args, kwargs: further arguments of the function.
    directory: for the files of the run; it must not exist unless overwrite=True. Without it the files live as long as
        the result.
    data: the data file of a plug-in.
    processes: the number of processes that evaluate the function; no draw depends on it. start_method: "fork" or "spawn".
    pool: an object with a method map, such as the pools of schwimmbad and mpi4py.
    user: with a C function, the address that it gets as its first argument.
    progress: whether a progress bar is shown; by default in terminals and notebooks.

    The other keywords are options of gess:

    """
    given = {"dim": dim, "names": names, "bounds": bounds, "periodic": periodic, "blobs": blobs, "derived": derived,
             "derived_names": derived_names, "prior": prior, "starts": starts, "vectorize": vectorize, "arrays": arrays}
    if processes is not None and whole_number("processes", processes) < 1:
        raise ValueError("processes= is at least 1")
    if processes and pool is not None:
        raise ValueError("give processes= or pool=, not both")
    if start_method not in (None, *multiprocessing.get_all_start_methods()):
        raise ValueError(f"start_method= is {start_method!r}; give 'fork' or 'spawn'")
    if isinstance(model, (str, os.PathLike)):
        further = {"args": args or None, "kwargs": kwargs, "user": user or None, "processes": processes, "pool": pool}
        target = named_target(model, data, {**given, **further})
        target.starts = starts
    elif data is not None:
        raise TypeError("data= is the file of a built-in model, a plug-in or a program; a function reads its own data, or gets "
                        "them by args=")
    else:
        s = Settings(model, given)
        target = make_target(model, s, args, kwargs, pool, start_method, user)
        target.starts = None if callable(s.starts) else s.starts
        if processes and not target.python:
            raise TypeError("a C function is evaluated by threads: give threads=N in place of processes=")
    values = dict(settings)
    if data is not None:
        values["data"] = os.fspath(data)
    if values.get("threads") is None:
        values["threads"] = target.threads(processes)
    if pool is not None:
        chains = values.get("chains")
        if chains in (None, "auto"):  # the most that `auto` takes
            chains = int(options()["chains"].value)
        values.setdefault("block", chains)  # all points of a round in one call of map
    return run_in(target, directory, values, processes, progress)


def named_target(model: Any, data: Any, given: Dict[str, Any]) -> Target:
    refused = [name for name, value in given.items() if value is not None and name != "starts"]
    if refused:
        raise TypeError(f"the model {os.fspath(model)} describes itself: leave out {', '.join(refused)}")
    return Target(open_model(specification_of(model), data), python=False)


def specification_of(model: Any) -> str:
    """A model's name as it is; of a path always one with a slash, which pathlib leaves out."""
    path = os.fspath(model)
    return path if isinstance(model, str) or os.sep in path else os.path.join(os.curdir, path)


def read_starts(starts: Any, chains: Any) -> Floats:
    """An array of starts, a row per chain."""
    try:
        points: Floats = np.atleast_2d(np.asarray(starts, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise TypeError(f"starts= cannot be read as an array of numbers ({error}); give a row per chain, a file, a run "
                        "directory or a function") from error
    if points.ndim != 2:
        raise UsageError(f"starts= has shape {points.shape}; give an array with a row per chain and a column per parameter")
    if chains not in (None, "auto") and len(points) < int(chains):
        raise UsageError(f"starts= has {len(points)} row{'s' * (len(points) > 1)} for {chains} chains; give one per chain")
    return points


def run_in(target: Target, directory: "Optional[str | os.PathLike[str]]", values: Dict[str, Any],
           processes: Optional[int], progress: Optional[bool]) -> Result:
    """A run in a directory, or in a temporary one that goes with the result."""
    scratch = tempfile.mkdtemp(prefix="gess-")
    keep = False
    try:
        starts = target.starts
        if isinstance(starts, (str, os.PathLike)):
            values["init"] = os.fspath(starts)
        elif starts is not None:
            density = target.model.density
            points = read_starts(starts, values.get("chains"))
            if values.get("chains") is None:
                values["chains"] = len(points)
            values["init"] = write_starts(points, scratch, None if density is None else density.names)
        path = os.path.join(scratch, "run") if directory is None else os.fspath(directory)
        result = run_target(target, path, values, processes, progress, directory is None)
        keep = directory is None
        if keep:
            weakref.finalize(result, shutil.rmtree, scratch, True)
        return result
    except BaseException as exception:
        if isinstance(exception, Error) and exception.args:  # the file of starts= is not the user's
            exception.args = (str(exception.args[0]).replace(f" {os.path.join(scratch, STARTS)}", ""), *exception.args[1:])
        partial = getattr(exception, "gess_result", None)
        exception.gess_result = partial  # type: ignore[attr-defined]  # None: it had no files yet
        if partial is not None and directory is None:
            keep = True
            weakref.finalize(partial, shutil.rmtree, scratch, True)
        raise
    finally:
        if not keep:
            shutil.rmtree(scratch, True)


def target_of(model: Any, density: Dict[str, Any], name: str) -> Target:
    """The target of a run that is continued, which has a name already: whether the function is the old one is seen by its
    values."""
    if isinstance(model, (str, os.PathLike)):
        return Target(open_model(specification_of(model), density.get("data")), python=False)
    return make_target(model, Settings(model, dict(density)), density.get("args", ()), density.get("kwargs"), None,
                       density.get("start_method"), density.get("user", 0), name)


def open_target(specification: str, handle: Handle) -> Target:
    """The target of a run whose config.json has a specification of its model."""
    try:
        return Target(open_model(specification, get_option(handle, "data") or None), python=False)
    except Error as error:
        why = f" ({error})" if "/" in specification else ", no model of gess"
        raise UsageError(f"the run's model is {specification!r}{why}; give again the function that it was made with, and what "
                         "described it: resume(model=function, density={'dim': …})") from error


def resume_target(target: Target, result: Result, values: Dict[str, Any], processes: Optional[int],
                  progress: Optional[bool]) -> Result:
    """Continues the run of a result, which keeps a temporary directory alive."""
    saved = stored_options(result.directory)
    saved.update({name: value for name, value in values.items() if value is not None})
    continued = run_target(target, result.directory, saved, processes, progress, result.temporary, resume=True)
    continued.before = result
    return continued


def stored_options(directory: str) -> Dict[str, Any]:
    """The options of a run as its config.json has them."""
    handle = read_config(os.path.join(directory, "config.json"))[1]
    stored = {name: get_option(handle, row.name) for name, row in options().items()}
    return {name: value for name, value in stored.items() if value != ""}


def _document() -> None:
    """Adds the library's options to the documentation and to the signature of sample()."""
    table = options()
    lines = [f"    {name}: {keywords(row.help)}" + (f" (default {row.value})" if row.value else "")
             for name, row in table.items() if name not in ("data", "init")]
    sample.__doc__ = (sample.__doc__ or "").rstrip() + "\n\n" + "\n".join(lines) + "\n"
    signature = inspect.signature(sample)
    fixed = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    known = {p.name for p in fixed}
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in table if name not in known]
    sample.__signature__ = signature.replace(parameters=fixed + more)  # type: ignore[attr-defined]


_document()
