"""The decoder's own copy of a model's weights, in the fused layout of `weights.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch

from mrlm_engine.llama.adapter import AdapterWeights, allocate_adapters
from mrlm_engine.llama.shape import LlamaShape
from mrlm_engine.llama.weights import LayerWeights, interleave_heads, split_heads
from mrlm_engine.models.weights import LORA_SCALE


@dataclass
class DecoderLayerWeights(LayerWeights):
    """One layer with its norms and adapters; an adapter is None where the matrix has none.

    The memory of a matrix is in the order [inputs, outputs], with which products of few rows are a little faster.
    """

    qkv_adapter: AdapterWeights | None
    output_adapter: AdapterWeights | None
    gate_up_adapter: AdapterWeights | None
    down_adapter: AdapterWeights | None


class DecoderWeights:
    """Fused copies of all weights, and a named view of each original tensor inside them."""

    def __init__(self, shape: LlamaShape, weights: Mapping[str, torch.Tensor]) -> None:
        """Allocates for the tensors named in `weights` (state-dict names) and copies them."""
        self.shape = shape
        self._views: dict[str, torch.Tensor] = {}
        self._interleaved: set[str] = set()
        self._adapters: list[AdapterWeights] = []
        self._source = weights
        self.embedding = self._own("model.embed_tokens.weight")
        tied = "lm_head.weight" not in weights or _same(weights["lm_head.weight"], weights["model.embed_tokens.weight"])
        self.head = self.embedding if tied else self._own("lm_head.weight")
        if tied and "lm_head.weight" in weights:
            self._views["lm_head.weight"] = self.embedding
        self.final_norm = self._own("model.norm.weight")
        self.layers = [self._layer(index) for index in range(shape.layers)]
        unknown = sorted(set(weights) - set(self._views) - ({LORA_SCALE} if self._adapters else set()))
        if unknown:
            raise KeyError(f"weights that the decoder has no place for: {', '.join(unknown)}")
        del self._source
        self.copy_from(weights)

    def copy_from(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Overwrites every weight with the tensor of its name."""
        size = self.shape.head_size
        with torch.no_grad():
            for name, view in self._views.items():
                value = weights[name].to(view.device)
                view.copy_(interleave_heads(value, size) if name in self._interleaved else value)
        for adapter in self._adapters:
            adapter.scale = float(weights[LORA_SCALE])

    def items(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Returns each weight by its state-dict name in its original layout, read back out of the fused tensors."""
        size = self.shape.head_size
        for name, view in self._views.items():
            yield name, split_heads(view, size) if name in self._interleaved else view
        if self._adapters:
            yield LORA_SCALE, torch.tensor(self._adapters[0].scale, dtype=torch.float64)

    def _layer(self, index: int) -> DecoderLayerWeights:
        prefix = f"model.layers.{index}."
        attention = prefix + "self_attn."
        for kind in ("weight", "bias", "lora_B.weight"):
            self._interleaved |= {f"{attention}{which}_proj.{kind}" for which in "qk"}
        self._interleaved |= {f"{attention}{which}_norm.weight" for which in "qk"}
        qkv = [f"{attention}{which}_proj" for which in "qkv"]
        gate_up = [f"{prefix}mlp.{which}_proj" for which in ("gate", "up")]
        return DecoderLayerWeights(
            qkv=self._fuse([f"{name}.weight" for name in qkv]),
            qkv_bias=self._fuse([f"{name}.bias" for name in qkv]) if f"{qkv[0]}.bias" in self._source else None,
            output=self._fuse([f"{attention}o_proj.weight"]),
            output_bias=self._optional(f"{attention}o_proj.bias"),
            gate_up=self._fuse([f"{name}.weight" for name in gate_up]),
            down=self._fuse([f"{prefix}mlp.down_proj.weight"]),
            query_norm=self._optional(f"{attention}q_norm.weight"),
            key_norm=self._optional(f"{attention}k_norm.weight"),
            input_norm=self._own(f"{prefix}input_layernorm.weight"),
            mlp_norm=self._own(f"{prefix}post_attention_layernorm.weight"),
            qkv_adapter=self._adapter(qkv),
            output_adapter=self._adapter([f"{attention}o_proj"]),
            gate_up_adapter=self._adapter(gate_up),
            down_adapter=self._adapter([f"{prefix}mlp.down_proj"]),
        )

    def _adapter(self, layers: list[str]) -> AdapterWeights | None:
        made, views = allocate_adapters(self._source, layers)
        self._views.update(views)
        if made is not None:
            self._adapters.append(made)
        return made

    def _own(self, name: str) -> torch.Tensor:
        tensor = torch.empty_like(self._source[name], memory_format=torch.contiguous_format)
        self._views[name] = tensor
        return tensor

    def _optional(self, name: str) -> torch.Tensor | None:
        return self._own(name) if name in self._source else None

    def _fuse(self, names: list[str]) -> torch.Tensor:
        """Joins matrices [outputs, inputs] or vectors [outputs], one below the other."""
        parts = [self._source[name] for name in names]
        rows = [part.shape[0] for part in parts]
        memory = torch.empty((*parts[0].shape[1:], sum(rows)), dtype=parts[0].dtype, device=parts[0].device)
        fused = memory.t() if memory.dim() == 2 else memory
        self._views.update(zip(names, torch.split(fused, rows), strict=True))
        return fused


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.data_ptr() == other.data_ptr() and one.shape == other.shape
