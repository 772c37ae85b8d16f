"""Moves of rows in a batch that close the gaps of rows that leave."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from mrlm_engine.compute.transfer import to_device


class RowMoves:
    """Rows `source` move over rows `target` (both [n], disjoint), then all rows from `rows` on are dropped.

    The indices stay on the host, where counts and settings of rows are; one copy takes them to the device.
    """

    def __init__(self, target: npt.ArrayLike, source: npt.ArrayLike, rows: int, device: torch.device) -> None:
        self.target = np.asarray(target, np.int64)
        self.source = np.asarray(source, np.int64)
        self.rows = rows
        self._device = device

    @staticmethod
    def closing(leaving: npt.NDArray[np.bool_], device: torch.device) -> RowMoves:
        """Returns the fewest moves that close the gaps of rows `leaving`, bool [rows]: the last rows fill them."""
        gone = np.flatnonzero(leaving)
        rows = len(leaving) - len(gone)
        return RowMoves(gone[gone < rows], rows + np.flatnonzero(~leaving[rows:]), rows, device)

    @functools.cached_property
    def on_device(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns `target` and `source` on the device, int64 [n] each."""
        target, source = to_device(np.stack((self.target, self.source)), self._device).unbind(0)
        return target, source

    def apply(self, tensor: torch.Tensor) -> torch.Tensor:
        """Returns the rows of `tensor` that stay, in their places; overwrites `tensor`."""
        if len(self.target):
            target, source = self.on_device
            tensor[target] = tensor[source]
        return tensor[: self.rows]

    def apply_array(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Applies the moves to an array on the host, as `apply` does for a tensor."""
        array[self.target] = array[self.source]
        return array[: self.rows]
