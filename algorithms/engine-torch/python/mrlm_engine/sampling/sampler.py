"""Sampling from one loaded model with a copy of its weights."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from mrlm_engine.errors import EngineError
from mrlm_engine.models import LoadedModel
from mrlm_engine.models.weights import inference_weights
from mrlm_engine.sampling.checksum import weights_checksum
from mrlm_engine.sampling.choose_decoder import choose_decoder
from mrlm_engine.sampling.limits import limits_beside
from mrlm_engine.sampling.scheduler import Scheduler, SchedulerLimits
from mrlm_engine.sampling.split import SplitTaker
from mrlm_engine.sampling.taker import SequenceTaker
from mrlm_engine.sampling.worker import Worker


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

    def publish(self) -> PublishResult:
        """Copies the trainer's weights under the next version.

        In deterministic mode this waits for the running wave. Otherwise it happens between two steps: the state of
        running sequences is recomputed from their tokens with the new weights before the next step, so each token is
        drawn from exactly the model of its version.
        """
        started = time.perf_counter()
        model = self._model
        with self._worker.weights_change(), model.lock, torch.no_grad():
            weights = inference_weights(model)
            self._decoder.load(weights)
            expected, found = weights_checksum(weights.items()), weights_checksum(self._decoder.weights())
            if expected != found:
                raise EngineError(
                    "ENGINE_FAILED",
                    f"The sampler's weights of '{model.model_id}' differ from the trainer's after the copy "
                    f"({found[:12]} instead of {expected[:12]}).",
                    "Save a checkpoint and restart the engine: memory of this machine is not reliable.",
                )
            model.version += 1
            self._worker.version = model.version
        return PublishResult(model.version, found, time.perf_counter() - started)

    def close(self) -> None:
        """Ends sampling. Reports sequences that have not ended as cancelled."""
        self.taker.close()
