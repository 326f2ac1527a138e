"""Models, plans and runs."""
from __future__ import annotations

import ctypes
import dataclasses
import enum
import os
import pathlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Union

import numpy as np

from ._errors import Diagnostic, UsageError, check, read_diagnostics, warn
from ._library import LoadOptions, library, text
from ._options import NAMES, InputValue, Options, Value
from ._result import Result

_NONE = 0xFFFFFFFF
Source = Union["Model", str, os.PathLike]


class Kind(enum.IntEnum):
    """What a variable is for a run."""

    CONSTANT = 0
    PARAMETER = 1
    INPUT = 2
    DISCRETE = 3
    CONTINUOUS = 4


@dataclasses.dataclass(frozen=True)
class Variable:
    """A scalar variable of a model; `index` is the handle by which runs know it."""

    index: int
    name: str
    unit: str
    description: str
    kind: Kind
    type: str
    is_output: bool


_TYPES = ("Real", "Integer", "Boolean", "enumeration", "String", "object")


@dataclasses.dataclass(frozen=True)
class Analysis:
    """The structure of a model as written."""

    verdict: str
    equations: int
    variables: int
    structural_index: int
    dof: int
    differentiations: int
    text: str


def _variables(handle: int) -> dict[str, Variable]:
    found = {}
    for index in range(library.variable_count(handle)):
        raw = library.variable_get(handle, index)
        name = text(raw.name)
        found[name] = Variable(index, name, text(raw.unit), text(raw.description), Kind(raw.kind), _TYPES[raw.type],
                               raw.is_output)
    return found


def _split(parameters: Mapping[str, Value] | None, keywords: dict[str, Any]) -> tuple[dict[str, Value], dict[str, Any]]:
    """Keywords that are no options are parameters."""
    values = dict(parameters or {})
    options = {name: value for name, value in keywords.items() if name in NAMES}
    values.update((name, value) for name, value in keywords.items() if name not in NAMES)
    return values, options


def _modelica_path(libraries: Iterable[str | os.PathLike]) -> bytes | None:
    """The directories given, then those of the environment that are there."""
    environment = [part for part in os.environ.get("MODELICAPATH", "").split(":") if part and os.path.isdir(part)]
    path = b":".join(os.fsencode(part) for part in [*libraries, *environment])
    return path or None


