"""The engine on the fake GPU: no operands on two devices, and only the copies to the host that are listed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from fake_gpu import work
from fake_gpu.cases import LEARNING, PLANTED, SAMPLING, learnt, sampled
from fake_gpu.device import fake_gpu
from fake_gpu.work import SMALL, GivenCopy, learn, make_model, unit_of
from mrlm_engine.sampling.limits import limits_beside


@pytest.fixture(autouse=True)
def _branches() -> Iterator[None]:
    with work.gpu_branches():
        yield


def test_a_step_of_learning_copies_to_the_host_what_is_listed() -> None:
    assert learnt("qwen2") == LEARNING["qwen2"][-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNING)
def test_learning_copies_to_the_host_what_is_listed(name: str) -> None:
    assert learnt(name) == LEARNING[name][-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLING)
def test_sampling_copies_only_the_drawn_tokens(name: str) -> None:
    steps, hosts = sampled(name)
    assert steps >= 8
    assert GivenCopy.made == steps
    assert hosts == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_found(name: str) -> None:
    assert PLANTED[name]()


@pytest.mark.slow
def test_a_gpu_takes_fused_kernels_for_the_head_the_attention_and_the_optimizer() -> None:
    with fake_gpu() as watch:
        learn(make_model("qwen2", fields=SMALL, float32_head=True), unit_of([(1, 11), (1, 29)]))
    assert watch.operations["aten::mm.dtype"] == 2
    assert watch.operations["torch_attn::_varlen_attn"] == SMALL["num_hidden_layers"]
    assert watch.operations["aten::_fused_adamw_"] == 2
    assert not any("scaled_dot_product" in name for name in watch.operations)


@pytest.mark.slow
def test_the_sampler_s_limit_counts_blocks_that_the_allocator_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_gpu():
        model = make_model("qwen2", fields=SMALL)
    model.device = torch.device("cuda")
    weights = sum(parameter.numel() for parameter in model.module.parameters() if parameter.requires_grad)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (10 << 30, 80 << 30))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _: 7 << 30)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _: 2 << 30)
    assert limits_beside(model).state_bytes == int(0.4 * ((15 << 30) - 16 * weights))
