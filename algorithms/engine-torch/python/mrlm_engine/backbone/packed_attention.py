"""Attention of a transformers module over packed rows, registered under a name of its own.

With PACKED a call of the module may have a row of several sequences. Other calls compute what `sdpa` does.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.attention.varlen import varlen_attn
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

from mrlm_engine.batching.packed_layout import PackedRows
from mrlm_engine.compute.out_of_memory import is_out_of_memory
from mrlm_engine.models.attention import IN_MASK

PACKED = "mrlm_packed"
# Shape of the mask that nothing reads.
_UNREAD = (1, 1, 1, 1)
# Kinds of layers whose attention is computed here.
_KINDS = {"full_attention", "sliding_attention"}


def can_pack(config: Any) -> bool:
    """Whether a configuration has only layers whose masks are causal, with a window or without one."""
    text = config.get_text_config()
    kinds = set(getattr(text, "layer_types", None) or ())
    return (
        text._attn_implementation in ("sdpa", PACKED)
        and kinds <= _KINDS
        and not getattr(text, "attention_chunk_size", None)
        and not getattr(text, "use_bidirectional_attention", None)
    )


def is_packed(config: Any) -> bool:
    """Whether the modules of a configuration compute `packed_attention`."""
    return bool(config.get_text_config()._attn_implementation == PACKED)


def has_windows(config: Any) -> bool:
    """Whether some layers attend to a window only."""
    text = config.get_text_config()
    kinds = getattr(text, "layer_types", None)
    if kinds:
        return "sliding_attention" in kinds
    return bool(getattr(text, "sliding_window", None)) and getattr(text, "use_sliding_window", True) is not False


def packed_inputs(packed: PackedRows, device: torch.device) -> dict[str, Any]:
    """Returns the arguments that a module passes on to `packed_attention`.

    A mask of four dimensions is passed on as it is, so that the module makes none. Nothing reads it.
    """
    return {"attention_mask": torch.zeros(_UNREAD, device=device), "packed_rows": packed}


def packed_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    packed_rows: PackedRows | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """Computes query [1, heads, T, d], key and value [1, key heads, T, d] to [1, T, heads, d].

    A query attends to the keys of its own segment and of the segment's parent, up to its own position, and to no more
    than `sliding_window` of them. Raises LookupError for a layer that passes more than that: a bias of its own would
    be lost.
    """
    if packed_rows is None:
        others |= {"scaling": scaling, "sliding_window": sliding_window}
        attended, _ = sdpa_attention_forward(module, query, key, value, attention_mask, **others)
        return attended, None
    _refuse_own_masks(attention_mask, others)
    packed_rows.windows.add(sliding_window or 0)
    packed_rows.widths.add((query.shape[1], key.shape[1], query.shape[3], value.shape[3]))
    context = packed_rows.context
    if context is None:
        return _attend(query, key, value, packed_rows, scaling, sliding_window), None
    if query.shape[1] % context.count == 0 and key.shape[1] % context.count == 0:
        # Each rank computes some heads of all tokens (Ulysses).
        query, key, value = (context.swap(heads, 1, 2) for heads in (query, key, value))
        attended = _attend(query, key, value, packed_rows, scaling, sliding_window)
        return context.swap(attended, 1, 2), None
    assert packed_rows.own is not None
    both = context.gather(torch.cat((key, value), 3), 2)
    key, value = torch.split(both, [key.shape[3], value.shape[3]], 3)
    return _attend(query, key, value, packed_rows.own, scaling, sliding_window), None


def _attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    packed_rows: PackedRows,
    scaling: float | None,
    sliding_window: int | None,
) -> torch.Tensor:
    """Computes query [1, heads, T, d], key and value [1, key heads, K, d] to [1, T, heads, d]."""
    is_grouped = query.shape[1] != key.shape[1]
    if query.device.type != "cpu" and query.dtype != torch.float32:
        if packed_rows.key_rows is not None:
            key, value = (heads.index_select(2, packed_rows.key_rows) for heads in (key, value))
        found: Any = varlen_attn(
            query[0].transpose(0, 1),
            key[0].transpose(0, 1),
            value[0].transpose(0, 1),
            packed_rows.query_bounds,
            packed_rows.key_bounds,
            packed_rows.longest_query,
            packed_rows.longest_key,
            scale=scaling,
            window_size=(-1 if sliding_window is None else sliding_window - 1, 0),
            enable_gqa=is_grouped,
        )
        attended: torch.Tensor = found[None]
        return attended
    if is_grouped and query.device.type != "cpu":
        # With grouped keys float32 takes the kernel that keeps all scores.
        key, value = (heads.repeat_interleave(query.shape[1] // key.shape[1], 1) for heads in (key, value))
        is_grouped = False
    parts = []
    for first, end, begin, stop, own in packed_rows.spans:
        keys, values = (torch.cat((x[:, :, begin:stop], x[:, :, own:end]), 2) for x in (key, value))
        mask = _mask(end - first, stop - begin + first - own, sliding_window, query.device)
        queries = query[:, :, first - packed_rows.start : end - packed_rows.start]
        parts.append(
            F.scaled_dot_product_attention(
                queries,
                keys,
                values,
                attn_mask=mask,
                is_causal=mask is None,
                scale=scaling,
                enable_gqa=is_grouped,
            )
        )
    return torch.cat(parts, 2).transpose(1, 2)


def _refuse_own_masks(mask: torch.Tensor | None, others: dict[str, Any]) -> None:
    if mask is None or mask.shape != _UNREAD:
        raise LookupError("its layers make masks of their own")
    read = sorted(
        name
        for name, given in others.items()
        if isinstance(given, (float, torch.Tensor)) and name not in (*IN_MASK, "dropout")
    )
    if others.get("is_causal") is False:
        read.append("is_causal")
    if read:
        raise LookupError(f"its layers pass {', '.join(read)} to attention functions")


def kernel_takes(packed: PackedRows, device: torch.device, dtype: torch.dtype) -> bool:
    """Whether `varlen_attn` computes and differentiates the calls that `packed` has seen, with factors of `dtype`."""
    if device.type == "cpu" or dtype == torch.float32:
        return True
    bounds = torch.tensor([0, 4, 8], dtype=torch.int32, device=device)
    try:
        for heads, key_heads, width, value_width in packed.widths:
            shapes = ((heads, width), (key_heads, width), (key_heads, value_width))
            query, key, value = (torch.ones(8, *shape, device=device, dtype=dtype) for shape in shapes)
            for window in packed.windows:
                with torch.enable_grad():
                    query.requires_grad_()
                    sides = (window - 1 if window else -1, 0)
                    is_grouped = heads != key_heads
                    found: Any = varlen_attn(
                        query, key, value, bounds, bounds, 4, 4, window_size=sides, enable_gqa=is_grouped
                    )
                    found.float().sum().backward()
    except (RuntimeError, TypeError, ValueError) as error:
        if is_out_of_memory(error):
            raise
        return False
    return True


def _mask(queries: int, before: int, window: int | None, device: torch.device) -> torch.Tensor | None:
    """Returns which keys each query attends to, bool [queries, before + queries]; None for plain causal attention."""
    if not before and (window is None or queries <= window):
        return None
    distance = torch.arange(queries, device=device)[:, None] + before - torch.arange(before + queries, device=device)
    return (distance >= 0) & (distance < window) if window is not None else distance >= 0


AttentionInterface.register(PACKED, packed_attention)
AttentionMaskInterface.register(PACKED, sdpa_mask)
