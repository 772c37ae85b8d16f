"""What a forked runner puts between itself and everything else before it runs a submission.

What can be made once for all runners, the zygote makes (`build`): whatever a runner does, and each page of memory that it touches, is paid for again in the next one.
"""

import mmap
import os
import resource
import time

from . import kernel

HOME = "/tmp/submission"
# Each is a mount of its own. Those of the machine: a submission with the id of their owner could change their modes for everybody.
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "pts")
_OPEN_FILES = 256
_PROCESSES = 64
_PAGE = resource.getpagesize()

_PLAIN = kernel.MS_NOSUID | kernel.MS_NODEV
_OWN = kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWNET | kernel.CLONE_NEWUTS


class Layers:
    """Isolation layers of a runner: the size of /tmp, a filter of system calls (see kernel.system_call_filter), folders that are to be empty."""

    def __init__(self, tmp_bytes, seccomp, hidden):
        self.tmp_options = f"size={tmp_bytes},nr_inodes=10k,mode=700".encode()
        self.tmp_bytes = tmp_bytes
        self.filter = kernel.system_call_filter(seccomp) if seccomp else None
        self.hidden = [path for path in (*hidden, "/dev/shm", "/proc") if os.path.isdir(path)]


def build(layers):
    """What all runners inherit: no /proc, no installed packages, mounts that tell nobody of theirs, devices that stay as they are, no new privileges, limits that are the same for each."""
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


def enter(layers):
    """Namespaces of its own (that for processes the zygote has made), an empty /tmp, no privileges, few system calls."""
    kernel.unshare(_OWN)
    kernel.mount_tmpfs(b"/tmp", _PLAIN, layers.tmp_options)
    os.mkdir(HOME, 0o700)
    os.chdir(HOME)
    kernel.drop_capabilities()
    if layers.filter is not None:
        kernel.filter_system_calls(layers.filter)
    # It counts the processes of all runners, so it is not for the zygote, which forks.
    resource.setrlimit(resource.RLIMIT_NPROC, (_PROCESSES, _PROCESSES))


def address_space():
    """Bytes of address space that this process has."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * _PAGE
    except OSError:
        # A container that allows the jail no /proc.
        return _smallest_limit()


def _smallest_limit():
    """The same, found by trying: below which limit the kernel gives no more."""
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


def limit(memory_bytes, cpu_ms, base, is_only):
    """
    Limits of one submission that the kernel keeps by itself; `base` is the address space that is there already. Those of a session's input are not for good: the
    next one may have others.
    """
    seconds = cpu_ms // 1000 + 2 + (0 if is_only else int(time.process_time()))
    for kind, value in ((resource.RLIMIT_AS, base + memory_bytes), (resource.RLIMIT_CPU, seconds)):
        resource.setrlimit(kind, (value, value if is_only else resource.RLIM_INFINITY))
