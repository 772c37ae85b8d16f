"""Many open streams, and other calls beside them."""

from __future__ import annotations

import queue
from collections.abc import Iterator

from client import Client
from running import RunningEngine
from sampling.calls import add, wave

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2

STREAMS = 64
SECONDS = 120


class OpenStream:
    """A Sample call that stays open between waves."""

    def __init__(self, client: Client) -> None:
        self._requests: queue.SimpleQueue[sampler_pb2.SampleRequest | None] = queue.SimpleQueue()
        requests: Iterator[sampler_pb2.SampleRequest] = iter(self._requests.get, None)
        self._responses = client.sampling.Sample(requests, timeout=SECONDS)

    def send(self, request: sampler_pb2.SampleRequest) -> None:
        self._requests.put(request)

    def finished(self) -> list[int]:
        return [finish.id for finish in next(self._responses).finish]

    def ends(self) -> bool:
        self._requests.put(None)
        return next(self._responses, None) is None


def test_open_streams_block_no_other_call(engine: RunningEngine) -> None:
    engine.create()
    streams = [OpenStream(engine.client) for _ in range(STREAMS)]
    for stream in streams:
        stream.send(wave([add(1, [1, 2], max_tokens=1)]))
    # Each stream has answered and stays open.
    assert [stream.finished() for stream in streams] == [[1]] * STREAMS
    described = engine.client.stub.Describe(pb.DescribeRequest(), timeout=SECONDS)
    assert [model.model_id for model in described.models] == ["policy"]
    for stream in streams:
        stream.send(sampler_pb2.SampleRequest(add=[add(2, [3], max_tokens=1)], barrier=True))
    assert [stream.finished() for stream in streams] == [[2]] * STREAMS
    assert all(stream.ends() for stream in streams)
