"""Batching of many small results into few messages."""

from __future__ import annotations

import queue
from collections.abc import Iterator

from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.sampling.sequence import SampledTokens, SampleFinish
from mrlm_engine.service.codec.sampling_results import finish_message, tokens_message

# Bytes after which a message is sent. Receivers commonly accept at most 4 MiB.
FULL = 1 << 19

Result = SampledTokens | SampleFinish


class ResultQueue:
    """Queue of results from the sampler's thread to the thread that writes responses."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Result | BaseException | None] = queue.SimpleQueue()

    def put(self, result: Result) -> None:
        """Adds a result."""
        self._queue.put(result)

    def end(self, error: BaseException | None = None) -> None:
        """Ends the responses after the results so far, or raises `error` there."""
        self._queue.put(error)

    def responses(self) -> Iterator[pb.SampleResponse]:
        """Yields all available results together, up to the size of a message, and waits for more."""
        while True:
            response, size = pb.SampleResponse(), 0
            item = self._queue.get()
            while item is not None and not isinstance(item, BaseException):
                if isinstance(item, SampleFinish):
                    response.finish.append(finish_message(item))
                else:
                    response.tokens.append(tokens_message(item))
                size += item.tokens.nbytes + item.logprobs.nbytes + 64
                if size >= FULL or self._queue.empty():
                    break
                item = self._queue.get()
            if size:
                yield response
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
