"""A model's weights as its transformers class names them, whatever it is wrapped in."""

from __future__ import annotations

import torch

from mrlm_engine.models.held import HeldModel
from mrlm_engine.models.lora import adapter_layers, adapters_merged


def inference_weights(held: HeldModel, *, merge_adapter: bool = True) -> dict[str, torch.Tensor]:
    """The weights of the plain causal language model, detached, by state-dict name; LoRA is merged unless told not to.

    Without an adapter these are the live tensors (no copies); with one they are copies. Tied weights appear under
    each of their names. The caller holds `held.lock`.
    """
    module = held.module
    if not adapter_layers(module):
        return {name: tensor.detach() for name, tensor in module.state_dict().items()}
    if held.adapter_off is not None or not merge_adapter:
        return _base_weights(module, clone=True)
    with adapters_merged(module):
        return _base_weights(module, clone=True)


def _base_weights(module: torch.nn.Module, *, clone: bool) -> dict[str, torch.Tensor]:
    weights = {}
    for name, tensor in module.state_dict().items():
        if ".lora_" in name:
            continue
        weights[name.replace(".base_layer.", ".")] = tensor.detach().clone() if clone else tensor.detach()
    return weights
