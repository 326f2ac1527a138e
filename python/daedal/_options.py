"""From keywords to the options of the library."""
from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

import numpy as np

from . import _library
from ._library import library

Value = Union[float, int, bool, str, Sequence, np.ndarray]
Function = Callable[[float], float]
"""An input: an expression of the language; one function of time or a tuple of it and its derivatives; a table (times, values), with
lines between its points; None for an input that the caller of a run sets."""
InputValue = Union[str, Function, tuple, None]

_NUMBERS = ("start_time", "stop_time", "tolerance", "output_interval", "max_step", "constraint_tolerance", "gradient_memory")
_TEXTS = ("method", "solver", "start_values", "start_from", "variables", "invariants", "sensitivity", "gradient", "gradient_by")
_OTHERS = ("intervals", "compile", "keep_superfluous", "baumgarte")
NAMES = (*_NUMBERS, *_TEXTS, *_OTHERS)


def value_text(value: Value) -> str:
    """A value as the language writes it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, (np.ndarray, Sequence)):
        return "{" + ",".join(value_text(v) for v in value) + "}"
    return repr(value.item() if isinstance(value, np.generic) else value)


def overrides_text(values: Mapping[str, Value]) -> bytes:
    quoted = ((name.replace("\\", "\\\\").replace("'", "\\'"), value_text(value)) for name, value in values.items())
    return ",".join(f"'{name}'={value}" for name, value in quoted).encode()


class _Watch:
    """Called after each step: tells of progress, and ends the run when the user interrupts it.

    An exception cannot pass through the library, so while a run is under way in the main thread a handler of its own notes an
    interrupt, and the one before has it afterwards.
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
        if self._before is None:
            return
        signal.signal(signal.SIGINT, self._before)
        interrupt, self._interrupt = self._interrupt, None
        if interrupt:
            self._before(*interrupt)

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
        """Is what is under way to end?"""
        return self.error is not None or self._interrupt is not None


class Options:
    """The struct of a call, and all that it points to."""

    def __init__(self, parameters: Mapping[str, Value], inputs: Mapping[str, InputValue] | str | None,
                 progress: Callable[[float], Any] | None, options: Mapping[str, Any]) -> None:
        self._kept: list[Any] = []
        self.raw = library.default_options()
        self.watch = _Watch(progress)
        if parameters:
            self.raw.overrides = overrides_text(parameters)
        for name, value in options.items():
            if value is not None:
                self._set(name, value)
        self._set_inputs(inputs)
        if progress or threading.current_thread() is threading.main_thread():
            self.raw.on_step = _library.OnStep(self.watch)

    def _set(self, name: str, value: Any) -> None:
        if name in ("sensitivity", "gradient_by") and not isinstance(value, str):
            value = ",".join(value)
        if name in _TEXTS:
            value = str(value).encode()
        elif name == "baumgarte":
            self.raw.baumgarte_alpha, self.raw.baumgarte_beta = value
            return
        setattr(self.raw, name, value)

    def _set_inputs(self, inputs: Mapping[str, InputValue] | str | None) -> None:
        if inputs is None:
            return
        if isinstance(inputs, str):
            self.raw.inputs = inputs.encode()
            return
        texts = [f"{name}={value}" if value is not None else name for name, value in inputs.items()
                 if value is None or isinstance(value, (str, int, float))]
        given = [self._input(name, value) for name, value in inputs.items()
                 if value is not None and not isinstance(value, (str, int, float))]
        if texts:
            self.raw.inputs = ",".join(texts).encode()
        if given:
            self._kept.append((_library.Input * len(given))(*given))
            self.raw.given_inputs = self._kept[-1]
            self.raw.given_input_count = len(given)

    def _input(self, name: str, value: Any) -> _library.Input:
        if callable(value):
            value = (value,)
        if all(callable(part) for part in value):
            return self._function(name, value)
        times, values = (np.ascontiguousarray(part, dtype=float) for part in value)
        if times.shape != values.shape or times.ndim != 1:
            raise ValueError(f"the table of the input {name!r} needs as many times as values")
        self._kept += [times, values]
        pointers = [part.ctypes.data_as(_library.Doubles) for part in (times, values)]
        return _library.Input(name=name.encode(), rows=len(times), times=pointers[0], values=pointers[1])

    def _function(self, name: str, parts: tuple) -> _library.Input:
        def call(_context: Any, at: float, order: int) -> float:
            try:
                return float(parts[order](at))
            except BaseException as error:
                self.watch.error = error
                return float("nan")

        function = _library.InputFunction(call)
        self._kept.append(function)
        return _library.Input(name=name.encode(), value=function, orders=len(parts) - 1)

    @property
    def pointer(self) -> Any:
        return ctypes.byref(self.raw)

    def raise_error(self) -> None:
        """Raises what a function of the caller's has raised inside of the library."""
        error, self.watch.error = self.watch.error, None
        if error is not None:
            raise error
