"""Tensor parallel products of a module, by the plan of its transformers class, which divides experts too.

The embedding and the head stay whole on each rank along `tensor`: log-probabilities are computed from all of the head.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import torch
from torch.distributed.device_mesh import DeviceMesh
from transformers.distributed.tensor_parallel import apply_tensor_parallelism, replace_layer_number_by_wildcard

from mrlm_engine.compute.collectives import sum_over_ranks
from mrlm_engine.compute.tensors import is_sharded
from mrlm_engine.errors import EngineError
from mrlm_engine.models.layers import first_layers

# Style of a weight that ranks have whole, and whose gradient each has for its own heads. transformers sums the `.grad`
# in each backward pass, which would sum the earlier passes again; `GradientStore` sums it at the end.
_PARTIAL = "replicated_with_grad_allreduce"
# Largest relative difference of hidden states, and of gradients, to those before the division, in float32. A wrong plan
# changes them by more than a tenth.
_LIMIT = 1e-3
_LENGTH = 12


def check_tensor_parallel(module: Any, tensor: int, model_id: str, *, has_adapter: bool) -> None:
    """Refuses a module that has no plan, an adapter, and sizes that `tensor` ranks cannot share evenly."""
    config = module.config.get_text_config()
    if has_adapter:
        raise EngineError(
            "OPTIONS_INVALID",
            f"'{model_id}' has an adapter, whose factors ranks along `tensor` cannot share.",
            "Set engine.parallel.tensor to 1, or train all weights.",
        )
    if not tensor_plan(module):
        raise EngineError(
            "OPTIONS_INVALID",
            f"transformers has no plan by which {tensor} ranks share the products of '{model_id}' "
            f"({config.model_type}).",
            "Set engine.parallel.tensor to 1. Divide the weights with distributed.strategy fsdp, and long sequences "
            "with engine.parallel.context.",
        )
    sizes = {
        name: value
        for name in (
            "num_attention_heads",
            "num_key_value_heads",
            "intermediate_size",
            "moe_intermediate_size",
            "shared_expert_intermediate_size",
        )
        if isinstance(value := getattr(config, name, None), int)
    }
    uneven = [f"{name} {value}" for name, value in sizes.items() if value % tensor]
    if uneven:
        raise EngineError(
            "OPTIONS_INVALID",
            f"{tensor} ranks cannot share '{model_id}' evenly, which has {', '.join(uneven)}.",
            "Set engine.parallel.tensor to a common divisor of these sizes.",
        )


def tensor_plan(module: Any) -> dict[str, str]:
    """Returns the style of each kind of weight and module that is divided, by its name with `*` for numbers."""
    ends = (module.get_input_embeddings(), module.get_output_embeddings())
    whole = {name for name, part in module.named_modules() if any(part is end for end in ends)}
    return {name: style for name, style in module.tp_plan.items() if name not in whole and style != _PARTIAL}


def partial_gradients(module: Any) -> list[torch.nn.Parameter]:
    """Returns the weights whose gradients each rank along `tensor` has for its own heads only."""
    kinds = {name for name, style in module.tp_plan.items() if style == _PARTIAL}
    return [
        parameter
        for name, part in module.named_modules()
        if replace_layer_number_by_wildcard(name) in kinds
        for parameter in part.parameters(recurse=False)
    ]


@dataclass(frozen=True)
class _Probe:
    """Hidden states of some tokens, and the gradients of a sum of them for the weights that stay whole, by name."""

    states: torch.Tensor
    gradients: dict[str, torch.Tensor]


def divide_products(module: Any, mesh: DeviceMesh, model_id: str) -> None:
    """Divides the products among the ranks of `mesh`, whose weights become DTensors. A collective.

    Compares hidden states and gradients with those of the whole module, so that a plan which does not fit a family is
    refused before anything is trained. Plans are of kinds of layers, so the first layers are enough.
    """
    # Gathering a weight that both dimensions of a mesh divide takes two steps, which torch warns about.
    logging.getLogger("torch.distributed.tensor._redistribute").setLevel(logging.ERROR)
    device = torch.device(mesh.device_type)
    with first_layers(module):
        expected = _probe(module, torch.device("cpu"))
    apply_tensor_parallelism(module, mesh, tensor_plan(module))
    module.to(device)
    with first_layers(module):
        found = _probe(module, device)
    partial = {id(parameter) for parameter in partial_gradients(module)}
    names = [name for name, parameter in module.named_parameters() if id(parameter) in partial]
    sum_over_ranks([found.gradients[name] for name in names if name in found.gradients], mesh.get_group())
    differences = {"its hidden states": _difference(found.states, expected.states)} | {
        f"the gradients of {name}": _difference(found.gradients[name], gradient)
        for name, gradient in expected.gradients.items()
        if name in found.gradients
    }
    worst = max(differences, key=lambda name: differences[name])
    if not differences[worst] <= _LIMIT:
        raise EngineError(
            "OPTIONS_INVALID",
            f"'{model_id}' ({module.config.model_type}) in {mesh.size()} parts is another model: {worst} differ by "
            f"{differences[worst]:.2g} (limit {_LIMIT:.2g}), so transformers' plan for it is incomplete.",
            "Set engine.parallel.tensor to 1.",
        )


def _probe(module: Any, device: torch.device) -> _Probe:
    width = module.get_input_embeddings().weight.shape[1]
    inputs = torch.sin(torch.arange(_LENGTH * width, device=device) * 1.7).view(1, _LENGTH, width)
    norms = {
        name: parameter
        for name, parameter in module.base_model.named_parameters(prefix=module.base_model_prefix)
        if parameter.requires_grad and parameter.ndim == 1 and not is_sharded(parameter)
    }
    with torch.enable_grad():
        states = module.base_model(inputs_embeds=inputs, use_cache=False).last_hidden_state
        weights = torch.cos(torch.arange(states.numel(), device=device) * 2.3).view_as(states)
        found = torch.autograd.grad((states * weights).sum(), list(norms.values()), allow_unused=True) if norms else ()
    gradients = {name: gradient for name, gradient in zip(norms, found, strict=True) if gradient is not None}
    return _Probe(states.detach(), gradients)


def _difference(found: torch.Tensor, expected: torch.Tensor) -> float:
    expected = expected.to(found.device)
    return float((found - expected).norm() / expected.norm().clamp_min(1e-6))
