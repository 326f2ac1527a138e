"""Results: trajectories as NumPy arrays by name."""
from __future__ import annotations

import ctypes
import dataclasses
import html
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ._errors import Diagnostic, check, read_diagnostics, refuse
from ._library import Handle, JSON, Plot, Report, encoded, library, name_list, text
from ._options import Event
from ._values import Array, Picture, nearest

if TYPE_CHECKING:
    import pandas
    import xarray

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


if TYPE_CHECKING:
    _fact = property
else:
    def _fact(read: Callable[[Any], Any]) -> Any:
        """A property that is read from the library, or stored if the result was pickled."""
        def get(self: Any) -> Any:
            return self._facts[read.__name__] if self._handle is None else read(self)

        return property(get, doc=read.__doc__)


def _pair(pair: Any) -> tuple[str, str]:
    if isinstance(pair, str) or len(pair) != 2:
        raise refuse(f"a pair is two names, such as ('x', 'y') for a curve of y over x, not {pair!r}")
    return pair[0], pair[1]


class Signal(Array):
    """A column of a trajectory: an array with one value per row. Call it with a time, or an array of times, to get values with linear interpolation between rows; at an event, the values after it. A slice of it, such as `result["x"][100:200]`, is a signal of these rows. Calculations with it give arrays.

    >>> x = simulate("model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;")["x"]
    >>> round(x(0.5), 5), x([0, 1]).round(4).tolist()
    (0.60653, [1.0, 0.3679])
    """

    _times: Array | None = None

    @classmethod
    def _of(cls, values: Array, times: Array) -> Signal:
        signal = values.view(cls)
        signal._times = times
        return signal

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(key, slice) and self._times is not None and (key.step or 1) > 0:
            return Signal._of(found, self._times[key])
        return found.view(np.ndarray) if isinstance(found, Signal) else found

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if array.ndim == 0 else array.view(np.ndarray)

    def __call__(self, time: Any) -> Any:
        if self._times is None:
            raise refuse("this array is no longer a signal: its times are not known; take the values of a signal first, then calculate")
        asked, times, values = np.asarray(time, dtype=float), self._times, np.asarray(self)
        slack = 1e-12 * (abs(times[0]) + abs(times[-1])) if len(times) else 0.0
        if not len(times) or not np.all((asked >= times[0] - slack) & (asked <= times[-1] + slack)):
            span = f"from {times[0]:g} to {times[-1]:g}" if len(times) else "empty"
            raise refuse(f"the trajectory is {span}; it has no values at {time}")
        left = np.clip(np.searchsorted(times, asked, side="right") - 1, 0, len(times) - 1)
        right = np.minimum(left + 1, len(times) - 1)
        length = times[right] - times[left]
        part = np.clip((asked - times[left]) / np.where(length > 0, length, 1), 0, 1)
        part = part.reshape(part.shape + (1,) * (values.ndim - 1))
        found = np.where(part > 0, values[left] + part * (values[right] - values[left]), values[left])
        return float(found) if found.ndim == 0 else found


