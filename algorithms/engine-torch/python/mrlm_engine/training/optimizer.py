"""AdamW over a model's trainable parameters (Loshchilov & Hutter, arXiv 1711.05101)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from mrlm_engine.models.held import HeldModel
from mrlm_engine.training.gradients import GradientStore


@dataclass(frozen=True)
class AdamWParameters:
    """Hyperparameters of one step."""

    learning_rate: float
    beta1: float
    beta2: float
    epsilon: float
    weight_decay: float


class Optimizer:
    """torch's AdamW in two groups, with and without decay.

    Parameters of a lower format are stepped through float32 master copies, so that small updates are not rounded away.
    """

    def __init__(self, held: HeldModel, gradients: GradientStore) -> None:
        self._gradients = gradients
        embeddings = {id(held.module.get_input_embeddings().weight)}
        self.masters: dict[str, torch.Tensor] = {}
        decayed: list[torch.Tensor] = []
        plain: list[torch.Tensor] = []
        for name, parameter in gradients.parameters:
            master = parameter if parameter.dtype == torch.float32 else parameter.detach().float().clone()
            self.masters[name] = master
            matrix = parameter.ndim >= 2 or name == "value_head.weight"
            (decayed if matrix and id(parameter) not in embeddings else plain).append(master)
        groups = [{"params": decayed, "decays": True}, {"params": plain, "decays": False}]
        self._adamw = torch.optim.AdamW([g for g in groups if g["params"]], lr=0.0, foreach=True)

    def grad_norm(self) -> float:
        """Global 2-norm of what has accumulated; tied weights count once."""
        gradients = [gradient for _, _, gradient in self._gradients.tensors()]
        if not gradients:
            return 0.0
        return float(torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients))))

    @torch.no_grad()
    def step(self, parameters: AdamWParameters, clip_factor: float) -> None:
        """Applies the accumulated gradient times `clip_factor` and clears it."""
        tensors = self._gradients.tensors()
        if clip_factor != 1.0:
            torch._foreach_mul_([gradient for _, _, gradient in tensors], clip_factor)
        for name, parameter, gradient in tensors:
            if self.masters[name] is not parameter:
                self.masters[name].grad = gradient
        for group in self._adamw.param_groups:
            group["lr"] = parameters.learning_rate
            group["betas"] = (parameters.beta1, parameters.beta2)
            group["eps"] = parameters.epsilon
            group["weight_decay"] = parameters.weight_decay if group["decays"] else 0.0
        self._adamw.step()
        for name, parameter, _ in tensors:
            master = self.masters[name]
            if master is not parameter:
                parameter.copy_(master)
                master.grad = None
        self._gradients.clear()

    def state(self) -> dict[str, torch.Tensor]:
        """Everything a continuation needs, as tensors by name: moments, step counts and master copies."""
        tensors: dict[str, torch.Tensor] = {}
        for name, parameter in self._gradients.parameters:
            master = self.masters[name]
            if master is not parameter:
                tensors[f"{name}.master"] = master
            for key, value in self._adamw.state.get(master, {}).items():
                tensors[f"{name}.{key}"] = value
        return tensors

    def restore(self, tensors: dict[str, torch.Tensor]) -> None:
        """Puts back what `state` gave."""
        for name, parameter in self._gradients.parameters:
            master = self.masters[name]
            if master is not parameter:
                master.copy_(tensors[f"{name}.master"])
            self._adamw.state.pop(master, None)
            if f"{name}.step" in tensors:
                # torch keeps step counts on CPU, the moments beside the parameter.
                self._adamw.state[master] = {
                    "step": tensors[f"{name}.step"].clone().cpu(),
                    "exp_avg": tensors[f"{name}.exp_avg"].to(master.device, copy=True),
                    "exp_avg_sq": tensors[f"{name}.exp_avg_sq"].to(master.device, copy=True),
                }


def clip_factor(norm: float, max_norm: float) -> float:
    """What gradients of 2-norm `norm` are multiplied by so that it is at most `max_norm`; 1 where that is 0."""
    return max_norm / (norm + 1e-6) if max_norm > 0 and norm > max_norm and math.isfinite(norm) else 1.0
