"""Layout of the fused weights that the training backbone and the decoder compute with.

- Query, key and value projections are one matrix, gate and up projections another.
- The two halves of each head's query and key dimensions are interleaved, so that a rotation by an angle is one complex
  multiplication. Scores do not depend on the order of dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass
class LayerWeights:
    """Weights of one layer; None for those that the model lacks.

    Matrices are [outputs, inputs] as in torch.nn.Linear, in either order of memory. `query_norm` and `key_norm`
    [head_size] are interleaved like the dimensions that they multiply.
    """

    # Queries, keys, values: [query_width + 2 * key_width, hidden].
    qkv: torch.Tensor
    qkv_bias: torch.Tensor | None
    output: torch.Tensor
    output_bias: torch.Tensor | None
    # Gate, up: [2 * intermediate, hidden].
    gate_up: torch.Tensor
    down: torch.Tensor
    query_norm: torch.Tensor | None
    key_norm: torch.Tensor | None
    # Weights of the norms in front of `qkv` and `gate_up` [hidden]; None where they are folded into these.
    input_norm: torch.Tensor | None
    mlp_norm: torch.Tensor | None


def interleave_heads(rows: torch.Tensor, head_size: int) -> torch.Tensor:
    """Reorders rows [heads * head_size, ...] from (first half, second half) to pairs, head by head."""
    tail = rows.shape[1:]
    return rows.reshape(-1, 2, head_size // 2, *tail).transpose(1, 2).reshape(-1, *tail)


def split_heads(rows: torch.Tensor, head_size: int) -> torch.Tensor:
    """Returns the inverse of `interleave_heads`."""
    tail = rows.shape[1:]
    return rows.reshape(-1, head_size // 2, 2, *tail).transpose(1, 2).reshape(-1, *tail)
