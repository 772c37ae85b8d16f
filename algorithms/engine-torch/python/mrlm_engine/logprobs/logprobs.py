"""Outputs of one micro-batch from its hidden states, and their backward pass.

Logits are computed in chunks of rows, so that full logits never exist for a long batch. Log-probabilities of all rows
are kept for the backward pass where they are few, and computed again chunk by chunk where they are not. Those of a
large vocabulary are computed in blocks (blocks.py).

With p the softmax at temperature T, H its entropy, and for one row the gradients g_o of its outputs' log-probabilities
and e of its entropy:  d loss / d logit_j = (sum_o g_o [j = target_o] - p_j sum_o g_o - e p_j (log p_j + H)) / T
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import torch

from mrlm_engine.batching.layout import OutputRows
from mrlm_engine.compute.matmul import add_weight_gradient_, linear
from mrlm_engine.compute.transfer import to_device
from mrlm_engine.gradients.sink import GradientSink
from mrlm_engine.logprobs.blocks import Outputs, RowTotals, block_backward, block_outputs, block_size
from mrlm_engine.logprobs.logits import logits_head
from mrlm_engine.logprobs.selection import GradientTensors, OutputTensors, Selection
from mrlm_engine.models.loaded_model import LoadedModel

# Logits of one chunk, in numbers: 16 MiB of float32 on CPU, 512 MiB on a GPU.
CHUNK_NUMBERS = {"cpu": 1 << 22, "cuda": 1 << 27}
# Log-probabilities, or logits, kept for the backward pass of a micro-batch, in numbers (512 MiB).
KEPT_NUMBERS = 1 << 27
# Tokens of a vocabulary above which its logits are computed in blocks: whole rows of them would be too few at once, and
# reading the head's weights and gradients would take longer than multiplying by them.
LARGE_VOCABULARY = 1 << 14


def chunk_rows(device_type: str, vocabulary: int) -> int:
    """Returns the rows whose logits are computed at once."""
    return max(1, CHUNK_NUMBERS.get(device_type, CHUNK_NUMBERS["cuda"]) // vocabulary)


class LogprobsRun:
    """Outputs of one forward pass from `hidden` [R, h]; `rows` assigns outputs to rows."""

    def __init__(self, model: LoadedModel, hidden: torch.Tensor, rows: OutputRows, selection: Selection) -> None:
        self._model = model
        self._hidden = hidden.detach()
        self._rows = rows
        self._selection = selection
        self._head = logits_head(model, hidden.dtype)
        self._kept: torch.Tensor | None = None
        # The most likely tokens of each row and their log-probabilities, [R, top].
        self._top: tuple[torch.Tensor, torch.Tensor] | None = None
        # Of each block of rows of a large vocabulary.
        self._totals: list[RowTotals] = []

    @property
    def kept_bytes(self) -> int:
        """Bytes kept for the backward pass."""
        log_probabilities = 0 if self._kept is None else self._kept.nbytes
        return self._hidden.nbytes + log_probabilities + sum(totals.nbytes() for totals in self._totals)

    @torch.no_grad()
    def outputs(self, keep: bool) -> OutputTensors:
        """Computes the selected outputs; `keep` means that a backward pass follows."""
        rows, selection = self._rows, self._selection
        logprob = entropy = value = final_value = top_tokens = top_logprob = None
        if selection.logits:
            is_kept = keep and rows.count * self._vocabulary <= KEPT_NUMBERS
            if self._is_large:
                logprob, entropy = self._block_outputs(is_kept)
            else:
                if is_kept:
                    self._kept = self._hidden.new_empty(rows.count, self._vocabulary, dtype=torch.float32)
                if selection.top > 0:
                    shape = (rows.count, selection.top)
                    self._top = (
                        self._hidden.new_empty(shape, dtype=torch.int64),
                        self._hidden.new_empty(shape, dtype=torch.float32),
                    )
                logprob, entropy = self._log_probabilities()
                if self._top is not None:
                    top_tokens, top_logprob = (of_rows[rows.output_row] for of_rows in self._top)
        if selection.value or selection.final_value:
            assert self._model.value_head is not None
            values = self._model.value_head(self._hidden)
            value = values[rows.output_row] if selection.value else None
            final_value = values[rows.final_row] if selection.final_value else None
        return OutputTensors(
            logprob, entropy if selection.entropy else None, value, final_value, top_tokens, top_logprob
        )

    @torch.no_grad()
    def backward(self, grads: GradientTensors, store: GradientSink) -> torch.Tensor:
        """Returns d loss / d hidden [R, h] in the model's format; adds the heads' own gradients to `store`."""
        result = torch.zeros_like(self._hidden, dtype=torch.float32)
        if grads.logprob is not None or grads.entropy is not None:
            if self._is_large:
                self._block_backward(grads, store, result)
            else:
                self._logits_backward(grads, store, result)
        if grads.value is not None:
            self._value_backward(grads.value, store, result)
        return result.to(self._hidden.dtype)

    @property
    def _vocabulary(self) -> int:
        return int(self._head.weight.shape[0])

    @property
    def _is_large(self) -> bool:
        # The most likely tokens of a row are found among all of them.
        return self._vocabulary > LARGE_VOCABULARY and self._selection.top == 0

    def _block_outputs(self, keep: bool) -> tuple[torch.Tensor, torch.Tensor | None]:
        rows, selection = self._rows, self._selection
        logprob = self._hidden.new_empty(len(rows.targets), dtype=torch.float32)
        self._totals = []
        for start, end, picked in self._chunks():
            outputs = Outputs(rows.output_row[picked] - start, rows.targets[picked])
            logprob[picked], totals = block_outputs(
                self._head, self._hidden[start:end], outputs, selection.temperature, selection.entropy, keep
            )
            self._totals.append(totals)
        entropies = [totals.entropy for totals in self._totals if totals.entropy is not None]
        return logprob, torch.cat(entropies)[rows.output_row] if entropies else None

    def _block_backward(self, grads: GradientTensors, store: GradientSink, result: torch.Tensor) -> None:
        rows, layer = self._rows, self._model.module.get_output_embeddings()
        row_entropy = None if grads.entropy is None else _by_row(grads.entropy, rows)
        if not self._totals:
            # The outputs of this pass were not requested.
            self._block_outputs(False)
        for totals, (start, end, picked) in zip(self._totals, self._chunks(), strict=True):
            result[start:end] = block_backward(
                self._head,
                layer.weight,
                layer.bias,
                self._hidden[start:end],
                Outputs(rows.output_row[picked] - start, rows.targets[picked]),
                totals,
                self._selection.temperature,
                (
                    None if grads.logprob is None else grads.logprob[picked],
                    None if row_entropy is None else row_entropy[start:end],
                ),
                store,
            )

    def _chunks(self) -> Iterator[tuple[int, int, torch.Tensor | slice]]:
        """Yields (first row, end row, outputs that read those rows)."""
        rows, device = self._rows, self._hidden.device
        size = block_size(device.type)[0] if self._is_large else chunk_rows(device.type, self._vocabulary)
        if rows.count <= size:
            yield 0, rows.count, slice(None)
            return
        starts = np.arange(0, rows.count + size, size).clip(max=rows.count)
        order = np.argsort(rows.reads, kind="stable")
        cuts = np.searchsorted(rows.reads[order], starts)
        picked = to_device(order, device)
        for (start, end), (first, last) in zip(pairwise(starts.tolist()), pairwise(cuts.tolist()), strict=True):
            yield start, end, picked[first:last]

    def _chunk_log_probabilities(self, start: int, end: int) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Returns the log-probabilities [end - start, V], and the logits where the head's gradient needs them."""
        logits = self._head(self._hidden[start:end])
        temperature = self._selection.temperature
        scaled = logits if temperature == 1.0 else logits / temperature
        return torch.log_softmax(scaled, dim=-1), logits if self._head.cap else None

    def _log_probabilities(self) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        rows, selection = self._rows, self._selection
        logprob = self._hidden.new_empty(len(rows.targets), dtype=torch.float32) if selection.logprob else None
        entropy = self._hidden.new_empty(rows.count, dtype=torch.float32) if selection.entropy else None
        for start, end, picked in self._chunks():
            log_p, _ = self._chunk_log_probabilities(start, end)
            if logprob is not None:
                logprob[picked] = log_p[rows.output_row[picked] - start, rows.targets[picked]]
            if entropy is not None:
                entropy[start:end] = _entropy(log_p)
            if self._kept is not None:
                self._kept[start:end] = log_p
            if self._top is not None:
                tokens, values = self._top
                values[start:end], tokens[start:end] = log_p.topk(self._selection.top, dim=-1)
        return logprob, None if entropy is None else entropy[rows.output_row]

    def _logits_backward(self, grads: GradientTensors, store: GradientSink, result: torch.Tensor) -> None:
        rows, head = self._rows, self._head
        layer = self._model.module.get_output_embeddings()
        row_logprob = None if grads.logprob is None else _by_row(grads.logprob, rows)
        row_entropy = None if grads.entropy is None else _by_row(grads.entropy, rows)
        for start, end, picked in self._chunks():
            logits = None
            if self._kept is not None and not head.cap:
                log_p = self._kept[start:end]
            else:
                log_p, logits = self._chunk_log_probabilities(start, end)
            grad = log_p.exp()
            factor = -row_logprob[start:end, None] if row_logprob is not None else None
            if row_entropy is not None:
                spread = (log_p + _entropy(log_p)[:, None]).mul_(-row_entropy[start:end, None])
                factor = spread if factor is None else spread.add_(factor)
            assert factor is not None
            grad.mul_(factor)
            if grads.logprob is not None:
                position = (rows.output_row[picked] - start).mul_(grad.shape[1]).add_(rows.targets[picked])
                grad.view(-1).scatter_add_(0, position, grads.logprob[picked])
            if self._selection.temperature != 1.0:
                grad.div_(self._selection.temperature)
            product = head.product_gradient(grad, logits)
            hidden = self._hidden[start:end].to(product.dtype)
            result[start:end].add_(linear(product, head.weight.t()))
            if layer.weight.requires_grad:
                add_weight_gradient_(store.accumulator(layer.weight), product, hidden)
            if head.bias is not None and layer.bias.requires_grad:
                store.add(layer.bias, product.sum(0))

    def _value_backward(self, grad: torch.Tensor, store: GradientSink, result: torch.Tensor) -> None:
        value_head = self._model.value_head
        assert value_head is not None
        by_row = _by_row(grad, self._rows)
        result.addr_(by_row, value_head.weight)
        store.add(value_head.weight, torch.mv(self._hidden.float().t(), by_row))
        store.add(value_head.bias, by_row.sum().reshape(1))


def _entropy(log_p: torch.Tensor) -> torch.Tensor:
    """Returns the entropy in nats [R] of log-probabilities [R, V]; a token of probability 0 adds 0."""
    entropies: torch.Tensor = torch.special.entr(log_p.exp()).sum(-1)
    return entropies


def _by_row(values: torch.Tensor, rows: OutputRows) -> torch.Tensor:
    """Returns the sums of outputs' values [M] over the outputs that read the same row: [R]."""
    return values.new_zeros(rows.count).scatter_add_(0, rows.output_row, values)
