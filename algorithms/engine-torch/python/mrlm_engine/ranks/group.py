"""The process group: how the ranks of an engine reach each other."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from mrlm_engine.errors import EngineError
from mrlm_engine.launcher.rank_environment import LISTENER, MEETING_FILE, RankEnvironment
from mrlm_engine.lifetime import AGENT
from mrlm_engine.ranks.messages import decode, encode

# How long a rank waits for the others inside one collective.
COLLECTIVE_TIMEOUT = timedelta(minutes=30)
# Between two calls of the client any time may pass. A rank that dies is noticed by its connection.
COMMAND_TIMEOUT = timedelta(days=365)


class Channel:
    """Messages between rank 0 and the others: whole Python objects, in order."""

    def __init__(self, group: Any) -> None:
        self._group = group

    def send(self, message: object, rank: int) -> None:
        """Sends to `rank`; raises RankLost when it is gone."""
        data = torch.frombuffer(bytearray(encode(message)), dtype=torch.uint8)
        try:
            dist.send(torch.tensor([data.numel()]), group=self._group, group_dst=rank)
            dist.send(data, group=self._group, group_dst=rank)
        except RuntimeError as cause:
            raise RankLost(rank, cause) from cause

    def receive(self, rank: int) -> Any:
        """The next message of `rank`; raises RankLost when it is gone."""
        size = torch.zeros(1, dtype=torch.int64)
        try:
            dist.recv(size, group=self._group, group_src=rank)
            data = torch.empty(int(size), dtype=torch.uint8)
            dist.recv(data, group=self._group, group_src=rank)
        except RuntimeError as cause:
            raise RankLost(rank, cause) from cause
        return decode(data.numpy().data)


class RankLost(Exception):  # noqa: N818 - a fact about the rank
    """The connection to a rank broke."""

    def __init__(self, rank: int, cause: BaseException) -> None:
        super().__init__(f"rank {rank} is gone: {(str(cause).splitlines() or [''])[0]}")


def join_process_group(place: RankEnvironment, device: torch.device) -> Channel:
    """Waits for the other ranks, and checks that all compute on the same kind of device."""
    is_cuda = device.type == "cuda"
    options: dict[str, Any] = {"timeout": COLLECTIVE_TIMEOUT, "device_id": device if is_cuda else None}
    if AGENT in os.environ:
        options |= {"store": _meeting_place(place), "rank": place.rank, "world_size": place.size}
    dist.init_process_group("nccl" if is_cuda else "gloo", **options)
    control = dist.new_group(backend="gloo", timeout=COMMAND_TIMEOUT)
    # As numbers: `all_gather_object` would unpickle bytes that nobody has signed.
    kinds = [torch.zeros(1, dtype=torch.int64) for _ in range(place.size)]
    dist.all_gather(kinds, torch.tensor([int(is_cuda)]), group=control)
    have_gpu = [bool(kind) for kind in kinds]
    if len(set(have_gpu)) > 1:
        without = have_gpu.index(False)
        raise EngineError(
            "OPTIONS_INVALID",
            f"Rank {without} of {place.size} finds no GPU of its own, others do.",
            "Start as many processes on each machine as it has GPUs, or set engine.device (--device) to cpu.",
        )
    return Channel(control)


def _meeting_place(place: RankEnvironment) -> Any:
    """Where ranks of a launcher of ours meet; those of torchrun itself do what it says."""
    if (file := os.environ.get(MEETING_FILE)) is not None:
        return dist.FileStore(file, place.size)  # type: ignore[attr-defined]
    listener = os.environ.get(LISTENER)
    return dist.TCPStore(  # type: ignore[attr-defined]
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        place.size,
        place.rank == 0,
        COLLECTIVE_TIMEOUT,
        master_listen_fd=None if listener is None else int(listener),
    )


def leave_process_group() -> None:
    """Ends the process group, when all ranks end."""
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()
