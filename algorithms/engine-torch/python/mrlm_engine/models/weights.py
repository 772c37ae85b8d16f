"""Weights of a model under the names of its transformers class, independent of wrappers and shards."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from mrlm_engine.compute.collectives import is_leader
from mrlm_engine.compute.tensors import is_sharded, whole
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.lora import adapter_layers, adapter_scale, delta_weight, is_factor, plain_name

# Name of s = alpha / rank among the weights of a model with an adapter.
LORA_SCALE = "lora_scale"


@torch.no_grad()
def inference_weights(model: LoadedModel) -> dict[str, torch.Tensor]:
    """Returns all tensors that the model computes with, detached, by state-dict name.

    An adapter's factors, float32, are beside the weights: `<layer>.lora_A.weight` [rank, inputs],
    `<layer>.lora_B.weight` [outputs, rank], and `lora_scale` (0-dim, float64). If each rank holds all weights these
    are the live tensors, otherwise copies. Tied weights appear under each of their names. The caller holds
    `model.lock`. A collective if the weights are sharded.
    """
    found: dict[int, torch.Tensor] = {}
    weights = {}
    for name, tensor in _tensors(model):
        if id(tensor) not in found:
            found[id(tensor)] = _whole(model, tensor)
        weights[plain_name(name)] = found[id(tensor)]
    if model.has_adapter:
        assert model.lora is not None
        weights[LORA_SCALE] = torch.tensor(adapter_scale(model.lora), dtype=torch.float64)
    return weights


@torch.no_grad()
def merged_weights(model: LoadedModel) -> dict[str, torch.Tensor]:
    """Returns the weights W + s B A of a model with an adapter, in float32 on CPU, by state-dict name.

    On ranks other than 0 the tensors are empty. The caller holds `model.lock`. A collective if the weights are sharded.
    """
    layers = adapter_layers(model.module)
    found: dict[int, torch.Tensor] = {}
    weights = {}
    for name, tensor in _tensors(model):
        if is_factor(name):
            continue
        if id(tensor) not in found:
            weight = _whole(model, tensor)
            if not is_leader():
                # Gathered as on rank 0, and discarded.
                weight = weight.new_empty(0)
            elif weight.is_floating_point():
                layer = layers.get(name.removesuffix(".base_layer.weight"))
                weight = (weight.float() if layer is None else weight.float() + delta_weight(layer)).cpu()
            found[id(tensor)] = weight
        weights[plain_name(name)] = found[id(tensor)]
    return weights


def _tensors(model: LoadedModel) -> Iterator[tuple[str, torch.Tensor]]:
    for name, tensor in model.module.state_dict(keep_vars=True).items():
        if model.has_adapter or not is_factor(name):
            yield name, tensor


def _whole(model: LoadedModel, tensor: torch.Tensor) -> torch.Tensor:
    weight = whole(tensor.detach())
    # Sharded trainable weights are in float32.
    return weight.to(model.dtype) if is_sharded(tensor) and weight.is_floating_point() else weight
