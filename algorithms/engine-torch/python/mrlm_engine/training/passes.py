"""State of a ForwardBackward call, kept between an interrupted attempt and its repetition, and its graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mrlm_engine.batching.plan import RankShard
from mrlm_engine.batching.unit import TokenUnit, UnitGradients
from mrlm_engine.logprobs.selection import Selection, UnitOutputs


@dataclass(frozen=True)
class MicroBatchOutputs:
    """Outputs of one micro-batch. The client answers with their gradients, unless they are `applied` already."""

    number: int
    unit_indices: list[int]
    units: list[UnitOutputs]
    applied: bool


@dataclass(frozen=True)
class GraphLost:
    """Event for a dropped graph; the outputs of its micro-batch are sent again."""

    number: int
    reason: str


@dataclass(frozen=True)
class PassDone:
    """The end of a pass; the fields are those of engine.proto's ForwardBackwardDone."""

    micro_batches: int
    tokens: int
    computed_tokens: int
    forward_seconds: float
    backward_seconds: float
    memory_retries: int
    micro_batch_tokens: int


Event = MicroBatchOutputs | GraphLost | PassDone


@dataclass(frozen=True)
class ClientGradients:
    """The client's answer to one micro-batch.

    `decode` checks it against the units of the micro-batch and returns the gradients of each unit, in the same order;
    it raises GRADIENT_SHAPE where they do not fit.
    """

    number: int
    decode: Callable[[list[TokenUnit]], list[UnitGradients]]


@dataclass
class Pass:
    """Request of a call and its progress."""

    call: int
    selection: Selection
    normalizer: float
    linear: bool
    return_outputs: bool
    # Shards of the ranks, by number of the micro-batch.
    micro_batches: dict[int, list[RankShard]]
    # Token budget of that plan.
    budget: int
    # Outputs of the micro-batches whose gradients were accumulated, by number.
    applied: dict[int, list[UnitOutputs]] = field(default_factory=dict)
    # Whether a handler runs it now.
    running: bool = False
    # Set when another call replaced this interrupted one: a retry starts from the beginning.
    given_up: bool = False
    computed_tokens: int = 0
    forward_seconds: float = 0.0
    backward_seconds: float = 0.0
    # Restarts because memory had run out, and the number of the first micro-batch since the last one.
    memory_retries: int = 0
    first_number: int = 0

    def begin_anew(self, micro_batches: list[list[RankShard]], budget: int) -> None:
        """Replaces micro-batches that did not fit into memory; none of the new ones is applied yet."""
        self.budget = budget
        self.memory_retries += 1
        self.first_number = max(self.micro_batches) + 1
        self.micro_batches = dict(enumerate(micro_batches, self.first_number))
        self.applied.clear()
        self.computed_tokens = 0

    def units(self, number: int) -> list[TokenUnit]:
        """Returns the units of a micro-batch in the order of the client's event."""
        return [unit for shard in self.micro_batches[number] for unit in shard]

    def outputs_event(self, number: int, outputs: list[UnitOutputs], applied: bool) -> MicroBatchOutputs:
        """Returns the outputs of one micro-batch for the client."""
        return MicroBatchOutputs(number, [unit.index for unit in self.units(number)], outputs, applied)

    def answer(self) -> list[Event]:
        """Returns the events that answer a repetition of the complete call, PassDone last. They hold no units."""
        numbers = list(self.micro_batches) if self.return_outputs or not self.linear else []
        return [*(self.outputs_event(n, self.applied[n], applied=True) for n in numbers), self._done()]

    def _done(self) -> PassDone:
        return PassDone(
            micro_batches=len(self.micro_batches),
            tokens=sum(unit.tokens for number in self.micro_batches for unit in self.units(number)),
            computed_tokens=self.computed_tokens,
            forward_seconds=self.forward_seconds,
            backward_seconds=self.backward_seconds,
            memory_retries=self.memory_retries,
            micro_batch_tokens=self.budget,
        )


class Graph(Protocol):
    """A micro-batch whose outputs were computed with a graph, or can be computed again with one."""

    @property
    def computed_tokens(self) -> int:
        """Tokens that the model read."""

    @property
    def graph_bytes(self) -> int:
        """Bytes kept for the backward pass."""

    def outputs(self) -> list[UnitOutputs]:
        """Returns the selected outputs, unit by unit."""

    def backward(self, gradients: Sequence[UnitGradients], normalizer: float) -> None:
        """Runs backward from the gradients of its units divided by `normalizer`, and accumulates."""
