"""One sequence to be sampled, and what has been sampled of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb


@dataclass(frozen=True)
class SamplingSettings:
    """How tokens are drawn, as in engine.proto's SamplingParams with its zeros resolved."""

    # 0 is greedy.
    temperature: float = 1.0
    # 1 keeps everything.
    top_p: float = 1.0
    # 0 keeps everything.
    top_k: int = 0
    max_tokens: int = 1
    min_tokens: int = 0
    stop_token_ids: tuple[int, ...] = ()

    @property
    def truncates(self) -> bool:
        """Whether tokens are drawn from a part of the vocabulary."""
        return self.temperature > 0 and (self.top_k > 0 or self.top_p < 1)


@dataclass(eq=False)
class SampledSequence:
    """A sequence on its way through the sampler."""

    id: int
    # [length] int64.
    prompt: npt.NDArray[np.int64]
    settings: SamplingSettings
    key: int
    # Called by the sampler's thread with each piece of the result; the last one is a SampleFinish.
    deliver: Callable[[pb.SampleTokens | pb.SampleFinish], None]
    stream_tokens: bool = False
    # Answered already because it was cancelled; what is still computed of it reaches nobody.
    cancelled: bool = False
    # Tokens and log-probabilities sampled before the sequence last entered a batch.
    tokens: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    logprobs: npt.NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    # Runs of (weight version, tokens sampled with it).
    versions: list[tuple[int, int]] = field(default_factory=list)

    @property
    def context(self) -> npt.NDArray[np.int64]:
        """Prompt and what has been sampled, [length] int64."""
        return np.concatenate((self.prompt, self.tokens.astype(np.int64)))

    def append(self, tokens: npt.NDArray[np.int32], logprobs: npt.NDArray[np.float32], version: int) -> None:
        """Adds tokens [n] that were sampled with the weights of `version`."""
        if not len(tokens):
            return
        self.tokens = np.concatenate((self.tokens, tokens))
        self.logprobs = np.concatenate((self.logprobs, logprobs))
        if self.versions and self.versions[-1][0] == version:
            self.versions[-1] = (version, self.versions[-1][1] + len(tokens))
        else:
            self.versions.append((version, len(tokens)))

    def finish(self, reason: pb.StopReason, error: tuple[str, str] = ("", "")) -> pb.SampleFinish:
        """The answer for a sequence that has ended; `error` is (code, message)."""
        return pb.SampleFinish(
            id=self.id,
            reason=reason,
            token_ids=self.tokens.astype("<i4").tobytes(),
            logprobs=self.logprobs.astype("<f4").tobytes(),
            truncated_support=self.settings.truncates and len(self.tokens) > 0,
            versions=[pb.VersionRun(version=version, count=count) for version, count in self.versions],
            error_code=error[0],
            error_message=error[1],
        )
