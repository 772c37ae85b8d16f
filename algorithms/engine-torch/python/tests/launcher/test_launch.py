"""Machine 0 and those that join it, over a real connection, without ranks."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from mrlm_engine.launcher.address import interface_of, own_address
from mrlm_engine.launcher.coordinator import Coordinator
from mrlm_engine.launcher.failure import LaunchError
from mrlm_engine.launcher.handshake import Hello, hello_of_machine
from mrlm_engine.launcher.participant import Participant
from mrlm_engine.launcher.start import Start
from mrlm_engine.launcher.wire import METHOD, encode, host_of_peer

ADDRESS = "127.0.0.1"
TIMEOUT = 120.0


def never() -> bool:
    return False


class Run:
    """Machine 0 of a run of `nnodes`, and the notices of all machines."""

    def __init__(self, nnodes: int) -> None:
        self.port = free_port()
        self.notices: list[str] = []
        self.nnodes = nnodes
        self.pool = ThreadPoolExecutor()
        self.coordinator = Coordinator(self.hello(0), ADDRESS, self.port, self.notices.append)

    def hello(self, node_rank: int) -> Hello:
        return hello_of_machine(node_rank, self.nnodes, 2, "ddp")

    def participant(self, number: int, **differences: object) -> Participant:
        hello = dataclasses.replace(self.hello(number), **differences)  # type: ignore[arg-type]
        return Participant(hello, ADDRESS, self.port, self.notices.append)

    def joining(self, participant: Participant) -> Future[Start | None]:
        return self.pool.submit(participant.join, TIMEOUT, never)

    def started(self) -> Participant:
        """Returns a participant of a run of two that has begun."""
        participant = self.participant(1)
        joining = self.joining(participant)
        assert self.coordinator.gather(TIMEOUT, never)
        self.coordinator.start(4711, ["--strategy", "ddp"])
        assert joining.result(TIMEOUT) == Start(ADDRESS, 4711, ["--strategy", "ddp"])
        return participant


@pytest.fixture
def run() -> Iterator[Run]:
    with a_run(2) as made:
        yield made


@contextlib.contextmanager
def a_run(nnodes: int) -> Iterator[Run]:
    made = Run(nnodes)
    try:
        yield made
    finally:
        made.coordinator.finish(None)
        made.pool.shutdown()


def free_port() -> int:
    with socket.create_server((ADDRESS, 0)) as server:
        port: int = server.getsockname()[1]
        return port


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_machines_start_together_and_end_together() -> None:
    with a_run(3) as run:
        first, second = run.participant(1), run.participant(2)
        joining = run.joining(first)
        gathering = run.pool.submit(run.coordinator.gather, TIMEOUT, never)
        until(lambda: "waiting for machine 2" in run.notices)
        assert any(
            "machine 2 of 3 to join" in line and "mrlm join --config FILE --node-rank 2" in line for line in run.notices
        )
        also = run.joining(second)
        assert gathering.result(TIMEOUT)
        run.coordinator.start(1, [])
        assert joining.result(TIMEOUT) == also.result(TIMEOUT) == Start(ADDRESS, 1, [])
        ends = [run.pool.submit(participant.finish, None) for participant in (first, second)]
        run.coordinator.finish(None)
        assert [end.result(TIMEOUT) for end in ends] == [None, None]


@pytest.mark.parametrize(
    ("differences", "words"),
    [
        ({"nnodes": 3}, "nnodes is 3, and 2 on machine 0"),
        ({"nproc_per_node": 8}, "nproc_per_node is 8, and 2 on machine 0"),
        ({"strategy": "fsdp"}, "strategy is fsdp, and ddp on machine 0"),
        ({"torch": "1.0"}, "torch is 1.0, and 2."),
        ({"engine": "0.1.0 (code 12345678)"}, "engine is 0.1.0 (code 12345678), and 0."),
        ({"node_rank": 2}, "node_rank is 2, and those of the machines that join are 1"),
        ({"node_rank": "1"}, "node_rank is 1, and those"),
    ],
)
def test_one_that_does_not_fit_is_refused_and_told_why(run: Run, differences: dict[str, object], words: str) -> None:
    with pytest.raises(LaunchError) as caught:
        run.participant(1, **differences).join(TIMEOUT, never)
    assert caught.value.code == "JOIN_REFUSED"
    assert words in caught.value.message
    assert any("was refused" in line and words in line for line in run.notices)


def test_a_number_is_taken_once_and_is_free_again_when_its_machine_goes() -> None:
    with a_run(3) as run:
        first = run.participant(1)
        run.joining(first)
        until(lambda: any("machine 1 (127.0.0.1) has joined" in line for line in run.notices))
        with pytest.raises(LaunchError, match=r"a machine 1 has joined already, from 127\.0\.0\.1"):
            run.participant(1).join(TIMEOUT, never)
        first._channel.close()
        until(lambda: any("machine 1 (127.0.0.1) has gone again" in line for line in run.notices))
        with pytest.raises(
            LaunchError, match=r"^Machines 1, 2 did not join this one at 127\.0\.0\.1:\d+ within 0.1 s\.$"
        ):
            run.coordinator.gather(0.1, never)


def test_a_lost_machine_is_named_on_the_others(run: Run) -> None:
    participant = run.started()
    # A killed process leaves only a broken connection.
    participant._channel.close()
    until(run.coordinator.failure)
    assert run.coordinator.failure() == "machine 1 (127.0.0.1, ranks 2 to 3) was lost: its connection broke"


def test_machine_0_lost_is_named_on_the_others(run: Run) -> None:
    participant = run.started()
    run.coordinator._server.stop(None)
    until(participant.failure)
    assert participant.failure() == "machine 0 (127.0.0.1, ranks 0 to 1) was lost: its connection broke"
    assert participant.finish(None) == participant.failure()


def test_why_ranks_ended_on_one_machine_is_told_on_all() -> None:
    cause = "rank 2 on machine 1 (process 7) was killed by SIGKILL"
    with a_run(3) as run:
        participants = [run.participant(1), run.participant(2)]
        joining = [run.joining(participant) for participant in participants]
        assert run.coordinator.gather(TIMEOUT, never)
        run.coordinator.start(1, [])
        assert all(each.result(TIMEOUT) for each in joining)
        ended = run.pool.submit(participants[0].finish, cause)
        until(run.coordinator.failure)
        assert run.coordinator.failure() == cause
        run.coordinator.finish(cause)
        until(participants[1].failure)
        assert [ended.result(TIMEOUT), participants[1].finish(None)] == [cause, cause]


def test_a_machine_waits_for_an_absent_machine_0_until_its_time_limit() -> None:
    notices: list[str] = []
    hello = hello_of_machine(1, 2, 1, "ddp")
    participant = Participant(hello, ADDRESS, free_port(), notices.append)
    assert participant.join(TIMEOUT, lambda: any("Connection refused" in line for line in notices)) is None
    assert re.match(r"waiting up to \d+ s for machine 0 at 127\.0\.0\.1:\d+: Connection refused$", notices[-1])
    with pytest.raises(LaunchError, match=r"could not be reached at 127\.0\.0\.1:\d+ within 0.2 s: ") as caught:
        Participant(hello, ADDRESS, free_port(), notices.append).join(0.2, never)
    assert caught.value.code == "JOIN_TIMEOUT"


def test_machine_0_that_comes_late_is_joined() -> None:
    notices: list[str] = []
    port = free_port()
    participant = Participant(hello_of_machine(1, 2, 1, "ddp"), ADDRESS, port, notices.append)
    with ThreadPoolExecutor() as pool:
        joining = pool.submit(participant.join, TIMEOUT, never)
        until(lambda: any("Connection refused" in line for line in notices))
        host = Coordinator(hello_of_machine(0, 2, 1, "ddp"), ADDRESS, port, notices.append)
        assert host.gather(TIMEOUT, never)
        host.start(5, [])
        assert joining.result(TIMEOUT) == Start(ADDRESS, 5, [])
        ended = pool.submit(participant.finish, None)
        host.finish(None)
        assert ended.result(TIMEOUT) is None


def test_another_service_at_the_address_is_no_machine_0() -> None:
    server = grpc.server(ThreadPoolExecutor())
    port = server.add_insecure_port(f"{ADDRESS}:0")
    server.start()
    with pytest.raises(LaunchError, match="what answers there is not machine 0 of an mrlm run"):
        Participant(hello_of_machine(1, 2, 1, "ddp"), ADDRESS, port, print).join(TIMEOUT, never)
    server.stop(None)


def test_a_stranger_changes_nothing(run: Run) -> None:
    with grpc.insecure_channel(f"{ADDRESS}:{run.port}") as channel:
        join: Any = channel.stream_stream(METHOD)
        for data in (b"no JSON", b"[]", b"{}", encode({"hello": 3})):
            with pytest.raises(grpc.RpcError) as caught:
                list(join(iter([data])))
            status: Any = caught.value
            assert status.code() == grpc.StatusCode.INVALID_ARGUMENT
    run.started()


def test_an_address_or_port_that_cannot_be_listened_on_is_reported() -> None:
    hello = hello_of_machine(0, 2, 1, "ddp")
    with (
        socket.create_server((ADDRESS, 0)) as taken,
        pytest.raises(LaunchError, match="in use by another process") as caught,
    ):
        Coordinator(hello, ADDRESS, taken.getsockname()[1], print)
    assert caught.value.code == "PORT_IN_USE"
    with pytest.raises(LaunchError, match=r"master_addr: no address is known for no-such-machine\.invalid") as caught:
        Coordinator(hello, "no-such-machine.invalid", free_port(), print)
    assert caught.value.code == "CONFIG_INVALID"
    notices: list[str] = []
    # An address reserved for documentation (RFC 5737).
    host = Coordinator(hello, "192.0.2.1", free_port(), notices.append)
    assert host.listening == "0.0.0.0"
    assert any("192.0.2.1 is not an address of this machine" in line for line in notices)
    host.finish(None)


def test_what_is_known_of_addresses() -> None:
    assert own_address("127.0.0.1") == "127.0.0.1"
    assert interface_of("192.0.2.1") is None
    peers = {"ipv4:10.0.0.2:4242": "10.0.0.2", "ipv6:%5B::1%5D:4242": "::1", "unix:": ""}
    assert {peer: host_of_peer(peer) for peer in peers} == peers
