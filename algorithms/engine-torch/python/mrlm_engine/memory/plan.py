"""What an estimate is made of, and what it says."""

from __future__ import annotations

from dataclasses import dataclass

from mrlm_engine.memory.shape import ModelShape


@dataclass(frozen=True)
class ModelPlan:
    """One model as it is going to be."""

    id: str
    shape: ModelShape
    # Of one weight; an adapter's are 4 bytes in every format.
    dtype_bytes: int
    # Weights that learn; with an adapter only its own. 0 for a frozen model.
    trainable_parameters: int = 0
    # Of its adapter, whether it learns or not; 0 without one.
    adapter_parameters: int = 0
    # Inputs of the adapted linear layers of one layer together, which are kept in float32.
    adapter_inputs: int = 0
    # Another model with its adapter off: it holds nothing of its own.
    shares_weights: bool = False
    # Computed by the hot path of the CPU (llama/backbone.py), which keeps fused copies of weights and gradients.
    is_dense: bool = False
    gradient_checkpointing: bool = False
    float32_head: bool = False


@dataclass(frozen=True)
class Setting:
    """Where models are, and what is done with them."""

    device: str
    # Longest sequence in tokens, and how many are sampled at once.
    sequence_tokens: int
    concurrency: int = 0
    sampled_model: str = ""
    # Ranks in all, and ranks that weights are divided among (1: each holds all).
    ranks: int = 1
    ranks_of_weights: int = 1
    # Parts of a pass of the hot path that are computed side by side.
    lanes: int = 1
    # Limits of the sampler: rows, and bytes of keys and values.
    sampler_rows: int = 256
    sampler_bytes: int = 2 << 30
    # What graphs that wait for the client's gradients may hold together, and how many may wait.
    graph_bytes: int = 2 << 30
    waiting_graphs: int = 3


@dataclass(frozen=True)
class Line:
    """One part of one model's memory, in bytes, and where the number comes from."""

    model: str
    part: str
    bytes: int
    formula: str


def size(count: int) -> str:
    """A count for people: 1.54B, 494M, 990k, 812."""
    for unit, suffix in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if count >= unit:
            return f"{count / unit:.3g}{suffix}"
    return str(count)
