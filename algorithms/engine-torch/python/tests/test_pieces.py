"""Units above the token budget, computed some of their sequences at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from autograd import accumulated, largest_difference
from client import Array, Outputs, group, sequence
from running import RunningEngine
from tiny import GPT2, QWEN2

from mrlm_engine.batching.unit import TokenSequence, TokenUnit
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.training.trainable_model import TrainableModel

UNITS = [group([3, 4, 5], [[6, 7, 8, 9], [8, 9, 10], [], [11, 12, 13, 14, 15]]), group([11, 12], [[13, 14, 15]])]


def loss(_: int, outputs: Outputs) -> dict[str, Array]:
    # The loss is a function of the whole unit: the gradient of one sequence depends on the other sequences.
    whole = float(np.exp(outputs["logprob"].mean()))
    return {"logprob": -whole * np.exp(0.5 * outputs["logprob"]), "entropy": 0.1 * outputs["entropy"]}


@pytest.mark.parametrize("config", [QWEN2, GPT2], ids=["hot path", "transformers"])
def test_the_gradient_does_not_depend_on_the_pieces(engine: RunningEngine, config: dict[str, object]) -> None:
    engine.create("whole", config)
    whole = engine.client.forward_backward(UNITS, loss, model_id="whole", logprob=True, entropy=True)
    for budget in (1, 8):
        model_id = f"pieces-{budget}"
        engine.create(model_id, config, micro_batch_tokens=budget)
        found = engine.client.forward_backward(UNITS, loss, model_id=model_id, logprob=True, entropy=True)
        trainable_models = [engine.state.trainable_model(name) for name in ("whole", model_id)]
        assert largest_difference(accumulated(trainable_models[1]), accumulated(trainable_models[0])) < 1e-5
        for unit, outputs in whole.outputs.items():
            for name, values in outputs.items():
                np.testing.assert_allclose(found.outputs[unit][name], values, atol=1e-5)
        evaluated = zip(engine.client.forward(UNITS, model_id), engine.client.forward(UNITS, "whole"), strict=True)
        for ours, theirs in evaluated:
            np.testing.assert_allclose(ours["logprob"], theirs["logprob"], atol=1e-5)


def test_known_gradients_are_divided_with_the_unit(engine: RunningEngine) -> None:
    draw = np.random.default_rng(1)
    rows = [[3, 4, 5, 6, 7], [3, 4, 8], [3, 4, 5, 9, 10, 11]]
    made = [
        sequence(row, [0] + [1] * (len(row) - 1), grad_logprob=draw.standard_normal(len(row) - 1).tolist())
        for row in rows
    ]
    for model_id, budget in (("whole", 0), ("pieces", 4)):
        engine.create(model_id, micro_batch_tokens=budget)
        result = engine.client.forward_backward([pb.Unit(sequences=made)], model_id=model_id, return_outputs=True)
        assert result.outputs[0]["logprob"].shape == (11,)
    whole, pieces = (accumulated(engine.state.trainable_model(model_id)) for model_id in ("whole", "pieces"))
    assert largest_difference(pieces, whole) < 1e-5


def test_a_gpu_divides_known_gradients_under_the_default_budget(
    engine: RunningEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU is imitated: its default budget, and a model that is not on a CPU where pieces are planned."""
    engine.create("policy", GPT2)
    trainable = engine.state.trainable_model("policy")
    rows = tuple(TokenSequence(np.arange(n, 2 * n, dtype=np.int32), np.arange(1, n)) for n in (9, 5, 7))
    shard = [TokenUnit(0, rows)]
    monkeypatch.setattr(TrainableModel, "budget", 14)
    assert [len(trainable.pieces(shard, False, once=once)) for once in (True, False)] == [1, 1]
    monkeypatch.setattr(trainable.model, "device", torch.device("meta"))
    pieces = trainable.pieces(shard, False, once=True)
    assert [[len(sequence.tokens) for sequence in piece[0].sequences] for piece in pieces] == [[9, 5], [7]]
    # A loss of the client needs all outputs of the unit, and pieces would be computed twice.
    assert trainable.pieces(shard, False, once=False) == [shard]
