"""The GPU that the tests of this folder run on, and models on it."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import pytest
import torch
from tiny import create_model, create_request

from mrlm_engine.device import choose_device
from mrlm_engine.models import LoadedModel, ModelRegistry
from mrlm_engine.models.placement import Placement

# `MRLM_CUDA_TESTS=cpu` runs these tests on a CPU, to try the tests themselves.
ON_CPU = os.environ.get("MRLM_CUDA_TESTS") == "cpu"
# Largest difference of a log-probability between two ways to compute it in bfloat16: 8 bits of mantissa, logits near 8.
CLOSE = 0.15


def device_or_skip() -> torch.device:
    """Returns the device; skips the whole file where there is none."""
    if ON_CPU:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        pytest.skip("these tests need CUDA (MRLM_CUDA_TESTS=cpu tries them on a CPU)", allow_module_level=True)
    return choose_device("cuda", "deterministic").device


def make_on(device: torch.device, config: dict[str, Any], dtype: str = "bfloat16", **fields: Any) -> LoadedModel:
    """Returns a trainable policy on `device`."""
    request = create_request("policy", json.dumps(config), dtype=dtype, **fields)
    return create_model(request, ModelRegistry(), Placement(device))


@torch.no_grad()
def logprobs_of(model: LoadedModel, prompt: list[int], completion: list[int]) -> np.ndarray[Any, Any]:
    """Returns the log-probabilities of `completion` by one pass of the trainer's module, float32."""
    ids = torch.tensor([prompt + completion], device=model.device)
    logits = model.module(ids).logits[0, len(prompt) - 1 : -1].float()
    picked = torch.log_softmax(logits, -1).gather(1, ids[0, len(prompt) :, None])[:, 0]
    found: np.ndarray[Any, Any] = picked.cpu().numpy()
    return found
