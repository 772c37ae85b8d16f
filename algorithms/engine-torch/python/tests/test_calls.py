"""Numbered calls, lost connections and lost graphs."""

from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np
import pytest
from autograd import accumulated, largest_difference
from client import Array, EngineCallError, Outputs, group
from running import RunningEngine
from tiny import QWEN2, create_request

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.training.run_pass import PassRunner

UNITS = [group([3, 4, 5], [[6 + i, 7], [8, 9, 10 + i]]) for i in range(5)]


def loss(_: int, outputs: Outputs) -> dict[str, Array]:
    return {"logprob": -np.exp(0.5 * outputs["logprob"])}


def test_a_repeated_call_answers_the_same_and_acts_once(engine: RunningEngine) -> None:
    model = engine.create()
    first = engine.client.forward_backward(UNITS, loss, call=2)
    before = accumulated(engine.state.trainable_model("policy"))
    again = engine.client.forward_backward(UNITS, loss, call=2)
    assert again.events == ["applied", "done"]
    assert again.done == first.done
    assert again.outputs[3]["logprob"].tobytes() == first.outputs[3]["logprob"].tobytes()
    assert largest_difference(accumulated(engine.state.trainable_model("policy")), before) == 0
    request = pb.OptimStepRequest(call=3, model_id="policy", adamw=pb.AdamW(learning_rate=0.1, epsilon=1e-8))
    answers = [engine.client.unary("OptimStep", request) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert model.step == 1


def test_creating_again_under_the_same_number_is_no_conflict(engine: RunningEngine) -> None:
    request = create_request("policy", json.dumps(QWEN2))
    request.call = 1
    first = engine.client.unary("CreateModel", request)
    assert engine.client.unary("CreateModel", request) == first


def test_numbers_out_of_order_are_refused(engine: RunningEngine) -> None:
    engine.create()
    engine.client.forward_backward(UNITS, loss, call=5)
    for number in (3, 5):
        with pytest.raises(EngineCallError) as caught:
            engine.client.unary(
                "OptimStep", pb.OptimStepRequest(call=number, model_id="policy", adamw=pb.AdamW(epsilon=1))
            )
        assert caught.value.code == "CALL_OUT_OF_ORDER"


@pytest.mark.parametrize("stop_after", [1, 2, 4])
def test_a_pass_goes_on_where_a_lost_connection_cut_it_off(engine: RunningEngine, stop_after: int) -> None:
    model = engine.create()
    model.micro_batch_tokens = 1
    trainable = engine.state.trainable_model("policy")
    engine.client.forward_backward(UNITS, loss)
    expected = accumulated(trainable)
    trainable.clear()
    engine.client.forward_backward(UNITS, loss, call=7, stop_after=stop_after)
    engine.wait_until_idle()
    again = engine.client.forward_backward(UNITS, loss, call=7)
    assert again.events.count("applied") + again.events.count("micro_batch") == len(UNITS)
    assert sorted(again.outputs) == list(range(len(UNITS)))
    assert largest_difference(accumulated(trainable), expected) == 0


def test_an_interrupted_pass_is_given_up_for_the_next_call(engine: RunningEngine) -> None:
    model = engine.create()
    model.micro_batch_tokens = 1
    trainable = engine.state.trainable_model("policy")
    engine.client.forward_backward(UNITS[:2], loss, call=4)
    engine.client.forward_backward(UNITS, loss, call=5, stop_after=3)
    engine.wait_until_idle()
    # A client that arrives now must not take up the number of the call that is half done.
    assert engine.client.unary("Describe", pb.DescribeRequest()).last_call == 5
    engine.client.forward_backward(UNITS[2:3], loss, call=6)
    found = accumulated(trainable)
    trainable.clear()
    engine.client.forward_backward(UNITS[:3], loss, call=7)
    assert largest_difference(found, accumulated(trainable)) < 1e-6


def test_a_failing_client_leaves_no_trace(engine: RunningEngine) -> None:
    engine.create()
    trainable = engine.state.trainable_model("policy")
    engine.client.forward_backward(UNITS, loss)
    before = accumulated(trainable)
    with pytest.raises(EngineCallError) as caught:
        engine.client.forward_backward(UNITS, lambda _, o: {"logprob": np.zeros(1, np.float32)}, call=0)
    assert caught.value.code == "GRADIENT_SHAPE"
    assert largest_difference(accumulated(trainable), before) == 0


def test_a_slow_client_loses_its_graph_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = RunningEngine(graph_lease_seconds=0.5)
    model = engine.create()
    model.micro_batch_tokens = 1
    engine.client.forward_backward(UNITS, loss)
    trainable = engine.state.trainable_model("policy")
    slow = {"left": 2}
    lost = threading.Event()
    lose = PassRunner._lose

    def observed(runner: PassRunner, number: int) -> Any:
        event = lose(runner, number)
        lost.set()
        return event

    monkeypatch.setattr(PassRunner, "_lose", observed)

    def hesitant(index: int, outputs: Outputs) -> dict[str, Array]:
        if slow["left"]:
            slow["left"] -= 1
            lost.clear()
            assert lost.wait(60)
        return loss(index, outputs)

    expected = accumulated(trainable)
    trainable.clear()
    result = engine.client.forward_backward(UNITS, hesitant)
    assert "graph_lost" in result.events
    assert result.events[-1] == "done"
    assert largest_difference(accumulated(trainable), expected) == 0
    engine.stop()


def test_graphs_over_the_byte_budget_wait_their_turn() -> None:
    engine = RunningEngine(graph_bytes=1)
    model = engine.create()
    model.micro_batch_tokens = 1
    result = engine.client.forward_backward(UNITS, loss)
    assert result.done is not None
    assert result.done.micro_batches == result.events.count("micro_batch") == len(UNITS)
    engine.stop()


def linear(units: list[pb.Unit]) -> list[pb.Unit]:
    """Returns the same units with gradients of 1 for each log-probability and 0.5 for each entropy."""
    made = []
    for unit in units:
        copy = pb.Unit()
        copy.CopyFrom(unit)
        for sequence in copy.sequences:
            outputs = sum(sequence.mask)
            sequence.grad_logprob = np.ones(outputs, "<f4").tobytes()
            sequence.grad_entropy = np.full(outputs, 0.5, "<f4").tobytes()
        made.append(copy)
    return made


def test_gradients_known_beforehand_need_no_answer(engine: RunningEngine) -> None:
    engine.create()
    trainable = engine.state.trainable_model("policy")

    def constant(_: int, outputs: Outputs) -> dict[str, Array]:
        one = np.ones_like(outputs["logprob"])
        return {"logprob": one, "entropy": 0.5 * one}

    answered = engine.client.forward_backward(UNITS, constant, normalizer=7, logprob=True, entropy=True)
    expected = accumulated(trainable)
    trainable.clear()
    silent = engine.client.forward_backward(linear(UNITS), normalizer=7)
    assert silent.events == ["done"]
    assert largest_difference(accumulated(trainable), expected) < 1e-6
    trainable.clear()
    returned = engine.client.forward_backward(
        linear(UNITS), normalizer=7, return_outputs=True, logprob=True, entropy=True
    )
    assert largest_difference(accumulated(trainable), expected) < 1e-6
    for i in range(len(UNITS)):
        assert returned.outputs[i]["entropy"].tobytes() == answered.outputs[i]["entropy"].tobytes()


def failing(engine: RunningEngine, units: list[pb.Unit], **fields: Any) -> str:
    with pytest.raises(EngineCallError) as caught:
        engine.client.forward_backward(units, loss, **fields)
    assert caught.value.detail.hint
    return caught.value.code


def raw(tokens: list[int], mask: list[int]) -> list[pb.Unit]:
    return [pb.Unit(sequences=[pb.Sequence(tokens=np.asarray(tokens, "<i4").tobytes(), mask=bytes(mask))])]


def test_everything_is_checked_before_work_begins(engine: RunningEngine) -> None:
    engine.create()
    engine.create("frozen", trainable=False)
    assert failing(engine, UNITS, model_id="plicy") == "MODEL_NOT_FOUND"
    assert failing(engine, UNITS, model_id="frozen") == "NOT_TRAINABLE"
    for normalizer in (0.0, -1.0, float("nan"), float("inf")):
        assert failing(engine, UNITS, normalizer=normalizer) == "NORMALIZER_INVALID"
    assert failing(engine, UNITS, temperature=-1.0) == "OPTIONS_INVALID"
    assert failing(engine, UNITS, value=True) == "VALUE_HEAD_MISSING"
    assert failing(engine, raw([3] * 129, [0] + [1] * 128)) == "SEQUENCE_TOO_LONG"
    for tokens, mask in (
        ([41, 3], [0, 1]),
        ([-1, 3], [0, 1]),
        ([], []),
        ([3, 4], [1, 1]),
        ([3, 4], [0]),
        ([3, 4], [0, 2]),
    ):
        assert failing(engine, raw(tokens, mask)) == "SEQUENCE_INVALID"
    assert failing(engine, [pb.Unit()]) == "SEQUENCE_INVALID"
    wrong = linear(UNITS)
    wrong[0].sequences[0].grad_logprob = b"1234567"
    with pytest.raises(EngineCallError) as caught:
        engine.client.forward_backward(wrong)
    assert caught.value.code == "GRADIENT_SHAPE"
    with pytest.raises(EngineCallError) as caught:
        engine.client.step(beta1=1.0)
    assert caught.value.code == "OPTIONS_INVALID"
    with pytest.raises(EngineCallError) as caught:
        engine.client.step()
    assert caught.value.code == "CALL_OUT_OF_ORDER"
    assert accumulated(engine.state.trainable_model("policy")) == {}
