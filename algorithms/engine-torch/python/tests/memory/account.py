"""Record of the memory that torch's operations allocate, with its peak."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

_Mode: Any = TorchDispatchMode


class Account(_Mode):  # type: ignore[misc]
    """Counts the memory of every tensor that an operation returns inside the block, until the tensor is freed.

    Of this thread. What an operation needs for itself alone is not seen.
    """

    def __init__(self) -> None:
        super().__init__()
        self.allocated = 0
        self.peak = 0
        self._alive: set[int] = set()

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Sequence[Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        tree_map_only(torch.Tensor, self._note, result)
        return result

    def _note(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._alive or tensor.device.type == "meta":
            return
        size = storage.nbytes()
        self._alive.add(key)
        self.allocated += size
        self.peak = max(self.peak, self.allocated)
        weakref.finalize(storage, self._free, key, size)

    def _free(self, key: int, size: int) -> None:
        self._alive.discard(key)
        self.allocated -= size
