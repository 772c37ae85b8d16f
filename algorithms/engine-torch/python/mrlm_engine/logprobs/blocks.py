"""Outputs of hidden states over a large vocabulary, and their backward pass, in blocks of rows and of the vocabulary.

A block of logits stays in cache between the product and the operations behind it. Between the two passes the logarithm
of each row's total and its entropy are kept, and the logits where they are few. The blocks of the vocabulary depend on
its size alone, so that an output does not depend on what shares its micro-batch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from mrlm_engine.compute.matmul import add_weight_gradient_, linear
from mrlm_engine.compute.tensors import is_sharded
from mrlm_engine.gradients.sink import GradientSink
from mrlm_engine.logprobs.logits import LogitsHead

# Logits of one block, in rows and columns: 16 MiB of float32 on CPU, 512 MiB on a GPU. Whatever is smaller than a
# block is computed at once.
BLOCK = {"cpu": (2048, 2048), "cuda": (8192, 16384)}


@dataclass
class RowTotals:
    """For each row, float32 [R]: log of the sum of exp(logit / temperature), and the entropy in nats if requested."""

    log_total: torch.Tensor
    entropy: torch.Tensor | None
    # Blocks of the vocabulary, float32 [R, tokens], for one backward pass; empty where they are computed again.
    logits: list[torch.Tensor]

    def nbytes(self) -> int:
        """Returns the bytes of the kept logits."""
        return sum(block.nbytes for block in self.logits)


@dataclass(frozen=True)
class Outputs:
    """Outputs that read some rows: for each the row [M] and the token [M]."""

    row: torch.Tensor
    target: torch.Tensor

    def inside(self, first: int, end: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns whether each target is in columns first .. end of the vocabulary, and its column there, else 0."""
        column = self.target - first
        is_inside = (column >= 0) & (column < end - first)
        return is_inside, torch.where(is_inside, column, 0)


def block_size(device_type: str) -> tuple[int, int]:
    """Returns the rows and the tokens of the vocabulary whose logits are computed together."""
    return BLOCK.get(device_type, BLOCK["cuda"])


def block_outputs(
    head: LogitsHead, hidden: torch.Tensor, outputs: Outputs, temperature: float, entropy: bool, keep: bool
) -> tuple[torch.Tensor, RowTotals]:
    """Returns the log-probabilities float32 [M] of `outputs`, and the totals of the rows of `hidden` [r, h]."""
    highest = torch.full((len(hidden),), -torch.inf, device=hidden.device)
    total, weighted = torch.zeros_like(highest), torch.zeros_like(highest)
    found = torch.zeros(len(outputs.row), device=hidden.device)
    kept: list[torch.Tensor] = []
    for first, end, part in _column_blocks(head, hidden.device):
        logits = part(hidden)
        if keep:
            kept.append(logits)
        logits = logits if temperature == 1.0 else logits / temperature
        is_inside, column = outputs.inside(first, end)
        found = torch.where(is_inside, logits[outputs.row, column], found)
        raised = torch.maximum(highest, logits.amax(-1))
        shrink = torch.exp(highest - raised)
        if entropy:
            # With s = sum exp(l - highest) (l - highest) the entropy is log(total) - s / total.
            moved = torch.where(total > 0, highest - raised, 0.0)
            shifted = logits - raised[:, None]
            weights = shifted.exp()
            weighted = shrink * (weighted + total * moved) + torch.linalg.vecdot(weights, shifted)
        else:
            weights = (logits - raised[:, None]).exp_()
        total = total * shrink + weights.sum(-1)
        highest = raised
    log_total = total.log()
    totals = RowTotals(highest + log_total, log_total - weighted / total if entropy else None, kept)
    return found - totals.log_total[outputs.row], totals


def block_backward(
    head: LogitsHead,
    weight: torch.nn.Parameter,
    bias: torch.nn.Parameter | None,
    hidden: torch.Tensor,
    outputs: Outputs,
    totals: RowTotals,
    temperature: float,
    grads: tuple[torch.Tensor | None, torch.Tensor | None],
    store: GradientSink,
) -> torch.Tensor:
    """Returns d loss / d hidden, float32 [r, h]; adds the gradients of `weight` and `bias` to `store`.

    `grads` are those of the log-probabilities [M] and of the rows' entropies [r]. The formula is that of logprobs.py.
    """
    grad_logprob, grad_entropy = grads
    result = torch.zeros_like(hidden, dtype=torch.float32)
    by_row = None
    if grad_logprob is not None:
        by_row = grad_logprob.new_zeros(len(hidden), 1).index_add_(0, outputs.row, grad_logprob[:, None]).neg_()
    for first, end, part in _column_blocks(head, hidden.device):
        logits = totals.logits.pop(0) if totals.logits else part(hidden)
        log_p = logits.clone() if head.cap else logits
        if temperature != 1.0:
            log_p.div_(temperature)
        log_p.sub_(totals.log_total[:, None])
        factor = by_row
        if grad_entropy is not None and totals.entropy is not None:
            factor = (log_p + totals.entropy[:, None]).mul_(-grad_entropy[:, None])
            factor = factor if by_row is None else factor.add_(by_row)
        assert factor is not None
        grad = log_p.exp_().mul_(factor)
        if grad_logprob is not None:
            is_inside, column = outputs.inside(first, end)
            grad.view(-1).scatter_add_(0, outputs.row * (end - first) + column, grad_logprob * is_inside)
        product = part.product_gradient(grad.div_(temperature) if temperature != 1.0 else grad, logits)
        rows = slice(first, end)
        factor_weight = part.weight
        if not is_sharded(weight) and weight.dtype != product.dtype:
            # A head that computes in float32 for a model of a lower format: gradients need no more than the format.
            factor_weight = weight.detach()[rows]
            product = product.to(weight.dtype)
        result.add_(linear(product, factor_weight.t()))
        if weight.requires_grad:
            add_weight_gradient_(store.accumulator(weight)[rows], product, hidden.to(product.dtype))
        if bias is not None and bias.requires_grad:
            store.accumulator(bias)[rows].add_(product.sum(0))
    return result


def _column_blocks(head: LogitsHead, device: torch.device) -> Iterator[tuple[int, int, LogitsHead]]:
    """Yields (first, end) of each block of the vocabulary, and the head of its tokens alone."""
    _, size = block_size(device.type)
    for first in range(0, len(head.weight), size):
        end = min(first + size, len(head.weight))
        bias = None if head.bias is None else head.bias[first:end]
        yield first, end, dataclasses.replace(head, weight=head.weight[first:end], bias=bias)
