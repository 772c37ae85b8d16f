"""Checksum of weights, computed on their device."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable

import torch

_ODD = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
# Number of 64-bit words that are multiplied at a time.
_PIECE = 1 << 20


def weights_checksum(weights: Iterable[tuple[str, torch.Tensor]]) -> str:
    """Returns the hexadecimal SHA-256 over name, type, shape and digest of each tensor, in order of name.

    A tensor's digest is the sum over the words of its memory, each multiplied by a different odd number, modulo 2^64. A
    single changed element always changes it, and two passes on the device compute it.
    """
    lines = [
        f"{name} {tensor.dtype} {tuple(tensor.shape)} {_digest(tensor):016x}\n"
        for name, tensor in sorted(weights, key=lambda item: item[0])
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _digest(tensor: torch.Tensor) -> int:
    memory = tensor.detach().contiguous().view(-1)
    whole = memory.numel() * memory.itemsize % 8 == 0
    words = memory.view(torch.int64) if whole else memory.view(_INTEGERS[memory.itemsize]).long()
    sums = [(piece * _factors(words.device)[: piece.numel()]).sum() for piece in torch.split(words, _PIECE)]
    total = 0
    for part in torch.stack(sums).tolist() if sums else []:
        total = (total * _ODD + part) & _MASK
    return total


@functools.lru_cache(maxsize=4)
def _factors(device: torch.device) -> torch.Tensor:
    """Returns an odd number for each word of a piece. Regular spacing would let exchanged words cancel."""
    factors = torch.arange(_PIECE, device=device).mul_(_ODD - (1 << 64))
    return factors.bitwise_xor_(factors >> 29).bitwise_or_(1)
