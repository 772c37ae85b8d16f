"""The call Sample: sequences of a client, and the stream of their results."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any

import grpc

from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.sampling import Sampler
from mrlm_engine.sampling.sequence import SampledSequence, SampledTokens, SampleFinish, StopReason
from mrlm_engine.sampling.taker import SequenceTaker
from mrlm_engine.service.codec.sampling_request import parse_prompt, parse_settings
from mrlm_engine.service.sample_results import ResultQueue


def sample(sampler: Sampler, requests: Iterable[pb.SampleRequest], context: Any) -> Iterator[pb.SampleResponse]:
    """Handles one call. If the client disconnects, all sequences of the call are freed."""
    stream = SampleStream(
        sampler.taker, vocab=sampler.vocab, max_positions=sampler.max_positions, waves=sampler.deterministic
    )
    if not context.add_callback(stream.abandon):
        return
    yield from stream.run(requests)


class SampleStream:
    """Reads requests on its own thread and yields responses on the caller's thread."""

    def __init__(self, taker: SequenceTaker, *, vocab: int, max_positions: int, waves: bool) -> None:
        """With `waves`, a barrier (or the end of the requests) starts all waiting sequences together."""
        self._taker = taker
        self._vocab = vocab
        self._max_positions = max_positions
        self._waves = waves
        self._results = ResultQueue()
        self._lock = threading.Lock()
        self._seen: set[int] = set()
        # Sequences without a finish, and those of them that no barrier has started.
        self._live: dict[int, SampledSequence] = {}
        self._held: dict[int, SampledSequence] = {}
        self._all_read = False
        self._abandoned = False

    def run(self, requests: Iterable[pb.SampleRequest]) -> Iterator[pb.SampleResponse]:
        """Yields responses until the requests have ended and every sequence has finished."""
        reader = threading.Thread(target=self._read, args=(requests,), name="sample-requests", daemon=True)
        reader.start()
        try:
            yield from self._results.responses()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Frees all sequences of this stream, after its client has disconnected."""
        with self._lock:
            self._abandoned = True
            live = [s for s in self._live.values() if s.id not in self._held]
            self._live.clear()
            self._held.clear()
        self._taker.cancel(live)
        self._results.end()

    def _read(self, requests: Iterable[pb.SampleRequest]) -> None:
        try:
            for number, request in enumerate(requests):
                self._take(request, first=number == 0)
        except grpc.RpcError:
            # The client has disconnected and reads no more responses.
            self.abandon()
            return
        except Exception as error:
            self._results.end(error)
            return
        self._start()
        with self._lock:
            self._all_read = True
            if not self._live:
                self._results.end()

    def _take(self, request: pb.SampleRequest, *, first: bool) -> None:
        if request.HasField("open") != first:
            raise EngineError(
                "MESSAGE_INVALID",
                "`open` is missing in the first message." if first else "`open` came again in a later message.",
                "Send `open` in the first message of a Sample call, and only there.",
            )
        for add in request.add:
            self._add(add)
        if request.cancel:
            self._cancel(request.cancel)
        if request.barrier or not self._waves:
            self._start()

    def _add(self, add: pb.SampleAdd) -> None:
        if add.id in self._seen:
            raise EngineError(
                "MESSAGE_INVALID",
                f"Id {add.id} was used before in this Sample call.",
                "Give every sequence of a call an id of its own.",
            )
        self._seen.add(add.id)
        try:
            prompt = parse_prompt(add.prompt, self._vocab, self._max_positions)
            settings = parse_settings(add.params, self._vocab)
        except EngineError as error:
            self._results.put(
                SampleFinish(add.id, StopReason.ERROR, error=(error.code, f"{error.message} {error.hint}"))
            )
            return
        sequence = SampledSequence(add.id, prompt, settings, add.key, self._deliver, add.stream_tokens)
        with self._lock:
            self._live[add.id] = self._held[add.id] = sequence

    def _cancel(self, ids: Iterable[int]) -> None:
        """Cancels sequences. Ignores ids that are unknown or finished, because the messages may have crossed."""
        with self._lock:
            live = [self._live[i] for i in ids if i in self._live]
            unstarted = [s for s in live if self._held.pop(s.id, None)]
        for sequence in unstarted:
            self._deliver(sequence.finish(StopReason.CANCELLED))
        self._taker.cancel([s for s in live if s not in unstarted])

    def _start(self) -> None:
        # Submitted under the lock, so that `abandon` either prevents the submission or cancels it.
        with self._lock:
            wave = sorted(self._held.values(), key=lambda s: s.id)
            self._held.clear()
            if wave and not self._abandoned:
                self._taker.submit(wave)

    def _deliver(self, result: SampledTokens | SampleFinish) -> None:
        with self._lock:
            if result.id not in self._live:
                return
            self._results.put(result)
            if isinstance(result, SampleFinish):
                del self._live[result.id]
                if self._all_read and not self._live:
                    self._results.end()
