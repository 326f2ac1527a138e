"""Results: trajectories as NumPy arrays by name."""
from __future__ import annotations

import ctypes
import dataclasses
import html
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import Diagnostic, check, read_diagnostics
from ._library import Plot, library, text

if TYPE_CHECKING:
    import pandas

_NONE = 0xFFFFFFFF


@dataclasses.dataclass(frozen=True)
class Statistics:
    """The work of a run, as `daedal simulate` reports it."""

    method: str
    solver: str
    solver_reason: str
    equations: int
    states: int
    rows: int
    steps: int
    rejected: int
    factorizations: int
    events: int
    residual_evals: float
    output_evals: float
    jacobian_evals: float
    pivots: int
    constraint_residual: float
    constraint_time: float
    constraint_equation: str
    end_time: float
    seconds_parse: float
    seconds_structure: float
    seconds_code: float
    seconds_init: float
    seconds_integrate: float


class _Column:
    """Memory of a result, which it keeps alive, for NumPy."""

    def __init__(self, owner: Any, address: int, rows: int) -> None:
        self.owner = owner
        self.__array_interface__ = {"shape": (rows,), "typestr": "<f8", "data": (address, True), "version": 3}


class Result(Mapping):
    """A trajectory: `result["x"]` is a read-only array with one value a row, without a copy; `result["r"]` of an array r[1], r[2], ... has
    its dimensions behind the rows. At events there are two rows of one time."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._names: list[str] | None = None

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and library:
            library.result_free(self._handle)

    @property
    def names(self) -> list[str]:
        """All signals; "time" is the first."""
        if self._names is None:
            count = library.result_signals(self._handle)
            self._names = [text(library.result_name(self._handle, s)) for s in range(count)]
        return self._names

    def _column(self, signal: int) -> np.ndarray:
        rows = library.result_rows(self._handle)
        if not rows:
            return np.empty(0)
        address = library.result_values(self._handle, signal)
        if not address:
            raise MemoryError("no memory for the trajectory")
        return np.asarray(_Column(self, address, rows))

    def _array(self, name: str) -> np.ndarray:
        pattern = re.compile(re.escape(name) + r"\[([0-9,]+)\]$")
        elements = {}
        for signal, candidate in enumerate(self.names):
            match = pattern.match(candidate)
            if match:
                elements[tuple(int(k) - 1 for k in match[1].split(","))] = signal
        if not elements:
            raise KeyError(name)
        shape = tuple(max(index[d] for index in elements) + 1 for d in range(len(next(iter(elements)))))
        whole = np.full((library.result_rows(self._handle), *shape), np.nan)
        for index, signal in elements.items():
            whole[(slice(None), *index)] = self._column(signal)
        return whole

    def __getitem__(self, name: str) -> np.ndarray:
        signal = library.result_find(self._handle, name.encode())
        return self._array(name) if signal == _NONE else self._column(signal)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def time(self) -> np.ndarray:
        return self["time"]

    def unit(self, name: str) -> str:
        """The unit of a signal; "" if it has none."""
        return text(library.result_unit(self._handle, library.result_find(self._handle, name.encode())))

    def sensitivity(self, name: str, target: str) -> np.ndarray:
        """The derivative of a signal by a parameter "L" or a start value "x.start" that the run was asked for."""
        return self[f"der({name}, {target})"]

    @property
    def functional(self) -> float:
        """The value of what `gradient=` asked for; nan if it did not."""
        return library.result_functional(self._handle)

    @property
    def gradient(self) -> dict[str, float]:
        """The derivatives of the functional by parameters "L" and start values "x.start"."""
        found = (library.result_derivative(self._handle, k) for k in range(library.result_derivatives(self._handle)))
        return {text(derivative.name): derivative.value for derivative in found}

    @property
    def end(self) -> dict[str, float]:
        """The values of the last row by name."""
        return {name: float(self[name][-1]) for name in self.names}

    def to_pandas(self) -> "pandas.DataFrame":
        """All signals as columns, with time as the index."""
        import pandas

        columns = {name: self[name] for name in self.names if name != "time"}
        return pandas.DataFrame(columns, index=pandas.Index(self.time, name="time"))

    @property
    def statistics(self) -> Statistics:
        raw = library.result_statistics(self._handle)
        values = {field.name: getattr(raw, field.name) for field in dataclasses.fields(Statistics)}
        return Statistics(**{k: text(v) if v is None or isinstance(v, bytes) else v for k, v in values.items()})

    @property
    def pivots(self) -> list[tuple[float, str, str]]:
        """Exchanges of states: time, the one that left, the one that came."""
        raw = [library.result_pivot(self._handle, k) for k in range(library.result_statistics(self._handle).pivots)]
        return [(pivot.time, text(pivot.state_out), text(pivot.state_in)) for pivot in raw]

    @property
    def status(self) -> int:
        """0 if the run came to its end, else the exit status of the command."""
        return library.result_status(self._handle)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was said about the run."""
        count = library.result_diagnostic_count(self._handle)
        return read_diagnostics(count, lambda k: library.result_diagnostic(self._handle, k))

    def write(self, path: str | os.PathLike) -> None:
        """Writes the trajectory; the path ends in .csv or .mat."""
        check(library.result_write(self._handle, os.fspath(path).encode()), lambda: self.diagnostics)

    def plot(self, variables: str | None = None, *, pairs: str | None = None, log: str = "") -> str:
        """An SVG picture. variables: names, names of arrays and regular expressions, commas between; without them the
        states. pairs: "x,y; u,v", curves of one signal over another instead. log: the logarithmic axes, "x", "y" or
        "xy"."""
        asked = Plot(ctypes.sizeof(Plot), variables.encode() if variables else None, pairs.encode() if pairs else None,
                     "x" in log, "y" in log)
        picture = library.result_plot(self._handle, ctypes.byref(asked))
        check(0 if picture else 2, lambda: self.diagnostics)
        return text(picture)

    def __repr__(self) -> str:
        rows = library.result_rows(self._handle)
        return f"<daedal.Result: {len(self)} signals, {rows} rows, to time {library.result_statistics(self._handle).end_time:g}>"

    def _repr_html_(self) -> str:
        """A plot of the states, and a table with the range of each signal."""
        most = 50
        lines = []
        for name in self.names[1 : most + 1]:
            values = self[name]
            cells = [name, self.unit(name), *(f"{v:.6g}" for v in (values[0], values.min(), values.max(), values[-1]))] if len(values) else [name]
            lines.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
        if len(self) > most + 1:
            lines.append(f"<tr><td>and {len(self) - most - 1} more</td></tr>")
        head = "".join(f"<th>{title}</th>" for title in ("signal", "unit", "start", "least", "most", "end"))
        return f"<div>{self.plot()}</div><table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
