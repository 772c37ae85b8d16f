"""The outputs that a call requests, and the outputs and gradients of one micro-batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from mrlm_engine.batching.unit import Floats, Tokens, TokenUnit


@dataclass(frozen=True)
class Selection:
    """The requested outputs, and the temperature that divides logits."""

    logprob: bool
    entropy: bool
    value: bool
    final_value: bool
    temperature: float = 1.0
    # Number of the most likely tokens before each output.
    top: int = 0

    @property
    def logits(self) -> bool:
        """Whether the language-model head is needed at all."""
        return self.logprob or self.entropy or self.top > 0


@dataclass(frozen=True)
class OutputTensors:
    """float32: logprob, entropy and value [M], final_value [S], top_logprob [M, top]; int64: top_tokens [M, top]. None
    for those that were not requested.
    """

    logprob: torch.Tensor | None
    entropy: torch.Tensor | None
    value: torch.Tensor | None
    final_value: torch.Tensor | None
    top_tokens: torch.Tensor | None = None
    top_logprob: torch.Tensor | None = None


@dataclass(frozen=True)
class UnitOutputs:
    """Outputs of one unit on the host, float32: logprob, entropy and value [outputs], final_value [sequences],
    top_logprob [outputs, top]; int32: top_tokens [outputs, top]. None for those that were not requested or computed.
    """

    logprob: Floats | None = None
    entropy: Floats | None = None
    value: Floats | None = None
    final_value: Floats | None = None
    top_tokens: Tokens | None = None
    top_logprob: Floats | None = None


@dataclass(frozen=True)
class GradientTensors:
    """d loss / d output, float32 [M]; None for zeros."""

    logprob: torch.Tensor | None
    entropy: torch.Tensor | None
    value: torch.Tensor | None


def divide_outputs(outputs: OutputTensors, units: Sequence[TokenUnit]) -> list[UnitOutputs]:
    """Returns the outputs of a micro-batch, unit by unit."""
    arrays = {
        name: (tensor.int() if name == "top_tokens" else tensor.float()).cpu().numpy()
        for name, tensor in vars(outputs).items()
        if tensor is not None
    }
    divided = []
    position = sequence = 0
    for unit in units:
        end, last = position + unit.outputs, sequence + len(unit.sequences)
        parts = {
            name: array[sequence:last] if name == "final_value" else array[position:end]
            for name, array in arrays.items()
        }
        divided.append(UnitOutputs(**parts))
        position, sequence = end, last
    return divided
