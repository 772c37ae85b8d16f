"""Gated feed-forward activation silu(gate) * up (Shazeer, arXiv 2002.05202)."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def swiglu(gate_up: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the activation [T, f] of `gate_up` [T, 2 f], and silu(gate), which the gradient reads too."""
    gate, up = gate_up.chunk(2, dim=-1)
    silu = F.silu(gate)
    return silu * up, silu


def swiglu_gradient_(grad: torch.Tensor, gate_up: torch.Tensor, silu: torch.Tensor) -> torch.Tensor:
    """Overwrites `gate_up` [T, 2 f] with its own gradient, for `grad` = d loss / d activation [T, f]."""
    gate, up = gate_up.chunk(2, dim=-1)
    up.mul_(grad)
    torch.ops.aten.silu_backward.grad_input(up, gate, grad_input=gate)
    torch.mul(grad, silu, out=up)
    return gate_up
