"""Rank of a process of the engine, in torchrun's environment variables."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass

from mrlm_engine.launcher.address import interface_of, own_address

# Descriptor of the rendezvous socket, for rank 0 of our launcher. It listens already, so its port cannot be taken.
LISTENER = "MRLM_RANKS_LISTENER"
# Rendezvous file of ranks of one machine, in a directory of their user. A port would be open to other users.
RENDEZVOUS_FILE = "MRLM_RANKS_FILE"
# Hexadecimal key that signs the messages of the ranks of one machine. Only the same user can read a process's
# environment.
KEY = "MRLM_RANKS_KEY"


@dataclass(frozen=True)
class RankEnvironment:
    """Rank of a process, and the size of its engine."""

    rank: int = 0
    # Number of ranks on all machines.
    size: int = 1
    # Number among the ranks of this machine.
    local_rank: int = 0


def rank_environment() -> RankEnvironment:
    """Reads the environment of this process. Without torchrun's variables it is the only rank."""
    if "WORLD_SIZE" not in os.environ:
        return RankEnvironment()
    return RankEnvironment(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_RANK"]))


def rank_variables(
    node_rank: int, nnodes: int, local_rank: int, count: int, where: tuple[str, int, socket.socket | None]
) -> dict[str, str]:
    """Returns torchrun's variables for one of `count` ranks of this machine, with the rendezvous address."""
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
    # Without it gloo uses the address of the machine's host name, which may not exist and often is loopback.
    interface = interface_of(own_address(address))
    if interface is not None and "GLOO_SOCKET_IFNAME" not in os.environ:
        variables["GLOO_SOCKET_IFNAME"] = interface
    return {name: str(value) for name, value in variables.items()}


def take_own_gpu(environment: RankEnvironment) -> None:
    """Hides the GPUs of the other ranks of this machine, so that device 0 is this rank's GPU in every thread.

    Must run before CUDA is initialised, and once.
    """
    if environment.size == 1:
        return
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    gpus = visible.split(",") if visible is not None else [str(i) for i in range(environment.local_rank + 1)]
    os.environ["CUDA_VISIBLE_DEVICES"] = gpus[environment.local_rank] if environment.local_rank < len(gpus) else ""
