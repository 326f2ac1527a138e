"""A model as a function of PyTorch:

    f = daedal.torch.function(daedal.Differentiable("pendulum.mo", ["L", "g"], ["x", "y"]))
    loss = ((f(parameters) - measured)**2).sum(); loss.backward()

The last dimension of the argument has the parameters; those before it are a batch, a run for each.
"""
from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ._differentiable import Differentiable


def function(model: Differentiable) -> Any:
    """A function of a tensor of parameters, differentiable by `backward`."""

    class Simulate(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, parameters: Any) -> Any:
            points = parameters.detach().cpu().numpy().reshape(-1, len(model.parameters))
            if not parameters.requires_grad:
                values, context.jacobians = [model(point) for point in points], None
            else:
                pairs = [model.value_and_jacobian(point) for point in points]
                values, context.jacobians = [value for value, _ in pairs], np.stack([jacobian for _, jacobian in pairs])
            whole = np.stack(values).reshape(*parameters.shape[:-1], *model.shape)
            return torch.as_tensor(whole, dtype=parameters.dtype, device=parameters.device)

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            cotangents = gradient.detach().cpu().numpy().reshape(-1, *model.shape)
            found = [np.tensordot(cotangent, jacobian, axes=len(model.shape)) for cotangent, jacobian in zip(cotangents, context.jacobians)]
            batch = gradient.shape[: gradient.ndim - len(model.shape)]
            whole = np.stack(found).reshape(*batch, len(model.parameters))
            return torch.as_tensor(whole, dtype=gradient.dtype, device=gradient.device)

    return Simulate.apply
