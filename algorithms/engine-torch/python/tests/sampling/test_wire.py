"""Sample calls over a real socket, against the Forward calls of the same engine."""

from __future__ import annotations

import itertools
import queue
import time
from collections.abc import Iterator
from typing import Any

import grpc
import numpy as np
import pytest
from client import EngineCallError, group
from rounding import LOGIT, tolerance
from running import RunningEngine

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2
from sampling.architectures import disturb
from sampling.calls import add, streamed, tokens

PROMPT = [5, 6, 7, 8]
FORMATS = pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
ADAPTERS = pytest.mark.parametrize(
    "fields", [{}, {"lora": pb.Lora(rank=4, alpha=8.0, seed=5)}], ids=["full", "adapter"]
)
OPEN = sampler_pb2.SampleOpen(model_id="policy")


def sample(engine: RunningEngine, *requests: sampler_pb2.SampleRequest) -> list[sampler_pb2.SampleFinish]:
    try:
        responses = list(engine.client.sampling.Sample(iter(requests), timeout=60))
    except grpc.RpcError as cause:
        raise EngineCallError(cause) from cause
    return sorted((f for response in responses for f in response.finish), key=lambda f: f.id)


def difference(engine: RunningEngine, finishes: list[sampler_pb2.SampleFinish], temperature: float) -> float:
    """Returns the largest distance between what was sampled and what the trainer recomputes."""
    unit = group(PROMPT, [tokens(finish) for finish in finishes])
    (outputs,) = engine.client.forward([unit], temperature=temperature)
    found = np.concatenate([np.frombuffer(finish.logprobs, "<f4") for finish in finishes])
    return float(np.abs(found - outputs["logprob"]).max())


@FORMATS
@ADAPTERS
def test_numerics_14_15_sampled_logprobs_are_the_recomputed_ones(
    engine: RunningEngine, dtype: str, fields: dict[str, Any]
) -> None:
    model = engine.create(dtype=dtype, **fields)
    disturb(model)
    model.generation += 1
    adds = [add(i, PROMPT, temperature=0.7, max_tokens=30) for i in range(8)]
    finishes = sample(engine, sampler_pb2.SampleRequest(open=OPEN, add=adds, barrier=True))
    assert difference(engine, finishes, 0.7) < tolerance(dtype, LOGIT / 0.7)


@FORMATS
@ADAPTERS
def test_numerics_49_an_update_reaches_the_sampler_when_it_is_published(
    engine: RunningEngine, dtype: str, fields: dict[str, Any]
) -> None:
    engine.create(dtype=dtype, **fields)
    request = sampler_pb2.SampleRequest(open=OPEN, add=[add(i, PROMPT) for i in range(4)], barrier=True)
    before = sample(engine, request)
    unit = group(PROMPT, [tokens(finish) for finish in before])
    engine.client.forward_backward([unit], lambda _, outputs: {"logprob": -np.ones_like(outputs["logprob"])})
    engine.client.step()
    # The adapter of a model begins with a B of zeros, so one step moves it less.
    engine.client.forward_backward([unit], lambda _, outputs: {"logprob": -np.ones_like(outputs["logprob"])})
    engine.client.step(learning_rate=0.05)
    assert difference(engine, sample(engine, request), 1.0) > tolerance(dtype)
    published = engine.client.numbered("Publish", pb.PublishRequest, model_id="policy")
    after = sample(engine, request)
    assert difference(engine, after, 1.0) < tolerance(dtype)
    assert {run.version for finish in after for run in finish.versions} == {published.version}


def test_errors_of_a_call_carry_their_code(engine: RunningEngine) -> None:
    engine.create()
    twice = sampler_pb2.SampleRequest(open=OPEN, add=[add(1, PROMPT), add(1, PROMPT)])
    for request, code in ((twice, "MESSAGE_INVALID"), (sampler_pb2.SampleRequest(), "MESSAGE_INVALID")):
        with pytest.raises(EngineCallError) as raised:
            sample(engine, request)
        assert raised.value.code == code


def test_what_a_client_that_has_gone_had_asked_for_is_dropped(engine: RunningEngine) -> None:
    engine.create()
    held_open: queue.SimpleQueue[None] = queue.SimpleQueue()
    adds = [add(i, PROMPT, max_tokens=100_000) for i in range(64)]
    opening = sampler_pb2.SampleRequest(open=OPEN, add=map(streamed, adds), barrier=True)

    def requests() -> Iterator[sampler_pb2.SampleRequest]:
        yield opening
        held_open.get()

    call = engine.client.sampling.Sample(requests(), timeout=60)
    next(call)
    call.cancel()
    held_open.put(None)
    runner = engine.state.sampler("policy")._worker._runner
    # The wave would run 124 steps more; the cancellation takes the time of a message.
    for _ in itertools.takewhile(lambda _: runner.busy, range(3000)):
        time.sleep(0.01)
    assert not runner.busy
    assert sample(engine, sampler_pb2.SampleRequest(open=OPEN, add=[add(1, PROMPT)], barrier=True))[0].id == 1
