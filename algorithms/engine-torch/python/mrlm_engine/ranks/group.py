"""The process group of the ranks of an engine."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from mrlm_engine.errors import EngineError
from mrlm_engine.launcher.rank_environment import LISTENER, RENDEZVOUS_FILE, RankEnvironment
from mrlm_engine.lifetime import AGENT
from mrlm_engine.ranks.messages import decode, encode

# Time that a rank waits for the others inside one collective.
COLLECTIVE_TIMEOUT = timedelta(minutes=30)
# Any time may pass between two calls of the client. The exit of a rank breaks its connection.
COMMAND_TIMEOUT = timedelta(days=365)


class Channel:
    """Ordered messages between rank 0 and the others: Python objects."""

    def __init__(self, group: Any) -> None:
        self._group = group

    def send(self, message: object, rank: int) -> None:
        """Sends to `rank`. Raises RankLost if its connection broke."""
        data = torch.frombuffer(bytearray(encode(message)), dtype=torch.uint8)
        try:
            dist.send(torch.tensor([data.numel()]), group=self._group, group_dst=rank)
            dist.send(data, group=self._group, group_dst=rank)
        except RuntimeError as cause:
            raise RankLost(rank, cause) from cause

    def receive(self, rank: int) -> Any:
        """Receives the next message of `rank`. Raises RankLost if its connection broke."""
        size = torch.zeros(1, dtype=torch.int64)
        try:
            dist.recv(size, group=self._group, group_src=rank)
            data = torch.empty(int(size), dtype=torch.uint8)
            dist.recv(data, group=self._group, group_src=rank)
        except RuntimeError as cause:
            raise RankLost(rank, cause) from cause
        return decode(data.numpy().data)


class RankLost(Exception):  # noqa: N818 - a fact about the rank
    """Error for a lost connection to a rank."""

    def __init__(self, rank: int, cause: BaseException) -> None:
        super().__init__(f"rank {rank} is gone: {(str(cause).splitlines() or [''])[0]}")


def join_process_group(environment: RankEnvironment, device: torch.device) -> Channel:
    """Waits for the other ranks, and checks that all compute on the same kind of device."""
    is_cuda = device.type == "cuda"
    options: dict[str, Any] = {"timeout": COLLECTIVE_TIMEOUT, "device_id": device if is_cuda else None}
    if AGENT in os.environ:
        options |= {"store": _rendezvous_store(environment), "rank": environment.rank, "world_size": environment.size}
    dist.init_process_group("nccl" if is_cuda else "gloo", **options)
    control = dist.new_group(backend="gloo", timeout=COMMAND_TIMEOUT)
    # Numbers instead of `all_gather_object`, which would unpickle unsigned bytes.
    kinds = [torch.zeros(1, dtype=torch.int64) for _ in range(environment.size)]
    dist.all_gather(kinds, torch.tensor([int(is_cuda)]), group=control)
    have_gpu = [bool(kind) for kind in kinds]
    if len(set(have_gpu)) > 1:
        without = have_gpu.index(False)
        raise EngineError(
            "OPTIONS_INVALID",
            f"Rank {without} of {environment.size} finds no GPU of its own, others do.",
            "Start as many processes on each machine as it has GPUs, or set engine.device (--device) to cpu.",
        )
    return Channel(control)


def _rendezvous_store(environment: RankEnvironment) -> Any:
    """Opens the rendezvous store for ranks of our launcher. Ranks of torchrun use torchrun's store."""
    if (file := os.environ.get(RENDEZVOUS_FILE)) is not None:
        return dist.FileStore(file, environment.size)  # type: ignore[attr-defined]
    listener = os.environ.get(LISTENER)
    return dist.TCPStore(  # type: ignore[attr-defined]
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        environment.size,
        environment.rank == 0,
        COLLECTIVE_TIMEOUT,
        master_listen_fd=None if listener is None else int(listener),
    )


def leave_process_group() -> None:
    """Destroys the process group. Called when all ranks end."""
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()
