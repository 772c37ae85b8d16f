"""Asynchronous copies between host and device."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch


def to_device(array: npt.NDArray[Any], device: torch.device) -> torch.Tensor:
    """Returns the tensor of `array` on `device`; on CPU it shares memory with `array`.

    A copy to a GPU uses pinned memory, because a copy from pageable memory waits for all launched kernels.
    """
    tensor = torch.from_numpy(array)
    if device.type == "cpu":
        return tensor
    if device.type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


class HostCopy:
    """A copy of a device tensor on the host. It starts at construction; `numpy` waits for it."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self._event: torch.cuda.Event | None = None
        if tensor.device.type != "cuda":
            self._copy = tensor
            return
        self._copy = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
        self._copy.copy_(tensor, non_blocking=True)
        self._event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._event.record(torch.cuda.current_stream(tensor.device))

    def numpy(self) -> npt.NDArray[Any]:
        """Waits for this copy, but not for kernels that were launched after it."""
        if self._event is not None:
            self._event.synchronize()
        array: npt.NDArray[Any] = self._copy.numpy()
        return array


def packed(tokens: torch.Tensor, logprobs: torch.Tensor) -> torch.Tensor:
    """Packs `tokens` int64 [n] and `logprobs` float32 [n] into one int32 tensor [2, n], for one copy to the host."""
    return torch.stack((tokens.int(), logprobs.view(torch.int32)))


def unpacked(both: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Returns tokens int32 [n] and log-probabilities float32 [n] from a tensor of `packed`."""
    return both[0], both[1].view(np.float32)
