"""Sizes of a model that determine its memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from mrlm_engine.llama.shape import backbone_shape
from mrlm_engine.models.from_config import module_from
from mrlm_engine.models.lora_layers import layer_size, target_layers
from mrlm_engine.models.max_positions import max_positions


@dataclass(frozen=True)
class ModelShape:
    """Sizes of a causal language model. Widths are in numbers for each token; tied weights count once."""

    parameters: int
    layers: int
    hidden: int
    intermediate: int
    heads: int
    query_width: int
    # Width of the keys, and of the values.
    key_width: int
    vocabulary: int
    # Longest sequence in tokens; 0 if the configuration has no limit.
    positions: int
    # Weights of the linear layers in front of a norm's output (query, key, value, gate, up) and of all of the layers'
    # linear layers, where the hot path computes the model; else 0.
    folded_weights: int = 0
    layer_weights: int = 0
    # Whether the hot path keeps normalised heads too.
    head_norms: bool = False
    # Weights of the embedding and of the head, which ranks along `tensor` hold whole.
    ends: int = 0


def module_numbers(shape: ModelShape, dtype_bytes: int) -> int:
    """Returns how many numbers a layer of a transformers module keeps per token for its backward pass, in its format.

    Counted on the saved tensors of Llama and Qwen2, with RMS norms and a gated MLP; other architectures keep less. In
    16 bits norms keep float32.
    """
    norms = 6 if dtype_bytes == 4 else 8
    return norms * shape.hidden + 4 * shape.intermediate + 4 * shape.query_width + 2 * shape.key_width


def empty_model(config: Any, dtype: torch.dtype) -> Any:
    """Creates the module of a configuration without memory for its weights."""
    with torch.device("meta"):
        return module_from(config, dtype)


def model_shape(module: Any) -> ModelShape:
    """Returns the shape of a module, which may be an empty one."""
    config = module.config.get_text_config()
    hidden, heads = int(config.hidden_size), int(getattr(config, "num_attention_heads", None) or 1)
    head_size = int(getattr(config, "head_dim", None) or hidden // heads)
    key_heads = int(getattr(config, "num_key_value_heads", None) or heads)
    intermediate = getattr(config, "intermediate_size", None) or getattr(config, "n_inner", None) or 4 * hidden
    dense = backbone_shape(module)
    layers = int(getattr(config, "num_hidden_layers", None) or 1)
    folded = (
        0 if dense is None else layers * hidden * (dense.query_width + 2 * dense.key_width + 2 * dense.intermediate)
    )
    rest = 0 if dense is None else layers * hidden * (dense.query_width + dense.intermediate)
    return ModelShape(
        parameters=sum(parameter.numel() for parameter in module.parameters()),
        layers=layers,
        hidden=hidden,
        intermediate=int(intermediate),
        heads=heads,
        query_width=heads * head_size,
        key_width=key_heads * head_size,
        vocabulary=int(module.get_input_embeddings().weight.shape[0]),
        positions=max_positions(config),
        folded_weights=folded,
        layer_weights=folded + rest,
        head_norms=dense is not None and dense.head_norms,
        ends=sum(
            weight.numel() for weight in {module.get_input_embeddings().weight, module.get_output_embeddings().weight}
        ),
    )


def adapter_parameters(module: Any, rank: int, target_modules: Sequence[str]) -> int:
    """Returns the number of weights of a low-rank adapter: rank x (inputs + outputs) of each target layer."""
    return rank * sum(sum(layer_size(layer)) for layer in target_layers(module, target_modules).values())


def adapter_inputs(module: Any, target_modules: Sequence[str], layers: int) -> int:
    """Returns the inputs of the target layers, divided by the number of `layers`."""
    return sum(layer_size(layer)[0] for layer in target_layers(module, target_modules).values()) // layers
