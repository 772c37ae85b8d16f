"""The numbers that describe a dense decoder, and whether the hot path computes exactly what its module computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from mrlm_engine.llama.projection import is_known

# Pre-norm decoders with rotary positions, grouped-query attention and a gated SiLU feed-forward.
FAMILY = frozenset({"llama", "qwen2", "mistral"})


@dataclass(frozen=True)
class DenseShape:
    """Sizes of a dense decoder; `epsilon` is that of its RMS norms."""

    layers: int
    hidden: int
    heads: int
    key_heads: int
    head_size: int
    intermediate: int
    epsilon: float

    @property
    def query_width(self) -> int:
        """Columns of the query projection."""
        return self.heads * self.head_size

    @property
    def key_width(self) -> int:
        """Columns of the key projection, and of the value projection."""
        return self.key_heads * self.head_size


def dense_shape(module: Any) -> DenseShape | None:
    """The shape of `module`, or None where some part of it is not of the family as the hot path knows it."""
    config = module.config
    if config.model_type not in FAMILY or config.hidden_act != "silu":
        return None
    layers = module.model.layers
    head_size = int(getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads)
    rotary = module.model.rotary_emb
    plain = (
        all(is_known(projection) for layer in layers for projection in _linear_layers(layer))
        and all(layer.self_attn.o_proj.bias is None and layer.mlp.up_proj.bias is None for layer in layers)
        and all(parameter.dtype == torch.float32 for parameter in module.parameters())
        and rotary.inv_freq.shape[0] * 2 == head_size
        and getattr(rotary, "rope_type", "default") not in ("dynamic", "longrope")
        and not _slides(config)
    )
    if not plain:
        return None
    return DenseShape(
        layers=len(layers),
        hidden=int(config.hidden_size),
        heads=int(config.num_attention_heads),
        key_heads=int(config.num_key_value_heads),
        head_size=head_size,
        intermediate=int(config.intermediate_size),
        epsilon=float(config.rms_norm_eps),
    )


def _linear_layers(layer: Any) -> tuple[Any, ...]:
    attention, mlp = layer.self_attn, layer.mlp
    return (
        *(attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj),
        *(mlp.gate_proj, mlp.up_proj, mlp.down_proj),
    )


def _slides(config: Any) -> bool:
    """Whether some layer attends through a sliding window shorter than the model's positions."""
    types = getattr(config, "layer_types", None)
    if types is not None:
        return any(kind != "full_attention" for kind in types)
    window = getattr(config, "sliding_window", None)
    return window is not None and window < config.max_position_embeddings
