"""A model of the engine, with its settings and files."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from mrlm_engine.compute.mesh import RankMesh
from mrlm_engine.models.lora import adapters_disabled
from mrlm_engine.models.max_positions import max_positions
from mrlm_engine.models.value_head import ValueHead


@dataclass
class LoadedModel:
    """One model: its module with the trainer's weights, and the counters that identify their state.

    `module` is a transformers causal language model (with LoRA, its linear layers are wrapped in place). Its parameters
    are the weights. A faster backbone shares them. Code that reads or changes the weights holds `lock`.
    """

    model_id: str
    # A value of engine.proto's Role.
    role: int
    module: Any
    # The transformers configuration of `module`.
    config: Any
    dtype: torch.dtype
    device: torch.device
    value_head: ValueHead | None = None
    # Tokenizer files by file name, byte for byte.
    tokenizer_files: dict[str, bytes] = field(default_factory=dict)
    # Optimizer steps applied.
    step: int = 0
    # Weight version that the sampler holds.
    version: int = 0
    # Incremented when the trainer's weights change. Values derived from the weights compare it.
    generation: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)
    trainable: bool = False
    float32_head: bool = False
    gradient_checkpointing: bool = False
    # Token budget of one micro-batch; 0 leaves it to the engine.
    micro_batch_tokens: int = 0
    # LoRA settings as JSON-able values, or None for full-parameter training.
    lora: dict[str, Any] | None = None
    # Mesh of the ranks that share its weights or the tokens of a unit; None if each rank holds and computes all.
    mesh: RankMesh | None = None
    # Float32 values of this rank's part of weights of a lower format that are averages, by name.
    averages: dict[str, torch.Tensor] = field(default_factory=dict)
    # Model whose weights this one uses with the adapter off, or None.
    adapter_off: LoadedModel | None = None
    # Model whose frozen weights this one shares, with an adapter of its own, or None.
    shared_base: LoadedModel | None = None

    @property
    def has_adapter(self) -> bool:
        """Whether the model computes with an adapter. False for another model with its adapter off."""
        return self.lora is not None and self.adapter_off is None

    @property
    def max_positions(self) -> int:
        """Longest sequence that the model accepts, in tokens; 0 without a limit."""
        return max_positions(self.config)

    @property
    def vocab_size(self) -> int:
        """Rows of the input embedding."""
        return int(self.module.get_input_embeddings().weight.shape[0])

    @property
    def eos_token_ids(self) -> list[int]:
        """End tokens of the generation configuration, else of the model's configuration; may be empty."""
        for source in (getattr(self.module, "generation_config", None), self.config):
            eos = getattr(source, "eos_token_id", None)
            if eos is not None:
                return [int(e) for e in eos] if isinstance(eos, (list, tuple)) else [int(eos)]
        return []

    @property
    def pad_token_id(self) -> int:
        """The configured padding token; -1 without one."""
        pad = getattr(self.config, "pad_token_id", None)
        return -1 if pad is None else int(pad)

    @property
    def head_weight(self) -> torch.Tensor:
        """Weight of the language-model head, [vocabulary, hidden]; with tied weights the embedding itself."""
        weight: torch.Tensor = self.module.get_output_embeddings().weight
        return weight

    def named_parameters(self) -> Iterator[tuple[str, torch.nn.Parameter]]:
        """Returns all parameters by name (tied weights under their first name); those of the value head as
        `value_head.*`.
        """
        yield from self.module.named_parameters()
        if self.value_head is not None:
            for name, parameter in self.value_head.named_parameters():
                yield f"value_head.{name}", parameter

    @contextlib.contextmanager
    def active_adapter(self) -> Iterator[None]:
        """Switches the adapter of `module` off inside the block, if this model is an `adapter_off` one.

        The adapter is on again after the block, also after an exception.
        """
        if self.adapter_off is None:
            yield
            return
        with adapters_disabled(self.module):
            yield
