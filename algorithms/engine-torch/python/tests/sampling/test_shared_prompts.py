"""Prompts that many rows share are computed and kept once, while their rows end and move."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from mrlm_engine.decoding.protocol import PromptGroup
from mrlm_engine.decoding.row_moves import RowMoves
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.llama.decoder import LlamaDecoder
from mrlm_engine.llama.prefix_cache import PrefixCache
from mrlm_engine.models.weights import inference_weights
from mrlm_engine.sampling import Sampler
from mrlm_engine.sampling.choose_decoder import choose_decoder
from mrlm_engine.sampling.scheduler import SchedulerLimits
from sampling.architectures import FUSED, make
from sampling.calls import add, full_forward, logprobs, sample_wave, tokens

PROMPTS = ([5, 6, 7, 8], [9, 10], [11] * 9, [12, 13, 14])


def groups(rows: int, **params: Any) -> list[pb.SampleAdd]:
    return [add(10 * i + j, prompt, **params) for i, prompt in enumerate(PROMPTS) for j in range(rows)]


def in_order(store: PrefixCache) -> bool:
    """Whether the rows are the grid of prompts and places, so that nothing is copied between the two."""
    return store.slots is None


@pytest.mark.parametrize("rows", [2, 5])
@pytest.mark.parametrize("limit", [256, 9])
def test_groups_of_equal_and_of_shrinking_size_match_a_full_forward_pass(rows: int, limit: int) -> None:
    model = make(FUSED["qwen2"])
    sampler = Sampler(model, True, SchedulerLimits(rows=limit, state_bytes=1 << 30))
    cases: list[dict[str, Any]] = [{"max_tokens": 20}, {"max_tokens": 40, "stop_token_ids": list(range(2, 8))}]
    for params in cases:
        adds = groups(rows, **params)
        found = sample_wave(sampler, adds)
        for request in adds:
            expected = full_forward(model, request, tokens(found[request.id]))
            assert (logprobs(found[request.id]) - expected).abs().max() < 1e-4


@torch.inference_mode()
def test_each_prompt_is_held_once_and_dropped_with_its_last_row() -> None:
    model = make(FUSED["qwen2"])
    decoder = choose_decoder(model, inference_weights(model))
    assert isinstance(decoder, LlamaDecoder)
    decoder.admit([PromptGroup(torch.tensor(prompt), 3) for prompt in PROMPTS])
    store = decoder._prompts
    assert store is not None
    assert (store.prompts, store.places, in_order(store)) == (4, 3, True)
    decoder.step(torch.full((12,), 3))
    # The rows of the third prompt and one of the fourth leave.
    decoder.keep(RowMoves([6, 7], [9, 10], 8, torch.device("cpu")))
    assert (store.prompts, store.columns) == (3, 4)
    assert not in_order(store)
    decoder.keep(RowMoves([], [], 3, torch.device("cpu")))
    assert (store.prompts, store.places, in_order(store)) == (1, 3, True)
    decoder.clear()
    assert store.prompts == 0


@torch.inference_mode()
def test_prompts_without_company_are_not_split_off() -> None:
    model = make(FUSED["qwen2"])
    decoder = choose_decoder(model, inference_weights(model))
    assert isinstance(decoder, LlamaDecoder)
    decoder.admit([PromptGroup(torch.tensor(prompt), 1) for prompt in PROMPTS])
    assert decoder._prompts is None
