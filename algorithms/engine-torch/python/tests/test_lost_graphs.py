"""Gradients accumulate in the order of the micro-batches, whatever graphs are lost and whenever answers come."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from autograd import accumulated
from client import group
from running import RunningEngine

from mrlm_engine.batching.unit import Floats, UnitGradients
from mrlm_engine.errors import EngineError
from mrlm_engine.logprobs.selection import Selection, UnitOutputs
from mrlm_engine.ranks.protocol import SingleRank
from mrlm_engine.service.codec.units import decode_units
from mrlm_engine.training.passes import ClientGradients, Event, GraphLost, MicroBatchOutputs, Pass
from mrlm_engine.training.reader import StreamEnded
from mrlm_engine.training.run_pass import GraphLimits, PassRunner
from mrlm_engine.training.trainable_model import TrainableModel

UNITS = [group([3, 4, 5 + i], [[6 + i, 7, 8], [8, 9, 10 + i], [11 + i]]) for i in range(8)]
SELECTION = Selection(logprob=True, entropy=False, value=False, final_value=False)


def loss(outputs: UnitOutputs) -> Floats:
    assert outputs.logprob is not None
    gradient: Floats = -np.exp(0.5 * outputs.logprob)
    return gradient


class Client:
    """Answers micro-batches in its own order, and sometimes not before the lease has ended."""

    def __init__(self, seed: int, *, losses: int, ordered: bool = False) -> None:
        self._random = random.Random(seed)
        self._losses = losses
        self._ordered = ordered
        self._open: dict[int, list[ClientGradients]] = {}
        # Answers that were on their way when the graph was dropped: they come before or after its outputs come again.
        self.lost: list[int] = []

    def see(self, event: Event) -> None:
        if isinstance(event, GraphLost):
            self.lost.append(event.number)
            if self._random.random() < 0.5:
                self._open.pop(event.number)
            return
        assert isinstance(event, MicroBatchOutputs)
        gradients = [UnitGradients(logprob=loss(unit)) for unit in event.units]
        self._open[event.number] = [ClientGradients(event.number, lambda units: gradients)]

    def next(self, timeout: float | None = None) -> list[ClientGradients] | None:
        if not self._open or (self._losses and self._random.random() < 0.5):
            self._losses -= 1
            return None
        number = min(self._open) if self._ordered else self._random.choice(sorted(self._open))
        return self._open.pop(number)

    def waiting(self) -> list[ClientGradients] | None:
        return None if self._ordered or not self._open or self._random.random() < 0.6 else self.next()


def run(trainable: TrainableModel, state: object, client: Client) -> dict[str, torch.Tensor]:
    """Returns the accumulated gradients of a pass with `client`."""
    trainable.clear()
    units = decode_units(UNITS, trainable.model, linear=False)
    work = Pass(
        call=0,
        selection=SELECTION,
        normalizer=3.0,
        linear=False,
        return_outputs=False,
        micro_batches=dict(enumerate(trainable.plan(units, False, 1))),
        budget=1,
    )
    assert len(work.micro_batches) == len(UNITS)
    trainable.begin_pass()
    runner = PassRunner(trainable, SingleRank(state), work, client, GraphLimits(60.0, 1 << 30))  # type: ignore[arg-type]
    for event in runner.run():
        client.see(event)
    trainable.commit_pass()
    return accumulated(trainable)


@pytest.fixture(name="trainable")
def _trainable(engine: RunningEngine) -> TrainableModel:
    model = engine.create()
    model.micro_batch_tokens = 1
    return engine.state.trainable_model("policy")


@pytest.mark.slow
def test_m12_a_lost_graph_takes_its_place_in_the_order_of_sums(
    engine: RunningEngine, trainable: TrainableModel
) -> None:
    expected = run(trainable, engine.state, Client(0, losses=0, ordered=True))
    lost = 0
    for seed in range(12):
        client = Client(seed, losses=6)
        found = run(trainable, engine.state, client)
        lost += len(client.lost)
        for name, gradient in expected.items():
            assert torch.equal(found[name], gradient), (seed, name)
    assert lost > 20


def test_m12_the_order_of_these_sums_shows_in_their_bits(engine: RunningEngine, trainable: TrainableModel) -> None:
    expected = run(trainable, engine.state, Client(0, losses=0, ordered=True))
    UNITS.reverse()
    try:
        reversed_sums = run(trainable, engine.state, Client(0, losses=0, ordered=True))
    finally:
        UNITS.reverse()
    assert any(not torch.equal(reversed_sums[name], gradient) for name, gradient in expected.items())


def test_a_stream_that_ends_early_is_the_client_s_fault(engine: RunningEngine, trainable: TrainableModel) -> None:
    class Gone(Client):
        def waiting(self) -> list[ClientGradients] | None:
            raise StreamEnded

    with pytest.raises(EngineError) as caught:
        run(trainable, engine.state, Gone(0, losses=0))
    assert caught.value.code == "MESSAGE_INVALID"
    trainable.give_up_pass()
