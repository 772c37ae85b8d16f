"""Probe of a model at its creation: a few tokens through a faster implementation and through the transformers module.

The training backbone and the decoder are compared with the same logits. In 16 bits the heads of both sides are computed
in float32, so that only the hidden states are rounded.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from mrlm_engine.batching.layout import OutputRows
from mrlm_engine.batching.unit import TokenSequence, TokenUnit
from mrlm_engine.decoding.protocol import Decoder, PromptGroup
from mrlm_engine.logprobs.logits import logits_head
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.lora import adapters_in_use
from mrlm_engine.models.shard import is_divided

TOKENS = 12
# Tokens that the decoder reads as a prompt; the others follow one by one.
PROMPT_TOKENS = 8
# Results that a layer rounds to its format: two norms, seven products, two activations, attention, two residual sums.
ROUNDINGS = 14
# Rows of a head's weight that are converted to float32 at once.
HEAD_ROWS = 8192


def tolerance(dtype: torch.dtype, layers: int) -> float:
    """Returns the largest difference of logits that passes, relative to their largest magnitude (at least 1).

    In 16 bits it is 1e-2, or the rounding of two correct computations where that is more: each rounds every result by
    half a unit in the last place, and errors in n places add up as sqrt(n). Measured on random models of 2 to 24
    layers: up to 0.088 in bfloat16, 0.0031 in float16, 1.7e-6 in float32.
    """
    if dtype == torch.float32:
        return 2e-4
    return max(1e-2, torch.finfo(dtype).eps * math.sqrt(ROUNDINGS * layers))


class Probe:
    """Two sequences of 12 tokens with a common prefix, and their logits by the transformers module.

    The caller holds `model.lock`. A collective where the weights are divided among the ranks.
    """

    @torch.no_grad()
    def __init__(self, model: LoadedModel) -> None:
        self._model = model
        self.tolerance = tolerance(model.dtype, int(getattr(model.config, "num_hidden_layers", None) or 1))
        length = min(TOKENS, model.max_positions or TOKENS)
        tokens = (np.arange(2 * length, dtype=np.int32).reshape(2, length) * 7 + 3) % model.vocab_size
        tokens[1, : length - 2] = tokens[0, : length - 2]
        self._tokens = torch.from_numpy(tokens.astype(np.int64))
        last = np.asarray([length - 1])
        # For a backbone, which computes the state behind the last token of each sequence.
        self.unit = TokenUnit(0, tuple(TokenSequence(row, last) for row in tokens))
        with model.active_adapter(), adapters_in_use(model.module) as unused:
            # float32 [2, length, vocabulary].
            self.logits = self._module_logits()
        # Names of adapted layers whose adapter the module did not use.
        self.unused_adapters: list[str] = unused() if model.has_adapter else []

    def backbone_difference(self, hidden: torch.Tensor, rows: OutputRows) -> float:
        """Returns the largest relative difference of a backbone's logits, from `hidden` [R, hidden] and `rows` for
        `unit`.
        """
        return self._difference(self._head_logits(hidden)[rows.final_row], self.logits[:, -1])

    @torch.no_grad()
    def decoder_difference(self, decoder: Decoder, *, features_are_logits: bool = False) -> float:
        """Returns the largest relative difference of a decoder's logits behind a prompt and after each step; it must
        be empty.
        """
        length = self._tokens.shape[1]
        # Three rows share a prompt, and one has a shorter prompt, so that rows differ in length.
        first = max(1, min(PROMPT_TOKENS, length - 1))
        second = max(1, first - 1)
        groups = [PromptGroup(self._tokens[0, :first], 3), PromptGroup(self._tokens[1, :second], 1)]
        features = [decoder.admit(groups)]
        steps = length - first
        for step in range(steps):
            tokens = [self._tokens[0, first + step]] * 3 + [self._tokens[1, second + step]]
            features.append(decoder.step(torch.stack(tokens).to(self._model.device)))
        decoder.clear()
        found = torch.stack(features).transpose(0, 1)
        logits = found.float() if features_are_logits else self._head_logits(found)
        expected = [self.logits[0, first - 1 :]] * 3 + [self.logits[1, second - 1 : second + steps]]
        return self._difference(logits, torch.stack(expected))

    def _difference(self, found: torch.Tensor, expected: torch.Tensor) -> float:
        return float((found - expected).abs().max() / expected.abs().max().clamp_(min=1.0))

    def _head_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Returns float32 logits of `hidden` [..., hidden]."""
        head = logits_head(self._model)
        return head.scaled_(_float32_linear(hidden, head.weight, head.bias))

    def _module_logits(self) -> torch.Tensor:
        module, tokens = self._model.module, self._tokens.to(self._model.device)
        if is_divided(self._model):
            # Only its base model is one tree that gathers its own weights.
            hidden = module.base_model(input_ids=tokens, use_cache=False).last_hidden_state
            return self._head_logits(hidden)
        with _float32_head(module):
            logits: torch.Tensor = module(input_ids=tokens, use_cache=False).logits.float()
        return logits


@contextlib.contextmanager
def _float32_head(module: Any) -> Iterator[None]:
    """Computes the head of a causal language model in float32 inside the block, if it is a plain linear layer."""
    head = module.get_output_embeddings()
    is_plain = type(head) is torch.nn.Linear
    if not is_plain or head.weight.dtype == torch.float32:
        yield
        return
    head.forward = lambda hidden: _float32_linear(hidden, head.weight, head.bias)
    try:
        yield
    finally:
        del head.forward


def _float32_linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """Returns x weight' + bias in float32 [..., outputs], without a float32 copy of all of `weight`."""
    if weight.dtype == torch.float32:
        return F.linear(x.float(), weight, bias)
    product = torch.cat([F.linear(x.float(), rows.float()) for rows in torch.split(weight, HEAD_ROWS)], -1)
    return product if bias is None else product + bias
