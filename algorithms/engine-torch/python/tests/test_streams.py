"""Many open streams, and other calls beside them."""

from __future__ import annotations

import queue
from collections.abc import Iterator

from client import Client
from running import RunningEngine
from sampling.calls import add, wave

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb

STREAMS = 64
SECONDS = 120


class OpenStream:
    """A Sample call that stays open between waves."""

    def __init__(self, client: Client) -> None:
        self._requests: queue.SimpleQueue[pb.SampleRequest | None] = queue.SimpleQueue()
        requests: Iterator[pb.SampleRequest] = iter(self._requests.get, None)
        self._responses = client.stub.Sample(requests, timeout=SECONDS)

    def send(self, request: pb.SampleRequest) -> None:
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
        stream.send(pb.SampleRequest(add=[add(2, [3], max_tokens=1)], barrier=True))
    assert [stream.finished() for stream in streams] == [[2]] * STREAMS
    assert all(stream.ends() for stream in streams)
