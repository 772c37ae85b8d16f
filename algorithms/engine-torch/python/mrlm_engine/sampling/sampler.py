"""Sampling from one loaded model with a copy of its weights."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

from mrlm_engine.errors import EngineError
from mrlm_engine.models import LoadedModel
from mrlm_engine.models.weights import inference_weights
from mrlm_engine.sampling.checksum import weights_checksum
from mrlm_engine.sampling.choose_decoder import choose_decoder
from mrlm_engine.sampling.limits import limits_beside
from mrlm_engine.sampling.published import PublishedWeights
from mrlm_engine.sampling.scheduler import Scheduler, SchedulerLimits
from mrlm_engine.sampling.split import SplitTaker
from mrlm_engine.sampling.taker import SequenceTaker
from mrlm_engine.sampling.worker import InFlight, Worker

T = TypeVar("T")


@dataclass(frozen=True)
class PublishResult:
    """Result of `publish`: the new weight version, its checksum, and the duration."""

    version: int
    checksum: str
    seconds: float


class Sampler:
    """Samples sequences from one model.

    The weights are a copy that changes only with `publish`. In deterministic mode a wave (sequences submitted together)
    runs separately, so equal submissions give equal bits. Otherwise all sequences share one batch, which they join and
    leave at any step.
    """

    def __init__(
        self,
        model: LoadedModel,
        deterministic: bool,
        limits: SchedulerLimits | None = None,
        others: Sequence[SequenceTaker] = (),
    ) -> None:
        """Copies the current weights. Memory of running sequences stays within `limits`.

        Sequences are divided between this sampler and the `others`, which have the same weights and are closed with
        this one.
        """
        self._model = model
        self.deterministic = deterministic
        with model.lock:
            self._decoder = choose_decoder(model, inference_weights(model))
        runner = Scheduler(self._decoder, model.device, model.max_positions, limits or limits_beside(model))
        self._worker = Worker(runner, waves=deterministic, version=model.version)
        # Held while the weights change, and while a tensor of them is read.
        self._reading = threading.Lock()
        self._checksum: str | None = None
        # Receiver of submitted sequences.
        self.taker: SequenceTaker = self._worker
        if others:
            self.taker = SplitTaker([self._worker, *others], waves=deterministic)

    @property
    def vocab(self) -> int:
        """Size of the vocabulary."""
        return self._decoder.vocab

    @property
    def max_positions(self) -> int:
        """Longest sequence in tokens; 0 without a limit."""
        return self._model.max_positions

    @property
    def version(self) -> int:
        """Version of the weights."""
        return self._worker.version

    @property
    def running_tokens(self) -> int:
        """Tokens of waiting and running sequences, with their prompts."""
        return self._worker.running_tokens

    @property
    def checksum(self) -> str:
        """Checksum of the weights."""
        with self._reading:
            return self._known_checksum()

    def published(self) -> PublishedWeights:
        """Returns the present weights."""
        with self._reading:
            return PublishedWeights(self.version, self._known_checksum(), dict(self._decoder.weights()), self._read)

    def _known_checksum(self) -> str:
        if self._checksum is None:
            self._checksum = weights_checksum(self._decoder.weights())
        return self._checksum

    def _read(self, version: int, copy: Callable[[], T]) -> T:
        with self._reading:
            if self.version != version:
                raise EngineError(
                    "WEIGHTS_VERSION",
                    f"Version {self.version} of '{self._model.model_id}' was published while {version} was read.",
                    "Read the newest version.",
                )
            return copy()

    def replace(self, weights: Mapping[str, torch.Tensor], version: int, checksum: str, rule: InFlight) -> None:
        """Takes weights of another process with their version. `checksum` is theirs, and is read back."""
        with self._worker.weights_change(rule), self._reading, torch.no_grad():
            self._decoder.load(weights)
            self._checksum = weights_checksum(self._decoder.weights())
            if self._checksum != checksum:
                raise self._unreliable(checksum, self._checksum)
            self._model.version = self._worker.version = version

    def publish(self, rule: InFlight = InFlight.RECOMPUTE) -> PublishResult:
        """Copies the trainer's weights under the next version.

        In deterministic mode this waits for the running wave. Otherwise it happens between two steps, and `rule`
        applies to the running sequences.
        """
        started = time.perf_counter()
        model = self._model
        with self._worker.weights_change(rule), model.lock, self._reading, torch.no_grad():
            weights = inference_weights(model)
            self._decoder.load(weights)
            expected, found = weights_checksum(weights.items()), weights_checksum(self._decoder.weights())
            if expected != found:
                raise self._unreliable(expected, found)
            self._checksum = found
            model.version += 1
            self._worker.version = model.version
        return PublishResult(model.version, found, time.perf_counter() - started)

    def _unreliable(self, expected: str, found: str) -> EngineError:
        return EngineError(
            "ENGINE_FAILED",
            f"The sampler's weights of '{self._model.model_id}' differ from the trainer's after the copy "
            f"({found[:12]} instead of {expected[:12]}).",
            "Save a checkpoint and restart the engine: memory of this machine is not reliable.",
        )

    def close(self) -> None:
        """Ends sampling. Reports sequences that have not ended as cancelled."""
        self.taker.close()
