"""Runs a pass of accumulation: forward, the client's gradients, backward, micro-batch by micro-batch.

While the client computes the gradients of one micro-batch, the engine computes the forward pass of the next. Waiting
graphs are bounded in number and bytes; one that waits longer than its lease is dropped and computed again. Gradients
accumulate in the order of the micro-batches, whatever the order of the answers, so that neither a lost graph nor a lost
connection changes the sum. When memory runs out, the whole pass starts again with smaller micro-batches, so that the
sum is theirs alone. A pass draws no random numbers.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from mrlm_engine.batching.unit import UnitGradients
from mrlm_engine.errors import EngineError
from mrlm_engine.logprobs.selection import UnitOutputs
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.ranks.protocol import Ranks
from mrlm_engine.training import rank_work
from mrlm_engine.training.passes import ClientGradients, Event, GraphLost, MicroBatchOutputs, Pass
from mrlm_engine.training.reader import StreamEnded, StreamReader
from mrlm_engine.training.smaller import smaller_budget
from mrlm_engine.training.trainable_model import TrainableModel

# Leases that may expire without a message from the client before the call fails.
MAX_LOST = 8


@dataclass(frozen=True)
class GraphLimits:
    """Longest time that a graph waits for its gradients, and the bytes that may wait on each rank."""

    lease_seconds: float
    total_bytes: int


@dataclass
class _Waiting:
    outputs: list[UnitOutputs]
    # Bytes of the graphs on the rank with the largest graphs.
    graph_bytes: int
    deadline: float


class PassRunner:
    """One attempt at a pass. `requests` carries the client's gradients."""

    def __init__(
        self,
        trainable: TrainableModel,
        ranks: Ranks,
        work: Pass,
        requests: StreamReader[list[ClientGradients]],
        limits: GraphLimits,
    ) -> None:
        self._trainable = trainable
        self._model = trainable.model
        self._ranks = ranks
        self._pass = work
        self._requests = requests
        self._limits = limits
        self._todo = deque(number for number in work.micro_batches if number not in work.applied)
        self._waiting: dict[int, _Waiting] = {}
        # Gradients that cannot be applied yet: a micro-batch before theirs is not applied, or their graph was dropped.
        # They stay valid, since the weights do not change.
        self._received: dict[int, list[UnitGradients]] = {}
        self._lost: set[int] = set()
        self._losses = 0
        # The micro-batch that is computed now.
        self._current = -1

    def run(self) -> Iterator[Event]:
        """Events for the client up to the last micro-batch."""
        work = self._pass
        for number in sorted(work.applied):
            if not work.linear or work.return_outputs:
                yield work.outputs_event(number, work.applied[number], applied=True)
        while True:
            try:
                yield from self._run_linear() if work.linear else self._run_with_client()
                return
            except EngineError as error:
                if error.code != "OUT_OF_MEMORY":
                    raise
                self._begin_anew(error)

    def _begin_anew(self, error: EngineError) -> None:
        """Plans smaller micro-batches under new numbers: answers to the old ones may still arrive."""
        work, waiting = self._pass, len(self._waiting.keys() - {self._current})
        shards = work.micro_batches[self._current]
        final_value, once = work.selection.final_value, work.linear
        tokens, at_once = smaller_budget(self._trainable, shards, final_value, waiting, error, once=once)
        self._ranks.everywhere(rank_work.begin_anew, self._model.model_id, tokens, at_once)
        units = [unit for number in work.micro_batches for unit in work.units(number)]
        planned = self._trainable.plan(units, work.selection.final_value, self._ranks.groups)
        work.begin_anew(planned, self._trainable.budget)
        self._todo = deque(work.micro_batches)
        self._waiting.clear()
        self._received.clear()
        self._lost.clear()

    def _passes(self, number: int) -> int:
        """Returns the number of passes that each rank makes of its shard of a micro-batch."""
        self._current = number
        shards, final_value = self._pass.micro_batches[number], self._pass.selection.final_value
        return max(len(self._trainable.pieces(shard, final_value, once=self._pass.linear)) for shard in shards)

    def _run_linear(self) -> Iterator[Event]:
        work = self._pass
        while self._todo:
            number = self._todo.popleft()
            rest = (work.selection, self._passes(number), work.normalizer, work.return_outputs)
            arguments = [(self._model.model_id, shard, *rest) for shard in work.micro_batches[number]]
            computed = self._ranks.scatter(rank_work.forward_backward, arguments)
            self._count(computed)
            work.applied[number] = [unit for rank in computed for unit in rank.outputs]
            if work.return_outputs:
                yield work.outputs_event(number, work.applied[number], applied=True)

    def _run_with_client(self) -> Iterator[Event]:
        while self._todo or self._waiting:
            message = self._next_message(wait=False) if self._waiting else None
            if message is None and self._has_room():
                yield from self._launch(self._todo.popleft())
                continue
            if message is None:
                message = self._next_message(wait=True)
            if message is None:
                yield self._lose(min(self._unanswered(), key=lambda number: self._waiting[number].deadline))
                continue
            for gradients in message:
                self._receive(gradients)

    def _has_room(self) -> bool:
        if not self._todo:
            return False
        if self._waiting and self._todo[0] < min(self._waiting):
            # The graphs that wait cannot be used before this one.
            return True
        used = [waiting.graph_bytes for waiting in self._waiting.values()]
        # The next graph is assumed to be about as large as those that wait.
        return not used or (
            len(used) < self._trainable.max_waiting and sum(used) + max(used) <= self._limits.total_bytes
        )

    def _launch(self, number: int) -> Iterator[MicroBatchOutputs]:
        work = self._pass
        rest = (work.selection, self._passes(number))
        arguments = [(self._model.model_id, number, shard, *rest) for shard in work.micro_batches[number]]
        computed = self._ranks.scatter(rank_work.launch, arguments)
        self._count(computed)
        outputs = [unit for rank in computed for unit in rank.outputs]
        deadline = time.monotonic() + self._limits.lease_seconds
        self._waiting[number] = _Waiting(outputs, max(rank.graph_bytes for rank in computed), deadline)
        if number in self._received:
            self._apply_received()
        else:
            yield work.outputs_event(number, outputs, applied=False)

    def _next_message(self, *, wait: bool) -> list[ClientGradients] | None:
        """Returns the client's next message; None if none has come, or with `wait` until the first lease ends."""
        try:
            if not wait:
                return self._requests.waiting()
            deadline = min(self._waiting[number].deadline for number in self._unanswered())
            return self._requests.next(deadline - time.monotonic())
        except StreamEnded:
            raise EngineError(
                "MESSAGE_INVALID",
                f"The stream ended before the gradients of micro-batch {min([*self._waiting, *self._todo])} came.",
                "Answer every micro-batch that is not `applied`, then wait for `done`.",
            ) from None

    def _lose(self, number: int) -> GraphLost:
        del self._waiting[number]
        self._ranks.everywhere(rank_work.drop, self._model.model_id, number)
        self._lost.add(number)
        self._losses += 1
        reason = f"no gradients came within {self._limits.lease_seconds:g} s"
        if self._losses > MAX_LOST:
            raise EngineError(
                "GRAPH_LOST",
                f"Micro-batch {number} was given up: {reason}, and so were {MAX_LOST} before it.",
                "Answer sooner, or send fewer tokens in a micro-batch (micro_batch_tokens).",
                retryable=True,
            )
        self._todo = deque(sorted([*self._todo, number]))
        return GraphLost(number, reason)

    def _receive(self, message: ClientGradients) -> None:
        number = message.number
        self._losses = 0
        if number < self._pass.first_number:
            # Its units are sent again in smaller micro-batches.
            return
        if number not in self._waiting and number not in self._lost:
            raise _unexpected(number)
        if number in self._pass.applied or (number in self._received and number in self._lost):
            # The second answer to a micro-batch whose outputs were sent twice.
            return
        if number in self._received:
            raise _unexpected(number)
        self._received[number] = message.decode(self._pass.units(number))
        self._apply_received()

    def _unanswered(self) -> list[int]:
        """Returns numbers of the graphs that wait for the client; not empty while the first of all is one of them."""
        return [number for number in self._waiting if number not in self._received]

    def _apply_received(self) -> None:
        """Runs backward through every micro-batch with gradients, in order, up to the first without."""
        while self._waiting:
            number = min([*self._waiting, *self._todo])
            if number not in self._waiting or number not in self._received:
                return
            self._backward(number, self._waiting.pop(number).outputs, self._received.pop(number))

    def _backward(self, number: int, outputs: list[UnitOutputs], gradients: list[UnitGradients]) -> None:
        work, self._current = self._pass, number
        arguments, start = [], 0
        for shard in work.micro_batches[number]:
            part = gradients[start : start + len(shard)]
            arguments.append((self._model.model_id, number, part, work.normalizer))
            start += len(shard)
        work.backward_seconds += max(self._ranks.scatter(rank_work.backward, arguments))
        work.applied[number] = outputs

    def _count(self, computed: list[rank_work.Computed]) -> None:
        """Returns the tokens of all ranks; seconds of the slowest."""
        work = self._pass
        work.computed_tokens += sum(rank.computed_tokens for rank in computed)
        work.forward_seconds += max(rank.forward_seconds for rank in computed)
        work.backward_seconds += max(rank.backward_seconds for rank in computed)


def _unexpected(number: int) -> EngineError:
    return EngineError(
        "MESSAGE_INVALID",
        f"Gradients came for micro-batch {number}, which awaits none.",
        "Answer each micro-batch once, under the number that its outputs had.",
    )


def require_value_head(model: LoadedModel) -> None:
    """Refuses values of a model that has none."""
    if model.value_head is None:
        raise EngineError(
            "VALUE_HEAD_MISSING",
            f"Model '{model.model_id}' has no value head.",
            "Create it with `value_head`, or with the role of a critic.",
        )
