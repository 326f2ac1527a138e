"""Parameters from measurements."""
from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np

from . import _library
from ._errors import check, read_diagnostics, refuse, warn
from ._library import Handle, Report, TEXT, encoded, library, text
from ._model import Model, Source, _request
from ._options import Inputs, Options, count, real, reals, values
from ._values import Array, Picture, Values, html_report

Guess = Union[float, tuple[float, ...], None]


def _guess(name: str, guess: Guess) -> _library.Guess:
    parts = guess if isinstance(guess, tuple) else () if guess is None else (guess,)
    if len(parts) not in (0, 1, 3):
        raise refuse(f"the guess of {name} is a number or a tuple (guess, least, greatest)")
    numbers = [real(f"the guess of {name}", part) for part in parts] or [math.nan]
    if len(numbers) == 3 and not numbers[1] < numbers[2]:
        raise refuse(f"the guess of {name} is not within its bounds")
    return _library.Guess(encoded(name), *numbers)


def _csv(data: Any) -> bytes:
    """Data as CSV text, time first. Data is a mapping of arrays, or a frame; the time is its index unless it has a column `time`."""
    if "time" not in data.keys() and hasattr(data, "index") and not callable(data.index):
        data = {"time": data.index, **{name: data[name] for name in data.keys()}}
    if "time" not in data.keys():
        raise refuse("the data has no column 'time'")
    names = ["time", *(name for name in data.keys() if name != "time")]
    columns = [reals(f"the column {name!r}", data[name]) for name in names]
    for name, column in zip(names, columns):
        if column.shape != columns[0].shape or column.ndim != 1:
            raise refuse(f"the column {name!r} has the shape {column.shape}, time has {columns[0].shape}")
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    rows = (",".join(repr(float(value)) for value in row) for row in zip(*columns))
    return encoded("\n".join([header, *rows, ""]))


def _level(level: float) -> float:
    if not 0 < real("level", level) < 1:
        raise refuse(f"level must be between 0 and 1, not {level}")
    return level


class Estimate(Values):
    """The result of a fit: a mapping from the names of parameters to values.

    `errors` are their standard deviations, `intervals` are pairs of bounds, `at_bound` says which ended at a bound. `covariance` and `correlation` are matrices in the order of the
    names, `deviation` is the standard deviation of the residuals. `print` shows a table.
    """

    def __init__(self, handle: Handle) -> None:
        number = library.estimate_parameters(handle)
        found = [library.estimate_parameter(handle, k) for k in range(number)]
        self._values = {text(p.name): p.value for p in found}
        self.errors = {text(p.name): p.error for p in found}
        self.intervals = {text(p.name): (p.low, p.high) for p in found}
        self.at_bound = {text(p.name): p.at_bound for p in found}
        self.covariance = np.array([[library.estimate_covariance(handle, a, b) for b in range(number)] for a in range(number)])
        self.deviation = library.estimate_deviation(handle)
        self._text = text(library.report(handle, Report.FIT, TEXT))
        self._plot = text(library.draw(handle, None))

    @property
    def correlation(self) -> Array:
        errors = np.sqrt(np.diag(self.covariance))
        return self.covariance / np.outer(errors, errors)

    def plot(self) -> Picture:
        """Measurements, fit and residuals as SVG."""
        return Picture(self._plot)

    def _repr_html_(self) -> str:
        return html_report(self._text, self._plot)


def fit(source: Source, data: Any, parameters: Mapping[str, Guess] | Sequence[str], *, weights: Mapping[str, float] | None = None,
        deviations: Mapping[str, float] | None = None, level: float = 0.95, iterations: int = 100,
        overrides: Mapping[str, Any] | None = None, inputs: Inputs | None = None,
        class_name: str | None = None, **keywords: Any) -> Estimate:
    """Finds parameters and start values for which a model fits measurements best:

    >>> t = np.linspace(0, 1, 11)
    >>> text = "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;"
    >>> found = fit(text, {"time": t, "x": np.exp(-2*t)}, {"k": (1, 0, 10)})
    >>> round(found["k"], 6)
    2.0

    Data is a mapping of arrays with "time" among them, a pandas frame with time as a column or as its index, or the path of a file; NaN is a value that was not measured. A guess is a number, a tuple
    (guess, least, greatest), or None for the value in the model. A list of names, ["k"], uses the values in the model for all. Keywords are the options of daedal.simulate; `overrides` has values of other
    parameters. A parameter that the data does not determine gives a warning, and has the error NaN. The KeyboardInterrupt of an interrupt has the best values so far as its `result`.
    """
    model = source if isinstance(source, Model) else Model(source, class_name)
    options = Options(*_request(model, overrides, inputs, None, keywords))
    guessed = parameters if isinstance(parameters, Mapping) else dict.fromkeys([parameters] if isinstance(parameters, str) else parameters)
    guesses = [_guess(name, guess) for name, guess in guessed.items()]
    raw = _library.FitOptions(size=ctypes.sizeof(_library.FitOptions), parameters=(_library.Guess * len(guesses))(*guesses),
                              parameter_count=len(guesses), weights=values("weight", weights), weight_count=len(weights or {}),
                              deviations=values("deviation", deviations), deviation_count=len(deviations or {}),
                              level=_level(level), iterations=count("iterations", iterations, least=1))
    if isinstance(data, (str, os.PathLike)):
        raw.data = encoded(os.fsencode(data))
    else:
        raw.data_text = _csv(data)
    with options.watch:
        handle = Handle(library.fit(model._handle, options.pointer, ctypes.byref(raw)), "a fit")
    options.watch.deliver(Estimate(handle) if library.estimate_parameters(handle) else None)
    said = read_diagnostics(library.diagnostic_count(handle), lambda k: library.diagnostic_get(handle, k))
    check(library.status_of(handle), lambda: said)
    warn(said)
    return Estimate(handle)
