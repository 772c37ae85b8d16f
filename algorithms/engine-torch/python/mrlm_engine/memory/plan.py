"""Inputs and lines of a memory estimate."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from mrlm_engine.memory.shape import ModelShape


@dataclass(frozen=True)
class ModelPlan:
    """Properties of one model of the run."""

    id: str
    shape: ModelShape
    # Bytes of one weight. Weights of an adapter have 4 bytes in every format.
    dtype_bytes: int
    # Trainable weights; with an adapter only its own. 0 for a frozen model.
    trainable_parameters: int = 0
    # Weights of its adapter, trainable or frozen; 0 without one.
    adapter_parameters: int = 0
    # Inputs of the adapted linear layers of one layer together, which are kept in float32.
    adapter_inputs: int = 0
    # Whether the model shares the weights of another model, with the adapter disabled. It uses no further memory.
    shares_weights: bool = False
    # Whether the model shares the frozen weights of another model, with an adapter of its own.
    shares_base: bool = False
    # Computed by the hot path of the CPU (llama/backbone.py), which keeps fused copies of weights and gradients. In 16
    # bits its attention and its head are in float32.
    is_dense: bool = False
    gradient_checkpointing: bool = False
    float32_head: bool = False

    def has_float32_head(self, device: str) -> bool:
        """Whether the head is a float32 copy of weights of a lower format; a GPU computes it without one."""
        return self.dtype_bytes < 4 and device == "cpu" and (self.float32_head or self.is_dense)


def part_of_rank(model: ModelPlan, tensor: int) -> ModelPlan:
    """Returns what each of `tensor` ranks that share the products of a model has of it: all of the embedding and of the
    head, and a part of the layers.
    """
    if tensor == 1:
        return model
    shape = model.shape
    held = shape.ends + (shape.parameters - shape.ends) // tensor
    widths = {name: getattr(shape, name) // tensor for name in ("intermediate", "heads", "query_width", "key_width")}
    return dataclasses.replace(
        model,
        shape=dataclasses.replace(shape, parameters=held, **widths),
        trainable_parameters=held if model.trainable_parameters else 0,
    )


@dataclass(frozen=True)
class Setting:
    """Device and workload."""

    device: str
    # Longest sequence in tokens, and number of sequences that are sampled concurrently.
    sequence_tokens: int
    concurrency: int = 0
    sampled_models: frozenset[str] = frozenset()
    # Number of ranks, and number of ranks that shard the weights (1: each holds all).
    ranks: int = 1
    ranks_of_weights: int = 1
    # Numbers of ranks that share the tokens of a unit, and the products of a token.
    context: int = 1
    tensor: int = 1
    # Parts of a pass of the hot path that are computed side by side.
    lanes: int = 1
    # Limits of the sampler: rows, and bytes of keys and values.
    sampler_rows: int = 256
    sampler_bytes: int = 2 << 30
    # Limits of the graphs that wait for the client's gradients: bytes, and number.
    graph_bytes: int = 2 << 30
    waiting_graphs: int = 3

    @property
    def pass_tokens(self) -> int:
        """Tokens of the longest sequence that one rank computes."""
        return -(-self.sequence_tokens // self.context)


@dataclass(frozen=True)
class Line:
    """One part of a model's memory, in bytes, with its formula."""

    model: str
    part: str
    bytes: int
    formula: str


def size(count: int) -> str:
    """Formats a count: 1.54B, 494M, 990k, 812."""
    for unit, suffix in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if count >= unit:
            return f"{count / unit:.3g}{suffix}"
    return str(count)
