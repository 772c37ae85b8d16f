"""Learning on a mesh of 2 or 4 ranks against one rank: outputs, gradients, 20 optimizer steps.

gloo has no `all_to_all`, so the exchange of heads is point-to-point here; NCCL's own call runs on GPUs only.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from tiny import LLAMA, QWEN2

from mrlm_engine.batching.unit import TokenSequence, TokenUnit
from parallel import learning
from parallel.learning import MISTRAL, MOE, QWEN3, Learnt, differences, train
from parallel.world import run_ranks

STEPS = 20
FAMILIES: dict[str, dict[str, Any]] = {
    "qwen2": QWEN2,
    "qwen3": QWEN3,
    "llama": LLAMA,
    "mistral with a window": MISTRAL,
    "experts": MOE,
}
# Of models in float32. Sums of 16 bits are rounded in another order.
LIMITS = {"outputs": 1e-5, "gradients": 1e-5, "last_outputs": 1e-4, "norms": 1e-4}


@functools.cache
def alone(family: str, steps: int, **fields: Any) -> Learnt:
    return train((1, 1, 1), "ddp", FAMILIES[family], steps, **fields)


def check(family: str, sizes: tuple[int, int, int], strategy: str, steps: int, **fields: Any) -> None:
    data, context, tensor = sizes
    found = run_ranks(
        data * context * tensor, functools.partial(train, **fields), sizes, strategy, FAMILIES[family], steps
    )
    far = differences(found, alone(family, steps, **fields))
    assert {name: far[name] for name, limit in LIMITS.items() if far[name] > limit} == {}


def test_two_ranks_of_a_context_with_divided_weights_are_one_rank() -> None:
    check("llama", (1, 2, 1), "fsdp", 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "sizes", "strategy"),
    [
        ("qwen3", (1, 1, 2), "ddp"),
        ("experts", (1, 1, 2), "fsdp"),
        ("qwen2", (1, 4, 1), "ddp"),
        ("qwen3", (1, 2, 2), "fsdp"),
    ],
    ids=str,
)
def test_a_mesh_is_one_rank_in_a_few_steps(family: str, sizes: tuple[int, int, int], strategy: str) -> None:
    check(family, sizes, strategy, 3)


@pytest.mark.slow
@pytest.mark.parallel
@pytest.mark.parametrize(
    ("family", "sizes", "strategy"),
    [
        # Tensor parallel.
        ("qwen2", (1, 1, 2), "ddp"),
        ("qwen3", (1, 1, 2), "ddp"),
        ("qwen3", (1, 1, 4), "ddp"),
        ("llama", (2, 1, 2), "ddp"),
        # With FSDP2.
        ("qwen3", (2, 1, 2), "fsdp"),
        ("llama", (1, 1, 2), "fsdp"),
        # Context parallel by heads, and by gathered keys beyond the two key heads.
        ("qwen2", (1, 2, 1), "ddp"),
        ("mistral with a window", (1, 2, 1), "ddp"),
        ("qwen2", (1, 4, 1), "ddp"),
        ("mistral with a window", (1, 4, 1), "ddp"),
        # With FSDP2.
        ("qwen3", (1, 2, 1), "fsdp"),
        ("qwen2", (2, 2, 1), "fsdp"),
        ("mistral with a window", (1, 4, 1), "fsdp"),
        # All three, and experts.
        ("qwen3", (1, 2, 2), "ddp"),
        ("qwen3", (1, 2, 2), "fsdp"),
        ("experts", (1, 1, 2), "ddp"),
        ("experts", (2, 1, 2), "fsdp"),
        ("experts", (1, 2, 1), "fsdp"),
        ("experts", (1, 2, 2), "fsdp"),
    ],
    ids=str,
)
def test_a_mesh_is_one_rank_in_20_steps(family: str, sizes: tuple[int, int, int], strategy: str) -> None:
    check(family, sizes, strategy, STEPS)


def train_on_last_tokens(*arguments: Any) -> Learnt:
    """Trains on one output at the end of one sequence, which only the last rank computes."""
    tokens = np.random.default_rng(0).integers(2, 41, 31).astype(np.int32)
    setattr(learning, "units_of", lambda *_: [TokenUnit(0, (TokenSequence(tokens, np.array([30])),))])  # noqa: B010
    return train(*arguments)


@pytest.mark.slow
@pytest.mark.parallel
# The logits of the second are computed in blocks.
@pytest.mark.parametrize("vocabulary", [41, 17_000])
@pytest.mark.parametrize("sizes", [(1, 4, 1), (2, 2, 1)], ids=str)
def test_ranks_without_an_output_take_part(sizes: tuple[int, int, int], vocabulary: int) -> None:
    config = {**LLAMA, "vocab_size": vocabulary}
    expected = run_ranks(1, train_on_last_tokens, (1, 1, 1), "ddp", config, 2)[0]
    far = differences(run_ranks(4, train_on_last_tokens, sizes, "fsdp", config, 2), expected)
    assert {name: far[name] for name, limit in LIMITS.items() if far[name] > limit} == {}


@pytest.mark.slow
@pytest.mark.parallel
@pytest.mark.parametrize("sizes", [(1, 1, 2), (1, 2, 1), (1, 2, 2)], ids=str)
@pytest.mark.parametrize("form", ["checkpointed", "in pieces"])
def test_every_form_of_a_pass_is_that_of_one_rank(sizes: tuple[int, int, int], form: str) -> None:
    fields: dict[str, Any] = {"gradient_checkpointing": True} if form == "checkpointed" else {"micro_batch_tokens": 12}
    check("qwen3", sizes, "fsdp", 3, **fields)
