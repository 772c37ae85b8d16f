"""Supervisor's side of the zygote. Answers arrive in the order of requests, and are read when they are needed."""

import collections
import os
import socket
import sys
from collections.abc import Callable, Iterable

from . import zygote
from .isolation import Layers


class ZygoteClient:
    """Starts and reaps runners."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._pending: collections.deque[list[bytes | None]] = collections.deque()
        first = connection.recv(64)
        if not first:
            # The zygote has printed the reason.
            sys.exit(1)
        # Resident memory of the zygote, and roughly of a runner that has just been forked.
        self.resident_bytes = int.from_bytes(first, "little")
        # Resident memory of a runner that is ready; None until the first one is.
        self.runner_bytes: int | None = None

    def spawn(self, channel: int, output: int, error: int) -> Callable[[], int]:
        """Starts a runner. Returns a function that waits for its process id."""
        socket.send_fds(self._connection, [zygote.SPAWN], [channel, output, error])
        return self._later()

    def reap(self, pid: int) -> Callable[[], int]:
        """Reaps a runner that was killed. Returns a function that waits for its exit status."""
        self._connection.send(zygote.REAP + pid.to_bytes(4, "little"))
        return self._later()

    def reap_now(self, pid: int) -> int:
        """Waits for the exit status of a runner."""
        return self.reap(pid)()

    def _later(self) -> Callable[[], int]:
        answer: list[bytes | None] = [None]
        self._pending.append(answer)

        def wait() -> int:
            while answer[0] is None:
                self._pending.popleft()[0] = self._connection.recv(64)
            return int.from_bytes(answer[0], "little")

        return wait


def start(layers: Layers, inherited: Iterable[int]) -> ZygoteClient:
    """Forks the zygote, which closes the descriptors in `inherited`."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        code = 1
        try:
            ours.close()
            for fd in inherited:
                os.close(fd)
            zygote.serve(theirs, layers)
        except BaseException as error:  # The parent process quotes it.
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    theirs.close()
    return ZygoteClient(ours)
