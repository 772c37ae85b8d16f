"""Matrix products by the library that is fastest on this processor.

torch multiplies float32 matrices on CPU with MKL, which uses only 256-bit registers on processors of other vendors than
Intel. oneDNN, a part of torch for convolutions and compiled models, uses 512-bit registers on all processors that have
them: 2.2 times as many products per second on AMD's Zen 5 (ADR 0002, training hot path). The choice of the library
depends only on the processor and on sizes, so equal calls give equal bits.
"""

from __future__ import annotations

import functools
import platform
from pathlib import Path

import torch

# Least number of multiplications for oneDNN. Below it the 10 us of a call of oneDNN outweigh the gain.
MIN_MULTIPLICATIONS = 1 << 20
# oneDNN compiles a kernel for each number of rows and keeps it: 0.2 ms and 0.5 MiB. So rows are padded to multiples of
# this number, and matrices with less than half of it use MKL.
ROWS = 64
# The same for products in 16 bits, for which MKL has no faster kernels of few rows.
LOW_ROWS = 16


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Returns x weight' + bias [n, outputs] for x [n, inputs], weight [outputs, inputs] and bias [outputs].

    On CPU the weight may have a lower format than x: factors and product are rounded to it, and the result has that of
    x.
    """
    if weight.device.type == "cpu" and weight.dtype != torch.float32:
        return _low_product(x, weight, bias).to(x.dtype)
    if _by_onednn(x, weight):
        rows = x.shape[0]
        padded = torch.nn.functional.pad(x, (0, 0, 0, -rows % ROWS)) if rows % ROWS else x
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(padded, weight, bias, "none", [], "")
        return product[:rows]
    return torch.mm(x, weight.t()) if bias is None else torch.addmm(bias, x, weight.t())


def float32_linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Returns `linear` in float32, [..., outputs], of `x` [..., inputs] and a `weight` in 16 bits.

    On a GPU tensor cores multiply the factors as they are and sum in float32, about ten times as fast as float32
    factors; a float32 `x` is rounded first. torch has no such kernel for a CPU, where the factors are converted.
    """
    if weight.device.type == "cpu":
        product = torch.nn.functional.linear(x.float(), weight.float())
    else:
        rows = x.reshape(-1, x.shape[-1]).to(weight.dtype)
        product = torch.mm(rows, weight.t(), out_dtype=torch.float32).view(*x.shape[:-1], -1)
    return product if bias is None else product + bias


def add_linear_(accumulator: torch.Tensor, x: torch.Tensor, weight: torch.Tensor) -> None:
    """Adds x weight' to `accumulator` [n, outputs], with arguments as for `linear`."""
    if _by_onednn(x, weight) or accumulator.dtype != weight.dtype:
        accumulator.add_(linear(x, weight))
    else:
        accumulator.addmm_(x, weight.t())


def add_weight_gradient_(accumulator: torch.Tensor, grad: torch.Tensor, x: torch.Tensor) -> None:
    """Adds grad' x, the gradient of a `linear`'s weight, to `accumulator` [outputs, inputs].

    For grad [n, outputs] = d loss / d result and x [n, inputs], whose format may be lower than the accumulator's. It is
    fastest with an `accumulator_for` the weight.
    """
    if accumulator.dtype != grad.dtype and accumulator.device.type != "cpu":
        accumulator.add_(torch.mm(grad.t(), x, out_dtype=accumulator.dtype))
    elif accumulator.dtype != grad.dtype:
        accumulator.add_(torch.mm(grad.t(), x))
    elif not _by_onednn(x.t(), grad.t()):
        accumulator.addmm_(grad.t(), x)
    elif accumulator.is_contiguous():
        accumulator.add_(linear(grad.t(), x.t()))
    else:
        accumulator.add_(linear(x.t(), grad.t()).t())


def accumulator_for(weight: torch.Tensor) -> torch.Tensor:
    """Returns zeros of the shape of `weight`, in the layout in which `add_weight_gradient_` copies least.

    oneDNN copies the transpose of one factor, so this should be the narrower one. It is in float32.
    """
    outputs, inputs = weight.shape
    if inputs < outputs and weight.dtype == torch.float32:
        return weight.new_zeros(inputs, outputs).t()
    return weight.new_zeros(outputs, inputs, dtype=torch.float32)


@functools.cache
def has_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 numbers by instructions of its own (AVX-512 BF16 or AMX), at least
    twice as many a second as float32 numbers.
    """
    checks = (getattr(torch.cpu, f"_is_{name}_supported", None) for name in ("avx512_bf16", "amx_tile"))
    return any(check is not None and check() for check in checks)


def missing_rows(rows: int, device: torch.device) -> int:
    """Returns the rows to add to a matrix of `rows` so that `linear` does not copy it; 0 where it never does."""
    return -rows % ROWS if rows > ROWS and device.type == "cpu" and _onednn_is_faster() else 0


def _low_product(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """Computes `linear` by oneDNN in the format of `weight`. Rows are padded, because it compiles a kernel for each
    number of them.
    """
    rows = x.shape[0]
    if rows % LOW_ROWS or x.dtype != weight.dtype:
        padded = weight.new_zeros(rows + -rows % LOW_ROWS, x.shape[1])
        padded[:rows] = x
        x = padded
    product = torch.mm(x, weight.t()) if bias is None else torch.addmm(bias, x, weight.t())
    return product[:rows]


def _by_onednn(x: torch.Tensor, weight: torch.Tensor) -> bool:
    return (
        x.dtype == torch.float32
        and x.device.type == "cpu"
        and 2 * x.shape[0] >= ROWS
        and x.numel() * weight.shape[0] >= MIN_MULTIPLICATIONS
        # With gaps between rows oneDNN takes loops that are a thousand times slower.
        and (weight.is_contiguous() or weight.t().is_contiguous())
        and _onednn_is_faster()
    )


@functools.cache
def _onednn_is_faster() -> bool:
    """Whether MKL would use only half the width of this processor's registers."""
    return (
        torch.backends.cpu.get_cpu_capability() == "AVX512"
        and _processor_vendor() != "GenuineIntel"
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    )


def _processor_vendor() -> str:
    """Returns the vendor id of the processor, "GenuineIntel" or "AuthenticAMD"; "" if it is not known."""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("vendor_id"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    # On Windows: "AMD64 Family 26 Model 2 Stepping 1, AuthenticAMD".
    return platform.processor().rpartition(", ")[2]