class Model:
    """A model, read and flattened. `source` is a path, or a text that has a line break or ends with a semicolon, or None: then the class comes
    from a library. `libraries` are directories of Modelica libraries; those of the environment's MODELICAPATH are searched, too. `readable` are
    directories that the model may read files of, beside its own (of a text: the working directory) and those of libraries.

    A model may be used by any number of threads at once.
    """

    def __init__(self, source: str | os.PathLike | None, class_name: str | None = None,
                 libraries: Iterable[str | os.PathLike] = (), readable: Iterable[str | os.PathLike] = ()) -> None:
        options = LoadOptions(size=ctypes.sizeof(LoadOptions), class_name=class_name.encode() if class_name else None,
                              modelica_path=_modelica_path(libraries),
                              readable=b":".join(os.fsencode(part) for part in readable) or None)
        self._variables: dict[str, Variable] | None = None
        is_text = isinstance(source, str) and ("\n" in source or source.rstrip().endswith(";"))
        data = str(source).encode() if is_text else None
        path = None if source is None else b"model" if is_text else os.fsencode(source)
        self._handle = library.load(path, data, len(data) if data else 0, options)
        if not self._handle:
            raise MemoryError("no memory for the model")
        check(library.model_status(self._handle), lambda: self.diagnostics)

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and library:
            library.model_free(self._handle)

    @property
    def name(self) -> str:
        return text(library.model_name(self._handle))

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was said about the model."""
        count = library.diagnostic_count(self._handle)
        return read_diagnostics(count, lambda k: library.diagnostic_get(self._handle, k))

    @property
    def variables(self) -> dict[str, Variable]:
        """All scalar variables by name."""
        if self._variables is None:
            self._variables = _variables(self._handle)
        return self._variables

    @property
    def parameters(self) -> list[str]:
        return [v.name for v in self.variables.values() if v.kind == Kind.PARAMETER]

    @property
    def inputs(self) -> list[str]:
        return [v.name for v in self.variables.values() if v.kind == Kind.INPUT]

    def flatten(self) -> str:
        """The flat model as Base Modelica."""
        return text(library.flatten(self._handle))

    def analyze(self) -> Analysis:
        """Index, degrees of freedom and the like; raises StructureError for a model that is unbalanced or singular."""
        raw = library.analyze(self._handle)
        check(raw.status, lambda: self.diagnostics)
        return Analysis(text(raw.verdict), raw.equations, raw.variables, raw.structural_index, raw.dof,
                        raw.differentiations, text(library.analysis_text(self._handle)))

    def simulate(self, parameters: Mapping[str, Value] | None = None, *,
                 inputs: Mapping[str, InputValue] | str | None = None,
                 progress: Callable[[float], Any] | None = None, **keywords: Any) -> Result:
        """Runs the model; see daedal.simulate."""
        return self._result(library.simulate, parameters, inputs, progress, keywords)

    def initialize(self, parameters: Mapping[str, Value] | None = None, *,
                   inputs: Mapping[str, InputValue] | str | None = None, **keywords: Any) -> Result:
        """Consistent initial values alone: a result with one row."""
        return self._result(library.initialize, parameters, inputs, None, keywords)

    def export_fmu(self, path: str | os.PathLike, parameters: Mapping[str, Value] | None = None, *, fmi: int = 3,
                   kind: str | None = None, inputs: Mapping[str, InputValue] | str | None = None, **keywords: Any) -> Result:
        """Writes a Functional Mock-up Unit of FMI 2.0 or 3.0 for model exchange ("me"), co-simulation ("cs") or both; the initial values.

        Parameters and options become its defaults: `model.export_fmu("pendulum.fmu", L=2, stop_time=5)`.
        """
        name = None if kind is None else kind.encode()
        return self._result(lambda handle, options: library.export_fmu(handle, os.fsencode(path), fmi, name, options),
                            parameters, inputs, None, keywords)

    def export_solver(self, path: str | os.PathLike, parameters: Mapping[str, Value] | None = None, *,
                      inputs: Mapping[str, InputValue] | str | None = None, **keywords: Any) -> Result:
        """Writes a directory of C99 that simulates the model alone; the initial values."""
        return self._result(lambda handle, options: library.export_solver(handle, os.fsencode(path), options),
                            parameters, inputs, None, keywords)

    def _result(self, call: Any, parameters: Any, inputs: Any, progress: Any, keywords: dict[str, Any]) -> Result:
        options = Options(*_request(parameters, inputs, progress, keywords))
        with options.watch:
            handle = call(self._handle, options.pointer)
        if not handle:
            raise MemoryError("no memory for the result")
        result = Result(handle)
        options.raise_error()
        _finish(result)
        return result

    def plan(self, parameters: Mapping[str, Value] | None = None, *,
             inputs: Mapping[str, InputValue] | str | None = None, **keywords: Any) -> Plan:
        """What runs of the model have in common, derived once."""
        return Plan(self, parameters, inputs=inputs, **keywords)

    def __repr__(self) -> str:
        return f"<daedal.Model {self.name}>"


def _request(parameters: Any, inputs: Any, progress: Any, keywords: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    values, options = _split(parameters, keywords)
    return values, inputs, progress, options


def _finish(result: Result) -> None:
    """Raises the error of a run, or passes its warnings on."""
    check(result.status, lambda: result.diagnostics, result)
    if library.result_diagnostic_count(result._handle):
        warn(result.diagnostics)


class Plan:
    """What is derived from a model once for a method, parameters and inputs. Any number of threads may run it at once."""

    def __init__(self, model: Model, parameters: Mapping[str, Value] | None = None, *,
                 inputs: Mapping[str, InputValue] | str | None = None, **keywords: Any) -> None:
        self._options = Options(*_request(parameters, inputs, None, keywords))
        self._options.raw.on_step = type(self._options.raw.on_step)()  # runs may be in other threads
        self._handle = library.plan_make(model._handle, self._options.pointer)
        self._variables: dict[str, Variable] | None = None
        if not self._handle:
            raise MemoryError("no memory for the plan")
        check(library.plan_status(self._handle), lambda: self.diagnostics)

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and library:
            library.plan_free(self._handle)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        count = library.plan_diagnostic_count(self._handle)
        return read_diagnostics(count, lambda k: library.plan_diagnostic(self._handle, k))

    @property
    def variables(self) -> dict[str, Variable]:
        """All scalar variables by name, with the indices that runs use."""
        if self._variables is None:
            self._variables = _variables(library.plan_model(self._handle))
        return self._variables

    def run(self, parameters: Mapping[str, float] | None = None, **keywords: float) -> Run:
        """A run, with these values of parameters and start values."""
        run = Run(self)
        for name, value in {**(parameters or {}), **keywords}.items():
            run[name] = value
        return run

    def simulate(self, parameters: Mapping[str, float] | None = None, **keywords: float) -> Result:
        """From initial values to the stop time."""
        return self.run(parameters, **keywords).execute()


class State:
    """The whole state of a run at a time, to go back to."""

    def __init__(self, run: Run, handle: int) -> None:
        self._run, self._handle, self._start = run, handle, run._starts

    def __del__(self) -> None:
        if self._run._handle and self._run._starts == self._start and library:
            library.state_free(self._run._handle, self._handle)


class Run:
    """A run of a plan: executed at once, or started and then advanced. One thread at a time may use it."""

    def __init__(self, plan: Plan, _handle: int | None = None) -> None:
        self._plan = plan
        self._handle = _handle or library.run_make(plan._handle)
        self._starts = 0  # how often it was started: states belong to one of them
        self._begun = _handle is not None
        if not self._handle:
            raise MemoryError("no memory for the run")

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and library:
            library.run_free(self._handle)
            self._handle = None

    def _index(self, name: str) -> int:
        variable = self._plan.variables.get(name)
        if variable is None:
            raise KeyError(name)
        return variable.index

    def _diagnostics(self) -> list[Diagnostic]:
        handle = library.run_result(self._handle)
        return read_diagnostics(library.result_diagnostic_count(handle), lambda k: library.result_diagnostic(handle, k))

    def _check(self, status: int) -> None:
        self._plan._options.raise_error()
        check(status, self._diagnostics)

    def execute(self) -> Result:
        """From initial values to the stop time."""
        self._starts += 1
        self._begun = False
        library.run_execute(self._handle)
        handle = library.run_take_result(self._handle)
        if not handle:
            raise MemoryError("no memory for the result")
        result = Result(handle)
        self._plan._options.raise_error()
        _finish(result)
        return result

    def start(self) -> Run:
        """Leaves the run at its consistent initial values."""
        self._starts += 1
        self._begun = True
        self._check(library.run_start(self._handle))
        return self

    def advance(self, time: float) -> Run:
        """Goes on to a time, through all events before it."""
        status = library.run_advance(self._handle, time)
        if status == 2:
            raise ValueError(f"a run at time {self.time:g} cannot advance to {time:g}")
        self._check(status)
        return self

    def step(self) -> Run:
        """One step of the integrator, or up to the first event in it."""
        self._check(library.run_step(self._handle))
        return self

    @property
    def time(self) -> float:
        """The time reached; NaN before the start."""
        return library.run_time(self._handle)

    @property
    def ended(self) -> bool:
        return library.run_ended(self._handle)

    def _array(self, pointer: Any) -> np.ndarray:
        if not pointer:
            self._check(library.run_step(self._handle))  # says why there are none
            raise UsageError([])
        return np.ctypeslib.as_array(pointer, (len(self._plan.variables),))

    @property
    def values(self) -> np.ndarray:
        """The values of all variables at the time reached, by index. The array is the run's own: copy it to keep it."""
        return self._array(library.run_values(self._handle))

    @property
    def derivatives(self) -> np.ndarray:
        """Their derivatives by time, in the same way; NaN where there is none."""
        return self._array(library.run_derivatives(self._handle))

    def __getitem__(self, name: str) -> float:
        return float(self.values[self._index(name)])

    def derivative(self, name: str) -> float:
        return float(self.derivatives[self._index(name)])

    def __setitem__(self, name: str, value: float) -> None:
        """Sets a parameter or start value before the start; behind it an input or a continuous variable, as at an event."""
        if self._begun:
            status = library.run_set_value(self._handle, self._index(name), value)
        else:
            status = library.run_set(self._handle, name.encode(), value)
        if status == 2:
            raise ValueError(f"{name} cannot be set to {value} now" if name in self._plan.variables
                             else f"there is no variable {name}")
        self._check(status)

    def interpolate(self, time: float) -> np.ndarray:
        """The values of all variables at a time within the last step of the integrator, by index."""
        values = np.empty(len(self._plan.variables))
        status = library.run_interpolate(self._handle, time, values.ctypes.data_as(type(library.run_values(None))))
        if status == 2:
            raise ValueError(f"time {time:g} is not in the last step")
        self._check(status)
        return values

    def save(self) -> State:
        handle = library.run_save(self._handle)
        if not handle:
            self._check(library.run_step(self._handle))
            raise MemoryError("no memory for the state")
        return State(self, handle)

    def restore(self, state: State) -> Run:
        if state._run is not self or state._start != self._starts:
            raise ValueError("the state is one of another run; clone that one instead")
        self._check(library.run_restore(self._handle, state._handle))
        return self

    def clone(self) -> Run:
        """Another run at the same state, which may go to another thread."""
        handle = library.run_clone(self._handle)
        if not handle:
            raise ValueError("only a run that was started can be cloned")
        return Run(self._plan, _handle=handle)


