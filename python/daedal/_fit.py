"""Parameters from measurements."""
from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from typing import Any, Union

import numpy as np

from . import _library
from ._errors import check, read_diagnostics, warn
from ._library import library, text
from ._model import Model, Source, _request
from ._options import InputValue, Options
from ._values import Values

Guess = Union[float, tuple, None]


def _quoted(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _guess_text(guess: Guess) -> str:
    if guess is None:
        return ""
    return "=" + ":".join(repr(float(part)) for part in (guess if isinstance(guess, tuple) else (guess,)))


def _numbers_text(numbers: Mapping[str, float] | None) -> bytes | None:
    return ",".join(f"{_quoted(name)}={float(value)!r}" for name, value in numbers.items()).encode() if numbers else None


def _csv(data: Any) -> bytes:
    """A mapping of arrays, or a frame, as text; time comes first."""
    names = ["time", *(name for name in data.keys() if name != "time")]
    columns = [np.asarray(data[name], dtype=float) for name in names]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    rows = (",".join(repr(float(value)) for value in row) for row in zip(*columns))
    return "\n".join([header, *rows, ""]).encode()


class Estimate(Values):
    """What a fit has found: a mapping from the names of parameters to values.

    `errors` are their standard deviations, `intervals` pairs, `at_bound` whether they ended at one, `covariance` and `correlation` matrices in the order
    of the names, `deviation` that of the residuals. Printed, it is a table.
    """

    def __init__(self, handle: int) -> None:
        count = library.estimate_parameters(handle)
        found = [library.estimate_parameter(handle, k) for k in range(count)]
        self._values = {text(p.name): p.value for p in found}
        self.errors = {text(p.name): p.error for p in found}
        self.intervals = {text(p.name): (p.low, p.high) for p in found}
        self.at_bound = {text(p.name): p.at_bound for p in found}
        self.covariance = np.array([[library.estimate_covariance(handle, a, b) for b in range(count)] for a in range(count)])
        self.deviation = library.estimate_deviation(handle)
        self._text = text(library.estimate_text(handle))
        self._plot = text(library.estimate_plot(handle))

    @property
    def correlation(self) -> np.ndarray:
        errors = np.sqrt(np.diag(self.covariance))
        return self.covariance / np.outer(errors, errors)

    def plot(self) -> str:
        """Measurements, fit and residuals as SVG."""
        return self._plot

    def __repr__(self) -> str:
        return f"<daedal.Estimate {self._values}>"


def fit(source: Source, data: Any, parameters: Mapping[str, Guess], *, weights: Mapping[str, float] | None = None,
        deviations: Mapping[str, float] | None = None, level: float = 0.95, iterations: int = 100,
        overrides: Mapping[str, Any] | None = None, inputs: Mapping[str, InputValue] | str | None = None,
        class_name: str | None = None, **keywords: Any) -> Estimate:
    """Finds parameters and start values with which a model comes nearest to measurements:

        daedal.fit("crank.mo", {"time": t, "phi": phi}, {"J": 0.2, "m": (1, 0, 10), "w": None})

    Data is a mapping of arrays with "time" among them, a pandas frame, or the path of a file; NaN is a value that was not measured. A guess is a number, a tuple
    (guess, least, greatest), or None for the value that the model has. Keywords are the options of daedal.simulate; `overrides` has values of other
    parameters. What the data does not determine is a warning, and has NaN for its error.
    """
    model = source if isinstance(source, Model) else Model(source, class_name)
    options = Options(*_request(overrides, inputs, None, keywords))
    list_of_parameters = ",".join(_quoted(name) + _guess_text(guess) for name, guess in parameters.items())
    raw = _library.FitOptions(size=ctypes.sizeof(_library.FitOptions), parameters=list_of_parameters.encode(), weights=_numbers_text(weights),
                              deviations=_numbers_text(deviations), level=level, iterations=iterations)
    if isinstance(data, (str, os.PathLike)):
        raw.data = os.fsencode(data)
    else:
        raw.data_text = _csv(data)
    handle = library.fit(model._handle, options.pointer, ctypes.byref(raw))
    if not handle:
        raise MemoryError("no memory for the fit")
    try:
        options.raise_error()
        said = read_diagnostics(library.estimate_diagnostic_count(handle), lambda k: library.estimate_diagnostic(handle, k))
        check(library.estimate_status(handle), lambda: said)
        warn(said)
        return Estimate(handle)
    finally:
        library.estimate_free(handle)
