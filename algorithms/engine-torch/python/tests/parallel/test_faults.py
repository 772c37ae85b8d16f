"""Planted faults of a mesh, each of which the comparison with one rank must find."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.distributed as dist
from tiny import LLAMA
from transformers.distributed.tensor_parallel import ALL_PARALLEL_STYLES

from mrlm_engine.backbone import transformers_backbone
from mrlm_engine.batching.packed_layout import PackedLayout, packed_layout
from mrlm_engine.compute import collectives
from mrlm_engine.compute.context import ContextGroup
from mrlm_engine.gradients import store
from mrlm_engine.training import micro_batch
from parallel.learning import MOE, QWEN3, Learnt, differences, train
from parallel.world import RankError, run_ranks

pytestmark = pytest.mark.slow


# For the life of a rank's process.
replace = setattr


def wrong_positions() -> None:
    """Positions of each rank's tokens begin at 0."""

    def planted(*arguments: Any) -> PackedLayout:
        layout = packed_layout(*arguments)
        return dataclasses.replace(layout, positions=layout.positions - layout.positions[:, :1])

    replace(transformers_backbone, "packed_layout", planted)


def skipped_sum() -> None:
    """Gradients of weights that each rank holds are not summed."""
    replace(store, "sum_over_ranks", lambda tensors, group=None: None)


def skipped_head_sum() -> None:
    """Gradients of norms of heads stay those of a rank's own heads."""
    sums = collectives.sum_over_ranks

    def planted(tensors: Any, group: Any = None) -> None:
        if group is None or dist.get_world_size(group) == 1:
            sums(tensors, group)

    replace(store, "sum_over_ranks", planted)


def skipped_output_sum() -> None:
    """Parts of a product are not summed, in the second product of attention and of the MLP."""
    ALL_PARALLEL_STYLES["rowwise"].transform_output_post_forward = lambda module, output, mesh: output.to_local()


def dropped_tokens() -> None:
    """One rank's tokens are lost in an exchange."""
    exchange = ContextGroup.exchange

    def planted(self: ContextGroup, pieces: list[torch.Tensor]) -> list[torch.Tensor]:
        found = exchange(self, pieces)
        return [*found[:-1], torch.zeros_like(found[-1])]

    replace(ContextGroup, "exchange", planted)


def dropped_outputs() -> None:
    """The last rank's outputs reach no other rank."""
    merge = ContextGroup.merge

    def planted(self: ContextGroup, values: torch.Tensor, places: torch.Tensor, count: int) -> torch.Tensor:
        return merge(self, values * (self.index < self.count - 1), places, count)

    replace(ContextGroup, "merge", planted)


def dropped_gradients() -> None:
    """One rank's outputs have no gradients."""
    joined = micro_batch.MicroBatch._joined

    def planted(self: Any, *arguments: Any) -> Any:
        found = joined(self, *arguments)
        return found if found is None or dist.get_rank() else found * 0

    replace(micro_batch.MicroBatch, "_joined", planted)


def skipped_expert_sum() -> None:
    """Parts of experts are not summed."""
    style = ALL_PARALLEL_STYLES["moe_tp_experts"]
    style.transform_output_post_forward = lambda module, output, mesh, source=None: output


def planted_train(plant: Callable[[], None] | None, *arguments: Any) -> Learnt:
    if plant is not None:
        plant()
    return train(*arguments)


CASES = {
    "wrong position": (wrong_positions, LLAMA, (1, 2, 1), "ddp"),
    "skipped all-reduce of gradients": (skipped_sum, LLAMA, (1, 2, 1), "ddp"),
    "skipped all-reduce of norms of heads": (skipped_head_sum, QWEN3, (1, 1, 2), "fsdp"),
    "skipped all-reduce of products": (skipped_output_sum, LLAMA, (1, 1, 2), "ddp"),
    "skipped all-reduce of experts": (skipped_expert_sum, MOE, (1, 1, 2), "ddp"),
    "dropped shard of tokens": (dropped_tokens, LLAMA, (1, 2, 1), "fsdp"),
    "dropped shard of outputs": (dropped_outputs, LLAMA, (1, 2, 1), "fsdp"),
    "dropped shard of gradients": (dropped_gradients, LLAMA, (1, 2, 1), "fsdp"),
}
# The comparison with the undivided module refuses the model before any pass.
REFUSED = {"skipped all-reduce of products", "skipped all-reduce of experts"}


@pytest.mark.parametrize("case", CASES)
def test_a_planted_fault_is_found(case: str) -> None:
    plant, config, sizes, strategy = CASES[case]
    if case in REFUSED:
        with pytest.raises(RankError, match="is another model"):
            run_ranks(2, planted_train, plant, sizes, strategy, config, 1)
        return
    found = run_ranks(2, planted_train, plant, sizes, strategy, config, 1)
    far = differences(found, train((1, 1, 1), "ddp", config, 1))
    assert max(far["outputs"], far["gradients"]) > 1e-3


@pytest.mark.parametrize(("config", "sizes"), [(LLAMA, (1, 2, 1)), (QWEN3, (1, 1, 2)), (MOE, (1, 1, 2))])
def test_without_a_fault_nothing_is_found(config: dict[str, Any], sizes: tuple[int, int, int]) -> None:
    found = run_ranks(2, planted_train, None, sizes, "ddp", config, 1)
    far = differences(found, train((1, 1, 1), "ddp", config, 1))
    assert max(far["outputs"], far["gradients"]) < 1e-5
