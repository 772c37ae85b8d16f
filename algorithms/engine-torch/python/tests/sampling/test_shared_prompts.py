"""Prompts that many rows share are computed and kept once, while their rows end and move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from mrlm_engine.decoding.protocol import PromptGroup
from mrlm_engine.decoding.row_moves import RowMoves
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.llama.decoder import LlamaDecoder
from mrlm_engine.llama.prefix_cache import PrefixCache
from mrlm_engine.llama.shared_prefix import LEAST_PREFIX
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


BEGINNING = list(range(5, 5 + LEAST_PREFIX + 3))


def with_beginning(rows: int, first: int = 0, **params: Any) -> list[pb.SampleAdd]:
    return [
        add(first + 10 * i + j, BEGINNING + prompt, **params) for i, prompt in enumerate(PROMPTS) for j in range(rows)
    ]


@pytest.mark.parametrize("family", ["qwen2", "llama", "qwen3"])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("limit", [256, 5])
def test_prompts_with_the_same_beginning_match_a_full_forward_pass(family: str, rows: int, limit: int) -> None:
    model = make(FUSED[family])
    sampler = Sampler(model, True, SchedulerLimits(rows=limit, state_bytes=1 << 30))
    stranger = add(99, [3, *BEGINNING], max_tokens=25)
    cases: list[dict[str, Any]] = [{"max_tokens": 20}, {"max_tokens": 40, "stop_token_ids": list(range(2, 8))}]
    for params in cases:
        adds = [*with_beginning(rows, **params), stranger, *with_beginning(1, 200, max_tokens=9)]
        found = sample_wave(sampler, adds)
        for request in adds:
            expected = full_forward(model, request, tokens(found[request.id]))
            assert (logprobs(found[request.id]) - expected).abs().max() < 1e-4


@torch.inference_mode()
def test_a_common_beginning_is_held_once_and_rows_of_others_have_none() -> None:
    model = make(FUSED["qwen2"])
    decoder = choose_decoder(model, inference_weights(model))
    assert isinstance(decoder, LlamaDecoder)
    decoder.admit([PromptGroup(torch.tensor(BEGINNING + prompt), 1) for prompt in PROMPTS])
    store = decoder._prompts
    assert store is not None
    assert (store.prompts, store.places, store.columns) == (1, 4, len(BEGINNING))
    # Own columns are those of the longest rest.
    assert decoder._columns == max(len(prompt) for prompt in PROMPTS)
    decoder.admit([PromptGroup(torch.tensor(BEGINNING), 1)])
    decoder.admit([PromptGroup(torch.tensor([*BEGINNING, 4]), 2)])
    decoder.admit([PromptGroup(torch.tensor([4, *BEGINNING]), 1)])
    assert (store.prompts, store.places) == (2, 6)
    decoder.step(torch.full((8,), 3))
    # Only the two rows with another beginning stay; then one with this beginning comes again.
    decoder.keep(RowMoves([0, 1], [4, 7], 2, torch.device("cpu")))
    assert (store.prompts, store.places, store.columns) == (1, 2, 0)
    decoder.step(torch.full((2,), 3))
    decoder.admit([PromptGroup(torch.tensor([*BEGINNING, 5]), 1)])
    assert (store.prompts, store.columns) == (2, len(BEGINNING))
    decoder.step(torch.full((3,), 3))


@torch.inference_mode()
@pytest.mark.parametrize("rows", [1, 2])
def test_tokens_before_the_difference_change_a_prediction(rows: int) -> None:
    """Each token of the beginning, the first and the last with them, is read by the rows."""
    model = make(FUSED["qwen2"])
    decoder = choose_decoder(model, inference_weights(model))

    def features(beginning: list[int]) -> torch.Tensor:
        decoder.clear()
        decoder.admit([PromptGroup(torch.tensor(beginning + prompt), rows) for prompt in PROMPTS])
        return decoder.step(torch.full((4 * rows,), 3))

    plain = features(BEGINNING)
    for place in range(len(BEGINNING)):
        changed = features([*BEGINNING[:place], 4, *BEGINNING[place + 1 :]])
        assert ((plain - changed).abs().amax(1) > 1e-6).all()


def test_a_row_that_is_not_finite_leaves_the_prompt_of_others_as_it_is() -> None:
    model = make(FUSED["qwen2"])
    decoder = choose_decoder(model, inference_weights(model))
    with torch.inference_mode():
        for rows, prompts in ((2, PROMPTS[:1]), (1, [BEGINNING + prompt for prompt in PROMPTS[:2]])):
            found = []
            for scrubbed in (False, True):
                decoder.clear()
                decoder.admit([PromptGroup(torch.tensor(prompt), rows) for prompt in prompts])
                decoder.step(torch.full((2,), 3))
                if scrubbed:
                    decoder.scrub(np.array([1]))
                decoder.keep(RowMoves([], [], 1, torch.device("cpu")))
                found.append(decoder.step(torch.full((1,), 3)))
            assert torch.equal(*found)


@torch.inference_mode()
def test_new_rows_do_not_read_a_beginning_that_old_weights_computed() -> None:
    model = make(FUSED["qwen2"])
    decoder = choose_decoder(model, inference_weights(model))
    prompts = [PromptGroup(torch.tensor(BEGINNING + prompt), 1) for prompt in PROMPTS]
    decoder.admit(prompts)
    decoder.load({name: weight * 1.1 for name, weight in decoder.weights()})
    beside = decoder.admit(prompts[:2])
    following = decoder.step(torch.full((6,), 3))[4:]
    decoder.clear()
    assert (decoder.admit(prompts[:2]) - beside).abs().max() < 1e-5
    assert (decoder.step(torch.full((2,), 3)) - following).abs().max() < 1e-5
