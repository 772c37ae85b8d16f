"""A machine other than 0: joins machine 0, and ends with it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

import grpc

from mrlm_engine.launcher.failure import LaunchError, machine_and_ranks
from mrlm_engine.launcher.handshake import Hello
from mrlm_engine.launcher.start import Start
from mrlm_engine.launcher.wire import CLIENT_OPTIONS, METHOD, decode, encode, target

# Seconds between two attempts to reach machine 0, and between two notices about it.
_RETRY, _REMINDER = 0.5, 30.0
# Seconds that machine 0 has to report the cause, after the ranks of this machine have ended.
PARTING = 30.0


class Participant:
    """`OtherMachines` for a machine other than 0."""

    def __init__(self, hello: Hello, address: str, port: int, notify: Callable[[str], None]) -> None:
        self._hello = hello
        self._address = address
        self._target = target(address, port)
        self._notify = notify
        self._news = threading.Condition()
        self._outbox: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._channel = grpc.insecure_channel(self._target, options=CLIENT_OPTIONS)
        self._start: Start | None = None
        self._refusal: str | None = None
        self._joined = False
        self._unreachable: str | None = None
        self._over = False
        self._failure: str | None = None

    def join(self, seconds: float, is_ended: Callable[[], bool]) -> Start | None:
        """Waits until machine 0 sends the start; None if the run or this process ends before.

        Raises LaunchError if machine 0 refuses this machine, or cannot be reached in time.
        """
        deadline = time.monotonic() + seconds
        self._notify(f"joining machine 0 at {self._target}")
        reminder, retry, reported = 0.0, 0.0, ""
        while not is_ended():
            with self._news:
                if self._refusal is not None:
                    raise LaunchError(
                        "JOIN_REFUSED", f"Machine 0 at {self._target} refused this machine: {self._refusal}."
                    )
                if self._start is not None or self._over:
                    return self._start
                if self._joined:
                    # Machine 0 waits for the other machines, with its own time limit.
                    self._news.wait(0.1)
                    continue
                reason = self._unreachable
            now = time.monotonic()
            if now >= deadline:
                why = "it did not answer" if reason is None else reason
                raise LaunchError(
                    "JOIN_TIMEOUT", f"Machine 0 could not be reached at {self._target} within {seconds:g} s: {why}."
                )
            if reason is not None and (reason != reported or now >= reminder):
                reported, reminder = reason, now + _REMINDER
                self._notify(f"waiting up to {deadline - now:.0f} s for machine 0 at {self._target}: {reason}")
            if now >= retry and (retry == 0 or reason is not None):
                retry = now + _RETRY
                self._connect()
            time.sleep(0.1)
        return None

    def failure(self) -> str | None:
        """Returns the loss of machine 0, or the cause that it sent; None without a failure."""
        return self._failure

    def wait(self, seconds: float) -> None:
        """Waits that long, or until a failure."""
        with self._news:
            if self._failure is None:
                self._news.wait(seconds)

    def leave(self) -> str | None:
        """Disconnects. Returns the cause that machine 0 sent, if any."""
        self._outbox.put(None)
        self._channel.close()
        return self._failure

    def finish(self, cause: str | None) -> str | None:
        """Sends why the ranks of this machine ended, if known. Returns the cause that machine 0 sent."""
        if cause is not None:
            self._outbox.put({"failed": cause})
        deadline = time.monotonic() + PARTING
        with self._news:
            while not self._over and self._failure is None and (left := deadline - time.monotonic()) > 0:
                self._news.wait(left)
            if cause is None and not self._over and self._failure is None:
                cause = f"the ranks of this machine have ended, and machine 0 ({self._address}) sent no reason"
        return self.leave() or cause

    def _connect(self) -> None:
        self._unreachable = None
        self._outbox = SimpleQueue()
        self._outbox.put({"hello": self._hello.to_message()})
        requests: Iterator[dict[str, Any]] = iter(self._outbox.get, None)
        join: Any = self._channel.stream_stream(METHOD)
        call = join(encode(message) for message in requests)
        threading.Thread(target=self._listen, args=(call,), daemon=True).start()

    def _listen(self, call: Any) -> None:
        reason = "it closed the connection"
        try:
            for response in call:
                self._receive(decode(response))
        except grpc.RpcError as broken:
            status: Any = broken
            reason = _shown(str(status.details()))
            if status.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
                with self._news:
                    self._refusal = f"what answers there is not machine 0 of an mrlm run ({reason})"
        except ValueError as malformed:
            reason = str(malformed)
        with self._news:
            if self._start is None:
                # Machine 0 may become reachable again.
                self._joined, self._unreachable = False, reason
            elif not self._over and self._failure is None:
                lost = machine_and_ranks(0, self._address, self._hello.nproc_per_node)
                self._failure = f"{lost} was lost: its connection broke"
            self._outbox.put(None)
            self._news.notify_all()

    def _receive(self, message: dict[str, Any]) -> None:
        with self._news:
            if "refused" in message:
                self._refusal = str(message["refused"])
            if "joined" in message:
                self._joined = True
                self._notify(
                    f"joined machine 0 at {self._target} as machine {self._hello.node_rank} of {self._hello.nnodes}"
                )
            if "waiting" in message:
                self._notify(f"waiting for {message['waiting']}")
            if "start" in message:
                start = message["start"]
                self._start = Start(self._address, int(start["port"]), [str(each) for each in start["arguments"]])
            if "over" in message:
                self._over = True
                self._failure = message["over"]["cause"]
            self._news.notify_all()


def _shown(details: str) -> str:
    """Returns the reason, the last part of gRPC's message: `...: Failed to connect: Connection refused`."""
    return details.rsplit(": ", 1)[-1].rstrip(".") or "no answer"
