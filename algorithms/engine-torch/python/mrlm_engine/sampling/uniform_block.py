"""Random numbers for the next positions of every row, copied to the device in advance."""

from __future__ import annotations

import numpy as np
import torch

from mrlm_engine.compute.transfer import to_device
from mrlm_engine.decoding.row_moves import RowMoves
from mrlm_engine.sampling.counter_rng import keyed_uniform
from mrlm_engine.sampling.row_table import RowTable

# Positions per copy to the device.
POSITIONS = 16


class UniformBlock:
    """Numbers of the rows of `table`, float64 [rows, POSITIONS], of which the first `used` columns have been drawn."""

    def __init__(self, table: RowTable, device: torch.device) -> None:
        self._table = table
        self._device = device
        self._numbers = torch.empty(0, POSITIONS, dtype=torch.float64, device=device)
        self._used = 0

    def next(self) -> torch.Tensor:
        """Returns the number of each row's next position, float64 [rows]."""
        if self._used == POSITIONS:
            self._used = 0
            self._numbers = self._made(0)
        self._used += 1
        return self._numbers[:, self._used - 1]

    def enter(self) -> None:
        """Adds the rows that were appended to the table since the last call."""
        self._numbers = torch.cat((self._numbers, self._made(self._numbers.shape[0])))

    def keep(self, moves: RowMoves) -> None:
        """Moves rows."""
        self._numbers = moves.apply(self._numbers)

    def _made(self, first: int) -> torch.Tensor:
        """Returns the block of rows from `first` on. Column `used` is their next position; earlier ones are unused."""
        positions = self._table.counts[first:, None] + np.arange(-self._used, POSITIONS - self._used)
        return to_device(keyed_uniform(self._table.keys[first:, None], positions), self._device)
