"""The library behind the package: statuses and errors, text, lists and options."""
from __future__ import annotations

import os
import re
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gess._native import ffi, lib

Floats = NDArray[np.float64]
F = TypeVar("F", bound=Callable[..., Any])


escaped: List[BaseException] = []  # exceptions that were raised around a callback, not in it


def extern(function: F) -> F:
    """Makes a function of Python one that the library calls by its name.

    Control-C can raise KeyboardInterrupt before the function's own try; then the library gets 1, for an error.
    """

    def note(kind: Any, value: BaseException, traceback: Any) -> None:
        escaped.append(value)

    if function.__annotations__["return"] == "int":
        ffi.def_extern(error=1, onerror=note)(function)
    else:
        ffi.def_extern(onerror=note)(function)
    return function


class Error(Exception):
    """What the library refused or could not do. `status` is the exit status that the command would have ended with."""

    status: int = 4

    def __init__(self, message: str, point: Optional[Floats] = None, chain: int = 0) -> None:
        super().__init__(message)
        self.point = point
        self.chain = chain


class UsageError(Error, ValueError):
    """An argument or an input that cannot be used."""

    status = 1


class ModelError(Error):
    """A model or its data that failed. `point` is where, if that is known."""

    status = 2


class InternalError(Error):
    """A mistake in gess, or no memory left."""

    status = 4


class FileError(Error, OSError):
    """A file that could not be read or written."""

    status = 5

    def __str__(self) -> str:
        return str(self.args[0])


_CLASSES = {1: UsageError, 2: ModelError, 4: InternalError, 5: FileError}
STOPPED: int = lib.GESS_ERR_STOPPED


def new_error() -> Any:
    return ffi.new("gess_error *")


def text(pointer: Any) -> str:
    """The text of a char pointer; empty for NULL."""
    if pointer == ffi.NULL:
        return ""
    value: bytes = ffi.string(pointer)
    return value.decode("utf-8", "replace")


def error_of(status: int, err: Any) -> Error:
    """The exception for a status that is not 0."""
    point = None
    if err.dim > 0:
        point = np.array([err.point[i] for i in range(min(err.dim, 64))])
    return _CLASSES.get(status, Error)(keywords(text(err.text)), point, int(err.chain))


def check(status: int, err: Any) -> None:
    if status != lib.GESS_OK:
        raise error_of(status, err)


def take_text(pointer: Any) -> str:
    """The text that a function of the library has allocated, which is released."""
    value = text(pointer[0])
    lib.gess_text_free(pointer[0])
    return value


def encode_path(path: "str | os.PathLike[str]") -> bytes:
    return os.fsencode(path)


class Entry(NamedTuple):
    """A row of a table of the library."""

    name: str
    help: str
    dimension: str
    unit: str
    value: str
    type: int
    choices: int


def entries(kind: int) -> List[Entry]:
    rows = []
    entry, err = ffi.new("gess_entry *"), new_error()
    for index in range(lib.gess_list_count(kind)):
        check(lib.gess_list(kind, index, entry, ffi.sizeof("gess_entry"), err), err)
        rows.append(Entry(text(entry.name), text(entry.help), text(entry.dimension), text(entry.unit), text(entry.value),
                          entry.type, entry.choices))
    return rows


def models() -> Dict[str, str]:
    """The built-in models and what each is.

    >>> import gess
    >>> "funnel" in gess.models()
    True
    """
    return {row.name: row.help for row in entries(lib.GESS_LIST_MODELS)}


def options() -> Dict[str, Entry]:
    """The options of a run by their keyword, from the table of the library.

    >>> import gess
    >>> gess.options()["chains"].value
    '64'
    """
    return {row.name.replace("-", "_"): row for row in entries(lib.GESS_LIST_OPTIONS)}


# Values that follow an option in texts of the library, where any other word goes on with the sentence.
_VALUE = r"(?: (FILE|DIR|N|\d+|annealed|auto|geometric|mh|none|off|outside|retry|stop|tuned)\b)?"


def keywords(words: str, result: str = "") -> str:
    """A text of the library with keywords in place of options, and calls in place of `gess resume` and `gess export`; other
    commands, which are in backquotes, stay as they are. `result` stands for the run in calls: by default it is loaded.

    >>> keywords("run again with --schedule annealed, or `gess resume DIR --draws 100`")
    "run again with schedule='annealed', or `gess.load('DIR').resume(draws=100)`"
    """
    known = {row.name: name for name, row in options().items()}
    known.update(init="starts", vars="variables")

    def call(found: "re.Match[str]") -> str:
        draws = "" if found[2] is None else f"draws={found[2]}"
        return f"`{result or f'gess.load({found[1]!r})'}.resume({draws})`"

    words = re.sub(r"`gess resume ([^` ]+)(?: --draws (\w+))?`", call, words)
    words = re.sub(r"(?:\bexport )?--to (\w+)", r"export('\1')", words)

    def keyword(found: "re.Match[str]") -> str:
        if found[1] is None or found[1] not in known:
            return found[0]
        value = "" if found[2] in (None, "FILE", "DIR", "N") else found[2]
        return f"{known[found[1]]}=" + (value if value == "" or value.isdigit() else f"'{value}'")

    return re.sub(r"`gess [^`]*`|--([a-z][a-z-]*[a-z])" + _VALUE, keyword, words.replace("with -o,", "with directory=,"))


def version() -> str:
    """The version of the library."""
    return text(lib.gess_version())


class Handle:
    """A handle of the library that is freed with the object."""

    def __init__(self, pointer: Any, free: Any) -> None:
        self.pointer = ffi.gc(pointer, free)

    def free(self) -> None:
        ffi.release(self.pointer)


def option_text(value: Any) -> bytes:
    """An option's value as the command line has it."""
    if isinstance(value, (bool, np.bool_)):
        return b"1" if value else b"0"
    if isinstance(value, (int, np.integer)):
        return str(int(value)).encode()
    if isinstance(value, (float, np.floating)):
        return repr(float(value)).encode()
    return os.fsencode(value)


def new_options(values: Mapping[str, Any]) -> Handle:
    """Options by keyword; None stands for the default."""
    pointer, err = ffi.new("gess_options **"), new_error()
    check(lib.gess_options_new(pointer, err), err)
    handle = Handle(pointer[0], lib.gess_options_free)
    set_options(handle, values)
    return handle


def set_options(handle: Handle, values: Mapping[str, Any]) -> None:
    err = new_error()
    known = options()
    for name, value in values.items():
        if name not in known:
            raise TypeError(f"sample() has no keyword and gess no option {name!r}; gess.options() lists the options")
        if value is not None:
            check(lib.gess_options_set(handle.pointer, known[name].name.encode(), option_text(value), err), err)


def read_config(path: str) -> Tuple[str, Handle]:
    """The model's specification and the options in a config.json."""
    pointer, err = ffi.new("gess_options **"), new_error()
    name = ffi.new("char[4096]")
    check(lib.gess_options_read(pointer, encode_path(path), name, 4096, err), err)
    return text(name), Handle(pointer[0], lib.gess_options_free)


def get_option(handle: Handle, name: str) -> str:
    value, err = ffi.new("char[4096]"), new_error()
    check(lib.gess_options_get(handle.pointer, name.encode(), value, 4096, err), err)
    return text(value)


def fields(struct: Any, kind: str) -> Dict[str, Any]:
    """The numbers and texts of a struct of the library."""
    out: Dict[str, Any] = {}
    for name, field in ffi.typeof(kind).fields:
        value = getattr(struct, name)
        out[name] = text(value) if field.type.kind == "array" else value
    return out
