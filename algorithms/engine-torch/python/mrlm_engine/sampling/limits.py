"""Limits of a running batch on a device."""

from __future__ import annotations

import torch

from mrlm_engine.device import free_gpu_memory
from mrlm_engine.models import LoadedModel
from mrlm_engine.sampling.scheduler import SchedulerLimits

_CPU_LIMITS = SchedulerLimits(rows=256, state_bytes=2 << 30)
_GPU_ROWS = 1024
# Part of a GPU's free memory for running sequences. The passes of training need the rest.
_GPU_STATE = 0.4
# Gradients in float32 and two moments; master copies of weights in a lower format.
_TRAINING_BYTES = 12
_MASTER_BYTES = 4


def sampler_limits(device_type: str, free: int) -> SchedulerLimits:
    """Returns the limits for `free` bytes of memory for sequences and passes."""
    if device_type != "cuda":
        return _CPU_LIMITS
    return SchedulerLimits(rows=_GPU_ROWS, state_bytes=int(max(0, free) * _GPU_STATE))


def limits_beside(model: LoadedModel) -> SchedulerLimits:
    """Returns the limits of a model's sampler. Reserves the optimizer state, which the first step allocates."""
    if model.device.type != "cuda":
        return _CPU_LIMITS
    learns = sum(parameter.numel() for _, parameter in model.named_parameters() if parameter.requires_grad)
    each = _TRAINING_BYTES + (_MASTER_BYTES if model.dtype != torch.float32 and model.mesh is None else 0)
    ranks = 1 if model.mesh is None else model.mesh.parts
    return sampler_limits("cuda", free_gpu_memory(model.device) - learns * each // ranks)
