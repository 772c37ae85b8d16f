"""Log-probabilities of given tokens in place of those of the sequence, their gradients, and the most likely tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from autograd import accumulated, largest_difference
from client import Array, EngineCallError, Outputs
from running import RunningEngine
from tiny import GPT2, QWEN2

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb

BOTH = pytest.mark.parametrize("config", [QWEN2, GPT2], ids=["dense", "transformers"])
# A vocabulary of both sides of the limit above which logits are computed in blocks.
SIZES = pytest.mark.parametrize("large", [1 << 14, 8], ids=["rows", "blocks"])
VOCABULARY, K = 41, 5


def targeted(rng: np.random.Generator, length: int, masked: list[int], each: int = K) -> pb.Sequence:
    mask = [int(t in masked) for t in range(length)]
    targets = np.concatenate([rng.choice(VOCABULARY, each, replace=False) for _ in masked])
    return pb.Sequence(
        tokens=rng.integers(2, VOCABULARY, length).astype("<i4").tobytes(),
        mask=bytes(mask),
        targets=targets.astype("<i4").tobytes(),
    )


def units_of(rng: np.random.Generator) -> list[pb.Unit]:
    return [
        pb.Unit(sequences=[targeted(rng, 9, [3, 4, 8]), targeted(rng, 6, [1, 5])]),
        pb.Unit(sequences=[targeted(rng, 7, [2, 6])]),
    ]


def reference(module: Any, unit: pb.Unit, temperature: float) -> torch.Tensor:
    """Returns the log-probabilities of all targets, from whole logits, with a graph."""
    found = []
    for sequence in unit.sequences:
        tokens = torch.from_numpy(np.frombuffer(sequence.tokens, "<i4").astype(np.int64))
        positions = torch.from_numpy(np.flatnonzero(np.frombuffer(sequence.mask, np.uint8)))
        targets = torch.from_numpy(np.frombuffer(sequence.targets, "<i4").astype(np.int64)).view(len(positions), -1)
        log_p = torch.log_softmax(module(input_ids=tokens[None]).logits[0].float() / temperature, -1)
        found.append(log_p[positions - 1].gather(1, targets).reshape(-1))
    return torch.cat(found)


@BOTH
@SIZES
@pytest.mark.parametrize("budget", [0, 8], ids=["whole", "pieces"])
def test_outputs_and_gradients_of_targets_are_those_of_autograd(
    engine: RunningEngine, monkeypatch: pytest.MonkeyPatch, config: dict[str, Any], large: int, budget: int
) -> None:
    monkeypatch.setattr("mrlm_engine.logprobs.logprobs.LARGE_VOCABULARY", large)
    engine.create(config=config, micro_batch_tokens=budget)
    rng = np.random.default_rng(1)
    units = units_of(rng)
    slopes = [rng.normal(size=K * n).astype(np.float32) for n in (5, 2)]
    module = engine.state.trainable_model("policy").model.module
    expected = [reference(module, unit, 0.7) for unit in units]

    def loss(i: int, outputs: Outputs) -> dict[str, Array]:
        assert np.abs(outputs["logprob"] - expected[i].detach().numpy()).max() < 2e-5
        return {"logprob": slopes[i]}

    engine.client.forward_backward(units, loss, temperature=0.7, normalizer=3.0)
    total = torch.stack([(e * torch.from_numpy(s)).sum() for e, s in zip(expected, slopes, strict=True)]).sum() / 3.0
    names, parameters = zip(*module.named_parameters(), strict=True)
    wanted = dict(zip(names, torch.autograd.grad(total, parameters), strict=True))
    assert largest_difference(accumulated(engine.state.trainable_model("policy")), wanted) < 1e-5


@BOTH
def test_the_whole_vocabulary_as_targets_is_the_distribution(engine: RunningEngine, config: dict[str, Any]) -> None:
    engine.create(config=config)
    rng = np.random.default_rng(2)
    unit = pb.Unit(sequences=[targeted(rng, 6, [2, 5], VOCABULARY)])
    (found,) = engine.client.forward([unit])
    assert np.abs(np.exp(found["logprob"].astype(np.float64)).reshape(2, -1).sum(1) - 1).max() < 1e-5


@BOTH
@SIZES
def test_top_tokens_are_those_of_the_distribution_in_descending_order(
    engine: RunningEngine, monkeypatch: pytest.MonkeyPatch, config: dict[str, Any], large: int
) -> None:
    monkeypatch.setattr("mrlm_engine.logprobs.logprobs.LARGE_VOCABULARY", large)
    engine.create(config=config)
    tokens = np.random.default_rng(3).integers(2, VOCABULARY, 7).astype("<i4")
    unit = pb.Unit(sequences=[pb.Sequence(tokens=tokens.tobytes(), mask=bytes([0, 1, 0, 1, 1, 0, 1]))])
    opening = pb.ForwardOpen(model_id="policy", outputs=pb.OutputSelection(logprob=True, top=K), temperature=1)
    requests = [pb.ForwardRequest(open=opening, units=[unit], end=True)]
    (response,) = engine.client.stub.Forward(iter(requests), metadata=engine.client.metadata, timeout=60)
    outputs = response.units[0]
    module = engine.state.trainable_model("policy").model.module
    logits = module(input_ids=torch.from_numpy(tokens.astype(np.int64))[None]).logits[0].float()
    values, ids = torch.log_softmax(logits, -1)[[0, 2, 3, 5]].topk(K)
    assert np.frombuffer(outputs.top_tokens, "<i4").tolist() == ids.reshape(-1).tolist()
    difference = np.frombuffer(outputs.top_logprob, "<f4") - values.detach().reshape(-1).numpy()
    assert np.abs(difference).max() < 2e-5


def test_targets_that_fit_no_position_and_too_many_top_tokens_are_refused(engine: RunningEngine) -> None:
    engine.create(config=QWEN2)

    def refused(sequence: pb.Sequence, **selected: Any) -> str:
        with pytest.raises(EngineCallError) as error:
            engine.client.forward([pb.Unit(sequences=[sequence])], **selected)
        return error.value.code

    tokens = np.asarray([2, 3, 4], "<i4").tobytes()
    for targets in ([1, 2, 3], [1, 99]):
        sequence = pb.Sequence(tokens=tokens, mask=b"\0\1\1", targets=np.asarray(targets, "<i4").tobytes())
        assert refused(sequence) == "SEQUENCE_INVALID"
    assert refused(pb.Sequence(tokens=tokens, mask=b"\0\1\1"), top=VOCABULARY + 1) == "OPTIONS_INVALID"
