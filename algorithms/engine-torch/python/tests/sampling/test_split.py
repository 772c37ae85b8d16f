"""Sequences divided among the samplers of several ranks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from running import RunningEngine
from test_numerics import PROMPTS, sample
from tiny import QWEN2, create_request

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.sampling.sequence import SampledSequence, SampleFinish, SamplingSettings, StopReason
from mrlm_engine.sampling.split import SplitTaker, split_wave
from mrlm_engine.service.rank_samplers import RankAddress


def sequence(number: int, prompt: list[int], max_tokens: int = 8) -> SampledSequence:
    settings = SamplingSettings(max_tokens=max_tokens)
    return SampledSequence(number, np.asarray(prompt, np.int64), settings, number, lambda _: None)


def test_equal_prompts_stay_together_and_every_sequence_has_one_place() -> None:
    wave = [sequence(i, [3, 4] if i % 2 else [5, 6, i % 3]) for i in range(12)]
    parts = split_wave(wave, [0, 0, 0])
    assert sorted(s.id for part in parts for s in part) == list(range(12))
    for part in parts:
        assert [s.id for s in part] == sorted(s.id for s in part)
    places = {s.prompt.tobytes(): {i for i, part in enumerate(parts) if s in part} for s in wave}
    assert all(len(place) == 1 for place in places.values())
    assert all(parts)
    assert split_wave([sequence(1, [3])], [100, 0])[1]


def test_loads_follow_what_runs() -> None:
    class Taker:
        def __init__(self) -> None:
            self.taken: list[SampledSequence] = []
            self.cancelled: list[int] = []

        def submit(self, wave: list[SampledSequence]) -> None:
            self.taken += wave

        def close(self) -> None:
            pass

        def cancel(self, sequences: Iterable[SampledSequence]) -> None:
            self.cancelled += [s.id for s in sequences]

    takers = [Taker(), Taker()]
    split = SplitTaker(takers, waves=False)
    first, second = sequence(1, [3], 100), sequence(2, [4], 5)
    for one in (first, second):
        split.submit([one])
    split.submit([sequence(3, [5], 5)])
    assert [[s.id for s in taker.taken] for taker in takers] == [[1], [2, 3]]
    split.cancel([first, second])
    assert [taker.cancelled for taker in takers] == [[1], [2]]
    first.deliver(SampleFinish(1, StopReason.STOP))
    split.cancel([first])
    split.submit([sequence(4, [6], 5)])
    assert [[s.id for s in taker.taken] for taker in takers] == [[1, 4], [2, 3]]


@pytest.fixture
def peer() -> Iterator[RunningEngine]:
    """Yields another engine with the same policy, which requires a token."""
    running = RunningEngine("secret")
    running.client.metadata = (("authorization", "Bearer secret"),)
    running.client.unary("CreateModel", create_request("policy", json.dumps(QWEN2)))
    yield running
    running.stop()


def test_two_samplers_draw_what_one_draws(engine: RunningEngine, peer: RunningEngine) -> None:
    engine.create()
    alone = sample(engine.client, PROMPTS, 1.0)
    engine.client.numbered("ReleaseModel", pb.ReleaseModelRequest, model_id="policy")
    engine.state.rank_samplers = [RankAddress(peer.address, "secret")]
    engine.create()
    found = sample(engine.client, PROMPTS, 1.0)
    # The other engine had at least one of three distinct prompts.
    assert "policy" in peer.state._samplers
    assert {i: (f.token_ids, f.reason) for i, f in found.items()} == {
        i: (f.token_ids, f.reason) for i, f in alone.items()
    }
    for i, finish in found.items():
        ours, theirs = (np.frombuffer(f.logprobs, "<f4") for f in (finish, alone[i]))
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
