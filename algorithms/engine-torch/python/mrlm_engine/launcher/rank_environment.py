"""Which of the engine's processes this is, in torchrun's environment variables."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass

from mrlm_engine.launcher.address import interface_of, own_address

# For rank 0 of a launcher of ours: the socket where the ranks meet. It listens already: nobody else can take its port.
LISTENER = "MRLM_RANKS_LISTENER"
# For ranks of one machine: the file through which they meet, in a directory of their user. A port is open to others.
MEETING_FILE = "MRLM_RANKS_FILE"
# Hexadecimal key that signs the messages of the ranks of one machine. Only the same user can read a process's
# environment.
KEY = "MRLM_RANKS_KEY"


@dataclass(frozen=True)
class RankEnvironment:
    """A process among those of an engine."""

    rank: int = 0
    # Ranks altogether.
    size: int = 1
    # Number among the processes of this machine.
    local_rank: int = 0


def place_of_process() -> RankEnvironment:
    """The place of this process; one without them is alone."""
    if "WORLD_SIZE" not in os.environ:
        return RankEnvironment()
    return RankEnvironment(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_RANK"]))


def rank_variables(
    node_rank: int, nnodes: int, local_rank: int, count: int, where: tuple[str, int, socket.socket | None]
) -> dict[str, str]:
    """What torchrun would tell a rank: its place among `count` on this machine, and where the ranks meet."""
    address, port, listener = where
    variables = {
        "RANK": node_rank * count + local_rank,
        "WORLD_SIZE": nnodes * count,
        "LOCAL_RANK": local_rank,
        "LOCAL_WORLD_SIZE": count,
        "GROUP_RANK": node_rank,
        "MASTER_ADDR": address,
        "MASTER_PORT": port,
    }
    if listener is not None and local_rank == 0:
        variables[LISTENER] = listener.fileno()
    # Gloo would look for the address of the machine's own name, which need not exist, and often is loopback.
    interface = interface_of(own_address(address))
    if interface is not None and "GLOO_SOCKET_IFNAME" not in os.environ:
        variables["GLOO_SOCKET_IFNAME"] = interface
    return {name: str(value) for name, value in variables.items()}


def take_own_gpu(place: RankEnvironment) -> None:
    """Hides the GPUs of the machine's other ranks, so that device 0 is the right one in every thread.

    Must run before CUDA is initialised, and once.
    """
    if place.size == 1:
        return
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    gpus = visible.split(",") if visible is not None else [str(i) for i in range(place.local_rank + 1)]
    os.environ["CUDA_VISIBLE_DEVICES"] = gpus[place.local_rank] if place.local_rank < len(gpus) else ""
