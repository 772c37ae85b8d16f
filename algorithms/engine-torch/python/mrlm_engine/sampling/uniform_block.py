"""Random numbers of the next positions of every row, on the device before they are needed."""

from __future__ import annotations

import numpy as np
import torch

from mrlm_engine.compute.transfer import to_device
from mrlm_engine.decoding.row_moves import RowMoves
from mrlm_engine.sampling.counter_rng import keyed_uniform
from mrlm_engine.sampling.row_table import RowTable

# Positions ahead: one copy to the device for so many tokens of each row.
POSITIONS = 16


class UniformBlock:
    """Numbers of the rows of `table`, float64 [rows, POSITIONS], of which the first `used` columns have been drawn."""

    def __init__(self, table: RowTable, device: torch.device) -> None:
        self._table = table
        self._device = device
        self._numbers = torch.empty(0, POSITIONS, dtype=torch.float64, device=device)
        self._used = 0

    def next(self) -> torch.Tensor:
        """The number of each row's next position, float64 [rows]."""
        if self._used == POSITIONS:
            self._used = 0
            self._numbers = self._made(0)
        self._used += 1
        return self._numbers[:, self._used - 1]

    def enter(self) -> None:
        """Adds the rows that the table has had since the last call."""
        self._numbers = torch.cat((self._numbers, self._made(self._numbers.shape[0])))

    def keep(self, moves: RowMoves) -> None:
        """Moves rows."""
        self._numbers = moves.apply(self._numbers)

    def _made(self, first: int) -> torch.Tensor:
        """The block of rows `first` and up. Their next position is in column `used`; columns before it are not read."""
        positions = self._table.counts[first:, None] + np.arange(-self._used, POSITIONS - self._used)
        return to_device(keyed_uniform(self._table.keys[first:, None], positions), self._device)
