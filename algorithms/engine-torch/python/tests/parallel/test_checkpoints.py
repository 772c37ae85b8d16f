"""Checkpoints, exports and published weights of a mesh, and resumption on another one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from mrlm_engine.sampling import InFlight
from mrlm_engine.service import rank_models
from parallel.learning import MOE, QWEN3, Learnt, create, learn, make_state, weights_of
from parallel.world import run_ranks

pytestmark = pytest.mark.slow

Sizes = tuple[int, int, int]


def save(sizes: Sizes, strategy: str, config: dict[str, Any], dtype: str, directory: Path) -> tuple[Learnt, str]:
    """Saves and exports after three steps. Returns the next two, and the checksum of what they publish."""
    state = make_state(sizes, strategy)
    create(state, config, dtype=dtype)
    learn(state, range(3))
    rank_models.save(state, directory / "saved", ["policy"], 0)
    rank_models.export(state, "policy", directory / "hf", False)
    return go_on(state)


def resume(sizes: Sizes, strategy: str, directory: Path) -> tuple[Learnt, str]:
    state = make_state(sizes, strategy)
    rank_models.load(state, directory / "saved", {})
    return go_on(state)


def go_on(state: Any) -> tuple[Learnt, str]:
    learnt = learn(state, range(3, 5))
    return learnt, rank_models.publish(state, "policy", InFlight.RECOMPUTE).checksum


def weights_after(sizes: Sizes, strategy: str, directory: Path) -> dict[str, Any]:
    state = make_state(sizes, strategy)
    rank_models.load(state, directory / "saved", {})
    return weights_of(state)


def ranks_of(sizes: Sizes) -> int:
    return sizes[0] * sizes[1] * sizes[2]


SHORT: list[tuple[dict[str, Any], str, Sizes, str, Sizes, str]] = [
    (QWEN3, "float32", (1, 1, 2), "ddp", (1, 2, 1), "fsdp"),
]
LONG: list[tuple[dict[str, Any], str, Sizes, str, Sizes, str]] = [
    (QWEN3, "float32", (1, 2, 2), "fsdp", (2, 1, 2), "ddp"),
    (QWEN3, "float32", (1, 4, 1), "fsdp", (1, 1, 1), "ddp"),
    (QWEN3, "float32", (1, 1, 1), "ddp", (1, 2, 2), "fsdp"),
    (MOE, "float32", (2, 1, 2), "fsdp", (1, 2, 1), "ddp"),
    (MOE, "bfloat16", (1, 2, 2), "fsdp", (1, 1, 2), "ddp"),
    (QWEN3, "bfloat16", (1, 1, 2), "ddp", (2, 2, 1), "fsdp"),
]


@pytest.mark.parametrize(
    ("config", "dtype", "sizes", "strategy", "others", "other_strategy"),
    [*SHORT, *(pytest.param(*case, marks=pytest.mark.parallel) for case in LONG)],
)
def test_a_run_resumes_on_its_mesh_with_its_bits_and_on_another_with_its_values(
    config: dict[str, Any], dtype: str, sizes: Sizes, strategy: str, others: Sizes, other_strategy: str, tmp_path: Path
) -> None:
    kept = run_ranks(ranks_of(sizes), save, sizes, strategy, config, dtype, tmp_path)
    # Every rank has the weights of the others, and publishes them.
    assert len({checksum for _, checksum in kept}) == 1
    expected, checksum = kept[0]

    again = run_ranks(ranks_of(sizes), resume, sizes, strategy, tmp_path)
    for learnt, found in again:
        assert found == checksum
        assert learnt.norms == expected.norms
        assert all(np.array_equal(learnt.weights[name], weight) for name, weight in expected.weights.items())

    elsewhere = run_ranks(ranks_of(others), resume, others, other_strategy, tmp_path)
    # In 16 bits other sums round to the next number.
    weights, norms = (1e-5, 1e-5) if dtype == "float32" else (0.01, 0.01)
    for learnt, _ in elsewhere:
        np.testing.assert_allclose(learnt.norms, expected.norms, rtol=norms)
        for name, weight in expected.weights.items():
            np.testing.assert_allclose(learnt.weights[name], weight, atol=weights)

    # The exported directory has the weights of the checkpoint, to the last bit, under the names of the architecture.
    exported = load_file(tmp_path / "hf" / "model.safetensors")
    saved = run_ranks(ranks_of(others), weights_after, others, other_strategy, tmp_path)[0]
    if config is QWEN3:
        assert exported.keys() == saved.keys()
        # Divided weights are float32 masters.
        assert all(
            torch.equal(exported[name], torch.from_numpy(weight).to(exported[name].dtype))
            for name, weight in saved.items()
        )
    assert json.loads((tmp_path / "hf" / "config.json").read_text())["model_type"] == config["model_type"]
