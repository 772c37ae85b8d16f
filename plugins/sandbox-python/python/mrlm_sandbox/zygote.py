"""Forks runners. It has Python and the usual modules loaded, has never seen a submission or a test, and does nothing but this."""

import array
import os
import resource
import signal
import socket
import sys

from . import heap, isolation, kernel, library, native_runner, warm_up

SPAWN, REAP = b"s", b"r"
_DESCRIPTORS = 4
# The descriptors of a runner: standard input (a file of its own), output, error, and the channel to the supervisor.
CHANNEL_FD = 3


def serve(connection, layers):
    """Answers SPAWN (with the runner's channel, output and error) by a process id, REAP by the status of a runner that was killed or has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _load_library()
    # The folder of these modules: all of them are loaded.
    del sys.path[0]
    warm_up.run()
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
            # The next process is the first one of a new namespace, the one after it is not.
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


def _load_library():
    """
    Without what modules want done after each fork: there are no other threads whose locks could be held, and `random` keeps its seed, so that a verdict can be
    repeated.
    """
    register = os.register_at_fork
    os.register_at_fork = lambda **_: None
    library.load(bulky=False)
    os.register_at_fork = register
    sys.modules["random"].seed(0)


def _receive(connection):
    descriptors = array.array("i")
    data, ancillary, _, _ = connection.recvmsg(64, socket.CMSG_SPACE(_DESCRIPTORS * descriptors.itemsize))
    for _, _, content in ancillary:
        descriptors.frombytes(content[: len(content) // descriptors.itemsize * descriptors.itemsize])
    return data, list(descriptors)


def _become_runner(descriptors, layers, base):
    code = 1
    try:
        channel, output, error = descriptors
        kernel.die_with_parent(signal.SIGKILL)
        # A group of processes reaches across namespaces: kill(0, ...) in the runner's must not be one of the zygote's.
        os.setsid()
        # Nor is an open file of another runner, with its flags.
        os.close(0)
        os.open(os.devnull, os.O_RDONLY)
        os.dup2(output, 1)
        os.dup2(error, 2)
        os.dup2(channel, CHANNEL_FD)
        os.closerange(CHANNEL_FD + 1, 1 << 16)
        isolation.enter(layers)
        code = native_runner.serve(CHANNEL_FD, base)
    except BaseException as failure:  # noqa: BLE001 - the supervisor hears of it.
        print(f"the runner ended: {failure!r}", file=sys.__stderr__, flush=True)
    finally:
        os._exit(code)
