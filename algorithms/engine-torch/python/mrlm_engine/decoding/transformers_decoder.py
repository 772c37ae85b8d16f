"""Decoding with any causal language model of transformers and its own cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from mrlm_engine.compute.matmul import float32_linear
from mrlm_engine.compute.transfer import to_device
from mrlm_engine.decoding.cohort import Cohort
from mrlm_engine.decoding.protocol import PromptGroup
from mrlm_engine.decoding.row_moves import RowMoves
from mrlm_engine.models.lora import ADAPTER, adapter_layers, plain_name
from mrlm_engine.models.weights import LORA_SCALE


class ModuleDecoder:
    """A Decoder over its own module. Features are logits.

    Sequences that enter together form cohorts with one cache each, because the caches of transformers cannot take new
    rows. Within a cohort all prompts have the same length: nothing is padded, so models whose state runs through every
    token (state-space layers, sliding windows) are sampled as exactly as others.
    """

    def __init__(self, module: Any, *, float32_head: bool = False) -> None:
        """`module` (with its adapter injected) belongs to the sampler and is changed: do not pass the trainer's
        module.
        """
        self._module = module.eval().requires_grad_(False)
        # The module's names by those of `inference_weights`.
        self._names = {plain_name(name): name for name in module.state_dict()}
        self._adapter = list(adapter_layers(module).values())
        head = module.get_output_embeddings()
        if float32_head and head.weight.dtype != torch.float32:
            head.forward = lambda hidden: float32_linear(hidden, head.weight, head.bias)
        self.vocab = int(head.weight.shape[0])
        self._device = head.weight.device
        self._cohorts: list[Cohort] = []

    @property
    def rows(self) -> int:
        return sum(len(cohort.rows) for cohort in self._cohorts)

    def load(self, weights: Mapping[str, torch.Tensor]) -> None:
        tensors = {self._names.get(name, name): tensor for name, tensor in weights.items() if name != LORA_SCALE}
        self._module.load_state_dict(tensors, strict=True)
        for layer in self._adapter:
            layer.scaling[ADAPTER] = float(weights[LORA_SCALE])

    def weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        tensors = self._module.state_dict()
        yield from ((plain, tensors[name]) for plain, name in self._names.items())
        if self._adapter:
            yield LORA_SCALE, torch.tensor(self._adapter[0].scaling[ADAPTER], dtype=torch.float64)

    def bytes_for(self, rows: int, length: int) -> int:
        config = self._module.config.get_text_config()
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        elements: int = config.num_hidden_layers * heads * width
        return 2 * rows * length * elements * int(self._module.dtype.itemsize)

    def clear(self) -> None:
        self._cohorts = []

    def scrub(self, rows: npt.NDArray[np.int64]) -> None:
        """Does nothing: rows share no state, and a cohort's memory is not used again."""

    def keep(self, moves: RowMoves) -> None:
        place = np.arange(self.rows)
        place[moves.rows :] = -1
        # A row that moves takes the place it moves to; the row that was there is dropped.
        place[moves.target] = -1
        place[moves.source] = moves.target
        self._cohorts = [cohort for cohort in self._cohorts if cohort.keep(place)]

    def logits(self, features: torch.Tensor) -> torch.Tensor:
        return features

    def admit(self, groups: Sequence[PromptGroup]) -> torch.Tensor:
        first, by_length = self.rows, dict[int, list[tuple[int, PromptGroup]]]()
        place = first
        for group in groups:
            by_length.setdefault(group.tokens.numel(), []).append((place, group))
            place += group.rows
        features = torch.empty(0)
        for members in by_length.values():
            prompts = to_device(torch.stack([group.tokens for _, group in members]).numpy(), self._device)
            rows = np.array([at + i for at, group in members for i in range(group.rows)])
            copies = np.repeat(np.arange(len(members)), [group.rows for _, group in members])
            cohort = Cohort(self._module, rows, prompts.shape[1], self._device)
            logits = cohort.prefill(prompts, to_device(copies, self._device))
            if not features.numel():
                features = logits.new_empty(place - first, logits.shape[1])
            features[cohort.rows_on_device - first] = logits
            self._cohorts.append(cohort)
        return features

    def step(self, tokens: torch.Tensor) -> torch.Tensor:
        features = torch.empty(0)
        for cohort in self._cohorts:
            logits = cohort.step(tokens[cohort.rows_on_device])
            if not features.numel():
                features = logits.new_empty(len(tokens), logits.shape[1])
            features[cohort.rows_on_device] = logits
        return features
