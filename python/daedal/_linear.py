"""Linear forms and steady states."""
from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._library import JSON, Report, TEXT, encoded, library, name_list, text
from ._model import Model, Source
from ._options import Inputs, Value
from ._result import Result
from ._values import Array, Picture, Values, html_report


class Linear:
    """dx' = A dx + B du, dz = C dx + D du near a point.

    `states`, `inputs` and `outputs` are names, `point` has the values of the states, `eigenvalues` are those of A, the slowest first.
    `print` shows a report of matrices and modes.
    """

    def __init__(self, result: Result) -> None:
        raw = result._handle.call(library.linear_get)
        names = ((raw.state_names, raw.states), (raw.input_names, raw.inputs), (raw.output_names, raw.outputs))
        self.states, self.inputs, self.outputs = ([text(listed[k]) for k in range(count)] for listed, count in names)
        self.time: float = raw.time
        self.point = self._numbers(raw.point, raw.states)
        self.A = self._matrix(raw.a, raw.states, raw.states)
        self.B = self._matrix(raw.b, raw.states, raw.inputs)
        self.C = self._matrix(raw.c, raw.outputs, raw.states)
        self.D = self._matrix(raw.d, raw.outputs, raw.inputs)
        self.eigenvalues = self._numbers(raw.eigenvalues_real, raw.states) + 1j * self._numbers(raw.eigenvalues_imaginary, raw.states)
        self._result: Result | None = result
        self._texts: dict[str, str] = {}

    @staticmethod
    def _numbers(pointer: Any, count: int) -> Array:
        return np.ctypeslib.as_array(pointer, (count,)).copy() if count else np.zeros(0)

    @classmethod
    def _matrix(cls, pointer: Any, rows: int, columns: int) -> Array:
        return cls._numbers(pointer, rows * columns).reshape((rows, columns), order="F")

    def bode(self) -> Picture:
        """The response of every output to every input over the frequency, as SVG."""
        return Picture(self._report("bode"))

    def _repr_html_(self) -> str:
        return html_report(str(self), self.bode() if self.inputs and self.outputs else "")

    def __str__(self) -> str:
        return self._report("text")

    def __repr__(self) -> str:
        return f"<daedal.Linear: {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs, at time {self.time:g}>"

    def _report(self, kind: str) -> str:
        if kind not in self._texts and self._result is not None:
            call = self._result._handle.call
            self._texts[kind] = text(call(library.draw, None) if kind == "bode" else call(library.report, Report.LINEAR, TEXT))
        return self._texts[kind]

    def __getstate__(self) -> dict[str, Any]:
        """The matrices and both reports, without the result that they come from."""
        for kind in ("bode", "text"):
            self._report(kind)
        return {**self.__dict__, "_result": None}


class Steady(Values):
    """A steady state: a mapping from variables to values.

    `linear` is the linear form there, `stability` "stable", "unstable" or "undecided", `way` the method that found it. `print` shows a report.
    """

    def __init__(self, result: Result) -> None:
        report = json.loads(text(result._handle.call(library.report, Report.STEADY, JSON)))
        self._values: dict[str, float] = {name: float(value) for name, value in report["values"].items()}
        self.stability: str = report["stability"]
        self.way: str = report["way"]
        self.linear = Linear(result)
        self._text = text(result._handle.call(library.report, Report.STEADY, TEXT))


def _model(source: Source) -> Model:
    return source if isinstance(source, Model) else Model(source)


def linearize(source: Source, parameters: Mapping[str, Value] | None = None, *, by: Iterable[str] | str | None = None,
              outputs: Iterable[str] | str | None = None, inputs: Inputs | None = None,
              **keywords: Any) -> Linear:
    """The linear form of a model at its initial values or, with stop_time, at that time of a run.

    `by` names the inputs of the form and `outputs` its outputs: by default they are those of the model. All other arguments are as for daedal.simulate.

    >>> text = "model M input Real u; Real x(start = 1, fixed = true); equation der(x) = u - 2*x; end M;"
    >>> form = linearize(text, u=0, outputs="x")
    >>> form.A.tolist(), form.B.tolist(), form.states
    ([[-2.0]], [[1.0]], ['x'])
    """
    call = lambda handle, options: library.linearize(handle, options, name_list(by), name_list(outputs))
    return Linear(_model(source)._result(call, parameters, inputs, None, keywords))


def steady(source: Source, parameters: Mapping[str, Value] | None = None, *, way: str | None = None,
           inputs: Inputs | None = None, **keywords: Any) -> Steady:
    """A steady state, found with `way` "newton", "homotopy" or "integration"; by default they are tried in this order.

    >>> state = steady("model M Real x(start = 1, fixed = true); equation der(x) = 6 - 2*x; end M;")
    >>> round(state["x"], 6), state.stability
    (3.0, 'stable')
    """
    call = lambda handle, options: library.steady(handle, options, encoded(way) if way else None)
    return Steady(_model(source)._result(call, parameters, inputs, None, keywords))
