"""The C library, called through ctypes: its structs and functions as include/daedal.h declares them.

Calls release the interpreter lock, so that several threads can run at the same time.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import enum
import math
import os
import pathlib
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any
from ctypes import POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p


class Place(Structure):
    _fields_ = [("path", c_char_p), ("line", c_uint32), ("column", c_uint32), ("length", c_uint32), ("text", c_char_p)]


class Note(Structure):
    _fields_ = [("message", c_char_p), ("place", Place)]


class Diagnostic(Structure):
    _fields_ = [("severity", c_int), ("status", c_int), ("message", c_char_p), ("place", Place),
                ("notes", POINTER(Note)), ("note_count", c_uint32), ("code", c_char_p)]


class LoadOptions(Structure):
    _fields_ = [("size", c_size_t), ("class_name", c_char_p), ("allocator", c_void_p), ("strict", c_bool), ("energy", c_bool),
                ("libraries", POINTER(c_char_p)), ("mna", c_char_p), ("modelica_path", c_char_p), ("units", c_bool),
                ("readable", c_char_p), ("memory_limit", c_uint64), ("work_limit", c_uint64), ("text_limit", c_uint64),
                ("boundary", c_char_p)]


class Variable(Structure):
    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("display_unit", c_char_p), ("description", c_char_p),
                ("kind", c_int), ("type", c_int), ("is_output", c_bool), ("is_structural", c_bool),
                ("array_length", c_uint32), ("dimensions", c_uint32)]


class Analysis(Structure):
    _fields_ = [("status", c_int), ("verdict", c_char_p), ("equations", c_uint32), ("variables", c_uint32),
                ("structural_index", c_int32), ("dof", c_int64), ("differentiations", c_int64),
                ("c", POINTER(c_int32)), ("d", POINTER(c_int32)), ("blocks", c_uint32), ("aliases", c_uint32)]


class Progress(Structure):
    _fields_ = [("time", c_double), ("start_time", c_double), ("stop_time", c_double), ("steps", c_uint64),
                ("csv_bytes", c_double)]


OnStep = ctypes.CFUNCTYPE(c_bool, c_void_p, POINTER(Progress))
InputFunction = ctypes.CFUNCTYPE(c_double, c_void_p, c_double, c_uint32)


class Value(Structure):
    _fields_ = [("name", c_char_p), ("value", c_double)]


class Override(Structure):
    _fields_ = [("name", c_char_p), ("value", c_double), ("text", c_char_p)]


class Output(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("time", c_double)]


class Axis(Structure):
    _fields_ = [("name", c_char_p), ("values", POINTER(c_double)), ("count", c_uint32)]


class Distribution(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_char_p), ("parameters", c_double * 3)]


class Guess(Structure):
    _fields_ = [("name", c_char_p), ("value", c_double), ("low", c_double), ("high", c_double)]


class Event(Structure):
    _fields_ = [("time", c_double), ("condition", c_char_p), ("value", c_double), ("direction", c_int32)]


OnEvent = ctypes.CFUNCTYPE(c_bool, c_void_p, POINTER(Event))


class Input(Structure):
    _fields_ = [("name", c_char_p), ("value", InputFunction), ("context", c_void_p), ("orders", c_uint32),
                ("rows", c_uint32), ("times", POINTER(c_double)), ("values", POINTER(c_double)), ("held", c_bool),
                ("expression", c_char_p), ("file", c_char_p)]


class Options(Structure):
    _fields_ = [("size", c_size_t), ("method", c_char_p), ("solver", c_char_p), ("start_time", c_double),
                ("stop_time", c_double), ("tolerance", c_double), ("output_interval", c_double),
                ("max_step", c_double), ("constraint_tolerance", c_double), ("intervals", c_uint32),
                ("overrides", POINTER(Override)), ("override_count", c_uint32), ("start_values", c_char_p), ("start_from", c_char_p),
                ("start_from_time", c_double), ("variables", POINTER(c_char_p)), ("baumgarte_alpha", c_double), ("baumgarte_beta", c_double),
                ("keep_superfluous", c_bool), ("invariants", POINTER(c_char_p)), ("compile", c_bool), ("on_step", OnStep),
                ("context", c_void_p), ("no_event_rows", c_bool), ("rank_tolerance", c_double),
                ("inputs", POINTER(Input)), ("input_count", c_uint32), ("input_size", c_size_t), ("plot_variables", POINTER(c_char_p)),
                ("open_inputs", c_bool), ("part_path", c_char_p), ("resumes", c_bool),
                ("output_times", POINTER(c_double)), ("output_time_count", c_uint32),
                ("sensitivity", POINTER(c_char_p)), ("gradient", c_char_p), ("gradient_of_integral", c_bool),
                ("gradient_by", POINTER(c_char_p)), ("gradient_memory", c_double),
                ("part_interval", c_double), ("segments", c_uint32), ("verify", c_bool), ("propagation", c_bool),
                ("leave_out_hidden", c_bool), ("short_numbers", c_bool),
                ("on_event", OnEvent), ("absolute_tolerances", POINTER(Value)), ("absolute_tolerance_count", c_uint32)]


class SweepProgress(Structure):
    _fields_ = [("points", c_uint32), ("finished", c_uint32), ("failed", c_uint32), ("resumed", c_uint32), ("seconds", c_double)]


OnProgress = ctypes.CFUNCTYPE(c_bool, c_void_p, POINTER(SweepProgress))


class SweepOptions(Structure):
    _fields_ = [("size", c_size_t), ("vary", POINTER(Axis)), ("vary_count", c_uint32),
                ("distributions", POINTER(Distribution)), ("distribution_count", c_uint32), ("samples", c_uint32),
                ("sampling", c_char_p), ("seed", c_uint64), ("outputs", POINTER(Output)), ("output_count", c_uint32), ("threads", c_uint32),
                ("trajectories", c_char_p), ("journal", c_char_p), ("resume", c_bool), ("keep_courses", c_bool),
                ("process", c_uint32), ("processes", c_uint32), ("on_progress", OnProgress), ("context", c_void_p)]


class FitOptions(Structure):
    _fields_ = [("size", c_size_t), ("data", c_char_p), ("data_text", c_char_p), ("parameters", POINTER(Guess)),
                ("parameter_count", c_uint32), ("weights", POINTER(Value)), ("weight_count", c_uint32),
                ("deviations", POINTER(Value)), ("deviation_count", c_uint32), ("level", c_double), ("iterations", c_uint32)]


class FitParameter(Structure):
    _fields_ = [("name", c_char_p), ("value", c_double), ("error", c_double), ("low", c_double), ("high", c_double), ("start", c_double),
                ("at_bound", c_bool)]


class Plot(Structure):
    _fields_ = [("size", c_size_t), ("variables", POINTER(c_char_p)), ("pairs", POINTER(c_char_p)), ("log_x", c_bool), ("log_y", c_bool),
                ("deviations", POINTER(Value)), ("deviation_count", c_uint32), ("width", c_uint32), ("height", c_uint32)]


class Derivative(Structure):
    _fields_ = [("name", c_char_p), ("value", c_double)]


class Linear(Structure):
    _fields_ = [("time", c_double), ("states", c_uint32), ("inputs", c_uint32), ("outputs", c_uint32),
                *((name, POINTER(c_char_p)) for name in ("state_names", "input_names", "output_names")),
                *((name, POINTER(c_double)) for name in ("point", "a", "b", "c", "d", "eigenvalues_real", "eigenvalues_imaginary"))]


class Pivot(Structure):
    _fields_ = [("time", c_double), ("state_out", c_char_p), ("state_in", c_char_p)]


class Statistics(Structure):
    _fields_ = [("method", c_char_p), ("solver", c_char_p), ("solver_reason", c_char_p), ("equations", c_uint32),
                ("states", c_uint32), ("rows", c_uint32), ("steps", c_uint64), ("rejected", c_uint64),
                ("factorizations", c_uint64), ("events", c_uint64), ("residual_evals", c_double),
                ("output_evals", c_double), ("jacobian_evals", c_double), ("pivots", c_uint32),
                ("constraint_residual", c_double), ("constraint_time", c_double), ("constraint_equation", c_char_p),
                ("end_time", c_double), ("seconds_parse", c_double), ("seconds_structure", c_double),
                ("seconds_code", c_double), ("seconds_init", c_double), ("seconds_integrate", c_double)]


Doubles = POINTER(c_double)


class Report(enum.IntEnum):
    """The kinds of reports: daedal_report_kind."""
    ANALYSIS, FLAT, RUN, INITIAL, START_VALUES, REDUCED, CHOICE, COMPARISON, LINEAR, STEADY, SWEEP, FIT, DIFFERENCE = range(13)


TEXT, JSON = range(2)  # daedal_format

# name: (result, arguments); every handle is a void pointer
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "export_fmu": (c_void_p, [c_void_p, c_char_p, c_int, c_char_p, POINTER(Options)]),
    "export_solver": (c_void_p, [c_void_p, c_char_p, POINTER(Options)]),
    "version": (c_char_p, []),
    "load": (c_void_p, [c_char_p, c_char_p, c_size_t, POINTER(LoadOptions)]),
    "model_name": (c_char_p, [c_void_p]),
    "model_text": (c_char_p, [c_void_p]),
    "free": (None, [c_void_p]),
    "status_of": (c_int, [c_void_p]),
    "report": (c_char_p, [c_void_p, c_int, c_int]),
    "draw": (c_char_p, [c_void_p, POINTER(Plot)]),
    "save": (c_int, [c_void_p, c_char_p]),
    "diagnostic_count": (c_uint32, [c_void_p]),
    "diagnostic_get": (Diagnostic, [c_void_p, c_uint32]),
    "variable_count": (c_uint32, [c_void_p]),
    "variable_get": (Variable, [c_void_p, c_uint32]),
    "variable_find": (c_uint32, [c_void_p, c_char_p]),
    "array_sizes": (c_uint32, [c_void_p, c_char_p, POINTER(c_uint32), c_uint32]),
    "analyze": (Analysis, [c_void_p]),
    "compare": (c_void_p, [c_void_p, POINTER(Options), POINTER(c_char_p), POINTER(c_char_p)]),
    "simulate": (c_void_p, [c_void_p, POINTER(Options)]),
    "initialize": (c_void_p, [c_void_p, POINTER(Options)]),
    "result_statistics": (Statistics, [c_void_p]),
    "result_event": (Event, [c_void_p, c_uint32]),
    "result_pivot": (Pivot, [c_void_p, c_uint32]),
    "result_signals": (c_uint32, [c_void_p]),
    "result_rows": (c_uint32, [c_void_p]),
    "result_name": (c_char_p, [c_void_p, c_uint32]),
    "result_unit": (c_char_p, [c_void_p, c_uint32]),
    "result_values": (c_void_p, [c_void_p, c_uint32]),
    "result_find": (c_uint32, [c_void_p, c_char_p]),
    "result_functional": (c_double, [c_void_p]),
    "result_derivatives": (c_uint32, [c_void_p]),
    "result_derivative": (Derivative, [c_void_p, c_uint32]),
    "linearize": (c_void_p, [c_void_p, POINTER(Options), POINTER(c_char_p), POINTER(c_char_p)]),
    "linear_get": (Linear, [c_void_p]),
    "steady": (c_void_p, [c_void_p, POINTER(Options), c_char_p]),
    "plan_make": (c_void_p, [c_void_p, POINTER(Options)]),
    "plan_model": (c_void_p, [c_void_p]),
    "run_make": (c_void_p, [c_void_p]),
    "run_set": (c_int, [c_void_p, c_char_p, c_double]),
    "run_set_value": (c_int, [c_void_p, c_uint32, c_double]),
    "run_execute": (c_int, [c_void_p]),
    "run_result": (c_void_p, [c_void_p]),
    "run_take_result": (c_void_p, [c_void_p]),
    "run_start": (c_int, [c_void_p]),
    "run_advance": (c_int, [c_void_p, c_double]),
    "run_step": (c_int, [c_void_p]),
    "run_time": (c_double, [c_void_p]),
    "run_ended": (c_bool, [c_void_p]),
    "run_values": (Doubles, [c_void_p]),
    "run_derivatives": (Doubles, [c_void_p]),
    "run_interpolate": (c_int, [c_void_p, c_double, Doubles]),
    "run_save": (c_void_p, [c_void_p]),
    "run_restore": (c_int, [c_void_p, c_void_p]),
    "state_free": (None, [c_void_p, c_void_p]),
    "run_clone": (c_void_p, [c_void_p]),
    "sweep_make": (c_void_p, [c_void_p, POINTER(Options), POINTER(SweepOptions)]),
    "sweep_execute": (c_int, [c_void_p]),
    "sweep_points": (c_uint32, [c_void_p]),
    "sweep_columns": (c_uint32, [c_void_p]),
    "sweep_varied": (c_uint32, [c_void_p]),
    "sweep_column_name": (c_char_p, [c_void_p, c_uint32]),
    "sweep_value": (c_double, [c_void_p, c_uint32, c_uint32]),
    "sweep_point_status": (c_int, [c_void_p, c_uint32]),
    "sweep_point_cause": (c_char_p, [c_void_p, c_uint32]),
    "fit": (c_void_p, [c_void_p, POINTER(Options), POINTER(FitOptions)]),
    "estimate_parameters": (c_uint32, [c_void_p]),
    "estimate_parameter": (FitParameter, [c_void_p, c_uint32]),
    "estimate_covariance": (c_double, [c_void_p, c_uint32, c_uint32]),
    "estimate_deviation": (c_double, [c_void_p]),
    "method_names": (POINTER(c_char_p), []),
    "solver_names": (POINTER(c_char_p), []),
}


def _candidates() -> Iterator[Any]:
    """The places to look for the library: as configured, in the package, next to it in an installation, in a source tree, in the system."""
    if os.environ.get("DAEDAL_LIBRARY"):
        yield os.environ["DAEDAL_LIBRARY"]
        return
    here = pathlib.Path(__file__).resolve().parent
    yield here / "libdaedal.so"
    for parent in here.parents:
        yield from sorted(parent.glob("libdaedal.so.*"))
        yield from sorted(parent.glob("*-linux-*/libdaedal.so.*"))
        yield parent / "build" / "libdaedal.so"
    found = ctypes.util.find_library("daedal")
    if found:
        yield found


def _open() -> ctypes.CDLL:
    for candidate in _candidates():
        if isinstance(candidate, pathlib.Path) and not candidate.exists():
            continue
        return ctypes.CDLL(str(candidate))
    raise ImportError("libdaedal.so was not found; set DAEDAL_LIBRARY to its path")


def _function(shared: ctypes.CDLL, name: str, result: Any, arguments: list[Any]) -> Callable[..., Any]:
    """A function of the library. Wraps a function that returns a struct: like daedal.h, it lets the library fill a struct of the caller."""
    if not (isinstance(result, type) and issubclass(result, Structure)):
        function = getattr(shared, "daedal_" + name)
        function.restype, function.argtypes = result, arguments
        return function
    fill = getattr(shared, f"daedal_{name}_")
    fill.restype, fill.argtypes = None, [*arguments, POINTER(result), c_size_t]

    def get(*given: Any) -> Any:
        out = result()
        fill(*given, ctypes.byref(out), ctypes.sizeof(out))
        return out
    return get


def default_options() -> Options:
    """Nothing given: daedal_default_options."""
    options = Options(size=ctypes.sizeof(Options), method=b"dummy", solver=b"auto", input_size=ctypes.sizeof(Input))
    for name in ("start_time", "stop_time", "tolerance", "output_interval", "max_step", "constraint_tolerance", "rank_tolerance",
                 "baumgarte_alpha", "baumgarte_beta", "start_from_time", "gradient_memory", "part_interval"):
        setattr(options, name, math.nan)
    return options


class Library:
    """The functions of the library without their prefix daedal_."""

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Callable[..., Any]: ...

    def __init__(self) -> None:
        shared = _open()
        for name, (result, arguments) in _FUNCTIONS.items():
            setattr(self, name, _function(shared, name, result, arguments))


library = Library()


class Handle:
    """An object of the library. This is its only owner, and frees it once. It can be passed to functions of the library, but not copied or pickled, because two owners would free it twice. `call` lets one thread at a time use it."""

    def __init__(self, address: int | None, what: str) -> None:
        self._address, self._what = address, what
        self._lock = threading.Lock()
        self._user: int | None = None
        if not address:
            raise MemoryError(f"no memory for {what}")

    @property
    def _as_parameter_(self) -> int | None:
        return self._address

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a function of the library with the handle; other threads wait for it."""
        if self._user == threading.get_ident():
            raise RuntimeError(f"{self._what} is in use: a function that it calls may not use it")
        with self._lock:
            self._user = threading.get_ident()
            try:
                return function(self._address, *arguments)
            finally:
                self._user = None

    def __del__(self) -> None:
        address, self._address = getattr(self, "_address", None), None
        if address:
            library.free(address)

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError(f"{self._what} cannot be copied or pickled")


def name_list(names: Iterable[str] | str | None) -> Any:
    """One name or several, as an array that ends with NULL; None stays None."""
    if names is None:
        return None
    listed = [encoded(name) for name in ([names] if isinstance(names, str) else names)]
    return (c_char_p * (len(listed) + 1))(*listed, None)


def encoded(value: str | bytes) -> bytes:
    """A text for the library. Zero bytes are refused, because the library would see the end of the text there."""
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"a name or a text is expected, not {value!r}")
    data = value if isinstance(value, bytes) else value.encode()
    if b"\0" in data:
        raise ValueError(f"{value!r} holds a zero byte")
    return data


def text(value: bytes | None) -> str:
    return value.decode(errors="replace") if value else ""
