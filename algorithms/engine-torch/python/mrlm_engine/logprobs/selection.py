"""The outputs that a call requests, and the outputs and gradients of one micro-batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from mrlm_engine.batching.unit import Floats, TokenUnit


@dataclass(frozen=True)
class Selection:
    """The requested outputs, and the temperature that divides logits."""

    logprob: bool
    entropy: bool
    value: bool
    final_value: bool
    temperature: float = 1.0

    @property
    def logits(self) -> bool:
        """Whether the language-model head is needed at all."""
        return self.logprob or self.entropy


@dataclass(frozen=True)
class OutputTensors:
    """float32: logprob, entropy and value [M], final_value [S]; None for those that were not requested."""

    logprob: torch.Tensor | None
    entropy: torch.Tensor | None
    value: torch.Tensor | None
    final_value: torch.Tensor | None


@dataclass(frozen=True)
class UnitOutputs:
    """Outputs of one unit on the host, float32: logprob, entropy and value [outputs], final_value [sequences]; None for
    those that were not requested or not computed."""

    logprob: Floats | None = None
    entropy: Floats | None = None
    value: Floats | None = None
    final_value: Floats | None = None


@dataclass(frozen=True)
class GradientTensors:
    """d loss / d output, float32 [M]; None for zeros."""

    logprob: torch.Tensor | None
    entropy: torch.Tensor | None
    value: torch.Tensor | None


def divide_outputs(outputs: OutputTensors, units: Sequence[TokenUnit]) -> list[UnitOutputs]:
    """Returns the outputs of a micro-batch, unit by unit."""
    arrays = {name: tensor.float().cpu().numpy() for name, tensor in vars(outputs).items() if tensor is not None}
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
