"""Many runs of one model."""
from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np

from . import _library
from ._errors import check, read_diagnostics
from ._library import library, text
from ._model import Model, Source, _request
from ._options import InputValue, Options, Value

Values = Union[str, float, Sequence, np.ndarray]


def _quoted(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _values_text(values: Values) -> str:
    if isinstance(values, str):
        return values
    return "{" + ",".join(repr(float(value)) for value in np.atleast_1d(np.asarray(values, dtype=float))) + "}"


def _list(items: Mapping[str, Any], value: Callable[[Any], str]) -> Any:
    """An array of texts that ends with NULL."""
    texts = [f"{_quoted(name)}={value(given)}".encode() for name, given in items.items()]
    return (ctypes.c_char_p * (len(texts) + 1))(*texts, None)


class Sweep(Mapping):
    """The table of a sweep: a mapping from the names of its columns to arrays with a value a point.

    `varied` and `outputs` are the names, `status` has 0 for a point that went well and the number of the error's class else, `causes` says
    why points failed.
    """

    def __init__(self, handle: int) -> None:
        names = [text(library.sweep_column_name(handle, c)) for c in range(library.sweep_columns(handle))]
        points, varied = library.sweep_points(handle), library.sweep_varied(handle)
        values = np.array([[library.sweep_value(handle, p, c) for c in range(len(names))] for p in range(points)])
        self._columns = {name: values[:, c] for c, name in enumerate(names)}
        self.varied, self.outputs = names[:varied], names[varied:]
        self.status = np.array([library.sweep_point_status(handle, p) for p in range(points)])
        self.causes = [text(library.sweep_point_cause(handle, p)) for p in range(points)]

    def __getitem__(self, name: str) -> np.ndarray:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def points(self) -> int:
        return len(self.status)

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame({**self._columns, "status": self.status, "cause": self.causes})

    def __repr__(self) -> str:
        return f"<daedal.Sweep of {self.points} points, {np.count_nonzero(self.status)} failed: {', '.join(self._columns)}>"


def sweep(source: Source, vary: Mapping[str, Values] | None = None, *, distributions: Mapping[str, str] | None = None,
          samples: int = 0, sampling: str = "sobol", seed: int = 0, outputs: str | Sequence[str] | None = None, threads: int = 0,
          trajectories: str | None = None, journal: str | None = None, resume: bool = False,
          parameters: Mapping[str, Value] | None = None, inputs: Mapping[str, InputValue] | str | None = None,
          progress: Callable[[float], Any] | None = None, class_name: str | None = None, **keywords: Any) -> Sweep:
    """Runs a model at all combinations of values and at samples of distributions, on all cores:

        daedal.sweep("pendulum.mo", {"L": np.linspace(1, 2, 11), "g": "log(1,100,50)"}, outputs=["x", "max(y)"])
        daedal.sweep("pendulum.mo", distributions={"L": "normal(1,0.1)"}, samples=1000, stop_time=10)

    Values are numbers or a text as `--vary` of the command takes it; the last name changes fastest. Keywords are those of daedal.simulate. A point that
    fails has NaN, its status and its cause. `journal` names a file for finished points, with which a later call with `resume` goes on.
    """
    model = source if isinstance(source, Model) else Model(source, class_name)
    options = Options(*_request(parameters, inputs, None, keywords))

    def watch(_context: Any, raw: Any) -> bool:
        try:
            if progress:
                progress(raw.contents.finished / max(raw.contents.points, 1))
        except BaseException as error:
            options.watch.error = error
        return options.watch.stops

    raw = _library.SweepOptions(size=ctypes.sizeof(_library.SweepOptions), vary=_list(vary or {}, _values_text),
                                distributions=_list(distributions or {}, str), samples=samples, sampling=sampling.encode(), seed=seed,
                                threads=threads, resume=resume, on_progress=_library.OnProgress(watch))
    if outputs is not None:
        raw.outputs = (outputs if isinstance(outputs, str) else ",".join(outputs)).encode()
    raw.trajectories = trajectories.encode() if trajectories else None
    raw.journal = journal.encode() if journal else None
    handle = library.sweep_make(model._handle, options.pointer, ctypes.byref(raw))
    if not handle:
        raise MemoryError("no memory for the sweep")
    try:
        with options.watch:
            status = library.sweep_execute(handle)
        options.raise_error()
        check(status, lambda: read_diagnostics(library.sweep_diagnostic_count(handle), lambda k: library.sweep_diagnostic(handle, k)))
        return Sweep(handle)
    finally:
        library.sweep_free(handle)
