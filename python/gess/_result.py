"""The result of a run: draws, summary, verdict, report, plots, conversions."""
from __future__ import annotations

import html
import math
import os
import warnings
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from gess._library import (Floats, Handle, UsageError, check, encode_path, fields, keywords, new_error, read_config,
                           take_text, text)
from gess._native import ffi, lib
from gess._watch import watch

if TYPE_CHECKING:
    from gess._sample import Target

Path = Union[str, "os.PathLike[str]"]


# Of a run without draws, which has no summary.json, progress.json has these.
COSTS = ("iterations", "evals", "evals_sampling", "updates", "failures", "nans", "crashes", "seconds")


class Store(NamedTuple):
    """The draws of a run as they are stored."""

    values: Floats  # (chains, draws, columns): lp__, parameters, derived quantities, blobs
    names: List[str]
    dim: int


def read_draws(directory: str) -> Store:
    pointer, err = ffi.new("gess_draws **"), new_error()
    check(lib.gess_draws_open(pointer, encode_path(directory), err), err)
    handle = Handle(pointer[0], lib.gess_draws_close)
    shape = ffi.new("gess_draws_shape *")
    check(lib.gess_draws_info(handle.pointer, shape, ffi.sizeof("gess_draws_shape"), err), err)
    names = []
    for column in range(shape.columns):
        name = ffi.new("char **")
        check(lib.gess_draws_name(handle.pointer, column, name, err), err)
        names.append(take_text(name))
    values = np.empty((shape.chains, shape.draws, shape.columns))
    for chain in range(shape.chains if shape.draws else 0):
        check(lib.gess_draws_read(handle.pointer, chain, 0, shape.draws, 0, shape.columns,
                                  ffi.from_buffer("double[]", values[chain]), err), err)
    dim = shape.dim or len(names) - (names[:1] == ["lp__"])
    handle.free()
    return Store(values, names, dim)


def shown(row: Dict[str, float], figure: str) -> str:
    """A figure as the terminal's table has it: means and quantiles with the digits that the deviation calls for."""
    x, sd = row[figure], row["sd"]
    if not math.isfinite(x):
        return "NA"
    if figure.startswith("ess"):
        return f"{x:.0f}"
    if figure.startswith("r_hat"):
        return f"{x:.4f}"
    if figure in ("mean", "q5", "q50", "q95") and math.isfinite(sd) and 0.0 < sd < abs(x):
        digits = min(15, math.floor(math.log10(abs(x))) - math.floor(math.log10(sd)) + 3)
        if digits > 4:
            return f"{x:.{max(0, digits - 1 - math.floor(math.log10(abs(x))))}f}" if 1.0 <= abs(x) < 1e15 else f"{x:.{digits}g}"
    return f"{x:.4g}"


class Summary:
    """A table of figures, a row per parameter: mean, sd, quantiles, effective sample sizes, R-hat and more.

    summary["x1"]["mean"] is a figure, summary.column("r_hat") an array; print() and notebooks show the table.
    """

    SHOWN = ("mean", "sd", "mcse_mean", "q5", "q50", "q95", "ess_bulk", "ess_tail", "r_hat", "r_hat_nested")

    def __init__(self, pointer: Any) -> None:
        handle, err = Handle(pointer, lib.gess_summary_free), new_error()
        rows, figures, stats = ffi.new("size_t *"), ffi.new("gess_figures *"), ffi.new("gess_summary_stats *")
        check(lib.gess_summary_rows(handle.pointer, rows, err), err)
        self.names: List[str] = []
        self.figures: List[Dict[str, float]] = []
        for row in range(rows[0]):
            name = ffi.new("char **")
            check(lib.gess_summary_name(handle.pointer, row, name, err), err)
            check(lib.gess_summary_row(handle.pointer, row, figures, ffi.sizeof("gess_figures"), err), err)
            self.names.append(take_text(name))
            self.figures.append(fields(figures, "gess_figures"))
        check(lib.gess_summary_info(handle.pointer, stats, ffi.sizeof("gess_summary_stats"), err), err)
        self.stats: Dict[str, Any] = fields(stats, "gess_summary_stats")
        words = ffi.new("char **")
        check(lib.gess_summary_text(handle.pointer, lib.GESS_FORMAT_TEXT, 0, words, err), err)
        self._text = take_text(words)
        self._handle = handle

    def __getitem__(self, name: str) -> Dict[str, float]:
        try:
            return self.figures[self.names.index(name)]
        except ValueError:
            raise KeyError(f"{name!r}; the rows are {', '.join(self.names)}") from None

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def column(self, figure: str) -> Floats:
        """One figure of all rows."""
        if self.figures and figure not in self.figures[0]:
            raise KeyError(f"{figure!r}; the figures are {', '.join(self.figures[0])}")
        return np.array([row[figure] for row in self.figures])

    def to_pandas(self) -> Any:
        """The table as a DataFrame of pandas."""
        import pandas

        return pandas.DataFrame(self.figures, index=self.names)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("", *self.SHOWN))
        body = "".join(
            f"<tr><th>{html.escape(name)}</th>" + "".join(f"<td>{shown(row, key)}</td>" for key in self.SHOWN) + "</tr>"
            for name, row in zip(self.names, self.figures))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Finding(NamedTuple):
    """One thing that a verdict found: level is "note", "warning" or "failure"."""

    level: str
    code: str
    text: str
    advice: str


