"""Runs: the library's loop with callbacks and Control-C."""
from __future__ import annotations

import os
import signal
import threading
from typing import Any, Callable, Dict, List, Optional

import numpy as np

from gess._density import Model, view
from gess._library import STOPPED, Floats, Handle, check, encode_path, error_of, escaped, extern, fields, new_error
from gess._native import ffi, lib

OnDraw = Callable[[int, int, Floats], bool]  # first chain, first draw, rows[chain, draw, column]; True: stop


class Hooks:
    """What the library calls during a run."""

    def __init__(self) -> None:
        self.on_draw: Optional[OnDraw] = None
        self.on_progress: Optional[Callable[[Any, int], None]] = None
        self.exception: Optional[BaseException] = None


@extern
def gess_python_draw(user: Any, first_chain: int, chains: int, first_draw: int, draws: int, columns: int,
                     rows: Any) -> int:
    hooks: Hooks = ffi.from_handle(user)
    try:
        assert hooks.on_draw is not None
        return int(hooks.on_draw(first_chain, first_draw, view(rows, chains * draws * columns)
                                 .reshape(chains, draws, columns)))
    except BaseException as exception:  # noqa: B902: raised when the run has stopped
        hooks.exception = exception
        return 1


@extern
def gess_python_progress(user: Any, stats: Any, planned: int) -> int:
    hooks: Hooks = ffi.from_handle(user)
    try:
        assert hooks.on_progress is not None
        hooks.on_progress(stats, planned)
        return 0
    except BaseException as exception:  # noqa: B902
        hooks.exception = exception
        return 1


@extern
def gess_python_log(user: Any, line: Any) -> None:
    return None


_abandoned: "List[Run]" = []  # runs whose density never returned: their memory must stay


