"""daedal: differential-algebraic equations, compiled and solved.

    import daedal
    result = daedal.simulate("pendulum.mo", L=2, tolerance=1e-8)
    result["x"], result.statistics.steps, result.to_pandas()
"""
from . import _library
from ._errors import (DaedalWarning, Diagnostic, Error, FileError, InitializationError, IntegrationError, InternalError,
                      ModelError, Place, StructureError, UsageError)
from ._model import Analysis, Kind, Model, Plan, Run, State, Variable, load, simulate
from ._fit import Estimate, fit
from ._linear import Linear, Steady, linearize, steady
from ._result import Result, Statistics
from ._sweep import Sweep, sweep

__version__ = _library.library.version().decode()

__all__ = ["Analysis", "DaedalWarning", "Diagnostic", "Error", "Estimate", "FileError", "InitializationError", "IntegrationError",
           "InternalError", "Kind", "Linear", "Model", "ModelError", "Place", "Plan", "Result", "Run", "State", "Statistics", "Steady",
           "StructureError", "Sweep", "UsageError", "Variable", "fit", "linearize", "load", "simulate", "steady", "sweep"]
