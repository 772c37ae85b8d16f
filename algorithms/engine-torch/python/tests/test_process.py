"""The engine as a process: its ready line, its errors and its exit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client import Client, EngineCallError
from running import RunningEngine

from mrlm_engine.cli import parse_arguments, read_token
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.service.server import start_server

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent


def start(*arguments: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "mrlm_engine", "--device", "cpu", *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env={**os.environ})


@pytest.fixture(scope="module", autouse=True)
def second() -> Iterator[subprocess.Popen[str]]:
    """Yields another process, which loads torch while the first one does."""
    child = start()
    yield child
    child.kill()


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    token_file = tmp_path_factory.mktemp("token") / "token"
    token_file.write_text("secret\n")
    child = start("--threads", "1", "--token-file", str(token_file))
    assert child.stdout is not None
    yield child, json.loads(child.stdout.readline())
    child.kill()


def test_life_of_a_process(process: tuple[subprocess.Popen[str], dict[str, Any]]) -> None:
    child, line = process
    assert set(line) == {"listening", "device", "pid", "instance_id", "protocol"}
    assert (line["pid"], line["device"], line["protocol"]) == (child.pid, "cpu", "1.0")
    with pytest.raises(EngineCallError) as refused:
        Client(line["listening"]).unary("Describe", pb.DescribeRequest())
    assert refused.value.code == "UNAUTHENTICATED"
    client = Client(line["listening"], (("authorization", "Bearer secret"),))
    described = client.unary("Describe", pb.DescribeRequest())
    assert described.instance_id == line["instance_id"]
    # U13: the letter case of the scheme does not matter.
    lower = Client(line["listening"], (("authorization", "bearer secret"),))
    assert lower.unary("Describe", pb.DescribeRequest()).instance_id == line["instance_id"]
    assert (described.deterministic, described.threads, described.protocol_major) == (True, 1, 1)
    # The parent closes the pipe, and the engine ends.
    rest, _ = child.communicate(timeout=120)
    assert (child.returncode, rest) == (0, "")


def test_a_port_in_use_is_named(engine: RunningEngine) -> None:
    with pytest.raises(EngineError, match="cannot listen on 127"):
        start_server(engine.state, "127.0.0.1", int(engine.address.rsplit(":", 1)[1]))


@pytest.mark.parametrize("content", ["", "\n", "two words", "\u00e9t\u00e9"])
def test_s1_a_token_file_without_a_token_is_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(content, "utf-8")
    with pytest.raises(SystemExit) as refused:
        parse_arguments(["--token-file", str(file)])
    assert refused.value.code == 2
    file.write_text(" secret\n")
    assert read_token(parse_arguments(["--token-file", str(file)]).token_file) == "secret"


def test_sigterm_ends_it_in_order(second: subprocess.Popen[str]) -> None:
    assert second.stdout is not None
    second.stdout.readline()
    second.send_signal(signal.SIGTERM)
    assert second.wait(timeout=120) == 0


def test_a_signal_while_the_event_is_locked_ends_the_wait() -> None:
    code = """
import os, signal
from mrlm_engine.lifetime import termination_event
event = termination_event()
with event._cond:
    os.kill(os.getpid(), signal.SIGTERM)
event.wait()
"""
    pipe = subprocess.PIPE
    child = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdin=pipe, env={**os.environ})
    try:
        assert child.wait(timeout=120) == 0
    finally:
        child.kill()
