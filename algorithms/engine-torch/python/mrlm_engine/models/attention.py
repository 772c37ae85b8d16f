"""Choice of the implementation of attention."""

from __future__ import annotations

import threading
from typing import Any

import torch
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

# Implementations of torch and transformers. For any other name transformers downloads a kernel.
LOCAL = ("eager", "sdpa", "flex_attention")
# Tensors that attention functions receive and may ignore, because masks are made from them.
IN_MASK = ("position_ids", "cache_position", "cu_seq_lens_q", "cu_seq_lens_k", "seq_idx")
_lock = threading.Lock()


def foreign_implementation(fields: Any) -> str:
    """Returns the first implementation of attention or experts in a config.json that is not local."""
    if isinstance(fields, list):
        return next((found for found in map(foreign_implementation, fields) if found), "")
    if not isinstance(fields, dict):
        return ""
    for name, value in fields.items():
        if "attn_implementation" in name or "experts_implementation" in name:
            values = value.values() if isinstance(value, dict) else [value]
            local = (*LOCAL, "grouped_mm", "batched_mm") if "experts" in name else LOCAL
            foreign = [choice for choice in values if choice is not None and choice not in local]
            if foreign:
                return f"{name} {foreign[0]!r}"
        elif found := foreign_implementation(value):
            return found
    return ""


@torch.no_grad()
def settle_attention(module: Any) -> None:
    """Selects a model's own attention if `sdpa` would silently ignore a part of it.

    torch's fused attention has no soft cap (Gemma 2) and no sinks. A pass over two tokens shows whether the model
    passes such arguments to it.
    """
    if module.config._attn_implementation != "sdpa":
        return
    ignored: set[str] = set()
    thread = threading.get_ident()

    def recording(
        layer: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        dropout: float = 0.0,
        scaling: float | None = None,
        is_causal: bool | None = None,
        position_bias: torch.Tensor | None = None,
        **others: Any,
    ) -> Any:
        if threading.get_ident() == thread:
            ignored.update(name for name, given in others.items() if isinstance(given, (float, torch.Tensor)))
        known: dict[str, Any] = {"dropout": dropout, "scaling": scaling, "is_causal": is_causal}
        if position_bias is not None:
            known["position_bias"] = position_bias
        return fused(layer, query, key, value, attention_mask, **known, **others)

    with _lock:
        fused = ALL_ATTENTION_FUNCTIONS["sdpa"]
        ALL_ATTENTION_FUNCTIONS["sdpa"] = recording
        try:
            module.base_model(input_ids=torch.zeros(1, 2, dtype=torch.long, device=module.device), use_cache=False)
        finally:
            del ALL_ATTENTION_FUNCTIONS["sdpa"]
    if ignored.difference(IN_MASK):
        module.set_attn_implementation("eager")
