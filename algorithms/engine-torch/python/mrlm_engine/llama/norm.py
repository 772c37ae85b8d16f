"""Root mean square norm without its weight (Zhang & Sennrich, arXiv 1910.07467), and its gradient."""

from __future__ import annotations

import torch


def normalise(x: torch.Tensor, epsilon: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns x [..., h] / rms(x), and the factors 1 / rms [..., 1]."""
    norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    factor = norm.square_().div_(x.shape[-1]).add_(epsilon).rsqrt_()
    return x * factor, factor


def add_normalise_gradient(
    accumulator: torch.Tensor, grad: torch.Tensor, normalised: torch.Tensor, factor: torch.Tensor
) -> None:
    """Adds d loss / d x to `accumulator` for `grad` = d loss / d normalised, all [..., h]; overwrites `grad`.

    dx = factor * (grad - normalised * mean(grad * normalised))
    """
    mean = torch.linalg.vecdot(grad, normalised).div_(grad.shape[-1]).unsqueeze_(-1)
    grad.addcmul_(normalised, mean, value=-1.0)
    accumulator.addcmul_(grad, factor)
