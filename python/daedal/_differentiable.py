"""A model as a function of its parameters, with derivatives; daedal.jax and daedal.torch turn it into functions of these packages."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._errors import refuse
from ._model import Model, Source
from ._options import reals
from ._values import Array


class Differentiable:
    """Values of outputs as a function of parameters and start values. `f(values)` is an array of the outputs at the end; with `t_eval` it has one row for each time. `f.jacobian(values)` has
    one more dimension, for the parameters. Start values are called "x.start".

    Derivatives are forward sensitivities: those of the solution itself, events included, not of its steps.

    >>> decay = "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;"
    >>> f = Differentiable(decay, ["k", "x.start"], ["x"], tolerance=1e-9)
    >>> f([2.0, 3.0]).round(6).tolist()
    [0.406006]
    >>> f.jacobian([2.0, 3.0]).round(6).tolist()
    [[-0.406006, 0.135335]]
    """

    def __init__(self, source: Source, parameters: Sequence[str], outputs: Sequence[str], *, t_eval: Any = None, **options: Any) -> None:
        if isinstance(parameters, str) or isinstance(outputs, str) or not parameters or not outputs:
            raise refuse("parameters and outputs are lists of names")
        self.model = source if isinstance(source, Model) else Model(source)
        self.parameters, self.outputs = list(parameters), list(outputs)
        self.times = None if t_eval is None else reals("t_eval", t_eval)
        self._options = {**options, "t_eval": t_eval}

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value that a call returns."""
        return (len(self.outputs),) if self.times is None else (len(self.times), len(self.outputs))

    def _simulate(self, values: Any, **more: Any) -> Any:
        numbers = reals("the parameters", values)
        if numbers.shape != (len(self.parameters),):
            raise refuse(f"{len(self.parameters)} values are needed, for {', '.join(self.parameters)}, not the shape {numbers.shape}")
        given = {name.removesuffix(".start") if name.endswith(".start") else name: float(value) for name, value in zip(self.parameters, numbers)}
        return self.model.simulate(given, **self._options, **more)

    def _read(self, result: Any, name: str) -> Any:
        return result[name][-1] if self.times is None else result.at(self.times, name)

    def __call__(self, values: Any) -> Array:
        result = self._simulate(values)
        return np.stack([self._read(result, name) for name in self.outputs], axis=-1)

    def value_and_jacobian(self, values: Any) -> tuple[Array, Array]:
        """Returns the values and their Jacobian, both from one run."""
        result = self._simulate(values, sensitivity=self.parameters)
        value = np.stack([self._read(result, name) for name in self.outputs], axis=-1)
        columns = [np.stack([self._read(result, f"der({name}, {target})") for name in self.outputs], axis=-1) for target in self.parameters]
        return value, np.stack(columns, axis=-1)

    def jacobian(self, values: Any) -> Array:
        return self.value_and_jacobian(values)[1]

    def vjp(self, values: Any, cotangent: Any) -> Array:
        """The derivative of sum(cotangent * f(values)) with respect to the parameters."""
        return np.tensordot(np.asarray(cotangent, dtype=float), self.jacobian(values), axes=len(self.shape))
