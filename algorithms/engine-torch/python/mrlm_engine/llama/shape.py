"""Sizes of a model of the Llama family, and the rule that decides whether a model belongs to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from mrlm_engine.compute.matmul import has_bfloat16
from mrlm_engine.llama.projection import is_known

# Model types of transformers with layers of RMS norm, grouped-query attention with rotary positions, RMS norm, SwiGLU.
FAMILY = ("llama", "mistral", "qwen2", "qwen3")
# Rotary variants whose frequencies do not depend on the length of the sequence.
FIXED_ROTARY = ("default", "linear", "llama3", "yarn")


@dataclass(frozen=True)
class LlamaShape:
    """Sizes of a model; `epsilon` is that of its RMS norms."""

    layers: int
    hidden: int
    heads: int
    key_heads: int
    head_size: int
    intermediate: int
    vocab: int
    epsilon: float
    # Whether the queries and keys of each head pass an RMS norm before the rotation (Qwen3).
    head_norms: bool

    @property
    def query_width(self) -> int:
        """Columns of the query projection."""
        return self.heads * self.head_size

    @property
    def key_width(self) -> int:
        """Columns of the key projection, and of the value projection."""
        return self.key_heads * self.head_size


def llama_shape(module: Any) -> LlamaShape | None:
    """Returns the shape of a causal language model of transformers, or None where a part of it is not of the family."""
    config = module.config
    if config.model_type not in FAMILY or config.hidden_act not in ("silu", "swish") or _has_window(config):
        return None
    rotary = module.model.rotary_emb
    head_size = int(getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads)
    # A rotary embedding of some dimensions of a head has fewer frequencies.
    if getattr(rotary, "rope_type", "default") not in FIXED_ROTARY or rotary.inv_freq.shape[0] * 2 != head_size:
        return None
    layers = module.model.layers
    if any(projection.bias is not None for layer in layers for projection in _mlp_projections(layer)):
        return None
    return LlamaShape(
        layers=len(layers),
        hidden=int(config.hidden_size),
        heads=int(config.num_attention_heads),
        key_heads=int(config.num_key_value_heads),
        head_size=head_size,
        intermediate=int(config.intermediate_size),
        vocab=int(config.vocab_size),
        epsilon=float(config.rms_norm_eps),
        head_norms=hasattr(layers[0].self_attn, "q_norm"),
    )


def backbone_shape(module: Any) -> LlamaShape | None:
    """Returns the shape of a model that the hand-written forward and backward passes can train, else None.

    They need float32 parameters, or bfloat16 ones on a processor that multiplies these, and linear layers that are
    plain or, in float32, have a plain adapter.
    """
    shape = llama_shape(module)
    formats = {parameter.dtype for parameter in module.parameters()}
    if shape is None or not (formats == {torch.float32} or computes_mixed(formats, "cpu")):
        return None
    layers = module.model.layers
    projections = (p for layer in layers for p in (*_attention_projections(layer), *_mlp_projections(layer)))
    return shape if all(is_known(projection) for projection in projections) else None


def computes_mixed(formats: set[torch.dtype], device_type: str) -> bool:
    """Whether weights of these formats are multiplied in bfloat16 while everything between two products, and the head,
    is computed in float32.
    """
    return formats == {torch.bfloat16} and device_type == "cpu" and has_bfloat16()


def _attention_projections(layer: Any) -> tuple[Any, ...]:
    attention = layer.self_attn
    return attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj


def _mlp_projections(layer: Any) -> tuple[Any, ...]:
    return layer.mlp.gate_proj, layer.mlp.up_proj, layer.mlp.down_proj


def _has_window(config: Any) -> bool:
    """Whether a layer's attention is limited to a window shorter than the longest sequence of the model.

    The rule is that of the transformers modules: Llama has no window, Mistral has `sliding_window` in every layer, and
    Qwen has it in the layers of type "sliding_attention".
    """
    if config.model_type == "llama":
        return False
    if config.model_type != "mistral" and all(kind == "full_attention" for kind in config.layer_types):
        return False
    window = config.sliding_window
    return window is not None and window < config.max_position_embeddings
