"""Ranks for tests: processes with a gloo group, without a launcher and without the wire."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import tempfile
import traceback
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.connection import Connection
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

# Seconds that a rank waits for another.
TIMEOUT = 120

_PROCESSES = multiprocessing.get_context("forkserver")


def start_server() -> None:
    """Starts the process of which ranks are forks: threads of autograd, which other tests have, do not survive a fork.

    It imports the engine while other tests run.
    """
    _PROCESSES.set_forkserver_preload(["parallel.learning"])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[1]), *([before] if before else [])])
    ensure_running()
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


def run_ranks(world: int, work: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Returns what `work(*arguments)` returns on each of `world` ranks. Raises the first error of one."""
    with tempfile.TemporaryDirectory() as directory:
        children = []
        for rank in range(world):
            reading, writing = _PROCESSES.Pipe(duplex=False)
            given = (writing, f"{directory}/meeting", rank, world, work, arguments)
            process = _PROCESSES.Process(target=_run_rank, args=given)
            process.start()
            writing.close()
            children.append((process, reading))
        results = [_outcome(reading) for _, reading in children]
        for process, _ in children:
            process.join()
    # A broken collective is not the cause.
    errors = sorted((error for _, error in results if error), key=lambda error: "gloo" in error)
    if errors:
        raise RankError(errors[0])
    return [value for value, _ in results]


class RankError(Exception):
    """Error of a rank, with its traceback."""


def _outcome(reading: Connection) -> tuple[Any, str | None]:
    try:
        outcome: tuple[Any, str | None] = pickle.loads(reading.recv_bytes())
        return outcome
    except EOFError:
        return None, "the rank has ended"


def _run_rank(writing: Connection, meeting: str, rank: int, world: int, work: Any, arguments: Any) -> None:
    outcome: tuple[Any, str | None]
    try:
        torch.set_num_threads(1)
        store = dist.FileStore(meeting, world)  # type: ignore[attr-defined]
        wait = timedelta(seconds=TIMEOUT)
        dist.init_process_group("gloo", store=store, rank=rank, world_size=world, timeout=wait)
        outcome = work(*arguments), None
    except BaseException:
        outcome = None, traceback.format_exc()
    writing.send_bytes(pickle.dumps(outcome))
    # A group whose other ranks have ended must not be destroyed in order.
    os._exit(0)
