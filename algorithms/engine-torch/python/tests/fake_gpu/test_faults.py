"""The engine on the fake GPU: no operands on two devices, and only the copies to the host that are listed here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from fake_gpu import work
from fake_gpu.device import fake_gpu
from fake_gpu.work import MIXTURE, SMALL, GivenCopy, learn, make_decoder, make_model, sample, unit_of
from mrlm_engine.logprobs.logprobs import LogprobsRun

# Each output of a pass goes to the client, and the norm of the gradients to the report of a step.
OUTPUT = "logprobs/selection.py:divide_outputs"
NORM = {"training/optimizer.py:grad_norm": 1}
LEARNT = {OUTPUT: 1, **NORM}
ROWS = [(1, 11), (1, 29), (1, 19)]

SAMPLING: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "qwen2": ("qwen2", {}, {}),
    "qwen2, float32 head": ("qwen2", {}, {"float32_head": True}),
    "qwen2, adapter": ("qwen2", {}, {"lora": True}),
    "qwen3": ("qwen3", {"head_dim": 16}, {}),
    "llama, untied": ("llama", {"tie_word_embeddings": False}, {}),
    "gemma3 by module": ("gemma3_text", {"head_dim": 16, "sliding_window": 8}, {}),
    "qwen3_moe by module": ("qwen3_moe", MIXTURE, {}),
}
# (kind, fields, settings, options of `learn`, rows, copies to the host)
LEARNING: dict[str, tuple[str, dict[str, Any], dict[str, Any], dict[str, bool], list[tuple[int, int]], dict[str, int]]]
LEARNING = {
    "qwen2": ("qwen2", {}, {}, {}, ROWS, LEARNT),
    "qwen2, float32 head": ("qwen2", {}, {"float32_head": True}, {}, ROWS, LEARNT),
    "qwen2, adapter": ("qwen2", {}, {"lora": True}, {}, ROWS, LEARNT),
    "qwen2, checkpointed": ("qwen2", {}, {"gradient_checkpointing": True}, {}, ROWS, LEARNT),
    "qwen3, entropy": ("qwen3", {"head_dim": 16}, {}, {"entropy": True}, ROWS, {OUTPUT: 2, **NORM}),
    # The values of the states, and those after the last tokens.
    "llama, value, chunks of rows": (
        "llama",
        {"vocab_size": 20_000, "tie_word_embeddings": False, "max_position_embeddings": 10_000},
        {},
        {"value": True},
        [(1, 11), (1, 29), (1, 9999)],
        {OUTPUT: 3, **NORM},
    ),
    "qwen3_moe": ("qwen3_moe", MIXTURE, {}, {}, ROWS, LEARNT),
}


@pytest.fixture(autouse=True)
def _branches(monkeypatch: pytest.MonkeyPatch) -> None:
    work.use_gpu_branches(monkeypatch)


def sampled(name: str, change: Callable[[Any], None] = lambda _: None) -> tuple[int, Counter[str]]:
    """Samples a case; `change` may alter the decoder. Returns the steps, and the copies except those of the tokens."""
    kind, fields, settings = SAMPLING[name]
    with fake_gpu() as watch, torch.no_grad():
        decoder = make_decoder(make_model(kind, fields=SMALL | fields, **settings))
        change(decoder)
        watch.reset()
        steps = sample(decoder)
    return steps, watch.hosts


def learnt(name: str) -> Counter[str]:
    """Learns a case, and returns the copies to the host."""
    kind, fields, settings, options, rows, _ = LEARNING[name]
    with fake_gpu() as watch:
        model = make_model(kind, fields=SMALL | fields, **settings)
        watch.reset()
        learn(model, unit_of(rows, **options), **options)
    return watch.hosts


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
@pytest.mark.parametrize("name", ["qwen2", "qwen3_moe by module"])
def test_a_tensor_of_the_cpu_in_a_step_is_found(name: str) -> None:
    def plant(decoder: Any) -> None:
        step = decoder.step
        decoder.step = lambda tokens: step(tokens) + torch.zeros(1)

    with pytest.raises(RuntimeError, match="device"):
        sampled(name, plant)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["qwen2", "qwen3_moe"])
def test_a_number_that_learning_reads_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = LogprobsRun.outputs

    def reading(run: LogprobsRun, keep: bool) -> Any:
        float(run._hidden.float().sum())
        return outputs(run, keep)

    monkeypatch.setattr(LogprobsRun, "outputs", reading)
    found = learnt(name)
    assert found - Counter(LEARNING[name][-1]) != Counter()


@pytest.mark.slow
def test_a_copy_for_each_token_is_found() -> None:
    def plant(decoder: Any) -> None:
        step = decoder.step

        def reading(tokens: torch.Tensor) -> torch.Tensor:
            np.asarray(tokens.cpu().numpy())
            return step(tokens)  # type: ignore[no-any-return]

        decoder.step = reading

    steps, hosts = sampled("qwen2", plant)
    assert hosts.total() >= steps - 1
