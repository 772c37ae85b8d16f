"""Validation of prompts and sampling settings, and the encoding of a sequence as a request to another rank."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.sampling.sequence import SampledSequence, SamplingSettings


def parse_prompt(prompt: bytes, vocab: int, max_positions: int) -> npt.NDArray[np.int64]:
    """Returns the token ids of `prompt`, [length] int64: at least one, all below `vocab`, with room for more."""
    if not prompt or len(prompt) % 4:
        raise EngineError(
            "SEQUENCE_INVALID",
            f"The prompt has {len(prompt)} bytes, which is not a positive number of int32 token ids.",
            "Send one token at least, four little-endian bytes each.",
        )
    tokens = np.frombuffer(prompt, "<i4").astype(np.int64)
    if max_positions and len(tokens) >= max_positions:
        raise EngineError(
            "SEQUENCE_TOO_LONG",
            f"The prompt has {len(tokens)} tokens and the model {max_positions} positions, so none is left to sample.",
            f"Send at most {max_positions - 1} tokens.",
        )
    _check_tokens(tokens, vocab, "The prompt")
    return tokens


def parse_settings(params: pb.SamplingParams, vocab: int) -> SamplingSettings:
    """Returns the settings of `params`, with defaults for zeros."""
    if not 0 <= params.temperature < math.inf:
        raise _refused(f"the temperature is {params.temperature}", "Use 0 (greedy) or a positive, finite number.")
    if not 0 <= params.top_p <= 1:
        raise _refused(f"top_p is {params.top_p}", "Use a number in (0, 1], or 0 for off.")
    if params.max_tokens < 1:
        raise _refused("max_tokens is 0", "Ask for one token at least.")
    if params.min_tokens > params.max_tokens:
        raise _refused(
            f"min_tokens is {params.min_tokens} and max_tokens {params.max_tokens}", "Lower min_tokens to max_tokens."
        )
    stops = tuple(dict.fromkeys(params.stop_token_ids))
    _check_tokens(np.array(stops, np.int64), vocab, "The list of stop tokens")
    return SamplingSettings(
        temperature=params.temperature,
        top_p=params.top_p or 1.0,
        top_k=params.top_k if params.top_k < vocab else 0,
        max_tokens=params.max_tokens,
        min_tokens=params.min_tokens,
        stop_token_ids=stops,
    )


def add_message(sequence: SampledSequence, number: int) -> pb.SampleAdd:
    """Encodes the request for `sequence` under the id `number`."""
    settings = sequence.settings
    params = pb.SamplingParams(
        temperature=settings.temperature,
        top_p=settings.top_p,
        top_k=settings.top_k,
        max_tokens=settings.max_tokens,
        min_tokens=settings.min_tokens,
        stop_token_ids=settings.stop_token_ids,
    )
    prompt = sequence.prompt.astype("<i4").tobytes()
    return pb.SampleAdd(id=number, prompt=prompt, params=params, key=sequence.key, stream_tokens=sequence.stream_tokens)


def _check_tokens(tokens: npt.NDArray[np.int64], vocab: int, what: str) -> None:
    wrong = tokens[(tokens < 0) | (tokens >= vocab)]
    if len(wrong):
        raise EngineError(
            "SEQUENCE_INVALID",
            f"{what} holds token {wrong[0]}, and the vocabulary ends at {vocab - 1}.",
            "Use the tokenizer that belongs to this model.",
        )


def _refused(what: str, hint: str) -> EngineError:
    return EngineError("OPTIONS_INVALID", f"Sampling was refused because {what}.", hint)
