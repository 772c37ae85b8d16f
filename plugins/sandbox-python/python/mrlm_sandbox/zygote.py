"""Forks runners. It has Python and common modules loaded, receives no submission and no test, and does nothing else."""

import array
import io
import os
import resource
import signal
import socket
import sys
from typing import NoReturn

from . import heap, isolation, kernel, library, native_runner, warm_up

SPAWN, REAP = b"s", b"r"
_DESCRIPTORS = 4
# A runner has the descriptors 0 to 2, and the channel to the supervisor.
CHANNEL_FD = 3


def serve(connection: socket.socket, layers: isolation.Layers) -> NoReturn:
    """Serves SPAWN (a runner's channel, output and error; answer: process id) and REAP (answer: exit status)."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _load_library()
    # Remove the folder of these modules, all of which are loaded.
    del sys.path[0]
    warm_up.run()
    # A submission that is killed at a limit keeps the lines that it printed.
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(line_buffering=True)
    kernel.forbid_inspection()
    base = isolation.address_space()
    isolation.build(layers)
    os.environ.pop("LD_BIND_NOW", None)
    own_processes = os.pidfd_open(os.getpid())
    heap.settle()
    connection.send((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024).to_bytes(8, "little"))
    while True:
        request, descriptors = _receive(connection)
        if request == SPAWN:
            # Only the next process starts a new namespace, not the one after it.
            kernel.unshare(kernel.CLONE_NEWPID)
            pid = os.fork()
            if pid == 0:
                _become_runner(descriptors, layers, base)
            kernel.setns(own_processes, kernel.CLONE_NEWPID)
            for descriptor in descriptors:
                os.close(descriptor)
            connection.send(pid.to_bytes(4, "little"))
        elif request[:1] == REAP:
            _, status = os.waitpid(int.from_bytes(request[1:], "little"), 0)
            connection.send(status.to_bytes(4, "little"))
        else:
            os._exit(0)


def _load_library() -> None:
    """Loads common modules without their fork hooks.

    No other thread can hold a lock, and `random` keeps its seed, so that verdicts are reproducible.
    """
    register = os.register_at_fork
    os.register_at_fork = lambda **_: None
    library.load(bulky=False)
    os.register_at_fork = register
    sys.modules["random"].seed(0)


def _receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    descriptors = array.array("i")
    data, ancillary, _, _ = connection.recvmsg(64, socket.CMSG_SPACE(_DESCRIPTORS * descriptors.itemsize))
    for _, _, content in ancillary:
        descriptors.frombytes(content[: len(content) // descriptors.itemsize * descriptors.itemsize])
    return data, list(descriptors)


def _become_runner(descriptors: list[int], layers: isolation.Layers, base: int) -> NoReturn:
    code = 1
    try:
        channel, output, error = descriptors
        kernel.die_with_parent(signal.SIGKILL)
        # A process group spans namespaces: kill(0, ...) of the runner must not reach the zygote.
        os.setsid()
        # Runners must not share an open file: they would share its flags.
        os.close(0)
        os.open(os.devnull, os.O_RDONLY)
        os.dup2(output, 1)
        os.dup2(error, 2)
        os.dup2(channel, CHANNEL_FD)
        os.closerange(CHANNEL_FD + 1, 1 << 16)
        isolation.enter(layers)
        code = native_runner.serve(CHANNEL_FD, base)
    except BaseException as failure:
        print(f"the runner ended: {failure!r}", file=sys.__stderr__, flush=True)
    finally:
        os._exit(code)
