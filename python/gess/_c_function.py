"""C functions as densities: their addresses, and whether they have the signature of gess_logp_fn, as far as that is known."""
from __future__ import annotations

import sys
from typing import Any, Optional, Tuple

from gess._native import ffi

SIGNATURE = "int (void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)"
ARGUMENTS = 6


def check_signature(arguments: Optional[int], returns: Any, whole: bool) -> None:
    """Refuses a function of another signature, whose call would read or write memory that is not its own. `whole`: it
    returns a whole number."""
    if arguments in (None, ARGUMENTS) and whole:
        return
    takes = "" if arguments is None else f"takes {arguments} arguments and "
    raise TypeError(f"the C function {takes}returns {returns}; a density has the signature of gess_logp_fn in "
                    f"<gess/gess.h>: {SIGNATURE}")


def address_in_cffi(function: Any) -> int:
    kind = ffi.typeof(function)
    if kind.kind == "function":
        check_signature(len(kind.args), kind.result.cname, kind.result.cname in ("int", "int32_t", "long"))
    elif kind.cname != "void *":
        raise TypeError(f"{function!r} is no C function; a density has the signature {SIGNATURE}")
    return int(ffi.cast("uintptr_t", function))


def address_in_ctypes(function: Any) -> int:
    import ctypes

    arguments, returns = function.argtypes, function.restype
    whole = returns in (ctypes.c_int, ctypes.c_long, ctypes.c_int32, ctypes.c_int64)
    check_signature(None if arguments is None else len(arguments), getattr(returns, "__name__", "nothing"), whole)
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def address_in_capsule(capsule: Any) -> int:
    """Cython's capsules have the signature as their name: "int (void *, unsigned int, …)"."""
    import ctypes

    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = api.PyCapsule_GetName(capsule)
    returns, bracket, arguments = (name or b"").decode("utf-8", "replace").partition(" (")
    if bracket:
        none = arguments.strip() in (")", "void)")
        check_signature(0 if none else arguments.count(",") + 1, returns, returns in ("int", "int32_t", "long"))
    return int(api.PyCapsule_GetPointer(capsule, name))


def pointer_of_module(function: Any) -> Any:
    """The pointer behind `lib.function` of a module that cffi has compiled, which Python sees as a function of its own; None
    for any other."""
    module = sys.modules.get(str(getattr(function, "__module__", "")))
    lib, name = getattr(module, "lib", None), getattr(function, "__name__", "")
    if not type(lib).__module__.startswith("_cffi_backend"):
        return None
    return getattr(module, "ffi").addressof(lib, name) if getattr(lib, name, None) is function else None


def address_of(function: Any) -> Optional[Tuple[int, Any]]:
    """The address of a C function behind an object, and what to keep alive; None: it is none.

    numba's cfunc, function pointers of ctypes and cffi, capsules (Cython), LowLevelCallable of SciPy around one of these.
    """
    if type(function).__name__ == "LowLevelCallable":
        if function.user_data is not None:
            raise TypeError("a LowLevelCallable with user data: give their address as user=, and the function without them")
        return address_of(function.function)
    address = getattr(function, "address", None)
    if isinstance(address, int):
        signature = getattr(function, "_sig", None)  # numba
        if signature is not None:
            returns = str(signature.return_type)
            check_signature(len(signature.args), returns, returns in ("int32", "int64"))
        return address, function
    if type(function).__name__ == "builtin_function_or_method":
        function = pointer_of_module(function) or function
    if type(function).__module__.startswith("_cffi_backend"):
        return address_in_cffi(function), function
    if "ctypes" in sys.modules and type(function).__class__.__name__ == "PyCFuncPtrType":
        return address_in_ctypes(function), function
    if type(function).__name__ == "PyCapsule":
        return address_in_capsule(function), function
    return None
