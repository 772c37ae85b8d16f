"""Cases of the fake GPU: the copies to the host that each may make, and faults that each must show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import torch

from fake_gpu.device import fake_gpu
from fake_gpu.work import MIXTURE, SMALL, learn, make_decoder, make_model, sample, unit_of
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
    "qwen2, common prompt": ("qwen2", {}, {}, {"common": True}, [(40, 11), (40, 29), (40, 19)], LEARNT),
    "mistral, window": ("mistral", {"sliding_window": 8, "head_dim": 16}, {}, {}, ROWS, LEARNT),
    "gemma3": ("gemma3_text", {"head_dim": 16, "sliding_window": 8}, {}, {}, ROWS, LEARNT),
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
    kind, fields, settings, given, rows, _ = LEARNING[name]
    options = dict(given)
    with fake_gpu() as watch:
        model = make_model(kind, fields=SMALL | fields, **settings)
        watch.reset()
        unit = unit_of(rows, **options)
        options.pop("common", None)
        learn(model, unit, **options)
    return watch.hosts


def finds_tensor_of_cpu(name: str) -> bool:
    """Whether a tensor of the CPU in a step of decoding ends the case."""

    def plant(decoder: Any) -> None:
        step = decoder.step
        decoder.step = lambda tokens: step(tokens) + torch.zeros(1)

    try:
        sampled(name, plant)
    except RuntimeError as error:
        return "device" in str(error)
    return False


def finds_number_in_learning(name: str) -> bool:
    """Whether a number that the forward pass reads is a copy that is not listed."""
    outputs = LogprobsRun.outputs

    def reading(run: LogprobsRun, keep: bool) -> Any:
        float(run._hidden.float().sum())
        return outputs(run, keep)

    with mock.patch.object(LogprobsRun, "outputs", reading):
        return (learnt(name) - Counter(LEARNING[name][-1])).total() > 0


def finds_copy_for_each_token(name: str) -> bool:
    """Whether tokens that each step copies to the host are as many copies."""

    def plant(decoder: Any) -> None:
        step = decoder.step

        def reading(tokens: torch.Tensor) -> torch.Tensor:
            np.asarray(tokens.cpu().numpy())
            return step(tokens)  # type: ignore[no-any-return]

        decoder.step = reading

    steps, hosts = sampled(name, plant)
    return hosts.total() >= steps - 1


PLANTED: dict[str, Callable[[], bool]] = {
    "a tensor of the CPU in a step": lambda: finds_tensor_of_cpu("qwen2"),
    "a tensor of the CPU in a step by module": lambda: finds_tensor_of_cpu("qwen3_moe by module"),
    "a number in learning": lambda: finds_number_in_learning("qwen2"),
    "a number in learning a mixture": lambda: finds_number_in_learning("qwen3_moe"),
    "a copy for each token": lambda: finds_copy_for_each_token("qwen2"),
}
