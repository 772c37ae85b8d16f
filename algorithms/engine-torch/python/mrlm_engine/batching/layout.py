"""Rows of hidden states that the outputs of a micro-batch read, for every layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from mrlm_engine.batching.unit import TokenUnit


@dataclass(frozen=True)
class OutputShare:
    """The outputs of a micro-batch whose rows a rank has, if others have the rest: indices [M] of `outputs_of` outputs,
    and [S] of `finals_of` sequences.
    """

    outputs: torch.Tensor
    outputs_of: int
    finals: torch.Tensor
    finals_of: int


@dataclass(frozen=True)
class OutputRows:
    """Hidden states that the outputs read. Rows are unique: outputs that read the same state share its row.

    rows        [R]  indices of hidden states in the layout, ascending
    output_row  [M]  for each output (units, sequences, positions in order): its index into `rows`
    targets     [M]  the token whose log-probability the output is
    final_row   [S]  for each sequence: the index into `rows` of its last token's state; empty if not requested
    reads       [M]  `output_row` on the host, so that chunks of rows are cut without waiting for the device
    share            which outputs these are; None for all of the micro-batch
    """

    rows: torch.Tensor
    output_row: torch.Tensor
    targets: torch.Tensor
    final_row: torch.Tensor
    reads: NDArray[np.int64]
    share: OutputShare | None = None

    @property
    def count(self) -> int:
        """Number of rows, R."""
        return int(self.rows.shape[0])


def output_rows(
    units: Sequence[TokenUnit],
    row_of: Sequence[NDArray[np.int64]],
    final_value: bool,
    device: torch.device,
    within: range | None = None,
) -> OutputRows:
    """Collects the rows. `row_of[s][t]` is the layout's row of token t of the s-th sequence of the micro-batch.

    With `within` they are those of a rank that has these rows of the layout only, counted from its first.
    """
    sequences = [sequence for unit in units for sequence in unit.sequences]
    reads = [row_of[s][sequence.positions - 1] for s, sequence in enumerate(sequences)]
    targets = [
        sequence.tokens[sequence.positions] if sequence.targets is None else sequence.targets for sequence in sequences
    ]
    finals = [int(row_of[s][-1]) for s in range(len(sequences))] if final_value else []
    wanted = np.concatenate([*reads, np.asarray(finals, dtype=np.int64)]) if sequences else np.zeros(0, np.int64)
    rows, inverse = np.unique(wanted, return_inverse=True)
    outputs = len(wanted) - len(finals)
    read, final = inverse[:outputs], inverse[outputs:]
    aims = np.concatenate(targets).astype(np.int64) if targets else np.zeros(0, np.int64)

    def tensor(values: NDArray[np.int64]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64)).to(device)

    if within is None:
        return OutputRows(tensor(rows), tensor(read), tensor(aims), tensor(final), read)
    first, end = np.searchsorted(rows, (within.start, within.stop))
    kept, ends = (np.flatnonzero((x >= first) & (x < end)) for x in (read, final))
    share = OutputShare(tensor(kept), outputs, tensor(ends), len(finals))
    own = read[kept] - first
    return OutputRows(
        tensor(rows[first:end] - within.start), tensor(own), tensor(aims[kept]), tensor(final[ends] - first), own, share
    )
