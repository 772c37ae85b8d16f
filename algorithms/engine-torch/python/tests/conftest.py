"""Fixtures that every test shares: tiny models, made without the wire."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

# Idle OpenMP threads sleep rather than spin, as in the engine's own process.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


import pytest
import torch
from running import RunningEngine
from tiny import QWEN2, create_model, create_request

from mrlm_engine.device import choose_device
from mrlm_engine.models import LoadedModel, ModelRegistry
from mrlm_engine.models.placement import Placement


@pytest.fixture(scope="session", autouse=True)
def _device() -> None:
    choose_device("cpu", "deterministic", 2)


@pytest.fixture
def registry() -> ModelRegistry:
    return ModelRegistry()


@pytest.fixture
def policy(registry: ModelRegistry) -> LoadedModel:
    """Returns a trainable tiny Qwen2 on CPU in float32."""
    return create_model(create_request("policy", json.dumps(QWEN2)), registry, Placement(torch.device("cpu")))


@pytest.fixture
def engine() -> Iterator[RunningEngine]:
    """Yields an engine in this process behind a real socket, and a client of it."""
    running = RunningEngine()
    yield running
    running.stop()
