"""What the decoder of the Llama family needs to know of a model, and whether a model belongs to that family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Architectures whose blocks are: RMS norm, grouped-query attention with rotary positions, RMS norm, SwiGLU.
FAMILY = ("llama", "mistral", "qwen2", "qwen3")
# Rotary variants whose frequencies do not depend on the length of the sequence.
FIXED_ROTARY = ("default", "linear", "llama3", "yarn")


@dataclass(frozen=True)
class LlamaShape:
    """Sizes of a model of the Llama family."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocab: int
    epsilon: float
    # RMS norms on the queries and keys of each head (Qwen3).
    head_norms: bool

    @property
    def query_width(self) -> int:
        """Width of the queries of all heads."""
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        """Width of the keys, or of the values, of all key-value heads."""
        return self.kv_heads * self.head_dim


def llama_shape(config: Any) -> LlamaShape | None:
    """The shape of a model of the family, or None where its configuration asks for something else."""
    if config.model_type not in FAMILY or config.hidden_act not in ("silu", "swish"):
        return None
    if (config.rope_parameters or {}).get("rope_type", "default") not in FIXED_ROTARY:
        return None
    kinds = getattr(config, "layer_types", None) or ["full_attention"]
    if any(kind != "full_attention" for kind in kinds) or _slides(config):
        return None
    if getattr(config, "mlp_bias", False):
        return None
    return LlamaShape(
        layers=config.num_hidden_layers,
        hidden=config.hidden_size,
        heads=config.num_attention_heads,
        kv_heads=config.num_key_value_heads,
        head_dim=getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads,
        intermediate=config.intermediate_size,
        vocab=config.vocab_size,
        epsilon=config.rms_norm_eps,
        head_norms=config.model_type == "qwen3",
    )


def _slides(config: Any) -> bool:
    return getattr(config, "sliding_window", None) is not None and getattr(config, "use_sliding_window", True)
