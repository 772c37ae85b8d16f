"""Machine 0: accepts the other machines, sends them the start, and receives their failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

import grpc

from mrlm_engine.launcher.address import listening_address
from mrlm_engine.launcher.failure import LaunchError, machine_and_ranks
from mrlm_engine.launcher.handshake import Hello, objection
from mrlm_engine.launcher.wire import METHOD, SERVER_OPTIONS, decode, encode, host_of_peer, target

# Seconds between two notices about missing machines.
REMINDER = 30.0
# Seconds that the other machines have to close their connections at the end.
PARTING = 5.0


@dataclass(eq=False)
class _Participant:
    node_rank: int
    address: str
    # Messages to send to it; None ends the stream.
    outbox: SimpleQueue[dict[str, Any] | None] = field(default_factory=SimpleQueue)


class Coordinator:
    """`OtherMachines` for machine 0. Listens from construction on; raises LaunchError if that is not possible."""

    def __init__(self, hello: Hello, address: str, port: int, notify: Callable[[str], None]) -> None:
        self._hello = hello
        self._target = target(address, port)
        self._notify = notify
        self._news = threading.Condition()
        self._participants: dict[int, _Participant] = {}
        self._failure: str | None = None
        self._state = "gathering"
        listening = self.listening = listening_address(address, port)
        if listening in ("::", "0.0.0.0"):
            notify(f"{address} is not an address of this machine; the others must be able to reach it there")
        self._server = grpc.server(
            ThreadPoolExecutor(max_workers=hello.nnodes + 8, thread_name_prefix="machines"), options=SERVER_OPTIONS
        )
        self._server.add_generic_rpc_handlers((_Handler(self._join),))
        try:
            self._server.add_insecure_port(target(listening, port))
        except RuntimeError as cause:
            raise LaunchError("PORT_IN_USE", f"Port {port} of this machine is in use by another process.") from cause
        self._server.start()

    def gather(self, seconds: float, is_ended: Callable[[], bool]) -> bool:
        """Waits until all machines have joined; False if ended before. Raises LaunchError after `seconds`."""
        deadline = time.monotonic() + seconds
        reminder = 0.0
        known: list[int] | None = None
        while not is_ended():
            with self._news:
                missing = self._missing()
                if not missing:
                    self._state = "started"
                    return True
                left = deadline - time.monotonic()
                if left <= 0:
                    raise LaunchError(
                        "JOIN_TIMEOUT",
                        f"{_named(missing).capitalize()} did not join this one at {self._target} within {seconds:g} s.",
                    )
                if missing != known or time.monotonic() >= reminder:
                    known, reminder = missing, time.monotonic() + REMINDER
                    self._notify(
                        f"waiting up to {left:.0f} s for {_named(missing)} of {self._hello.nnodes} to join at "
                        f"{self._target}: npx mrlm join --config FILE --node-rank {missing[0]}"
                    )
                    for participant in self._participants.values():
                        participant.outbox.put({"waiting": _named(missing)})
                self._news.wait(0.1)
        return False

    def start(self, port: int, arguments: Sequence[str]) -> None:
        """Sends all machines the start of their ranks, which connect to `port`."""
        with self._news:
            for participant in self._participants.values():
                participant.outbox.put({"start": {"port": port, "arguments": list(arguments)}})

    def failure(self) -> str | None:
        """Returns the loss of a machine, or the failure that it reported; None without a failure."""
        return self._failure

    def wait(self, seconds: float) -> None:
        """Waits for `seconds`, or until a failure."""
        with self._news:
            if self._failure is None:
                self._news.wait(seconds)

    def finish(self, cause: str | None) -> None:
        """Sends the other machines the end of the run, with its cause, and waits until they have disconnected."""
        deadline = time.monotonic() + PARTING
        with self._news:
            self._state = "over"
            for participant in self._participants.values():
                participant.outbox.put({"over": {"cause": cause}})
                participant.outbox.put(None)
            while self._participants and (left := deadline - time.monotonic()) > 0:
                self._news.wait(left)
        self._server.stop(1.0).wait()

    def _missing(self) -> list[int]:
        return [node for node in range(1, self._hello.nnodes) if node not in self._participants]

    def _join(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        address = host_of_peer(context.peer())
        try:
            hello = decode(next(requests))["hello"]
            participant = _Participant(hello.get("node_rank"), address)
        except (StopIteration, ValueError, KeyError, AttributeError):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "this is where machines of an mrlm run join")
        refusal = self._admit(participant, hello)
        if refusal:
            yield encode({"refused": refusal})
            return
        if not context.add_callback(lambda: self._leave(participant)):
            self._leave(participant)
        threading.Thread(target=self._listen, args=(participant, requests), daemon=True).start()
        while (message := participant.outbox.get()) is not None:
            yield encode(message)

    def _admit(self, participant: _Participant, hello: dict[str, Any]) -> str:
        refusal = objection(self._hello, hello)
        with self._news:
            if not refusal and self._state != "gathering":
                refusal = "the run has begun already"
            if not refusal and (known := self._participants.get(participant.node_rank)) is not None:
                refusal = f"a machine {participant.node_rank} has joined already, from {known.address}"
            if refusal:
                self._notify(f"a machine at {participant.address} was refused: {refusal}")
                return refusal
            self._participants[participant.node_rank] = participant
            self._notify(f"machine {participant.node_rank} ({participant.address}) has joined")
            participant.outbox.put({"joined": True})
            self._news.notify_all()
        return ""

    def _listen(self, participant: _Participant, requests: Iterator[bytes]) -> None:
        """Receives a machine's report about its ranks. It is sent before the connection closes."""
        try:
            for request in requests:
                self._fail(str(decode(request)["failed"]))
        except (grpc.RpcError, ValueError, KeyError):
            return

    def _leave(self, participant: _Participant) -> None:
        with self._news:
            if self._participants.get(participant.node_rank) is participant:
                del self._participants[participant.node_rank]
                if self._state == "gathering":
                    self._notify(f"machine {participant.node_rank} ({participant.address}) has gone again")
            participant.outbox.put(None)
            self._news.notify_all()
        lost = machine_and_ranks(participant.node_rank, participant.address, self._hello.nproc_per_node)
        if self._state == "started":
            self._fail(f"{lost} was lost: its connection broke")

    def _fail(self, cause: str) -> None:
        with self._news:
            if self._failure is None:
                self._failure = cause
            self._news.notify_all()


class _Handler(grpc.GenericRpcHandler):
    def __init__(self, join: Callable[..., Iterator[bytes]]) -> None:
        self._join: Any = grpc.stream_stream_rpc_method_handler(join)

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        return self._join if details.method == METHOD else None


def _named(nodes: Sequence[int]) -> str:
    return f"machine{'s' if len(nodes) > 1 else ''} {', '.join(map(str, nodes))}"
