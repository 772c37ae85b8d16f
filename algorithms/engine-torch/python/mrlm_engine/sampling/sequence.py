"""A sequence to sample, with its tokens so far."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


class StopReason(enum.IntEnum):
    """Reason of a sequence's end, numbered as in engine.proto."""

    STOP = 1
    LENGTH = 2
    CANCELLED = 3
    ERROR = 4


@dataclass(frozen=True)
class SampledTokens:
    """A piece of a sequence: tokens [n] and their log-probabilities [n], sampled with weights of `version`."""

    id: int
    tokens: npt.NDArray[np.int32]
    logprobs: npt.NDArray[np.float32]
    version: int


@dataclass(frozen=True)
class SampleFinish:
    """The end of a sequence, with all of its tokens [n] and log-probabilities [n]."""

    id: int
    reason: StopReason
    tokens: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    logprobs: npt.NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    # Whether tokens were drawn from a part of the vocabulary (top-k, top-p).
    truncated_support: bool = False
    # Runs of (weight version, tokens sampled with it).
    versions: list[tuple[int, int]] = field(default_factory=list)
    # (code, message); empty without an error.
    error: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class SamplingSettings:
    """Settings of sampling, as in engine.proto's SamplingParams with zeros replaced by defaults."""

    # 0 means greedy.
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
    """A sequence in the sampler."""

    id: int
    # [length] int64.
    prompt: npt.NDArray[np.int64]
    settings: SamplingSettings
    key: int
    # Called by the sampler's thread with each piece of the result. The last one is a SampleFinish.
    deliver: Callable[[SampledTokens | SampleFinish], None]
    stream_tokens: bool = False
    # Whether the end was reported, after a cancellation. Later tokens are discarded.
    cancelled: bool = False
    # Tokens and log-probabilities sampled before the sequence last entered a batch.
    tokens: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    logprobs: npt.NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    # Runs of (weight version, tokens sampled with it).
    versions: list[tuple[int, int]] = field(default_factory=list)

    @property
    def context(self) -> npt.NDArray[np.int64]:
        """Prompt and sampled tokens, [length] int64."""
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

    def finish(self, reason: StopReason, error: tuple[str, str] = ("", "")) -> SampleFinish:
        """Creates the finish of an ended sequence; `error` is (code, message)."""
        return SampleFinish(
            self.id,
            reason,
            self.tokens,
            self.logprobs,
            truncated_support=self.settings.truncates and len(self.tokens) > 0,
            versions=list(self.versions),
            error=error,
        )