class Run:
    """A run of the library."""

    def __init__(self, model: Model, options: Handle, directory: "Optional[str | os.PathLike[str]]",
                 resume: bool = False, own_thread: bool = False, kill: Optional[Callable[[], None]] = None) -> None:
        """`own_thread`: calls that evaluate the density get a thread, so that the main thread can take signals. `kill` ends
        what a density waits for."""
        self.model = model
        self.hooks = Hooks()
        self._handle = ffi.new_handle(self.hooks)
        self.warmup_hooks = Hooks()
        self._warmup_handle = ffi.new_handle(self.warmup_hooks)
        self.interrupted = False
        self.own_thread = own_thread
        self.kill = kill
        self.handle: Any = None  # until the run has its starts
        pointer, err = ffi.new("gess_run **"), new_error()
        path = ffi.NULL if directory is None else ffi.new("char[]", encode_path(directory))
        begin = lib.gess_run_resume if resume else lib.gess_run_new
        if model.density is not None:
            model.density.forget_failure()
        status = self._call(lambda: begin(pointer, model.pointer, options.pointer, path, err),
                            lambda: lib.gess_run_free(pointer[0]))
        try:
            self._finish(status, err)
        except BaseException:
            if status == lib.GESS_OK:
                lib.gess_run_free(pointer[0])
            raise
        self.handle = Handle(pointer[0], lib.gess_run_free)

    def free(self) -> None:
        if not any(run is self for run in _abandoned):
            self.handle.free()

    def _finish(self, status: int, err: Any) -> int:
        """Raises what ended the run, unless it was a stop."""
        density = self.model.density
        exception = self.hooks.exception or self.warmup_hooks.exception
        if exception is None and density is not None:
            exception = density.exception
        if exception is None and escaped:
            exception = escaped[0]
        escaped.clear()
        if exception is not None and (status != lib.GESS_OK or isinstance(exception, KeyboardInterrupt)):
            at = None if density is None or density.no_start else error_of(status, err).point
            raise with_point(exception, at)
        if status != STOPPED:
            check(status, err)
        return status

    def on_draw(self, function: OnDraw) -> None:
        err = new_error()
        self.hooks.on_draw = function
        check(lib.gess_run_on_draw(self.handle.pointer, lib.gess_python_draw, self._handle, err), err)

    def on_warmup(self, function: OnDraw) -> None:
        err = new_error()
        self.warmup_hooks.on_draw = function
        check(lib.gess_run_on_warmup(self.handle.pointer, lib.gess_python_draw, self._warmup_handle, err), err)

    def on_progress(self, function: Callable[[Any, int], None]) -> None:
        err = new_error()
        self.hooks.on_progress = function
        check(lib.gess_run_on_progress(self.handle.pointer, lib.gess_python_progress, self._handle, err), err)

    def extend(self, draws: int) -> None:
        err = new_error()
        check(lib.gess_run_extend(self.handle.pointer, draws, err), err)

    def end_warmup(self) -> None:
        err = new_error()
        check(lib.gess_run_end_warmup(self.handle.pointer, err), err)

    def stats(self) -> Dict[str, Any]:
        stats, err = ffi.new("gess_stats *"), new_error()
        check(lib.gess_run_stats(self.handle.pointer, stats, ffi.sizeof("gess_stats"), err), err)
        return fields(stats, "gess_stats")

    def stop(self) -> None:
        lib.gess_stop(self.handle.pointer)

    def evidence(self, settings: Any) -> Any:
        """A handle of the evidence of a run that was opened to be resumed. Control-C ends it."""
        pointer, err = ffi.new("gess_evidence **"), new_error()
        size = ffi.sizeof("gess_evidence_settings")
        status = self._taking_signals(lambda: self._call(
            lambda: lib.gess_evidence_new(pointer, self.handle.pointer, settings, size, err)))
        if self._finish(status, err) == STOPPED:
            raise KeyboardInterrupt
        return pointer[0]

    def go(self) -> int:
        """Runs to the end or to a stop. In the main thread, Control-C stops the run and keeps its draws; a second one
        raises KeyboardInterrupt at once."""
        err = new_error()
        status = self._taking_signals(lambda: self._call(lambda: lib.gess_run_go(self.handle.pointer, err)))
        return self._finish(status, err)

    def _taking_signals(self, call: Callable[[], int]) -> int:
        """A call during which Control-C stops the run; only the main thread can take it."""
        if not in_main_thread():
            return call()
        before = signal.getsignal(signal.SIGINT)
        if before is not signal.default_int_handler:
            return call()
        signal.signal(signal.SIGINT, self._interrupt)
        try:
            return call()
        finally:
            signal.signal(signal.SIGINT, before)

    def _interrupt(self, number: int, frame: Any) -> None:
        if self.interrupted:
            signal.default_int_handler(number, frame)
        self.interrupted = True
        self.stop()

    def _call(self, call: Callable[[], int], undo: Callable[[], None] = lambda: None) -> int:
        """A call of the library that evaluates the density, in a thread of its own where that lets the main thread take
        signals. What a signal handler raises, such as KeyboardInterrupt, ends the call, or leaves one that does not end;
        `undo` follows it when it does."""
        if not self.own_thread or not in_main_thread():
            return call()
        outcome: List[int] = []
        given_up: List[bool] = []
        undone: List[bool] = []
        done = threading.Event()

        def body() -> None:
            try:
                outcome.append(call())
                if given_up:
                    undone.append(True)
                    undo()
            finally:
                done.set()

        try:
            threading.Thread(target=body, daemon=True).start()
            while not done.wait(1.0):
                pass
        except BaseException:
            given_up.append(True)
            self._give_up(done)
            if done.is_set() and not undone:  # it had ended before it was given up
                undo()
            raise
        return outcome[0]

    def _give_up(self, done: threading.Event) -> None:
        """Stops the run, unless that has been tried, ends worker processes, waits for a moment, and leaves a call that does
        not end."""
        if self.handle is not None and not self.interrupted:
            self.stop()
            done.wait(1.0)
        if self.kill is not None:
            self.kill()
        if not done.wait(1.0):
            _abandoned.append(self)


def in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def with_point(exception: BaseException, point: Optional[Floats]) -> BaseException:
    """An exception of a density with the point where it was raised: in a note, and as the attribute gess_point."""
    known = getattr(exception, "gess_point", None) is not None
    if point is not None and not known and not isinstance(exception, KeyboardInterrupt):
        note = f"gess: the density was evaluated at {np.array2string(point, threshold=20)}"
        if hasattr(exception, "add_note"):
            exception.add_note(note)
        else:
            notes = list(getattr(exception, "__notes__", []))
            setattr(exception, "__notes__", [*notes, note])  # noqa: B010
        exception.gess_point = point  # type: ignore[attr-defined]
    return exception
