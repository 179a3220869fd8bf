"""The progress of a run: a bar and figures in a line of the terminal, or below the cell of a notebook."""
from __future__ import annotations

import html
import shutil
import sys
import time
from typing import Any, Optional

WIDTH = 20  # of the bar, in characters
SECONDS = 0.2  # between two lines


def share_done(stats: Any, planned: int, target_ess: float) -> Optional[float]:
    """How much of a run is done: of its iterations if they are planned, otherwise of its effective draws; None: not known."""
    if planned:
        return min(1.0, float(stats.iterations / planned))
    if stats.draws and stats.least_ess == stats.least_ess and target_ess > 0:
        return min(1.0, float(stats.least_ess / target_ess))
    return None


def describe(stats: Any, target_ess: float) -> str:
    """The figures of a run in words."""
    if stats.draws == 0:
        return f"warm-up: {stats.iterations:,} iterations, {stats.evals:,} evaluations"
    words = f"{stats.draws:,} draws per chain, {stats.evals:,} evaluations"
    if stats.least_ess == stats.least_ess:
        words += f", ESS {stats.least_ess:,.0f} of {target_ess:,.0f}, R-hat {stats.worst_rhat:.3f}"
    return words


class ProgressBar:
    """What shows the progress of a run now and then; a subclass writes it."""

    def __init__(self, target_ess: float) -> None:
        self.target_ess = target_ess
        self.next = 0.0

    def show(self, stats: Any, planned: int) -> None:
        now = time.monotonic()
        if now < self.next:
            return
        self.next = now + SECONDS
        self.write(share_done(stats, planned, self.target_ess), describe(stats, self.target_ess))

    def write(self, share: Optional[float], words: str) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class TerminalBar(ProgressBar):
    """A line on standard error that is written again and again, and is gone at the end."""

    def __init__(self, target_ess: float) -> None:
        super().__init__(target_ess)
        self.width = 0

    def write(self, share: Optional[float], words: str) -> None:
        bar = "" if share is None else f"[{'#' * int(WIDTH * share):.<{WIDTH}}] {100 * share:3.0f} %  "
        line = (bar + words)[: shutil.get_terminal_size().columns - 1]  # a line that wraps cannot be written again
        sys.stderr.write("\r" + line.ljust(self.width))
        sys.stderr.flush()
        self.width = len(line)

    def close(self) -> None:
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()


class NotebookBar(ProgressBar):
    """A bar below the cell, which is gone at the end."""

    def __init__(self, target_ess: float, display: Any) -> None:
        super().__init__(target_ess)
        self.display = display
        self.handle: Any = None

    def write(self, share: Optional[float], words: str) -> None:
        value = "" if share is None else f' value="{share:.3f}"'
        self.put(f'<progress max="1"{value}></progress> {html.escape(words)}', words)

    def put(self, page: str, words: str) -> None:
        data = {"text/html": page, "text/plain": words}
        if self.handle is None:
            self.handle = self.display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)

    def close(self) -> None:
        if self.handle is not None:
            self.put("", "")


def in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def new_bar(wanted: Optional[bool], target_ess: float) -> Optional[ProgressBar]:
    """By default a terminal and a notebook show the progress."""
    notebook = in_notebook()
    if not (sys.stderr is not None and sys.stderr.isatty() or notebook if wanted is None else wanted):
        return None
    if notebook:
        from IPython.display import display

        return NotebookBar(target_ess, display)
    return TerminalBar(target_ess)
