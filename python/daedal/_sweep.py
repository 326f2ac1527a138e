"""Many runs of one model."""
from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np

from . import _library
from ._errors import check, read_diagnostics, refuse
from ._library import Handle, encoded, library, text
from ._model import Model, Source, _request
from ._options import MOST_UINT64, Inputs, Options, Value, count, flag, real, reals
from ._values import Array

Values = Union[float, Sequence[float], Array]
Distribution = tuple[Any, ...]
Output = Union[str, tuple[Any, ...]]

_KINDS = ("final", "initial", "max", "min", "mean", "rms", "at", "event")


def _axis(name: str, values: Values, kept: list[Any]) -> _library.Axis:
    if isinstance(values, str):
        raise TypeError(f"the values of {name} are numbers, such as those of numpy.linspace or numpy.geomspace, not {values!r}")
    numbers = np.ascontiguousarray(np.atleast_1d(reals(f"the values of {name}", values)))
    if numbers.ndim != 1 or not numbers.size:
        raise refuse(f"the values of {name} are one number or a list of them")
    kept.append(numbers)
    return _library.Axis(encoded(name), numbers.ctypes.data_as(_library.Doubles), numbers.size)


def _distribution(name: str, given: Distribution) -> _library.Distribution:
    if isinstance(given, str) or not 2 <= len(given) <= 4 or not isinstance(given[0], str):
        raise TypeError(f"the distribution of {name} is a tuple such as ('normal', 1, 0.1), not {given!r}")
    numbers = [real(f"a parameter of the distribution of {name}", value) for value in given[1:]]
    return _library.Distribution(encoded(name), encoded(given[0]), (ctypes.c_double * 3)(*numbers))


def _output(given: Output) -> _library.Output:
    """"x"; ("max", "x"); ("at", "x", 2.5); ("event", "x > 1"), or ("event",) for the first of any."""
    kind, *rest = ("final", given) if isinstance(given, str) else given
    if kind not in _KINDS or len(rest) != {"at": 2, "event": min(len(rest), 1)}.get(kind, 1) or not all(isinstance(name, str) for name in rest[:1]):
        raise refuse(f"an output is a name, ('max', name), ('at', name, time) or ('event', condition), not {given!r}; "
                     f"kinds are {', '.join(_KINDS)}")
    time = real("the time of an output", rest[1]) if kind == "at" else 0.0
    return _library.Output(encoded(rest[0]) if rest else None, _KINDS.index(kind), time)


class Sweep(Mapping[str, Array]):
    """The table of a sweep: a mapping from the names of its columns to arrays with one value per point.

    `varied` and `outputs` are the names, `status` is 0 for a point that succeeded, otherwise the number of the error's class, `causes` says
    why points failed.
    """

    def __init__(self, handle: Handle) -> None:
        names = [text(library.sweep_column_name(handle, c)) for c in range(library.sweep_columns(handle))]
        points, varied = library.sweep_points(handle), library.sweep_varied(handle)
        values = np.array([[library.sweep_value(handle, p, c) for c in range(len(names))] for p in range(points)])
        self._columns = {name: values[:, c] for c, name in enumerate(names)}
        self.varied, self.outputs = names[:varied], names[varied:]
        self.status = np.array([library.sweep_point_status(handle, p) for p in range(points)])
        self.causes = [text(library.sweep_point_cause(handle, p)) for p in range(points)]

    def __getitem__(self, name: str) -> Array:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def points(self) -> int:
        return len(self.status)

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame({**self._columns, "status": self.status, "cause": self.causes})

    def __repr__(self) -> str:
        return f"<daedal.Sweep of {self.points} points, {np.count_nonzero(self.status)} failed: {', '.join(self._columns)}>"


def sweep(source: Source, vary: Mapping[str, Values] | None = None, *, distributions: Mapping[str, Distribution] | None = None,
          samples: int = 0, sampling: str = "sobol", seed: int = 0, outputs: str | Sequence[Output] | None = None, threads: int = 0,
          trajectories: str | None = None, journal: str | None = None, resume: bool = False,
          parameters: Mapping[str, Value] | None = None, inputs: Inputs | None = None,
          progress: Callable[[float], Any] | None = None, class_name: str | None = None, **keywords: Any) -> Sweep:
    """Runs a model at all combinations of values and at samples of distributions, on all cores:

    >>> text = "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;"
    >>> table = sweep(text, {"k": np.linspace(1, 2, 3)}, outputs=["x", ("max", "x")], tolerance=1e-8)
    >>> [round(float(x), 4) for x in table["x"]]
    [0.3679, 0.2231, 0.1353]
    >>> sweep(text, distributions={"k": ("normal", 1, 0.1)}, samples=8, outputs=["x"]).points
    8

    The last name changes fastest. Outputs are names, for values at the end, or tuples: ("max", "x"), and the same with min, mean, rms and initial; ("at", "x", 2.5); ("event", "x > 1") for
    the time of the first event of that condition; ("event",) for that of any condition. Keywords are those of daedal.simulate. A point that
    fails has NaN, its status and its cause. The KeyboardInterrupt of an interrupt has the table so far as its `result`. `journal` names a file for finished points, from which a later call with `resume` continues.
    """
    model = source if isinstance(source, Model) else Model(source, class_name)
    options = Options(*_request(model, parameters, inputs, None, keywords))

    def watch(_context: Any, raw: Any) -> bool:
        try:
            if progress:
                progress(raw.contents.finished / max(raw.contents.points, 1))
        except BaseException as error:
            options.watch.error = error
        return options.watch.stops

    kept: list[Any] = []
    axes = [_axis(name, values, kept) for name, values in (vary or {}).items()]
    drawn = [_distribution(name, given) for name, given in (distributions or {}).items()]
    raw = _library.SweepOptions(size=ctypes.sizeof(_library.SweepOptions), vary=(_library.Axis * len(axes))(*axes), vary_count=len(axes),
                                distributions=(_library.Distribution * len(drawn))(*drawn), distribution_count=len(drawn),
                                samples=count("samples", samples),
                                sampling=encoded(sampling), seed=count("seed", seed, most=MOST_UINT64),
                                threads=count("threads", threads), resume=flag("resume", resume), on_progress=_library.OnProgress(watch))
    if outputs is not None:
        chosen = [_output(output) for output in ([outputs] if isinstance(outputs, str) else outputs)]
        raw.outputs, raw.output_count = (_library.Output * max(1, len(chosen)))(*chosen), len(chosen)
    raw.trajectories = encoded(trajectories) if trajectories else None
    raw.journal = encoded(journal) if journal else None
    handle = Handle(library.sweep_make(model._handle, options.pointer, ctypes.byref(raw)), "a sweep")
    with options.watch:
        status = library.sweep_execute(handle)
    if options.watch.stops:
        options.watch.deliver(Sweep(handle))
    check(status, lambda: read_diagnostics(library.diagnostic_count(handle), lambda k: library.diagnostic_get(handle, k)))
    return Sweep(handle)
