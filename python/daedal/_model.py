"""Models, plans and runs."""
from __future__ import annotations

import ctypes
import dataclasses
import enum
import html
import json
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Union

import numpy as np

from ._errors import Diagnostic, Error, check, read_diagnostics, refuse, warn
from ._library import Doubles, Handle, JSON, LoadOptions, Report, TEXT, encoded, library, name_list, text
from ._options import NAMES, Inputs, Options, Value, count, flag, real
from ._result import Result
from ._values import Array, Picture, html_report, html_table, nearest

_NONE = 0xFFFFFFFF
Source = Union["Model", str, os.PathLike[str]]


class Kind(enum.IntEnum):
    """The role of a variable in a run."""

    CONSTANT = 0
    PARAMETER = 1
    INPUT = 2
    DISCRETE = 3
    CONTINUOUS = 4


_KINDS = ("constant", "parameter", "input", "discrete variable", "continuous variable")


@dataclasses.dataclass(frozen=True)
class Variable:
    """A scalar variable of a model; runs use its `index`."""

    index: int
    name: str
    unit: str
    description: str
    kind: Kind
    type: str
    is_output: bool


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter and its value in runs of the model: a number, a bool, or None if it is not a number."""

    name: str
    value: float | int | bool | None
    unit: str
    description: str
    type: str


class Parameters(Mapping[str, Parameter]):
    """The parameters of a model by name; Jupyter shows a table."""

    def __init__(self, found: Mapping[str, Parameter]) -> None:
        self._found = dict(found)

    def __getitem__(self, name: str) -> Parameter:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return "<daedal.Parameters " + ", ".join(f"{one.name}={one.value}" for one in self._found.values()) + ">"

    def _repr_html_(self) -> str:
        rows = [(one.name, one.value, one.unit, one.description) for one in self._found.values()]
        return html_table(("parameter", "value", "unit", "description"), rows)


_TYPES = ("Real", "Integer", "Boolean", "enumeration", "String", "object")


@dataclasses.dataclass(frozen=True)
class Analysis:
    """The structure of a model as written. `hidden_constraints` are equations, `differentiated` has an entry for each differentiated equation, as in the JSON of `daedal analyze` ("equation", "file", "line", "text", "times"). `blocks` lists the numbers of "equations" and "variables" that are solved together, in the order of solution, and whether they are "linear". `picture` is the incidence matrix."""

    verdict: str
    equations: int
    variables: int
    structural_index: int
    dof: int
    differentiations: int
    text: str = dataclasses.field(repr=False)
    hidden_constraints: list[str] = dataclasses.field(default_factory=list, repr=False)
    differentiated: list[dict[str, Any]] = dataclasses.field(default_factory=list, repr=False)
    blocks: list[dict[str, Any]] = dataclasses.field(default_factory=list, repr=False)
    picture: Picture = dataclasses.field(default=Picture(), repr=False)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return html_report(self.text, self.picture)


def _variables(handle: Any) -> dict[str, Variable]:
    found = {}
    for index in range(library.variable_count(handle)):
        raw = library.variable_get(handle, index)
        name = text(raw.name)
        found[name] = Variable(index, name, text(raw.unit), text(raw.description), Kind(raw.kind), _TYPES[raw.type],
                               raw.is_output)
    return found


def _value_of(start: Result, variable: Variable, known: set[str]) -> float | int | bool | None:
    if variable.type in ("String", "object"):
        return None
    value = float(start[variable.name][0]) if variable.name in known else float("nan")
    if value != value or variable.type == "Real":
        return value
    return bool(value) if variable.type == "Boolean" else int(value)


def _split(model: Model, parameters: Mapping[str, Value] | None, keywords: dict[str, Any]) -> tuple[dict[str, Value], dict[str, Any]]:
    """Keywords that are not options are parameters and start values."""
    if parameters is not None and not hasattr(parameters, "keys"):
        raise TypeError(f"parameters are a mapping from names to values, not {parameters!r}")
    values = {} if parameters is None else dict(parameters)
    options = {name: value for name, value in keywords.items() if name in NAMES}
    for name, value in keywords.items():
        if name in NAMES:
            continue
        likely = nearest(name, NAMES)
        if likely and not any(variable == name or variable.startswith(name + "[") for variable in model.variables):
            raise refuse(f"there is no option or variable {name!r}{likely}")
        values[name] = value
    return values, options


def _modelica_path(libraries: Iterable[str | os.PathLike[str]]) -> bytes | None:
    """The given directories, then those of the environment that exist."""
    environment = [part for part in os.environ.get("MODELICAPATH", "").split(":") if part and os.path.isdir(part)]
    path = b":".join(os.fsencode(part) for part in [*libraries, *environment])
    return path or None


def _limits(given: Mapping[str, float] | None) -> tuple[int, int, int]:
    names = ("memory", "work", "text")
    if given is not None and not (isinstance(given, Mapping) and set(given) <= set(names)):
        raise refuse("there are limits of memory, work and text, each with a number")
    found = [int(real(f"the limit of {name}", (given or {}).get(name, 0))) for name in names]
    if any(not 0 <= amount < 10**18 for amount in found):
        raise refuse("a limit is a number above zero and below 1e18")
    return found[0], found[1], found[2]


class Model:
    """A model, read and flattened. `source` is a path, or a text that has a line break or ends with a semicolon, or None: then the class comes
    from a library. `libraries` are directories of Modelica libraries; those of the environment's MODELICAPATH are searched, too. `readable` are further directories in which the model may read files. It may always read files in its own directory (for a text: the working directory) and in those of libraries. `limits` bounds the resources of the model, its plans, runs and results, as `--limits` does: {"memory": 1e9, "work": 1e8, "text": 1e7}. `netlist`
    says that a text is a SPICE netlist. `energy` adds the energy, its balance and the constraint forces to a model that gives a Lagrangian. `boundary` adds equations that hold at the end of
    a run, as `--boundary` does; the attribute `boundary` of the result has the values that they determine.

    >>> model = Model("model M Real x(start = 0, fixed = true), v(start = 1); equation der(x) = v; der(v) = -x; end M;", boundary="x = 0.5")
    >>> round(model.simulate(stop_time=1.0, tolerance=1e-9).boundary["found"]["v"], 6)  # 0.5/sin(1)
    0.594198

    A model may be used by any number of threads at once. It does not change, so copies share it. A pickled model consists of text, class, directories and limits, from which it is read again.
    """

    def __init__(self, source: str | os.PathLike[str] | None, class_name: str | None = None,
                 libraries: Iterable[str | os.PathLike[str]] = (), readable: Iterable[str | os.PathLike[str]] = (),
                 limits: Mapping[str, float] | None = None, netlist: bool = False, energy: bool = False, boundary: str | None = None) -> None:
        is_text = isinstance(source, str) and ("\n" in source or source.rstrip().endswith(";"))
        data = str(source).encode() if is_text else None
        name = b"model.cir" if netlist else b"model"
        path = None if source is None else name if is_text else encoded(os.fsencode(source))
        self._energy = flag("energy", energy)
        self._boundary = encoded(boundary) if boundary else None
        self._load(path, data, encoded(class_name) if class_name else None, _modelica_path(libraries),
                   b":".join(encoded(os.fsencode(part)) for part in readable) or None, _limits(limits))

    def _load(self, path: bytes | None, data: bytes | None, class_name: bytes | None, modelica_path: bytes | None,
              readable: bytes | None, limits: tuple[int, int, int]) -> None:
        options = LoadOptions(size=ctypes.sizeof(LoadOptions), class_name=class_name, modelica_path=modelica_path, readable=readable,
                              memory_limit=limits[0], work_limit=limits[1], text_limit=limits[2], energy=self._energy, boundary=self._boundary)
        self._variables: dict[str, Variable] | None = None
        self._parameters: Parameters | None = None
        self._origin = (path, class_name, modelica_path, readable, limits)
        self._handle = Handle(library.load(path, data, len(data) if data else 0, options), "a model")
        check(library.status_of(self._handle), lambda: self.diagnostics)

    @classmethod
    def _again(cls, path: bytes | None, data: bytes | None, class_name: bytes | None, modelica_path: bytes | None,
               readable: bytes | None, limits: tuple[int, int, int], energy: bool = False, boundary: bytes | None = None) -> Model:
        model = object.__new__(cls)
        model._energy, model._boundary = energy, boundary
        model._load(path, data, class_name, modelica_path, readable, limits)
        return model

    def __copy__(self) -> Model:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __deepcopy__(self, _memo: Any) -> Model:
        return self.__copy__()

    def __reduce__(self) -> Any:
        path, *others = self._origin
        data = None if path is None else library.model_text(self._handle)
        return type(self)._again, (path, data, *others, self._energy, self._boundary)

    @property
    def name(self) -> str:
        return text(library.model_name(self._handle))

    def _said(self, first: int) -> list[Diagnostic]:
        return read_diagnostics(library.diagnostic_count(self._handle), lambda k: library.diagnostic_get(self._handle, k), first)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The messages about the model."""
        return self._said(0)

    @property
    def variables(self) -> dict[str, Variable]:
        """All scalar variables by name."""
        if self._variables is None:
            self._variables = _variables(self._handle)
        return self._variables

    @property
    def parameters(self) -> Parameters:
        """Parameters by name, with values, units and descriptions. The values are those at the start of a run; NaN if there is none.

        >>> model = Model('model M parameter Real m(unit = "kg") = 2 "mass"; Real x; equation m*x = time; end M;')
        >>> model.parameters["m"].value, model.parameters["m"].unit, model.parameters["m"].description
        (2.0, 'kg', 'mass')
        """
        if self._parameters is None:
            start = Result(library.initialize(self._handle, None))
            known = set(start.names) if start.rows else set()
            chosen = [v for v in self.variables.values() if v.kind == Kind.PARAMETER]
            self._parameters = Parameters({v.name: Parameter(v.name, _value_of(start, v, known), v.unit, v.description, v.type) for v in chosen})
        return self._parameters

    @property
    def inputs(self) -> list[str]:
        return [v.name for v in self.variables.values() if v.kind == Kind.INPUT]

    def flatten(self) -> str:
        """The flat model as Base Modelica."""
        flat = library.report(self._handle, Report.FLAT, TEXT)
        if flat is None:
            check(library.status_of(self._handle), lambda: self.diagnostics)
        return text(flat)

    def analyze(self) -> Analysis:
        """Index, degrees of freedom and the like; raises StructureError for a model that is unbalanced or singular."""
        raw = library.analyze(self._handle)
        check(raw.status, lambda: self.diagnostics)  # found once, and reported again to later callers
        report = json.loads(text(library.report(self._handle, Report.ANALYSIS, JSON)))
        return Analysis(text(raw.verdict), raw.equations, raw.variables, raw.structural_index, raw.dof, raw.differentiations,
                        text(library.report(self._handle, Report.ANALYSIS, TEXT)), report["hidden_constraints"], report["differentiations"],
                        report["blocks"], Picture(text(library.draw(self._handle, None))))

    def simulate(self, parameters: Mapping[str, Value] | None = None, *,
                 inputs: Inputs | None = None,
                 progress: Callable[[float], Any] | None = None, **keywords: Any) -> Result:
        """Runs the model; see daedal.simulate."""
        return self._result(library.simulate, parameters, inputs, progress, keywords)

    def initialize(self, parameters: Mapping[str, Value] | None = None, *,
                   inputs: Inputs | None = None, **keywords: Any) -> Result:
        """Only consistent initial values: a result with one row."""
        return self._result(library.initialize, parameters, inputs, None, keywords)

    def export_fmu(self, path: str | os.PathLike[str], parameters: Mapping[str, Value] | None = None, *, fmi: int = 3,
                   kind: str | None = None, inputs: Inputs | None = None, **keywords: Any) -> Result:
        """Writes a Functional Mock-up Unit of FMI 2.0 or 3.0 for model exchange ("me"), co-simulation ("cs") or both; returns the initial values.

        Parameters and options become its defaults: `model.export_fmu("pendulum.fmu", L=2, stop_time=5)`.
        """
        name = None if kind is None else encoded(kind)
        version = count("fmi", fmi, least=2, most=3)
        return self._result(lambda handle, options: library.export_fmu(handle, encoded(os.fsencode(path)), version, name, options),
                            parameters, inputs, None, keywords)

    def export_solver(self, path: str | os.PathLike[str], parameters: Mapping[str, Value] | None = None, *,
                      inputs: Inputs | None = None, **keywords: Any) -> Result:
        """Writes a directory of C99 that simulates the model without daedal; returns the initial values."""
        return self._result(lambda handle, options: library.export_solver(handle, encoded(os.fsencode(path)), options),
                            parameters, inputs, None, keywords)

    def _result(self, call: Any, parameters: Any, inputs: Any, progress: Any, keywords: dict[str, Any]) -> Result:
        options = Options(*_request(self, parameters, inputs, progress, keywords))
        with options.watch:
            address = call(self._handle, options.pointer)
        result = Result(address, options)
        options.watch.deliver(result)
        _finish(result)
        return result

    def plan(self, parameters: Mapping[str, Value] | None = None, *,
             inputs: Inputs | None = None, **keywords: Any) -> Plan:
        """A plan: everything that runs of the model have in common, derived once."""
        return Plan(self, parameters, inputs=inputs, **keywords)

    def compare(self, methods: Iterable[str] | str | None = None, solvers: Iterable[str] | str | None = None,
                parameters: Mapping[str, Value] | None = None, *, inputs: Inputs | None = None,
                **keywords: Any) -> Comparison:
        """Methods and solvers side by side; by default all that apply; see `daedal compare`."""
        names = [name_list(one) for one in (methods, solvers)]
        return Comparison(self._result(lambda handle, options: library.compare(handle, options, *names), parameters, inputs, None, keywords))

    def __repr__(self) -> str:
        return f"<daedal.Model {self.name}>"

    def _repr_html_(self) -> str:
        found = [(kind, sum(v.kind == kind for v in self.variables.values())) for kind in Kind]
        figures = ", ".join(f"{count} {_KINDS[kind]}{'' if count == 1 else 's'}" for kind, count in found if count)
        return f"<p><b>{html.escape(self.name)}</b>: {figures}</p>{self.parameters._repr_html_()}"


