"""A machine other than 0: joins, and ends with machine 0."""

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

# Seconds between two attempts to reach machine 0, and between two lines about it.
_RETRY, _REMINDER = 0.5, 30.0
# Seconds that machine 0 has to say why, after the ranks of this machine have ended.
PARTING = 30.0


class Participant:
    """`Others` for a machine other than 0."""

    def __init__(self, hello: Hello, address: str, port: int, say: Callable[[str], None]) -> None:
        self._hello = hello
        self._address = address
        self._target = target(address, port)
        self._say = say
        self._news = threading.Condition()
        self._outbox: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._channel = grpc.insecure_channel(self._target, options=CLIENT_OPTIONS)
        self._start: Start | None = None
        self._refusal: str | None = None
        self._joined = False
        self._unreachable: str | None = None
        self._over = False
        self._trouble: str | None = None

    def join(self, seconds: float, is_ended: Callable[[], bool]) -> Start | None:
        """Waits until machine 0 says that all are there; None when ended before, here or there.

        Raises LaunchError when it refuses, or is not to be reached in time.
        """
        deadline = time.monotonic() + seconds
        self._say(f"joining machine 0 at {self._target}")
        reminder, retry, said = 0.0, 0.0, ""
        while not is_ended():
            with self._news:
                if self._refusal is not None:
                    raise LaunchError(
                        "JOIN_REFUSED", f"Machine 0 at {self._target} refused this machine: {self._refusal}."
                    )
                if self._start is not None or self._over:
                    return self._start
                if self._joined:
                    # Who else is missing is machine 0's business, and its patience.
                    self._news.wait(0.1)
                    continue
                reason = self._unreachable
            now = time.monotonic()
            if now >= deadline:
                why = "it did not answer" if reason is None else reason
                raise LaunchError(
                    "JOIN_TIMEOUT", f"Machine 0 could not be reached at {self._target} within {seconds:g} s: {why}."
                )
            if reason is not None and (reason != said or now >= reminder):
                said, reminder = reason, now + _REMINDER
                self._say(f"waiting up to {deadline - now:.0f} s for machine 0 at {self._target}: {reason}")
            if now >= retry and (retry == 0 or reason is not None):
                retry = now + _RETRY
                self._connect()
            time.sleep(0.1)
        return None

    def trouble(self) -> str | None:
        """That machine 0 was lost, or what it says."""
        return self._trouble

    def wait(self, seconds: float) -> None:
        """Waits that long, or less when there is news."""
        with self._news:
            if self._trouble is None:
                self._news.wait(seconds)

    def leave(self) -> str | None:
        """Before the ranks have started; why, where machine 0 said so."""
        self._outbox.put(None)
        self._channel.close()
        return self._trouble

    def finish(self, cause: str | None) -> str | None:
        """Says why the ranks of this machine ended, where it knows, and hears from machine 0 why all is over."""
        if cause is not None:
            self._outbox.put({"failed": cause})
        deadline = time.monotonic() + PARTING
        with self._news:
            while not self._over and self._trouble is None and (left := deadline - time.monotonic()) > 0:
                self._news.wait(left)
            if cause is None and not self._over and self._trouble is None:
                cause = f"the ranks of this machine have ended, and machine 0 ({self._address}) does not say why"
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
        reason = "it hung up"
        try:
            for response in call:
                self._hear(decode(response))
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
                # It may come again.
                self._joined, self._unreachable = False, reason
            elif not self._over and self._trouble is None:
                lost = machine_and_ranks(0, self._address, self._hello.nproc_per_node)
                self._trouble = f"{lost} was lost: its connection broke"
            self._outbox.put(None)
            self._news.notify_all()

    def _hear(self, message: dict[str, Any]) -> None:
        with self._news:
            if "refused" in message:
                self._refusal = str(message["refused"])
            if "joined" in message:
                self._joined = True
                self._say(
                    f"joined machine 0 at {self._target} as machine {self._hello.node_rank} of {self._hello.nnodes}"
                )
            if "waiting" in message:
                self._say(f"waiting for {message['waiting']}")
            if "start" in message:
                start = message["start"]
                self._start = Start(self._address, int(start["port"]), [str(each) for each in start["arguments"]])
            if "over" in message:
                self._over = True
                self._trouble = message["over"]["cause"]
            self._news.notify_all()


def _shown(details: str) -> str:
    """The last of gRPC's words, which says why: `...: Failed to connect to remote host: Connection refused`."""
    return details.rsplit(": ", 1)[-1].rstrip(".") or "no answer"
