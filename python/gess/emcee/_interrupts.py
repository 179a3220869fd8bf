"""Control-C while a step is stored."""
from __future__ import annotations

import contextlib
import signal
from typing import Any, Iterator, List

from gess._run import in_main_thread


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Control-C waits until a step is stored: a file would have half of it, and h5py's finalisers swallow KeyboardInterrupt."""
    if not in_main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    held: List[Any] = []
    signal.signal(signal.SIGINT, lambda number, frame: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if held:
        raise KeyboardInterrupt
