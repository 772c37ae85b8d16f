"""Sequences that share a batch, and results that do not depend on it."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.sampling import Sampler
from mrlm_engine.sampling.scheduler import SchedulerLimits
from sampling.architectures import BY_MODULE, FUSED, make
from sampling.calls import LiveCall, add, full_forward, logprobs, prompts, sample, sample_wave, tokens, wave

STOPS: dict[str, Any] = {"stop_token_ids": [2, 3, 4], "max_tokens": 25}


def group_adds(vocab: int) -> list[pb.SampleAdd]:
    """Returns four prompts, five sequences of each."""
    return [add(5 * i + j, p, **STOPS) for i, p in enumerate(prompts(4, vocab)) for j in range(5)]


def bits(found: dict[int, pb.SampleFinish]) -> dict[int, tuple[bytes, bytes]]:
    return {number: (finish.token_ids, finish.logprobs) for number, finish in found.items()}


@pytest.mark.parametrize("config", [FUSED["qwen2"], BY_MODULE["gpt2"]], ids=["fused", "module"])
def test_numerics_56_equal_submissions_give_equal_bits(config: dict[str, Any]) -> None:
    model = make(config)
    adds = group_adds(model.vocab_size)
    sampler = Sampler(model, True, SchedulerLimits(rows=7, state_bytes=1 << 30))
    first = bits(sample_wave(sampler, adds))
    assert len({len(ids) for ids, _ in first.values()}) > 5
    # Again in the same sampler, whose memory is used by now; in another; and arriving in another order, in pieces.
    assert bits(sample_wave(sampler, adds)) == first
    other = Sampler(model, True, SchedulerLimits(rows=7, state_bytes=1 << 30))
    shuffled = random.Random(0).sample(adds, len(adds))
    opened = pb.SampleRequest(open=pb.SampleOpen(), add=shuffled[:3])
    pieces = [opened, *(pb.SampleRequest(add=[one]) for one in shuffled[3:]), pb.SampleRequest(barrier=True)]
    assert bits(sample(other, pieces)) == first


@pytest.mark.parametrize("deterministic", [True, False])
def test_numerics_36_batch_neighbours_and_padding_do_not_show(deterministic: bool) -> None:
    model = make(FUSED["qwen2"])
    adds = group_adds(model.vocab_size)
    together = sample_wave(Sampler(model, deterministic), adds)
    for limits in (SchedulerLimits(rows=1, state_bytes=1 << 30), SchedulerLimits(rows=6, state_bytes=1 << 30)):
        found = sample_wave(Sampler(model, deterministic, limits), adds)
        for request in adds:
            assert tokens(found[request.id]) == tokens(together[request.id])
            assert torch.allclose(logprobs(found[request.id]), logprobs(together[request.id]), atol=2e-5)


def test_rows_that_outgrow_the_memory_wait_and_go_on_where_they_were() -> None:
    model = make(FUSED["qwen2"])
    adds = [add(i, p, max_tokens=60) for i, p in enumerate(prompts(8, model.vocab_size))]
    roomy = sample_wave(Sampler(model, True), adds)
    # Room for about 100 tokens of state: eight sequences of 60 tokens do not fit at once.
    tight = Sampler(model, True, SchedulerLimits(rows=8, state_bytes=100 * 2 * 2 * 2 * 8 * 4))
    found = sample_wave(tight, adds)
    for request in adds:
        assert tokens(found[request.id]) == tokens(roomy[request.id])
        expected = full_forward(model, request, tokens(found[request.id]))
        assert (logprobs(found[request.id]) - expected).abs().max() < 1e-4
    assert bits(sample_wave(tight, adds)) == bits(found)


def test_deterministic_mode_starts_nothing_before_the_barrier() -> None:
    model = make(FUSED["qwen2"])
    sampler = Sampler(model, True)
    call = LiveCall(sampler)
    call.send(pb.SampleRequest(open=pb.SampleOpen(), add=[add(2, [5]), add(9, [6])]))
    # A second call runs to its end meanwhile, so what was held back is not merely slow.
    sample_wave(sampler, [add(1, [7])])
    call.send(pb.SampleRequest(cancel=[9]))
    cancelled = call.next()
    assert isinstance(cancelled, pb.SampleFinish)
    assert (cancelled.id, cancelled.reason, cancelled.token_ids) == (9, pb.STOP_REASON_CANCELLED, b"")
    call.send(pb.SampleRequest(barrier=True))
    assert [result.id for result in call.rest()] == [2]


def test_throughput_mode_starts_sequences_as_they_come() -> None:
    model = make(FUSED["qwen2"])
    call = LiveCall(Sampler(model, False))
    call.send(pb.SampleRequest(open=pb.SampleOpen(), add=[add(1, [5])]))
    assert call.next().id == 1
    call.send(pb.SampleRequest(add=[add(2, [5])]))
    assert call.next().id == 2
    assert call.rest() == []


def test_calls_at_the_same_time_do_not_change_each_other() -> None:
    model = make(FUSED["qwen2"])
    adds = group_adds(model.vocab_size)
    expected = bits(sample_wave(Sampler(model, True), adds))
    sampler = Sampler(model, True)
    calls = [LiveCall(sampler) for _ in range(3)]
    for call in calls:
        call.send(wave(adds))
    for call in calls:
        assert bits({f.id: f for f in call.rest() if isinstance(f, pb.SampleFinish)}) == expected


def test_waves_of_one_call_run_one_after_the_other() -> None:
    model = make(FUSED["qwen2"])
    adds = group_adds(model.vocab_size)
    first = bits(sample_wave(Sampler(model, True), adds[:10]))
    second = bits(sample_wave(Sampler(model, True), adds[10:]))
    both = sample(Sampler(model, True), [wave(adds[:10]), pb.SampleRequest(add=adds[10:], barrier=True)])
    assert bits(both) == {**first, **second}