def simulate(source: Source, parameters: Mapping[str, Value] | None = None, *, class_name: str | None = None,
             inputs: Mapping[str, InputValue] | str | None = None, progress: Callable[[float], Any] | None = None,
             libraries: Iterable[str | os.PathLike] = (), **keywords: Any) -> Result:
    """Simulates a model: a Model, the path of a file, or a text, or with None the class `class_name` of a library.

    Keywords are the options of `daedal simulate` with underscores (start_time, stop_time, tolerance, intervals, output_interval, method,
    solver, max_step, constraint_tolerance, variables, start_values, start_from, invariants, compile, keep_superfluous, baumgarte,
    sensitivity, gradient, gradient_by, gradient_memory); any other is a parameter or a start value, as are the items of `parameters`, whose
    names need not be identifiers:

        daedal.simulate("pendulum.mo", L=2, tolerance=1e-8)
        daedal.simulate("arm.mo", {"body[1].m": 3}, inputs={"torque": "sin(2*time)"}, stop_time=10)

    `inputs` gives values along time by name: an expression, a function of time or a tuple of it and its derivatives, or a table (times,
    values). `progress` is called with the part that is done, between 0 and 1. An interrupt ends the run. Errors are
    exceptions that say where; that of an integration has the trajectory so far in its `result`.
    """
    model = source if isinstance(source, Model) else Model(source, class_name, libraries)
    return model.simulate(parameters, inputs=inputs, progress=progress, **keywords)


def load(source: str | os.PathLike | None, class_name: str | None = None, libraries: Iterable[str | os.PathLike] = ()) -> Model:
    """Reads a model from a file, a text, or a library."""
    return Model(source, class_name, libraries)
