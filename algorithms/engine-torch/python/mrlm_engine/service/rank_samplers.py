"""Samplers of other ranks, over the same protocol as for clients."""

from __future__ import annotations

import itertools
import logging
import queue
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import grpc

from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2_grpc
from mrlm_engine.sampling.sequence import SampledSequence, SampledTokens, SampleFinish
from mrlm_engine.service.codec.sampling_request import add_message
from mrlm_engine.service.codec.sampling_results import parse_finish, parse_tokens

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RankAddress:
    """Address and token of another rank's sampler."""

    address: str
    token: str


class RankSampler:
    """A Sample call, open from the first sequence until the sampler is closed."""

    def __init__(self, peer: RankAddress, model_id: str) -> None:
        self._channel = grpc.insecure_channel(peer.address, options=[("grpc.max_receive_message_length", -1)])
        self._stub: Any = sampler_pb2_grpc.SamplerServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self._metadata = (("authorization", f"Bearer {peer.token}"),)
        self._model_id = model_id
        self._lock = threading.Lock()
        self._opened: _Call | None = None

    def submit(self, wave: list[SampledSequence]) -> None:
        """Starts the sequences of one wave."""
        self._call().submit(wave)

    def cancel(self, sequences: Iterable[SampledSequence]) -> None:
        """Cancels submitted sequences."""
        for sequence in sequences:
            self._call().cancel(sequence)

    def close(self) -> None:
        """Ends the call."""
        if self._opened is not None:
            self._opened.close()
        self._channel.close()

    def _call(self) -> _Call:
        with self._lock:
            if self._opened is None:
                opening = pb.SampleRequest(open=pb.SampleOpen(model_id=self._model_id))
                self._opened = _Call(self._stub, self._metadata, opening)
            return self._opened


class _Call:
    """A Sample call with its own sequence ids."""

    def __init__(self, stub: Any, metadata: tuple[tuple[str, str], ...], opening: pb.SampleRequest) -> None:
        self._requests: queue.SimpleQueue[pb.SampleRequest | None] = queue.SimpleQueue()
        self._requests.put(opening)
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._live: dict[int, SampledSequence] = {}
        self._closed = False
        self._responses = stub.Sample(iter(self._requests.get, None), metadata=metadata)
        threading.Thread(target=self._read, args=(self._responses,), name="remote-sampler", daemon=True).start()

    def submit(self, wave: list[SampledSequence]) -> None:
        with self._lock:
            adds = []
            for sequence in wave:
                number = next(self._ids)
                self._live[number] = sequence
                adds.append(add_message(sequence, number))
            self._requests.put(pb.SampleRequest(add=adds, barrier=True))

    def cancel(self, sequence: SampledSequence) -> None:
        with self._lock:
            numbers = [number for number, live in self._live.items() if live is sequence]
            self._requests.put(pb.SampleRequest(cancel=numbers))

    def close(self) -> None:
        self._closed = True
        self._requests.put(None)
        self._responses.cancel()

    def _read(self, responses: Iterator[pb.SampleResponse]) -> None:
        try:
            for response in responses:
                for piece in response.tokens:
                    self._deliver(parse_tokens(piece))
                for finish in response.finish:
                    self._deliver(parse_finish(finish))
        except grpc.RpcError as cause:
            if not self._closed:
                # The rank has exited. The launcher ends the other ranks.
                log.error("the sampler of another rank is gone: %s", cause)

    def _deliver(self, result: SampledTokens | SampleFinish) -> None:
        with self._lock:
            ended = isinstance(result, SampleFinish)
            sequence = self._live.pop(result.id, None) if ended else self._live.get(result.id)
        if sequence is not None:
            sequence.deliver(replace(result, id=sequence.id))
