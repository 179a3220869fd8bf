"""How far a run in a directory is: gess.watch()."""
from __future__ import annotations

import html
import json
import os
from typing import Any, Dict, Union

from gess._library import check, encode_path, new_error, take_text
from gess._native import ffi, lib

STATES = {
    lib.GESS_WATCH_WAITING: "waiting",
    lib.GESS_WATCH_RUNNING: "running",
    lib.GESS_WATCH_SILENT: "silent",
    lib.GESS_WATCH_GONE: "gone",
    lib.GESS_WATCH_STOPPED: "stopped",
    lib.GESS_WATCH_FINISHED: "finished",
    lib.GESS_WATCH_FAILED: "failed",
}


class Progress:
    """What `gess watch` says of a run at one moment; print() shows it.

    state: "waiting" (no run has begun), "running", "silent" (no sign of life for a minute), "gone" (its process has ended without
    a word), "stopped", "finished" or "failed". figures: everything else by name, such as figures["ess"].
    """

    def __init__(self, state: str, text: str, figures: Dict[str, Any]) -> None:
        self.state = state
        self.text = text
        self.figures = figures

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<gess.Progress: {self.state}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def watch(directory: "Union[str, os.PathLike[str]]") -> Progress:
    """How far the run in a directory is, as `gess watch --once` says it. It only reads, so the run may belong to another program
    or to a job on a cluster whose directory is mounted here.

    >>> import gess, os, tempfile
    >>> folder = os.path.join(tempfile.mkdtemp(), "run")
    >>> _ = gess.sample("gaussian:dim=2", directory=folder)
    >>> progress = gess.watch(folder)
    >>> progress.state, progress.figures["chains"]
    ('finished', 64)
    """
    state, words, err = ffi.new("int *"), ffi.new("char **"), new_error()
    check(lib.gess_watch_text(encode_path(directory), lib.GESS_FORMAT_TEXT, 0, 0.0, words, ffi.NULL, err), err)
    text = take_text(words)
    check(lib.gess_watch_text(encode_path(directory), lib.GESS_FORMAT_JSON, 0, 0.0, words, state, err), err)
    return Progress(STATES.get(int(state[0]), "running"), text, json.loads(take_text(words)))
