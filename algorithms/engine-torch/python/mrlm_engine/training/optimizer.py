"""AdamW over a model's trainable parameters (Loshchilov & Hutter, arXiv 1711.05101)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch

from mrlm_engine.compute.collectives import sum_over_ranks, world_size
from mrlm_engine.compute.tensors import copies, is_sharded, part, part_of, whole_like
from mrlm_engine.gradients.store import GradientStore
from mrlm_engine.models.loaded_model import LoadedModel


@dataclass(frozen=True)
class AdamWParameters:
    """Hyperparameters of one step."""

    learning_rate: float
    beta1: float
    beta2: float
    epsilon: float
    weight_decay: float


class Optimizer:
    """torch's AdamW in two groups, with and without decay, over this rank's part of each parameter.

    Parameters of a lower format are stepped through float32 master copies, so that small updates are not rounded away;
    those divided among the ranks are in float32 themselves.
    """

    def __init__(self, model: LoadedModel, gradients: GradientStore) -> None:
        self._gradients = gradients
        embeddings = {id(model.module.get_input_embeddings().weight)}
        self.masters: dict[str, torch.Tensor] = {}
        # Parameters of which the model computes with a rounded copy.
        self._rounded: set[str] = set()
        decayed: list[torch.Tensor] = []
        plain: list[torch.Tensor] = []
        for name, parameter in gradients.parameters:
            own = part(parameter)
            master = own if own.dtype == torch.float32 else own.float().clone()
            self.masters[name] = master
            if parameter.dtype != torch.float32 or (is_sharded(parameter) and model.dtype != torch.float32):
                self._rounded.add(name)
            matrix = parameter.ndim >= 2 or name == "value_head.weight"
            (decayed if matrix and id(parameter) not in embeddings else plain).append(master)
        groups = [{"params": decayed, "decays": True}, {"params": plain, "decays": False}]
        # One pass over the weights; torch's default makes ten and needs another number for each weight.
        self._adamw = torch.optim.AdamW([g for g in groups if g["params"]], lr=0.0, fused=True)

    def grad_norm(self) -> float:
        """Returns the global 2-norm of the accumulated gradients over all ranks; tied weights count once."""
        tensors = self._gradients.tensors()
        whole = _norm([gradient for _, _, gradient in tensors if not is_sharded(gradient)])
        divided: dict[int, list[torch.Tensor]] = {}
        for _, parameter, gradient in tensors:
            if is_sharded(gradient):
                divided.setdefault(copies(parameter, world_size()), []).append(part(gradient))
        if not divided:
            return float(whole)
        squares = sum(_norm(parts).square().reshape(1) / number for number, parts in sorted(divided.items()))
        assert isinstance(squares, torch.Tensor)
        sum_over_ranks([squares])
        return float((squares.sum() + whole.square()).sqrt())

    @torch.no_grad()
    def step(self, parameters: AdamWParameters, clip_factor: float) -> None:
        """Applies the accumulated gradients times `clip_factor` and clears them."""
        tensors = [(name, parameter, part(gradient)) for name, parameter, gradient in self._gradients.tensors()]
        if clip_factor != 1.0:
            torch._foreach_mul_([gradient for _, _, gradient in tensors], clip_factor)
        for name, _, gradient in tensors:
            self.masters[name].grad = gradient
        for group in self._adamw.param_groups:
            group["lr"] = parameters.learning_rate
            group["betas"] = (parameters.beta1, parameters.beta2)
            group["eps"] = parameters.epsilon
            group["weight_decay"] = parameters.weight_decay if group["decays"] else 0.0
        self._adamw.step()
        for name, parameter, _ in tensors:
            master = self.masters[name]
            master.grad = None
            if parameter.dtype != torch.float32:
                part(parameter).copy_(master)
        self._gradients.clear()

    def state(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Returns the state for a resumed run, as whole tensors by name: moments, step counts and master copies.

        A collective for each tensor that is divided among the ranks.
        """
        for name, parameter in self._gradients.parameters:
            master = self.masters[name]
            if name in self._rounded:
                yield f"{name}.master", whole_like(master, parameter)
            for key, value in self._adamw.state.get(master, {}).items():
                yield f"{name}.{key}", value if key == "step" else whole_like(value, parameter)

    @torch.no_grad()
    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Restores the tensors of `state`."""
        for name, parameter in self._gradients.parameters:
            master = self.masters[name]
            if f"{name}.master" in tensors:
                master.copy_(part_of(tensors[f"{name}.master"], parameter))
            self._adamw.state.pop(master, None)
            if f"{name}.step" in tensors:
                self._adamw.state[master] = {
                    "step": tensors[f"{name}.step"].to(master.device, copy=True),
                    **{
                        key: part_of(tensors[f"{name}.{key}"], parameter).to(master.device, copy=True)
                        for key in ("exp_avg", "exp_avg_sq")
                    },
                }


def _norm(tensors: list[torch.Tensor]) -> torch.Tensor:
    """Returns the 2-norm over all of `tensors`, a scalar."""
    if not tensors:
        return torch.zeros(())
    norm: torch.Tensor = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(tensors)))
    return norm


def clip_factor(norm: float, max_norm: float) -> float:
    """Returns the factor that limits gradients of 2-norm `norm` to `max_norm`; 1 where `max_norm` is 0."""
    return max_norm / (norm + 1e-6) if max_norm > 0 and norm > max_norm and math.isfinite(norm) else 1.0
