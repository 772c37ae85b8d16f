"""Which of the engine's processes this is, as torchrun says in environment variables."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A process among those of an engine."""

    rank: int = 0
    # Ranks altogether.
    size: int = 1
    # Number among the processes of this machine.
    local_rank: int = 0


def place_of_process() -> Place:
    """The place of this process; one that torchrun did not start is alone."""
    if "WORLD_SIZE" not in os.environ:
        return Place()
    return Place(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_RANK"]))


def take_own_gpu(place: Place) -> None:
    """Hides the GPUs of the machine's other ranks, so that device 0 is the right one in every thread.

    Must run before CUDA is initialised, and once.
    """
    if place.size == 1:
        return
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    gpus = visible.split(",") if visible is not None else [str(i) for i in range(place.local_rank + 1)]
    os.environ["CUDA_VISIBLE_DEVICES"] = gpus[place.local_rank] if place.local_rank < len(gpus) else ""
