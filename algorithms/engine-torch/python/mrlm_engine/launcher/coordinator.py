"""Machine 0: lets the others join, tells them when to start, and hears of their ends."""

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

# Seconds between two lines about who is missing.
REMINDER = 30.0
# Seconds that the others have to hang up at the end.
PARTING = 5.0


@dataclass(eq=False)
class _Guest:
    node_rank: int
    address: str
    # What it is told; None ends the stream.
    outbox: SimpleQueue[dict[str, Any] | None] = field(default_factory=SimpleQueue)


class Coordinator:
    """`Others` for machine 0. Listens from the start; raises LaunchError where that is not possible."""

    def __init__(self, hello: Hello, address: str, port: int, say: Callable[[str], None]) -> None:
        self._hello = hello
        self._target = target(address, port)
        self._say = say
        self._news = threading.Condition()
        self._guests: dict[int, _Guest] = {}
        self._trouble: str | None = None
        self._state = "gathering"
        listening = self.listening = listening_address(address, port)
        if listening in ("::", "0.0.0.0"):
            say(f"{address} is not an address of this machine; the others must be able to reach it there")
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
        """Waits until all are there; False when ended before. Raises LaunchError when one does not come in time."""
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
                    self._say(
                        f"waiting up to {left:.0f} s for {_named(missing)} of {self._hello.nnodes} to join at "
                        f"{self._target}: npx mrlm join --config FILE --node-rank {missing[0]}"
                    )
                    for guest in self._guests.values():
                        guest.outbox.put({"waiting": _named(missing)})
                self._news.wait(0.1)
        return False

    def start(self, port: int, arguments: Sequence[str]) -> None:
        """Tells all to start their ranks, which meet at `port`."""
        with self._news:
            for guest in self._guests.values():
                guest.outbox.put({"start": {"port": port, "arguments": list(arguments)}})

    def trouble(self) -> str | None:
        """That a machine was lost, or what it says of its ranks."""
        return self._trouble

    def wait(self, seconds: float) -> None:
        """Waits that long, or less when there is news."""
        with self._news:
            if self._trouble is None:
                self._news.wait(seconds)

    def finish(self, cause: str | None) -> None:
        """Lets the others end, or ends them for a cause, and waits until they have hung up."""
        deadline = time.monotonic() + PARTING
        with self._news:
            self._state = "over"
            for guest in self._guests.values():
                guest.outbox.put({"over": {"cause": cause}})
                guest.outbox.put(None)
            while self._guests and (left := deadline - time.monotonic()) > 0:
                self._news.wait(left)
        self._server.stop(1.0).wait()

    def _missing(self) -> list[int]:
        return [node for node in range(1, self._hello.nnodes) if node not in self._guests]

    def _join(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        address = host_of_peer(context.peer())
        try:
            hello = decode(next(requests))["hello"]
            guest = _Guest(hello.get("node_rank"), address)
        except (StopIteration, ValueError, KeyError, AttributeError):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "this is where machines of an mrlm run join")
        refusal = self._admit(guest, hello)
        if refusal:
            yield encode({"refused": refusal})
            return
        if not context.add_callback(lambda: self._leave(guest)):
            self._leave(guest)
        threading.Thread(target=self._listen, args=(guest, requests), daemon=True).start()
        while (message := guest.outbox.get()) is not None:
            yield encode(message)

    def _admit(self, guest: _Guest, hello: dict[str, Any]) -> str:
        refusal = objection(self._hello, hello)
        with self._news:
            if not refusal and self._state != "gathering":
                refusal = "the run has begun already"
            if not refusal and (known := self._guests.get(guest.node_rank)) is not None:
                refusal = f"a machine {guest.node_rank} has joined already, from {known.address}"
            if refusal:
                self._say(f"a machine at {guest.address} was refused: {refusal}")
                return refusal
            self._guests[guest.node_rank] = guest
            self._say(f"machine {guest.node_rank} ({guest.address}) has joined")
            guest.outbox.put({"joined": True})
            self._news.notify_all()
        return ""

    def _listen(self, guest: _Guest, requests: Iterator[bytes]) -> None:
        """What a machine says of its ranks comes before the loss of its connection."""
        try:
            for request in requests:
                self._fail(str(decode(request)["failed"]))
        except (grpc.RpcError, ValueError, KeyError):
            return

    def _leave(self, guest: _Guest) -> None:
        with self._news:
            if self._guests.get(guest.node_rank) is guest:
                del self._guests[guest.node_rank]
                if self._state == "gathering":
                    self._say(f"machine {guest.node_rank} ({guest.address}) has gone again")
            guest.outbox.put(None)
            self._news.notify_all()
        lost = machine_and_ranks(guest.node_rank, guest.address, self._hello.nproc_per_node)
        if self._state == "started":
            self._fail(f"{lost} was lost: its connection broke")

    def _fail(self, cause: str) -> None:
        with self._news:
            if self._trouble is None:
                self._trouble = cause
            self._news.notify_all()


class _Handler(grpc.GenericRpcHandler):
    def __init__(self, join: Callable[..., Iterator[bytes]]) -> None:
        self._join: Any = grpc.stream_stream_rpc_method_handler(join)

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        return self._join if details.method == METHOD else None


def _named(nodes: Sequence[int]) -> str:
    return f"machine{'s' if len(nodes) > 1 else ''} {', '.join(map(str, nodes))}"
