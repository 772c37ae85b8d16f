"""Work divided among lanes: the results equal those of one lane, and their bits do not depend on the order of the
threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
import torch
from autograd import accumulated, largest_difference, reference_gradients, reference_outputs
from client import group
from running import RunningEngine
from test_gradients import client_loss, gradients_of, move_value_head, torch_loss, units_of
from tiny import GPT2

from mrlm_engine.compute.clock import ComputeClock
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.training import lanes as lanes_module
from mrlm_engine.training.lanes import LaneThreads


@pytest.fixture
def engine() -> Iterator[RunningEngine]:
    """Returns an engine with three lanes."""
    running = RunningEngine(lanes=3)
    yield running
    running.stop()


def one_after_the_other(self: LaneThreads, tasks: Sequence[Callable[[], object]]) -> list[object]:
    """Runs tasks without threads, in the opposite order."""
    return [task() for task in reversed(tasks)][::-1]


def test_results_come_in_order_and_all_have_ended_before_a_failure_is_raised() -> None:
    lanes, ended = LaneThreads(3), threading.Event()

    def fail() -> None:
        raise ValueError("one")

    def take_long() -> None:
        time.sleep(0.05)
        ended.set()

    assert lanes.run([lambda: 1, lambda: 2, lambda: 3]) == [1, 2, 3]
    for tasks in ([fail, take_long], [take_long, fail]):
        ended.clear()
        with pytest.raises(ValueError, match="one"):
            lanes.run(tasks)
        assert ended.is_set()
    lanes.close()


def test_seconds_of_lanes_count_once() -> None:
    clock, started = ComputeClock(), time.perf_counter()
    with clock.running(), clock.running():
        time.sleep(0.02)
    assert 0.02 <= clock.seconds <= time.perf_counter() - started


def test_gradients_of_several_lanes_equal_autograd(engine: RunningEngine) -> None:
    model = engine.create(value_head=True)
    move_value_head(model)
    units = units_of()
    trainable = engine.state.trainable_model("policy")
    assert trainable.lanes.count == 3
    result = engine.client.forward_backward(
        units, client_loss, normalizer=3.0, temperature=0.7, logprob=True, entropy=True, value=True, final_value=True
    )
    for i, unit in enumerate(units):
        for name, expected in reference_outputs(model, unit, 0.7).items():
            np.testing.assert_allclose(result.outputs[i][name], expected.detach().numpy(), atol=2e-5)
    expected_gradients = reference_gradients(model, units, lambda i, o: torch_loss(i, o) / 3.0, 0.7)
    assert largest_difference(accumulated(trainable), expected_gradients) < 2e-5
    for outputs, unit in zip(engine.client.forward(units, temperature=0.7), units, strict=True):
        expected_logprob = reference_outputs(model, unit, 0.7)["logprob"].detach().numpy()
        np.testing.assert_allclose(outputs["logprob"], expected_logprob, atol=2e-5)


def test_bits_do_not_depend_on_how_lanes_take_turns(engine: RunningEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.create()
    random = np.random.default_rng(0)
    units = [group(random.integers(2, 41, 9).tolist(), random.integers(2, 41, (4, 9)).tolist()) for _ in range(12)]
    found = gradients_of(engine, units)
    monkeypatch.setattr(lanes_module.LaneThreads, "run", one_after_the_other)
    for name, gradient in gradients_of(engine, units).items():
        assert torch.equal(gradient, found[name]), name


def test_every_lane_has_a_unit_and_a_budget_holds_for_all_together(engine: RunningEngine) -> None:
    model = engine.create()
    trainable = engine.state.trainable_model("policy")
    units = [pb.Unit(sequences=unit.sequences) for unit in units_of()]
    whole = gradients_of(engine, units)
    for budget in (60, 10):
        model.micro_batch_tokens = budget
        assert trainable.budget == budget
        assert largest_difference(gradients_of(engine, units), whole) < 1e-5


def test_a_pass_that_is_given_up_leaves_nothing_in_any_lane(engine: RunningEngine) -> None:
    engine.create()
    expected = gradients_of(engine, units_of())
    trainable = engine.state.trainable_model("policy")
    trainable.clear()
    engine.client.forward_backward(units_of(), client_loss, logprob=True, entropy=True, stop_after=1)
    engine.wait_until_idle()
    assert largest_difference(gradients_of(engine, units_of()), expected) == 0.0


def test_autograd_has_one_lane(engine: RunningEngine) -> None:
    engine.create(config=GPT2)
    assert engine.state.trainable_model("policy").lanes.count == 1
