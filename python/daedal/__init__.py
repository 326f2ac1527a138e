"""daedal: differential-algebraic equations, compiled and solved.

    import daedal
    result = daedal.simulate("pendulum.mo", L=2, tolerance=1e-8)
    result["x"], result.statistics.steps, result.to_pandas()
"""
from . import _library
from ._errors import (DaedalWarning, Diagnostic, Error, FileError, InitializationError, IntegrationError, InternalError,
                      ModelError, Place, StructureError, UsageError)
from ._model import Analysis, Comparison, Kind, Model, Parameter, Parameters, Plan, Run, State, Variable, load, simulate
from ._differentiable import Differentiable
from ._fit import Estimate, fit
from ._linear import Linear, Steady, linearize, steady
from ._options import Event, RunOptions
from ._report import Page, compare, report
from ._result import Result, Signal, Statistics
from ._sweep import Sweep, sweep
from ._values import Picture

__version__ = _library.library.version().decode()

__all__ = ["Analysis", "Comparison", "DaedalWarning", "Diagnostic", "Differentiable", "Error", "Estimate", "Event", "FileError", "InitializationError", "IntegrationError",
           "InternalError", "Kind", "Linear", "Model", "ModelError", "Page", "Parameter", "Parameters", "Picture", "Place", "Plan", "Result", "Run", "RunOptions", "Signal", "State", "Statistics", "Steady",
           "StructureError", "Sweep", "UsageError", "Variable", "compare", "fit", "linearize", "load", "report", "simulate", "steady", "sweep"]
