"""Densities as the library calls them: functions of Python, function pointers of C, models by name."""
from __future__ import annotations

import os
import sys
import warnings
from typing import Any, Callable, List, Optional, Sequence

import numpy as np

from gess._dlpack import DeviceBatch
from gess._library import Floats, Handle, ModelError, check, encode_path, extern, new_error
from gess._native import ffi, lib

Batch = Callable[[Floats], Any]


def to_numpy(values: Any) -> Any:
    """The result of a density as an array of NumPy: JAX and NumPy as they are, tensors of PyTorch, arrays of CuPy."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    elif type(values).__module__.startswith("cupy"):
        values = values.get()
    return np.asarray(values)


def check_values(values: Any, n: int, what: str = "density") -> Floats:
    """The log densities of n points, or an exception that says what is wrong with them; `what` returned them."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.shape == (n,):
        return values
    array = to_numpy(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"the {what} returned dtype {array.dtype}, not real numbers; return floats")
    if array.shape != (n,):
        raise ValueError(f"the {what} returned shape {array.shape} for an array of {n} rows, not ({n},); with "
                         "vectorize=True a function takes an (n, dim) array and returns n numbers")
    warn_of_rounding(array.dtype)
    floats: Floats = array.astype(np.float64, copy=False)
    return floats


def warn_of_rounding(dtype: Any) -> None:
    """Warns of log densities in single precision; Python shows a warning of one line of code once."""
    if dtype.kind == "f" and dtype.itemsize < 8:
        hint = "; for JAX: jax.config.update('jax_enable_x64', True)" if "jax" in sys.modules else ""
        warnings.warn(f"the log densities are {dtype}: their rounding errors enter the draws, and are large where log "
                      f"densities are. Compute them in double precision{hint}", RuntimeWarning, stacklevel=2)


class Density:
    """A density with everything that the library can be told about it.

    `batch` takes an (n, dim) array of points and writes n log densities, and blobs if there are any: it is called as
    batch(worker, points, logp, blobs).
    """

    def __init__(self, dim: int, batch: Callable[[int, Floats, Floats, Optional[Floats]], None]) -> None:
        self.dim = dim
        self.batch = batch
        self.device_batch: Optional[DeviceBatch] = None  # the same for points on a GPU
        self.name = "python"
        self.names: Optional[Sequence[str]] = None
        self.lower: Optional[Floats] = None
        self.upper: Optional[Floats] = None
        self.periodic: Optional[Sequence[bool]] = None
        self.blob_names: Sequence[str] = ()
        self.derived_names: Sequence[str] = ()
        self.derive: Optional[Callable[[Floats], Any]] = None
        self.start: Optional[Callable[[Floats], Any]] = None
        self.exception: Optional[BaseException] = None
        self.no_start = False  # `start` raised an exception, which the library does not ask for
        self.pid = os.getpid()

    def forget_failure(self) -> None:
        self.exception, self.no_start = None, False

    def failed(self, exception: BaseException, one: bool) -> int:
        """Keeps the first exception, or the one of a single point, which the library asks for to find the culprit."""
        if self.exception is None or (one and not isinstance(self.exception, KeyboardInterrupt)):
            self.exception = exception
        return 1


def leave_forked_child() -> None:
    """A density that forked has come back in the child, whose copy of the run would write into the same files."""
    message = "gess: the density returned in a process that it forked; that process ends here (use os._exit in it)\n"
    os.write(2, message.encode())
    os._exit(70)


def view(pointer: Any, count: int) -> Floats:
    """An array on memory of the library."""
    return np.frombuffer(ffi.buffer(pointer, 8 * count))


def call(user: Any, worker: int, n: int, dim: int, x: Any, logp: Any, blobs: Any) -> int:
    density: Density = ffi.from_handle(user)
    if density.pid != os.getpid():
        leave_forked_child()
    if density.no_start:
        return 1
    try:
        # a copy: the function may keep its argument, and the memory of the library changes
        points = view(x, n * dim).reshape(n, dim).copy()
        extra = None
        if blobs is not None:
            width = len(density.blob_names)
            extra = view(blobs, n * width).reshape(n, width)
        density.batch(worker, points, view(logp, n), extra)
        return 0
    except BaseException as exception:  # noqa: B902: whatever a density raises ends the run
        return density.failed(exception, n == 1)


@extern
def gess_python_logp(user: Any, worker: int, n: int, dim: int, x: Any, logp: Any) -> int:
    return call(user, worker, n, dim, x, logp, None)


@extern
def gess_python_device_logp(user: Any, stream: Any, n: int, dim: int, x: Any, logp: Any) -> int:
    density: Density = ffi.from_handle(user)
    try:
        assert density.device_batch is not None
        density.device_batch(n, dim, int(ffi.cast("uintptr_t", x)), int(ffi.cast("uintptr_t", logp)))
        return 0
    except BaseException as exception:  # noqa: B902
        return density.failed(exception, n == 1)


@extern
def gess_python_blobs(user: Any, worker: int, n: int, dim: int, x: Any, logp: Any, blobs: Any) -> int:
    return call(user, worker, n, dim, x, logp, blobs)


@extern
def gess_python_derive(user: Any, worker: int, dim: int, x: Any, derived: int, out: Any) -> int:
    density: Density = ffi.from_handle(user)
    try:
        assert density.derive is not None
        values = np.asarray(density.derive(view(x, dim).copy()), dtype=np.float64).reshape(-1)
        if values.shape != (derived,):
            raise ValueError(f"the derived quantities are {values.size} numbers, but {derived} names were given")
        view(out, derived)[:] = values
        return 0
    except BaseException as exception:  # noqa: B902
        return density.failed(exception, True)


