"""Arrays on a device, of the sampler's memory and of a framework's, by DLPack (dmlc.github.io/dlpack), without copies.

The structures are those of version 0 of DLPack, whose capsules every framework takes and gives.
"""
from __future__ import annotations

import ctypes
import threading
from typing import Any, Dict, Optional, Tuple

CPU, CUDA = 1, 2  # kinds of devices
kind = CUDA  # of the sampler's device; tests say CPU

LEGACY_STREAM = 1  # in the words of DLPack for CUDA: the stream in which the sampler works
FLOAT, BYTES = 2, 8


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_set_name = ctypes.pythonapi.PyCapsule_SetName
_set_name.restype, _set_name.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_NEW, _USED = b"dltensor", b"used_dltensor"  # they must outlive the capsules

_lock = threading.Lock()
_alive: Dict[int, Tuple[Any, ...]] = {}  # what capsules refer to, by the address of their structures


def _forget(managed: Any) -> None:
    with _lock:
        _alive.pop(ctypes.addressof(managed.contents), None)


_deleter = _Deleter(_forget)


class DeviceArray:
    """An (n, dim) array of doubles in the sampler's memory, which is valid during a call."""

    def __init__(self, address: int, shape: Tuple[int, ...], number: int) -> None:
        self.address, self.shape, self.device = address, shape, (kind, number)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
        """The points are there already when the density is called, whatever stream asks for them."""
        managed = _Managed()
        shape = (ctypes.c_int64 * len(self.shape))(*self.shape)
        managed.tensor = _Tensor(self.address, self.device[0], self.device[1], len(self.shape), FLOAT, 8 * BYTES, 1, shape,
                                 None, 0)
        managed.deleter = _deleter
        with _lock:
            _alive[ctypes.addressof(managed)] = (managed, shape, self)
        return _new_capsule(ctypes.addressof(managed), _NEW, None)


def view(arrays: str, array: DeviceArray) -> Any:
    """The array as one of a framework; as it is for "dlpack"."""
    if arrays == "torch":
        import torch

        return torch.from_dlpack(array)
    if arrays == "cupy":
        import cupy

        return cupy.from_dlpack(array)
    if arrays == "jax":
        import jax

        if not jax.config.jax_enable_x64:
            raise TypeError("JAX computes in single precision, and log densities need doubles: call "
                            "jax.config.update('jax_enable_x64', True) first")
        return jax.dlpack.from_dlpack(array)
    return array


def _plain(values: Any) -> Any:
    """Doubles in a row, by the means of the framework that made them."""
    if hasattr(values, "detach"):  # PyTorch
        return values.detach().double().contiguous()
    if str(values.dtype) != "float64":
        values = values.astype("float64")
    return values if type(values).__module__.startswith("jax") or "strides" not in dir(values) else _in_a_row(values)


def _in_a_row(values: Any) -> Any:
    return values if values.strides == (BYTES,) else values.copy()


def _driver_copy(to: int, source: int, count: int) -> None:
    driver = ctypes.CDLL("libcuda.so.1")
    status = driver.cuMemcpyDtoD_v2(ctypes.c_uint64(to), ctypes.c_uint64(source), ctypes.c_size_t(count))
    if status != 0:
        raise RuntimeError(f"the log densities cannot be copied on the GPU (error {status} of the driver)")


def take_values(values: Any, to: int, n: int, rows: int, number: int) -> None:
    """Copies the first n of the log densities of `rows` points to the sampler's memory on the device."""
    if not hasattr(values, "__dlpack__"):
        raise TypeError(f"the density returned {type(values).__name__}, not an array on the device of its argument")
    shape: Optional[Tuple[int, ...]] = tuple(values.shape) if hasattr(values, "shape") else None
    if shape is not None and shape != (rows,):
        raise ValueError(f"the density returned shape {shape} for an array of {rows} rows, not ({rows},)")
    if hasattr(values, "dtype"):
        values = _plain(values)
    if tuple(int(part) for part in values.__dlpack_device__()) != (kind, number):
        raise TypeError("the density returned an array that is not on the device of its argument; compute it there")
    capsule = values.__dlpack__(stream=LEGACY_STREAM) if kind == CUDA else values.__dlpack__()
    managed = ctypes.cast(_pointer_of(capsule, _NEW), ctypes.POINTER(_Managed)).contents
    tensor = managed.tensor
    try:
        if (tensor.code, tensor.bits, tensor.lanes, tensor.ndim) != (FLOAT, 8 * BYTES, 1, 1) or tensor.shape[0] != rows:
            raise TypeError(f"the density did not return {rows} numbers in double precision")
        source = tensor.data + tensor.byte_offset
        if kind == CUDA:
            _driver_copy(to, source, n * BYTES)
        else:
            ctypes.memmove(to, source, n * BYTES)
    finally:
        _set_name(capsule, _USED)
        if managed.deleter:
            managed.deleter(ctypes.byref(managed))


class DeviceBatch:
    """A vectorised function of arrays on a device, as the library calls it."""

    def __init__(self, function: Any, args: Any, kwargs: Any, arrays: str) -> None:
        self.function, self.args, self.kwargs, self.arrays = function, args, kwargs, arrays
        self.number = 0  # of the GPU
        self.largest = 0

    def rows(self, n: int) -> int:
        """How many points a call has: JAX compiles a function for every number of them, so there are few. There is room
        for the next power of two, and what stands there is ignored."""
        if self.arrays != "jax":
            return n
        self.largest = max(self.largest, n)
        return int(min(1 << (n - 1).bit_length(), self.largest))

    def __call__(self, n: int, dim: int, x: int, logp: int) -> None:
        rows = self.rows(n)
        points = view(self.arrays, DeviceArray(x, (rows, dim), self.number))
        take_values(self.function(points, *self.args, **self.kwargs), logp, n, rows, self.number)
