"""The supervisor's side of the zygote. Answers come in the order of requests, and nobody waits for one before it is needed."""

import collections
import os
import socket
import sys

from . import zygote


class ZygoteClient:
    def __init__(self, connection):
        self._connection = connection
        self._owed = collections.deque()
        said = connection.recv(64)
        if not said:
            # It has said why.
            sys.exit(1)
        # Of the zygote, and about that of a runner that has just been forked.
        self.resident_bytes = int.from_bytes(said, "little")
        # Of a runner that is ready and has begun nothing; known once there is one.
        self.runner_bytes = None

    def spawn(self, channel, output, error):
        """Starts a runner. Returns a function that waits for its process id."""
        socket.send_fds(self._connection, [zygote.SPAWN], [channel, output, error])
        return self._later(lambda answer: int.from_bytes(answer, "little"))

    def reap(self, pid):
        """Forgets a runner that was killed."""
        self._connection.send(zygote.REAP + pid.to_bytes(4, "little"))
        return self._later(lambda answer: int.from_bytes(answer, "little"))

    def reap_now(self, pid):
        """The status of a runner that has ended."""
        return self.reap(pid)()

    def _later(self, read):
        ticket = [None]
        self._owed.append(ticket)

        def wait():
            while ticket[0] is None:
                self._owed.popleft()[0] = self._connection.recv(64)
            return read(ticket[0])

        return wait


def start(layers, inherited):
    """Forks the zygote; it closes the descriptors in `inherited`."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        code = 1
        try:
            ours.close()
            for fd in inherited:
                os.close(fd)
            zygote.serve(theirs, layers)
        except BaseException as error:  # noqa: BLE001 - the parent quotes it.
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    theirs.close()
    return ZygoteClient(ours)
