"""Isolation layers of a forked runner: namespaces, mounts, privileges, a filter of system calls and limits.

The zygote sets up once what all runners share (`build`). A runner does the rest (`enter`): its work, and each memory
page that it touches, costs time in every fork.
"""

import mmap
import os
import resource
import time
from collections.abc import Iterable

from . import kernel

HOME = "/tmp/submission"
# Devices of the machine, each a separate mount. A submission that runs as their owner could change their modes for the
# whole machine.
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "pts")
_OPEN_FILES = 256
_PROCESSES = 64
_PAGE = resource.getpagesize()

_PLAIN = kernel.MS_NOSUID | kernel.MS_NODEV
_OWN = kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWNET | kernel.CLONE_NEWUTS


class Layers:
    """Settings of the layers: the size of /tmp, a filter of system calls in classic BPF, folders to hide."""

    def __init__(self, tmp_bytes: int, seccomp: bytes, hidden: Iterable[str]) -> None:
        self.tmp_options = f"size={tmp_bytes},nr_inodes=10k,mode=700".encode()
        self.tmp_bytes = tmp_bytes
        self.filter = kernel.system_call_filter(seccomp) if seccomp else None
        self.hidden = [path for path in (*hidden, "/dev/shm", "/proc") if os.path.isdir(path)]


def build(layers: Layers) -> None:
    """Sets up what all runners inherit.

    Hides /proc and installed packages, makes mounts private and devices read-only, forbids new privileges and sets the
    common limits.
    """
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.make_mounts_private()
    for path in layers.hidden:
        kernel.mount_tmpfs(path.encode(), _PLAIN | kernel.MS_NOEXEC | kernel.MS_RDONLY, b"size=4k,nr_inodes=2,mode=555")
    for path in (f"/dev/{name}" for name in _DEVICES):
        if os.path.exists(path):
            kernel.make_mount_read_only(path.encode())
    kernel.forbid_privileges()
    for kind, value in (
        (resource.RLIMIT_FSIZE, layers.tmp_bytes),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (value, value))


def enter(layers: Layers) -> None:
    """Moves a runner into its own namespaces, with an empty /tmp, no privileges and few system calls.

    The zygote has already made the PID namespace.
    """
    kernel.unshare(_OWN)
    kernel.mount_tmpfs(b"/tmp", _PLAIN, layers.tmp_options)
    os.mkdir(HOME, 0o700)
    os.chdir(HOME)
    kernel.drop_capabilities()
    if layers.filter is not None:
        kernel.filter_system_calls(layers.filter)
    # The limit counts the processes of all runners, so the zygote, which forks, must not set it.
    resource.setrlimit(resource.RLIMIT_NPROC, (_PROCESSES, _PROCESSES))


def address_space() -> int:
    """Returns the size of the address space of this process, in bytes."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * _PAGE
    except OSError:
        # In some containers the jail has no /proc.
        return _smallest_limit()


def _smallest_limit() -> int:
    """Returns the same size by bisection: the smallest limit under which the kernel still maps a page."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    low, high = 0, 1 << 46
    while high - low > 1 << 20:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_AS, (middle, hard))
        try:
            mmap.mmap(-1, _PAGE).close()
            high = middle
        except OSError:
            low = middle
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    return high


def limit(memory_bytes: int, cpu_ms: int, base: int, is_only: bool) -> None:
    """Sets the kernel limits of one submission. `base` is the size of the address space before it, in bytes.

    The limits of an input of a session are soft (`is_only` is false): the next input may have other limits.
    """
    seconds = cpu_ms // 1000 + 2 + (0 if is_only else int(time.process_time()))
    for kind, value in ((resource.RLIMIT_AS, base + memory_bytes), (resource.RLIMIT_CPU, seconds)):
        resource.setrlimit(kind, (value, value if is_only else resource.RLIM_INFINITY))