def read_finding(finding: Any) -> Finding:
    level = ("note", "warning", "failure")[finding.level]
    return Finding(level, text(finding.code), keywords(text(finding.text), "result"),
                   keywords(text(finding.advice), "result"))


class Verdict:
    """Whether a run can be trusted; it is true if so. print() shows why, and what to do."""

    def __init__(self, directory: str, summary: Optional[Summary]) -> None:
        pointer, err = ffi.new("gess_verdict **"), new_error()
        of = ffi.NULL if summary is None else summary._handle.pointer
        check(lib.gess_verdict_new(pointer, encode_path(directory), of, err), err)
        handle = Handle(pointer[0], lib.gess_verdict_free)
        result, finding = ffi.new("gess_verdict_result *"), ffi.new("gess_finding *")
        check(lib.gess_verdict_info(handle.pointer, result, ffi.sizeof("gess_verdict_result"), err), err)
        self.passed = bool(result.__getattribute__("pass"))
        self.least_ess, self.worst_rhat = float(result.least_ess), float(result.worst_rhat)
        self.findings: List[Finding] = []
        for index in range(result.findings):
            check(lib.gess_verdict_finding(handle.pointer, index, finding, ffi.sizeof("gess_finding"), err), err)
            self.findings.append(read_finding(finding))
        words = ffi.new("char **")
        check(lib.gess_verdict_text(handle.pointer, lib.GESS_FORMAT_TEXT, words, err), err)
        self._text = keywords(take_text(words), "result")

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


