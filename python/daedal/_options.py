"""Turns keywords into the options of the library."""
from __future__ import annotations

import ctypes
import math
import numbers
import operator
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, Union

import numpy as np

from . import _library
from ._errors import refuse
from ._library import encoded, name_list
from ._values import Array

Value = Union[float, int, bool, str, Sequence[Any], Array]
Function = Callable[[float], float]
"""An input: an expression of the language; one function of time or a tuple of it and its derivatives; a table (times, values), with
lines between its points, or a pandas series over the times; (times, values, "held"), whose values hold until the next time; None for an
input that the caller of a run sets."""
InputValue = Union[str, Function, tuple[Any, ...], None]
"""Inputs by name, or the path of a CSV file whose columns are inputs; (path, "held") for values that hold until the next time."""
Inputs = Union[Mapping[str, InputValue], str, "os.PathLike[str]", tuple[Any, str]]



class Event(NamedTuple):
    """An event of a run: `condition` as the model writes it, or what else made the event; the `value` that it has from then on, NaN where no
    condition made the event; `direction` is 1 where that value rises (false to true), -1 where it falls."""

    time: float
    condition: str
    value: float
    direction: int


class RunOptions(TypedDict, total=False):
    """The options of a run, for programs that keep them: `options: RunOptions = {"stop_time": 10}`, then `simulate(model, **options)`."""

    start_time: float
    stop_time: float
    tolerance: float
    output_interval: float
    max_step: float
    constraint_tolerance: float
    gradient_memory: float
    method: str
    solver: str
    start_values: str
    start_from: Union[str, tuple[str, float]]
    variables: Union[str, Sequence[str]]
    invariants: Union[str, Sequence[str]]
    sensitivity: Union[str, Sequence[str]]
    gradient: Union[str, tuple[str, str]]
    gradient_by: Union[str, Sequence[str]]
    compile: bool
    keep_superfluous: bool
    verify: bool
    propagation: bool
    no_event_rows: bool
    intervals: int
    segments: int
    baumgarte: tuple[float, float]
    t_eval: Union[Sequence[float], Array]
    absolute_tolerances: Mapping[str, float]
    on_event: Callable[[Event], Any]


_NUMBERS = ("start_time", "stop_time", "tolerance", "output_interval", "max_step", "constraint_tolerance", "gradient_memory")
_TEXTS = ("method", "solver", "start_values", "start_from", "gradient")
_LISTS = ("variables", "invariants", "sensitivity", "gradient_by")
_FLAGS = ("compile", "keep_superfluous", "verify", "propagation", "no_event_rows")
NAMES = tuple(RunOptions.__annotations__)

_BOOLEANS = (bool, np.bool_)
MOST_UINT32, MOST_UINT64 = 2**32 - 1, 2**64 - 1


# ---- values, refused by name ----