class Result(Mapping[str, Signal]):
    """A trajectory: `result["x"]` is a read-only array with one value per row, without a copy, and `result["x"](0.5)` the value at a time; `result["r"]` of an array
    r[1], r[2], ... has its own dimensions after the dimension of the rows. An event has two rows with the same time.

    A copy shares its memory, which does not change. Pickled, a result is its names, units, arrays, statistics and messages; an unpickled result can write CSV files but draw no pictures.
    """

    _FACTS = ("status", "diagnostics", "statistics", "certificate", "verify", "boundary", "pivots", "events", "functional", "gradient", "rows")

    def __init__(self, address: int, kept: Any = None) -> None:
        self._handle: Any = Handle(address, "a result")  # None if it was pickled
        self._kept = kept  # functions of inputs
        self._facts: dict[str, Any] = {}
        self._names: list[str] | None = None

    def __copy__(self) -> Result:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __deepcopy__(self, _memo: Any) -> Result:
        return self.__copy__()

    def __getstate__(self) -> dict[str, Any]:
        if self._handle is None:
            return self._facts
        facts = {name: getattr(self, name) for name in self._FACTS}
        facts["columns"] = {name: np.array(self[name]) for name in self.names}
        facts["units"] = {name: self.unit(name) for name in self.names}
        return facts

    def __setstate__(self, facts: dict[str, Any]) -> None:
        self._handle, self._kept, self._facts = None, None, facts
        self._names = list(facts["columns"])
        for column in facts["columns"].values():
            column.setflags(write=False)

    @_fact
    def rows(self) -> int:
        """The number of rows."""
        return self._handle.call(library.result_rows)

    @property
    def names(self) -> list[str]:
        """All signals; "time" is the first."""
        if self._names is None:
            count = self._handle.call(library.result_signals)
            self._names = [text(self._handle.call(library.result_name, s)) for s in range(count)]
        return self._names

    def _find(self, name: str) -> int:
        return self._handle.call(library.result_find, encoded(name))

    def _column(self, signal: int) -> Array:
        if self._handle is None:
            return self._facts["columns"][self.names[signal]]
        rows = self.rows
        if not rows:
            return np.empty(0)
        address = self._handle.call(library.result_values, signal)
        if not address:
            raise MemoryError("no memory for the trajectory")
        return np.asarray(_Column(self._handle, address, rows))

    def _array(self, name: str) -> Array:
        pattern = re.compile(re.escape(name) + r"\[([0-9,]+)\]$")
        elements = {}
        for signal, candidate in enumerate(self.names):
            match = pattern.match(candidate)
            if match:
                elements[tuple(int(k) - 1 for k in match[1].split(","))] = signal
        if not elements:
            raise KeyError(name + nearest(name, self.names))
        shape = tuple(max(index[d] for index in elements) + 1 for d in range(len(next(iter(elements)))))
        whole = np.full((self.rows, *shape), np.nan)
        for index, signal in elements.items():
            whole[(slice(None), *index)] = self._column(signal)
        return whole

    def __getitem__(self, name: str) -> Signal:
        if self._handle is None:
            signal = self.names.index(name) if name in self._facts["columns"] else _NONE
        else:
            signal = self._find(name)
        return Signal._of(self._array(name) if signal == _NONE else self._column(signal), self._column(0))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def time(self) -> Signal:
        return self["time"]

    def unit(self, name: str) -> str:
        """The unit of a signal; "" if it has none."""
        if self._handle is None:
            return self._facts["units"].get(name, "")
        return text(self._handle.call(library.result_unit, self._find(name)))

    def sensitivity(self, name: str, target: str) -> Array:
        """The derivative of a signal with respect to a parameter "L" or a start value "x.start" of the option `sensitivity`."""
        return self[f"der({name}, {target})"]

    @_fact
    def functional(self) -> float:
        """The value of the functional of `gradient=`; nan without one."""
        return self._handle.call(library.result_functional)

    @_fact
    def certificate(self) -> dict[str, Any]:
        """What is known of the run: "defect", how much its steps missed the equations inside, at most, in units of the tolerance; "events_complete", the part of the time on which no event was missed, and "unproven", the first
        spans [from, to] of the rest."""
        return json.loads(text(self._handle.call(library.report, Report.RUN, JSON)))["certificate"]

    @_fact
    def verify(self) -> dict[str, Any] | None:
        """For a run with `verify=True`: how it agrees with a second run, with another method at a hundredth of the tolerance. "digits" is the smallest number of equal digits, "variables" has the digits of each variable; "status" is "ok" if the second run was completed. Else None.

        >>> result = simulate("model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;", verify=True)
        >>> result.verify["solver"], result.verify["digits"] > 5
        ('radau', True)
        """
        return json.loads(text(self._handle.call(library.report, Report.RUN, JSON))).get("verify")

    @_fact
    def boundary(self) -> dict[str, Any] | None:
        """For a model with final equations, the solution: "found" (values by name), "conditions", "segments", "residual". Else None."""
        return json.loads(text(self._handle.call(library.report, Report.RUN, JSON))).get("boundary")

    @_fact
    def gradient(self) -> dict[str, float]:
        """The derivatives of the functional with respect to parameters "L" and start values "x.start"."""
        found = (self._handle.call(library.result_derivative, k) for k in range(self._handle.call(library.result_derivatives)))
        return {text(derivative.name): derivative.value for derivative in found}

    @property
    def end(self) -> dict[str, float]:
        """The values of the last row by name."""
        return {name: float(self[name][-1]) for name in self.names}

    def at(self, time: Any, names: str | Iterable[str] | None = None) -> Any:
        """Values at a time or at an array of times, with linear interpolation between rows; at an event, the values after it. For one name it returns a number or an array, for several names (default: all) a dict of them. Times outside of the run are refused.

        >>> result = simulate("model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;")
        >>> round(result.at(0.5, "x"), 5)
        0.60653
        >>> result.at([0, 1], ["x"])["x"].round(4).tolist()
        [1.0, 0.3679]
        """
        if names is None or not isinstance(names, str):
            return {name: self.at(time, name) for name in (self.names if names is None else names)}
        return self[names](time)

    def to_xarray(self) -> "xarray.Dataset":
        """All signals over the dimension time, with their units as attributes."""
        import xarray

        signals = {name: ("time", self[name], {"units": self.unit(name)}) for name in self.names if name != "time"}
        return xarray.Dataset(signals, coords={"time": ("time", self.time, {"units": "s"})})

    def to_pandas(self) -> "pandas.DataFrame":
        """All signals as columns, with time as the index."""
        import pandas

        columns = {name: self[name] for name in self.names if name != "time"}
        return pandas.DataFrame(columns, index=pandas.Index(self.time, name="time"))

    @_fact
    def statistics(self) -> Statistics:
        """The work of the run."""
        raw = self._handle.call(library.result_statistics)
        values = {field.name: getattr(raw, field.name) for field in dataclasses.fields(Statistics)}
        return Statistics(**{k: text(v) if v is None or isinstance(v, bytes) else v for k, v in values.items()})

    @_fact
    def pivots(self) -> list[tuple[float, str, str]]:
        """Exchanges of states: time, old state, new state."""
        count = self._handle.call(library.result_statistics).pivots
        raw = [self._handle.call(library.result_pivot, k) for k in range(count)]
        return [(pivot.time, text(pivot.state_out), text(pivot.state_in)) for pivot in raw]

    @_fact
    def events(self) -> list[Event]:
        """The events in the order of time, including the start if something happens there."""
        found: list[Event] = []
        while True:
            raw = self._handle.call(library.result_event, len(found))
            if raw.time != raw.time:
                return found
            found.append(Event(raw.time, text(raw.condition), raw.value, raw.direction))

    @_fact
    def status(self) -> int:
        """0 if the run was completed, otherwise the exit status of the command."""
        return self._handle.call(library.status_of)

    def _said(self, first: int) -> list[Diagnostic]:
        count = self._handle.call(library.diagnostic_count)
        return read_diagnostics(count, lambda k: self._handle.call(library.diagnostic_get, k), first)

    @_fact
    def diagnostics(self) -> list[Diagnostic]:
        """The messages about the run."""
        return self._said(0)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the trajectory; the path ends in .csv, .mat or .raw (for a result that was pickled, only .csv)."""
        if self._handle is None:
            self._write_csv(os.fspath(path))
            return
        before = self._handle.call(library.diagnostic_count)
        check(self._handle.call(library.save, encoded(os.fsencode(path))), lambda: self._said(before))

    def _write_csv(self, path: str) -> None:
        if not path.endswith(".csv"):
            raise refuse(f"a result that was pickled is written to a file that ends in .csv, not to {path!r}")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(",".join('"' + name.replace('"', '""') + '"' for name in self.names) + "\n")
            for row in zip(*(self[name] for name in self.names)):
                file.write(",".join(repr(float(value)) for value in row) + "\n")

    @overload
    def plot(self, variables: str | Sequence[str] | None = None, *, pairs: Sequence[tuple[str, str]] | None = None, log: str = "") -> Picture: ...

    @overload
    def plot(self, variables: str | Sequence[str] | None = None, *, pairs: Sequence[tuple[str, str]] | None = None, log: str = "", axes: Any) -> Any: ...

    def plot(self, variables: str | Sequence[str] | None = None, *, pairs: Sequence[tuple[str, str]] | None = None, log: str = "", axes: Any = None) -> Any:
        """An SVG picture, which Jupyter draws and `save` writes. variables: a name, the name of an array or a regular expression, or a list of them; without them the
        states. pairs: [("x", "y"), ("u", "v")], curves of y over x and of v over u instead. log: the logarithmic axes, "x", "y" or
        "xy". axes: axes of matplotlib, on which the named variables are drawn instead, or all that have derivatives; returns them."""
        if axes is not None:
            return self._draw(axes, variables, pairs, log)
        if self._handle is None:
            raise refuse("a result that was pickled draws no pictures; plot it where it was computed, or on axes of matplotlib")
        names = [encoded(name) for pair in pairs or () for name in _pair(pair)]
        asked = Plot(ctypes.sizeof(Plot), name_list(variables),
                     (ctypes.c_char_p * (len(names) + 1))(*names, None) if names else None, "x" in log, "y" in log)
        before = self._handle.call(library.diagnostic_count)
        picture = self._handle.call(library.draw, ctypes.byref(asked))
        check(0 if picture else 2, lambda: self._said(before))
        return Picture(text(picture))

    def _draw(self, axes: Any, variables: str | Sequence[str] | None, pairs: Sequence[tuple[str, str]] | None, log: str) -> Any:
        """The curves on axes of matplotlib."""
        names = [variables] if isinstance(variables, str) else variables or [name for name in self.names if f"der({name})" in self.names]
        for x, y in pairs or [("time", name) for name in names]:
            axes.plot(self[x], self[y], label=f"{y} over {x}" if pairs else y)
        axes.set_xscale("log" if "x" in log else "linear")
        axes.set_yscale("log" if "y" in log else "linear")
        axes.set_xlabel("time" if not pairs else "")
        axes.legend()
        return axes

    def __repr__(self) -> str:
        return f"<daedal.Result: {len(self)} signals, {self.rows} rows, to time {self.statistics.end_time:g}>"

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
        picture = f"<div>{self.plot()}</div>" if self._handle is not None else ""
        return f"{picture}<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
