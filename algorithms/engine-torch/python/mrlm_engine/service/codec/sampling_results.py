"""Tokens and ends of sampled sequences, in both directions: ranks sample for each other over the same protocol."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.sampling.sequence import SampledTokens, SampleFinish, StopReason


def tokens_message(result: SampledTokens) -> pb.SampleTokens:
    """Encodes a piece of a sequence."""
    return pb.SampleTokens(
        id=result.id,
        token_ids=_tokens(result.tokens),
        logprobs=_logprobs(result.logprobs),
        version=result.version,
    )


def finish_message(result: SampleFinish) -> pb.SampleFinish:
    """Encodes the end of a sequence."""
    return pb.SampleFinish(
        id=result.id,
        reason=f"STOP_REASON_{result.reason.name}",
        token_ids=_tokens(result.tokens),
        logprobs=_logprobs(result.logprobs),
        truncated_support=result.truncated_support,
        versions=[pb.VersionRun(version=version, count=count) for version, count in result.versions],
        error_code=result.error[0],
        error_message=result.error[1],
    )


def parse_tokens(message: pb.SampleTokens) -> SampledTokens:
    """Decodes a piece of a sequence from another rank."""
    return SampledTokens(message.id, *_arrays(message), message.version)


def parse_finish(message: pb.SampleFinish) -> SampleFinish:
    """Decodes the end of a sequence from another rank."""
    return SampleFinish(
        message.id,
        StopReason(message.reason),
        *_arrays(message),
        truncated_support=message.truncated_support,
        versions=[(run.version, run.count) for run in message.versions],
        error=(message.error_code, message.error_message),
    )


def _arrays(message: pb.SampleTokens | pb.SampleFinish) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    return np.frombuffer(message.token_ids, "<i4"), np.frombuffer(message.logprobs, "<f4")


def _tokens(values: npt.NDArray[np.int32]) -> bytes:
    return values.astype("<i4", copy=False).tobytes()


def _logprobs(values: npt.NDArray[np.float32]) -> bytes:
    return values.astype("<f4", copy=False).tobytes()
