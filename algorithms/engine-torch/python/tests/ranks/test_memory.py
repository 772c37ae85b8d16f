"""Memory that runs out on one of several ranks: all begin anew, or all end."""

from __future__ import annotations

import contextlib
import json
import resource
import sys
from pathlib import Path

import grpc
import numpy as np
import pytest
from client import EngineCallError, sequence
from rank_processes import RankedEngine, ranked_engine
from tiny import GPT2, create_request

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="prlimit is Linux's")]

# A wide feed-forward: much memory and little work for each token. Products this narrow stay with MKL, which compiles
# nothing.
CONFIG = {**GPT2, "n_embd": 16, "n_inner": 8192, "n_layer": 1}
ROOM = 64 << 20


def units(count: int) -> list[pb.Unit]:
    draw = np.random.default_rng(4)
    rows = [draw.integers(2, 41, 65).tolist() for _ in range(count)]
    return [pb.Unit(sequences=[sequence(row, [0] + [1] * 64, grad_logprob=[0.01] * 64)]) for row in rows]


def limit_rank_1(engine: RankedEngine) -> int:
    """Leaves the second rank little room to grow; its process."""
    for directory in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            environment = (directory / "environ").read_bytes().split(b"\0")
            parent = int((directory / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if b"RANK=1" in environment and parent == engine.process.pid:
                pages = int((directory / "statm").read_text().split()[0])
                limit = pages * resource.getpagesize() + ROOM
                resource.prlimit(int(directory.name), resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
                return int(directory.name)
    raise AssertionError("there is no second rank")


def begin(engine: RankedEngine) -> None:
    request = create_request("policy", json.dumps(CONFIG), micro_batch_tokens=2048)
    engine.client.call += 1
    request.call = engine.client.call
    engine.client.unary("CreateModel", request)
    engine.client.forward_backward(units(2))
    engine.client.step(learning_rate=0.0)


@pytest.mark.parametrize("processes", ["ddp"], indirect=True)
def test_ddp_begins_anew_on_all_ranks(ranked: RankedEngine) -> None:
    begin(ranked)
    limited = limit_rank_1(ranked)
    try:
        done = ranked.client.forward_backward(units(16)).done
        assert done is not None
        assert done.memory_retries >= 1
        assert done.micro_batch_tokens < 2048
        found = ranked.client.step(learning_rate=0.0).grad_norm
    finally:
        resource.prlimit(limited, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    # The same data and weights, under the lower budget from the beginning.
    again = ranked.client.forward_backward(units(16)).done
    assert again is not None
    assert (again.memory_retries, again.micro_batch_tokens) == (0, done.micro_batch_tokens)
    assert ranked.client.step(learning_rate=0.0).grad_norm == found > 0


def test_fsdp_ends_with_the_rank_and_the_cause(tmp_path: Path) -> None:
    with ranked_engine("fsdp", tmp_path / "log") as engine:
        begin(engine)
        limited = limit_rank_1(engine)
        with pytest.raises((EngineCallError, grpc.RpcError)):
            engine.client.forward_backward(units(16))
        assert engine.process.wait(120) != 0
        assert engine.process.stdout is not None
        cause = json.loads(engine.process.stdout.read())["failed"]["because"]
        assert cause.startswith(f"rank 1 (process {limited}) failed: ")
        assert "OUT_OF_MEMORY" in cause
