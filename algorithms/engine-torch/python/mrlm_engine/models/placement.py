"""Placement of an engine's models on devices and ranks."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from mrlm_engine.compute.mesh import RankMesh


@dataclass(frozen=True)
class Placement:
    """Device of the models, and mesh of the ranks that share them; None if each rank holds and computes all."""

    device: torch.device
    mesh: RankMesh | None = None

    @property
    def build_device(self) -> torch.device:
        """Device on which a model is created: the CPU if it will be divided, because it may not fit on the device."""
        return self.device if self.mesh is None else torch.device("cpu")
