"""Engines of several ranks for tests: real processes, gloo between them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from client import Client

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb

ROOT = Path(__file__).resolve().parent.parent


class RankedEngine:
    """An engine of `ranks` processes on CPU under torchrun's agent, and a client of it."""

    def __init__(self, strategy: str, log: Path, ranks: int = 2, *arguments: str) -> None:
        self.strategy = strategy
        self.log = log
        command = [sys.executable, "-m", "mrlm_engine.launcher.launch", "--nproc-per-node", str(ranks), "--"]
        command += ["--device", "cpu", "--threads", "1", "--strategy", strategy, *arguments]
        with log.open("w") as errors:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ},
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, log.read_text()
        self.ready = json.loads(line)
        self.client = Client(self.ready["listening"])

    def release_models(self) -> None:
        """Frees what a test has left; a model whose weights another one computes with comes after that one."""
        described = self.client.unary("Describe", pb.DescribeRequest())
        # A call that failed has used a number.
        self.client.call = max(self.client.call, described.last_call)
        for model in reversed(described.models):
            self.client.numbered("ReleaseModel", pb.ReleaseModelRequest, model_id=model.model_id)


@contextlib.contextmanager
def ranked_engine(strategy: str, log: Path, ranks: int = 2, *arguments: str) -> Iterator[RankedEngine]:
    """Yields an engine that is stopped after the block, also after an exception."""
    engine = RankedEngine(strategy, log, ranks, *arguments)
    try:
        yield engine
    finally:
        engine.process.kill()
        engine.process.wait()