@extern
def gess_python_start(user: Any, dim: int, normals: Any, x: Any) -> None:
    density: Density = ffi.from_handle(user)
    try:
        assert density.start is not None
        point = np.asarray(density.start(view(normals, dim).copy()))
        if point.shape != (dim,) or point.dtype.kind not in "fiub":
            raise ValueError(f"starts= returned {point!r}, which is not a point of {dim} numbers")
        view(x, dim)[:] = point
    except BaseException as exception:  # noqa: B902
        density.failed(exception, True)
        density.no_start = True
        view(x, dim)[:] = 0.0


@extern
def gess_python_message(user: Any, worker: int, text: Any, size: int) -> None:
    density: Density = ffi.from_handle(user)
    exception = density.exception
    words = "" if exception is None else f"{type(exception).__name__}: {exception}"
    raw = words.encode("utf-8", "replace")[: size - 1].decode("utf-8", "ignore").encode()
    ffi.memmove(text, raw + b"\0", len(raw) + 1)


class Compiled:
    """A C function (gess_logp_fn) as a function of an (n, dim) array, for densities with a prior apart."""

    def __init__(self, address: int, user: int, keep: Any) -> None:
        self.function, self.user = ffi.cast("gess_logp_fn *", address), ffi.cast("void *", user)
        self.keep = keep

    def __call__(self, points: Floats) -> Floats:
        x, values = np.ascontiguousarray(points), np.empty(len(points))
        status = self.function(self.user, 0, x.shape[0], x.shape[1], ffi.from_buffer("double[]", x),
                               ffi.from_buffer("double[]", values))
        if status != 0:
            raise ModelError(f"the C function returned {status}, which means that it failed")
        return values


class Model(Handle):
    """A model of the library, with what must live as long as it."""

    def __init__(self, pointer: Any, keep: Any = None, density: Optional[Density] = None) -> None:
        super().__init__(pointer, lib.gess_model_free)
        self.keep = keep
        self.density = density

    @property
    def dim(self) -> int:
        return int(self._info().dim)

    def _info(self) -> Any:
        info, err = ffi.new("gess_model_info *"), new_error()
        check(lib.gess_model_describe(self.pointer, info, ffi.sizeof("gess_model_info"), err), err)
        return info

    def evaluate(self, points: Any) -> Floats:
        """Log densities of an (n, dim) array of points."""
        x = np.ascontiguousarray(points, dtype=np.float64)
        values, err = np.empty(len(x)), new_error()
        status = lib.gess_model_evaluate(self.pointer, len(x), ffi.from_buffer("double[]", x),
                                         ffi.from_buffer("double[]", values), ffi.NULL, err)
        if status != 0 and self.density is not None and self.density.exception is not None:
            raise self.density.exception
        check(status, err)
        return values


def texts(values: Sequence[str], keep: List[Any]) -> Any:
    """An array of char pointers."""
    items = [ffi.new("char[]", value.encode()) for value in values]
    array = ffi.new("const char *[]", items)
    keep.extend([items, array])
    return array


def doubles(values: Floats, keep: List[Any]) -> Any:
    array = np.ascontiguousarray(values, dtype=np.float64)
    keep.append(array)
    return ffi.from_buffer("double[]", array)


def fill(density: Density, struct: Any, keep: List[Any]) -> None:
    """Everything of a gess_density but the function."""
    name = ffi.new("char[]", density.name.encode())
    keep.append(name)
    struct.size = ffi.sizeof("gess_density")
    struct.name, struct.dim = name, density.dim
    if density.names is not None:
        struct.names = texts(density.names, keep)
    if density.lower is not None and density.upper is not None:
        struct.lower, struct.upper = doubles(density.lower, keep), doubles(density.upper, keep)
    if density.periodic is not None:
        flags = ffi.new("unsigned char[]", bytes(bool(flag) for flag in density.periodic))
        keep.append(flags)
        struct.periodic = flags
    if density.derive is not None:
        struct.derived = len(density.derived_names)
        struct.derived_names = texts(density.derived_names, keep)
        struct.derive = lib.gess_python_derive
    if density.blob_names:
        struct.blobs = len(density.blob_names)
        struct.blob_names = texts(density.blob_names, keep)
    if density.start is not None:
        struct.start = lib.gess_python_start


def new_model(density: Density, pointer: Optional[int] = None, user: int = 0) -> Model:
    """A model of a density of Python or, with `pointer`, of the address of a C function (gess_logp_fn)."""
    keep: List[Any] = []
    struct = ffi.new("gess_density *")
    fill(density, struct, keep)
    if pointer is None:
        handle = ffi.new_handle(density)
        keep.append(handle)
        struct.user, struct.message = handle, lib.gess_python_message
        if density.blob_names:
            struct.logp_blobs = lib.gess_python_blobs
        else:
            struct.logp = lib.gess_python_logp
            if density.device_batch is not None:
                struct.device_logp = lib.gess_python_device_logp
    else:
        struct.user, struct.logp = ffi.cast("void *", user), ffi.cast("gess_logp_fn *", pointer)
    model, err = ffi.new("gess_model **"), new_error()
    check(lib.gess_model_new(model, struct, err), err)
    return Model(model[0], keep, density)


def open_model(specification: str, data: "Optional[str | os.PathLike[str]]" = None) -> Model:
    """A built-in model by its name, or a plug-in by its path."""
    model, err = ffi.new("gess_model **"), new_error()
    path = ffi.NULL if data is None else ffi.new("char[]", encode_path(data))
    check(lib.gess_model_open(model, os.fsencode(specification), path, err), err)
    return Model(model[0])