class Evidence:
    """The log of the integral of a density, with its standard error; it is true if it can be trusted.

    The fields of gess_evidence_result in <gess/draws.h> are attributes, NaN if they are not known: log_evidence, se,
    evals, second_log_evidence, k_hat, … `reasons` says why it is refused. print() shows all of it.
    """

    log_evidence: float
    se: float
    refused: bool

    def __init__(self, pointer: Any) -> None:
        self._handle, err = Handle(pointer, lib.gess_evidence_free), new_error()
        result, finding = ffi.new("gess_evidence_result *"), ffi.new("gess_finding *")
        check(lib.gess_evidence_info(self._handle.pointer, result, ffi.sizeof("gess_evidence_result"), err), err)
        self.figures: Dict[str, Any] = fields(result, "gess_evidence_result")
        self.reasons: List[Finding] = []
        for index in range(self.figures.pop("reasons")):
            check(lib.gess_evidence_reason(self._handle.pointer, index, finding, ffi.sizeof("gess_finding"), err), err)
            self.reasons.append(read_finding(finding))
        self.figures["refused"] = bool(self.figures["refused"])
        words = ffi.new("char **")
        check(lib.gess_evidence_text(self._handle.pointer, lib.GESS_FORMAT_TEXT, words, err), err)
        self._text = keywords(take_text(words), "result")

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["figures"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __bool__(self) -> bool:
        return not self.refused

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


def compare(*evidences: Evidence) -> str:
    """The log Bayes factors of two evidences or more against the best of them, in words.

    >>> import gess
    >>> wide = gess.sample(lambda x: -0.5 * float(x @ x) / 4, dim=2, seed=3)
    >>> narrow = gess.sample(lambda x: -0.5 * float(x @ x), dim=2, seed=3)
    >>> len(gess.compare(wide.evidence(), narrow.evidence())) > 0
    True
    """
    if len(evidences) < 2 or not all(isinstance(evidence, Evidence) for evidence in evidences):
        raise TypeError("compare() takes two evidences or more: compare(a.evidence(), b.evidence())")
    pointers = ffi.new("gess_evidence *[]", [evidence._handle.pointer for evidence in evidences])
    words, err = ffi.new("char **"), new_error()
    check(lib.gess_compare_text(len(evidences), pointers, lib.GESS_FORMAT_TEXT, words, err), err)
    return take_text(words)


class Result:
    """A run and its draws.

    draws: (chains, draws, dim), the parameters; log_prob: (chains, draws); result["name"]: (chains, draws) of a
    parameter, a derived quantity or a blob. They are views of one array, read once from the run directory.
    """

    def __init__(self, directory: Path, target: "Optional[Target]" = None, values: Optional[Dict[str, Any]] = None,
                 temporary: bool = False, stats: Optional[Dict[str, Any]] = None, stopped: bool = False) -> None:
        self.directory = os.fspath(directory)
        self.temporary = temporary
        self.stopped = stopped
        self._stats = stats
        self.before: Optional[Result] = None  # the result that this one continues, whose files it shares
        self._target = target
        self._values = values or {}
        self._store: Optional[Store] = None
        self._summary: Optional[Summary] = None

    def _read(self) -> Store:
        if self._store is None:
            self._store = read_draws(self.directory)
        return self._store

    @property
    def stats(self) -> Dict[str, Any]:
        """What the run cost and how it ended; of a run that was loaded, as much of it as its files have."""
        if self._stats is None:
            chains, draws, _ = self._read().values.shape
            self._stats = {name: value for name, value in watch(self.directory).figures.items() if name in COSTS}
            self._stats.update(chains=chains, draws=draws)
            known = dict(self.summary().stats) if draws else {}
            self._stats.update(known if known.pop("has_stats", 0) else {})
        return self._stats

    @property
    def names(self) -> List[str]:
        """Of the parameters."""
        store = self._read()
        return store.names[1 : 1 + store.dim]

    @property
    def draws(self) -> Floats:
        """The parameters, (chains, draws, dim)."""
        store = self._read()
        return store.values[:, :, 1 : 1 + store.dim]

    @property
    def log_prob(self) -> Floats:
        """The log densities, (chains, draws)."""
        return self._read().values[:, :, 0]

    @property
    def further_names(self) -> List[str]:
        """Of derived quantities and blobs."""
        store = self._read()
        return store.names[1 + store.dim :]

    @property
    def further(self) -> Floats:
        """Derived quantities and blobs, (chains, draws, their number)."""
        store = self._read()
        return store.values[:, :, 1 + store.dim :]

    def __getitem__(self, name: str) -> Floats:
        store = self._read()
        try:
            return store.values[:, :, store.names.index(name)]
        except ValueError:
            raise KeyError(f"{name!r}; the draws have {', '.join(store.names)}") from None

    def flat(self) -> Floats:
        """The draws of all chains, (chains × draws, dim).

        >>> import gess
        >>> gess.sample("gaussian:dim=2", chains=8, warmup=50, draws=30).flat().shape
        (240, 2)
        """
        return self.draws.reshape(-1, self._read().dim)

    def __repr__(self) -> str:
        chains, draws, _ = self._read().values.shape
        names = self.names[:6] + ["…"] * (len(self.names) > 6)
        stopped = ", stopped early" if self.stopped else ""
        return f"<gess.Result: {chains} chains of {draws} draws of {', '.join(names)} in {self.directory}{stopped}>"

    def __reduce__(self) -> Any:
        """A pickle has the path of the run directory, not its draws."""
        if self.temporary:
            raise TypeError("a result without a directory= cannot be pickled, since its files go with it: give gess.sample() "
                            "a directory=, or pickle result.draws")
        return load, (os.path.abspath(self.directory),)

    def summary(self, variables: Optional[str] = None) -> Summary:
        """Figures of every parameter. `variables` selects rows: patterns with * and ?, separated by commas.

        >>> import gess
        >>> result = gess.sample("funnel", chains=8, warmup=50, draws=30)
        >>> list(result.summary("v,x1"))
        ['v', 'x1']
        >>> bool(result.summary()["v"]["sd"] > 0)
        True
        """
        if variables is None and self._summary is not None:
            return self._summary
        pointer, err, settings = ffi.new("gess_summary **"), new_error(), ffi.new("gess_summary_settings *")
        patterns = ffi.NULL if variables is None else ffi.new("char[]", variables.encode())
        settings.variables = patterns
        check(lib.gess_summary_new(pointer, encode_path(self.directory), settings, ffi.sizeof("gess_summary_settings"),
                                   err), err)
        summary = Summary(pointer[0])
        if variables is None:
            self._summary = summary
        return summary

    def take_summary(self, run: Any) -> None:
        """Summarises a run that has returned, and writes summary.json, which has what the run cost."""
        if self.stats.get("draws", 0) == 0:
            return
        pointer, err = ffi.new("gess_summary **"), new_error()
        check(lib.gess_summary_new_run(pointer, run, ffi.NULL, 0, err), err)
        self._summary = Summary(pointer[0])
        check(lib.gess_summary_write(self._summary._handle.pointer, encode_path(self.directory), err), err)

    def diagnose(self) -> Verdict:
        """Whether the run can be trusted, and what to do if not.

        >>> import gess
        >>> bool(gess.sample("gaussian:dim=2").diagnose())
        True
        >>> bool(gess.sample("gaussian:dim=2", warmup=50, draws=2).diagnose())  # too few draws
        False
        """
        return Verdict(self.directory, self.summary())

    def evidence(self, target_error: float = 0.0, max_evals: int = 0, processes: Optional[int] = None,
                 model: Any = None, density: Optional[Dict[str, Any]] = None) -> Evidence:
        """The log evidence: the log of the integral of the density, for some thousand evaluations.

        target_error: the standard error to reach, 0.02 or what the run's options say by default; max_evals: at most so
        many evaluations. What was evaluated is kept in the run directory and not evaluated again. A run that
        gess.load() opened needs its function again, as for resume().

        >>> import gess, math
        >>> result = gess.sample(lambda x: -0.5 * float(x @ x), dim=2, seed=3)
        >>> evidence = result.evidence()
        >>> bool(evidence) and abs(evidence.log_evidence - math.log(2 * math.pi)) < 4.5 * evidence.se
        True
        """
        from gess import _sample

        settings = ffi.new("gess_evidence_settings *")
        settings.target_error, settings.max_evals = target_error, max_evals
        return _sample.find_evidence(self._find_target(model, density), self, settings, processes)

    def report(self, path: Optional[Path] = None) -> str:
        """Writes a page with plots for a browser, and returns its path. Without a path it is in the run directory, or in
        the present one if the run has no directory.

        >>> import gess, os, tempfile
        >>> result = gess.sample("gaussian:dim=2", warmup=50, draws=30)
        >>> os.path.basename(result.report(os.path.join(tempfile.mkdtemp(), "page.html")))
        'page.html'
        """
        if path is None and self.temporary:
            path = "report.html"
        written, err = ffi.new("char **"), new_error()
        to = ffi.NULL if path is None else ffi.new("char[]", encode_path(path))
        check(lib.gess_report(encode_path(self.directory), to, written, err), err)
        return take_text(written)

    def export(self, format: str, path: Optional[Path] = None, overwrite: bool = False) -> str:
        """Writes the draws for other programs ("csv", and others that the build has) and returns the path.

        >>> import gess, os, tempfile
        >>> result = gess.sample("gaussian:dim=2", chains=4, warmup=50, draws=30)
        >>> len(os.listdir(result.export("csv", os.path.join(tempfile.mkdtemp(), "csv"))))  # one file per chain
        4
        """
        result, err = ffi.new("gess_export_result *"), new_error()
        if path is None and self.temporary:
            raise UsageError("export() of a run without a directory needs a path")
        to = ffi.NULL if path is None else ffi.new("char[]", encode_path(path))
        try:
            check(lib.gess_export(encode_path(self.directory), format.encode(), to, int(overwrite), result,
                                  ffi.sizeof("gess_export_result"), err), err)
        except UsageError as error:
            hint = {"netcdf": "to_arviz().to_netcdf(path)", "emcee": "to_emcee()"}.get(format)
            if hint is None or " built without " not in str(error):
                raise
            raise UsageError(f"{error}. In Python there is {hint}") from None
        return text(result.path)

    def plot(self, kind: str = "corner", path: Optional[Path] = None, names: Union[str, Sequence[str], None] = None,
             truth: Union[Path, Mapping[str, float], None] = None, mean: bool = False, prior: bool = False) -> Any:
        """A figure: "corner", "trace", "forest" or "ranks".

        With a path it is that of `gess plot`, written as PDF, SVG or PNG, as the end of the path says, and the path is returned;
        nothing but the package is needed. Without a path it is a figure of matplotlib, to be changed by code.
        names: which parameters, a list of names or a text of patterns, "a1,theta*". truth: true values to mark, by name
        or in a file; mean: mean ± sd in place of the median with its 68 % interval; prior: prior densities, if the model
        gives its log prior apart. The last three need a path.

        >>> import gess, os, tempfile
        >>> result = gess.sample("gaussian:dim=2", warmup=50, draws=30)
        >>> os.path.basename(result.plot("corner", os.path.join(tempfile.mkdtemp(), "corner.pdf"), truth={"x1": 0.0}))
        'corner.pdf'
        """
        from gess import _plot

        if isinstance(path, (list, tuple)):
            raise TypeError(f"plot(): path= is {path!r}; names= chooses parameters")
        if path is not None:
            return _plot.write(self, kind, path, names, truth, mean, prior)
        if truth is not None or mean or prior:
            raise UsageError("plot() needs a path for truth=, mean= and prior=, such as plot(\"corner\", \"corner.pdf\")")
        return _plot.plot(self, kind, names)

    def resume(self, draws: Optional[int] = None, processes: Optional[int] = None, progress: Optional[bool] = None,
               model: Any = None, **settings: Any) -> "Result":
        """Continues a run that was stopped, or extends a complete one to `draws` draws per chain.

        The draws are those of a run that was never stopped. A run that gess.load() opened needs its function again:
        `model` is what gess.sample() was given, and density= a dict of the keywords that described it.

        >>> import gess
        >>> result = gess.sample(lambda x: -0.5 * float(x @ x), dim=2, chains=8, warmup=50, draws=30)
        >>> result.resume(draws=50).draws.shape
        (8, 50, 2)
        """
        from gess import _sample

        target = self._find_target(model, settings.pop("density", None))
        values = {"draws": draws, **settings}
        if values.get("threads") is None:
            values["threads"] = target.threads(processes)
        return _sample.resume_target(target, self, values, processes, progress)

    def _find_target(self, model: Any, density: Optional[Dict[str, Any]]) -> "Target":
        """The model of the run: given again, the one that it was made with, or the one that config.json names."""
        from gess import _sample

        if model is None and self._target is not None:
            return self._target
        specification, options = read_config(os.path.join(self.directory, "config.json"))
        if model is not None:
            return _sample.target_of(model, density or {}, specification)
        return _sample.open_target(specification, options)

    def to_arviz(self) -> Any:
        """The draws as ArviZ has them: InferenceData of ArviZ 0.x, a DataTree of 1.x.

        Quantities log_lik, log_lik[1], … are one variable of the group log_likelihood, for arviz.loo() and arviz.waic().
        """
        try:
            import arviz
        except ImportError:
            raise ImportError("to_arviz() needs ArviZ: pip install arviz") from None
        store = self._read()
        observed = [i for i, name in enumerate(store.names) if name == "log_lik" or name.startswith("log_lik[")]
        posterior = {name: store.values[:, :, i] for i, name in enumerate(store.names) if i > 0 and i not in observed}
        groups: Dict[str, Any] = {"posterior": posterior, "sample_stats": {"lp": self.log_prob}}
        if observed:
            groups["log_likelihood"] = {"log_lik": store.values[:, :, observed]}
        with warnings.catch_warnings():  # chains are many and short here
            warnings.filterwarnings("ignore", ".*chain dimension to be longer than draw")
            warnings.filterwarnings("ignore", ".*More chains .* than draws")
            if int(str(arviz.__version__).split(".")[0]) >= 1:
                return arviz.from_dict(groups)
            return arviz.from_dict(**groups)

    def to_emcee(self) -> Any:
        """The draws in a backend with emcee's interface: get_chain(), get_log_prob(), get_blobs(), …

        >>> import gess
        >>> gess.sample("gaussian:dim=2", chains=8, warmup=50, draws=30).to_emcee().get_chain(discard=10).shape
        (20, 8, 2)
        """
        from gess.emcee import Backend, State

        backend = Backend()
        values, dim = self._read().values, self._read().dim
        chains, draws = values.shape[:2]
        backend.reset(chains, dim)
        blobs = values[:, 0, 1 + dim :] if values.shape[2] > 1 + dim and draws else None
        backend.grow(draws, blobs)
        moved = np.ones(chains, dtype=bool)
        for i in range(draws):
            row = values[:, i]
            moved = np.any(row[:, 1 : 1 + dim] != values[:, i - 1, 1 : 1 + dim], axis=1) if i else moved
            backend.save_step(State(row[:, 1 : 1 + dim], row[:, 0], None if blobs is None else row[:, 1 + dim :]), moved)
        return backend


def load(directory: Path) -> Result:
    """Opens a run directory, whoever made it.

    >>> import gess, tempfile, os
    >>> folder = os.path.join(tempfile.mkdtemp(), "run")
    >>> _ = gess.sample("funnel", directory=folder, draws=50, warmup=50, seed=2)
    >>> gess.load(folder).draws.shape
    (64, 50, 10)
    """
    path = os.fspath(directory)
    if not os.path.isdir(path):
        raise UsageError(f"{path} is no run directory")
    result = Result(path)
    result._read()
    result.stopped = watch(path).state == "stopped"
    return result