class Comparison:
    """Runs of one model side by side: `runs` is a list of dicts, as `daedal compare --json` has them. Printed, it is a table."""

    def __init__(self, result: Result) -> None:
        self.runs: list[dict[str, Any]] = json.loads(text(result._handle.call(library.report, Report.COMPARISON, JSON)))["runs"]
        self._text = text(result._handle.call(library.report, Report.COMPARISON, TEXT))
        self._plot = text(result._handle.call(library.draw, None))

    def plot(self) -> Picture:
        """The residuals of the constraints over time, a curve for each run."""
        return Picture(self._plot)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<daedal.Comparison: {', '.join(run['method'] + ' with ' + run['solver'] for run in self.runs)}>"

    def _repr_html_(self) -> str:
        return html_report(self._text, self._plot)


def _request(model: Model, parameters: Any, inputs: Any, progress: Any, keywords: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    values, options = _split(model, parameters, keywords)
    return values, inputs, progress, options


def _finish(result: Result) -> None:
    """Raises the error of a run, or passes its warnings on."""
    check(result.status, lambda: result.diagnostics, result)
    warn(result.diagnostics)


class Plan:
    """Everything that is derived once from a model, for a method, parameters and inputs. Any number of threads may run it at once. It cannot be copied or
    pickled."""

    def __init__(self, model: Model, parameters: Mapping[str, Value] | None = None, *,
                 inputs: Inputs | None = None, **keywords: Any) -> None:
        self._options = Options(*_request(model, parameters, inputs, None, keywords))
        self._options.raw.on_step = type(self._options.raw.on_step)()  # runs may be in other threads
        self._variables: dict[str, Variable] | None = None
        self._handle = Handle(library.plan_make(model._handle, self._options.pointer), "a plan")
        self._options.watch.deliver()
        check(library.status_of(self._handle), lambda: self.diagnostics)

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError("a plan cannot be copied or pickled; pickle the model, and make another plan of it")

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return read_diagnostics(library.diagnostic_count(self._handle), lambda k: library.diagnostic_get(self._handle, k))

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
        """Runs from initial values to the stop time."""
        return self.run(parameters, **keywords).execute()


class State:
    """The whole state of a run at a time, which can be restored. It belongs to its run, and cannot be copied or pickled."""

    def __init__(self, run: Run, address: int) -> None:
        self._run, self._address, self._start = run, address, run._starts

    def __del__(self) -> None:
        run = getattr(self, "_run", None)
        if run is not None and run._starts == self._start:
            run._free_state(self._address)

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError("a state cannot be copied or pickled: it belongs to its run")


class Run:
    """A run of a plan: executed at once, or started and then advanced. One thread at a time uses it; others wait. It cannot be copied or
    pickled: `clone` makes another one at the same state."""

    def __init__(self, plan: Plan, _address: int | None = None) -> None:
        self._plan = plan
        self._handle = Handle(_address or library.run_make(plan._handle), "a run")
        self._starts = 0  # how often it was started: a state belongs to one start
        self._begun = _address is not None
        self._said = 0  # messages that were passed on
        self._failure: Error | None = None
        self._unused: list[int] = []  # states that can no longer be restored

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError("a run cannot be copied or pickled; clone() makes another run at the same state")

    def _call(self, function: Any, *arguments: Any) -> Any:
        while self._unused:
            self._handle.call(library.state_free, self._unused.pop())
        return self._handle.call(function, *arguments)

    def _free_state(self, address: int) -> None:
        """A state is freed with the next call, because a state may be dropped while another thread uses the run."""
        self._unused.append(address)

    def _index(self, name: str) -> int:
        variable = self._plan.variables.get(name)
        if variable is None:
            raise KeyError(name)
        return variable.index

    def _diagnostics(self) -> list[Diagnostic]:
        """The messages since the last call."""
        address = self._call(library.run_result)
        known = library.diagnostic_count(address)
        first, self._said = min(self._said, known), known
        return read_diagnostics(known, lambda k: library.diagnostic_get(address, k), first)

    def _check(self, status: int) -> None:
        self._plan._options.watch.deliver()
        try:
            check(status, self._diagnostics)
        except Error as error:
            self._failure = error
            raise

    def _require_start(self) -> None:
        """Raises an error if the run was not started, or has failed."""
        if not self._begun:
            raise refuse("the run was not started: call start() first")
        if self._failure is not None:
            raise refuse(f"the run has failed, restore a state or start it again: {self._failure.diagnostics[0].message}"
                         if self._failure.diagnostics else "the run has failed")

    def _begin(self, begun: bool) -> None:
        self._starts += 1
        self._begun, self._said, self._failure = begun, 0, None
        self._unused.clear()  # states end with their run

    def execute(self) -> Result:
        """Runs from initial values to the stop time."""
        self._begin(False)
        self._call(library.run_execute)
        result = Result(self._call(library.run_take_result), self._plan)
        self._plan._options.watch.deliver(result)
        _finish(result)
        return result

    def start(self) -> Run:
        """Sets the run to its consistent initial values."""
        self._begin(True)
        self._check(self._call(library.run_start))
        return self

    def advance(self, time: float) -> Run:
        """Advances to a time, through all events before it."""
        self._require_start()
        status = self._call(library.run_advance, real("the time to advance to", time))
        if status == 2:
            raise refuse(f"a run at time {self.time:g} cannot advance to {time:g}")
        self._check(status)
        return self

    def step(self) -> Run:
        """One step of the integrator, or up to the first event in it."""
        self._require_start()
        self._check(self._call(library.run_step))
        return self

    @property
    def time(self) -> float:
        """The time reached; NaN before the start."""
        return self._call(library.run_time)

    @property
    def ended(self) -> bool:
        return self._call(library.run_ended)

    def _array(self, function: Any) -> Array:
        self._require_start()
        length = len(self._plan.variables)

        def read(address: int) -> Array | None:
            pointer = function(address)
            return np.ctypeslib.as_array(pointer, (length,)).copy() if pointer else None

        values = self._call(read)
        if values is None:
            self._check(self._call(library.run_step))  # says why there are none
            raise MemoryError("no memory for the values")
        return values

    @property
    def values(self) -> Array:
        """The values of all variables at the time reached, by index, in a new array."""
        return self._array(library.run_values)

    @property
    def derivatives(self) -> Array:
        """The derivatives of all variables with respect to time, in the same way; NaN if a variable has none."""
        return self._array(library.run_derivatives)

    def __getitem__(self, name: str) -> float:
        index = self._index(name)
        return float(self.values[index])

    def derivative(self, name: str) -> float:
        index = self._index(name)
        return float(self.derivatives[index])

    def __setitem__(self, name: str, value: float) -> None:
        """Sets a parameter or start value before the start; after the start, an input or a continuous variable, as at an event."""
        if not isinstance(name, str):
            raise KeyError(name)
        number = float(value) if isinstance(value, (bool, np.bool_)) else real(name, value)
        if self._begun:
            self._require_start()
            status = self._call(library.run_set_value, self._index(name), number)
        else:
            status = self._call(library.run_set, encoded(name), number)
        if status == 2:
            raise refuse(f"{name} cannot be set to {value} now" if name in self._plan.variables else f"there is no variable {name}")
        if self._begun:
            self._check(status)
        elif status:
            raise MemoryError(f"no memory to set {name}") if status == 1 else refuse(f"{name} cannot be set to {value}")

    def interpolate(self, time: float) -> Array:
        """The values of all variables at a time within the last step of the integrator, by index."""
        self._require_start()
        values = np.empty(len(self._plan.variables))
        status = self._call(library.run_interpolate, real("the time", time), values.ctypes.data_as(Doubles))
        if status == 2:
            raise refuse(f"time {time:g} is not in the last step")
        self._check(status)
        return values

    def save(self) -> State:
        self._require_start()
        address = self._call(library.run_save)
        if not address:
            self._check(self._call(library.run_step))
            raise MemoryError("no memory for the state")
        return State(self, address)

    def restore(self, state: State) -> Run:
        if not isinstance(state, State) or state._run is not self or state._start != self._starts:
            raise refuse("the state is one of another run; clone that one instead")
        self._said, self._failure = 0, None
        self._check(self._call(library.run_restore, state._address))
        return self

    def clone(self) -> Run:
        """Another run at the same state, which may go to another thread."""
        self._require_start()
        address = self._call(library.run_clone)
        if not address:
            raise MemoryError("no memory for the clone")
        return Run(self._plan, _address=address)


def simulate(source: Source, parameters: Mapping[str, Value] | None = None, *, class_name: str | None = None,
             inputs: Inputs | None = None, progress: Callable[[float], Any] | None = None,
             libraries: Iterable[str | os.PathLike[str]] = (), limits: Mapping[str, float] | None = None, **keywords: Any) -> Result:
    """Simulates a model: a Model, the path of a file, or a text, or with None the class `class_name` of a library.

    Keywords are the options of `daedal simulate` with underscores: start_time, stop_time, tolerance, intervals, output_interval, method,
    solver, max_step, t_eval, no_event_rows, constraint_tolerance, variables, start_values, start_from, invariants, compile,
    keep_superfluous, baumgarte, segments, sensitivity, gradient, gradient_by, gradient_memory, absolute_tolerances, on_event. t_eval is
    an array of output times: the result has exactly these rows. absolute_tolerances is a mapping from names to numbers. on_event is a
    function that is called with each daedal.Event; if it returns True, the run ends. Any other keyword is a parameter or a start value.
    So are the items of `parameters`, whose names need not be identifiers:

        daedal.simulate("pendulum.mo", L=2, tolerance=1e-8)
        daedal.simulate("arm.mo", {"body[1].m": 3}, inputs={"torque": "sin(2*time)"}, stop_time=10)

    `inputs` gives functions of time by name: an expression, a function of time or a tuple of it and its derivatives, or a table (times,
    values). `progress` is called with the fraction that is done, between 0 and 1. An interrupt ends the run. Errors are exceptions that name the place. The `result` of an IntegrationError, or of a KeyboardInterrupt, is the trajectory so far.
    """
    model = source if isinstance(source, Model) else Model(source, class_name, libraries, limits=limits)
    return model.simulate(parameters, inputs=inputs, progress=progress, **keywords)


def load(source: str | os.PathLike[str] | None, class_name: str | None = None, libraries: Iterable[str | os.PathLike[str]] = (),
         limits: Mapping[str, float] | None = None) -> Model:
    """Reads a model: the path of a file, a text (with a line break, or a semicolon at its end), or with None the class `class_name` of a library."""
    return Model(source, class_name, libraries, limits=limits)
