"""Decoding for the Llama family: fused weights, slots of keys and values, shared prompts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F

from mrlm_engine.compute.matmul import add_linear_, float32_linear, linear
from mrlm_engine.compute.transfer import to_device
from mrlm_engine.decoding.protocol import PromptGroup
from mrlm_engine.decoding.row_moves import RowMoves
from mrlm_engine.llama.adapter import AdapterWeights
from mrlm_engine.llama.cached_attention import fused_attention, product_attention
from mrlm_engine.llama.decoder_weights import DecoderLayerWeights, DecoderWeights
from mrlm_engine.llama.kv_cache import KVCache
from mrlm_engine.llama.prefix_cache import PrefixCache
from mrlm_engine.llama.rotary import RotaryTable, rotate_
from mrlm_engine.llama.shape import LlamaShape, computes_mixed
from mrlm_engine.llama.shared_prefix import LEAST_PREFIX, SharedPrefix, common_length

# Tokens, padding included, that one pass over prompts takes at most.
PREFILL_TOKENS = 8192
# Keys that such a pass reads at most, a shared beginning counted for each prompt: they are copied in each layer.
PREFILL_KEYS = 32768


class LlamaDecoder:
    """A Decoder for models of the Llama family. Features are the last hidden states after the final norm."""

    def __init__(
        self, shape: LlamaShape, weights: Mapping[str, torch.Tensor], rotary: Any, *, float32_head: bool = False
    ) -> None:
        """`rotary` is the model's rotary module; it must not be shared with a module that moves to another device."""
        self.shape = shape
        self.rows = 0
        self.vocab = shape.vocab
        self._weights = DecoderWeights(shape, weights)
        dtype = self._weights.embedding.dtype
        self._device = self._weights.embedding.device
        is_mixed = computes_mixed({weight.dtype for weight in weights.values()}, self._device.type)
        # Format of everything but the products.
        self._dtype = torch.float32 if is_mixed else dtype
        self._low = dtype
        self._float32_head = (float32_head or is_mixed) and dtype != torch.float32
        self._head = self._head_weight()
        self._rotary = RotaryTable(rotary, self._device)
        self._cache = KVCache(shape.layers, shape.key_heads, shape.head_size, self._dtype, self._device)
        # Tokens of each row, and how many of them are in its own slot (the rest is a prompt that rows share), int64
        # [2, rows]: on the host, so that sizes are known without waiting, and on the device, where they are indices.
        self._sizes: npt.NDArray[np.int64] = np.empty((2, 0), np.int64)
        self._sizes_there = to_device(self._sizes.copy(), self._device)
        # Maxima of these numbers, and whether all rows have the same number in their slots.
        self._longest = self._columns = 0
        self._even = True
        # Beginning of all prompts that entered an empty batch, where it was worth being computed once.
        self._prefix: SharedPrefix | None = None
        # Prompts that rows share: whole prompts of several rows each if `_whole`, otherwise only the beginning.
        self._prompts: PrefixCache | None = None
        self._whole = False
        # Small matrices by batched products are several times faster than the fused kernel on CPU; elsewhere, and in
        # 16 bits, the fused kernel keeps the sums in float32.
        self._by_products = self._dtype == torch.float32 and self._device.type == "cpu"
        self._epsilon = torch.tensor(shape.epsilon, device=self._device)

    def load(self, weights: Mapping[str, torch.Tensor]) -> None:
        self._weights.copy_from(weights)
        if self._prefix is not None:
            self._prefix = dataclasses.replace(self._prefix, stale=True)
        self._head = self._head_weight()

    def weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        return self._weights.items()

    def bytes_for(self, rows: int, length: int) -> int:
        return self._cache.bytes_for(rows, length)

    def clear(self) -> None:
        self.keep(RowMoves.closing(np.ones(self.rows, np.bool_), self._device))

    def scrub(self, rows: npt.NDArray[np.int64]) -> None:
        self._cache.clear(to_device(rows, self._device))

    def keep(self, moves: RowMoves) -> None:
        if len(moves.target):
            self._cache.move(*moves.on_device, self._columns)
        if self._prompts is not None:
            self._prompts.keep(moves.target.tolist(), moves.source.tolist(), moves.rows)
        self._resize(moves.apply_array(self._sizes.T).T.copy(), moves.apply(self._sizes_there.t()).t().contiguous())

    def logits(self, features: torch.Tensor) -> torch.Tensor:
        if self._float32_head and self._head.dtype != torch.float32:
            return float32_linear(features, self._head)
        return linear(features.to(self._head.dtype), self._head)

    def admit(self, groups: Sequence[PromptGroup]) -> torch.Tensor:
        lengths = np.repeat([g.tokens.numel() for g in groups], [g.rows for g in groups])
        if not self.rows:
            self._prompts, self._prefix = None, self._computed_prefix(groups)
            # Sharing costs two small products a layer, so it needs two rows for each prompt.
            self._whole = self._by_products and len(lengths) >= 2 * len(groups)
            if self._whole or (self._by_products and self._prefix is not None):
                self._prompts = PrefixCache()
        prefix = self._prefix if self._prefix is not None and self._prefix.begins(groups) else None
        shared = np.zeros_like(lengths)
        if self._prompts is not None and self._whole:
            shared = lengths
        elif self._prompts is not None and self._prefix is not None:
            # Rows with another beginning have a prompt without tokens.
            length = 0 if prefix is None else prefix.length
            self._prompts.join([data[:, :, :, :length] for data in self._prefix.data], len(lengths))
            shared = np.full_like(lengths, length)
        sizes = np.stack((lengths, lengths - shared))
        there = to_device(sizes.copy(), self._device)
        self._cache.reserve(self.rows + len(lengths), max(self._columns, int(sizes[1].max())) + 1, used=self.rows)
        self._cache.open_rows(self.rows, there[1])
        features = [self._prefill(part, self.rows + before, prefix) for before, part in _parts(groups, prefix)]
        self._resize(np.concatenate((self._sizes, sizes), 1), torch.cat((self._sizes_there, there), 1))
        return torch.cat(features)

    def step(self, tokens: torch.Tensor) -> torch.Tensor:
        columns = self._columns + 1
        self._cache.reserve(self.rows, columns, used=self.rows)
        lengths, own = self._sizes_there.unbind(0)
        rotary = self._rotary.upto(self._longest + 1)[lengths][:, None]
        place = self._cache.locate(own)
        hidden = F.embedding(tokens, self._weights.embedding).to(self._dtype)
        for number, layer in enumerate(self._weights.layers):
            queries, keys_values = self._project(layer, hidden, rotary)
            self._cache.write(number, self._columns if self._even else place, keys_values)
            self._finish_block(layer, hidden, self._attend(number, queries, columns))
        self._sizes += 1
        self._sizes_there += 1
        self._longest += 1
        self._columns += 1
        return self._norm(hidden, self._weights.final_norm)

    def _computed_prefix(self, groups: Sequence[PromptGroup]) -> SharedPrefix | None:
        """Computes the tokens with which all prompts begin once, where they are several prompts and enough tokens."""
        # On a GPU attention behind it would take a mask, with grouped keys by a kernel that keeps all scores.
        if len(groups) < 2 or self._device.type != "cpu":
            return None
        length = common_length([group.tokens for group in groups])
        if length < LEAST_PREFIX:
            return None
        data: list[torch.Tensor] = []
        tokens = groups[0].tokens[:length]
        self._forward(to_device(tokens.numpy(), self._device)[None], None, lambda _, new: data.append(new.contiguous()))
        return SharedPrefix(tokens, data)

    def _prefill(self, groups: Sequence[PromptGroup], first: int, prefix: SharedPrefix | None) -> torch.Tensor:
        """Computes the distinct prompts once, behind `prefix`; features of the rows of `groups`, the first of which is
        row `first`."""
        device = self._device
        known = 0 if prefix is None else prefix.length
        lengths = [group.tokens.numel() - known for group in groups]
        width = max(lengths)
        # Padding is on the right, where causal attention does not read it.
        padded = np.zeros((len(groups), width), np.int64)
        for row, group in enumerate(groups):
            padded[row, : lengths[row]] = group.tokens[known:].numpy()
        copies = np.repeat(np.arange(len(groups)), [group.rows for group in groups])
        ends = np.arange(len(groups)) * width + np.array(lengths) - 1
        indices = to_device(np.concatenate((padded.reshape(-1), copies, ends)), device)
        tokens, group_of_row, last = torch.split(indices, [padded.size, len(copies), len(ends)])
        rows = slice(first, first + len(copies))
        shared: list[torch.Tensor] = []

        def keep(number: int, keys_values: torch.Tensor) -> None:
            before = None if prefix is None else prefix.data[number]
            if self._prompts is not None and self._whole:
                shared.append(keys_values.contiguous() if before is None else _behind(before, keys_values))
                return
            slots = self._cache.data[number][:, :, rows]
            if before is not None and self._prompts is None:
                slots[..., :known, :] = before
                slots = slots[..., known:, :]
            slots[..., :width, :] = keys_values[:, :, group_of_row]

        hidden = self._forward(tokens.view(len(groups), width), prefix, keep)
        if self._prompts is not None and self._whole:
            self._prompts.add(shared, [known + length for length in lengths], [group.rows for group in groups])
        return self._norm(hidden[last], self._weights.final_norm)[group_of_row]

    def _forward(
        self, tokens: torch.Tensor, prefix: SharedPrefix | None, keep: Callable[[int, torch.Tensor], None]
    ) -> torch.Tensor:
        """Computes the hidden states [count * width, hidden] of tokens [count, width], each row of which follows
        `prefix`. `keep` gets the number of each layer with its keys and values [2, key_heads, count, width, head_size].
        """
        shape = self.shape
        count, width = tokens.shape
        known = 0 if prefix is None else prefix.length
        hidden = F.embedding(tokens.reshape(-1), self._weights.embedding).to(self._dtype)
        rotary = self._rotary.upto(known + width)[known : known + width].repeat(count, 1)[:, None]
        mask = None if prefix is None else prefix.mask(width, self._dtype)
        for number, layer in enumerate(self._weights.layers):
            queries, keys_values = self._project(layer, hidden, rotary)
            by_head = keys_values.view(count, width, 2, shape.key_heads, shape.head_size).permute(2, 3, 0, 1, 4)
            keep(number, by_head)
            queries = queries.view(count, width, shape.heads, shape.head_size).transpose(1, 2)
            seen = by_head if prefix is None else _behind(prefix.data[number], by_head)
            keys, values = seen.transpose(1, 2)
            attended = F.scaled_dot_product_attention(
                queries, keys, values, attn_mask=mask, is_causal=mask is None, enable_gqa=True
            )
            self._finish_block(layer, hidden, attended.transpose(1, 2).reshape(-1, shape.query_width))
        return hidden

    def _project(
        self, layer: DecoderLayerWeights, hidden: torch.Tensor, rotary: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the rotated queries [n, query_width], and [n, 2 * key_heads, head_size] of rotated keys, then
        values.
        """
        shape = self.shape
        n, rotated = hidden.shape[0], shape.heads + shape.key_heads
        assert layer.input_norm is not None
        normed = self._norm(hidden, layer.input_norm)
        qkv = linear(normed, layer.qkv, layer.qkv_bias)
        if layer.qkv_adapter is not None:
            qkv = layer.qkv_adapter.added_to(qkv, normed)
        by_head = qkv.view(n, rotated + shape.key_heads, shape.head_size)
        if layer.query_norm is not None and layer.key_norm is not None:
            by_head[:, : shape.heads] = self._norm(by_head[:, : shape.heads], layer.query_norm)
            by_head[:, shape.heads : rotated] = self._norm(by_head[:, shape.heads : rotated], layer.key_norm)
        rotate_(by_head[:, :rotated], rotary)
        return qkv[:, : shape.query_width], by_head[:, shape.heads :]

    def _attend(self, layer: int, queries: torch.Tensor, columns: int) -> torch.Tensor:
        """Computes attention of one new token of each row: queries [rows, query_width] to [rows, query_width]."""
        keys, values = self._cache.data[layer][:, :, : self.rows, :columns]
        mask = None if self._even else self._cache.mask[: self.rows, :, :columns]
        if self._by_products:
            return product_attention(queries, keys, values, mask, self._prompts, layer)
        return fused_attention(queries, keys, values, mask)

    def _finish_block(self, layer: DecoderLayerWeights, hidden: torch.Tensor, attended: torch.Tensor) -> None:
        """Adds the attention's output and the MLP to `hidden` [n, hidden] in place."""
        if layer.output_bias is not None:
            hidden += layer.output_bias
        _add_projection(hidden, attended, layer.output, layer.output_adapter)
        assert layer.mlp_norm is not None
        normed = self._norm(hidden, layer.mlp_norm)
        gate_up = linear(normed.to(self._low), layer.gate_up)
        if layer.gate_up_adapter is not None:
            gate_up = layer.gate_up_adapter.added_to(gate_up, normed)
        gate, up = gate_up.chunk(2, -1)
        _add_projection(hidden, F.silu(gate).mul_(up), layer.down, layer.down_adapter)

    def _norm(self, hidden: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Computes the root-mean-square norm (Zhang & Sennrich, arXiv 1910.07467) over the last dimension."""
        if not self._by_products:
            return F.rms_norm(hidden, (hidden.shape[-1],), weight, self.shape.epsilon)
        # On CPU F.rms_norm is a chain of full-width operations; this is one reduction and two products.
        squares = torch.linalg.vecdot(hidden, hidden)
        factor = torch.add(self._epsilon, squares, alpha=1 / hidden.shape[-1]).rsqrt_()
        return (hidden * factor.unsqueeze(-1)).mul_(weight)

    def _head_weight(self) -> torch.Tensor:
        is_converted = self._float32_head and self._device.type == "cpu"
        return self._weights.head.float() if is_converted else self._weights.head

    def _resize(self, sizes: npt.NDArray[np.int64], there: torch.Tensor) -> None:
        self._sizes, self._sizes_there = sizes, there
        self.rows = sizes.shape[1]
        self._longest, self._columns = (int(most) for most in sizes.max(1, initial=0))
        self._even = not self.rows or int(sizes[1].min()) == self._columns


def _add_projection(
    hidden: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, adapter: AdapterWeights | None
) -> None:
    """Adds x weight' [n, hidden] and the adapter's part to `hidden` in place."""
    if adapter is not None and hidden.dtype != torch.float32:
        # The sum is rounded before it is added to `hidden`, whose larger numbers would lose more of its digits.
        hidden += adapter.added_to(linear(x, weight), x)
        return
    add_linear_(hidden, x, weight)
    if adapter is not None:
        adapter.added_to(hidden, x)


def _behind(prefix: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """Returns [2, key_heads, prompts, columns, head_size] of `prefix`, which has one prompt, then `own` of each."""
    return torch.cat((prefix.expand(-1, -1, own.shape[2], -1, -1), own), 3)


def _parts(groups: Sequence[PromptGroup], prefix: SharedPrefix | None) -> Iterator[tuple[int, Sequence[PromptGroup]]]:
    """Cuts `groups` into runs of at most PREFILL_TOKENS padded tokens, which read at most PREFILL_KEYS keys. Each comes
    with its number of rows before it.
    """
    known = 0 if prefix is None else prefix.length
    start = offset = rows = longest = 0
    for index, group in enumerate(groups):
        longest = max(longest, group.tokens.numel() - known)
        count = index - start + 1
        if index > start and (count * longest > PREFILL_TOKENS or count * (known + longest) > PREFILL_KEYS):
            yield offset, groups[start:index]
            start, longest, offset = index, group.tokens.numel() - known, rows
        rows += group.rows
    yield offset, groups[start:]
