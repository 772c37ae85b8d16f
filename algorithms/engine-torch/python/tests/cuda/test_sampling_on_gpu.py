"""The sampler on a GPU in bfloat16: its contract, both modes, publishing, and adapters."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from on_gpu import CLOSE, device_or_skip, logprobs_of, make_on
from sampling.architectures import BY_MODULE, FUSED, disturb
from sampling.calls import add, prompts, sample_wave, tokens

from mrlm_engine.decoding.protocol import PromptGroup
from mrlm_engine.decoding.row_moves import RowMoves
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2
from mrlm_engine.models.weights import inference_weights
from mrlm_engine.sampling import Sampler
from mrlm_engine.sampling.choose_decoder import choose_decoder

DEVICE = device_or_skip()
CASES = {**FUSED, **BY_MODULE}


def adds(count: int = 24, longest: int = 9) -> list[sampler_pb2.SampleAdd]:
    return [
        add(
            i,
            prompt,
            max_tokens=5 + i % 20,
            temperature=(1.0, 0.7, 0.0)[i % 3],
            stop_token_ids=[3],
            top_p=0.9 * (i % 4 == 1),
        )
        for i, prompt in enumerate(prompts(count, 41, longest=longest))
    ]


@pytest.mark.parametrize("name", CASES)
@torch.inference_mode()
def test_cuda_logits_are_those_of_a_full_forward_pass(name: str) -> None:
    model = make_on(DEVICE, CASES[name])
    decoder = choose_decoder(model, inference_weights(model))
    generator = torch.Generator().manual_seed(0)
    rows: list[list[int]] = []

    def close(features: torch.Tensor, wanted: list[list[int]]) -> None:
        found = decoder.logits(features).float()
        expected = torch.stack(
            [model.module(torch.tensor([row], device=DEVICE)).logits[0, -1].float() for row in wanted]
        )
        assert (found - expected).abs().max() < CLOSE * max(1.0, float(expected.abs().max()) / 8)

    def admit(lengths: tuple[tuple[int, int], ...]) -> None:
        groups = [PromptGroup(torch.randint(2, 41, (n,), generator=generator), count) for n, count in lengths]
        new = [group.tokens.tolist() for group in groups for _ in range(group.rows)]
        rows.extend(new)
        close(decoder.admit(groups), new)

    def step() -> None:
        drawn = torch.randint(2, 41, (len(rows),), generator=generator)
        for row, token in zip(rows, drawn.tolist(), strict=True):
            row.append(token)
        close(decoder.step(drawn.to(DEVICE)), rows)

    admit(((5, 3), (9, 1), (1, 2)))
    for _ in range(3):
        step()
    decoder.keep(RowMoves([0, 1], [4, 5], 4, DEVICE))
    rows[:] = [rows[4], rows[5], rows[2], rows[3]]
    step()
    admit(((2, 1), (11, 2)))
    step()


@pytest.mark.parametrize("name", ["qwen2", "gpt2", "mistral-sliding"])
def test_cuda_deterministic_mode_repeats_its_bits(name: str) -> None:
    model = make_on(DEVICE, CASES[name])
    first, second = (sample_wave(Sampler(model, True), adds()) for _ in range(2))
    assert first == second
    assert {finish.reason for finish in first.values()} <= {
        sampler_pb2.STOP_REASON_STOP,
        sampler_pb2.STOP_REASON_LENGTH,
    }


@pytest.mark.parametrize("deterministic", [True, False])
def test_cuda_sampled_logprobs_are_the_trainer_s(deterministic: bool) -> None:
    model = make_on(DEVICE, CASES["qwen2"])
    requests = [add(i, prompt, max_tokens=20) for i, prompt in enumerate(prompts(16, 41))]
    found = sample_wave(Sampler(model, deterministic), requests)
    for request in requests:
        drawn = tokens(found[request.id])
        expected = logprobs_of(model, np.frombuffer(request.prompt, "<i4").tolist(), drawn)
        assert np.abs(np.frombuffer(found[request.id].logprobs, "<f4") - expected).max() < CLOSE


def test_cuda_the_draws_are_those_of_a_cpu_in_float32() -> None:
    config = CASES["qwen2"]
    gpu, cpu = (
        sample_wave(Sampler(make_on(where, config, "float32"), True), adds()) for where in (DEVICE, torch.device("cpu"))
    )
    same = [tokens(gpu[i]) == tokens(cpu[i]) for i in cpu]
    # One number in 10^5 may fall between two sums that differ in their last bits.
    assert sum(same) >= len(same) - 1


def test_cuda_an_update_is_sampled_when_it_is_published() -> None:
    model = make_on(DEVICE, CASES["qwen2"])
    sampler, request = Sampler(model, True), add(1, [5, 6, 7], max_tokens=24)
    before = sample_wave(sampler, [request])[1]
    with torch.no_grad():
        for parameter in model.module.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    assert sample_wave(sampler, [request])[1].logprobs == before.logprobs
    assert sampler.publish().version == 1
    after = sample_wave(sampler, [request])[1]
    expected = logprobs_of(model, [5, 6, 7], tokens(after))
    assert np.abs(np.frombuffer(after.logprobs, "<f4") - expected).max() < CLOSE


def test_cuda_an_adapter_is_sampled_with() -> None:
    pytest.importorskip("peft")
    model = make_on(DEVICE, CASES["qwen2"], lora=pb.Lora(rank=4, alpha=8.0))
    with torch.no_grad():
        for name, parameter in model.module.named_parameters():
            if "lora_B" in name:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    found = sample_wave(Sampler(model, True), [add(1, [5, 6, 7], max_tokens=24)])[1]
    expected = logprobs_of(model, [5, 6, 7], tokens(found))
    assert np.abs(np.frombuffer(found.logprobs, "<f4") - expected).max() < CLOSE


def test_cuda_a_changed_model_draws_other_tokens() -> None:
    model = make_on(torch.device("cpu"), CASES["qwen2"])
    before = sample_wave(Sampler(model, True), adds())
    disturb(model, 0.3)
    assert sample_wave(Sampler(model, True), adds()) != before
