"""A model as a function of JAX:

    f = daedal.jax.function(daedal.Differentiable("pendulum.mo", ["L", "g"], ["x", "y"]))
    jax.grad(lambda p: f(p).sum())(parameters), jax.jit(f)(parameters)

The last dimension of the argument has the parameters; those before it are a batch, a run for each.
"""
from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._differentiable import Differentiable


def function(model: Differentiable) -> Any:
    """A function of an array of parameters, with forward sensitivities as its derivatives."""
    count = len(model.parameters)

    def run(parameters: Any) -> tuple[Any, Any]:
        points = np.asarray(parameters, dtype=float)
        pairs = [model.value_and_jacobian(point) for point in points.reshape(-1, count)]
        batch = points.shape[:-1]
        kind = np.asarray(parameters).dtype
        return (np.stack([value for value, _ in pairs]).reshape(*batch, *model.shape).astype(kind),
                np.stack([jacobian for _, jacobian in pairs]).reshape(*batch, *model.shape, count).astype(kind))

    def run_values(parameters: Any) -> Any:
        points = np.asarray(parameters, dtype=float)
        values = np.stack([model(point) for point in points.reshape(-1, count)])
        return values.reshape(*points.shape[:-1], *model.shape).astype(np.asarray(parameters).dtype)

    def shapes(parameters: Any) -> tuple[Any, Any]:
        whole = (*parameters.shape[:-1], *model.shape)
        return jax.ShapeDtypeStruct(whole, parameters.dtype), jax.ShapeDtypeStruct((*whole, count), parameters.dtype)

    @jax.custom_jvp
    def simulate(parameters: Any) -> Any:
        parameters = jnp.asarray(parameters)
        return jax.pure_callback(run_values, shapes(parameters)[0], parameters)

    @simulate.defjvp
    def _(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        (parameters,), (tangent,) = primals, tangents
        value, jacobian = jax.pure_callback(run, shapes(parameters), parameters)
        spread = tangent.reshape(*tangent.shape[:-1], *(1,) * len(model.shape), count)
        return value, (jacobian * spread).sum(axis=-1)

    return simulate
