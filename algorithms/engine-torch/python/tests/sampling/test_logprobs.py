"""Log-probabilities of the sampler against those of the trainer's module."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
import torch
from rounding import tolerance

from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2
from mrlm_engine.models.weights import inference_weights
from mrlm_engine.sampling import Sampler
from mrlm_engine.sampling.checksum import weights_checksum
from mrlm_engine.sampling.counter_rng import keyed_uniform
from mrlm_engine.sampling.scheduler import SchedulerLimits
from sampling.architectures import BY_MODULE, FUSED, disturb, make
from sampling.calls import add, full_forward, logprobs, prompts, sample_wave, tokens

MODES = pytest.mark.parametrize("deterministic", [True, False], ids=["deterministic", "throughput"])
ARCHITECTURES = {name: config for name, config in {**FUSED, **BY_MODULE}.items() if name != "qwen2-module"}


@MODES
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_numerics_15_logprobs_at_temperature_0_7_are_those_of_the_trainer(name: str, deterministic: bool) -> None:
    model = make(ARCHITECTURES[name])
    adds = [add(i, p, temperature=0.7, max_tokens=20) for i, p in enumerate(prompts(6, model.vocab_size))]
    sampler = Sampler(model, deterministic, SchedulerLimits(rows=4, state_bytes=1 << 30))
    found = sample_wave(sampler, adds)
    for request in adds:
        completion = tokens(found[request.id])
        assert len(completion) == 20
        expected = full_forward(model, request, completion, temperature=0.7)
        assert (logprobs(found[request.id]) - expected).abs().max() < 1e-4
        assert not found[request.id].truncated_support
    sampler.close()


def test_numerics_16_truncated_support_is_marked_and_renormalised() -> None:
    model = make(FUSED["qwen2"])
    request = add(1, [3, 4, 5], top_p=0.5, top_k=7, temperature=1.3, max_tokens=16)
    finish = sample_wave(Sampler(model, True), [request])[1]
    assert finish.truncated_support
    completion = tokens(finish)
    full = full_forward(model, request, completion, temperature=1.3)
    with torch.no_grad():
        logits = model.module(torch.tensor([[3, 4, 5, *completion]])).logits[0, 2:-1] / 1.3
    for found, log_probability, row, token in zip(logprobs(finish), full, logits, completion, strict=True):
        best = row.topk(7)
        inside = torch.softmax(best.values, -1)
        count = int((inside.cumsum(-1) - inside < 0.5).sum())
        assert token in best.indices[:count]
        kept = float(torch.softmax(row, -1)[best.indices[:count]].sum())
        assert float(found) == pytest.approx(float(log_probability) - float(torch.tensor(kept).log()), abs=1e-4)


def test_numerics_16_minimum_lengths_and_greedy_rows_report_the_full_softmax() -> None:
    model = make(FUSED["qwen2"])
    forced = add(1, [3, 4], min_tokens=9, max_tokens=9, stop_token_ids=list(range(20)))
    greedy = add(2, [3, 4], temperature=0, top_k=3)
    found = sample_wave(Sampler(model, True), [forced, greedy])
    assert all(token >= 20 for token in tokens(found[1])[:-1])
    for request in (forced, greedy):
        finish = found[request.id]
        assert not finish.truncated_support
        assert (logprobs(finish) - full_forward(model, request, tokens(finish))).abs().max() < 1e-4
    with torch.no_grad():
        for length in range(len(tokens(found[2]))):
            row = model.module(torch.tensor([[3, 4, *tokens(found[2])[:length]]])).logits[0, -1]
            assert int(row.argmax()) == tokens(found[2])[length]


def test_numerics_20_a_sequence_without_finite_numbers_fails_alone() -> None:
    # An architecture whose head is not tied to the embedding, or every row of logits would hold the NaN.
    model = make(FUSED["llama"])
    with torch.no_grad():
        model.module.get_input_embeddings().weight[40] = torch.nan
    broken, sound = add(1, [3, 40, 5]), add(2, [3, 4, 5], max_tokens=30, stop_token_ids=[40], min_tokens=30)
    sampler = Sampler(model, True)
    found = sample_wave(sampler, [broken, sound])
    assert (found[1].reason, found[1].error_code, tokens(found[1])) == (
        sampler_pb2.STOP_REASON_ERROR,
        "ENGINE_FAILED",
        [],
    )
    assert found[2].reason == sampler_pb2.STOP_REASON_LENGTH
    # Nothing of it is left in the memory that the next wave uses.
    again = sample_wave(sampler, [add(i, [5, 6], stop_token_ids=[40], min_tokens=12) for i in range(3)])
    assert all(torch.isfinite(logprobs(finish)).all() for finish in again.values())


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_numerics_49_the_sampler_computes_with_what_was_published(dtype: str) -> None:
    model = make(FUSED["qwen2"], dtype=dtype)
    sampler, request = Sampler(model, True), add(1, [7, 8, 9], max_tokens=30)
    before = sample_wave(sampler, [request])[1]
    disturb(model)
    # Not published: still the weights of version 0, which are no longer the trainer's.
    stale = sample_wave(sampler, [request])[1]
    assert stale.token_ids == before.token_ids
    assert (logprobs(stale) - full_forward(model, request, tokens(stale))).abs().max() > tolerance(dtype)
    published = sampler.publish()
    assert (published.version, model.version) == (1, 1)
    fresh = sample_wave(sampler, [request])[1]
    assert (logprobs(fresh) - full_forward(model, request, tokens(fresh))).abs().max() < tolerance(dtype)
    assert [(run.version, run.count) for run in stale.versions] == [(0, 30)]
    assert [(run.version, run.count) for run in fresh.versions] == [(1, 30)]


def test_numerics_51_the_same_prompt_around_an_update_shares_nothing() -> None:
    model = make(FUSED["qwen2"])
    sampler, request = Sampler(model, True), add(1, list(range(2, 12)), temperature=0)
    sample_wave(sampler, [request])
    disturb(model)
    sampler.publish()
    after = sample_wave(sampler, [request])[1]
    alone = sample_wave(Sampler(model, True), [request])[1]
    assert (after.token_ids, after.logprobs) == (alone.token_ids, alone.logprobs)


def test_numerics_27_the_ids_of_the_answer_are_the_ids_that_were_drawn() -> None:
    model = make(FUSED["qwen2"])
    request = add(1, [5, 6], max_tokens=24)
    first = sample_wave(Sampler(model, True), [request])[1]
    assert len(first.token_ids) == len(first.logprobs) == 4 * 24
    # The test draws again: the inverse of each position's cumulative distribution at the key's number.
    with torch.no_grad():
        logits = model.module(torch.tensor([[5, 6, *tokens(first)]])).logits[0, 1:-1]
    cumulative = torch.softmax(logits.double(), -1).cumsum(-1)
    uniform = torch.from_numpy(keyed_uniform(np.array([request.key], np.uint64), np.arange(24)))
    drawn = (cumulative <= uniform[:, None]).sum(-1).tolist()
    assert drawn == tokens(first)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["qwen2", "qwen3", "gpt2", "mistral-sliding"])
def test_numerics_49_an_adapter_reaches_the_sampler(name: str, dtype: str) -> None:
    pytest.importorskip("peft")
    model = make(ARCHITECTURES[name], dtype=dtype, lora=pb.Lora(rank=2, alpha=4.0))
    sampler, request = Sampler(model, True), add(1, [7, 8, 9], max_tokens=20)
    with torch.no_grad():
        for path, parameter in model.module.named_parameters():
            if "lora_B" in path:
                parameter.copy_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0)) / 2)
    stale = sample_wave(sampler, [request])[1]
    assert (logprobs(stale) - full_forward(model, request, tokens(stale))).abs().max() > tolerance(dtype)
    sampler.publish()
    fresh = sample_wave(sampler, [request])[1]
    assert (logprobs(fresh) - full_forward(model, request, tokens(fresh))).abs().max() < tolerance(dtype)
    sampler.close()


@pytest.mark.parametrize("name", ["qwen2", "gpt2"])
def test_numerics_49_a_sampler_without_the_trainers_adapter_is_no_publication(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("peft")
    model = make(ARCHITECTURES[name], dtype="bfloat16", lora=pb.Lora(rank=2, alpha=4.0))
    sampler = Sampler(model, True)
    disturb(model, 1e-5)
    load = sampler._decoder.load

    def keep_the_adapter(weights: Mapping[str, torch.Tensor]) -> None:
        own = dict(sampler._decoder.weights())
        load({key: own[key].clone() if ".lora_" in key else tensor for key, tensor in weights.items()})

    monkeypatch.setattr(sampler._decoder, "load", keep_the_adapter)
    with pytest.raises(EngineError, match="differ from the trainer's"):
        sampler.publish()
    monkeypatch.undo()
    assert sampler.publish().checksum == weights_checksum(inference_weights(model).items())
    sampler.close()
