"""Worker processes that evaluate a density: points and values in shared memory, one process per thread of the run.

The library's worker w hands its points to process w and waits without the interpreter's lock. A pipe carries a number
each way; it ends when the process dies, so a dead worker is noticed at once.
"""
from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import struct
import sys
import threading
import traceback
from multiprocessing import resource_tracker
from typing import Any, List, Optional

import numpy as np

from gess._batch import Function
from gess._library import Floats, ModelError

# Libraries with threads of their own, which a fork does not copy: a child that uses them can wait for ever.
THREADED = ("jax", "torch", "cupy")
ROWS = 512  # points that the shared memory of a worker holds


class WorkerTraceback(Exception):
    """The traceback of a worker process, as the cause of the exception that it raised."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


class Share:
    """The memory that a worker process shares with the run."""

    def __init__(self, context: Any, dim: int, blobs: int) -> None:
        self.dim, self.width = dim, blobs
        self.memory = context.RawArray("d", ROWS * (dim + 1 + blobs))

    def arrays(self) -> "tuple[Floats, Floats, Optional[Floats]]":
        whole = np.frombuffer(self.memory, dtype=np.float64)
        points = whole[: ROWS * self.dim].reshape(ROWS, self.dim)
        logp = whole[ROWS * self.dim : ROWS * (self.dim + 1)]
        blobs = whole[ROWS * (self.dim + 1) :].reshape(ROWS, self.width) if self.width else None
        return points, logp, blobs


def load_function(payload: Any) -> Function:
    if isinstance(payload, bytes):
        function: Function = pickle.loads(payload)
        return function
    assert isinstance(payload, Function)
    return payload


def serve(payload: Any, share: Share, pipe: Any, close: List[Any]) -> None:
    """A worker process: evaluates as many points as the pipe says until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run decides what Control-C does
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for other in close:
        other.close()
    points, logp, blobs = share.arrays()
    function, failure = None, b""
    try:
        function = load_function(payload)
    except BaseException as exception:  # noqa: B902: the answer to every request
        failure = pack_exception(exception)
    while True:
        try:
            (n,) = struct.unpack("q", pipe.recv_bytes())
        except (EOFError, OSError):
            return
        try:
            answer = failure
            if function is not None:
                function(points[:n].copy(), logp[:n], None if blobs is None else blobs[:n])
        except BaseException as exception:  # noqa: B902: sent to the run
            answer = pack_exception(exception)
        try:
            pipe.send_bytes(answer or b"0")
        except (BrokenPipeError, OSError):
            return


def pack_exception(exception: BaseException) -> bytes:
    words = "".join(traceback.format_exception(type(exception), exception, exception.__traceback__))
    try:
        packed = pickle.dumps((exception, words))
        pickle.loads(packed)
        return packed
    except Exception:  # an exception that cannot be pickled goes as its text
        return pickle.dumps((ModelError(f"{type(exception).__name__}: {exception}"), words))


def choose_context(start_method: Optional[str]) -> Any:
    """fork if that is safe, spawn otherwise: a fork while other threads run can copy locks that nobody releases."""
    if start_method is None:
        alone = threading.active_count() == 1 and not any(name in sys.modules for name in THREADED)
        start_method = "fork" if alone else "spawn"
    if start_method not in multiprocessing.get_all_start_methods():
        raise ValueError(f"start_method= is {start_method!r}; give 'fork' or 'spawn'")
    return multiprocessing.get_context(start_method)


def pickle_function(function: Function) -> bytes:
    """The pickle of a function. What is defined in a session has no file that another process could import."""
    main = sys.modules.get("__main__")
    if getattr(function.function, "__module__", "") == "__main__" and not hasattr(main, "__file__"):
        raise pickle.PicklingError("it is defined in a session, not in a file")
    return pickle.dumps(function)


def pack_function(function: Function, context: Any) -> Any:
    """What is sent to a new process: the function itself for fork, its pickle otherwise."""
    if context.get_start_method() == "fork":
        return function
    try:
        return pickle_function(function)
    except Exception as exception:
        try:
            import cloudpickle
        except ImportError:
            raise TypeError(f"processes= starts processes by {context.get_start_method()}, which needs a function that "
                            f"can be pickled ({exception}): define it in a module, install cloudpickle, or, if no other "
                            "threads run, use start_method='fork'") from exception
        return cloudpickle.dumps(function)


class Workers:
    """Processes 0 … count − 1; `evaluate` is the batch function of a density."""

    def __init__(self, function: Function, count: int, dim: int, start_method: Optional[str] = None) -> None:
        context = choose_context(start_method)
        payload = pack_function(function, context)
        self.shares = [Share(context, dim, function.blobs) for _ in range(count)]
        self.arrays = [share.arrays() for share in self.shares]
        self.pipes: List[Any] = []
        self.processes: List[Any] = []
        forked = context.get_start_method() == "fork"
        self.spawned, self.answered = not forked, [False] * count
        if not forked:
            resource_tracker.ensure_running()  # its start would unblock the signal
        # blocked while processes start, which inherit that: Control-C must not hit one before it ignores it
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            for share in self.shares:
                ours, theirs = context.Pipe()
                close = [*self.pipes, ours] if forked else []
                process = context.Process(target=serve, args=(payload, share, theirs, close), daemon=True)
                self.pipes.append(ours)
                process.start()
                self.processes.append(process)
                theirs.close()
        except BaseException:
            self.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def evaluate(self, worker: int, points: Floats, logp: Floats, blobs: Optional[Floats]) -> None:
        their_points, their_logp, their_blobs = self.arrays[worker]
        for first in range(0, len(points), ROWS):
            n = min(ROWS, len(points) - first)
            their_points[:n] = points[first : first + n]
            self._ask(worker, n)
            logp[first : first + n] = their_logp[:n]
            if blobs is not None and their_blobs is not None:
                blobs[first : first + n] = their_blobs[:n]

    def _ask(self, worker: int, n: int) -> None:
        pipe = self.pipes[worker]
        try:
            pipe.send_bytes(struct.pack("q", n))
            answer = pipe.recv_bytes()
        except (EOFError, OSError):
            process = self.processes[worker]
            process.join(1.0)
            raise ModelError(self._end_of(worker, n)) from None
        self.answered[worker] = True
        if answer != b"0":
            exception, words = pickle.loads(answer)
            exception.__cause__ = WorkerTraceback(words)
            raise exception

    def _end_of(self, worker: int, n: int) -> str:
        """How a process ended that should have answered, and what may be done."""
        process = self.processes[worker]
        code = process.exitcode
        how = f"by signal {-code}" if code is not None and code < 0 else f"with status {code}"
        if code == 1 and self.spawned and not self.answered[worker]:
            return (f"worker process {process.pid} ended {how} before it evaluated anything. A spawned process imports the "
                    "script anew: what starts the run belongs below `if __name__ == \"__main__\":`. Its own message is above")
        more = "; if the system killed it, it may have run out of memory: use fewer processes" if code in (-9, -15) else ""
        return f"worker process {process.pid} ended {how} while it evaluated {n} point{'s' * (n > 1)}{more}"

    def close(self, patience: float = 0.5) -> None:
        """Ends the processes: at once if they wait, and by force if they do not end soon."""
        for pipe in self.pipes:
            pipe.close()
        for process in self.processes:
            process.join(patience)
            if process.is_alive():
                process.terminate()
                process.join(0.5)
            if process.is_alive():
                os.kill(process.pid, signal.SIGKILL)
                process.join()
