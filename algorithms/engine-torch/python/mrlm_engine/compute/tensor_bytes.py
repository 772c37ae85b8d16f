"""Memory of tensors as bytes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch


def tensor_bytes(tensor: torch.Tensor) -> Any:
    """Returns the memory of a contiguous tensor on CPU, uint8 [bytes], without a copy."""
    return tensor.reshape(-1).view(torch.uint8).numpy()


def tensor_of(content: bytearray, dtype: torch.dtype, shape: list[int]) -> torch.Tensor:
    """Returns the tensor whose memory is `content`, without a copy. The lengths must agree."""
    if math.prod(shape) == 0:
        return torch.empty(shape, dtype=dtype)
    return torch.from_numpy(np.frombuffer(content, np.uint8)).view(dtype).reshape(shape)
