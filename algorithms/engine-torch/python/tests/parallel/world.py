"""Ranks for tests: forked processes with a gloo group, without a launcher and without the wire."""

from __future__ import annotations

import os
import pickle
import tempfile
import traceback
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

# Seconds that a rank waits for another.
TIMEOUT = 120


def run_ranks(world: int, work: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Returns what `work(*arguments)` returns on each of `world` ranks. Raises the first error of one."""
    with tempfile.TemporaryDirectory() as directory:
        children = [_fork(f"{directory}/meeting", rank, world, work, arguments) for rank in range(world)]
        outcomes = []
        for process, pipe in children:
            with os.fdopen(pipe, "rb") as answers:
                outcomes.append(answers.read())
            os.waitpid(process, 0)
    results = [pickle.loads(outcome) if outcome else (None, "the rank has ended") for outcome in outcomes]
    # A broken collective is not the cause.
    errors = sorted((error for _, error in results if error), key=lambda error: "gloo" in error)
    if errors:
        raise RankError(errors[0])
    return [value for value, _ in results]


class RankError(Exception):
    """Error of a rank, with its traceback."""


def _fork(meeting: str, rank: int, world: int, work: Any, arguments: Any) -> tuple[int, int]:
    """Returns the process of a rank, and a descriptor from which its outcome is read. torch is imported already."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    os.close(reading)
    outcome: tuple[Any, str | None]
    try:
        torch.set_num_threads(1)
        store = dist.FileStore(meeting, world)  # type: ignore[attr-defined]
        wait = timedelta(seconds=TIMEOUT)
        dist.init_process_group("gloo", store=store, rank=rank, world_size=world, timeout=wait)
        outcome = work(*arguments), None
    except BaseException:
        outcome = None, traceback.format_exc()
    with os.fdopen(writing, "wb") as answers:
        answers.write(pickle.dumps(outcome))
    # The parent's clean-up is not this process's.
    os._exit(0)