def real(name: str, value: Any) -> float:
    """A finite number."""
    if isinstance(value, (*_BOOLEANS, str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} is a number, not {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise refuse(f"{name} is too large: {value}") from None
    if not math.isfinite(number):
        raise refuse(f"{name} must be finite, not {number}")
    return number


def reals(name: str, values: Any) -> Array:
    """An array of numbers. Times, texts and complex numbers are refused, although numpy would convert them."""
    try:
        given = np.asarray(values)
        if given.dtype.kind in "biufO":
            return np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: an array of numbers is needed, not {values!r}") from None
    raise TypeError(f"{name}: an array of numbers is needed, not one of {given.dtype}")


def count(name: str, value: Any, least: int = 0, most: int = MOST_UINT32) -> int:
    """A whole number between two bounds."""
    if isinstance(value, _BOOLEANS):
        raise TypeError(f"{name} is a whole number, not {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {value!r}") from None
    if not least <= number <= most:
        raise refuse(f"{name} must be between {least} and {most}, not {number}")
    return number


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, _BOOLEANS):
        raise TypeError(f"{name} is True or False, not {value!r}")
    return bool(value)


def _is_single(written: str, stops: str) -> bool:
    """Is this a single item of a list in the library's notation? It must have no separator outside quotes and brackets, and all of these must be closed."""
    depth, quote, at = 0, "", 0
    while at < len(written):
        letter = written[at]
        if quote:
            at += letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "[({":
            depth += 1
        elif letter in "])}":
            depth -= 1
        if depth < 0 or (not depth and not quote and letter in stops):
            return False
        at += 1
    return not depth and not quote


def value_text(name: str, value: Value) -> str:
    """A value as the language writes it."""
    if isinstance(value, _BOOLEANS):
        return "true" if value else "false"
    if isinstance(value, (np.ndarray, Sequence)) and not isinstance(value, (str, bytes)) and np.ndim(value):
        return "{" + ",".join(value_text(name, v) for v in value) + "}"
    written = value if isinstance(value, str) else repr(value.item() if isinstance(value, (np.generic, np.ndarray)) else value)
    if not written.strip() or not _is_single(written, ","):
        raise refuse(f"the value of {name} is {written!r}, which is not one value; a text with commas needs double quotes inside")
    return written


def quoted(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the name of a parameter is a text, not {name!r}")
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def values(what: str, given: Mapping[str, float] | None) -> Any:
    """Numbers by name, as an array of structs."""
    if given is not None and not hasattr(given, "items"):
        raise TypeError(f"the {what}s are a mapping from names to numbers, not {given!r}")
    items = [_library.Value(encoded(name), real(f"the {what} of {name}", value)) for name, value in (given or {}).items()]
    return (_library.Value * len(items))(*items)


def overrides_text(values: Mapping[str, Value]) -> bytes:
    return encoded(",".join(f"{quoted(name)}={value_text(name, value)}" for name, value in values.items()))


# ---- interrupts ----

class Watch:
    """Called after each step: reports progress, and ends the run when the user interrupts it.

    An exception cannot pass through the library, so during a run in the main thread, a separate handler records an interrupt. `deliver` passes it to the previous handler when the result so far is available.
    """

    def __init__(self, progress: Callable[[float], Any] | None) -> None:
        self._progress = progress
        self._next = 0.0
        self._before: Any = None
        self._interrupt: tuple[int, Any] | None = None
        self.error: BaseException | None = None

    def _note(self, number: int, frame: Any) -> None:
        self._interrupt = (number, frame)

    def __enter__(self) -> None:
        self._before = None
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self._before = signal.signal(signal.SIGINT, self._note)

    def __exit__(self, *_error: Any) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def deliver(self, result: Any = None) -> None:
        """Raises the exception of a callback, or KeyboardInterrupt after an interrupt, with the part that was computed as its `result`."""
        try:
            error, self.error = self.error, None
            if error is not None:
                raise error
            interrupt, self._interrupt = self._interrupt, None
            if interrupt:
                self._before(*interrupt)
        except BaseException as error:
            try:
                error.result = result  # type: ignore[attr-defined]
            except AttributeError:
                pass
            raise

    def __call__(self, _context: Any, raw: Any) -> bool:
        try:
            now = time.monotonic()
            if self._progress and now >= self._next:
                self._next = now + 0.05
                at = raw.contents
                span = at.stop_time - at.start_time
                self._progress((at.time - at.start_time) / span if span else 1.0)
        except BaseException as error:
            self.error = error
        return self.stops

    @property
    def stops(self) -> bool:
        """Must the present run end?"""
        return self.error is not None or self._interrupt is not None


def _as_table(value: Any) -> Any:
    """A pandas series becomes its times and values; anything else is unchanged."""
    is_series = hasattr(value, "index") and hasattr(value, "to_numpy")
    return (value.index, value.to_numpy()) if is_series else value


# ---- the struct ----

class Options:
    """The struct of a call, and everything that it points to."""

    def __init__(self, parameters: Mapping[str, Value], inputs: Inputs | None,
                 progress: Callable[[float], Any] | None, options: Mapping[str, Any]) -> None:
        self._kept: list[Any] = []
        self.raw = _library.default_options()
        self.watch = Watch(progress)
        overrides = [self._override(name, value) for name, value in parameters.items()]
        self.raw.overrides, self.raw.override_count = (_library.Override * len(overrides))(*overrides), len(overrides)
        self.raw.no_event_rows = options.get("t_eval") is not None  # one row for each time, unless events are requested, too
        for name, value in options.items():
            if value is not None:
                self._set(name, value)
        self._set_inputs(inputs)
        if progress or threading.current_thread() is threading.main_thread():
            self.raw.on_step = _library.OnStep(self.watch)

    def _set(self, name: str, value: Any) -> None:
        if name == "start_from" and isinstance(value, tuple):
            value, self.raw.start_from_time = value[0], real("the time of start_from", value[1])
        if name == "gradient" and isinstance(value, tuple):
            if len(value) != 2 or value[0] != "integral":
                raise refuse(f"a gradient is that of a signal, 'x', or of ('integral', 'x'), not {value!r}")
            value, self.raw.gradient_of_integral = value[1], True
        if name in _TEXTS:
            value = encoded(str(value))
        elif name in _LISTS:
            value = name_list(value)
        elif name in _NUMBERS:
            value = real(name, value)
        elif name in _FLAGS:
            value = flag(name, value)
        elif name in ("intervals", "segments"):
            value = count(name, value, least=1)
        elif name == "t_eval":
            self._set_output_times(value)
            return
        elif name == "absolute_tolerances":
            self._kept.append(values("absolute tolerance", value))
            self.raw.absolute_tolerances, self.raw.absolute_tolerance_count = self._kept[-1], len(value)
            return
        elif name == "on_event":
            self._set_on_event(value)
            return
        elif name == "baumgarte":
            alpha, beta = value
            self.raw.baumgarte_alpha, self.raw.baumgarte_beta = real("alpha of baumgarte", alpha), real("beta of baumgarte", beta)
            return
        setattr(self.raw, name, value)

    @staticmethod
    def _override(name: str, value: Value) -> _library.Override:
        if not isinstance(name, str):
            raise TypeError(f"the name of a parameter is a text, not {name!r}")
        return _library.Override(encoded(name), 0, encoded(value_text(name, value)))

    def _set_on_event(self, function: Any) -> None:
        if not callable(function):
            raise TypeError(f"on_event is a function of an event, not {function!r}")

        def call(_context: Any, raw: Any) -> bool:
            try:
                at = raw.contents
                return bool(function(Event(at.time, at.condition.decode(), at.value, at.direction)))
            except BaseException as error:
                self.watch.error = error
                return True

        self.raw.on_event = _library.OnEvent(call)

    def _set_output_times(self, value: Any) -> None:
        times = reals("t_eval", value)
        if times.ndim != 1 or not len(times) or not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0):
            raise refuse("t_eval is an array of times, each later than the one before")
        self._kept.append(times)
        self.raw.output_times = times.ctypes.data_as(_library.Doubles)
        self.raw.output_time_count = count("the length of t_eval", len(times))
        if math.isnan(self.raw.stop_time):
            self.raw.stop_time = times[-1]

    def _set_inputs(self, inputs: Inputs | None) -> None:
        if inputs is None:
            return
        held = isinstance(inputs, tuple) and len(inputs) == 2 and inputs[1] == "held"
        path: Any = inputs[0] if held and isinstance(inputs, tuple) else inputs
        if isinstance(path, (str, os.PathLike)):
            given = [_library.Input(file=encoded(os.fsencode(path)), held=held)]
        elif hasattr(path, "keys") and all(isinstance(name, str) for name in path.keys()):
            times = path["time"] if "time" in path.keys() else None
            given = [self._input(name, _as_table(path[name]) if times is None else (times, path[name])) for name in path.keys() if name != "time"]
        else:
            raise TypeError(f"inputs are a mapping from names, or the path of a file, not {inputs!r}")
        self._kept.append((_library.Input * len(given))(*given))
        self.raw.inputs, self.raw.input_count = self._kept[-1], len(given)

    def _input(self, name: str, value: Any) -> _library.Input:
        if not name.strip():
            raise refuse(f"{name!r} is no name of an input")
        if value is None:
            return _library.Input(name=encoded(name))
        if isinstance(value, (str, numbers.Real, np.bool_)):
            if not isinstance(value, (str, *_BOOLEANS)):
                value = real(f"the input {name}", value)
            return _library.Input(name=encoded(name), expression=encoded(value_text(name, value)))
        if callable(value):
            value = (value,)
        try:
            parts = tuple(value)
        except TypeError:
            raise TypeError(f"the input {name} is an expression, a function or a table, not {value!r}") from None
        if parts and all(callable(part) for part in parts):
            return self._function(name, parts)
        held = len(parts) == 3 and isinstance(parts[2], str) and parts[2] == "held"
        if len(parts) != 2 + held:
            raise refuse(f"the table of the input {name!r} is a pair: times, values")
        parts = parts[:2]
        times, values = (reals(f"the table of the input {name!r}", part) for part in parts)
        if times.shape != values.shape or times.ndim != 1 or not times.size:
            raise refuse(f"the table of the input {name!r} needs as many times as values, not the shapes {times.shape} and {values.shape}")
        self._kept += [times, values]
        pointers = [part.ctypes.data_as(_library.Doubles) for part in (times, values)]
        rows = count(f"the length of the table of the input {name!r}", len(times))
        return _library.Input(name=encoded(name), rows=rows, times=pointers[0], values=pointers[1], held=held)

    def _function(self, name: str, parts: tuple[Any, ...]) -> _library.Input:
        def call(_context: Any, at: float, order: int) -> float:
            try:
                return float(parts[order](at))
            except BaseException as error:
                self.watch.error = error
                return float("nan")

        function = _library.InputFunction(call)
        self._kept.append(function)
        return _library.Input(name=encoded(name), value=function, orders=len(parts) - 1)

    @property
    def pointer(self) -> Any:
        return ctypes.byref(self.raw)
