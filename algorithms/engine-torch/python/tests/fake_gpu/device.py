"""A GPU without a GPU: a PrivateUse1 device under FakeTensorMode. It has sizes, formats and devices, and no numbers.

It finds operands on two devices, waits of the host, wrong formats, autograd's errors and the peak of memory at real
sizes. It does not find wrong or missing kernels, strides that a kernel refuses, races or fragmentation.
Device "cuda" itself is not usable without a CUDA build of torch: autograd then ends the process.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
import transformers.masking_utils
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from fake_gpu.watch import GPU, Watch
from mrlm_engine.llama import decoder_weights

_sdpa = F.scaled_dot_product_attention
_rms_norm = F.rms_norm
_from_numpy = torch.from_numpy
_numpy = torch.Tensor.numpy


def fake_device() -> torch.device:
    """Returns the device. Registers it with torch in the first call."""
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    if torch._C._get_privateuse1_backend_name() != GPU:
        _setup_privateuseone_for_python_backend(GPU)
        # Checkpointing asks for it in the backward pass, where an exception ends the process.
        getattr(torch, GPU).get_amp_supported_dtype = lambda: [torch.bfloat16, torch.float16]
    return torch.device(GPU, 0)


@contextlib.contextmanager
def fake_gpu() -> Iterator[Watch]:
    """Makes all tensors inside the block fake, and yields the record of what happens on the device."""
    watch = Watch()
    patches = {
        (torch, "from_numpy"): _remembered,
        (torch.Tensor, "numpy"): _array,
        (torch.Tensor, "pin_memory"): lambda tensor, *_: tensor,
        (F, "scaled_dot_product_attention"): _attention,
        (F, "rms_norm"): _norm(watch),
        # A tensor of numbers is made on its device directly; the device cannot be initialised.
        (FakeTensorMode, "avoid_device_init"): property(lambda _: True),
        # transformers reads one number to find packed sequences; the positions of the engine have none.
        (transformers.masking_utils, "find_packed_sequence_indices"): lambda position_ids: None,
        # Tied weights are found by the address of their memory, which is 0 for all fake tensors.
        (decoder_weights, "_same"): lambda one, other: one is other,
    }
    saved = {(owner, name): getattr(owner, name) for owner, name in patches}
    try:
        for (owner, name), value in patches.items():
            setattr(owner, name, value)
        # Threads of the backward pass would not enter the modes of this thread again for a recomputed layer.
        with FakeTensorMode(), watch, torch.autograd.grad_mode.set_multithreading_enabled(False):
            yield watch
    finally:
        for (owner, name), value in saved.items():
            setattr(owner, name, value)


def _remembered(array: Any) -> torch.Tensor:
    """Returns a fake tensor that keeps its numpy array beside it, so that the host can read it back."""
    tensor: Any = torch.empty(array.shape, dtype=_from_numpy(np.empty(0, array.dtype)).dtype)
    tensor._array = array
    return tensor  # type: ignore[no-any-return]


def _array(tensor: Any, **options: Any) -> Any:
    if hasattr(tensor, "_array"):
        return tensor._array
    if tensor.device.type == "cpu" and isinstance(tensor, FakeTensor):
        return np.zeros(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."))
    return _numpy(tensor, **options)


def _attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Runs the operation that CUDA takes: flash in 16 bits without a mask, mem-efficient otherwise."""
    if query.device.type != GPU:
        return _sdpa(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    if attn_mask is None and query.dtype != torch.float32:
        # Takes fewer key heads than query heads.
        flash = torch.ops.aten._scaled_dot_product_flash_attention
        return flash(query, key, value, dropout_p, is_causal, scale=scale)[0]
    # With grouped keys CUDA would take the kernel that keeps all scores.
    assert not enable_gqa, "grouped keys with a mask, or in float32"
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            attn_mask = torch.zeros_like(attn_mask, dtype=query.dtype).masked_fill_(attn_mask.logical_not(), -math.inf)
        width = attn_mask.shape[-1]
        if width % 16:
            # The kernel reads aligned rows of the bias.
            attn_mask = F.pad(attn_mask, (0, -width % 16))[..., :width]
        attn_mask = attn_mask.expand(query.shape[0], query.shape[1], query.shape[2], key.shape[2])
    needs_gradient = torch.is_grad_enabled() and query.requires_grad
    efficient = torch.ops.aten._scaled_dot_product_efficient_attention
    return efficient(query, key, value, attn_mask, needs_gradient, dropout_p, is_causal, scale=scale)[0]


def _norm(watch: Watch) -> Any:
    """Returns the norm as the one kernel that CUDA has for it; the CPU build of torch takes it apart."""

    def norm(x: Any, shape: Any, weight: Any = None, eps: Any = None) -> Any:
        if x.device.type != GPU or torch.is_grad_enabled():
            return _rms_norm(x, shape, weight, eps)
        watch.operations["aten::_fused_rms_norm"] += 1
        return torch.empty_like(x)

    return norm
