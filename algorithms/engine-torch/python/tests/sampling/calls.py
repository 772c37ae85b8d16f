"""Sample calls made in this process, and what they answer."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.models import LoadedModel
from mrlm_engine.sampling import Sampler
from mrlm_engine.service.sample import sample as sample_call


class FakeContext:
    """The part of gRPC's context that the sampler uses."""

    def __init__(self) -> None:
        self.callbacks: list[Callable[[], None]] = []

    def add_callback(self, callback: Callable[[], None]) -> bool:
        self.callbacks.append(callback)
        return True


def add(number: int, prompt: Sequence[int], key: int | None = None, **params: Any) -> pb.SampleAdd:
    """Returns a sequence at temperature 1 with its own key and at most 12 tokens, unless `params` differ."""
    params = {"temperature": 1.0, "max_tokens": 12, **params}
    return pb.SampleAdd(
        id=number,
        prompt=np.array(prompt, "<i4").tobytes(),
        params=pb.SamplingParams(**params),
        key=1000 + number if key is None else key,
    )


def streamed(request: pb.SampleAdd) -> pb.SampleAdd:
    """Returns the sequence with a stream of its tokens."""
    request.stream_tokens = True
    return request


def wave(adds: Iterable[pb.SampleAdd], **fields: Any) -> pb.SampleRequest:
    """Returns the first and only message of a call."""
    return pb.SampleRequest(open=pb.SampleOpen(model_id="policy"), add=adds, barrier=True, **fields)


def sample(sampler: Sampler, requests: Iterable[pb.SampleRequest]) -> dict[int, pb.SampleFinish]:
    """Returns the finishes of one call by id."""
    responses = sample_call(sampler, iter(requests), FakeContext())
    return {finish.id: finish for response in responses for finish in response.finish}


def sample_wave(sampler: Sampler, adds: Iterable[pb.SampleAdd]) -> dict[int, pb.SampleFinish]:
    """Returns the finishes of a call with one wave."""
    return sample(sampler, [wave(adds)])


def tokens(finish: pb.SampleFinish | pb.SampleTokens) -> list[int]:
    return [int(token) for token in np.frombuffer(finish.token_ids, "<i4")]


def logprobs(finish: pb.SampleFinish | pb.SampleTokens) -> torch.Tensor:
    return torch.from_numpy(np.frombuffer(finish.logprobs, "<f4").copy())


def full_forward(
    model: LoadedModel, request: pb.SampleAdd, completion: list[int], temperature: float = 1.0
) -> torch.Tensor:
    """Returns the log-probability of each token of `completion` by one forward pass of the trainer's module, without a
    cache.
    """
    prompt = [int(token) for token in np.frombuffer(request.prompt, "<i4")]
    with torch.no_grad():
        logits = model.module(torch.tensor([prompt + completion])).logits[0, len(prompt) - 1 : -1].float()
    scores = torch.log_softmax(logits / temperature, -1)
    return scores.gather(1, torch.tensor(completion)[:, None])[:, 0]


class LiveCall:
    """A call whose requests are sent one after the other while it runs."""

    def __init__(self, sampler: Sampler) -> None:
        self.context = FakeContext()
        self._requests: queue.Queue[pb.SampleRequest | None] = queue.Queue()
        self._results: queue.Queue[pb.SampleFinish | pb.SampleTokens | None] = queue.Queue()
        self.error: Exception | None = None
        self._thread = threading.Thread(target=self._run, args=(sampler,), daemon=True)
        self._thread.start()

    def send(self, request: pb.SampleRequest) -> None:
        self._requests.put(request)

    def end(self) -> None:
        self._requests.put(None)

    def next(self) -> pb.SampleFinish | pb.SampleTokens:
        """Returns the next result, in the order in which they came."""
        result = self._results.get(timeout=30)
        assert result is not None, "the call has ended"
        return result

    def rest(self) -> list[pb.SampleFinish | pb.SampleTokens]:
        """Ends the requests; everything that still comes."""
        self.end()
        return list(iter(lambda: self._results.get(timeout=30), None))

    def _run(self, sampler: Sampler) -> None:
        try:
            for response in sample_call(sampler, iter(self._requests.get, None), self.context):
                for piece in response.tokens:
                    self._results.put(piece)
                for finish in response.finish:
                    self._results.put(finish)
        except Exception as error:
            self.error = error
        self._results.put(None)


def prompts(count: int, vocab: int, seed: int = 0, longest: int = 9) -> Iterator[list[int]]:
    """Returns prompts of 1 to `longest` random tokens."""
    generator = np.random.default_rng(seed)
    for _ in range(count):
        yield generator.integers(2, vocab, generator.integers(1, longest + 1)).tolist()
