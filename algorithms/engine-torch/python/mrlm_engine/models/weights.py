"""A model's weights as its transformers class names them, whatever it is wrapped in and wherever its parts are."""

from __future__ import annotations

import torch

from mrlm_engine.distributed.tensors import is_sharded, whole
from mrlm_engine.models.held import HeldModel
from mrlm_engine.models.lora import delta_weight, wrapped_layers


@torch.no_grad()
def inference_weights(held: HeldModel, *, merge_adapter: bool = True) -> dict[str, torch.Tensor]:
    """The weights of the plain causal language model, detached, by state-dict name; LoRA is merged unless told not to.

    Without an adapter, and where each rank holds everything, these are the live tensors; otherwise copies. Tied weights
    appear under each of their names. The caller holds `held.lock`. A collective where the weights are divided.
    """
    merges = merge_adapter and held.adapter_off is None
    layers = wrapped_layers(held.module)
    found: dict[int, torch.Tensor] = {}
    weights = {}
    for name, tensor in held.module.state_dict(keep_vars=True).items():
        if ".lora_" in name:
            continue
        if id(tensor) not in found:
            weight = whole(tensor.detach())
            if is_sharded(tensor) and weight.is_floating_point():
                # Divided weights that learn are in float32.
                weight = weight.to(held.dtype)
            layer = layers.get(name.removesuffix(".base_layer.weight")) if merges else None
            found[id(tensor)] = weight if layer is None else weight + delta_weight(layer).to(weight.dtype)
        weights[name.replace(".base_layer.", ".")] = found[id(tensor)]
    return weights
