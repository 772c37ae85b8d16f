"""Ends of sequences: stop tokens, lengths, errors, cancellation, a client that goes, an update in between."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
import torch

from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.models import LoadedModel
from mrlm_engine.sampling import Sampler
from mrlm_engine.service import sample_results
from mrlm_engine.service.sample import sample as sample_call
from sampling.architectures import FUSED, disturb, make
from sampling.calls import (
    FakeContext,
    LiveCall,
    add,
    full_forward,
    logprobs,
    sample,
    sample_wave,
    streamed,
    tokens,
    wave,
)

ENDLESS: dict[str, Any] = {"max_tokens": 100_000}


@pytest.fixture(name="model")
def _model() -> LoadedModel:
    return make({**FUSED["qwen2"], "max_position_embeddings": 2048})


def test_a_stop_token_is_the_last_token(model: LoadedModel) -> None:
    found = sample_wave(Sampler(model, True), [add(i, [5], max_tokens=40, stop_token_ids=[9, 11]) for i in range(20)])
    stopped = [f for f in found.values() if f.reason == pb.STOP_REASON_STOP]
    assert stopped
    for finish in found.values():
        *head, last = tokens(finish)
        assert not {9, 11} & set(head)
        assert (last in (9, 11)) == (finish.reason == pb.STOP_REASON_STOP)
        assert finish.reason in (pb.STOP_REASON_STOP, pb.STOP_REASON_LENGTH)
        assert len(finish.logprobs) == len(finish.token_ids)


def test_min_tokens_forbids_stop_tokens_until_then(model: LoadedModel) -> None:
    adds = [add(i, [5], max_tokens=9, min_tokens=5, stop_token_ids=list(range(30))) for i in range(20)]
    lengths = {len(tokens(finish)) for finish in sample_wave(Sampler(model, True), adds).values()}
    assert min(lengths) == 6
    # A stop token may be drawn at the minimum itself, never before.
    assert all(token >= 30 for f in sample_wave(Sampler(model, True), adds).values() for token in tokens(f)[:5])


def test_the_models_positions_end_a_sequence() -> None:
    model = make(FUSED["qwen2"])
    finish = sample_wave(Sampler(model, True), [add(1, [5] * 100, max_tokens=1000)])[1]
    assert (finish.reason, len(tokens(finish))) == (pb.STOP_REASON_LENGTH, model.max_positions - 100)


BAD = [
    ("SEQUENCE_TOO_LONG", add(1, [5] * 2048)),
    ("SEQUENCE_INVALID", add(1, [5, 41])),
    ("SEQUENCE_INVALID", add(1, [])),
    ("OPTIONS_INVALID", add(1, [5], temperature=-1.0)),
]
MORE_BAD = [
    add(1, [5], top_p=1.5),
    add(1, [5], max_tokens=0),
    add(1, [5], min_tokens=13),
    add(1, [5], temperature=float("nan")),
]


@pytest.mark.parametrize(("code", "bad"), BAD)
def test_a_sequence_that_cannot_be_sampled_is_answered_and_the_others_go_on(
    model: LoadedModel, code: str, bad: pb.SampleAdd
) -> None:
    found = sample_wave(Sampler(model, True), [bad, add(2, [5])])
    assert (found[1].reason, found[1].error_code) == (pb.STOP_REASON_ERROR, code)
    assert found[1].error_message
    assert found[2].reason == pb.STOP_REASON_LENGTH
    assert found[2].token_ids == sample_wave(Sampler(model, True), [add(2, [5])])[2].token_ids


@pytest.mark.parametrize("bad", MORE_BAD)
def test_settings_without_a_meaning_are_refused(model: LoadedModel, bad: pb.SampleAdd) -> None:
    assert sample_wave(Sampler(model, True), [bad])[1].error_code == "OPTIONS_INVALID"


def test_a_stop_token_outside_the_vocabulary_is_refused(model: LoadedModel) -> None:
    assert sample_wave(Sampler(model, True), [add(1, [5], stop_token_ids=[41])])[1].error_code == "SEQUENCE_INVALID"


def test_a_call_that_breaks_the_protocol_ends_with_an_error(model: LoadedModel) -> None:
    sampler = Sampler(model, True)
    for requests, code in (
        ([pb.SampleRequest(add=[add(1, [5])])], "MESSAGE_INVALID"),
        ([wave([]), wave([])], "MESSAGE_INVALID"),
        ([wave([add(1, [5]), add(1, [5])])], "MESSAGE_INVALID"),
    ):
        with pytest.raises(EngineError) as raised:
            sample(sampler, requests)
        assert raised.value.code == code
    assert sample_wave(sampler, [add(1, [5])])[1].reason == pb.STOP_REASON_LENGTH


def test_the_end_of_the_requests_starts_what_no_barrier_started(model: LoadedModel) -> None:
    held_back = pb.SampleRequest(open=pb.SampleOpen(), add=[add(1, [5])])
    assert sample(Sampler(model, True), [held_back]).keys() == {1}
    assert sample(Sampler(model, True), [pb.SampleRequest(open=pb.SampleOpen())]) == {}


@pytest.mark.parametrize("deterministic", [True, False])
def test_cancel_answers_with_what_was_sampled(model: LoadedModel, deterministic: bool) -> None:
    request = add(1, [5, 6], **ENDLESS)
    call = LiveCall(Sampler(model, deterministic))
    call.send(pb.SampleRequest(open=pb.SampleOpen(), add=[streamed(request)], barrier=True))
    received = [call.next() for _ in range(5)]
    call.send(pb.SampleRequest(cancel=[1, 77]))
    *more, finish = call.rest()
    assert isinstance(finish, pb.SampleFinish)
    assert finish.reason == pb.STOP_REASON_CANCELLED
    assert finish.token_ids == b"".join(s.token_ids for s in (*received, *more))
    assert (logprobs(finish) - full_forward(model, request, tokens(finish))).abs().max() < 1e-4


def test_numerics_56_a_cancelled_sequence_changes_no_bit_of_its_neighbours(model: LoadedModel) -> None:
    adds = [add(i, [5, 6 + i], max_tokens=300) for i in range(6)]
    expected = sample_wave(Sampler(model, True), adds)
    call = LiveCall(Sampler(model, True))
    call.send(pb.SampleRequest(open=pb.SampleOpen(), add=map(streamed, adds), barrier=True))
    call.next()
    call.send(pb.SampleRequest(cancel=[0, 3]))
    finishes = {result.id: result for result in call.rest() if isinstance(result, pb.SampleFinish)}
    assert len(finishes) == 6
    for number, finish in finishes.items():
        whole = expected[number]
        assert whole.token_ids.startswith(finish.token_ids)
        if number not in (0, 3):
            assert (finish.token_ids, finish.logprobs) == (whole.token_ids, whole.logprobs)


@pytest.mark.parametrize("deterministic", [True, False])
def test_everything_of_a_client_that_goes_is_freed(model: LoadedModel, deterministic: bool) -> None:
    sampler = Sampler(model, deterministic)
    call = LiveCall(sampler)
    call.send(pb.SampleRequest(open=pb.SampleOpen(), add=[streamed(add(1, [5], **ENDLESS))], barrier=True))
    call.next()
    for callback in call.context.callbacks:
        callback()
    # In deterministic mode this waits for the wave before it, which would take minutes to its own end.
    assert sample_wave(sampler, [add(1, [5])])[1].reason == pb.STOP_REASON_LENGTH
    assert not any(isinstance(result, pb.SampleFinish) for result in call.rest())


def test_a_finished_call_leaves_no_memory_of_its_own(model: LoadedModel) -> None:
    sampler, context = Sampler(model, True), FakeContext()
    responses = list(sample_call(sampler, iter([wave([add(1, [5])])]), context))
    assert responses
    stream = weakref.ref(context.callbacks.pop().__self__)  # type: ignore[attr-defined]
    del context
    gc.collect()
    assert stream() is None


def test_numerics_22_51_tokens_carry_the_version_of_the_weights_they_were_drawn_with(model: LoadedModel) -> None:
    sampler, request = Sampler(model, False), add(1, [5, 6], max_tokens=800)
    call = LiveCall(sampler)
    call.send(pb.SampleRequest(open=pb.SampleOpen(), add=[streamed(request)]))
    call.next()
    models = [make({**FUSED["qwen2"], "max_position_embeddings": 2048})]
    disturb(model, 0.02)
    sampler.publish()
    results = call.rest()
    finish = results[-1]
    assert isinstance(finish, pb.SampleFinish)
    (old, before), (new, after) = [(run.version, run.count) for run in finish.versions]
    assert (old, new, before + after) == (0, 1, 800)
    streamed_versions = [piece.version for piece in results if isinstance(piece, pb.SampleTokens)]
    assert streamed_versions[-after:] == [1] * after
    assert not any(streamed_versions[:-after])
    # Each token is exactly what the model of its version gives it, so no state of the old weights was kept.
    models.append(model)
    parts = [full_forward(each, request, tokens(finish)) for each in models]
    expected = torch.cat((parts[0][:before], parts[1][before:]))
    assert (logprobs(finish) - expected).abs().max() < 1e-4
    assert (parts[0][before:] - parts[1][before:]).abs().max() > 1e-2


def test_in_deterministic_mode_an_update_waits_for_the_wave(model: LoadedModel) -> None:
    sampler = Sampler(model, True)
    call = LiveCall(sampler)
    call.send(pb.SampleRequest(open=pb.SampleOpen(), add=[streamed(add(1, [5], max_tokens=200))], barrier=True))
    call.next()
    disturb(model)
    assert sampler.publish().version == 1
    finish = call.rest()[-1]
    assert isinstance(finish, pb.SampleFinish)
    assert [(run.version, run.count) for run in finish.versions] == [(0, 200)]


def test_streamed_tokens_are_those_of_the_finish(model: LoadedModel) -> None:
    call = LiveCall(Sampler(model, True))
    adds = [add(i, [5, 6], max_tokens=10 + i) for i in range(4)]
    call.send(pb.SampleRequest(open=pb.SampleOpen(), add=map(streamed, adds), barrier=True))
    results = call.rest()
    for finish in (result for result in results if isinstance(result, pb.SampleFinish)):
        pieces = [r for r in results if isinstance(r, pb.SampleTokens) and r.id == finish.id]
        assert finish.token_ids == b"".join(piece.token_ids for piece in pieces)
        assert finish.logprobs == b"".join(piece.logprobs for piece in pieces)


def test_one_wave_has_sequences_with_and_without_a_stream_of_tokens(model: LoadedModel) -> None:
    adds = [add(i, [5, 6], max_tokens=10) for i in range(4)]
    expected = sample_wave(Sampler(model, True), adds)
    call = LiveCall(Sampler(model, True))
    call.send(
        pb.SampleRequest(
            open=pb.SampleOpen(), add=[streamed(adds[0]), adds[1], streamed(adds[2]), adds[3]], barrier=True
        )
    )
    results = call.rest()
    assert {r.id for r in results if isinstance(r, pb.SampleTokens)} == {0, 2}
    assert {r.id: r for r in results if isinstance(r, pb.SampleFinish)} == expected


def test_many_finishes_share_a_message_and_no_message_is_large(
    model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sample_results.FULL <= 1 << 20
    monkeypatch.setattr(sample_results, "FULL", 1000)
    adds = [add(i, [5], max_tokens=10, min_tokens=10) for i in range(100)]
    responses = list(sample_call(Sampler(model, True), iter([wave(adds)]), FakeContext()))
    assert sum(len(response.finish) for response in responses) == 100
    assert len(responses) < 50
    assert all(response.ByteSize() < 1200 for response in responses)


def test_closing_answers_what_runs(model: LoadedModel) -> None:
    sampler = Sampler(model, False)
    call = LiveCall(sampler)
    call.send(pb.SampleRequest(open=pb.SampleOpen(), add=[streamed(add(1, [5], **ENDLESS))]))
    call.next()
    sampler.close()
    finish = call.rest()[-1]
    assert isinstance(finish, pb.SampleFinish)
    assert finish.reason == pb.STOP_REASON_CANCELLED


def test_a_failure_of_the_model_ends_what_runs_with_an_error(model: LoadedModel) -> None:
    sampler = Sampler(model, False)

    def broken(*_: object) -> None:
        raise RuntimeError("no more memory")

    sampler._decoder.admit = broken  # type: ignore[method-assign, assignment]
    finish = sample_wave(sampler, [add(1, [5])])[1]
    assert (finish.reason, finish.error_code) == (pb.STOP_REASON_ERROR, "ENGINE_FAILED")
    assert "no more memory" in finish.error_message
    del sampler._decoder.admit
    assert sample_wave(sampler, [add(1, [5])])[1].reason == pb.STOP_REASON_LENGTH


def test_a_sampler_that_does_not_run_publishes_at_once(model: LoadedModel) -> None:
    sampler = Sampler(model, True)
    first, second = sampler.publish(), sampler.publish()
    assert (first.version, second.version) == (1, 2)
    assert first.checksum == second.checksum
    assert np.isfinite(first.seconds)
