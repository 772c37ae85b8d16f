"""Where an engine's models are put."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.distributed.device_mesh import DeviceMesh


@dataclass(frozen=True)
class Placement:
    """The device that models compute on, and the ranks that they are divided among; None: each rank holds all."""

    device: torch.device
    mesh: DeviceMesh | None = None

    @property
    def build_device(self) -> torch.device:
        """Where a model is made: one that is to be divided may not fit on the device in one piece."""
        return self.device if self.mesh is None else torch.device("cpu")
