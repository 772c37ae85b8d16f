"""Linear layers of a transformers module, with a low-rank adapter (arXiv 2106.09685) or without.

The hot path multiplies by the merged weight W + s B A. With G the gradient of the merged weight, that of the factors is
exact: dB = s G A', dA = s B' G.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import torch

from mrlm_engine.gradients.sink import GradientSink
from mrlm_engine.models.lora import ADAPTER, delta_weight


def is_known(layer: Any) -> bool:
    """Whether a layer is a plain linear one, or one that peft wrapped in a plain adapter."""
    if type(layer) is torch.nn.Linear:
        return True
    if importlib.util.find_spec("peft") is None:
        return False
    from peft.tuners.lora import Linear

    return (
        type(layer) is Linear
        and type(layer.base_layer) is torch.nn.Linear
        and list(layer.lora_A) == [ADAPTER]
        and not layer.fan_in_fan_out
        and not layer.use_dora.get(ADAPTER, False)
    )


def is_adapted(layer: Any) -> bool:
    """Whether a known layer has an adapter."""
    return type(layer) is not torch.nn.Linear


def merged_weight(layer: Any, with_adapter: bool) -> torch.Tensor:
    """Returns the weight that the layer multiplies by, detached; its own tensor if no adapter changes it."""
    weight: torch.Tensor = layer.weight.detach()
    return weight + delta_weight(layer) if with_adapter and is_adapted(layer) else weight


def add_weight_gradient(sink: GradientSink, layer: Any, gradient: torch.Tensor) -> None:
    """Adds the gradient of the merged weight [outputs, inputs] for the trainable parameters of the layer."""
    if is_adapted(layer):
        down, up, scale = layer.lora_A[ADAPTER].weight, layer.lora_B[ADAPTER].weight, layer.scaling[ADAPTER]
        sink.add(up, torch.mm(gradient, down.detach().t()).mul_(scale))
        sink.add(down, torch.mm(up.detach().t(), gradient).mul_(scale))
    else:
        sink.add(layer.weight, gradient)
